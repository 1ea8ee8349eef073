/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/families.h - the expansions that the table names, by family. One function serves several operators
 * where the shape tells them apart.
 */
#ifndef ALGO_FAMILIES_H
#define ALGO_FAMILIES_H

#include "hcore/expansion.h"

#define HX_EXPANSION(name) void hx_##name(const hx_shape_t *shape, hx_expansion_t *x)

/* direct.c: peers' published memory is read */
HX_EXPANSION(direct_move);
HX_EXPANSION(direct_reduce);
HX_EXPANSION(direct_reduce_pair);
HX_EXPANSION(direct_reduce_scatter);
/* push.c: peers' OUT memory is written */
HX_EXPANSION(push_move);
HX_EXPANSION(push_reduce);
HX_EXPANSION(shared_broadcast);
HX_EXPANSION(shared_scatter);
/* mesh.c: everyone with everyone, through the windows */
HX_EXPANSION(mesh_reduce);
HX_EXPANSION(mesh_reduce_scatter);
HX_EXPANSION(mesh_scan);
HX_EXPANSION(mesh_barrier);
/* pairwise.c: operators that move data, through the windows */
HX_EXPANSION(mesh_move);
HX_EXPANSION(pairwise_rooted);
HX_EXPANSION(pairwise_all_to_all);
/* ring.c */
HX_EXPANSION(ring_all_reduce);
HX_EXPANSION(ring_reduce_scatter);
HX_EXPANSION(ring_all_gather);
HX_EXPANSION(ring_broadcast);
HX_EXPANSION(ring_reduce);
HX_EXPANSION(ring_scatter);
HX_EXPANSION(ring_scan);
/* hd.c: recursive halving and doubling */
HX_EXPANSION(hd_all_reduce);
HX_EXPANSION(hd_reduce_scatter);
HX_EXPANSION(hd_all_gather);
HX_EXPANSION(hd_broadcast);
HX_EXPANSION(hd_reduce);
HX_EXPANSION(hd_barrier);
/* nhr.c: nonuniform hierarchical ring */
HX_EXPANSION(nhr_all_reduce);
HX_EXPANSION(nhr_reduce_scatter);
HX_EXPANSION(nhr_all_gather);
HX_EXPANSION(nhr_broadcast);
HX_EXPANSION(nhr_scatter);
HX_EXPANSION(nhr_barrier);

#endif
