/* SPDX-License-Identifier: BSD-3-Clause */
/* t/check_expansion_choose.c - which algorithm is chosen, and what hx_expand refuses. */
#include "hcore/expansion.h"

#include <string.h>
#include "tap.h"

enum { RANKS = 6, WINDOW = 4096, ELEM = 8 };

typedef struct {
    const char *text;
    hcore_oper_t oper;
    bool direct;
    const char *wanted;
    bool commutative, in_place, rank_order;
    const char *name; /* expected */
    bool by_direct;   /* expected to read peers' memory */
} choice_t;

static const choice_t choices[] = {
    {"mesh by default", HCORE_OPER_AllReduce, false, NULL, true, false, false, "mesh", false},
    {"the direct path first", HCORE_OPER_AllReduce, true, NULL, true, false, false, "mesh", true},
    {"a wanted one", HCORE_OPER_AllReduce, true, "ring", true, false, false, "ring", false},
    {"in any case of letters", HCORE_OPER_AllReduce, false, "h-d_r", true, false, false, "H-D_R", false},
    {"a wanted name takes its direct row", HCORE_OPER_Reduce, true, "MESH", true, false, false, "mesh", true},
    {"not where operands may not change places", HCORE_OPER_AllReduce, false, "NHR", false, false, false,
     "mesh", false},
    {"a tree keeps their places", HCORE_OPER_AllReduce, false, "H-D_R", false, false, false, "H-D_R", false},
    {"but not where the order is fixed", HCORE_OPER_AllReduce, false, "H-D_R", true, false, true, "mesh",
     false},
    {"nor does a ring", HCORE_OPER_ReduceScatter, false, "ring", true, false, true, "mesh", false},
    {"moving has no order", HCORE_OPER_AllGather, false, "ring", false, false, true, "ring", false},
    {"one the operator lacks is passed over", HCORE_OPER_AlltoAll, false, "NHR", true, false, false,
     "pairwise", false},
    {"as is an unknown one", HCORE_OPER_Broadcast, false, "carrier pigeon", true, false, false, "mesh",
     false},
    {"in place, ReduceScatter goes through windows", HCORE_OPER_ReduceScatter, true, NULL, true, true, false,
     "mesh", false},
    {"out of place it need not", HCORE_OPER_ReduceScatter, true, NULL, true, false, false, "mesh", true},
};

static hx_shape_t shape_of(hcore_oper_t oper, bool direct)
{
    return (hx_shape_t){.oper = oper,
                        .nranks = RANKS,
                        .elem_bytes = ELEM,
                        .window = WINDOW,
                        .bytes = WINDOW,
                        .direct = direct};
}

static void test_choices(void)
{
    for (unsigned i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        const choice_t *c = &choices[i];
        hx_shape_t shape = shape_of(c->oper, c->direct);
        const hx_algo_t *got = hx_algo_choose(&shape, c->wanted, c->commutative, c->in_place, c->rank_order);
        bool good = got && got->oper == c->oper && strcmp(got->name, c->name) == 0 &&
                    ((got->flags & HX_NEED_DIRECT) != 0) == c->by_direct;
        tap_ok(good, "%s", c->text);
    }
    hx_shape_t send = shape_of(HCORE_OPER_Send, false);
    tap_ok(hx_algo_choose(&send, NULL, true, false, false) == NULL, "none for an operator without rows");
}

/* Whatever the situation, what is chosen unasked keeps rank order, and what it needs is there. */
static void test_defaults(void)
{
    unsigned bad = 0;
    for (unsigned oper = 0; oper < HCORE_OPER_COUNT; oper++) {
        for (unsigned situation = 0; situation < 4; situation++) {
            hx_shape_t shape = shape_of((hcore_oper_t)oper, situation & 1);
            const hx_algo_t *got = hx_algo_choose(&shape, NULL, true, situation & 2, false);
            uint32_t never = HX_NEED_COMMUTATIVE | HX_TREE_ORDER | HX_NEED_POW2 | HX_NEED_PAIR |
                             (situation & 1 ? 0 : HX_NEED_DIRECT) | (situation & 2 ? HX_NO_INPLACE : 0);
            bad += got && (got->flags & never);
        }
    }
    tap_ok(bad == 0, "no default reorders operands or needs what is not there");
}

static hcore_status_t expand(hx_shape_t shape, bool failed, uint32_t *tasks)
{
    hx_expansion_t x;
    hx_expansion_init(&x);
    x.failed = failed;
    hcore_status_t status = hx_expand(hx_algo_choose(&shape, NULL, true, false, false), &shape, &x);
    *tasks = x.ntask;
    hx_expansion_release(&x);
    return status;
}

static void test_refusals(void)
{
    uint32_t tasks;
    hx_shape_t good = shape_of(HCORE_OPER_AllReduce, false), small = good, stranger = good, empty = good;
    small.window = hx_window_least(RANKS, ELEM) - 128;
    stranger.rank = RANKS;
    empty.bytes = 0;
    tap_ok(expand(good, false, &tasks) == HCORE_OK && tasks > 0, "a good shape expands");
    tap_ok(expand(empty, false, &tasks) == HCORE_OK && tasks == 0, "no bytes, no tasks");
    tap_ok(expand(small, false, &tasks) == HCORE_ERR_UNSUPPORTED && tasks == 0,
           "too small a window is refused");
    tap_ok(expand(stranger, false, &tasks) == HCORE_ERR_PARAM && tasks == 0, "so is a rank that cannot be");
    tap_ok(expand(good, true, &tasks) == HCORE_ERR_NO_MEMORY && tasks == 0,
           "a failed expansion comes back empty");
}

int main(void)
{
    test_choices();
    test_defaults();
    test_refusals();
    return tap_done();
}
