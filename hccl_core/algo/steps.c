/* SPDX-License-Identifier: BSD-3-Clause */
/* algo/steps.c - operators made of a reduce-scatter and an allgather phase. */
#include "algo/steps.h"

#include <stdlib.h>

/* --- what phases are written with
 * ----------------------------------------------------------------------------- */

void hx_steps_post(hx_steps_t *s, uint32_t peer)
{
    hx_sync(s->x, HX_POST, peer);
    s->serves[peer] = true;
}

void hx_steps_wait(hx_steps_t *s, uint32_t peer)
{
    hx_sync(s->x, HX_WAIT, peer);
    s->reads[peer] = true;
}

hx_loc_t hx_steps_at(const hx_steps_t *s, uint32_t rank, uint32_t slice)
{
    return hx_ccl(rank, s->slice[slice].at);
}

static hx_loc_t mine(const hx_steps_t *s, uint32_t slice)
{
    return hx_steps_at(s, s->shape->rank, slice);
}

void hx_steps_put(hx_steps_t *s, uint32_t slice)
{
    hx_copy(s->x, mine(s, slice), s->slice[slice].in, s->slice[slice].bytes);
}

void hx_steps_fetch(hx_steps_t *s, uint32_t peer, uint32_t slice)
{
    hx_copy(s->x, mine(s, slice), hx_steps_at(s, peer, slice), s->slice[slice].bytes);
}

void hx_steps_combine(hx_steps_t *s, uint32_t peer, uint32_t slice, bool in_window)
{
    hx_loc_t own = in_window ? mine(s, slice) : s->slice[slice].in, other = hx_steps_at(s, peer, slice);
    bool own_first = s->shape->rank < peer;
    hx_reduce_two(s->x, mine(s, slice), own_first ? own : other, own_first ? other : own,
                  s->slice[slice].bytes);
}

/* --- a chunk's beginning and end
 * ------------------------------------------------------------------------------ */

static bool open_steps(hx_steps_t *s, const hx_shape_t *shape, hx_expansion_t *x)
{
    uint32_t n = shape->nranks;
    *s = (hx_steps_t){.shape = shape, .x = x};
    s->slice = calloc(n, sizeof(*s->slice));
    s->reads = calloc(n, sizeof(*s->reads));
    s->serves = calloc(n, sizeof(*s->serves));
    x->failed = x->failed || !s->slice || !s->reads || !s->serves;
    return !x->failed;
}

static void release_steps(hx_steps_t *s)
{
    free(s->slice);
    free(s->reads);
    free(s->serves);
}

/* Tells the ranks whose windows this one read that it is done with them. */
static void acknowledge(hx_steps_t *s)
{
    for (uint32_t peer = 0; peer < s->shape->nranks; peer++) {
        if (s->reads[peer]) {
            hx_sync(s->x, HX_POST, peer);
            s->reads[peer] = false;
        }
    }
}

/* Takes the acknowledgements of the ranks that read this window. (a reads b iff b serves a, so they balance.)
 */
static void close_chunk(hx_steps_t *s, bool last)
{
    for (uint32_t peer = 0; peer < s->shape->nranks; peer++) {
        if (s->serves[peer]) {
            hx_sync(s->x, last ? HX_DEFER : HX_WAIT, peer);
            s->serves[peer] = false;
        }
    }
}

static void copy_out(hx_steps_t *s, uint32_t rank, uint32_t slice)
{
    hx_copy(s->x, s->slice[slice].out, hx_steps_at(s, rank, slice), s->slice[slice].bytes);
}

static void copy_out_all(hx_steps_t *s)
{
    for (uint32_t slice = 0; slice < s->shape->nranks; slice++) {
        copy_out(s, s->shape->rank, slice);
    }
}

/* --- one vector, cut in slices
 * -------------------------------------------------------------------------------- */

typedef void (*chunk_work_t)(hx_steps_t *s, const hx_family_t *family);

static void cut_vector(hx_steps_t *s, const hx_chunks_t *chunks, uint64_t c)
{
    uint32_t n = s->shape->nranks;
    uint64_t bytes = hx_chunk_bytes(chunks, c), offset = hx_chunk_offset(chunks, c);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t at = hx_cut(bytes, i, n, s->shape->elem_bytes);
        s->slice[i] = (hx_slice_t){.at = at,
                                   .bytes = hx_cut(bytes, i + 1, n, s->shape->elem_bytes) - at,
                                   .in = hx_in(0, offset + at),
                                   .out = hx_out(0, offset + at)};
    }
}

static void vector_operator(const hx_shape_t *shape, hx_expansion_t *x, const hx_family_t *family,
                            chunk_work_t work)
{
    hx_chunks_t chunks = hx_chunks(shape->bytes, hx_window(shape), 1, shape->elem_bytes);
    hx_steps_t s;
    if (open_steps(&s, shape, x)) {
        for (uint64_t c = 0; c < chunks.count && !x->failed; c++) {
            cut_vector(&s, &chunks, c);
            work(&s, family);
            close_chunk(&s, c + 1 == chunks.count);
        }
    }
    release_steps(&s);
}

static void all_reduce_chunk(hx_steps_t *s, const hx_family_t *family)
{
    family->all_reduce(s);
    acknowledge(s);
    copy_out_all(s);
}

void hx_steps_all_reduce(const hx_shape_t *shape, hx_expansion_t *x, const hx_family_t *family)
{
    vector_operator(shape, x, family, all_reduce_chunk);
}

/* After the reduce-scatter, the root takes each slice from the rank that has it. */
static void reduce_chunk(hx_steps_t *s, const hx_family_t *family)
{
    uint32_t n = s->shape->nranks;
    family->reduce_scatter(s);
    if (s->shape->rank != s->shape->root) {
        hx_steps_post(s, s->shape->root);
    } else {
        copy_out(s, s->shape->rank, s->shape->rank);
        for (uint32_t step = 1; step < n; step++) {
            uint32_t peer = hx_after(s->shape, step);
            hx_steps_wait(s, peer);
            copy_out(s, peer, peer);
        }
    }
    acknowledge(s);
}

void hx_steps_reduce(const hx_shape_t *shape, hx_expansion_t *x, const hx_family_t *family)
{
    vector_operator(shape, x, family, reduce_chunk);
}

static void broadcast_chunk(hx_steps_t *s, const hx_family_t *family)
{
    family->all_gather(s);
    acknowledge(s);
    if (s->shape->rank != s->shape->root) {
        copy_out_all(s);
    }
}

void hx_steps_broadcast(const hx_shape_t *shape, hx_expansion_t *x, hx_phase_t phase)
{
    vector_operator(shape, x, &(hx_family_t){.all_gather = phase}, broadcast_chunk);
}

/* --- a block for each rank
 * ------------------------------------------------------------------------------------ */

typedef uint64_t (*block_bytes_t)(const hx_shape_t *shape, uint32_t block);

/* All blocks are chunked alike, each in its own part of the window. */
static void cut_blocks(hx_steps_t *s, block_bytes_t block_bytes, uint64_t chunk, uint64_t c)
{
    uint64_t offset = c * chunk;
    for (uint32_t i = 0; i < s->shape->nranks; i++) {
        uint64_t bytes = block_bytes(s->shape, i);
        bool in_per_peer = hx_in_per_peer(s->shape);
        s->slice[i] = (hx_slice_t){.at = i * chunk,
                                   .bytes = bytes > offset ? hx_min(bytes - offset, chunk) : 0,
                                   .in = hx_in(in_per_peer ? i : 0, offset),
                                   .out = hx_out(in_per_peer ? 0 : i, offset)};
    }
}

static void block_operator(const hx_shape_t *shape, hx_expansion_t *x, const hx_family_t *family,
                           block_bytes_t block_bytes, chunk_work_t work)
{
    uint64_t largest = 0;
    for (uint32_t block = 0; block < shape->nranks; block++) {
        largest = hx_max(largest, block_bytes(shape, block));
    }
    hx_chunks_t chunks = hx_chunks(largest, hx_window_part(shape, 0, shape->nranks), 1, shape->elem_bytes);
    hx_steps_t s;
    if (open_steps(&s, shape, x)) {
        for (uint64_t c = 0; c < chunks.count && !x->failed; c++) {
            cut_blocks(&s, block_bytes, chunks.chunk, c);
            work(&s, family);
            close_chunk(&s, c + 1 == chunks.count);
        }
    }
    release_steps(&s);
}

/* The result goes through the window: in place, OUT may overlap, without being equal to it, my own IN block.
 */
static void reduce_scatter_chunk(hx_steps_t *s, const hx_family_t *family)
{
    family->reduce_scatter(s);
    acknowledge(s);
    copy_out(s, s->shape->rank, s->shape->rank);
}

void hx_steps_reduce_scatter(const hx_shape_t *shape, hx_expansion_t *x, const hx_family_t *family)
{
    block_operator(shape, x, family, hx_in_bytes, reduce_scatter_chunk);
}

static void all_gather_chunk(hx_steps_t *s, const hx_family_t *family)
{
    uint32_t me = s->shape->rank;
    hx_steps_put(s, me);
    family->all_gather(s);
    acknowledge(s);
    hx_copy(s->x, s->slice[me].out, s->slice[me].in, s->slice[me].bytes);
    for (uint32_t step = 1; step < s->shape->nranks; step++) {
        copy_out(s, me, hx_after(s->shape, step));
    }
}

void hx_steps_all_gather(const hx_shape_t *shape, hx_expansion_t *x, const hx_family_t *family)
{
    block_operator(shape, x, family, hx_out_bytes, all_gather_chunk);
}
