/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/flow.h - a stream that flows down a tree of ranks, chunk by chunk: each rank takes a chunk from its
 * parent's window, works on it, and leaves in its own window what its children need. Chains and binomial
 * trees are both such trees.
 *
 * Parents and children are different ranks, so data and acknowledgements never share a counter, and a rank
 * may run HX_STREAM_SLOTS chunks ahead of its slowest child.
 */
#ifndef ALGO_FLOW_H
#define ALGO_FLOW_H

#include "algo/build.h"

typedef struct hx_flow hx_flow_t;
struct hx_flow {
    const hx_shape_t *shape;
    hx_expansion_t *x;
    hx_chunks_t chunks; /* made by hx_stream */
    /* Position in the tree: 0 is where the stream starts. The rank of position v is (origin + v) % nranks. A
     * chain has v - 1 above v; a binomial tree has v without its lowest bit. */
    uint32_t origin;
    bool chain;
    void (*pass)(const hx_flow_t *f,
                 uint64_t c); /* from the parent's window to mine, before the children hear */
    void (*keep)(const hx_flow_t *f, uint64_t c); /* what else is to be done before the parent may go on */
};

void hx_flow(const hx_flow_t *flow);

uint32_t hx_flow_position(const hx_flow_t *f);
bool hx_flow_is_first(const hx_flow_t *f); /* has no parent */
bool hx_flow_has_children(const hx_flow_t *f);
uint32_t hx_flow_parent(const hx_flow_t *f); /* a rank */
/* How many positions, this one included, are in the subtree below it; they follow this position. */
uint32_t hx_flow_span(const hx_flow_t *f);
/* Where chunk c lies in the window of the parent, and in mine. */
hx_loc_t hx_flow_above(const hx_flow_t *f, uint64_t c);
hx_loc_t hx_flow_here(const hx_flow_t *f, uint64_t c);

/* Broadcast along the tree. */
void hx_flow_broadcast(const hx_shape_t *shape, hx_expansion_t *x, bool chain);
/* Scatter: each rank passes on the blocks of its subtree. */
void hx_flow_scatter(const hx_shape_t *shape, hx_expansion_t *x, bool chain);

#endif
