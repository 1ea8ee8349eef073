/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.h - copying into memory that only peers will read. They have its lines in their caches from the last time; a
 * plain store must first take each line back, a non-temporal one need not. Measured on two cores that share no level-2
 * cache: 15 to 20 % less time for a one-shot AllReduce of 4 and 8 KiB, 5 % at 16 KiB; a loss below and above.
 */
#ifndef HCORE_AIV_STREAM_H
#define HCORE_AIV_STREAM_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

enum { STREAM_FROM = 3 * 1024, STREAM_UPTO = 16 * 1024, STREAM_STEP = 64 };

/* dst is aligned to a cache line. The fence makes the stores visible before any later flag. */
static inline void stream_copy(uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
    uint64_t i = 0;
    if (bytes < STREAM_FROM || bytes > STREAM_UPTO) {
        memcpy(dst, src, bytes);
        return;
    }
    for (; i + STREAM_STEP <= bytes; i += STREAM_STEP) {
        const __m128i a = _mm_loadu_si128((const void *)(src + i)), b = _mm_loadu_si128((const void *)(src + i + 16));
        const __m128i c = _mm_loadu_si128((const void *)(src + i + 32)),
                      d = _mm_loadu_si128((const void *)(src + i + 48));
        _mm_stream_si128((void *)(dst + i), a);
        _mm_stream_si128((void *)(dst + i + 16), b);
        _mm_stream_si128((void *)(dst + i + 32), c);
        _mm_stream_si128((void *)(dst + i + 48), d);
    }
    memcpy(dst + i, src + i, bytes - i);
    _mm_sfence();
}
#else
static inline void stream_copy(uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
    memcpy(dst, src, bytes);
}
#endif

#endif
