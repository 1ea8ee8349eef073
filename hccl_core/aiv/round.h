/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * round.h - counting rounds of lines and slots, and when a rank may write its own again (the rule in comm_internal.h).
 */
#ifndef HCORE_AIV_ROUND_H
#define HCORE_AIV_ROUND_H

#include <string.h>

#include "aiv/aiv.h"
#include "comm/wait.h"
#include "hcore/heap.h"

/* Phases of a slot round; flag values are 2 * round + phase. */
enum { PHASE_DATA = 0, PHASE_RESULT = 1, PHASES = 2 };

static inline uint64_t round_flag(uint64_t round, unsigned phase)
{
    return PHASES * round + phase;
}

hcore_status_t round_wait_done(hcore_comm_t *comm, uint64_t round);

/* Begins the next round; every rank does so for every round, whatever its part in it. */
static inline uint64_t round_next(hcore_comm_t *comm)
{
    return ++comm->round;
}

/* Blocks until every peer has read what this rank wrote DEPTH rounds ago. */
static inline hcore_status_t round_may_write(hcore_comm_t *comm, uint64_t round)
{
    return __builtin_expect(comm->safe + LANE_DEPTH >= round, 1) ? HCORE_OK
                                                                 : round_wait_done(comm, round - LANE_DEPTH);
}

/* This rank has read all it needs (pairs with round_wait_done and round_await_done). `everyone` says that it has seen every peer
 * arrive in the round: then all peers have done the one before. */
static inline void round_done(hcore_comm_t *comm, uint64_t round, bool everyone)
{
    flag_set(comm, &comm->ctl[comm->rank].done, round);
    if (everyone) {
        comm->safe = round - 1;
    }
}

/*
 * What peers are given to read in a round: the data where it lies, if that is the shared heap, or what is copied to the slot. In
 * the first case (true) the data must not change before its readers have done the round: not where the result overwrites it
 * in this very round, and the rank leaves through round_leave.
 */
enum { HEAP_LEAST_BYTES = 4096, HEAP_LEAST_ROOTED = 8192 }; /* a copy of less costs less than waiting for the readers */

static inline bool round_give(hcore_comm_t *comm, uint64_t *place, const void *data, bool worth)
{
    const bool heap = worth && comm->heaps && hcore_heap_owns(data);
    *place = heap ? (uintptr_t)data - hcore_heap_range.base : 0;
    return heap;
}

static inline bool round_give_data(hcore_comm_t *comm, uint64_t round, const void *data, bool worth)
{
    return round_give(comm, &comm->ctl[comm->rank].place[round % LANE_DEPTH], data, worth);
}

/* Where a peer's data lies, once it has arrived. */
static inline const uint8_t *round_data(const hcore_comm_t *comm, uint32_t peer, uint64_t round)
{
    const uint64_t place = comm->ctl[peer].place[round % LANE_DEPTH]; /* never 0 in a heap: page 0 is not given out */
    return place ? heap_at(comm, peer, place) : lane_slot(comm, peer, round);
}

static inline const uint8_t *round_result(const hcore_comm_t *comm, uint32_t peer, uint64_t round)
{
    const uint64_t place = comm->ctl[peer].result[round % LANE_DEPTH];
    return place ? heap_at(comm, peer, place) : lane_slot(comm, peer, round);
}

static inline hcore_status_t round_await_done(hcore_comm_t *comm, uint32_t peer, uint64_t round)
{
    return flag_wait(comm, &comm->ctl[peer].done, round, peer);
}

/* The end of a round for a rank that has seen all peers arrive; `given`: they read its memory until they are done. */
static inline hcore_status_t round_leave(hcore_comm_t *comm, uint64_t round, bool given)
{
    round_done(comm, round, true);
    return given ? round_wait_done(comm, round) : HCORE_OK;
}

static inline void round_arrive(hcore_comm_t *comm, uint64_t round, unsigned phase)
{
    flag_set(comm, &comm->ctl[comm->rank].flag, round_flag(round, phase));
}

static inline hcore_status_t round_await(hcore_comm_t *comm, uint32_t peer, uint64_t round, unsigned phase)
{
    return flag_wait(comm, &comm->ctl[peer].flag, round_flag(round, phase), peer);
}

/* Waits for all peers, starting behind this rank so that not all poll the same line. */
static inline hcore_status_t round_await_all(hcore_comm_t *comm, uint64_t round, unsigned phase)
{
    hcore_status_t status = HCORE_OK;
    for (uint32_t i = 1; i < comm->nranks && status == HCORE_OK; i++) {
        uint32_t peer = comm->rank + i < comm->nranks ? comm->rank + i : comm->rank + i - comm->nranks;
        status = round_await(comm, peer, round, phase);
    }
    return status;
}

/* slot_move.c: a rank's data to the root alone; a rank's blocks, one for each peer, where they lie or in the slot at `bytes` each. */
hcore_status_t round_send(hcore_comm_t *comm, uint64_t round, const void *in, uint64_t bytes, uint32_t root);
bool round_give_blocks(hcore_comm_t *comm, const hcore_args_t *args, uint64_t round, uint64_t offset, bool worth);
const uint8_t *round_block(const hcore_comm_t *comm, const hcore_args_t *args, uint32_t peer, uint64_t round, uint64_t bytes);

static inline uint64_t args_in_bytes(const hcore_args_t *args, uint32_t block)
{
    return args->in_bytes ? args->in_bytes[block] : args->bytes;
}

static inline uint64_t args_out_bytes(const hcore_args_t *args, uint32_t block)
{
    return args->out_bytes ? args->out_bytes[block] : args->bytes;
}

/* The part of a block of `size` bytes that a round of `bytes` at `offset` covers. */
static inline uint64_t piece(uint64_t size, uint64_t offset, uint64_t bytes)
{
    uint64_t left = size > offset ? size - offset : 0;
    return left < bytes ? left : bytes;
}

static inline void copy(void *dst, const void *src, uint64_t bytes)
{
    if (dst != src && bytes > 0) { /* in place: the data is there already */
        memcpy(dst, src, bytes);
    }
}

#endif
