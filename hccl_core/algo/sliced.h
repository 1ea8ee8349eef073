/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/sliced.h - AllReduce and Reduce by slices: in each chunk, every rank reduces its slice in rank order
 * and leaves it in its window, from where those who take the result copy it: all ranks, or the root. What
 * differs between the paths is where the contributions are read from: that is `fill`.
 */
#ifndef ALGO_SLICED_H
#define ALGO_SLICED_H

#include "algo/exchange.h"

typedef struct {
    const hx_shape_t *shape;
    hx_chunks_t chunks;
    bool slot_of_slices; /* a slot holds the slices of all ranks; otherwise this rank's result alone */
} hx_sliced_t;

/* Where the slice of `rank` begins in chunk c; its bytes; where it lies in a window. */
uint64_t hx_slice_at(const hx_sliced_t *plan, uint64_t c, uint32_t rank);
uint64_t hx_slice_bytes(const hx_sliced_t *plan, uint64_t c, uint32_t rank);
uint64_t hx_slice_slot(const hx_sliced_t *plan, uint64_t c, uint32_t rank);
/* Where this rank reduces its slice to: its window, but OUT if it is the only one to take it. */
hx_loc_t hx_sliced_result(const hx_sliced_t *plan, uint64_t c);

/* Completes `e` (x, slots, fill, wait_readers are the caller's) and appends it. Fill of round j must leave
 * the results of chunk j-1; contributions to chunk j are read by peers after the POSTs of round j. */
void hx_sliced_exchange(const hx_sliced_t *plan, const hx_exchange_t *e);

#endif
