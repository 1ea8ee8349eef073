/* SPDX-License-Identifier: BSD-3-Clause */
/* path.c - trying and choosing between the direct path and the windows; see path.h. */
#include "aicpu/path.h"

#include <stdlib.h>

#include "aiv/aiv.h"
#include "aiv/round.h"

enum {
    CLASSES = 64,   /* of size: powers of two */
    TRIES = 6,      /* of each path; the first of each also pays for building its expansion */
    RETRY_CALLS = 4096 /* after so many calls with one choice both are tried again: programs have phases */
};

typedef struct {
    uint32_t calls;       /* of this round of tries and choice */
    bool direct;          /* the choice, once calls >= 2 * TRIES */
    uint64_t least_ns[2]; /* window, direct */
} choice_t;

struct path_choice {
    choice_t choice[HCORE_OPER_COUNT][CLASSES];
};

/*
 * From which size on the direct path is in question, by measurement: below, its system calls cost more than it can save.
 * Operators whose size is not equal on all ranks are not here: they must take one path whatever the size. Nor are ReduceScatter(V),
 * whose direct form is not right in place, which only some ranks may be.
 */
static const struct {
    hcore_oper_t oper;
    uint64_t from; /* bytes as hcore_oper_bytes has them */
} direct_table[] = {
    {HCORE_OPER_AllReduce, 8 * 1024},  {HCORE_OPER_Reduce, 16 * 1024},     {HCORE_OPER_Broadcast, 16 * 1024},
    {HCORE_OPER_AllGather, 16 * 1024}, {HCORE_OPER_AllGatherV, 32 * 1024}, {HCORE_OPER_Gather, 16 * 1024},
    {HCORE_OPER_Scatter, 16 * 1024},   {HCORE_OPER_AlltoAll, 16 * 1024},
};

/* From which size on asking for heaps pays. For sizes that are not equal on all ranks all ask, whatever the size. */
static const struct {
    hcore_oper_t oper;
    uint64_t from;
} load_table[] = {
    {HCORE_OPER_AllReduce, 4 * 1024},      {HCORE_OPER_Reduce, 16 * 1024},         {HCORE_OPER_Broadcast, 16 * 1024},
    {HCORE_OPER_AllGather, 16 * 1024},     {HCORE_OPER_AllGatherV, 16 * 1024},     {HCORE_OPER_Gather, 16 * 1024},
    {HCORE_OPER_Scatter, 16 * 1024},       {HCORE_OPER_AlltoAll, 16 * 1024},       {HCORE_OPER_ReduceScatter, 4 * 1024},
    {HCORE_OPER_ReduceScatterV, 4 * 1024}, {HCORE_OPER_AlltoAllV, 0},              {HCORE_OPER_AlltoAllW, 0},
    {HCORE_OPER_GatherV, 0},               {HCORE_OPER_ScatterV, 0},
};

/* What a rank tells in in[] of the round: all that peers read of its IN, all that they write of its OUT, lies in its heap. */
enum { FACT_LOAD = 1 << 0, FACT_STORE = 1 << 1, FACT_IN_PLACE = 1 << 2 };

path_choice_t *path_choice_create(void)
{
    return calloc(1, sizeof(path_choice_t));
}

static bool in_question(const hcore_comm_t *comm, const hcore_args_t *args)
{
    for (size_t i = 0; comm->direct && i < sizeof(direct_table) / sizeof(direct_table[0]); i++) {
        if (direct_table[i].oper == args->oper) {
            /* An algorithm asked for by name runs on the windows, where all of them are. */
            return args->bytes >= direct_table[i].from && !comm->options.algo[args->oper];
        }
    }
    return false;
}

static choice_t *choice_of(hcore_comm_t *comm, const hcore_args_t *args)
{
    const unsigned class = (unsigned)(63 - __builtin_clzll(args->bytes | 1));
    return &comm->path->choice[args->oper][class];
}

static void try_or_follow(hcore_comm_t *comm, const hcore_args_t *args, path_t *path)
{
    if (!in_question(comm, args)) {
        return;
    }
    choice_t *choice = choice_of(comm, args);
    if (choice->calls >= RETRY_CALLS) {
        *choice = (choice_t){0};
    }
    const uint32_t call = choice->calls++;
    path->trial = call < 2 * TRIES;
    path->direct = path->trial ? call % 2 != 0 : choice->direct;
}

static bool asks_for_heaps(const hcore_comm_t *comm, const hcore_args_t *args)
{
    for (size_t i = 0; comm->heaps && i < sizeof(load_table) / sizeof(load_table[0]); i++) {
        if (load_table[i].oper == args->oper) {
            return (load_table[i].from == 0 || args->bytes >= load_table[i].from) && !comm->options.algo[args->oper];
        }
    }
    return false;
}

/* Publishes where this rank's data lies, and tells what of it lies in the heap. */
static uint64_t publish(hcore_comm_t *comm, const hcore_args_t *args, const hx_shape_t *shape)
{
    uint64_t facts = FACT_LOAD | FACT_STORE | (args->in_place ? FACT_IN_PLACE : 0);
    for (uint32_t i = 0; i < comm->nranks; i++) {
        const uint32_t in = hx_publish_block(shape, i), out = hx_publish_out_block(shape, i);
        *lane_publish(comm, comm->rank, i) = *lane_publish_out(comm, comm->rank, i) = (lane_place_t){0, 0};
        if (i != comm->rank && hx_in_bytes(shape, in) > 0) {
            const uint8_t *data = hcore_block_at(&args->in, in);
            *lane_publish(comm, comm->rank, i) = (lane_place_t){(uintptr_t)data, hx_in_bytes(shape, in)};
            facts &= ~(hcore_heap_owns(data) ? UINT64_C(0) : FACT_LOAD);
        }
        if (i != comm->rank && hx_out_bytes(shape, out) > 0) {
            const uint8_t *data = hcore_block_at(&args->out, out);
            *lane_publish_out(comm, comm->rank, i) = (lane_place_t){(uintptr_t)data, hx_out_bytes(shape, out)};
            facts &= ~(hcore_heap_owns(data) ? UINT64_C(0) : FACT_STORE);
        }
    }
    return facts;
}

/* A peer has more for this rank than there is room for, where only the two know the size. */
static bool sends_too_much(const hcore_comm_t *comm, const hcore_args_t *args, uint32_t peer)
{
    const bool receives = args->oper != HCORE_OPER_GatherV || comm->rank == args->root;
    const uint64_t sent = lane_publish(comm, peer, comm->rank)->bytes, room = lane_publish_out(comm, comm->rank, peer)->bytes;
    if (!receives || hcore_oper_bytes(args->oper) != HCORE_BYTES_UNKNOWN || sent <= room) {
        return false;
    }
    hcore_error("rank %u: %s: rank %u sends %llu bytes, there is room for %llu", comm->rank, hcore_oper_name(args->oper), peer,
                (unsigned long long)sent, (unsigned long long)room);
    return true;
}

/* The closing WAITs of every path on heaps keep what is published until all have used it. */
static hcore_status_t ask_for_heaps(hcore_comm_t *comm, const hcore_args_t *args, const hx_shape_t *shape, path_t *path)
{
    const uint64_t round = round_next(comm), ask = ++comm->asks;
    hcore_status_t status = round_may_write(comm, round, LANE_DEPTH);
    if (status != HCORE_OK) {
        return status;
    }
    uint64_t all = FACT_LOAD | FACT_STORE, any = 0;
    bool same = true, truncated = false;
    lane_ctl_t *mine = &comm->ctl[comm->rank];
    mine->in[ask % ASK_DEPTH] = publish(comm, args, shape);
    mine->call[ask % ASK_DEPTH] = ask_call(HCORE_BACKEND_AICPU, args->oper,
                                           hcore_oper_bytes(args->oper) == HCORE_BYTES_UNKNOWN ? 0 : args->bytes);
    atomic_store_explicit(&mine->ask, ask, memory_order_relaxed);
    round_arrive(comm, round, PHASE_DATA);
    status = round_await_all(comm, round, PHASE_DATA);
    for (uint32_t i = 0; i < comm->nranks && status == HCORE_OK; i++) {
        all &= comm->ctl[i].in[ask % ASK_DEPTH];
        any |= comm->ctl[i].in[ask % ASK_DEPTH];
        same = same && ask_agrees(comm, i, ask);
        truncated |= i != comm->rank && sends_too_much(comm, args, i);
    }
    if (status == HCORE_OK) {
        round_done(comm, round);
        path->load = path->direct = all & FACT_LOAD;
        path->store = all & FACT_STORE;
        path->in_place = any & FACT_IN_PLACE;
        path->truncated = truncated;
    }
    if (status == HCORE_OK && !same) {
        hcore_error("rank %u: %s of %llu bytes, but not on all ranks", comm->rank, hcore_oper_name(args->oper),
                    (unsigned long long)args->bytes);
        status = HCORE_ERR_TRUNCATE;
    }
    return status;
}

/* Whether the operator has an algorithm for what lies in heaps. */
static bool heaps_suffice(const hx_shape_t *shape, const path_t *path)
{
    hx_shape_t there = *shape;
    there.direct = path->direct;
    there.load = path->load;
    there.store = path->store;
    const hx_algo_t *algo = hx_algo_choose(&there, NULL, false, path->in_place, true);
    return algo && algo->flags & (HX_NEED_DIRECT | HX_NEED_STORE);
}

hcore_status_t path_choose(hcore_comm_t *comm, const hcore_args_t *args, const hx_shape_t *shape, path_t *path)
{
    *path = (path_t){.in_place = true};
    if (!asks_for_heaps(comm, args)) {
        try_or_follow(comm, args, path);
        return HCORE_OK;
    }
    hcore_status_t status = ask_for_heaps(comm, args, shape, path);
    if (status == HCORE_OK && !heaps_suffice(shape, path)) {
        *path = (path_t){.in_place = true}; /* the other paths are proven for that */
        try_or_follow(comm, args, path);
    }
    return status;
}

hcore_status_t path_tried(hcore_comm_t *comm, const hcore_args_t *args, bool direct, uint64_t ns)
{
    choice_t *choice = choice_of(comm, args);
    uint64_t *least = &choice->least_ns[direct], all[2];
    *least = *least == 0 || ns < *least ? ns : *least;
    if (choice->calls < 2 * TRIES) {
        return HCORE_OK;
    }
    hcore_reducer_t sum;
    hcore_status_t status = hcore_reducer_builtin(HCORE_TYPE_UINT64, HCORE_REDOP_SUM, &sum);
    if (status == HCORE_OK) {
        status = aiv_line_allreduce(comm, choice->least_ns, all, sizeof(all), &sum);
    }
    if (status == HCORE_OK) {
        choice->direct = all[true] < all[false];
    }
    return status;
}
