/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tables.h - which ops MPI 4.0 section 6.9.2 defines on a class of types, as instances of HX_KERNEL and as
 * rows of the kernel tables. Logical ops on floating types are not in the standard; MPICH accepts them.
 */
#ifndef HX_REDUCE_TABLES_H
#define HX_REDUCE_TABLES_H

#include "reduce/fold.h"
#include "reduce/isa.h"

#define HX_KERNELS_ORDER(K) HX_KERNEL(K, max, HX_AS_IS) HX_KERNEL(K, min, HX_AS_IS)
#define HX_KERNELS_LOGICAL(K)                                                                                \
    HX_KERNEL(K, land, HX_AS_IS) HX_KERNEL(K, lor, HX_AS_IS) HX_KERNEL(K, lxor, HX_AS_IS)
#define HX_KERNELS_BITWISE(K)                                                                                \
    HX_KERNEL(K, band, HX_AS_IS) HX_KERNEL(K, bor, HX_AS_IS) HX_KERNEL(K, bxor, HX_AS_IS)
#define HX_KERNELS_UNSIGNED(K)                                                                               \
    HX_KERNEL(K, sum, HX_AS_IS)                                                                              \
    HX_KERNEL(K, prod, HX_AS_IS) HX_KERNELS_ORDER(K) HX_KERNELS_LOGICAL(K) HX_KERNELS_BITWISE(K)
#define HX_KERNELS_FLOAT(K)                                                                                  \
    HX_KERNEL(K, sum, K##_quiet) HX_KERNEL(K, prod, K##_quiet) HX_KERNELS_ORDER(K) HX_KERNELS_LOGICAL(K)

/* A sum of complex numbers is the sum of twice as many real ones. */
#define HX_KERNEL_COMPLEX_SUM(K, part)                                                                       \
    static void K##_sum_kernel(void *dst, const void *const *src, unsigned nsrc, size_t n)                   \
    {                                                                                                        \
        hx_fold(&part##_sum_fold, dst, src, nsrc, 2 * n);                                                    \
    }

#define HX_CELL(op, K, name) [HCORE_REDOP_##op] = K##_##name##_kernel
#define HX_ROW_ARITHMETIC(K) HX_CELL(SUM, K, sum), HX_CELL(PROD, K, prod)
#define HX_ROW_ORDER(K)      HX_CELL(MAX, K, max), HX_CELL(MIN, K, min)
#define HX_ROW_LOGICAL(K)    HX_CELL(LAND, K, land), HX_CELL(LOR, K, lor), HX_CELL(LXOR, K, lxor)
#define HX_ROW_BITWISE(K)    HX_CELL(BAND, K, band), HX_CELL(BOR, K, bor), HX_CELL(BXOR, K, bxor)
#define HX_ROW_LOC(K)        HX_CELL(MINLOC, K, minloc), HX_CELL(MAXLOC, K, maxloc)
#define HX_ROW_FLOAT(K)      HX_ROW_ARITHMETIC(K), HX_ROW_ORDER(K), HX_ROW_LOGICAL(K)
/* U: the unsigned kind of this size; K: the type's own kind */
#define HX_ROW_INTEGER(U, K) HX_ROW_ARITHMETIC(U), HX_ROW_ORDER(K), HX_ROW_LOGICAL(U), HX_ROW_BITWISE(U)

#endif
