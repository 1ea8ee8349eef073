/* SPDX-License-Identifier: BSD-3-Clause */
/* algo/flow.c - streams down a chain or a binomial tree. */
#include "algo/flow.h"

uint32_t hx_flow_position(const hx_flow_t *f)
{
    return hx_distance(f->shape, f->origin, f->shape->rank);
}

static uint32_t rank_at(const hx_flow_t *f, uint32_t position)
{
    return (uint32_t)(((uint64_t)f->origin + position) % f->shape->nranks);
}

bool hx_flow_is_first(const hx_flow_t *f)
{
    return hx_flow_position(f) == 0;
}

uint32_t hx_flow_parent(const hx_flow_t *f)
{
    uint32_t v = hx_flow_position(f);
    return rank_at(f, f->chain ? v - 1 : v & (v - 1));
}

uint32_t hx_flow_span(const hx_flow_t *f)
{
    uint32_t v = hx_flow_position(f), rest = f->shape->nranks - v;
    return f->chain || v == 0 ? rest : (uint32_t)hx_min(v & -v, rest);
}

bool hx_flow_has_children(const hx_flow_t *f)
{
    return hx_flow_span(f) > 1;
}

hx_loc_t hx_flow_above(const hx_flow_t *f, uint64_t c)
{
    return hx_ccl(hx_flow_parent(f), hx_chunk_slot(&f->chunks, c));
}

hx_loc_t hx_flow_here(const hx_flow_t *f, uint64_t c)
{
    return hx_ccl(f->shape->rank, hx_chunk_slot(&f->chunks, c));
}

/* The child with the largest subtree first: it has the longest way to go. */
static void sync_children(const hx_flow_t *f, hx_kind_t kind)
{
    uint32_t v = hx_flow_position(f), span = hx_flow_span(f), step = 1;
    if (f->chain) {
        if (span > 1) {
            hx_sync(f->x, kind, rank_at(f, v + 1));
        }
        return;
    }
    while (step < span - step) {
        step *= 2;
    }
    for (; step && span > 1; step /= 2) {
        hx_sync(f->x, kind, rank_at(f, v + step));
    }
}

void hx_flow(const hx_flow_t *f)
{
    bool first = hx_flow_is_first(f);
    uint64_t count = f->chunks.count, slots = f->chunks.slots;
    for (uint64_t c = 0; c < count && !f->x->failed; c++) {
        if (c >= slots) {
            sync_children(f, HX_WAIT);
        }
        if (!first) {
            hx_sync(f->x, HX_WAIT, hx_flow_parent(f));
        }
        f->pass(f, c);
        sync_children(f, HX_POST);
        if (f->keep) {
            f->keep(f, c);
        }
        /* the parent looks at this to reuse the slot, or because it is the last */
        if (!first && (c + slots < count || c + 1 == count)) {
            hx_sync(f->x, HX_POST, hx_flow_parent(f));
        }
    }
    if (count) {
        sync_children(f, HX_DEFER);
    }
}

/* --- Broadcast
 * ------------------------------------------------------------------------------------------------ */

static void broadcast_pass(const hx_flow_t *f, uint64_t c)
{
    if (hx_flow_has_children(f)) {
        hx_loc_t from = hx_flow_is_first(f) ? hx_in(0, hx_chunk_offset(&f->chunks, c)) : hx_flow_above(f, c);
        hx_copy(f->x, hx_flow_here(f, c), from, hx_chunk_bytes(&f->chunks, c));
    }
}

static void broadcast_keep(const hx_flow_t *f, uint64_t c)
{
    if (!hx_flow_is_first(f)) {
        hx_loc_t from = hx_flow_has_children(f) ? hx_flow_here(f, c) : hx_flow_above(f, c);
        hx_copy(f->x, hx_out(0, hx_chunk_offset(&f->chunks, c)), from, hx_chunk_bytes(&f->chunks, c));
    }
}

void hx_flow_broadcast(const hx_shape_t *shape, hx_expansion_t *x, bool chain)
{
    hx_flow(&(hx_flow_t){.shape = shape,
                         .x = x,
                         .chunks = hx_stream(shape->bytes, hx_window(shape), shape->elem_bytes),
                         .origin = shape->root,
                         .chain = chain,
                         .pass = broadcast_pass,
                         .keep = broadcast_keep});
}

/* --- Scatter
 * -------------------------------------------------------------------------------------------------- */

/* A slot holds the pieces of the blocks of positions 1, 2, .. side by side, in every window at the same
 * place. */
static hx_loc_t piece(hx_loc_t slot, const hx_flow_t *f, uint64_t c, uint32_t position)
{
    slot.offset += (position - 1) * hx_chunk_bytes(&f->chunks, c);
    return slot;
}

static void scatter_pass(const hx_flow_t *f, uint64_t c)
{
    uint32_t v = hx_flow_position(f), span = hx_flow_span(f);
    uint64_t bytes = hx_chunk_bytes(&f->chunks, c);
    if (!hx_flow_is_first(f)) {
        if (span > 1) {
            hx_copy(f->x, piece(hx_flow_here(f, c), f, c, v + 1), piece(hx_flow_above(f, c), f, c, v + 1),
                    (span - 1) * bytes);
        }
        return;
    }
    for (uint32_t position = 1; position < span; position++) {
        hx_copy(f->x, piece(hx_flow_here(f, c), f, c, position),
                hx_in(rank_at(f, position), hx_chunk_offset(&f->chunks, c)), bytes);
    }
}

static void scatter_keep(const hx_flow_t *f, uint64_t c)
{
    uint64_t offset = hx_chunk_offset(&f->chunks, c), bytes = hx_chunk_bytes(&f->chunks, c);
    if (hx_flow_is_first(f)) {
        hx_copy_self(f->shape, f->x, offset, bytes);
    } else {
        hx_copy(f->x, hx_out(0, offset), piece(hx_flow_above(f, c), f, c, hx_flow_position(f)), bytes);
    }
}

void hx_flow_scatter(const hx_shape_t *shape, hx_expansion_t *x, bool chain)
{
    uint32_t others = shape->nranks - 1;
    hx_area_t share = {.bytes = shape->window / others};
    hx_chunks_t chunks = hx_stream(shape->bytes, share, shape->elem_bytes);
    chunks.stride *= others;
    hx_flow(&(hx_flow_t){.shape = shape,
                         .x = x,
                         .chunks = chunks,
                         .origin = shape->root,
                         .chain = chain,
                         .pass = scatter_pass,
                         .keep = scatter_keep});
}
