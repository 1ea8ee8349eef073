/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/check_expansion.c - proves every row of the algorithm table over numbers of ranks, roots, sizes and
 * elements. check_expansion quick | all         each row alone check_expansion succession          two
 * operators, one after the other on the same windows
 */
#include "check_expansion.h"

#include <string.h>
#include "tap.h"

typedef struct {
    const uint32_t *ranks;
    const uint64_t *elems;
    const uint64_t *sizes; /* in quarters of the unit that chunks are measured in; ends with END */
    uint32_t all_roots_to; /* up to so many ranks every root is tried, above the first, a middle and the last
                              one */
} effort_t;

enum { END = 0, WINDOW_LEAST = 1024 };
#define NOTHING UINT64_MAX /* the size that is none, as 0 ends a list */

static const uint32_t quick_ranks[] = {1, 2, 3, 4, 5, 8, 11, END};
static const uint32_t all_ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 64, END};
static const uint64_t quick_elems[] = {4, 12, END}, all_elems[] = {1, 4, 12, 16, END};
static const uint64_t quick_sizes[] = {NOTHING, 1, 4, 9, 14, END};
static const uint64_t all_sizes[] = {NOTHING, 1, 3, 4, 5, 9, 17, END};
static const effort_t quick = {quick_ranks, quick_elems, quick_sizes, 4};
static const effort_t all = {all_ranks, all_elems, all_sizes, 8};

typedef struct {
    unsigned long cases, failures;
    char first[3 * CE_TEXT];
} tally_t;

static void prove(tally_t *tally, const ce_case_t *c)
{
    char why[CE_TEXT], text[CE_TEXT];
    ce_world_t world;
    tally->cases++;
    if (!ce_world_build(&world, c, why) || !ce_run(&world, 1, why)) {
        if (!tally->failures++) {
            ce_case_text(c, text);
            snprintf(tally->first, sizeof(tally->first), "%s: %s", text, why);
        }
    }
    ce_world_release(&world);
}

static void report(const tally_t *tally, const char *what)
{
    if (!tap_ok(tally->cases && !tally->failures, "%s: %lu cases", what, tally->cases)) {
        tap_note("%lu failures, first: %s", tally->failures, tally->first);
    }
}

static uint64_t window_for(uint32_t nranks, uint64_t elem)
{
    uint64_t least = hx_window_least(nranks, elem);
    return least > WINDOW_LEAST ? least : WINDOW_LEAST;
}

/* Bytes that are only moved have no elements. */
static uint64_t element_of(const hx_algo_t *algo, uint64_t elem)
{
    return hcore_oper_reduces(algo->oper) ? elem : 1;
}

/* Lists that read peers' memory also in the form that hx_expand gives them where it can be loaded. */
static void prove_transports(tally_t *tally, ce_case_t c)
{
    c.load = c.algo->flags & HX_NEED_LOAD;
    prove(tally, &c);
    if (c.algo->flags & HX_NEED_DIRECT && !c.load) {
        c.load = true;
        prove(tally, &c);
    }
}

static void prove_placements(tally_t *tally, ce_case_t c)
{
    c.in_place = false;
    prove_transports(tally, c);
    c.in_place = true;
    if (ce_can_be_in_place(c.algo->oper) && !(c.algo->flags & HX_NO_INPLACE)) {
        prove_transports(tally, c);
    }
}

static void prove_patterns(tally_t *tally, ce_case_t c)
{
    c.pattern = CE_UNEVEN;
    do {
        prove_placements(tally, c);
        c.pattern++;
    } while (ce_varies(c.algo->oper) && c.pattern < CE_PATTERN_COUNT);
}

static void prove_roots(tally_t *tally, ce_case_t c, const effort_t *effort)
{
    uint32_t few[] = {0, c.nranks / 2, c.nranks - 1};
    bool every = c.nranks <= effort->all_roots_to;
    uint32_t roots = every ? c.nranks : sizeof(few) / sizeof(few[0]);
    for (uint32_t i = 0; i < (ce_has_root(c.algo->oper) ? roots : 1); i++) {
        c.root = every ? i : few[i];
        prove_patterns(tally, c);
    }
}

/* Sizes around what a window, or a rank's share of one, holds; in elements, and for bytes not aligned to
 * anything. */
static void prove_sizes(tally_t *tally, ce_case_t c, const effort_t *effort)
{
    enum { QUARTERS = 4, ODD = 3 };
    uint64_t unit = c.window / (ce_per_rank(c.algo->oper) ? c.nranks : 1) / QUARTERS;
    for (const uint64_t *size = effort->sizes; *size != END; size++) {
        uint64_t bytes = *size == NOTHING ? 0 : *size * unit;
        c.bytes = hcore_oper_reduces(c.algo->oper) ? bytes - bytes % c.elem : bytes + (bytes ? ODD : 0);
        prove_roots(tally, c, effort);
    }
}

static void prove_row(const hx_algo_t *algo, const effort_t *effort)
{
    char what[CE_TEXT];
    tally_t tally = {0};
    for (const uint32_t *n = effort->ranks; *n != END; n++) {
        for (const uint64_t *elem = effort->elems; *elem != END; elem++) {
            ce_case_t c = {.algo = algo, .nranks = *n, .elem = element_of(algo, *elem)};
            c.window = window_for(c.nranks, c.elem);
            if (!ce_ranks_allowed(algo, c.nranks)) {
                continue;
            }
            prove_sizes(&tally, c, effort);
            if (!hcore_oper_reduces(algo->oper)) {
                break;
            }
        }
    }
    snprintf(what, sizeof(what), "%s %s%s", hcore_oper_name(algo->oper), algo->name,
             algo->flags & HX_NEED_DIRECT ? " (direct)" : "");
    report(&tally, what);
}

/* --- succession
 * ------------------------------------------------------------------------------------------------- */

static void prove_succession(tally_t *tally, const ce_case_t c[2])
{
    enum { BOTH = 2 };
    char why[CE_TEXT], text[CE_TEXT];
    ce_world_t worlds[BOTH] = {0};
    tally->cases++;
    bool good = ce_world_build(&worlds[0], &c[0], why) && ce_world_build(&worlds[1], &c[1], why);
    if (!(good && ce_run(worlds, BOTH, why)) && !tally->failures++) {
        ce_case_text(&c[0], text);
        snprintf(tally->first, sizeof(tally->first), "%s, then %s: %s", text,
                 hcore_oper_name(c[1].algo->oper), why);
    }
    ce_world_release(&worlds[0]);
    ce_world_release(&worlds[1]);
}

/* Every row after every row, in sizes that take one chunk and several. */
static void prove_successions(const hx_algo_t *first, uint32_t nranks)
{
    enum { ELEM = 3, SMALL = 60, LARGE = 3000 }; /* an element that makes cells single bytes in every case */
    char what[CE_TEXT];
    tally_t tally = {0};
    for (unsigned i = 0; i < hx_algo_count; i++) {
        for (uint32_t sizes = 0; sizes < 4 && ce_ranks_allowed(&hx_algo_table[i], nranks); sizes++) {
            ce_case_t one = {.algo = first, .nranks = nranks, .elem = element_of(first, ELEM)};
            one.window = window_for(nranks, ELEM);
            ce_case_t two = one;
            one.bytes = sizes & 1 ? LARGE : SMALL;
            two.bytes = sizes & 2 ? LARGE : SMALL;
            two.algo = &hx_algo_table[i];
            two.elem = element_of(two.algo, ELEM);
            two.root = nranks - 1;
            prove_succession(&tally, (ce_case_t[]){one, two});
        }
    }
    snprintf(what, sizeof(what), "%s %s%s, then any, %u ranks", hcore_oper_name(first->oper), first->name,
             first->flags & HX_NEED_DIRECT ? " (direct)" : "", nranks);
    report(&tally, what);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "quick";
    enum { SUCCESSION_RANKS = 3, PAIR = 2 };
    for (unsigned i = 0; i < hx_algo_count; i++) {
        if (strcmp(mode, "succession") == 0) {
            bool pair = hx_algo_table[i].flags & HX_NEED_PAIR;
            prove_successions(&hx_algo_table[i], pair ? PAIR : SUCCESSION_RANKS);
        } else {
            prove_row(&hx_algo_table[i], strcmp(mode, "all") == 0 ? &all : &quick);
        }
    }
    return tap_done();
}
