/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/steps.h - the frame of ring, H-D_R and NHR: a vector cut in one slice per rank goes through the
 * windows as a whole, chunk by chunk; in a reduce-scatter phase and an allgather phase, partial results
 * travel in steps. A family provides the two phases; the operators are made of them here.
 *
 * Every rank keeps slice s at the same place in its window. A phase may overwrite its own slice s only when
 * the readers of what was there have, through some chain of POSTs, told so; each family says why.
 */
#ifndef ALGO_STEPS_H
#define ALGO_STEPS_H

#include "algo/build.h"

typedef struct {
    uint64_t at, bytes; /* in every window */
    hx_loc_t in, out;   /* this rank's contribution to it; where its result goes */
} hx_slice_t;

typedef struct {
    const hx_shape_t *shape;
    hx_expansion_t *x;
    hx_slice_t *slice;    /* one per rank */
    bool *reads, *serves; /* per rank, since the last close: I read its window, it reads mine */
} hx_steps_t;

typedef void (*hx_phase_t)(hx_steps_t *s);

typedef struct {
    hx_phase_t reduce_scatter; /* IN slices -> the window of rank r holds the result in slice r */
    hx_phase_t all_gather;     /* the window of rank r holds slice r -> every window holds all */
    hx_phase_t all_reduce;     /* IN slices -> every window holds all results */
} hx_family_t;

void hx_steps_all_reduce(const hx_shape_t *shape, hx_expansion_t *x, const hx_family_t *family);
void hx_steps_reduce(const hx_shape_t *shape, hx_expansion_t *x, const hx_family_t *family);
void hx_steps_reduce_scatter(const hx_shape_t *shape, hx_expansion_t *x, const hx_family_t *family);
void hx_steps_all_gather(const hx_shape_t *shape, hx_expansion_t *x, const hx_family_t *family);
/* A Broadcast whose phase takes IN at the root and leaves all slices in every window. */
void hx_steps_broadcast(const hx_shape_t *shape, hx_expansion_t *x, hx_phase_t phase);

/* For the phases. */
void hx_steps_post(hx_steps_t *s, uint32_t peer); /* what I wrote so far is there for the peer to read */
void hx_steps_wait(hx_steps_t *s, uint32_t peer);
hx_loc_t hx_steps_at(const hx_steps_t *s, uint32_t rank, uint32_t slice); /* in that rank's window */
void hx_steps_put(hx_steps_t *s, uint32_t slice);                         /* my IN -> my window */
void hx_steps_fetch(hx_steps_t *s, uint32_t peer, uint32_t slice);        /* the peer's window -> mine */
/* My window <- mine OP the peer's, in rank order; `mine` is in IN until it is in the window. */
void hx_steps_combine(hx_steps_t *s, uint32_t peer, uint32_t slice, bool in_window);

#endif
