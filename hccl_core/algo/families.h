/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * algo/families.h - the expansions that the table names, by family. One function serves several operators where the
 * shape tells them apart.
 */
#ifndef ALGO_FAMILIES_H
#define ALGO_FAMILIES_H

#include "hcore/expansion.h"

#define HX_FAMILY_LIST(X)                                                                                     \
    /* direct.c: peers' published memory is read */                                                          \
    X(direct_move) X(direct_reduce) X(direct_reduce_scatter)                                                  \
    /* mesh.c: everyone with everyone, through the windows */                                                \
    X(mesh_reduce) X(mesh_reduce_scatter) X(mesh_scan) X(mesh_barrier)                                        \
    /* pairwise.c: data-moving operators through the windows */                                              \
    X(mesh_move) X(pairwise_rooted) X(pairwise_all_to_all)                                                    \
    /* ring.c */                                                                                              \
    X(ring_all_reduce) X(ring_reduce_scatter) X(ring_all_gather) X(ring_broadcast) X(ring_reduce)             \
    X(ring_scatter) X(ring_scan)                                                                              \
    /* hd.c: recursive halving and doubling */                                                               \
    X(hd_all_reduce) X(hd_reduce_scatter) X(hd_all_gather) X(hd_broadcast) X(hd_reduce) X(hd_barrier)         \
    /* nhr.c: nonuniform hierarchical ring */                                                                \
    X(nhr_all_reduce) X(nhr_reduce_scatter) X(nhr_all_gather) X(nhr_broadcast) X(nhr_scatter) X(nhr_barrier)

#define X(name) void hx_##name(const hx_shape_t *shape, hx_expansion_t *x);
HX_FAMILY_LIST(X)
#undef X

#endif
