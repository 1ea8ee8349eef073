/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds.h - the element kinds of fold.h that vector units know, and the ops on them.
 *
 * Rules that make the bits of a result depend on the order of the sources alone:
 * - integers wrap (all arithmetic is unsigned);
 * - a floating result that is not a number is always the one positive quiet NaN: which of two NaNs
 *   a machine's addition returns depends on how the compiler ordered the operands;
 * - MAX and MIN are NaN if any source is; of equal values (+0 and -0) the first is kept;
 * - no fused multiply-add (-ffp-contract=off), products of complex numbers are written out.
 */
#ifndef HX_REDUCE_KINDS_H
#define HX_REDUCE_KINDS_H

#include "hcore/types.h"
#include "reduce/half.h"

/* Memory of a kind: any alignment, and it may alias whatever type the caller has there. */
#define HX_MEMORY __attribute__((aligned(1), may_alias))

#define HX_KIND_PLAIN(K, ctype)                                                                              \
    typedef ctype K##_val;                                                                                   \
    typedef ctype K##_mem HX_MEMORY;                                                                         \
    static inline K##_val K##_load(const K##_mem *from)                                                      \
    {                                                                                                        \
        return *from;                                                                                        \
    }                                                                                                        \
    static inline void K##_store(K##_mem *to, K##_val v)                                                     \
    {                                                                                                        \
        *to = v;                                                                                             \
    }

#define HX_OP(K, op, expression)                                                                             \
    static inline K##_val K##_##op(K##_val a, K##_val b)                                                     \
    {                                                                                                        \
        return (K##_val)(expression);                                                                        \
    }

#define HX_OPS_ORDER(K) HX_OP(K, max, b > a ? b : a) HX_OP(K, min, b < a ? b : a)
#define HX_OPS_LOGICAL(K)                                                                                    \
    HX_OP(K, land, (a != 0) & (b != 0)) HX_OP(K, lor, (a != 0) | (b != 0)) HX_OP(K, lxor, (a != 0) ^ (b != 0))
#define HX_OPS_BITWISE(K) HX_OP(K, band, a &b) HX_OP(K, bor, a | b) HX_OP(K, bxor, a ^ b)

/* `wide` is unsigned and not promoted to int, whose product could overflow. */
#define HX_KIND_UNSIGNED(K, ctype, wide)                                                                     \
    HX_KIND_PLAIN(K, ctype)                                                                                  \
    HX_OP(K, sum, (wide)a + (wide)b)                                                                         \
    HX_OP(K, prod, (wide)a *(wide)b)                                                                         \
    HX_OPS_ORDER(K) HX_OPS_LOGICAL(K) HX_OPS_BITWISE(K)

/* Sums, products, bits and truth of signed integers are those of the unsigned kind of their size. */
#define HX_KIND_SIGNED(K, ctype) HX_KIND_PLAIN(K, ctype) HX_OPS_ORDER(K)

/* The ops on values that `round` brings back to the precision of the type in memory. */
#define HX_OPS_FLOAT(K, nan, round)                                                                          \
    HX_OP(K, sum, round(a + b))                                                                              \
    HX_OP(K, prod, round(a *b))                                                                              \
    HX_OP(K, max, __builtin_isunordered(a, b) ? (nan) : b > a ? b : a)                                       \
    HX_OP(K, min, __builtin_isunordered(a, b) ? (nan) : b < a ? b : a)                                       \
    HX_OPS_LOGICAL(K)                                                                                        \
    static inline K##_val K##_quiet(K##_val a)                                                               \
    {                                                                                                        \
        return __builtin_isunordered(a, a) ? (nan) : a;                                                      \
    }

/* `part` is the kind of the real and the imaginary part. The difference is written as a sum: of a difference
 * next to a sum, GCC 12 makes fused operations even when told not to (-ffp-contract=off). */
#define HX_KIND_COMPLEX(K, part)                                                                             \
    typedef struct {                                                                                         \
        part##_val re, im;                                                                                   \
    } K##_val;                                                                                               \
    typedef struct {                                                                                         \
        part##_mem re, im;                                                                                   \
    } K##_mem;                                                                                               \
    static inline K##_val K##_load(const K##_mem *from)                                                      \
    {                                                                                                        \
        return (K##_val){part##_load(&from->re), part##_load(&from->im)};                                    \
    }                                                                                                        \
    static inline void K##_store(K##_mem *to, K##_val v)                                                     \
    {                                                                                                        \
        part##_store(&to->re, v.re);                                                                         \
        part##_store(&to->im, v.im);                                                                         \
    }                                                                                                        \
    static inline K##_val K##_prod(K##_val a, K##_val b)                                                     \
    {                                                                                                        \
        return (K##_val){a.re * b.re + a.im * part##_negated(b.im), a.re * b.im + a.im * b.re};              \
    }                                                                                                        \
    static inline K##_val K##_quiet(K##_val a)                                                               \
    {                                                                                                        \
        return (K##_val){part##_quiet(a.re), part##_quiet(a.im)};                                            \
    }

HX_KIND_UNSIGNED(u8, uint8_t, unsigned)
HX_KIND_UNSIGNED(u16, uint16_t, unsigned)
HX_KIND_UNSIGNED(u32, uint32_t, unsigned)
HX_KIND_UNSIGNED(u64, uint64_t, uint64_t)
HX_KIND_SIGNED(s8, int8_t)
HX_KIND_SIGNED(s16, int16_t)
HX_KIND_SIGNED(s32, int32_t)
HX_KIND_SIGNED(s64, int64_t)

HX_KIND_PLAIN(f32, float)
HX_OPS_FLOAT(f32, __builtin_nanf(""), )

/* By the bits, so that no compiler turns a sum back into a difference; see HX_KIND_COMPLEX. */
#define F64_SIGN ((uint64_t)1 << 63)
#define F32_SIGN ((uint32_t)1 << 31)
static inline f32_val f32_negated(f32_val v)
{
    return hx_f32_of(hx_bits_of(v) ^ F32_SIGN);
}

HX_KIND_PLAIN(f64, double)
HX_OPS_FLOAT(f64, __builtin_nan(""), )
static inline f64_val f64_negated(f64_val v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits ^= F64_SIGN;
    memcpy(&v, &bits, sizeof bits);
    return v;
}

HX_KIND_COMPLEX(cf32, f32)
HX_KIND_COMPLEX(cf64, f64)

/*
 * bfloat16 is computed in fp32, rounded after each op. Two at a time, the halves of a 32-bit word: lanes of
 * 32 bits all the way keep the vector code free of packing. Which half comes first does not matter.
 */
typedef float bf16_val;
HX_OPS_FLOAT(bf16, __builtin_nanf(""), hx_bf16_round)

typedef struct {
    bf16_val low, high;
} bf16x2_val;
typedef uint32_t bf16x2_mem HX_MEMORY;

static inline bf16x2_val bf16x2_load(const bf16x2_mem *from)
{
    const uint32_t word = *from;
    return (bf16x2_val){hx_bf16_widen(word & BF16_LOW), hx_bf16_widen(word >> BF16_SHIFT)};
}
static inline void bf16x2_store(bf16x2_mem *to, bf16x2_val v)
{
    *to = hx_bf16_narrow(v.low) | hx_bf16_narrow(v.high) << BF16_SHIFT;
}

/* binary16 is computed in fp32 as well; f16_loop.h converts whole arrays, which CPUs have instructions for.
 */
typedef float f16_val;
typedef uint16_t f16_mem HX_MEMORY;
HX_OPS_FLOAT(f16, __builtin_nanf(""), )

#endif
