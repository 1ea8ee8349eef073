/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slot_move.c - data moving through per-rank slots, one round a call. `offset` and `bytes` name the part of each block that
 * the round covers; a block of a V operator may end earlier.
 */
#include "aiv/round.h"

hcore_status_t round_wait_done(hcore_comm_t *comm, uint64_t round)
{
    hcore_status_t status = HCORE_OK;
    for (uint32_t i = 0; i < comm->nranks && status == HCORE_OK; i++) {
        if (i != comm->rank) {
            status = flag_wait(comm, &comm->ctl[i].done, round, i);
        }
    }
    if (status == HCORE_OK) {
        comm->safe = round;
    }
    return status;
}

hcore_status_t aiv_slot_broadcast(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const bool root = comm->rank == args->root;
    uint8_t *slot = lane_slot(comm, args->root, round);
    hcore_status_t status = root ? round_may_write(comm, round) : round_await(comm, args->root, round, PHASE_DATA);
    if (status != HCORE_OK) {
        return status;
    }
    if (root) {
        memcpy(slot, hcore_block_at(&args->in, 0) + offset, bytes);
        round_arrive(comm, round, PHASE_DATA);
    } else {
        memcpy(hcore_block_at(&args->out, 0) + offset, slot, bytes);
    }
    round_done(comm, round, false);
    return HCORE_OK;
}

hcore_status_t aiv_slot_allgather(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t n = comm->nranks, me = comm->rank;
    const uint64_t mine = piece(args_out_bytes(args, me), offset, bytes);
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    hcore_status_t status = round_may_write(comm, round);
    if (status != HCORE_OK) {
        return status;
    }
    copy(lane_slot(comm, me, round), in, mine);
    round_arrive(comm, round, PHASE_DATA);
    copy(hcore_block_at(&args->out, me) + offset, in, mine);
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        const uint32_t peer = round_peer(comm, i);
        status = round_await(comm, peer, round, PHASE_DATA);
        if (status == HCORE_OK) {
            copy(hcore_block_at(&args->out, peer) + offset, lane_slot(comm, peer, round),
                 piece(args_out_bytes(args, peer), offset, bytes));
        }
    }
    if (status == HCORE_OK) {
        round_done(comm, round, true);
    }
    return status;
}

hcore_status_t aiv_slot_gather(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t n = comm->nranks, me = comm->rank;
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    hcore_status_t status = HCORE_OK;
    if (me != args->root) {
        status = round_may_write(comm, round);
        if (status == HCORE_OK) {
            memcpy(lane_slot(comm, me, round), in, bytes);
            round_arrive(comm, round, PHASE_DATA);
        }
    } else {
        copy(hcore_block_at(&args->out, me) + offset, in, bytes);
        for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
            const uint32_t peer = round_peer(comm, i);
            status = round_await(comm, peer, round, PHASE_DATA);
            if (status == HCORE_OK) {
                memcpy(hcore_block_at(&args->out, peer) + offset, lane_slot(comm, peer, round), bytes);
            }
        }
    }
    if (status == HCORE_OK) {
        round_done(comm, round, false);
    }
    return status;
}

hcore_status_t aiv_slot_scatter(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t me = comm->rank;
    const bool root = me == args->root;
    uint8_t *slot = lane_slot(comm, args->root, round);
    hcore_status_t status = root ? round_may_write(comm, round) : round_await(comm, args->root, round, PHASE_DATA);
    if (status != HCORE_OK) {
        return status;
    }
    for (uint32_t i = 0; root && i < comm->nranks; i++) {
        if (i != me) {
            memcpy(slot + i * bytes, hcore_block_at(&args->in, i) + offset, bytes);
        }
    }
    if (root) {
        round_arrive(comm, round, PHASE_DATA);
        copy(hcore_block_at(&args->out, 0) + offset, hcore_block_at(&args->in, me) + offset, bytes);
    } else {
        memcpy(hcore_block_at(&args->out, 0) + offset, slot + me * bytes, bytes);
    }
    round_done(comm, round, false);
    return HCORE_OK;
}

hcore_status_t aiv_slot_alltoall(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t n = comm->nranks, me = comm->rank;
    uint8_t *slot = lane_slot(comm, me, round);
    hcore_status_t status = round_may_write(comm, round);
    if (status != HCORE_OK) {
        return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i != me) {
            memcpy(slot + i * bytes, hcore_block_at(&args->in, i) + offset, bytes);
        }
    }
    round_arrive(comm, round, PHASE_DATA);
    copy(hcore_block_at(&args->out, me) + offset, hcore_block_at(&args->in, me) + offset, bytes);
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        const uint32_t peer = round_peer(comm, i);
        status = round_await(comm, peer, round, PHASE_DATA);
        if (status == HCORE_OK) {
            memcpy(hcore_block_at(&args->out, peer) + offset, lane_slot(comm, peer, round) + me * bytes, bytes);
        }
    }
    if (status == HCORE_OK) {
        round_done(comm, round, true);
    }
    return status;
}
