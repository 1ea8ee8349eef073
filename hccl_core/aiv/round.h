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

/* Blocks until every peer has read what this rank wrote `depth` rounds ago. */
static inline hcore_status_t round_may_write(hcore_comm_t *comm, uint64_t round, uint64_t depth)
{
    return __builtin_expect(comm->safe + depth >= round, 1) ? HCORE_OK : round_wait_done(comm, round - depth);
}

/* This rank has read, and written in peers' memory, all it has to (pairs with round_wait_done), and has seen every peer arrive in the
 * round: then all peers have done the one before. */
static inline void round_done(hcore_comm_t *comm, uint64_t round)
{
    flag_set(comm, &comm->ctl[comm->rank].done, round);
    comm->safe = round - 1;
}

_Static_assert(DONE_EVERY <= LANE_DEPTH && LANE_DEPTH <= LINE_DEPTH && LINE_DEPTH <= SMALL_DEPTH, "the word a writer waits for must come with a round before");

/* The same when this rank may not have seen all peers, and no peer waits before it writes again. */
static inline void round_passed(hcore_comm_t *comm, uint64_t round)
{
    if (round % DONE_EVERY == 0) {
        flag_set(comm, &comm->ctl[comm->rank].done, round);
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

/* ---- where the data of a round lies ----
 *
 * A rank's data of a round lies in its slot, a small one if all of it (`bytes`, the same on all ranks) fits, announced by its flag; or in its
 * line, if it fits there, whose round number announces it in the same transfer. */

static inline lane_line_t *round_line(const hcore_comm_t *comm, uint32_t rank, uint64_t round)
{
    return &comm->ctl[rank].line[round % LINE_DEPTH];
}

static inline uint8_t *data_place(const hcore_comm_t *comm, uint32_t rank, uint64_t round, uint64_t bytes)
{
    return bytes <= LINE_PAYLOAD  ? round_line(comm, rank, round)->payload
           : bytes <= SMALL_BYTES ? lane_small(comm, rank, round)
                                  : lane_slot(comm, rank, round);
}

static inline hcore_status_t data_may_write(hcore_comm_t *comm, uint64_t round, uint64_t bytes)
{
    return round_may_write(comm, round, bytes <= LINE_PAYLOAD ? LINE_DEPTH : bytes <= SMALL_BYTES ? SMALL_DEPTH : LANE_DEPTH);
}

static inline void data_arrive(hcore_comm_t *comm, uint64_t round, uint64_t bytes)
{
    if (bytes <= LINE_PAYLOAD) {
        lane_line_t *line = round_line(comm, comm->rank, round);
        flag_set(comm, &line->seq, round);
        cpu_share(line);
    } else {
        round_arrive(comm, round, PHASE_DATA);
    }
}

static inline hcore_status_t data_await(hcore_comm_t *comm, uint32_t peer, uint64_t round, uint64_t bytes)
{
    return bytes <= LINE_PAYLOAD ? flag_wait(comm, &round_line(comm, peer, round)->seq, round, peer)
                                 : round_await(comm, peer, round, PHASE_DATA);
}

/*
 * The same of a peer that sends and does not wait for this rank. In a long row of such rounds one that has caught up with it holds it
 * up, by looking at the line that it is about to write: each then takes two flights of a line in place of one. A pause lets it get
 * ahead. (A rank that only receives learns of nobody's being done: so long is the row.)
 */
static inline hcore_status_t data_receive(hcore_comm_t *comm, uint32_t peer, uint64_t round, uint64_t bytes)
{
    enum { LONG_ROW = 16, PAUSES = 2 };
    if (bytes <= LINE_PAYLOAD && round > comm->safe + LONG_ROW && !flag_reached(&round_line(comm, peer, round)->seq, round)) {
        for (unsigned i = 0; i < PAUSES; i++) {
            cpu_relax();
        }
    }
    return data_await(comm, peer, round, bytes);
}

/*
 * Ends a round in which this rank has seen all arrive. Takes the line of the next round away from the caches of the peers, who read it
 * LINE_DEPTH rounds ago, while there is time. Only a hint. Measured between two cores, 8-byte AllReduce: 0.24 to 0.32 us without,
 * 0.20 to 0.25 with; the same for slots costs more than it brings.
 */
static inline void data_done(hcore_comm_t *comm, uint64_t round, uint64_t bytes)
{
    if (bytes <= LINE_PAYLOAD) {
        cpu_own(round_line(comm, comm->rank, round + 1));
    }
    round_done(comm, round);
}

static inline hcore_status_t data_await_all(hcore_comm_t *comm, uint64_t round, uint64_t bytes)
{
    hcore_status_t status = HCORE_OK;
    for (uint32_t i = 1; i < comm->nranks && status == HCORE_OK; i++) {
        status = data_await(comm, round_peer(comm, i), round, bytes);
    }
    return status;
}

/* Where the block for rank `to` lies among those that rank `from` has for all others. */
static inline uint32_t data_index(uint32_t from, uint32_t to)
{
    return to < from ? to : to - 1;
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

/* Of small blocks most are one element of a common size: those take no call. */
static inline void put(void *dst, const void *src, uint64_t bytes)
{
    enum { WORD = 4, TWO_WORDS = 8 };
    if (bytes == TWO_WORDS) {
        memcpy(dst, src, TWO_WORDS);
    } else if (bytes == WORD) {
        memcpy(dst, src, WORD);
    } else if (bytes > 0) { /* a block without bytes may have no address */
        memcpy(dst, src, bytes);
    }
}

static inline void copy(void *dst, const void *src, uint64_t bytes)
{
    if (dst != src && bytes > 0) { /* in place: the data is there already */
        put(dst, src, bytes);
    }
}

/*
 * After writing what a peer will read. Sharing a few lines saves the reader more than it costs the writer, about a store's worth each:
 * measured between two cores, a Gather of 256 bytes takes 0.12 us in place of 0.15, but one of 4 KiB 1.0 in place of 0.5.
 */
static inline void data_share(const void *data, uint64_t bytes)
{
    enum { SHARE_UPTO = 512 + CELL_HEADER };
    for (uint64_t i = 0; bytes <= SHARE_UPTO && i < bytes; i += LINE_BYTES) {
        cpu_share((const uint8_t *)data + i);
    }
}

/* Into this rank's place of the round; a line is shared with its number (data_arrive). */
static inline void data_put(uint8_t *place, const void *src, uint64_t bytes)
{
    put(place, src, bytes);
    if (bytes > LINE_PAYLOAD) {
        data_share(place, bytes);
    }
}

#endif
