/* SPDX-License-Identifier: BSD-3-Clause */
/* hcore/clock.h - the one clock that waits, trials and reports are measured with. */
#ifndef HCORE_CLOCK_H
#define HCORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment before the process began; never goes back. */
static inline uint64_t hcore_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
