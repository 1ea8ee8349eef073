/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * line.c - data that fits one cache line beside its round number. A rank writes its line once; a reader that sees the
 * round number has the payload in the same transfer. One phase, no trailing barrier: lines alternate by parity.
 */
#include "aiv/round.h"

static inline lane_line_t *line_of(const hcore_comm_t *comm, uint32_t rank, uint64_t round)
{
    return &comm->ctl[rank].line[round % LANE_DEPTH];
}

static inline hcore_status_t line_wait_all(hcore_comm_t *comm, uint64_t round)
{
    hcore_status_t status = HCORE_OK;
    for (uint32_t i = 1; i < comm->nranks && status == HCORE_OK; i++) {
        const uint32_t peer = round_peer(comm, i);
        status = flag_wait(comm, &line_of(comm, peer, round)->seq, round, peer);
    }
    return status;
}

/*
 * Takes the line of the next round away from the caches of the peers, who read it a round ago, while there is time: everyone has
 * arrived in this round, so nobody reads it any more. Only a hint. Measured between two cores, 8-byte AllReduce: 0.24
 * to 0.32 us without, 0.20 to 0.25 with; the same for slots costs more than it brings.
 */
static inline void own_next(const hcore_comm_t *comm, uint64_t round)
{
    cpu_own(line_of(comm, comm->rank, round + 1));
}

hcore_status_t aiv_line_barrier(hcore_comm_t *comm)
{
    const uint64_t round = round_next(comm);
    hcore_status_t status = round_may_write(comm, round);
    if (status == HCORE_OK) {
        flag_set(comm, &line_of(comm, comm->rank, round)->seq, round);
        status = line_wait_all(comm, round);
        own_next(comm, round);
    }
    if (status == HCORE_OK) {
        round_done(comm, round, true);
    }
    return status;
}

/* The sizes of one element without a call. */
static inline void fill_line(uint8_t *payload, const void *in, size_t bytes)
{
    enum { WORD = 4, TWO_WORDS = 8 };
    if (bytes == TWO_WORDS) {
        memcpy(payload, in, TWO_WORDS);
    } else if (bytes == WORD) {
        memcpy(payload, in, WORD);
    } else {
        memcpy(payload, in, bytes);
    }
}

/* Every rank reduces all lines itself, in rank order: the same bits everywhere without a second phase. */
hcore_status_t aiv_line_allreduce(hcore_comm_t *comm, const void *in, void *out, size_t bytes, const hcore_reducer_t *reducer)
{
    const uint64_t round = round_next(comm);
    lane_line_t *mine = line_of(comm, comm->rank, round);
    hcore_status_t status = round_may_write(comm, round);
    if (status == HCORE_OK) {
        fill_line(mine->payload, in, bytes);
        flag_set(comm, &mine->seq, round);
        status = line_wait_all(comm, round);
        own_next(comm, round);
    }
    if (status == HCORE_OK) {
        for (uint32_t i = 0; i < comm->nranks; i++) {
            comm->source[i] = line_of(comm, i, round)->payload;
        }
        comm->source[comm->rank] = in; /* its line is on its way to the peers */
        reducer->run(reducer, out, comm->source, comm->nranks, bytes / reducer->elem_bytes);
        round_done(comm, round, true);
    }
    return status;
}

/* The root waits only for the readers of its line DEPTH rounds ago, so it may run ahead. */
hcore_status_t aiv_line_broadcast(hcore_comm_t *comm, const hcore_args_t *args)
{
    const uint64_t round = round_next(comm);
    lane_line_t *line = line_of(comm, args->root, round);
    hcore_status_t status = HCORE_OK;
    if (comm->rank == args->root) {
        status = round_may_write(comm, round);
        if (status == HCORE_OK) {
            memcpy(line->payload, hcore_block_at(&args->in, 0), args->bytes);
            flag_set(comm, &line->seq, round);
        }
    } else {
        status = flag_wait(comm, &line->seq, round, args->root);
        if (status == HCORE_OK) {
            memcpy(hcore_block_at(&args->out, 0), line->payload, args->bytes);
        }
    }
    if (status == HCORE_OK) {
        round_done(comm, round, false);
    }
    return status;
}
