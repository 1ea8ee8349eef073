/* SPDX-License-Identifier: BSD-3-Clause */
/* bf16_loop.h - loops over bfloat16: two elements at a time, then the odd one. */
#ifndef HX_REDUCE_BF16_LOOP_H
#define HX_REDUCE_BF16_LOOP_H

#include "reduce/fold.h"
#include "reduce/kinds.h"

typedef uint16_t bf16_mem;

static void bf16_loop(hx_loop_t pairs, void *dst, const void *const *src, unsigned nsrc, size_t n)
{
    pairs(dst, src, n / 2);
    if (n % 2 != 0) {
        bf16x2_mem last[HX_LOOP_SOURCES] = {0};
        const void *at[HX_LOOP_SOURCES];
        for (unsigned k = 0; k < nsrc; k++) {
            memcpy(&last[k], (const uint8_t *)src[k] + (n - 1) * sizeof(bf16_mem), sizeof(bf16_mem));
            at[k] = &last[k];
        }
        pairs(&last[0], at, 1);
        memcpy((uint8_t *)dst + (n - 1) * sizeof(bf16_mem), &last[0], sizeof(bf16_mem));
    }
}

#define HX_KERNEL_BF16(op)                                                                                   \
    static inline bf16x2_val bf16x2_##op(bf16x2_val a, bf16x2_val b)                                         \
    {                                                                                                        \
        return (bf16x2_val){bf16_##op(a.low, b.low), bf16_##op(a.high, b.high)};                             \
    }                                                                                                        \
    HX_LOOPS(bf16x2, op, HX_AS_IS)                                                                           \
    static void bf16_##op##_2(void *dst, const void *const *src, size_t n)                                   \
    {                                                                                                        \
        bf16_loop(bf16x2_##op##_2, dst, src, 2, n);                                                          \
    }                                                                                                        \
    static void bf16_##op##_3(void *dst, const void *const *src, size_t n)                                   \
    {                                                                                                        \
        bf16_loop(bf16x2_##op##_3, dst, src, 3, n);                                                          \
    }                                                                                                        \
    static void bf16_##op##_4(void *dst, const void *const *src, size_t n)                                   \
    {                                                                                                        \
        bf16_loop(bf16x2_##op##_4, dst, src, 4, n);                                                          \
    }                                                                                                        \
    HX_FOLD(bf16, op)

#endif
