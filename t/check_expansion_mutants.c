/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/check_expansion_mutants.c - can the checker fail? Each list of some sound worlds is damaged in one place
 * at a time, in every place there is, and the checker must find something wrong with every one of them.
 */
#include "check_expansion.h"

#include <string.h>
#include "tap.h"

typedef struct {
    ce_world_t *world;
    uint32_t rank, task; /* what is to be damaged */
} target_t;

static hx_expansion_t *list_of(const target_t *t)
{
    return &t->world->list[t->rank];
}

static hx_task_t *task_of(const target_t *t)
{
    return &list_of(t)->task[t->task];
}

static bool moves(const hx_task_t *task)
{
    return task->kind == HX_COPY || task->kind == HX_STREAM || task->kind == HX_REDUCE;
}

static void drop(hx_expansion_t *list, uint32_t task)
{
    memmove(&list->task[task], &list->task[task + 1], (list->ntask - task - 1) * sizeof(*list->task));
    list->ntask--;
}

/* --- mutations: each returns false where it does not apply
 * -------------------------------------------------------- */

static bool drop_wait(const target_t *t)
{
    if (task_of(t)->kind != HX_WAIT && task_of(t)->kind != HX_DEFER) {
        return false;
    }
    drop(list_of(t), t->task);
    return true;
}

static bool drop_post(const target_t *t)
{
    if (task_of(t)->kind != HX_POST) {
        return false;
    }
    drop(list_of(t), t->task);
    return true;
}

static bool is_wait_for(const hx_task_t *task, uint32_t peer)
{
    return (task->kind == HX_WAIT || task->kind == HX_DEFER) && task->peer == peer;
}

/* A POST and the wait that it would have ended: the lists stay balanced. */
static bool drop_pair(const target_t *t)
{
    hx_task_t post = *task_of(t);
    uint32_t nth = 0;
    if (post.kind != HX_POST) {
        return false;
    }
    for (uint32_t i = 0; i < t->task; i++) {
        nth += list_of(t)->task[i].kind == HX_POST && list_of(t)->task[i].peer == post.peer;
    }
    hx_expansion_t *other = &t->world->list[post.peer];
    for (uint32_t i = 0; i < other->ntask; i++) {
        if (is_wait_for(&other->task[i], t->rank) && nth-- == 0) {
            drop(other, i);
            drop(list_of(t), t->task);
            return true;
        }
    }
    return false;
}

static bool drop_move(const target_t *t)
{
    if (!moves(task_of(t))) {
        return false;
    }
    drop(list_of(t), t->task);
    return true;
}

static bool shift_destination(const target_t *t)
{
    if (!moves(task_of(t))) {
        return false;
    }
    task_of(t)->dst.offset += t->world->c.elem;
    return true;
}

static bool shift_source(const target_t *t)
{
    if (!moves(task_of(t))) {
        return false;
    }
    list_of(t)->src[task_of(t)->first_src + task_of(t)->nsrc - 1].offset += t->world->c.elem;
    return true;
}

static bool shorten(const target_t *t)
{
    if (!moves(task_of(t)) || task_of(t)->bytes <= t->world->c.elem) {
        return false;
    }
    task_of(t)->bytes -= t->world->c.elem;
    return true;
}

static bool swap_sources(const target_t *t)
{
    if (task_of(t)->kind != HX_REDUCE) {
        return false;
    }
    hx_loc_t *src = &list_of(t)->src[task_of(t)->first_src], first = src[0];
    src[0] = src[1];
    src[1] = first;
    return true;
}

static bool drop_source(const target_t *t)
{
    if (task_of(t)->kind != HX_REDUCE) {
        return false;
    }
    task_of(t)->nsrc--;
    return true;
}

static bool swap_with_next(const target_t *t, bool apply)
{
    if (apply) {
        hx_task_t *task = task_of(t), first = task[0];
        task[0] = task[1];
        task[1] = first;
    }
    return apply;
}

/* With two ranks, what comes before a POST is what the peer is waiting for; what comes after a WAIT needs it.
 */
static bool post_too_early(const target_t *t)
{
    const hx_expansion_t *list = list_of(t);
    return swap_with_next(t, t->task + 1 < list->ntask && moves(&list->task[t->task]) &&
                                 list->task[t->task + 1].kind == HX_POST);
}

static bool wait_too_late(const target_t *t)
{
    const hx_expansion_t *list = list_of(t);
    return swap_with_next(t, t->task + 1 < list->ntask && list->task[t->task].kind == HX_WAIT &&
                                 moves(&list->task[t->task + 1]));
}

/* Readers of IN may not be left for later. */
static bool defer_reader(const target_t *t)
{
    bool applies = t->world->c.algo->flags & HX_NEED_DIRECT && t->task + 1 == list_of(t)->ntask &&
                   task_of(t)->kind == HX_WAIT;
    if (applies) {
        task_of(t)->kind = HX_DEFER;
    }
    return applies;
}

typedef struct {
    const char *name;
    bool (*mutate)(const target_t *t);
    bool timing; /* only wrong where no other POST says the same */
} mutation_t;

static const mutation_t mutations[] = {
    {"a wait dropped", drop_wait, false},
    {"a post dropped", drop_post, false},
    {"a copy or reduce dropped", drop_move, false},
    {"a destination shifted", shift_destination, false},
    {"a source shifted", shift_source, false},
    {"a copy or reduce shortened", shorten, false},
    {"sources swapped", swap_sources, false},
    {"a source dropped", drop_source, false},
    {"a reader of IN deferred", defer_reader, true},
    {"a post and its wait dropped", drop_pair, true},
    {"a post before what it announces", post_too_early, true},
    {"a wait after what needs it", wait_too_late, true},
};

/* --- trying them
 * ---------------------------------------------------------------------------------------------------- */

typedef struct {
    unsigned long mutants, survivors;
    char first[2 * CE_TEXT];
} tally_t;

/* Damages one place of a fresh world, if the mutation applies there. */
static void try_one(tally_t *tally, const ce_case_t *c, const mutation_t *mutation, uint32_t rank,
                    uint32_t task)
{
    char why[CE_TEXT], text[CE_TEXT];
    ce_world_t world;
    if (ce_world_build(&world, c, why) && mutation->mutate(&(target_t){&world, rank, task})) {
        tally->mutants++;
        if (ce_run(&world, 1, why) && !tally->survivors++) {
            ce_case_text(c, text);
            snprintf(tally->first, sizeof(tally->first), "%s: rank %u, task %u", text, rank, task);
        }
    }
    ce_world_release(&world);
}

static void try_case(tally_t *tally, const ce_case_t *c, const mutation_t *mutation)
{
    char why[CE_TEXT];
    ce_world_t world;
    bool sound = ce_world_build(&world, c, why) && ce_run(&world, 1, why);
    for (uint32_t rank = 0; sound && rank < c->nranks; rank++) {
        for (uint32_t task = 0; task < world.list[rank].ntask; task++) {
            try_one(tally, c, mutation, rank, task);
        }
    }
    ce_world_release(&world);
}

/*
 * Can every single POST of this row be told from its absence? Steps and chains acknowledge each chunk to each
 * rank, though between few ranks some of that follows from the data of the next chunk; so do the rounds of a
 * direct Reduce.
 */
static bool no_post_is_implied(const hx_algo_t *algo)
{
    bool rounds = strcmp(algo->name, "mesh") == 0 || strcmp(algo->name, "pairwise") == 0;
    return rounds && !(algo->oper == HCORE_OPER_Reduce && algo->flags & HX_NEED_DIRECT);
}

static bool shows(const mutation_t *mutation, const hx_algo_t *algo)
{
    if (mutation->timing) {
        return no_post_is_implied(algo);
    }
    return mutation->mutate != swap_sources || !(algo->flags & HX_NEED_COMMUTATIVE);
}

/* Every row in which it shows, with several chunks. Two ranks need each other for everything; three have more
 * operands. */
static void try_mutation(const mutation_t *mutation)
{
    enum { FEW = 2, MORE = 3, ELEM = 4, WINDOW = 768, BYTES = 2400 };
    tally_t tally = {0};
    for (unsigned i = 0; i < hx_algo_count; i++) {
        ce_case_t c = {.algo = &hx_algo_table[i],
                       .nranks = mutation->timing || hx_algo_table[i].flags & HX_NEED_PAIR ? FEW : MORE,
                       .root = 1,
                       .elem = ELEM,
                       .window = WINDOW,
                       .bytes = BYTES,
                       .in_place = hx_algo_table[i].flags & HX_STAGED}; /* out of place it syncs more than needed */
        if (shows(mutation, c.algo)) {
            try_case(&tally, &c, mutation);
        }
    }
    if (!tap_ok(tally.mutants && !tally.survivors, "%s: %lu mutants found out", mutation->name,
                tally.mutants - tally.survivors)) {
        tap_note("%lu survivors, first: %s", tally.survivors, tally.first);
    }
}

int main(void)
{
    for (unsigned i = 0; i < sizeof(mutations) / sizeof(mutations[0]); i++) {
        try_mutation(&mutations[i]);
    }
    return tap_done();
}
