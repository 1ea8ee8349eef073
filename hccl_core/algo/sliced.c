/* SPDX-License-Identifier: BSD-3-Clause */
/* algo/sliced.c - AllReduce and Reduce by slices. */
#include "algo/sliced.h"

uint64_t hx_slice_at(const hx_sliced_t *plan, uint64_t c, uint32_t rank)
{
    return hx_cut(hx_chunk_bytes(&plan->chunks, c), rank, plan->shape->nranks, plan->shape->elem_bytes);
}

uint64_t hx_slice_bytes(const hx_sliced_t *plan, uint64_t c, uint32_t rank)
{
    return hx_slice_at(plan, c, rank + 1) - hx_slice_at(plan, c, rank);
}

uint64_t hx_slice_slot(const hx_sliced_t *plan, uint64_t c, uint32_t rank)
{
    return hx_chunk_slot(&plan->chunks, c) + (plan->slot_of_slices ? hx_slice_at(plan, c, rank) : 0);
}

static bool to_all(const hx_shape_t *shape)
{
    return shape->oper == HCORE_OPER_AllReduce;
}

static bool takes_result(const hx_shape_t *shape, uint32_t rank)
{
    return to_all(shape) || rank == shape->root;
}

hx_loc_t hx_sliced_result(const hx_sliced_t *plan, uint64_t c)
{
    uint32_t me = plan->shape->rank;
    if (!to_all(plan->shape) && me == plan->shape->root) {
        return hx_out(0, hx_chunk_offset(&plan->chunks, c) + hx_slice_at(plan, c, me));
    }
    return hx_ccl(me, hx_slice_slot(plan, c, me));
}

/* Contributions to all chunks are exchanged; results, a round later, with those who take them. */
static uint64_t sends(const hx_exchange_t *e, uint32_t peer)
{
    const hx_sliced_t *plan = e->plan;
    return plan->chunks.count ? plan->chunks.count + takes_result(e->shape, peer) : 0;
}

static uint64_t recvs(const hx_exchange_t *e, uint32_t peer)
{
    (void)peer;
    return sends(e, e->shape->rank);
}

static void copy_result(const hx_exchange_t *e, uint64_t c, uint32_t rank)
{
    const hx_sliced_t *plan = e->plan;
    hx_copy(e->x, hx_out(0, hx_chunk_offset(&plan->chunks, c) + hx_slice_at(plan, c, rank)),
            hx_ccl(rank, hx_slice_slot(plan, c, rank)), hx_slice_bytes(plan, c, rank));
}

static void spare(const hx_exchange_t *e, uint64_t j)
{
    if (j >= 1 && to_all(e->shape)) {
        copy_result(e, j - 1, e->shape->rank);
    }
}

static void drain_peer(const hx_exchange_t *e, uint64_t j, uint32_t peer)
{
    if (j >= 1 && takes_result(e->shape, e->shape->rank)) {
        copy_result(e, j - 1, peer);
    }
}

void hx_sliced_exchange(const hx_sliced_t *plan, const hx_exchange_t *e)
{
    hx_exchange_t full = *e;
    full.shape = plan->shape;
    full.plan = plan;
    full.sends = sends;
    full.recvs = recvs;
    full.spare = spare;
    full.drain_peer = drain_peer;
    hx_exchange(&full);
}
