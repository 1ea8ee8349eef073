/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fold.h - from a binary op on one element kind to a k-ary kernel.
 *
 * An element kind K gives: K_mem, the type in memory (any alignment); K_val, the type computed with;
 * K_load and K_store between them. HX_LOOPS makes three loops of it, for 2, 3 and 4 sources, which keep
 * everything between load and store in registers; hx_fold does any number of sources with them.
 */
#ifndef HX_REDUCE_FOLD_H
#define HX_REDUCE_FOLD_H

#include <stddef.h>

enum { HX_LOOP_SOURCES = 4 }; /* most sources one loop takes */

typedef void (*hx_loop_t)(void *dst, const void *const *src, size_t n);

typedef struct {
    size_t elem_bytes;
    hx_loop_t loop[HX_LOOP_SOURCES + 1]; /* indexed by the number of sources; 0 and 1 are not used */
} hx_fold_t;

void hx_fold(const hx_fold_t *fold, void *dst, const void *const *src, unsigned nsrc, size_t n);

/* dst is exactly a source or overlaps none, so iterations never depend on each other: without this the
 * compiler guards each vector loop with overlap checks that send in-place calls to a scalar loop. */
#if defined(__clang__)
/* Clang takes the promise for a wish, and warns of the loops it leaves scalar. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define HX_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define HX_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* finish(value) is applied once per element, before the store. */
#define HX_LOOPS(K, op, finish)                                                                              \
    static void K##_##op##_2(void *dst, const void *const *src, size_t n)                                    \
    {                                                                                                        \
        K##_mem *const d = dst;                                                                              \
        const K##_mem *const s0 = src[0], *const s1 = src[1];                                                \
        HX_INDEPENDENT                                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                     \
            K##_val v = K##_##op(K##_load(&s0[i]), K##_load(&s1[i]));                                        \
            K##_store(&d[i], finish(v));                                                                     \
        }                                                                                                    \
    }                                                                                                        \
    static void K##_##op##_3(void *dst, const void *const *src, size_t n)                                    \
    {                                                                                                        \
        K##_mem *const d = dst;                                                                              \
        const K##_mem *const s0 = src[0], *const s1 = src[1], *const s2 = src[2];                            \
        HX_INDEPENDENT                                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                     \
            K##_val v = K##_##op(K##_load(&s0[i]), K##_load(&s1[i]));                                        \
            v = K##_##op(v, K##_load(&s2[i]));                                                               \
            K##_store(&d[i], finish(v));                                                                     \
        }                                                                                                    \
    }                                                                                                        \
    static void K##_##op##_4(void *dst, const void *const *src, size_t n)                                    \
    {                                                                                                        \
        K##_mem *const d = dst;                                                                              \
        const K##_mem *const s0 = src[0], *const s1 = src[1], *const s2 = src[2], *const s3 = src[3];        \
        HX_INDEPENDENT                                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                     \
            K##_val v = K##_##op(K##_load(&s0[i]), K##_load(&s1[i]));                                        \
            v = K##_##op(v, K##_load(&s2[i]));                                                               \
            v = K##_##op(v, K##_load(&s3[i]));                                                               \
            K##_store(&d[i], finish(v));                                                                     \
        }                                                                                                    \
    }

/* The kernel over the loops K_op_2 .. K_op_4. */
#define HX_FOLD(K, op)                                                                                       \
    static const hx_fold_t K##_##op##_fold = {                                                               \
        .elem_bytes = sizeof(K##_mem),                                                                       \
        .loop = {[2] = K##_##op##_2, [3] = K##_##op##_3, [4] = K##_##op##_4},                                \
    };                                                                                                       \
    static void K##_##op##_kernel(void *dst, const void *const *src, unsigned nsrc, size_t n)                \
    {                                                                                                        \
        hx_fold(&K##_##op##_fold, dst, src, nsrc, n);                                                        \
    }

#define HX_KERNEL(K, op, finish) HX_LOOPS(K, op, finish) HX_FOLD(K, op)

#define HX_AS_IS(v) (v)

#endif
