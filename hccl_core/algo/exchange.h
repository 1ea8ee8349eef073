/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/exchange.h - the rhythm of mesh and pairwise: ranks move in rounds, and in each round a pair of ranks
 * needs at most one POST each way, which says both "my data of round j is there" and "I am done with yours of
 * round j-1".
 *
 *     fill(0) POST 0 | WAIT 0 drain(0)  fill(1) POST 1 | WAIT 1 drain(1)  ...  POST last | acknowledgements
 *
 * Between a pair, rank a posts in round j if it has data for b in that round (j < sends) or read data of b in
 * the round before (1 <= j <= recvs) and b has use for knowing. As sends of one end equals recvs of the
 * other, posts and waits balance; as every rank posts round j before it waits in round j, there is no
 * deadlock.
 */
#ifndef ALGO_EXCHANGE_H
#define ALGO_EXCHANGE_H

#include "algo/build.h"

typedef struct hx_exchange hx_exchange_t;
struct hx_exchange {
    const hx_shape_t *shape;
    hx_expansion_t *x;
    const void *plan; /* the algorithm's own */
    uint32_t slots;   /* round j overwrites what was filled in round j - slots */
    bool
        wait_readers; /* the call may not return before readers are done: acknowledgements are not deferred */

    /* The i-th partner, i < partners; this rank itself stands for none. Posts go from the last to the first.
     */
    uint32_t partners;
    uint32_t (*partner)(const hx_exchange_t *e, uint32_t i);

    /* Rounds in which this rank has data for the peer; in which it reads the peer's. */
    uint64_t (*sends)(const hx_exchange_t *e, uint32_t peer);
    uint64_t (*recvs)(const hx_exchange_t *e, uint32_t peer);

    /* The work of round j; each may be NULL, and is called in this order. */
    void (*fill)(const hx_exchange_t *e, uint64_t j); /* before the POSTs */
    void (*fill_peer)(const hx_exchange_t *e, uint64_t j,
                      uint32_t peer);                  /* before that peer's POST, if j < sends */
    void (*spare)(const hx_exchange_t *e, uint64_t j); /* between POSTs and WAITs */
    void (*drain_peer)(const hx_exchange_t *e, uint64_t j,
                       uint32_t peer);                 /* after that peer's WAIT, if j < recvs */
    void (*drain)(const hx_exchange_t *e, uint64_t j); /* after all WAITs */
};

/* Appends the whole exchange; round 0 is run also when no pair has data. Partners NULL: all others, the next
 * rank first, so that each rank's memory is read by one rank at a time. */
void hx_exchange(const hx_exchange_t *e);

/* For `sends` and `recvs`. */
uint64_t hx_never(const hx_exchange_t *e, uint32_t peer);

#endif
