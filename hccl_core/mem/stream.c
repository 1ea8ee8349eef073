/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.c - non-temporal copies where they pay. The first copies of each size class go one way, then the other; after that the way with
 * which they came sooner one after another is kept, and looked at again from time to time, as programs have phases. What counts is not
 * the copy's own time: data that was sent past the caches is missing in them when the program, or a peer, uses it next. A choice of this
 * process alone: what is copied is the same.
 */
#include "mem/stream.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "hcore/clock.h"

#if defined(__SSE2__)
#include <emmintrin.h>

enum { STREAM_STEP = 64 };

/* The fence makes the stores visible before any later flag. */
static void copy_past(uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
    uint64_t i = -(uintptr_t)dst % STREAM_STEP;
    i = i < bytes ? i : bytes;
    memcpy(dst, src, i);
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
static void copy_past(uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
    memcpy(dst, src, bytes);
}
#endif

enum {
    CLASSES = 64,          /* of size: powers of two */
    ROW = 12, WARM = 4,    /* tries of one way in a row; the first find the caches as the other way, or nobody, left them */
    TRIES = 2 * ROW,       /* plain, then past the caches */
    LESS = 3, LESS_OF = 4, /* part of the time that is a gain worth what it costs whoever reads the data next */
    AGAIN_AFTER = 16384    /* copies, then both ways are tried again */
};

/* All relaxed: threads that copy at the same time may mix up a try, which costs speed alone. */
typedef struct {
    _Atomic uint32_t copies; /* since the tries began */
    _Atomic uint64_t began;   /* when the last try did, nanoseconds */
    _Atomic uint64_t cost[2]; /* picoseconds a byte from try to try, summed; [true] past the caches */
} way_t;

static way_t ways[CLASSES];

static void copy_either(bool past, uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
    if (past) {
        copy_past(dst, src, bytes);
    } else {
        memcpy(dst, src, bytes);
    }
}

static uint64_t cost_of(way_t *way, bool past)
{
    return atomic_load_explicit(&way->cost[past], memory_order_relaxed);
}

static void try_copy(way_t *way, uint32_t copy, uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
    enum { PS_PER_NS = 1000 };
    const bool past = copy >= ROW;
    const uint64_t now = hcore_now_ns(), passed = now - atomic_load_explicit(&way->began, memory_order_relaxed);
    atomic_store_explicit(&way->began, now, memory_order_relaxed);
    if (copy % ROW >= WARM) {
        atomic_fetch_add_explicit(&way->cost[past], passed * PS_PER_NS / bytes, memory_order_relaxed);
    }
    copy_either(past, dst, src, bytes);
}

void stream_copy(uint8_t *dst, const uint8_t *src, uint64_t bytes)
{
    way_t *way = &ways[63 - __builtin_clzll(bytes | 1)];
    const uint32_t copy = atomic_load_explicit(&way->copies, memory_order_relaxed);
    atomic_store_explicit(&way->copies, copy + 1, memory_order_relaxed);
    if (copy < TRIES && bytes > 0) {
        try_copy(way, copy, dst, src, bytes);
        return;
    }
    copy_either(cost_of(way, true) * LESS_OF < cost_of(way, false) * LESS, dst, src, bytes);
    if (copy >= AGAIN_AFTER) {
        atomic_store_explicit(&way->cost[false], 0, memory_order_relaxed);
        atomic_store_explicit(&way->cost[true], 0, memory_order_relaxed);
        atomic_store_explicit(&way->copies, 0, memory_order_relaxed);
    }
}
