/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/push.c - peers' OUT memory is written: what a rank has, or has made, goes straight to where it belongs.
 *
 * A rank's first POST to a peer makes its publication visible and says that its OUT may be written. The list ends
 * with a WAIT for everyone who writes OUT or reads IN, as the caller uses both then.
 */
#include "algo/build.h"
#include "algo/families.h"

/* --- operators that move data
 * -------------------------------------------------------------------------------- */

/* A pair with data to `peer` (`to`), or from it. */
static void sync_pairs(const hx_shape_t *shape, hx_expansion_t *x, hx_kind_t kind, bool to)
{
    for (uint32_t step = 1; step < shape->nranks; step++) {
        const uint32_t peer = hx_after(shape, step);
        const hx_pair_t pair = hx_pair(shape, peer);
        if (to ? pair.to : pair.from) {
            hx_sync(x, kind, peer);
        }
    }
}

static uint64_t all_bytes(const hx_shape_t *shape)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < shape->nranks; i++) {
        bytes += hx_pair(shape, i).to;
    }
    return bytes;
}

void hx_push_move(const hx_shape_t *shape, hx_expansion_t *x)
{
    const bool stream = hx_streams(shape, all_bytes(shape));
    sync_pairs(shape, x, HX_POST, false);
    hx_copy_self_all(shape, x);
    for (uint32_t step = 1; step < shape->nranks; step++) {
        const uint32_t peer = hx_after(shape, step);
        const hx_pair_t pair = hx_pair(shape, peer);
        if (pair.to) {
            hx_sync(x, HX_WAIT, peer);
            hx_send(x, hx_peer_out(peer, 0), hx_in(pair.in_block, 0), pair.to, stream);
            hx_sync(x, HX_POST, peer);
        }
    }
    sync_pairs(shape, x, HX_WAIT, false);
}

/*
 * Two ranks share the work only where the root's data is more than its level-2 cache holds: to read what the other core has just
 * written takes several times as long as to be sent it (measured: 2 to 5 times, 64 to 256 KiB), and less from there on. More ranks
 * always do, as a root that sends does so to one after the other.
 */
static bool receivers_read(const hx_shape_t *shape, uint64_t root_bytes)
{
    return shape->nranks > HX_PAIR || hx_streams(shape, root_bytes);
}

/*
 * Broadcast: each receiver reads its share of the vector from the root's IN, and the root writes the rest to all. With one of n parts for
 * the root, everyone moves equally much.
 */
void hx_shared_broadcast(const hx_shape_t *shape, hx_expansion_t *x)
{
    const uint64_t cut = receivers_read(shape, shape->bytes) ? hx_cut(shape->bytes, shape->nranks - 1, shape->nranks, 1) : 0;
    const uint64_t rest = shape->bytes - cut;
    const bool stream = hx_streams(shape, shape->bytes);
    if (shape->bytes == 0) {
        return;
    }
    if (shape->rank != shape->root) {
        hx_sync(x, HX_POST, shape->root);
        hx_sync(x, HX_WAIT, shape->root);
        hx_send(x, hx_out(0, 0), hx_peer(shape->root, 0), cut, stream);
        hx_sync(x, HX_POST, shape->root);
        hx_sync(x, HX_WAIT, shape->root);
        return;
    }
    hx_sync_all(shape, x, HX_POST);
    for (uint32_t step = 1; step < shape->nranks; step++) {
        const uint32_t peer = hx_after(shape, step);
        hx_sync(x, HX_WAIT, peer);
        hx_send(x, hx_peer_out(peer, cut), hx_in(0, cut), rest, stream);
        hx_sync(x, HX_POST, peer);
    }
    hx_sync_all(shape, x, HX_WAIT);
}

/* Scatter: the root has its own block to copy, which takes it as long as each receiver takes for his. */
void hx_shared_scatter(const hx_shape_t *shape, hx_expansion_t *x)
{
    if (receivers_read(shape, shape->bytes * shape->nranks)) {
        hx_direct_move(shape, x);
    } else {
        hx_push_move(shape, x);
    }
}

/* --- AllReduce, Reduce
 * ------------------------------------------------------------------------------------------ */

typedef struct {
    const hx_shape_t *shape;
    uint64_t at;
} operands_t;

static hx_loc_t operand(const void *context, uint32_t i)
{
    const operands_t *all = context;
    return i == all->shape->rank ? hx_in(0, all->at) : hx_peer(i, all->at);
}

static hx_loc_t result(const hx_shape_t *shape, uint32_t rank, uint64_t at)
{
    return rank == shape->rank ? hx_out(0, at) : hx_peer_out(rank, at);
}

/* To the root alone, it is made where it belongs. */
static void reduce_to_root(const hx_shape_t *shape, hx_expansion_t *x, uint64_t at, uint64_t bytes)
{
    const operands_t all = {shape, at};
    hx_reduce_many(x, result(shape, shape->root, at), bytes, shape->nranks, operand, &all);
}

/* A piece that is to leave the caches is made in SCRATCH, which stays in them. */
static void reduce_to_all(const hx_shape_t *shape, hx_expansion_t *x, uint64_t at, uint64_t bytes)
{
    const operands_t all = {shape, at};
    const bool stream = hx_streams(shape, shape->bytes);
    const hx_loc_t made = stream ? hx_scratch(0) : hx_out(0, at);
    hx_reduce_many(x, made, bytes, shape->nranks, operand, &all);
    for (uint32_t step = stream ? 0 : 1; step < shape->nranks; step++) {
        hx_send(x, result(shape, hx_after(shape, step), at), made, bytes, stream);
    }
    x->scratch = stream ? hx_max(x->scratch, bytes) : 0;
}

/*
 * Each rank reduces its slice, piece by piece, and sends it to all who take the result. In place this is safe: nobody but its
 * owner reads a slice, and it does so before it is written anywhere.
 */
void hx_push_reduce(const hx_shape_t *shape, hx_expansion_t *x)
{
    const uint64_t begin = hx_cut(shape->bytes, shape->rank, shape->nranks, shape->elem_bytes);
    const uint64_t end = hx_cut(shape->bytes, shape->rank + 1, shape->nranks, shape->elem_bytes);
    const uint64_t piece = hx_max(hx_floor(hx_min(HX_PUSH_PIECE, shape->window), shape->elem_bytes), shape->elem_bytes);
    if (shape->bytes == 0) {
        return;
    }
    hx_sync_all(shape, x, HX_POST);
    hx_sync_all(shape, x, HX_WAIT);
    for (uint64_t at = begin; at < end && !x->failed; at += piece) {
        if (shape->oper == HCORE_OPER_AllReduce) {
            reduce_to_all(shape, x, at, hx_min(piece, end - at));
        } else {
            reduce_to_root(shape, x, at, hx_min(piece, end - at));
        }
    }
    hx_sync_all(shape, x, HX_POST);
    hx_sync_all(shape, x, HX_WAIT);
}
