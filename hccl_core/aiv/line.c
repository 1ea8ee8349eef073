/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * line.c - Barrier, and the AllReduce whose data fits one cache line beside its round number, without a look at anything
 * else. A rank writes its line once; a reader that sees the round number has the payload in the same transfer. One phase, no trailing
 * barrier: LINE_DEPTH lines take turns. On the line the same as aiv_slot_allreduce_flat, which another rank may run.
 */
#include "aiv/round.h"

hcore_status_t aiv_line_barrier(hcore_comm_t *comm)
{
    const uint64_t round = round_next(comm);
    hcore_status_t status = data_may_write(comm, round, 0);
    if (status == HCORE_OK) {
        data_arrive(comm, round, 0);
        status = data_await_all(comm, round, 0);
    }
    if (status == HCORE_OK) {
        data_done(comm, round, 0);
    }
    return status;
}

/* Every rank reduces all lines itself, in rank order: the same bits everywhere without a second phase. */
hcore_status_t aiv_line_allreduce(hcore_comm_t *comm, const void *in, void *out, size_t bytes, const hcore_reducer_t *reducer)
{
    const uint64_t round = round_next(comm);
    hcore_status_t status = round_may_write(comm, round, LINE_DEPTH);
    if (status == HCORE_OK) {
        lane_line_t *mine = round_line(comm, comm->rank, round);
        put(mine->payload, in, bytes);
        data_arrive(comm, round, bytes);
        status = data_await_all(comm, round, 0);
    }
    if (status == HCORE_OK) {
        for (uint32_t i = 0; i < comm->nranks; i++) {
            comm->source[i] = round_line(comm, i, round)->payload;
        }
        comm->source[comm->rank] = in; /* its line is on its way to the peers */
        reducer->run(reducer, out, comm->source, comm->nranks, bytes / reducer->elem_bytes);
        data_done(comm, round, 0);
    }
    return status;
}
