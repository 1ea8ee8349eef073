/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * half.h - 16-bit floating types, held as bits, to and from fp32. Round to nearest, ties to even; a NaN
 * narrows to the positive quiet one. Branch-free, so that loops over these become vector code; binary16 never
 * needs a subnormal fp32, so a program's flush-to-zero mode does not reach it.
 */
#ifndef HX_REDUCE_HALF_H
#define HX_REDUCE_HALF_H

#include <stdint.h>
#include <string.h>

static inline float hx_f32_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t hx_bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

enum {
    F32_SIGN_SHIFT = 16, /* from an fp32's sign to a 16-bit type's */
    F32_ABS = 0x7fffffff,
    F32_INF = 0x7f800000,
    BF16_SHIFT = 16, /* bfloat16 is the upper half of fp32 */
    BF16_LOW = 0xffff,
    BF16_NAN = 0x7fc0,
    F16_SHIFT = 13, /* difference in the length of the fraction of fp32 and binary16 */
    F16_SIGN = 0x8000,
    F16_ABS = 0x7fff,
    F16_INF = 0x7c00,
    F16_NAN = 0x7e00,
    F16_MIN_NORMAL = 0x0400,
    F16_REBIAS = (127 - 15) << 23,   /* difference of the exponents' biases, in an fp32's place */
    F32_F16_MIN_NORMAL = 0x38800000, /* 2^-14 */
    F32_F16_OVERFLOW = 0x47800000,   /* 2^16; what rounds up to it becomes infinite by itself */
    F32_HALF = 0x3f000000            /* 0.5, whose unit in the last place is binary16's smallest number */
};

/* 16-bit values are passed in the low half of 32 bits. */
static inline float hx_bf16_widen(uint32_t half)
{
    return hx_f32_of(half << BF16_SHIFT);
}

/* Rounds to bfloat16's precision. Right for numbers and for NaNs with a zero low half, which is what ops on
 * widened values yield. */
static inline float hx_bf16_round(float f)
{
    uint32_t bits = hx_bits_of(f);
    bits += (1u << (BF16_SHIFT - 1)) - 1 + (bits >> BF16_SHIFT & 1);
    return hx_f32_of(bits >> BF16_SHIFT << BF16_SHIFT);
}

static inline uint32_t hx_bf16_narrow(float f)
{
    const uint32_t half = hx_bits_of(hx_bf16_round(f)) >> BF16_SHIFT;
    return (hx_bits_of(f) & F32_ABS) > F32_INF ? BF16_NAN : half;
}

static inline float hx_f16_widen(uint32_t half)
{
    const uint32_t magnitude = half & F16_ABS;
    const uint32_t sign = (half & F16_SIGN) << F32_SIGN_SHIFT;
    uint32_t bits = (magnitude << F16_SHIFT) + F16_REBIAS;
    /* Infinity and NaN move to fp32's top exponent: once more the same distance. */
    bits += magnitude >= F16_INF ? F16_REBIAS : 0;
    /* A subnormal is put behind the leading one of 2^-14, which is then taken off: an exact difference. */
    const float small =
        hx_f32_of(F32_F16_MIN_NORMAL + (magnitude << F16_SHIFT)) - hx_f32_of(F32_F16_MIN_NORMAL);
    bits = magnitude < F16_MIN_NORMAL ? hx_bits_of(small) : bits;
    return hx_f32_of(bits | sign);
}

static inline uint32_t hx_f16_narrow(float f)
{
    const uint32_t magnitude = hx_bits_of(f) & F32_ABS;
    const uint32_t sign = hx_bits_of(f) >> F32_SIGN_SHIFT & F16_SIGN;
    uint32_t half =
        (magnitude - F16_REBIAS + (1u << (F16_SHIFT - 1)) - 1 + (magnitude >> F16_SHIFT & 1)) >> F16_SHIFT;
    /* Adding 0.5 lets the machine round to a multiple of the smallest binary16. */
    const uint32_t small = hx_bits_of(hx_f32_of(magnitude) + hx_f32_of(F32_HALF)) - F32_HALF;
    half = magnitude < F32_F16_MIN_NORMAL ? small : half;
    half = magnitude >= F32_F16_OVERFLOW ? F16_INF : half;
    half |= sign;
    return magnitude > F32_INF ? F16_NAN : half;
}

#endif
