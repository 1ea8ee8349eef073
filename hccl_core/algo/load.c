/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/load.c - peers' memory is read by loads: reductions take their operands where they lie, and results are
 * fetched from where they were made.
 *
 * The first POST to a peer makes the publication visible. The list ends with a WAIT for every reader, as the
 * caller may change IN and OUT then.
 */
#include "algo/families.h"
#include "algo/build.h"

typedef struct {
    const hx_shape_t *shape;
    uint64_t at;
} operands_t;

static hx_loc_t operand(const void *context, uint32_t i)
{
    const operands_t *all = context;
    return i == all->shape->rank ? hx_in(0, all->at) : hx_peer(i, all->at);
}

/* OUT[at, at + bytes) <- all contributions to it. */
static void reduce_here(const hx_shape_t *shape, hx_expansion_t *x, uint64_t at, uint64_t bytes)
{
    const operands_t all = {shape, at};
    hx_reduce_many(x, hx_out(0, at), bytes, shape->nranks, operand, &all);
}

/* Two ranks, each reduces everything: no more reading than slices and results would be, in half as many steps. */
void hx_load_reduce_pair(const hx_shape_t *shape, hx_expansion_t *x)
{
    if (shape->bytes == 0) {
        return;
    }
    hx_sync_all(shape, x, HX_POST);
    hx_sync_all(shape, x, HX_WAIT);
    reduce_here(shape, x, 0, shape->bytes);
    hx_sync_all(shape, x, HX_POST);
    hx_sync_all(shape, x, HX_WAIT);
}

typedef struct {
    uint64_t offset, bytes; /* of a chunk */
} part_t;

static uint64_t slice_at(const hx_shape_t *shape, part_t chunk, uint32_t rank)
{
    return chunk.offset + hx_cut(chunk.bytes, rank, shape->nranks, shape->elem_bytes);
}

static void fetch_chunk(const hx_shape_t *shape, hx_expansion_t *x, part_t chunk)
{
    for (uint32_t step = 1; step < shape->nranks; step++) {
        const uint32_t peer = hx_after(shape, step);
        const uint64_t from = slice_at(shape, chunk, peer), to = slice_at(shape, chunk, peer + 1);
        hx_sync(x, HX_WAIT, peer);
        hx_copy(x, hx_out(0, from), hx_peer_out(peer, from), to - from);
    }
}

/*
 * Each rank reduces its slice of a chunk into OUT; the others fetch it from there while the next chunk is reduced. In place
 * this is safe: a rank overwrites the slice of a peer only with that peer's result, by when the peer has read it, and
 * nobody but its owner reads a slice of IN.
 *
 * POSTs to a peer: published; chunk 0 reduced, chunk 1 reduced, ..; all fetched.
 */
void hx_load_reduce(const hx_shape_t *shape, hx_expansion_t *x)
{
    const uint64_t most = hx_min(HX_LOAD_CHUNK, shape->window); /* a window holds elements for all ranks for sure */
    const hx_chunks_t chunks = hx_chunks(shape->bytes, (hx_area_t){.bytes = most}, 1, shape->elem_bytes);
    part_t last = {0, 0};
    if (chunks.count == 0) {
        return;
    }
    hx_sync_all(shape, x, HX_POST);
    hx_sync_all(shape, x, HX_WAIT);
    for (uint64_t c = 0; c < chunks.count && !x->failed; c++) {
        const part_t chunk = {hx_chunk_offset(&chunks, c), hx_chunk_bytes(&chunks, c)};
        const uint64_t from = slice_at(shape, chunk, shape->rank);
        reduce_here(shape, x, from, slice_at(shape, chunk, shape->rank + 1) - from);
        hx_sync_all(shape, x, HX_POST);
        if (c > 0) {
            fetch_chunk(shape, x, last);
        }
        last = chunk;
    }
    fetch_chunk(shape, x, last);
    hx_sync_all(shape, x, HX_POST);
    hx_sync_all(shape, x, HX_WAIT);
}
