/* SPDX-License-Identifier: BSD-3-Clause */
/* algo/table.c - the algorithms, each operator's in order of preference, and the choice among them. */
#include "algo/build.h"
#include "algo/families.h"
#include "hcore/log.h"

#include <strings.h>

/* clang-format off */
#define ROW(name, oper, flags, function) {name, HCORE_OPER_##oper, flags, hx_##function}
/* clang-format on */
const hx_algo_t hx_algo_table[] = {
    ROW("mesh", Broadcast, HX_NEED_DIRECT | HX_NEED_LOAD | HX_NEED_STORE, shared_broadcast),
    ROW("mesh", Broadcast, HX_NEED_STORE | HX_NEED_PAIR, push_move),
    ROW("mesh", Broadcast, HX_NEED_DIRECT, direct_move),
    ROW("mesh", Broadcast, 0, mesh_move),
    ROW("NHR", Broadcast, 0, nhr_broadcast),
    ROW("H-D_R", Broadcast, 0, hd_broadcast),
    ROW("ring", Broadcast, 0, ring_broadcast),

    ROW("mesh", AllGather, HX_NEED_STORE, push_move),
    ROW("mesh", AllGather, HX_NEED_DIRECT, direct_move),
    ROW("mesh", AllGather, 0, mesh_move),
    ROW("NHR", AllGather, 0, nhr_all_gather),
    ROW("H-D_R", AllGather, 0, hd_all_gather),
    ROW("ring", AllGather, 0, ring_all_gather),

    ROW("mesh", AllGatherV, HX_NEED_STORE, push_move),
    ROW("mesh", AllGatherV, HX_NEED_DIRECT, direct_move),
    ROW("mesh", AllGatherV, 0, mesh_move),
    ROW("NHR", AllGatherV, 0, nhr_all_gather),
    ROW("ring", AllGatherV, 0, ring_all_gather),

    ROW("mesh", Reduce, HX_NEED_DIRECT | HX_NEED_LOAD | HX_NEED_STORE, push_reduce),
    ROW("mesh", Reduce, HX_NEED_DIRECT, direct_reduce),
    ROW("mesh", Reduce, 0, mesh_reduce),
    ROW("H-D_R", Reduce, HX_TREE_ORDER, hd_reduce),
    ROW("ring", Reduce, HX_NEED_COMMUTATIVE, ring_reduce),

    ROW("mesh", AllReduce, HX_NEED_DIRECT | HX_NEED_LOAD | HX_NEED_STORE, push_reduce),
    ROW("mesh", AllReduce, HX_NEED_DIRECT | HX_NEED_PAIR | HX_STAGED, direct_reduce_pair),
    ROW("mesh", AllReduce, HX_NEED_DIRECT, direct_reduce),
    ROW("mesh", AllReduce, 0, mesh_reduce),
    ROW("H-D_R", AllReduce, HX_TREE_ORDER, hd_all_reduce),
    ROW("NHR", AllReduce, HX_NEED_COMMUTATIVE, nhr_all_reduce),
    ROW("ring", AllReduce, HX_NEED_COMMUTATIVE, ring_all_reduce),

    ROW("mesh", Scatter, HX_NEED_DIRECT | HX_NEED_LOAD | HX_NEED_STORE, shared_scatter),
    ROW("mesh", Scatter, HX_NEED_STORE | HX_NEED_PAIR, push_move),
    ROW("mesh", Scatter, HX_NEED_DIRECT, direct_move),
    ROW("pairwise", Scatter, 0, pairwise_rooted),
    ROW("NHR", Scatter, 0, nhr_scatter),
    ROW("ring", Scatter, 0, ring_scatter),

    ROW("mesh", ScatterV, HX_NEED_STORE | HX_NEED_PAIR, push_move),
    ROW("mesh", ScatterV, HX_NEED_DIRECT, direct_move),
    ROW("pairwise", ScatterV, 0, pairwise_rooted),

    ROW("mesh", Gather, HX_NEED_STORE, push_move),
    ROW("mesh", Gather, HX_NEED_DIRECT, direct_move),
    ROW("pairwise", Gather, 0, pairwise_rooted),

    ROW("mesh", GatherV, HX_NEED_STORE, push_move),
    ROW("mesh", GatherV, HX_NEED_DIRECT, direct_move),
    ROW("pairwise", GatherV, 0, pairwise_rooted),

    ROW("mesh", ReduceScatter, HX_NEED_DIRECT | HX_NO_INPLACE, direct_reduce_scatter),
    ROW("mesh", ReduceScatter, 0, mesh_reduce_scatter),
    ROW("H-D_R", ReduceScatter, HX_TREE_ORDER, hd_reduce_scatter),
    ROW("NHR", ReduceScatter, HX_NEED_COMMUTATIVE, nhr_reduce_scatter),
    ROW("ring", ReduceScatter, HX_NEED_COMMUTATIVE, ring_reduce_scatter),

    ROW("mesh", ReduceScatterV, HX_NEED_DIRECT | HX_NO_INPLACE, direct_reduce_scatter),
    ROW("mesh", ReduceScatterV, 0, mesh_reduce_scatter),
    ROW("NHR", ReduceScatterV, HX_NEED_COMMUTATIVE, nhr_reduce_scatter),
    ROW("ring", ReduceScatterV, HX_NEED_COMMUTATIVE, ring_reduce_scatter),

    ROW("pairwise", AlltoAll, HX_NEED_STORE, push_move),
    ROW("pairwise", AlltoAll, HX_NEED_DIRECT, direct_move),
    ROW("pairwise", AlltoAll, 0, pairwise_all_to_all),

    ROW("pairwise", AlltoAllV, HX_NEED_STORE, push_move),
    ROW("pairwise", AlltoAllV, HX_NEED_DIRECT, direct_move),
    ROW("pairwise", AlltoAllV, 0, pairwise_all_to_all),

    ROW("pairwise", AlltoAllW, HX_NEED_STORE, push_move),
    ROW("pairwise", AlltoAllW, HX_NEED_DIRECT, direct_move),
    ROW("pairwise", AlltoAllW, 0, pairwise_all_to_all),

    ROW("mesh", Barrier, 0, mesh_barrier),
    ROW("NHR", Barrier, 0, nhr_barrier),
    ROW("H-D_R", Barrier, 0, hd_barrier),

    ROW("mesh", Scan, 0, mesh_scan),
    ROW("ring", Scan, 0, ring_scan),

    ROW("mesh", Exscan, 0, mesh_scan),
    ROW("ring", Exscan, 0, ring_scan),
};
const unsigned hx_algo_count = sizeof(hx_algo_table) / sizeof(hx_algo_table[0]);

/* What the situation rules out; an algorithm that nobody asked for must keep the order of operands. */
static uint32_t ruled_out(const hx_shape_t *shape, bool named, bool commutative, bool in_place,
                          bool rank_order)
{
    bool free_order = named && !rank_order, power_of_two = (shape->nranks & (shape->nranks - 1)) == 0;
    return (shape->direct ? 0 : HX_NEED_DIRECT) | (shape->load ? 0 : HX_NEED_LOAD) |
           (shape->store ? 0 : HX_NEED_STORE) | (in_place ? HX_NO_INPLACE : 0) |
           (power_of_two ? 0 : HX_NEED_POW2) | (shape->nranks == HX_PAIR ? 0 : HX_NEED_PAIR) | (free_order ? 0 : HX_TREE_ORDER) |
           (free_order && commutative ? 0 : HX_NEED_COMMUTATIVE);
}

static const hx_algo_t *first_allowed(hcore_oper_t oper, const char *name, uint32_t not_these)
{
    for (unsigned i = 0; i < hx_algo_count; i++) {
        const hx_algo_t *row = &hx_algo_table[i];
        if (row->oper == oper && !(row->flags & not_these) && (!name || strcasecmp(row->name, name) == 0)) {
            return row;
        }
    }
    return NULL;
}

const hx_algo_t *hx_algo_choose(const hx_shape_t *shape, const char *wanted, bool commutative, bool in_place,
                                bool rank_order)
{
    const hx_algo_t *row = NULL;
    if (wanted) {
        row = first_allowed(shape->oper, wanted, ruled_out(shape, true, commutative, in_place, rank_order));
    }
    return row ? row
               : first_allowed(shape->oper, NULL, ruled_out(shape, false, commutative, in_place, rank_order));
}

uint64_t hx_window_least(uint32_t nranks, uint64_t elem_bytes)
{
    return hx_ceil(HX_LEAST_ELEMS * elem_bytes * nranks, HX_LINE);
}

/* A rank alone: what it gives itself. */
static void expand_alone(const hx_shape_t *shape, hx_expansion_t *x)
{
    if (shape->oper != HCORE_OPER_Exscan) {
        hx_copy_self_all(shape, x);
    }
}

static hcore_status_t check(const hx_shape_t *shape)
{
    if (shape->rank >= shape->nranks || shape->root >= shape->nranks || !shape->elem_bytes ||
        shape->window % HX_LINE) {
        hcore_error("expansion: rank %u, root %u of %u ranks, element %llu, window %llu", shape->rank,
                    shape->root, shape->nranks, (unsigned long long)shape->elem_bytes,
                    (unsigned long long)shape->window);
        return HCORE_ERR_PARAM;
    }
    if (shape->nranks > 1 && shape->window < hx_window_least(shape->nranks, shape->elem_bytes)) {
        hcore_error("expansion: a window of %llu bytes is too small for %u ranks and elements of %llu bytes",
                    (unsigned long long)shape->window, shape->nranks, (unsigned long long)shape->elem_bytes);
        return HCORE_ERR_UNSUPPORTED;
    }
    return HCORE_OK;
}

hcore_status_t hx_expand(const hx_algo_t *algo, const hx_shape_t *shape, hx_expansion_t *expansion)
{
    hcore_status_t status = check(shape);
    if (status != HCORE_OK) {
        return status;
    }
    if (shape->nranks == 1) {
        expand_alone(shape, expansion);
    } else {
        algo->expand(shape, expansion);
        if (shape->load && !(algo->flags & HX_STAGED)) {
            hx_load_scratch(expansion);
        }
    }
    if (expansion->failed) {
        hx_expansion_release(expansion);
        hcore_error("expansion: out of memory");
        return HCORE_ERR_NO_MEMORY;
    }
    return HCORE_OK;
}
