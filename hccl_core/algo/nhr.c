/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/nhr.c - NHR, nonuniform hierarchical ring: ceil(log2 p) steps for any number of ranks p, the heaviest
 * between neighbours.
 *
 * There is a binomial tree for each slice s, on the distance d = s - r around the ring of rank r to its root,
 * rank s. In step k of the reduce-scatter a rank hands on to the rank 2^k after it the slices whose d has its
 * lowest one at bit k: floor((p - 1 + 2^k) / 2^(k+1)) of them. The allgather is the same backwards.
 *
 * A rank never again writes a slice that it handed on, until the allgather brings it back complete from the
 * rank it was handed to.
 */
#include "algo/families.h"
#include "algo/flow.h"
#include "algo/steps.h"

static uint32_t step_count(const hx_shape_t *shape)
{
    uint32_t steps = 0;
    while (steps < 32 && (UINT64_C(1) << steps) < shape->nranks) {
        steps++;
    }
    return steps;
}

/* Distances with their lowest one at bit k: k's power, and on in strides of twice that. */
#define FOR_EACH_DISTANCE(d, k, shape)                                                                       \
    for (uint64_t d = UINT64_C(1) << (k); d < (shape)->nranks; d += UINT64_C(2) << (k))

/* Before step k, has a rank at distance d, a multiple of 2^k, combined its contribution into its window? At
 * even distances that happens in step 0, if there is a rank one further away. */
static bool in_window(const hx_shape_t *shape, uint32_t k, uint64_t d)
{
    return k > 0 && d + 1 < shape->nranks;
}

static void reduce_scatter(hx_steps_t *s)
{
    const hx_shape_t *shape = s->shape;
    uint32_t steps = step_count(shape);
    for (uint32_t k = 0; k < steps; k++) {
        uint64_t reach = UINT64_C(1) << k;
        uint32_t from = hx_after(shape, shape->nranks - reach);
        FOR_EACH_DISTANCE(d, k, shape)
        {
            if (!in_window(shape, k, d)) {
                hx_steps_put(s, hx_after(shape, d));
            }
        }
        hx_steps_post(s, hx_after(shape, reach));
        hx_steps_wait(s, from);
        FOR_EACH_DISTANCE(d, k, shape)
        {
            hx_steps_combine(s, from, hx_after(shape, d - reach), in_window(shape, k, d - reach));
        }
    }
}

/* Of the slices from this rank's on, it holds `held` already; nothing is written over them. */
static void gather_rest(hx_steps_t *s, uint64_t held)
{
    const hx_shape_t *shape = s->shape;
    for (uint32_t k = step_count(shape); k-- > 0;) {
        uint64_t reach = UINT64_C(1) << k;
        uint32_t from = hx_after(shape, reach);
        hx_steps_post(s, hx_after(shape, shape->nranks - reach));
        hx_steps_wait(s, from);
        FOR_EACH_DISTANCE(d, k, shape)
        {
            if (d >= held) {
                hx_steps_fetch(s, from, hx_after(shape, d));
            }
        }
    }
}

static void all_gather(hx_steps_t *s)
{
    gather_rest(s, 1);
}

static void all_reduce(hx_steps_t *s)
{
    reduce_scatter(s);
    all_gather(s);
}

static const hx_family_t nhr = {reduce_scatter, all_gather, all_reduce};

void hx_nhr_all_reduce(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_all_reduce(shape, x, &nhr);
}

void hx_nhr_reduce_scatter(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_reduce_scatter(shape, x, &nhr);
}

void hx_nhr_all_gather(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_all_gather(shape, x, &nhr);
}

void hx_nhr_scatter(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_flow_scatter(shape, x, false);
}

/* --- Broadcast: the root's slices down a binomial tree, then allgather
 * ---------------------------------------- */

/* Position v of the tree, root first, gets the slices of positions v .. v + lowest bit of v - 1 from v
 * without that bit, and keeps them for its children and the allgather to read. */
static void scatter_allgather(hx_steps_t *s)
{
    const hx_shape_t *shape = s->shape;
    uint32_t n = shape->nranks, v = hx_distance(shape, shape->root, shape->rank);
    uint64_t span = v ? (v & -v) : UINT64_C(1) << step_count(shape), held = hx_min(span, n - v);
    if (v) {
        uint32_t parent = hx_after(shape, n - (v & -v));
        hx_steps_wait(s, parent);
        for (uint64_t i = 0; i < held; i++) {
            hx_steps_fetch(s, parent, hx_after(shape, i));
        }
    } else {
        for (uint32_t i = 0; i < n; i++) {
            hx_steps_put(s, i);
        }
    }
    for (uint64_t step = span / 2; step; step /= 2) {
        if (v + step < n) {
            hx_steps_post(s, hx_after(shape, step));
        }
    }
    gather_rest(s, held);
}

void hx_nhr_broadcast(const hx_shape_t *shape, hx_expansion_t *x)
{
    hx_steps_broadcast(shape, x, scatter_allgather);
}

/* --- Barrier: dissemination
 * ----------------------------------------------------------------------------------- */

void hx_nhr_barrier(const hx_shape_t *shape, hx_expansion_t *x)
{
    for (uint64_t reach = 1; reach < shape->nranks; reach *= 2) {
        hx_sync(x, HX_POST, hx_after(shape, reach));
        hx_sync(x, HX_WAIT, hx_after(shape, shape->nranks - reach));
    }
}
