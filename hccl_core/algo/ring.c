/* SPDX-License-Identifier: BSD-3-Clause */
/* algo/ring.c - each rank reads the window of the one before it, nobody else's. */
#include "algo/families.h"
#include "algo/flow.h"
#include "algo/steps.h"

/*
 * Slice s starts at rank s + 1 and collects contributions around the ring until it ends, complete, at rank s.
 * Each rank writes each slice of its window once here, so nothing that is still read is overwritten.
 */
static void reduce_scatter(hx_steps_t *s)
{
    uint32_t n = s->shape->nranks, before = hx_after(s->shape, n - 1), after = hx_after(s->shape, 1);
    hx_steps_put(s, before);
    hx_steps_post(s, after);
    for (uint32_t step = 1; step < n; step++) {
        uint32_t slice = hx_after(s->shape, n - 1 + (uint64_t)(n - step));
        hx_steps_wait(s, before);
        hx_steps_combine(s, before, slice, false);
        if (step + 1 < n) {
            hx_steps_post(s, after);
        }
    }
}

/* The slice that arrives here was completed by a chain of reads that the read of what it overwrites is part
 * of. */
static void all_gather(hx_steps_t *s)
{
    uint32_t n = s->shape->nranks, before = hx_after(s->shape, n - 1), after = hx_after(s->shape, 1);
    for (uint32_t step = 1; step < n; step++) {
        hx_steps_post(s, after);
        hx_steps_wait(s, before);
        hx_steps_fetch(s, before, hx_after(s->shape, n - step));
    }
}

static void all_reduce(hx_steps_t *s)
{
    reduce_scatter(s);
    all_gather(s);
}

static const hx_family_t ring = {reduce_scatter, all_gather, all_reduce};

void hx_ring_all_reduce(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_all_reduce(shape, x, &ring);
}

void hx_ring_reduce_scatter(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_reduce_scatter(shape, x, &ring);
}

void hx_ring_all_gather(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_all_gather(shape, x, &ring);
}

void hx_ring_broadcast(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_flow_broadcast(shape, x, true);
}

void hx_ring_scatter(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_flow_scatter(shape, x, true);
}

/* --- Reduce: a chain that ends at the root
 * -------------------------------------------------------------------- */

static void reduce_pass(const hx_flow_t *f, uint64_t c)
{
    uint64_t offset = hx_chunk_offset(&f->chunks, c), bytes = hx_chunk_bytes(&f->chunks, c);
    hx_loc_t to = hx_flow_has_children(f) ? hx_flow_here(f, c) : hx_out(0, offset);
    if (hx_flow_is_first(f)) {
        hx_copy(f->x, to, hx_in(0, offset), bytes);
    } else {
        hx_reduce_two(f->x, to, hx_flow_above(f, c), hx_in(0, offset), bytes);
    }
}

void hx_ring_reduce(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_flow(&(hx_flow_t){.shape = shape,
                         .x = x,
                         .chunks = hx_stream(shape->bytes, hx_window(shape), shape->elem_bytes),
                         .origin = (shape->root + 1) % shape->nranks,
                         .chain = true,
                         .pass = reduce_pass});
}

/* --- Scan, Exscan: a chain in rank order, which hands on prefixes
 * --------------------------------------------- */

static void scan_pass(const hx_flow_t *f, uint64_t c)
{
    if (hx_flow_has_children(f)) {
        reduce_pass(f, c);
    }
}

static void scan_keep(const hx_flow_t *f, uint64_t c)
{
    uint64_t offset = hx_chunk_offset(&f->chunks, c), bytes = hx_chunk_bytes(&f->chunks, c);
    if (f->shape->oper == HCORE_OPER_Exscan) {
        if (!hx_flow_is_first(f)) {
            hx_copy(f->x, hx_out(0, offset), hx_flow_above(f, c), bytes);
        }
    } else if (hx_flow_is_first(f)) {
        hx_copy(f->x, hx_out(0, offset), hx_in(0, offset), bytes);
    } else if (hx_flow_has_children(f)) {
        hx_copy(f->x, hx_out(0, offset), hx_flow_here(f, c), bytes);
    } else {
        reduce_pass(f, c);
    }
}

void hx_ring_scan(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_flow(&(hx_flow_t){.shape = shape,
                         .x = x,
                         .chunks = hx_stream(shape->bytes, hx_window(shape), shape->elem_bytes),
                         .origin = 0,
                         .chain = true,
                         .pass = scan_pass,
                         .keep = scan_keep});
}
