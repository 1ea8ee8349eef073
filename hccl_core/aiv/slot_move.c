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

/* Where block `index` begins in blocks that lie one after another. */
static uint64_t block_offset(const hcore_args_t *args, uint32_t index)
{
    uint64_t offset = args->in_bytes ? 0 : index * args->bytes;
    for (uint32_t i = 0; args->in_bytes && i < index; i++) {
        offset += args->in_bytes[i];
    }
    return offset;
}

static bool one_after_another(const hcore_comm_t *comm, const hcore_args_t *args)
{
    const uint8_t *first = hcore_block_at(&args->in, 0);
    for (uint32_t i = 1; i < comm->nranks; i++) {
        if (hcore_block_at(&args->in, i) != first + block_offset(args, i)) {
            return false;
        }
    }
    return true;
}

bool round_give_blocks(hcore_comm_t *comm, const hcore_args_t *args, uint64_t round, uint64_t offset, bool worth)
{
    worth = worth && comm->heaps && one_after_another(comm, args);
    return round_give_data(comm, round, hcore_block_at(&args->in, 0) + (worth ? offset : 0), worth);
}

const uint8_t *round_block(const hcore_comm_t *comm, const hcore_args_t *args, uint32_t peer, uint64_t round, uint64_t bytes)
{
    const bool slot = comm->ctl[peer].place[round % LANE_DEPTH] == 0;
    return round_data(comm, peer, round) + (slot ? comm->rank * bytes : block_offset(args, comm->rank));
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
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    const bool given = root && round_give_data(comm, round, in, bytes >= HEAP_LEAST_ROOTED);
    if (root) {
        copy(slot, in, given ? 0 : bytes);
        round_arrive(comm, round, PHASE_DATA);
    } else {
        memcpy(hcore_block_at(&args->out, 0) + offset, round_data(comm, args->root, round), bytes);
    }
    round_done(comm, round, false);
    return given ? round_wait_done(comm, round) : HCORE_OK;
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
    const bool given = round_give_data(comm, round, in, bytes >= HEAP_LEAST_BYTES);
    copy(lane_slot(comm, me, round), in, given ? 0 : mine);
    round_arrive(comm, round, PHASE_DATA);
    copy(hcore_block_at(&args->out, me) + offset, in, mine);
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        uint32_t peer = me + i < n ? me + i : me + i - n;
        status = round_await(comm, peer, round, PHASE_DATA);
        if (status == HCORE_OK) {
            copy(hcore_block_at(&args->out, peer) + offset, round_data(comm, peer, round),
                 piece(args_out_bytes(args, peer), offset, bytes));
        }
    }
    return status == HCORE_OK ? round_leave(comm, round, given) : status;
}

/* A rank leaves its data to `root` and is done. */
hcore_status_t round_send(hcore_comm_t *comm, uint64_t round, const void *in, uint64_t bytes, uint32_t root)
{
    hcore_status_t status = round_may_write(comm, round);
    if (status != HCORE_OK) {
        return status;
    }
    const bool given = round_give_data(comm, round, in, bytes >= HEAP_LEAST_ROOTED);
    if (!given) {
        memcpy(lane_slot(comm, comm->rank, round), in, bytes);
    }
    round_arrive(comm, round, PHASE_DATA);
    round_done(comm, round, false);
    return given ? round_await_done(comm, root, round) : HCORE_OK;
}

hcore_status_t aiv_slot_gather(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t n = comm->nranks, me = comm->rank;
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    hcore_status_t status = HCORE_OK;
    if (me != args->root) {
        return round_send(comm, round, in, bytes, args->root);
    }
    copy(hcore_block_at(&args->out, me) + offset, in, bytes);
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        uint32_t peer = me + i < n ? me + i : me + i - n;
        status = round_await(comm, peer, round, PHASE_DATA);
        if (status == HCORE_OK) {
            memcpy(hcore_block_at(&args->out, peer) + offset, round_data(comm, peer, round), bytes);
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
    const bool given = root && round_give_blocks(comm, args, round, offset, bytes >= HEAP_LEAST_ROOTED);
    for (uint32_t i = 0; root && !given && i < comm->nranks; i++) {
        if (i != me) {
            memcpy(slot + i * bytes, hcore_block_at(&args->in, i) + offset, bytes);
        }
    }
    if (root) {
        round_arrive(comm, round, PHASE_DATA);
        copy(hcore_block_at(&args->out, 0) + offset, hcore_block_at(&args->in, me) + offset, bytes);
    } else {
        memcpy(hcore_block_at(&args->out, 0) + offset, round_block(comm, args, args->root, round, bytes), bytes);
    }
    round_done(comm, round, false);
    return given ? round_wait_done(comm, round) : HCORE_OK;
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
    const bool given = round_give_blocks(comm, args, round, offset, bytes >= HEAP_LEAST_BYTES);
    for (uint32_t i = 0; i < n && !given; i++) {
        if (i != me) {
            memcpy(slot + i * bytes, hcore_block_at(&args->in, i) + offset, bytes);
        }
    }
    round_arrive(comm, round, PHASE_DATA);
    copy(hcore_block_at(&args->out, me) + offset, hcore_block_at(&args->in, me) + offset, bytes);
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        uint32_t peer = me + i < n ? me + i : me + i - n;
        status = round_await(comm, peer, round, PHASE_DATA);
        if (status == HCORE_OK) {
            memcpy(hcore_block_at(&args->out, peer) + offset, round_block(comm, args, peer, round, bytes), bytes);
        }
    }
    return status == HCORE_OK ? round_leave(comm, round, given) : status;
}
