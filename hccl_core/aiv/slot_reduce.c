/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slot_reduce.c - reductions through per-rank slots: k-ary vector sums straight from the peers' slots, always in rank
 * order. Each function is one round; `offset` and `bytes` name the part of the vector (or of each block) it covers.
 */
#include "aiv/round.h"
#include "mem/stream.h"

static void run_reducer(hcore_comm_t *comm, const hcore_args_t *args, void *dst, uint32_t nsrc, uint64_t bytes)
{
    args->reducer->run(args->reducer, dst, comm->source, nsrc, bytes / args->reducer->elem_bytes);
}

static inline void fill_slot(uint8_t *slot, const void *in, uint64_t bytes)
{
    if (bytes < STREAM_SLOT_FROM) {
        data_put(slot, in, bytes);
    } else {
        stream_to_slot(slot, in, bytes);
    }
}

/* Everybody's contribution in its slot, and all flags seen: the start of the symmetric rounds. */
static hcore_status_t share_all(hcore_comm_t *comm, uint64_t round, const void *in, uint64_t bytes)
{
    hcore_status_t status = data_may_write(comm, round, bytes);
    if (status == HCORE_OK) {
        fill_slot(data_place(comm, comm->rank, round, bytes), in, bytes);
        data_arrive(comm, round, bytes);
        status = data_await_all(comm, round, bytes);
    }
    return status;
}

/* One phase: every rank reduces everything. Least latency while p * bytes is small. */
hcore_status_t aiv_slot_allreduce_flat(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    hcore_status_t status = share_all(comm, round, in, bytes);
    if (status == HCORE_OK) {
        for (uint32_t i = 0; i < comm->nranks; i++) {
            comm->source[i] = i == comm->rank ? in : data_place(comm, i, round, bytes);
        }
        run_reducer(comm, args, hcore_block_at(&args->out, 0) + offset, comm->nranks, bytes);
        data_done(comm, round, bytes);
    }
    return status;
}

/*
 * Two phases: each rank reduces its own slice of all slots, then copies the others' results. The result of slice r goes
 * back into slot r, slice r: nobody but r reads that place in the first phase, so it is free for it.
 */
hcore_status_t aiv_slot_allreduce_sliced(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint32_t n = comm->nranks, me = comm->rank;
    const uint64_t elem = args->reducer->elem_bytes, round = round_next(comm);
    const uint64_t begin = round_slice(bytes, elem, n, me), end = round_slice(bytes, elem, n, me + 1);
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    uint8_t *out = hcore_block_at(&args->out, 0) + offset;
    uint8_t *slot = lane_slot(comm, me, round);
    hcore_status_t status = round_may_write(comm, round, LANE_DEPTH);
    if (status != HCORE_OK) {
        return status;
    }
    memcpy(slot, in, begin); /* my own slice is read by me alone, from `in` */
    memcpy(slot + end, in + end, bytes - end);
    round_arrive(comm, round, PHASE_DATA);
    status = round_await_all(comm, round, PHASE_DATA);
    if (status != HCORE_OK) {
        return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        comm->source[i] = (i == me ? in : lane_slot(comm, i, round)) + begin;
    }
    if (end > begin) {
        run_reducer(comm, args, slot + begin, n, end - begin);
        memcpy(out + begin, slot + begin, end - begin);
    }
    round_arrive(comm, round, PHASE_RESULT);
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        const uint32_t peer = round_peer(comm, i);
        uint64_t from = round_slice(bytes, elem, n, peer), to = round_slice(bytes, elem, n, peer + 1);
        status = round_await(comm, peer, round, PHASE_RESULT);
        if (status == HCORE_OK) {
            memcpy(out + from, lane_slot(comm, peer, round) + from, to - from);
        }
    }
    if (status == HCORE_OK) {
        round_done(comm, round);
    }
    return status;
}

/* The root reduces; the others leave their part and go. */
hcore_status_t aiv_slot_reduce(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    hcore_status_t status = HCORE_OK;
    if (comm->rank != args->root) {
        status = data_may_write(comm, round, bytes);
        if (status == HCORE_OK) {
            data_put(data_place(comm, comm->rank, round, bytes), in, bytes);
            data_arrive(comm, round, bytes);
            round_passed(comm, round);
        }
        return status;
    }
    for (uint32_t i = 1; i < comm->nranks && status == HCORE_OK; i++) {
        status = data_receive(comm, round_peer(comm, i), round, bytes);
    }
    if (status == HCORE_OK) {
        for (uint32_t i = 0; i < comm->nranks; i++) {
            comm->source[i] = i == comm->rank ? in : data_place(comm, i, round, bytes);
        }
        run_reducer(comm, args, hcore_block_at(&args->out, 0) + offset, comm->nranks, bytes);
        round_passed(comm, round);
    }
    return status;
}

/* Prefixes in rank order: rank r waits only for the ranks below it. Exscan leaves rank 0's result untouched. */
hcore_status_t aiv_slot_scan(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t me = comm->rank, nsrc = args->oper == HCORE_OPER_Scan ? me + 1 : me;
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    hcore_status_t status = HCORE_OK;
    if (me + 1 < comm->nranks) { /* the last rank's part is nobody else's */
        status = data_may_write(comm, round, bytes);
        if (status != HCORE_OK) {
            return status;
        }
        data_put(data_place(comm, me, round, bytes), in, bytes);
        data_arrive(comm, round, bytes);
    }
    for (uint32_t i = 0; i < me && status == HCORE_OK; i++) {
        status = data_receive(comm, i, round, bytes);
        comm->source[i] = data_place(comm, i, round, bytes);
    }
    if (status == HCORE_OK) {
        comm->source[me] = in;
        if (nsrc > 0) {
            run_reducer(comm, args, hcore_block_at(&args->out, 0) + offset, nsrc, bytes);
        }
        round_passed(comm, round);
    }
    return status;
}

/*
 * Slot of rank i holds, at j * bytes, what i contributes to rank j's block. In place the result may lie across this
 * rank's own contribution, which therefore goes through the slot too.
 */
hcore_status_t aiv_slot_reduce_scatter(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t n = comm->nranks, me = comm->rank;
    const uint64_t room = n * bytes;
    uint8_t *slot = data_place(comm, me, round, room);
    hcore_status_t status = data_may_write(comm, round, room);
    if (status != HCORE_OK) {
        return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i != me || args->in_place) {
            uint64_t size = piece(args_in_bytes(args, i), offset, bytes);
            data_put(slot + i * bytes, hcore_block_at(&args->in, i) + offset, size);
        }
    }
    data_arrive(comm, round, room);
    status = data_await_all(comm, round, room);
    if (status != HCORE_OK) {
        return status;
    }
    const uint64_t size = piece(args_in_bytes(args, me), offset, bytes);
    for (uint32_t i = 0; i < n; i++) {
        comm->source[i] = data_place(comm, i, round, room) + me * bytes;
    }
    if (!args->in_place) {
        comm->source[me] = hcore_block_at(&args->in, me) + offset;
    }
    if (size > 0) {
        run_reducer(comm, args, hcore_block_at(&args->out, 0) + offset, n, size);
    }
    data_done(comm, round, room);
    return HCORE_OK;
}
