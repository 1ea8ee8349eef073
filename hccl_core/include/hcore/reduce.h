/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcore/reduce.h - typed reduction kernels.
 *
 * A kernel computes, for each of n elements, dst[i] = ((src[0][i] OP src[1][i]) OP src[2][i]) ... in that
 * order, so the bits depend on the order of the sources alone: not on n, on alignment, on how a caller cuts
 * the vector into pieces, or on the instruction set chosen.
 */
#ifndef HCORE_REDUCE_H
#define HCORE_REDUCE_H

#include "hcore/types.h"

/*
 * dst    n elements; may be exactly one of the sources, otherwise overlaps none of them
 * src    nsrc >= 1 pointers to n elements each, aligned to the element or not
 * nsrc 1 copies. Thread safe; touches nothing else.
 */
typedef void (*hcore_reduce_fn_t)(void *dst, const void *const *src, unsigned nsrc, size_t n);

/* The kernel for a type and op, in the widest instruction set this CPU has; NULL when MPI does not define
 * the op on the type (MPI 4.0 section 6.9.2; beyond it, floating types have LAND, LOR and LXOR, as in
 * MPICH, and every type has REPLACE and NO_OP). Thread safe.
 * What MPI leaves open: integers wrap. Where a floating result is not a number it is the positive quiet NaN,
 * whichever NaNs went in; MAX and MIN give it if any source is a NaN, and keep the first of +0 and -0. MINLOC
 * and MAXLOC choose a whole pair with the bytes between its members: NaN before any number, then the lower
 * index, then the first. FP16 and BFP16 are rounded after every OP. */
hcore_reduce_fn_t hcore_reduce_find(hcore_type_t type, hcore_redop_t op);

/* For tests and hccl_info: the instruction sets this build has kernels for ("portable" is always 0), which
 * of them this CPU can run, the one chosen, and a lookup in a given one. */
unsigned hcore_reduce_isa_count(void);
const char *hcore_reduce_isa_name(unsigned isa);
bool hcore_reduce_isa_runs(unsigned isa);
unsigned hcore_reduce_isa_chosen(void);
hcore_reduce_fn_t hcore_reduce_find_isa(unsigned isa, hcore_type_t type, hcore_redop_t op);

/*
 * What the engines reduce with: a built-in kernel or the caller's function.
 * elem_bytes   bytes of one element as it lies in the core's buffers (packed)
 * commutative  the order of operands may be changed; engines keep rank order all the same unless an
 *              algorithm chosen by the user needs otherwise
 * run          as hcore_reduce_fn_t, with the reducer itself for context
 */
typedef struct hcore_reducer {
    void (*run)(const struct hcore_reducer *self, void *dst, const void *const *src, unsigned nsrc, size_t n);
    hcore_reduce_fn_t kernel; /* built-in kernel, NULL for a caller's function */
    void *context;            /* the caller's */
    size_t elem_bytes;
    bool commutative;
} hcore_reducer_t;

/* Fills a reducer for a built-in type and op. HCORE_ERR_UNSUPPORTED if there is no kernel. */
hcore_status_t hcore_reducer_builtin(hcore_type_t type, hcore_redop_t op, hcore_reducer_t *reducer);

#endif
