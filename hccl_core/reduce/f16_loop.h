/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * f16_loop.h - loops over binary16: a block of each source is widened to fp32, combined, and rounded back
 * after each op, so every intermediate result is a binary16 as if each op were done by itself.
 */
#ifndef HX_REDUCE_F16_LOOP_H
#define HX_REDUCE_F16_LOOP_H

#include "reduce/fold.h"
#include "reduce/kinds.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

/* The machine's conversions, for as many elements as one instruction takes and for one; they give the same
 * bits as those of half.h. */
#if defined(__AVX512F__)
enum { F16_STEP = 16 };
static inline void f16_widen_step(float *to, const f16_mem *from)
{
    _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)from)));
}
static inline void f16_narrow_step(f16_mem *to, const float *from)
{
    const __m512 v = _mm512_loadu_ps(from);
    const __mmask16 is_nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    const __m512 quiet = _mm512_mask_mov_ps(v, is_nan, _mm512_set1_ps(__builtin_nanf("")));
    _mm256_storeu_si256((void *)to, _mm512_cvtps_ph(quiet, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__F16C__)
enum { F16_STEP = 8 };
static inline void f16_widen_step(float *to, const f16_mem *from)
{
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128((const void *)from)));
}
static inline void f16_narrow_step(f16_mem *to, const float *from)
{
    const __m256 v = _mm256_loadu_ps(from);
    const __m256 is_nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
    const __m256 quiet = _mm256_blendv_ps(v, _mm256_set1_ps(__builtin_nanf("")), is_nan);
    _mm_storeu_si128((void *)to, _mm256_cvtps_ph(quiet, _MM_FROUND_TO_NEAREST_INT));
}
#endif

#if defined(__F16C__)
static inline float f16_widen_one(uint16_t half)
{
    return _cvtsh_ss(half);
}
static inline uint16_t f16_narrow_one(float f)
{
    return _cvtss_sh(f16_quiet(f), _MM_FROUND_TO_NEAREST_INT);
}
#else
static inline float f16_widen_one(uint16_t half)
{
    return hx_f16_widen(half);
}
static inline uint16_t f16_narrow_one(float f)
{
    return (uint16_t)hx_f16_narrow(f);
}
#endif

static void f16_widen(float *to, const f16_mem *from, size_t n)
{
    size_t i = 0;
#if defined(__F16C__)
    for (; n - i >= F16_STEP; i += F16_STEP) {
        f16_widen_step(to + i, from + i);
    }
#endif
    HX_INDEPENDENT
    for (size_t rest = i; rest < n; rest++) {
        to[rest] = f16_widen_one(from[rest]);
    }
}

static void f16_narrow(f16_mem *to, const float *from, size_t n)
{
    size_t i = 0;
#if defined(__F16C__)
    for (; n - i >= F16_STEP; i += F16_STEP) {
        f16_narrow_step(to + i, from + i);
    }
#endif
    HX_INDEPENDENT
    for (size_t rest = i; rest < n; rest++) {
        to[rest] = f16_narrow_one(from[rest]);
    }
}

enum { F16_BLOCK = 512 }; /* elements; the buffers of a block fit in the first-level cache */

typedef void (*f16_combine_t)(float *acc, const float *with, size_t n);

static void f16_loop(void *dst, const void *const *src, unsigned nsrc, size_t n, f16_combine_t combine)
{
    _Alignas(64) float acc[F16_BLOCK];
    _Alignas(64) float with[F16_BLOCK];
    _Alignas(64) f16_mem rounded[F16_BLOCK];
    for (size_t first = 0; first < n; first += F16_BLOCK) {
        const size_t len = n - first < F16_BLOCK ? n - first : F16_BLOCK;
        f16_widen(acc, (const f16_mem *)src[0] + first, len);
        for (unsigned k = 1; k < nsrc; k++) {
            if (k > 1) {
                f16_narrow(rounded, acc, len);
                f16_widen(acc, rounded, len);
            }
            f16_widen(with, (const f16_mem *)src[k] + first, len);
            combine(acc, with, len);
        }
        f16_narrow((f16_mem *)dst + first, acc, len);
    }
}

#define HX_KERNEL_F16(op)                                                                                    \
    static void f16_##op##_combine(float *acc, const float *with, size_t n)                                  \
    {                                                                                                        \
        HX_INDEPENDENT                                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                     \
            acc[i] = f16_##op(acc[i], with[i]);                                                              \
        }                                                                                                    \
    }                                                                                                        \
    static void f16_##op##_2(void *dst, const void *const *src, size_t n)                                    \
    {                                                                                                        \
        f16_loop(dst, src, 2, n, f16_##op##_combine);                                                        \
    }                                                                                                        \
    static void f16_##op##_3(void *dst, const void *const *src, size_t n)                                    \
    {                                                                                                        \
        f16_loop(dst, src, 3, n, f16_##op##_combine);                                                        \
    }                                                                                                        \
    static void f16_##op##_4(void *dst, const void *const *src, size_t n)                                    \
    {                                                                                                        \
        f16_loop(dst, src, 4, n, f16_##op##_combine);                                                        \
    }                                                                                                        \
    HX_FOLD(f16, op)

#endif
