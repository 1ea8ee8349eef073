/* SPDX-License-Identifier: BSD-3-Clause */
/* algo/exchange.c - rounds with one POST each way per pair. */
#include "algo/exchange.h"

uint64_t hx_never(const hx_exchange_t *e, uint32_t peer)
{
    (void)e;
    (void)peer;
    return 0;
}

static uint32_t next_first(const hx_exchange_t *e, uint32_t i)
{
    return hx_after(e->shape, i + 1);
}

/* Is the owner, who sends in so many rounds, going to look at the acknowledgement of round j - 1, given in
 * round j? To reuse that round's slot, or because it is the last. */
static bool acknowledged(const hx_exchange_t *e, uint64_t j, uint64_t sends)
{
    return j >= 1 && (j + e->slots <= sends || j == sends);
}

static bool posts(const hx_exchange_t *e, uint64_t j, uint32_t peer)
{
    return j < e->sends(e, peer) || acknowledged(e, j, e->recvs(e, peer));
}

static uint64_t last_round(const hx_exchange_t *e)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < e->partners; i++) {
        uint32_t peer = e->partner(e, i);
        if (peer != e->shape->rank) {
            last = hx_max(last, hx_max(e->sends(e, peer), e->recvs(e, peer)));
        }
    }
    return last;
}

/* From this round on, the peer's posts are acknowledgements only. (Those before come with data and are waited
 * for in their round.) */
static uint64_t first_ack(const hx_exchange_t *e, uint32_t peer)
{
    return hx_max(e->recvs(e, peer), 1);
}

/* Before the slot of round j is written, its last readers must have acknowledged, which they do a round
 * later. */
static void reclaim_slot(const hx_exchange_t *e, uint64_t j)
{
    for (uint32_t i = 0; i < e->partners; i++) {
        uint32_t peer = e->partner(e, i);
        if (peer != e->shape->rank && j < e->sends(e, peer) && j + 1 >= first_ack(e, peer) + e->slots) {
            hx_sync(e->x, HX_WAIT, peer);
        }
    }
}

static void post_all(const hx_exchange_t *e, uint64_t j)
{
    for (uint32_t i = e->partners; i-- > 0;) {
        uint32_t peer = e->partner(e, i);
        if (peer == e->shape->rank || !posts(e, j, peer)) {
            continue;
        }
        if (e->fill_peer && j < e->sends(e, peer)) {
            e->fill_peer(e, j, peer);
        }
        hx_sync(e->x, HX_POST, peer);
    }
}

static void wait_all(const hx_exchange_t *e, uint64_t j)
{
    for (uint32_t i = 0; i < e->partners; i++) {
        uint32_t peer = e->partner(e, i);
        if (peer == e->shape->rank || j >= e->recvs(e, peer)) {
            continue;
        }
        hx_sync(e->x, HX_WAIT, peer);
        if (e->drain_peer) {
            e->drain_peer(e, j, peer);
        }
    }
}

/* The last acknowledgement, unless it came with data. */
static void leave(const hx_exchange_t *e)
{
    for (uint32_t i = 0; i < e->partners; i++) {
        uint32_t peer = e->partner(e, i);
        if (peer != e->shape->rank && e->sends(e, peer) >= first_ack(e, peer)) {
            hx_sync(e->x, e->wait_readers ? HX_WAIT : HX_DEFER, peer);
        }
    }
}

static void run(const hx_exchange_t *e)
{
    uint64_t last = last_round(e);
    for (uint64_t j = 0; j <= last && !e->x->failed; j++) {
        reclaim_slot(e, j);
        if (e->fill) {
            e->fill(e, j);
        }
        post_all(e, j);
        if (e->spare) {
            e->spare(e, j);
        }
        wait_all(e, j);
        if (e->drain) {
            e->drain(e, j);
        }
    }
    leave(e);
}

void hx_exchange(const hx_exchange_t *e)
{
    hx_exchange_t full = *e;
    if (!full.partner) {
        full.partners = e->shape->nranks - 1;
        full.partner = next_first;
    }
    run(&full);
}
