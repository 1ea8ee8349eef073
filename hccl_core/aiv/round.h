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

/* This rank has read, and written in peers' memory, all it has to (pairs with round_wait_done). `everyone` says that it has seen
 * every peer arrive in the round: then all peers have done the one before. */
static inline void round_done(hcore_comm_t *comm, uint64_t round, bool everyone)
{
    flag_set(comm, &comm->ctl[comm->rank].done, round);
    if (everyone) {
        comm->safe = round - 1;
    }
}

static inline void round_arrive(hcore_comm_t *comm, uint64_t round, unsigned phase)
{
    flag_set(comm, &comm->ctl[comm->rank].flag, round_flag(round, phase));
}

static inline hcore_status_t round_await(hcore_comm_t *comm, uint32_t peer, uint64_t round, unsigned phase)
{
    return flag_wait(comm, &comm->ctl[peer].flag, round_flag(round, phase), peer);
}

/* The peer `step` places behind this rank: ranks go through their peers so, that not all look at the same one. */
static inline uint32_t round_peer(const hcore_comm_t *comm, uint32_t step)
{
    return comm->rank + step < comm->nranks ? comm->rank + step : comm->rank + step - comm->nranks;
}

static inline hcore_status_t round_await_all(hcore_comm_t *comm, uint64_t round, unsigned phase)
{
    hcore_status_t status = HCORE_OK;
    for (uint32_t i = 1; i < comm->nranks && status == HCORE_OK; i++) {
        status = round_await(comm, round_peer(comm, i), round, phase);
    }
    return status;
}

/* Where rank `index`'s slice of `bytes` begins: whole elements, whole cache lines where the element allows. */
static inline uint64_t round_slice(uint64_t bytes, uint64_t elem, uint32_t nranks, uint32_t index)
{
    uint64_t unit = elem;
    while (unit % LINE_BYTES != 0 && unit < LINE_BYTES * elem) {
        unit += elem;
    }
    uint64_t units = (bytes + unit - 1) / unit;
    uint64_t begin = (units * index + nranks - 1) / nranks * unit;
    return begin < bytes ? begin : bytes;
}

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
