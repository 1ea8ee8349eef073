/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * malloc.c - the allocation functions of the C library, as the program calls them: large blocks come from the shared heap of the
 * core (hcore/heap.h) once the process is known to have an MPI of our ABI, all others, and everything in other processes, from
 * the next library that has the function.
 *
 * The addresses of the next library's functions are looked up at the first call of any. A look-up may itself allocate; what it
 * takes comes from a small reserve that is never given back.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hcore/heap.h"
#include "mpi_shim/shim.h"

enum {
    LEAST_BLOCK = 8 * 1024,  /* what is smaller is copied faster than agreed upon, and there are many of them */
    RESERVE_BYTES = 8 * 1024,
    RESERVE_ALIGN = 16
};

static atomic_bool serving; /* relaxed: a block from either side is good */

/* ---- the next library's functions ---- */

typedef struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
} next_t;

static next_t next;
static atomic_bool found; /* release after `next` is filled; pairs with the acquire in find_next */
static __thread bool looking __attribute__((tls_model("initial-exec")));

static void look_up(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } names[] = {
#define NAME(f) {#f, offsetof(next_t, f)}
        NAME(malloc), NAME(calloc), NAME(realloc), NAME(free), NAME(memalign), NAME(aligned_alloc), NAME(posix_memalign),
        NAME(valloc), NAME(pvalloc), NAME(malloc_usable_size),
#undef NAME
    };
    next_t now;
    hcore_heap_watch_forks(); /* here, as constructors of other libraries come before ours */
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *address = shim_real_dlsym(RTLD_NEXT, names[i].name);
        memcpy((char *)&now + names[i].offset, &address, sizeof(address));
    }
    next = now; /* threads that come here together write the same */
    atomic_store_explicit(&found, true, memory_order_release);
}

/* NULL while this thread is looking them up. */
static inline const next_t *find_next(void)
{
    if (__builtin_expect(atomic_load_explicit(&found, memory_order_acquire), 1)) {
        return &next;
    }
    if (looking) {
        return NULL;
    }
    looking = true;
    look_up();
    looking = false;
    return &next;
}

static struct {
    _Alignas(RESERVE_ALIGN) uint8_t bytes[RESERVE_BYTES];
    atomic_size_t used;
} reserve;

static bool in_reserve(const void *block)
{
    return (uintptr_t)block - (uintptr_t)reserve.bytes < RESERVE_BYTES;
}

/* Zero, as it is never used twice. */
static void *take_reserve(size_t bytes)
{
    const size_t room = (bytes + RESERVE_ALIGN - 1) / RESERVE_ALIGN * RESERVE_ALIGN;
    const size_t at = atomic_fetch_add_explicit(&reserve.used, room, memory_order_relaxed);
    return room >= bytes && at < RESERVE_BYTES && room <= RESERVE_BYTES - at ? reserve.bytes + at : NULL;
}

/* ---- the heap ---- */

static __thread bool resting __attribute__((tls_model("initial-exec")));

bool shim_heap_rest(bool on)
{
    const bool before = resting;
    resting = on;
    return before;
}

/* NULL: not for the heap, or it has no room. */
static inline void *from_heap(size_t bytes, size_t align, bool zeroed)
{
    if (__builtin_expect(bytes < LEAST_BLOCK, 1) || !atomic_load_explicit(&serving, memory_order_relaxed) || resting) {
        return NULL;
    }
    const int saved = errno;
    void *block = bytes <= PTRDIFF_MAX && hcore_heap_start() == HCORE_OK ? hcore_heap_alloc(bytes, align, zeroed) : NULL;
    errno = saved;
    return block;
}

void shim_heap_serve(bool on)
{
    atomic_store_explicit(&serving, on, memory_order_relaxed);
}

/* ---- what the program calls ---- */

SHIM_EXPORT void *malloc(size_t bytes)
{
    void *block = from_heap(bytes, 1, false);
    if (block) {
        return block;
    }
    const next_t *n = find_next();
    return n ? n->malloc(bytes) : take_reserve(bytes);
}

SHIM_EXPORT void *calloc(size_t count, size_t size)
{
    size_t bytes;
    const bool fits = !__builtin_mul_overflow(count, size, &bytes);
    void *block = fits ? from_heap(bytes, 1, true) : NULL;
    if (block) {
        return block;
    }
    const next_t *n = find_next();
    return n ? n->calloc(count, size) : fits ? take_reserve(bytes) : NULL;
}

SHIM_EXPORT void free(void *block)
{
    if (__builtin_expect(hcore_heap_owns(block), 0)) {
        hcore_heap_free(block);
    } else if (block && !in_reserve(block)) {
        const next_t *n = find_next();
        if (n) { /* else the look-up itself frees something older than us: lost */
            n->free(block);
        }
    }
}

/* Whatever has the block, a new one has the bytes. */
static void *move(void *block, size_t old, size_t bytes)
{
    void *other = malloc(bytes);
    if (other) {
        memcpy(other, block, old < bytes ? old : bytes);
        free(block);
    }
    return other;
}

static void *realloc_heap(void *block, size_t bytes)
{
    if (bytes == 0) {
        hcore_heap_free(block);
        return NULL;
    }
    const size_t old = hcore_heap_size(block);
    if (bytes >= LEAST_BLOCK && hcore_heap_resize(block, bytes)) {
        return block;
    }
    void *other = move(block, old, bytes);
    return other != NULL || bytes > old ? other : block; /* shrinking never fails */
}

SHIM_EXPORT void *realloc(void *block, size_t bytes)
{
    if (!block) {
        return malloc(bytes);
    }
    if (hcore_heap_owns(block)) {
        return realloc_heap(block, bytes);
    }
    if (in_reserve(block)) {
        return move(block, (size_t)(reserve.bytes + RESERVE_BYTES - (uint8_t *)block), bytes);
    }
    const next_t *n = find_next();
    void *other = from_heap(bytes, 1, false);
    if (!other) {
        return n->realloc(block, bytes);
    }
    const size_t old = n->malloc_usable_size(block);
    memcpy(other, block, old < bytes ? old : bytes);
    n->free(block);
    return other;
}

SHIM_EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

/* Alignments that are none are the next library's to refuse. */
static bool plain(size_t align)
{
    return align > 0 && (align & (align - 1)) == 0;
}

SHIM_EXPORT void *memalign(size_t align, size_t bytes)
{
    void *block = plain(align) ? from_heap(bytes, align, false) : NULL;
    return block ? block : find_next()->memalign(align, bytes);
}

SHIM_EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    void *block = plain(align) ? from_heap(bytes, align, false) : NULL;
    return block ? block : find_next()->aligned_alloc(align, bytes);
}

SHIM_EXPORT int posix_memalign(void **out, size_t align, size_t bytes)
{
    void *block = plain(align) && align % sizeof(void *) == 0 ? from_heap(bytes, align, false) : NULL;
    if (!block) {
        return find_next()->posix_memalign(out, align, bytes);
    }
    *out = block;
    return 0;
}

SHIM_EXPORT void *valloc(size_t bytes)
{
    void *block = from_heap(bytes, 1, false); /* pages anyway */
    return block ? block : find_next()->valloc(bytes);
}

SHIM_EXPORT void *pvalloc(size_t bytes)
{
    void *block = from_heap(bytes, 1, false);
    return block ? block : find_next()->pvalloc(bytes);
}

SHIM_EXPORT size_t malloc_usable_size(void *block)
{
    if (hcore_heap_owns(block)) {
        return hcore_heap_size(block);
    }
    if (!block || in_reserve(block)) {
        return 0;
    }
    return find_next()->malloc_usable_size(block);
}
