/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels no vector unit speeds up: wide floating types, value-index pairs, and copies. */
#include "reduce/fold.h"
#include "reduce/kinds.h"
#include "reduce/tables.h"

#include <float.h>
#include <string.h>

/* x87's long double leaves padding behind its value. Results have it zeroed, so equal values are equal bytes.
 */
#if LDBL_MANT_DIG == 64
enum { FLD_VALUE_BYTES = 10 };
#else
enum { FLD_VALUE_BYTES = sizeof(long double) };
#endif

typedef long double fld_val;
typedef struct {
    uint8_t byte[sizeof(long double)];
} fld_mem;

static inline fld_val fld_load(const fld_mem *from)
{
    fld_val v;
    memcpy(&v, from->byte, sizeof v);
    return v;
}
static inline void fld_store(fld_mem *to, fld_val v)
{
    memset(to->byte, 0, sizeof to->byte);
    memcpy(to->byte, &v, FLD_VALUE_BYTES);
}
HX_OPS_FLOAT(fld, __builtin_nanl(""), )

static inline fld_val fld_negated(fld_val v)
{
    return -v;
}
HX_KIND_COMPLEX(cfld, fld)
HX_KIND_PLAIN(f128, hcore_f128_t)
HX_OPS_FLOAT(f128, (hcore_f128_t)__builtin_nan(""), )

HX_KERNELS_FLOAT(fld)
HX_KERNELS_FLOAT(f128)
HX_KERNEL(cfld, prod, cfld_quiet)
HX_KERNEL_COMPLEX_SUM(cfld, fld)

/*
 * Pairs: a pair is never changed, only chosen, so a pair's value is where it lies, and the bytes between and
 * behind its members come along. Of equal values the lower index wins; values that are not numbers are more
 * extreme than any number and equal to each other, so a NaN reaches the result whatever the order.
 */
#define HX_NEVER_NAN(v)  ((void)(v), false)
#define HX_CAN_BE_NAN(v) __builtin_isnan(v)

#define HX_OP_LOC(K, pair_t, is_nan, op, beyond)                                                             \
    static inline K##_val K##_##op(K##_val a, K##_val b)                                                     \
    {                                                                                                        \
        pair_t x, y;                                                                                         \
        memcpy(&x, a, sizeof x);                                                                             \
        memcpy(&y, b, sizeof y);                                                                             \
        const bool x_nan = is_nan(x.v), y_nan = is_nan(y.v);                                                 \
        const bool tie = (x_nan && y_nan) || x.v == y.v;                                                     \
        const bool second = tie ? y.i < x.i : y_nan || (!x_nan && y.v beyond x.v);                           \
        return second ? b : a;                                                                               \
    }

#define HX_KIND_PAIR(K, pair_t, is_nan)                                                                      \
    typedef struct {                                                                                         \
        uint8_t byte[sizeof(pair_t)];                                                                        \
    } K##_mem;                                                                                               \
    typedef const K##_mem *K##_val;                                                                          \
    static inline K##_val K##_load(const K##_mem *from)                                                      \
    {                                                                                                        \
        return from;                                                                                         \
    }                                                                                                        \
    static inline void K##_store(K##_mem *to, K##_val v)                                                     \
    {                                                                                                        \
        *to = *v;                                                                                            \
    }                                                                                                        \
    HX_OP_LOC(K, pair_t, is_nan, minloc, <)                                                                  \
    HX_OP_LOC(K, pair_t, is_nan, maxloc, >) HX_KERNEL(K, minloc, HX_AS_IS) HX_KERNEL(K, maxloc, HX_AS_IS)

HX_KIND_PAIR(fi, hcore_pair_fi_t, HX_CAN_BE_NAN)
HX_KIND_PAIR(di, hcore_pair_di_t, HX_CAN_BE_NAN)
HX_KIND_PAIR(li, hcore_pair_li_t, HX_NEVER_NAN)
HX_KIND_PAIR(si, hcore_pair_si_t, HX_NEVER_NAN)
HX_KIND_PAIR(ii, hcore_pair_ii_t, HX_NEVER_NAN)
HX_KIND_PAIR(ldi, hcore_pair_ldi_t, HX_CAN_BE_NAN)
HX_KIND_PAIR(ff, hcore_pair_ff_t, HX_CAN_BE_NAN)
HX_KIND_PAIR(dd, hcore_pair_dd_t, HX_CAN_BE_NAN)

#define HX_ROW_PAIR(type, K) [HCORE_TYPE_##type] = {HX_ROW_LOC(K)}

const hx_kernel_table_t hx_kernels_scalar = {
    [HCORE_TYPE_FPLD] = {HX_ROW_FLOAT(fld)},
    [HCORE_TYPE_FP128] = {HX_ROW_FLOAT(f128)},
    [HCORE_TYPE_CFPLD] = {HX_ROW_ARITHMETIC(cfld)},
    HX_ROW_PAIR(PAIR_FP32_INT, fi),
    HX_ROW_PAIR(PAIR_FP64_INT, di),
    HX_ROW_PAIR(PAIR_LONG_INT, li),
    HX_ROW_PAIR(PAIR_SHORT_INT, si),
    HX_ROW_PAIR(PAIR_INT_INT, ii),
    HX_ROW_PAIR(PAIR_FPLD_INT, ldi),
    HX_ROW_PAIR(PAIR_FP32_FP32, ff),
    HX_ROW_PAIR(PAIR_FP64_FP64, dd),
};
