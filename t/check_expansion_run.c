/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/check_expansion_run.c - running all ranks' lists. POSTs never block and a WAIT takes a fixed one, so one
 * greedy execution decides whether they get stuck, and vector clocks of that execution decide whether
 * accesses are ordered in all.
 */
#include "check_expansion_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { DONE, BLOCKED, FAILED } step_t;

bool ce_fail(ce_run_t *run, const ce_rank_t *rank, const char *format, ...)
{
    if (run->failed) {
        return false;
    }
    run->failed = true;
    int used = snprintf(run->why, CE_TEXT, "rank %u, operator %u, task %u: ", ce_index(run, rank),
                        rank->world, rank->next);
    va_list args;
    va_start(args, format);
    vsnprintf(run->why + used, CE_TEXT - (size_t)used, format, args);
    va_end(args);
    return false;
}

static ce_counter_t *counter(ce_run_t *run, uint32_t from, uint32_t to)
{
    return &run->counter[from * run->nranks + to];
}

/* Posts in a row share a snapshot of what the rank knows. After one its clock moves on. */
static bool snapshot(ce_run_t *run, ce_rank_t *rank)
{
    void *array = rank->snapshot;
    if (rank->just_posted) {
        return true;
    }
    if (!ce_grow(&array, rank->snapshots, &rank->snapshot_room, sizeof(*rank->snapshot))) {
        return ce_fail(run, rank, "out of memory");
    }
    rank->snapshot = array;
    memcpy(rank->snapshot[rank->snapshots++], rank->clock, sizeof(rank->clock));
    rank->clock[ce_index(run, rank)]++;
    rank->just_posted = true;
    return true;
}

static bool post(ce_run_t *run, ce_rank_t *rank, uint32_t peer)
{
    ce_counter_t *to = counter(run, ce_index(run, rank), peer);
    void *array = to->moment;
    if (!snapshot(run, rank) || !ce_grow(&array, to->count, &to->room, sizeof(*to->moment))) {
        return ce_fail(run, rank, "out of memory");
    }
    to->moment = array;
    to->moment[to->count++] = rank->snapshots - 1;
    return true;
}

/* Learns what `peer` knew at its `nth` post to this rank, if it has come to that. */
static bool learn(ce_run_t *run, ce_rank_t *rank, uint32_t peer, uint32_t nth)
{
    const ce_counter_t *from = counter(run, peer, ce_index(run, rank));
    if (from->count < nth) {
        return false;
    }
    const uint32_t *known = run->rank[peer].snapshot[from->moment[nth - 1]];
    for (uint32_t i = 0; i < run->nranks; i++) {
        rank->clock[i] = known[i] > rank->clock[i] ? known[i] : rank->clock[i];
    }
    rank->just_posted = false;
    return true;
}

/* Makes up for the deferred waits. */
static bool flush(ce_run_t *run, ce_rank_t *rank)
{
    for (uint32_t peer = 0; peer < run->nranks; peer++) {
        if (rank->deferred[peer]) {
            if (!learn(run, rank, peer, rank->deferred[peer])) {
                return false;
            }
            rank->deferred[peer] = 0;
        }
    }
    return true;
}

static step_t run_sync(ce_run_t *run, ce_rank_t *rank, const hx_task_t *task)
{
    uint32_t peer = task->peer;
    if (peer >= run->nranks || peer == ce_index(run, rank)) {
        return ce_fail(run, rank, "no peer %u", peer) ? DONE : FAILED;
    }
    if (task->kind == HX_POST) {
        return post(run, rank, peer) ? DONE : FAILED;
    }
    if (task->kind == HX_DEFER) {
        rank->deferred[peer] = ++rank->waited[peer];
        return DONE;
    }
    if (!learn(run, rank, peer, rank->waited[peer] + 1)) {
        return BLOCKED;
    }
    rank->waited[peer]++;
    return DONE;
}

static step_t run_task(ce_run_t *run, ce_rank_t *rank, const hx_task_t *task)
{
    switch (task->kind) {
    case HX_COPY:
    case HX_STREAM:
    case HX_REDUCE:
        if (task->dst.space == HX_CCL && !flush(run, rank)) {
            return BLOCKED;
        }
        return ce_move(run, rank, task) ? DONE : FAILED;
    case HX_POST:
    case HX_WAIT:
    case HX_DEFER:
        return run_sync(run, rank, task);
    }
    return ce_fail(run, rank, "no kind %u", task->kind) ? DONE : FAILED;
}

/* Nobody leaves a Barrier before all have entered it. */
static bool check_barrier(ce_run_t *run, ce_rank_t *rank)
{
    bool barrier = ce_world_of(run, rank)->c.algo->oper == HCORE_OPER_Barrier;
    for (uint32_t peer = 0; barrier && peer < run->nranks; peer++) {
        const ce_rank_t *other = &run->rank[peer];
        if (other->world < rank->world || rank->clock[peer] < other->began[rank->world]) {
            return ce_fail(run, rank, "leaves a Barrier that %u may not have entered", peer);
        }
    }
    return true;
}

/* The end of a list: on to the next operator, or deferred waits first if there is none. */
static step_t leave_world(ce_run_t *run, ce_rank_t *rank)
{
    bool last = rank->world + 1 == run->count;
    memcpy(rank->left, rank->clock, sizeof(rank->left));
    if (!check_barrier(run, rank)) {
        return FAILED;
    }
    if (last && !flush(run, rank)) {
        return BLOCKED;
    }
    if (!ce_check_out(run, rank)) {
        return FAILED;
    }
    rank->world++;
    rank->next = 0;
    return last || ce_enter_world(run, rank) ? DONE : FAILED;
}

/* As far as the rank gets; true if that is any distance. */
static bool advance(ce_run_t *run, ce_rank_t *rank)
{
    bool moved = false;
    while (rank->world < run->count && !run->failed) {
        const hx_expansion_t *list = &ce_world_of(run, rank)->list[ce_index(run, rank)];
        bool at_end = rank->next == list->ntask;
        if ((at_end ? leave_world(run, rank) : run_task(run, rank, &list->task[rank->next])) != DONE) {
            return moved;
        }
        rank->next += !at_end;
        moved = true;
    }
    return moved;
}

static bool run_all(ce_run_t *run)
{
    for (bool moved = true; moved && !run->failed;) {
        moved = false;
        for (uint32_t r = 0; r < run->nranks; r++) {
            moved = advance(run, &run->rank[r]) || moved;
        }
    }
    for (uint32_t r = 0; r < run->nranks && !run->failed; r++) {
        if (run->rank[r].world < run->count) {
            return ce_fail(run, &run->rank[r], "stuck");
        }
    }
    return !run->failed;
}

/* Lists are balanced; and with one operator, peers are done with a rank's memory when its list is. */
static bool check_end(ce_run_t *run)
{
    for (uint32_t r = 0; r < run->nranks; r++) {
        ce_rank_t *rank = &run->rank[r];
        for (uint32_t peer = 0; peer < run->nranks; peer++) {
            if (counter(run, peer, r)->count != rank->waited[peer]) {
                return ce_fail(run, rank, "%u posts of %u, %u waits", counter(run, peer, r)->count, peer,
                               rank->waited[peer]);
            }
            if (peer == r || run->count > 1) {
                continue;
            }
            if (rank->clock[peer] < rank->window.last[peer]) {
                return ce_fail(run, rank, "%u may still access the window after the end", peer);
            }
            if (rank->left[peer] < rank->user.last[peer]) {
                return ce_fail(run, rank, "%u may still read IN after the end", peer);
            }
        }
    }
    return true;
}

static bool start(ce_run_t *run)
{
    uint32_t n = run->nranks;
    run->rank = calloc(n, sizeof(*run->rank));
    run->counter = calloc((size_t)n * n, sizeof(*run->counter));
    if (!run->rank || !run->counter) {
        snprintf(run->why, CE_TEXT, "out of memory");
        return false;
    }
    for (uint32_t r = 0; r < n; r++) {
        run->rank[r].clock[r] = 1;
        if (!ce_make_window(run, &run->rank[r]) || !ce_enter_world(run, &run->rank[r])) {
            return false;
        }
    }
    return true;
}

static void finish(ce_run_t *run)
{
    for (uint32_t r = 0; run->rank && r < run->nranks; r++) {
        ce_free_memory(&run->rank[r].window);
        ce_free_memory(&run->rank[r].scratch);
        ce_free_memory(&run->rank[r].user);
        free(run->rank[r].borrowed);
        free(run->rank[r].snapshot);
    }
    for (uint32_t i = 0; run->counter && i < run->nranks * run->nranks; i++) {
        free(run->counter[i].moment);
    }
    free(run->rank);
    free(run->counter);
}

bool ce_run(const ce_world_t *worlds, unsigned count, char why[CE_TEXT])
{
    ce_run_t run = {.worlds = worlds, .count = count, .nranks = worlds[0].c.nranks, .why = why};
    bool good = start(&run) && run_all(&run) && check_end(&run);
    finish(&run);
    return good;
}
