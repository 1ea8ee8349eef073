/* SPDX-License-Identifier: BSD-3-Clause */
/* algo/mesh.c - reductions and Barrier, everyone with everyone through the windows, in rank order. */
#include "algo/families.h"
#include "algo/sliced.h"

/* --- AllReduce, Reduce -------------------------------------------------------------------------------------
 */

/*
 * Round t copies chunk t in, reduces this rank's slice of chunk t-1 and copies chunk t-2 out, so that one
 * POST each way per chunk is enough. A chunk in the window: the slices of all ranks; peers read their slice
 * of what was copied in, later this rank's slice of the result, which lies in this rank's own slice: nobody
 * reads that before, as a rank takes its own contribution from IN.
 */
static void copy_in(const hx_exchange_t *e, uint64_t c)
{
    const hx_sliced_t *plan = e->plan;
    uint64_t from = hx_chunk_offset(&plan->chunks, c), to = hx_chunk_slot(&plan->chunks, c);
    uint64_t mine = hx_slice_at(plan, c, e->shape->rank), after = hx_slice_at(plan, c, e->shape->rank + 1);
    hx_copy(e->x, hx_ccl(e->shape->rank, to), hx_in(0, from), mine);
    hx_copy(e->x, hx_ccl(e->shape->rank, to + after), hx_in(0, from + after),
            hx_chunk_bytes(&plan->chunks, c) - after);
}

typedef struct {
    uint32_t rank;
    hx_loc_t own;
    uint64_t at; /* in the others' windows */
} contributions_t;

static hx_loc_t contribution(const void *context, uint32_t i)
{
    const contributions_t *all = context;
    return i == all->rank ? all->own : hx_ccl(i, all->at);
}

static void reduce_slice(const hx_exchange_t *e, uint64_t c)
{
    const hx_sliced_t *plan = e->plan;
    uint32_t me = e->shape->rank;
    uint64_t in = hx_chunk_offset(&plan->chunks, c) + hx_slice_at(plan, c, me);
    contributions_t all = {.rank = me, .own = hx_in(0, in), .at = hx_slice_slot(plan, c, me)};
    hx_reduce_many(e->x, hx_sliced_result(plan, c), hx_slice_bytes(plan, c, me), e->shape->nranks,
                   contribution, &all);
}

static void reduce_fill(const hx_exchange_t *e, uint64_t j)
{
    if (j >= 1) {
        reduce_slice(e, j - 1);
    }
    copy_in(e, j);
}

void hx_mesh_reduce(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_sliced_t plan = {.shape = shape,
                        .chunks =
                            hx_chunks(shape->bytes, hx_window(shape), HX_REDUCE_SLOTS, shape->elem_bytes),
                        .slot_of_slices = true};
    hx_sliced_exchange(&plan, &(hx_exchange_t){.x = x, .slots = HX_REDUCE_SLOTS, .fill = reduce_fill});
}

/* --- ReduceScatter(V)
 * ---------------------------------------------------------------------------------------- */

/*
 * Each reader has its part of a window, chunked alike for all blocks: in place, OUT of chunk c then only
 * covers IN of chunks up to c, which have been copied in.
 */
typedef struct {
    hx_chunks_t chunks; /* of the largest block; base 0 */
    bool stage_own;     /* in place, my IN block may overlap OUT without being it */
} scatter_plan_t;

static hx_chunks_t block_chunks(const hx_exchange_t *e, uint32_t owner, uint32_t reader)
{
    const scatter_plan_t *plan = e->plan;
    hx_chunks_t chunks = hx_chunks_for(&plan->chunks, hx_in_bytes(e->shape, reader));
    chunks.base =
        hx_window_part(e->shape, hx_distance(e->shape, owner, reader) - 1, e->shape->nranks - 1).base;
    return chunks;
}

static uint64_t scatter_sends(const hx_exchange_t *e, uint32_t peer)
{
    return block_chunks(e, e->shape->rank, peer).count;
}

static uint64_t scatter_recvs(const hx_exchange_t *e, uint32_t peer)
{
    return block_chunks(e, peer, e->shape->rank).count;
}

static void scatter_fill_peer(const hx_exchange_t *e, uint64_t j, uint32_t peer)
{
    hx_chunks_t chunks = block_chunks(e, e->shape->rank, peer);
    hx_copy(e->x, hx_ccl(e->shape->rank, hx_chunk_slot(&chunks, j)), hx_in(peer, hx_chunk_offset(&chunks, j)),
            hx_chunk_bytes(&chunks, j));
}

typedef struct {
    const hx_exchange_t *e;
    uint64_t chunk;
    hx_loc_t own;
} scatter_sources_t;

static hx_loc_t scatter_source(const void *context, uint32_t i)
{
    const scatter_sources_t *all = context;
    if (i == all->e->shape->rank) {
        return all->own;
    }
    hx_chunks_t chunks = block_chunks(all->e, i, all->e->shape->rank);
    return hx_ccl(i, hx_chunk_slot(&chunks, all->chunk));
}

static void scatter_drain(const hx_exchange_t *e, uint64_t j)
{
    const scatter_plan_t *plan = e->plan;
    uint32_t me = e->shape->rank;
    hx_chunks_t chunks = hx_chunks_for(&plan->chunks, hx_in_bytes(e->shape, me));
    uint64_t at = hx_chunk_offset(&chunks, j), bytes = hx_chunk_bytes(&chunks, j);
    scatter_sources_t all = {.e = e, .chunk = j, .own = hx_in(me, at)};
    if (plan->stage_own) {
        hx_copy(e->x, hx_scratch(0), all.own, bytes);
        all.own = hx_scratch(0);
    }
    hx_reduce_many(e->x, hx_out(0, at), bytes, e->shape->nranks, scatter_source, &all);
}

/* My IN block lies `before` bytes after OUT when the call is in place. */
static bool own_overlaps(const hx_shape_t *shape)
{
    uint64_t before = 0;
    for (uint32_t block = 0; block < shape->rank; block++) {
        before += hx_in_bytes(shape, block);
    }
    return before && before < hx_in_bytes(shape, shape->rank);
}

void hx_mesh_reduce_scatter(const hx_shape_t *shape, hx_expansion_t *x)
{
    uint64_t largest = 0;
    for (uint32_t block = 0; block < shape->nranks; block++) {
        largest = hx_max(largest, hx_in_bytes(shape, block));
    }
    scatter_plan_t plan = {.chunks = hx_chunks(largest, hx_window_part(shape, 0, shape->nranks - 1),
                                               HX_EXCHANGE_SLOTS, shape->elem_bytes),
                           .stage_own = own_overlaps(shape)};
    x->scratch = plan.stage_own ? plan.chunks.chunk : 0;
    hx_exchange(&(hx_exchange_t){.shape = shape,
                                 .x = x,
                                 .plan = &plan,
                                 .slots = HX_EXCHANGE_SLOTS,
                                 .sends = scatter_sends,
                                 .recvs = scatter_recvs,
                                 .fill_peer = scatter_fill_peer,
                                 .drain = scatter_drain});
}

/* --- Scan, Exscan
 * ------------------------------------------------------------------------------------------- */

/* Rank r reduces the windows of the ranks below it; data flows upwards only. */
static uint64_t scan_sends(const hx_exchange_t *e, uint32_t peer)
{
    const hx_chunks_t *chunks = e->plan;
    return peer > e->shape->rank ? chunks->count : 0;
}

static uint64_t scan_recvs(const hx_exchange_t *e, uint32_t peer)
{
    const hx_chunks_t *chunks = e->plan;
    return peer < e->shape->rank ? chunks->count : 0;
}

static void scan_fill(const hx_exchange_t *e, uint64_t j)
{
    const hx_chunks_t *chunks = e->plan;
    if (e->shape->rank + 1 < e->shape->nranks) {
        hx_copy(e->x, hx_ccl(e->shape->rank, hx_chunk_slot(chunks, j)), hx_in(0, hx_chunk_offset(chunks, j)),
                hx_chunk_bytes(chunks, j));
    }
}

static void scan_drain(const hx_exchange_t *e, uint64_t j)
{
    const hx_chunks_t *chunks = e->plan;
    uint32_t count = e->shape->rank + (e->shape->oper == HCORE_OPER_Scan);
    uint64_t at = hx_chunk_offset(chunks, j);
    contributions_t all = {.rank = e->shape->rank, .own = hx_in(0, at), .at = hx_chunk_slot(chunks, j)};
    if (count) {
        hx_reduce_many(e->x, hx_out(0, at), hx_chunk_bytes(chunks, j), count, contribution, &all);
    }
}

void hx_mesh_scan(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_chunks_t chunks = hx_chunks(shape->bytes, hx_window(shape), HX_EXCHANGE_SLOTS, shape->elem_bytes);
    hx_exchange(&(hx_exchange_t){.shape = shape,
                                 .x = x,
                                 .plan = &chunks,
                                 .slots = HX_EXCHANGE_SLOTS,
                                 .sends = scan_sends,
                                 .recvs = scan_recvs,
                                 .fill = scan_fill,
                                 .drain = scan_drain});
}

/* --- Barrier
 * ------------------------------------------------------------------------------------------------ */

void hx_mesh_barrier(const hx_shape_t *shape, hx_expansion_t *x)
{
    for (uint32_t step = 1; step < shape->nranks; step++) {
        hx_sync(x, HX_POST, hx_after(shape, shape->nranks - step));
    }
    for (uint32_t step = 1; step < shape->nranks; step++) {
        hx_sync(x, HX_WAIT, hx_after(shape, step));
    }
}
