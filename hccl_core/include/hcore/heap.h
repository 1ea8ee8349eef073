/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcore/heap.h - large blocks in memory that every rank of the host can address.
 *
 * One heap a process: a region of one memfd. Peers map it when a communicator is made, and find a block of
 * this process as the region's base in their own map plus an offset. Blocks are whole pages; what is known of them lies
 * outside the region. Freed pages are used again, the last freed first; what is free beyond a bound goes back to the system.
 *
 * fork: the child gets a private copy of all blocks as they are at the fork, and its heap serves on, shared with nobody.
 * (Threads other than the forking one that write meanwhile are not stopped, and raw clone system calls are not seen.)
 *
 * All functions may be called from any thread at any time, also before main; none calls malloc.
 */
#ifndef HCORE_HEAP_H
#define HCORE_HEAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hcore/types.h"

/* Where the region lies; `bytes` is 0 before there is one. Written once, before the first block exists: base, then bytes
 * (release; pairs with the acquire in hcore_heap_owns, so that no thread sees bytes of another base). */
typedef struct {
    _Atomic uintptr_t base;
    _Atomic size_t bytes;
} hcore_heap_range_t;
extern hcore_heap_range_t hcore_heap_range;

/* True for any address in the region. */
static inline bool hcore_heap_owns(const void *address)
{
    const size_t bytes = atomic_load_explicit(&hcore_heap_range.bytes, memory_order_acquire);
    return (uintptr_t)address - atomic_load_explicit(&hcore_heap_range.base, memory_order_relaxed) < bytes;
}

/* Where a block lies in the region, for peers. */
static inline uint64_t hcore_heap_offset(const void *block)
{
    return (uintptr_t)block - atomic_load_explicit(&hcore_heap_range.base, memory_order_relaxed);
}

/*
 * Reserves the region: address space as large as the machine's memory, no memory yet. HCORE_ERR_UNSUPPORTED where that would
 * change what the program may do (a limit on address space, data or file size, strict overcommit), HCORE_ERR_SYSTEM if the
 * system refuses. The first result stands; later calls return it.
 */
hcore_status_t hcore_heap_start(void);
/* To be called before anybody else calls pthread_atfork: other handlers may then use the heap. Later calls do nothing. */
bool hcore_heap_watch_forks(void);
/* No more new blocks; those there are stay good. Peers can still be given them. */
void hcore_heap_stop(void);

/*
 * `bytes` at a multiple of `align` (a power of two, at most 2^30; the page size is the least there is), zeroed if asked. The block
 * is the caller's until hcore_heap_free. NULL if the heap is not started, is stopped or full: take other memory then.
 */
void *hcore_heap_alloc(size_t bytes, size_t align, bool zeroed);
/* A block of this heap; anything else ends the process, as it would in the C library. */
void hcore_heap_free(void *block);
/* Usable bytes of a block. */
size_t hcore_heap_size(const void *block);
/* Grows or shrinks a block where it is; false, and nothing changed, if it can't grow. */
bool hcore_heap_resize(void *block, size_t bytes);

typedef struct {
    size_t used, free_kept; /* bytes in blocks; free bytes not given back to the system */
} hcore_heap_stats_t;
void hcore_heap_stats(hcore_heap_stats_t *stats);

#endif
