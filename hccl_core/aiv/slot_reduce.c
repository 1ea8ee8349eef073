/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slot_reduce.c - reductions through per-rank slots: k-ary vector sums straight from the peers' slots, always in rank
 * order. Each function is one round; `offset` and `bytes` name the part of the vector (or of each block) it covers.
 */
#include "aiv/round.h"
#include "aiv/stream.h"

static void run_reducer(hcore_comm_t *comm, const hcore_args_t *args, void *dst, uint32_t nsrc, uint64_t bytes)
{
    args->reducer->run(args->reducer, dst, comm->source, nsrc, bytes / args->reducer->elem_bytes);
}

/* All contributions, this rank's from where it is. */
static void take_sources(hcore_comm_t *comm, uint64_t round, const uint8_t *in, uint64_t begin)
{
    for (uint32_t i = 0; i < comm->nranks; i++) {
        comm->source[i] = (i == comm->rank ? in : round_data(comm, i, round)) + begin;
    }
}

/* One phase: every rank reduces everything. Least latency while p * bytes is small. */
hcore_status_t aiv_slot_allreduce_flat(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    hcore_status_t status = round_may_write(comm, round);
    if (status != HCORE_OK) {
        return status;
    }
    const bool given = round_give_data(comm, round, in, bytes >= HEAP_LEAST_BYTES && !args->in_place);
    if (!given) {
        stream_copy(lane_slot(comm, comm->rank, round), in, bytes);
    }
    round_arrive(comm, round, PHASE_DATA);
    status = round_await_all(comm, round, PHASE_DATA);
    if (status == HCORE_OK) {
        take_sources(comm, round, in, 0);
        run_reducer(comm, args, hcore_block_at(&args->out, 0) + offset, comm->nranks, bytes);
        status = round_leave(comm, round, given);
    }
    return status;
}

/* Where slice `index` of `bytes` begins: whole elements, whole cache lines where the element allows. */
static uint64_t slice_begin(uint64_t bytes, uint64_t elem, uint32_t nranks, uint32_t index)
{
    uint64_t unit = elem;
    while (unit % LINE_BYTES != 0 && unit < LINE_BYTES * elem) {
        unit += elem;
    }
    uint64_t units = (bytes + unit - 1) / unit;
    uint64_t begin = (units * index + nranks - 1) / nranks * unit;
    return begin < bytes ? begin : bytes;
}

typedef struct {
    uint64_t begin, end; /* in the round's part of the vector */
} slice_t;

static slice_t slice_of(const hcore_args_t *args, uint64_t bytes, uint32_t nranks, uint32_t rank)
{
    const uint64_t elem = args->reducer->elem_bytes;
    return (slice_t){slice_begin(bytes, elem, nranks, rank), slice_begin(bytes, elem, nranks, rank + 1)};
}

/* Reduces this rank's slice to where peers read it: OUT in the shared heap (true), or the slot, and OUT is a copy. */
static bool reduce_slice(hcore_comm_t *comm, const hcore_args_t *args, uint64_t round, uint8_t *out, slice_t mine, bool worth)
{
    uint8_t *slot = lane_slot(comm, comm->rank, round);
    const bool given = round_give(comm, &comm->ctl[comm->rank].result[round % LANE_DEPTH], out, worth);
    uint8_t *result = given ? out : slot;
    if (mine.end > mine.begin) {
        run_reducer(comm, args, result + mine.begin, comm->nranks, mine.end - mine.begin);
        copy(out + mine.begin, result + mine.begin, mine.end - mine.begin);
    }
    return given;
}

static hcore_status_t fetch_slices(hcore_comm_t *comm, const hcore_args_t *args, uint64_t round, uint8_t *out, uint64_t bytes)
{
    const uint32_t n = comm->nranks, me = comm->rank;
    hcore_status_t status = HCORE_OK;
    for (uint32_t i = 1; i < n && status == HCORE_OK; i++) {
        uint32_t peer = me + i < n ? me + i : me + i - n;
        const slice_t slice = slice_of(args, bytes, n, peer);
        status = round_await(comm, peer, round, PHASE_RESULT);
        if (status == HCORE_OK) {
            copy(out + slice.begin, round_result(comm, peer, round) + slice.begin, slice.end - slice.begin);
        }
    }
    return status;
}

/*
 * Two phases: each rank reduces its own slice of all contributions, then copies the others' results. The result of slice r goes
 * into slot r, slice r, or OUT of r itself: nobody but r reads that place in the first phase, so it is free for it. In place is
 * no different: a rank overwrites the slice of a peer only with that peer's result, by when the peer has read it.
 */
hcore_status_t aiv_slot_allreduce_sliced(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const slice_t mine = slice_of(args, bytes, comm->nranks, comm->rank);
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    uint8_t *out = hcore_block_at(&args->out, 0) + offset, *slot = lane_slot(comm, comm->rank, round);
    const bool worth = bytes >= HEAP_LEAST_BYTES;
    hcore_status_t status = round_may_write(comm, round);
    if (status != HCORE_OK) {
        return status;
    }
    const bool in_given = round_give_data(comm, round, in, worth);
    if (!in_given) { /* my own slice is read by me alone, from `in` */
        memcpy(slot, in, mine.begin);
        memcpy(slot + mine.end, in + mine.end, bytes - mine.end);
    }
    round_arrive(comm, round, PHASE_DATA);
    status = round_await_all(comm, round, PHASE_DATA);
    if (status != HCORE_OK) {
        return status;
    }
    take_sources(comm, round, in, mine.begin);
    const bool out_given = reduce_slice(comm, args, round, out, mine, worth);
    round_arrive(comm, round, PHASE_RESULT);
    status = fetch_slices(comm, args, round, out, bytes);
    return status == HCORE_OK ? round_leave(comm, round, in_given || out_given) : status;
}

/* The root reduces; the others leave their part and go. */
hcore_status_t aiv_slot_reduce(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    if (comm->rank != args->root) {
        return round_send(comm, round, in, bytes, args->root);
    }
    hcore_status_t status = round_await_all(comm, round, PHASE_DATA);
    if (status == HCORE_OK) {
        take_sources(comm, round, in, 0);
        run_reducer(comm, args, hcore_block_at(&args->out, 0) + offset, comm->nranks, bytes);
        round_done(comm, round, false);
    }
    return status;
}

/* Prefixes in rank order: rank r waits only for the ranks below it. Exscan leaves rank 0's result untouched. */
hcore_status_t aiv_slot_scan(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t me = comm->rank, nsrc = args->oper == HCORE_OPER_Scan ? me + 1 : me;
    const uint8_t *in = hcore_block_at(&args->in, 0) + offset;
    hcore_status_t status = round_may_write(comm, round);
    if (status != HCORE_OK) {
        return status;
    }
    const bool given = round_give_data(comm, round, in, bytes >= HEAP_LEAST_BYTES && !args->in_place);
    if (!given) {
        memcpy(lane_slot(comm, me, round), in, bytes);
    }
    round_arrive(comm, round, PHASE_DATA);
    for (uint32_t i = 0; i < me && status == HCORE_OK; i++) {
        status = round_await(comm, i, round, PHASE_DATA);
        comm->source[i] = round_data(comm, i, round);
    }
    if (status == HCORE_OK) {
        comm->source[me] = in;
        if (nsrc > 0) {
            run_reducer(comm, args, hcore_block_at(&args->out, 0) + offset, nsrc, bytes);
        }
        round_done(comm, round, false);
    }
    for (uint32_t i = me + 1; given && i < comm->nranks && status == HCORE_OK; i++) {
        status = round_await_done(comm, i, round);
    }
    return status;
}

/*
 * Slot of rank i holds, at j * bytes, what i contributes to rank j's block, unless i gives its blocks where they lie. In place the result may lie across this
 * rank's own contribution, which therefore goes through the slot too.
 */
hcore_status_t aiv_slot_reduce_scatter(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes)
{
    const uint64_t round = round_next(comm);
    const uint32_t n = comm->nranks, me = comm->rank;
    uint8_t *slot = lane_slot(comm, me, round);
    hcore_status_t status = round_may_write(comm, round);
    if (status != HCORE_OK) {
        return status;
    }
    const bool given = round_give_blocks(comm, args, round, offset, bytes >= HEAP_LEAST_BYTES && !args->in_place);
    for (uint32_t i = 0; i < n && !given; i++) {
        if (i != me || args->in_place) {
            uint64_t size = piece(args_in_bytes(args, i), offset, bytes);
            copy(slot + i * bytes, hcore_block_at(&args->in, i) + offset, size);
        }
    }
    round_arrive(comm, round, PHASE_DATA);
    status = round_await_all(comm, round, PHASE_DATA);
    if (status != HCORE_OK) {
        return status;
    }
    const uint64_t size = piece(args_in_bytes(args, me), offset, bytes);
    for (uint32_t i = 0; i < n; i++) {
        comm->source[i] = round_block(comm, args, i, round, bytes);
    }
    if (!args->in_place) {
        comm->source[me] = hcore_block_at(&args->in, me) + offset;
    }
    if (size > 0) {
        run_reducer(comm, args, hcore_block_at(&args->out, 0) + offset, n, size);
    }
    return round_leave(comm, round, given);
}
