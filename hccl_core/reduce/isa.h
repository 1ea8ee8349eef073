/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * isa.h - the instruction sets kernels.c is compiled for, and the tables each compilation yields.
 * Ordered from the narrowest to the widest: the last one that runs is chosen.
 */
#ifndef HX_REDUCE_ISA_H
#define HX_REDUCE_ISA_H

#include "hcore/reduce.h"

/* On aarch64 the baseline has NEON already, so "portable" is all there is. */
#if defined(__x86_64__)
#define HX_ISA_LIST(X) X(portable) X(avx2) X(avx512)
#else
#define HX_ISA_LIST(X) X(portable)
#endif

typedef hcore_reduce_fn_t hx_kernel_table_t[HCORE_TYPE_COUNT][HCORE_REDOP_COUNT];

#define X(isa) extern const hx_kernel_table_t hx_kernels_##isa;
HX_ISA_LIST(X)
#undef X

/* Kernels that no vector unit speeds up and REPLACE and NO_OP: compiled once, the same for every instruction
 * set. */
extern const hx_kernel_table_t hx_kernels_scalar;
extern const hx_kernel_table_t hx_kernels_copy;

#endif
