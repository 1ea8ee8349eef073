/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels vector units speed up. The build compiles this file once per instruction set of isa.h, with
 * HX_ISA the set's name; all sets must yield the same bits (see kinds.h).
 */
#if defined(__GNUC__) && !defined(__clang__)
/* A packager's CFLAGS (-O2) come after ours, and at -O2 GCC 12 leaves loops of unknown length scalar.
 * Threading jumps breaks up the chained selects of MAX and MIN, which then cannot become vector code. */
#pragma GCC optimize("O3", "vect-cost-model=dynamic", "no-thread-jumps")
#endif

#include "reduce/bf16_loop.h"
#include "reduce/f16_loop.h"
#include "reduce/kinds.h"
#include "reduce/tables.h"

HX_KERNELS_UNSIGNED(u8)
HX_KERNELS_UNSIGNED(u16)
HX_KERNELS_UNSIGNED(u32)
HX_KERNELS_UNSIGNED(u64)
HX_KERNELS_ORDER(s8)
HX_KERNELS_ORDER(s16)
HX_KERNELS_ORDER(s32)
HX_KERNELS_ORDER(s64)
HX_KERNELS_FLOAT(f32)
HX_KERNELS_FLOAT(f64)
HX_KERNEL(cf32, prod, cf32_quiet)
HX_KERNEL(cf64, prod, cf64_quiet)
HX_KERNEL_F16(sum)
HX_KERNEL_F16(prod)
HX_KERNEL_F16(max)
HX_KERNEL_F16(min)
HX_KERNEL_F16(land)
HX_KERNEL_F16(lor)
HX_KERNEL_F16(lxor)
HX_KERNEL_BF16(sum)
HX_KERNEL_BF16(prod)
HX_KERNEL_BF16(max)
HX_KERNEL_BF16(min)
HX_KERNEL_BF16(land)
HX_KERNEL_BF16(lor)
HX_KERNEL_BF16(lxor)

HX_KERNEL_COMPLEX_SUM(cf32, f32)
HX_KERNEL_COMPLEX_SUM(cf64, f64)

#define HX_TABLE_NAME(isa)  HX_TABLE_NAME_(isa)
#define HX_TABLE_NAME_(isa) hx_kernels_##isa

const hx_kernel_table_t HX_TABLE_NAME(HX_ISA) = {
    [HCORE_TYPE_BYTE] = {HX_ROW_BITWISE(u8)},
    [HCORE_TYPE_INT8] = {HX_ROW_INTEGER(u8, s8)},
    [HCORE_TYPE_INT16] = {HX_ROW_INTEGER(u16, s16)},
    [HCORE_TYPE_INT32] = {HX_ROW_INTEGER(u32, s32)},
    [HCORE_TYPE_INT64] = {HX_ROW_INTEGER(u64, s64)},
    [HCORE_TYPE_UINT8] = {HX_ROW_INTEGER(u8, u8)},
    [HCORE_TYPE_UINT16] = {HX_ROW_INTEGER(u16, u16)},
    [HCORE_TYPE_UINT32] = {HX_ROW_INTEGER(u32, u32)},
    [HCORE_TYPE_UINT64] = {HX_ROW_INTEGER(u64, u64)},
    [HCORE_TYPE_FP16] = {HX_ROW_FLOAT(f16)},
    [HCORE_TYPE_FP32] = {HX_ROW_FLOAT(f32)},
    [HCORE_TYPE_FP64] = {HX_ROW_FLOAT(f64)},
    [HCORE_TYPE_CFP32] = {HX_ROW_ARITHMETIC(cf32)},
    [HCORE_TYPE_CFP64] = {HX_ROW_ARITHMETIC(cf64)},
    [HCORE_TYPE_BOOL8] = {HX_ROW_LOGICAL(u8)},
    [HCORE_TYPE_LOGICAL8] = {HX_ROW_LOGICAL(u8)},
    [HCORE_TYPE_LOGICAL16] = {HX_ROW_LOGICAL(u16)},
    [HCORE_TYPE_LOGICAL32] = {HX_ROW_LOGICAL(u32)},
    [HCORE_TYPE_LOGICAL64] = {HX_ROW_LOGICAL(u64)},
    [HCORE_TYPE_BFP16] = {HX_ROW_FLOAT(bf16)},
};
