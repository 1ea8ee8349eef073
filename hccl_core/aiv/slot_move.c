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
    uint8_t *slot = data_place(comm, args->root, round, bytes);
    hcore_status_t status = root ? data_may_write(comm, round, bytes) : data_receive(comm, args->root, round, bytes);
    if (status != HCORE_OK) {
        return status;
    }
    if (root) {
        data_put(slot, hcore_block_at(&args->in, 0) + offset, bytes);
        data_arrive(comm, round, bytes);
    } else {
        put(hcore_block_at(&args->out, 0) + offset, slot, bytes);
    }
    round_passed(comm, round);
    return HCORE_OK;
}

hcore_status_t aiv_slot_allgather(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t n = comm->nranks, me = comm->rank;
    const uint64_t mine = piece(args_out_bytes(args, me), offset, bytes);
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    hcore_status_t status = data_may_write(comm, round, bytes);
    if (status != HCORE_OK) {
        return status;
    }
    data_put(data_place(comm, me, round, bytes), in, mine);
    data_arrive(comm, round, bytes);
    copy(hcore_block_at(&args->out, me) + offset, in, mine);
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        const uint32_t peer = round_peer(comm, i);
        status = data_await(comm, peer, round, bytes);
        if (status == HCORE_OK) {
            copy(hcore_block_at(&args->out, peer) + offset, data_place(comm, peer, round, bytes),
                 piece(args_out_bytes(args, peer), offset, bytes));
        }
    }
    if (status == HCORE_OK) {
        data_done(comm, round, bytes);
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
        status = data_may_write(comm, round, bytes);
        if (status == HCORE_OK) {
            data_put(data_place(comm, me, round, bytes), in, bytes);
            data_arrive(comm, round, bytes);
        }
    } else {
        copy(hcore_block_at(&args->out, me) + offset, in, bytes);
        for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
            const uint32_t peer = round_peer(comm, i);
            status = data_receive(comm, peer, round, bytes);
            if (status == HCORE_OK) {
                put(hcore_block_at(&args->out, peer) + offset, data_place(comm, peer, round, bytes), bytes);
            }
        }
    }
    if (status == HCORE_OK) {
        round_passed(comm, round);
    }
    return status;
}

hcore_status_t aiv_slot_scatter(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t me = comm->rank;
    const bool root = me == args->root;
    const uint64_t room = (comm->nranks - 1) * bytes;
    uint8_t *slot = data_place(comm, args->root, round, room);
    hcore_status_t status = root ? data_may_write(comm, round, room) : data_receive(comm, args->root, round, room);
    if (status != HCORE_OK) {
        return status;
    }
    for (uint32_t i = 0; root && i < comm->nranks; i++) {
        if (i != me) {
            data_put(slot + data_index(me, i) * bytes, hcore_block_at(&args->in, i) + offset, bytes);
        }
    }
    if (root) {
        data_arrive(comm, round, room);
        copy(hcore_block_at(&args->out, 0) + offset, hcore_block_at(&args->in, me) + offset, bytes);
    } else {
        put(hcore_block_at(&args->out, 0) + offset, slot + data_index(args->root, me) * bytes, bytes);
    }
    round_passed(comm, round);
    return HCORE_OK;
}

hcore_status_t aiv_slot_alltoall(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t n = comm->nranks, me = comm->rank;
    const uint64_t room = (n - 1) * bytes;
    uint8_t *slot = data_place(comm, me, round, room);
    hcore_status_t status = data_may_write(comm, round, room);
    if (status != HCORE_OK) {
        return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i != me) {
            data_put(slot + data_index(me, i) * bytes, hcore_block_at(&args->in, i) + offset, bytes);
        }
    }
    data_arrive(comm, round, room);
    copy(hcore_block_at(&args->out, me) + offset, hcore_block_at(&args->in, me) + offset, bytes);
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        const uint32_t peer = round_peer(comm, i);
        status = data_await(comm, peer, round, room);
        if (status == HCORE_OK) {
            put(hcore_block_at(&args->out, peer) + offset,
                   data_place(comm, peer, round, room) + data_index(peer, me) * bytes, bytes);
        }
    }
    if (status == HCORE_OK) {
        data_done(comm, round, room);
    }
    return status;
}
