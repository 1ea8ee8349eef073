/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap.c - the region of hcore/heap.h: its making, its blocks, its end in a forked child.
 *
 * Locking: `lock` guards the extents and is held over fork. `hcore_heap_range` and the fields of `heap` outside the extents are
 * written once, before `state` says READY (release; pairs with the acquire in ready), except in a forked child, which has one thread.
 */
#define _GNU_SOURCE
#include "mem/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hcore/log.h"
#include "mem/extents.h"

enum {
    KEEP_BYTES = 256 << 20,  /* of free pages that stay with the process */
    KEEP_AFTER = 192 << 20,  /* what is left of them when the bound was passed */
    REACH_STEP = 64 << 20,   /* see reach */
    MOST_ALIGN = 1 << 30
};

typedef enum { FRESH, READY, REFUSED } state_t;

static struct {
    extents_t extents;
    uint8_t *base;
    size_t page; /* bytes */
    uint64_t id;
    int fd;
    struct stat file; /* what `fd` was made as: a program may close it, and open another file of that number */
    uint32_t reached; /* pages that can be used; see reach */
    bool shared;    /* false in a forked child */
    uint8_t *copy;  /* while forking: what the child will see */
    size_t copied;  /* bytes of it */
} heap = {.fd = -1};

hcore_heap_range_t hcore_heap_range;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic state_t state = FRESH;
static atomic_bool stopped;

static bool ready(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == READY;
}

/* ---- making ---- */

static bool limited(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* With strict accounting a page of a memfd that can't be had is a signal, not a NULL from malloc. */
static bool strict_overcommit(void)
{
    char mode = '0';
    int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t got = read(fd, &mode, 1);
        (void)got; /* unknown: the default */
        close(fd);
    }
    return mode == '2';
}

static void *reserve(size_t bytes, int flags, int fd)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_NORESERVE | flags, fd, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* Blocks are aligned by page number: so the region's first page has the largest alignment there is. */
static void *reserve_region(size_t bytes, int fd)
{
    uint8_t *room = mmap(NULL, bytes + MOST_ALIGN, PROT_NONE, MAP_NORESERVE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        return NULL;
    }
    const size_t before = -(uintptr_t)room % MOST_ALIGN, after = MOST_ALIGN - before;
    void *base = mmap(room + before, bytes, PROT_NONE, MAP_NORESERVE | MAP_SHARED | MAP_FIXED, fd, 0);
    if (before > 0) {
        munmap(room, before);
    }
    munmap(room + before + bytes, after);
    return base == MAP_FAILED ? NULL : base;
}

/* As many bytes as the machine has, in pages that a 32-bit number can count. */
static size_t region_bytes(size_t page)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const uint64_t most = UINT32_MAX / 2;
    return (pages <= 0 ? most : (uint64_t)pages > most ? most : (uint64_t)pages) * page;
}

static uint8_t *at(uint32_t page)
{
    return heap.base + (size_t)page * heap.page;
}

/*
 * Makes the pages before `end` usable, in large steps. What a core dump or mlockall finds usable in shared memory it fills, used or
 * not: that must not be the whole region.
 */
static bool reach(uint32_t end)
{
    if (!heap.shared || end <= heap.reached) {
        return true;
    }
    const uint32_t step = (uint32_t)(REACH_STEP / heap.page), room = heap.extents.pages - heap.reached;
    const uint32_t more = (end - heap.reached + step - 1) / step * step, count = more < room ? more : room;
    const size_t bytes = (size_t)count * heap.page;
    if (mprotect(at(heap.reached), bytes, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    madvise(at(heap.reached), bytes, MADV_DODUMP);
    heap.reached += count;
    return true;
}

static hcore_status_t make_region(void)
{
    heap.page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t bytes = region_bytes(heap.page);
    const uint32_t pages = (uint32_t)(bytes / heap.page);
    heap.fd = memfd_create("hccl-shim-heap", MFD_CLOEXEC);
    if (heap.fd < 0 || ftruncate(heap.fd, (off_t)bytes) != 0) {
        return HCORE_ERR_SYSTEM;
    }
    heap.base = reserve_region(bytes, heap.fd);
    extent_page_t *page = reserve(pages * sizeof(*page), MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (!heap.base || !page || fstat(heap.fd, &heap.file) != 0 ||
        getrandom(&heap.id, sizeof(heap.id), GRND_NONBLOCK) != sizeof(heap.id)) {
        return HCORE_ERR_SYSTEM;
    }
    munlock(heap.base, bytes);                /* mlockall may have asked for all that is mapped later */
    madvise(heap.base, bytes, MADV_HUGEPAGE); /* where the system allows it for shared memory */
    madvise(heap.base, bytes, MADV_DONTDUMP);
    madvise(page, pages * sizeof(*page), MADV_DONTDUMP);
    extents_init(&heap.extents, page, pages);
    heap.shared = true;
    if (!reach(1)) {
        return HCORE_ERR_SYSTEM;
    }
    memcpy(heap.base, &heap.id, sizeof(heap.id)); /* page 0 is never given out */
    atomic_store_explicit(&hcore_heap_range.base, (uintptr_t)heap.base, memory_order_relaxed);
    atomic_store_explicit(&hcore_heap_range.bytes, bytes, memory_order_release);
    return HCORE_OK;
}

static hcore_status_t start_locked(void)
{
    if (limited(RLIMIT_AS) || limited(RLIMIT_DATA) || limited(RLIMIT_FSIZE) || strict_overcommit()) {
        return HCORE_ERR_UNSUPPORTED;
    }
    const int saved = errno;
    if (!hcore_heap_watch_forks()) {
        return HCORE_ERR_SYSTEM;
    }
    hcore_status_t status = make_region();
    if (status != HCORE_OK && heap.fd >= 0) {
        close(heap.fd); /* address space that was reserved is not worth the trouble */
        heap.fd = -1;
        heap.shared = false;
    }
    errno = saved;
    return status;
}

hcore_status_t hcore_heap_start(void)
{
    static hcore_status_t result; /* written before `state` leaves FRESH */
    if (atomic_load_explicit(&state, memory_order_acquire) == FRESH) {
        pthread_mutex_lock(&lock);
        if (atomic_load_explicit(&state, memory_order_relaxed) == FRESH) {
            result = start_locked();
            atomic_store_explicit(&state, result == HCORE_OK ? READY : REFUSED, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return result;
}

void hcore_heap_stop(void)
{
    atomic_store_explicit(&stopped, true, memory_order_relaxed); /* a block more or less does no harm */
}

/* ---- blocks ---- */

static uint32_t pages_of(size_t bytes)
{
    const size_t pages = bytes / heap.page + (bytes % heap.page != 0);
    return pages > UINT32_MAX ? UINT32_MAX : pages ? (uint32_t)pages : 1;
}

/* Gives pages back to the system; they read as zero afterwards. */
static bool discard(uint32_t from, uint32_t to)
{
    return madvise(at(from), (size_t)(to - from) * heap.page, heap.shared ? MADV_REMOVE : MADV_DONTNEED) == 0;
}

static bool above(uint64_t bytes)
{
    return (uint64_t)heap.extents.dirty * heap.page > bytes;
}

/* One dirty extent less; false if there is none, or it could not be done. The system is called without the lock: MPIs hook madvise to
 * hear of memory that goes, and may allocate or free in there. */
static bool clean_one(void)
{
    extents_taken_t taken = {EXTENTS_NONE, 0, 0};
    pthread_mutex_lock(&lock);
    const uint32_t first = above(KEEP_AFTER) ? extents_next_dirty(&heap.extents) : EXTENTS_NONE;
    if (first != EXTENTS_NONE) {
        extents_claim(&heap.extents, first, &taken);
    }
    pthread_mutex_unlock(&lock);
    if (first == EXTENTS_NONE) {
        return false;
    }
    const bool clean = discard(taken.dirty_from, taken.dirty_to);
    pthread_mutex_lock(&lock);
    extents_unclaim(&heap.extents, &taken, clean);
    pthread_mutex_unlock(&lock);
    return clean;
}

/* After blocks were given back. */
static void keep_bound(bool passed)
{
    while (passed && clean_one()) {
    }
}

void *hcore_heap_alloc(size_t bytes, size_t align, bool zeroed)
{
    if (!ready() || atomic_load_explicit(&stopped, memory_order_relaxed) || align > MOST_ALIGN) {
        return NULL;
    }
    extents_taken_t taken;
    pthread_mutex_lock(&lock);
    bool good = extents_take(&heap.extents, pages_of(bytes), pages_of(align), &taken);
    if (good && !reach(taken.first + pages_of(bytes))) {
        extents_give(&heap.extents, taken.first);
        good = false;
    }
    pthread_mutex_unlock(&lock);
    if (!good) {
        return NULL;
    }
    if (zeroed && taken.dirty_from < taken.dirty_to) {
        memset(at(taken.dirty_from), 0, (size_t)(taken.dirty_to - taken.dirty_from) * heap.page);
    }
    return at(taken.first);
}

/* A block begins at the address; under the lock. */
static bool is_block(const void *block)
{
    const size_t offset = (uintptr_t)block - hcore_heap_range.base;
    if (!hcore_heap_owns(block) || offset < heap.page || offset % heap.page != 0) {
        return false;
    }
    const extent_page_t *x = &heap.extents.page[offset / heap.page];
    return x->pages > 0 && !x->free;
}

/* The first page of the block that begins at the address; the rest is a fault of the program, found while the lock is held. */
static uint32_t check_block(const void *block)
{
    if (!is_block(block)) {
        pthread_mutex_unlock(&lock); /* the program's handler of the abort may need memory */
        fprintf(stderr, "hccl-shim: invalid pointer %p\n", (void *)(uintptr_t)block);
        abort();
    }
    return (uint32_t)(((uintptr_t)block - hcore_heap_range.base) / heap.page);
}

void hcore_heap_free(void *block)
{
    const int saved = errno; /* free() leaves it alone */
    pthread_mutex_lock(&lock);
    extents_give(&heap.extents, check_block(block));
    const bool passed = above(KEEP_BYTES);
    pthread_mutex_unlock(&lock);
    keep_bound(passed);
    errno = saved;
}

size_t hcore_heap_size(const void *block)
{
    pthread_mutex_lock(&lock);
    const size_t pages = heap.extents.page[check_block(block)].pages;
    pthread_mutex_unlock(&lock);
    return pages * heap.page;
}

bool hcore_heap_resize(void *block, size_t bytes)
{
    pthread_mutex_lock(&lock);
    const uint32_t first = check_block(block), old = heap.extents.page[first].pages;
    bool good = extents_resize(&heap.extents, first, pages_of(bytes));
    if (good && !reach(first + pages_of(bytes))) {
        extents_resize(&heap.extents, first, old);
        good = false;
    }
    const bool passed = above(KEEP_BYTES);
    pthread_mutex_unlock(&lock);
    keep_bound(passed);
    return good;
}

void hcore_heap_stats(hcore_heap_stats_t *stats)
{
    pthread_mutex_lock(&lock);
    stats->used = heap.extents.used * heap.page;
    stats->free_kept = heap.extents.dirty * heap.page;
    pthread_mutex_unlock(&lock);
}

static bool has_fd(void)
{
    struct stat now;
    return heap.fd >= 0 && fstat(heap.fd, &now) == 0 && now.st_dev == heap.file.st_dev && now.st_ino == heap.file.st_ino;
}

/* What can't be shared, because it is a forked child's or its descriptor is gone, may hold blocks all the same: a card
 * that leads nowhere keeps all ranks from using heaps. */
void heap_card(heap_card_t *card)
{
    *card = (heap_card_t){0};
    if (ready()) {
        const int saved = errno, fd = heap.shared && has_fd() ? heap.fd : -1;
        *card = (heap_card_t){heap.id, (uint64_t)(uintptr_t)heap.base, hcore_heap_range.bytes, fd, (int32_t)getpid()};
        errno = saved;
    }
}

/* ---- fork ---- */

/* Copies the parts of [from, to) that have memory. Pages that were never touched have none, in the copy neither; without the
 * descriptor nobody knows which. */
static void copy_touched(size_t from, size_t to, bool known)
{
    if (!known) {
        memcpy(heap.copy + from, heap.base + from, to - from);
        return;
    }
    while (from < to) {
        off_t data = lseek(heap.fd, (off_t)from, SEEK_DATA);
        if (data < 0 || (size_t)data >= to) {
            return;
        }
        off_t hole = lseek(heap.fd, data, SEEK_HOLE);
        size_t end = hole < 0 || (size_t)hole > to ? to : (size_t)hole;
        memcpy(heap.copy + data, heap.base + data, end - (size_t)data);
        from = end;
    }
}

/* Up to here blocks have been used; the pages after it were never given out or are free. */
static uint32_t last_used(void)
{
    const extents_t *e = &heap.extents;
    const uint32_t last = e->page[e->pages - 1].first;
    return e->page[last].free ? last : e->pages;
}

/*
 * The child's memory is copied before the fork, in the parent: whatever the parent does later, and however late the child
 * runs, the copy is what both had at the fork. A child that execs at once pays for it too; posix_spawn and vfork do not come here.
 */
static void fork_prepare(void)
{
    const int saved = errno;
    pthread_mutex_lock(&lock);
    if (!heap.shared) {
        return;
    }
    const bool known = has_fd();
    heap.copied = (size_t)last_used() * heap.page;
    heap.copy = reserve(heap.copied, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    for (uint32_t i = 0; heap.copy && i < last_used(); i += heap.extents.page[i].pages) {
        if (!heap.extents.page[i].free) {
            copy_touched((size_t)i * heap.page, ((size_t)i + heap.extents.page[i].pages) * heap.page, known);
        }
    }
    errno = saved;
}

static void fork_parent(void)
{
    if (heap.copy) {
        munmap(heap.copy, heap.copied);
        heap.copy = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/*
 * The system calls themselves: MPIs put hooks into the C library's functions, which may wait for a lock of a thread that the child
 * does not have, and (UCX) lose mremap's last argument.
 */
static bool map_private(uint8_t *from, size_t bytes, int fd)
{
    const int flags = MAP_FIXED | MAP_NORESERVE | MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0);
    return syscall(SYS_mmap, from, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)0) == (long)from;
}

/* The copy takes the place of the region. */
static bool become_copy(void)
{
    const long flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    if (!map_private(heap.base, hcore_heap_range.bytes, -1)) {
        return false;
    }
    if (syscall(SYS_mremap, heap.copy, heap.copied, heap.copied, flags, heap.base) != (long)heap.base) {
        memcpy(heap.base, heap.copy, heap.copied);
    }
    return true;
}

/* Without memory for the copy the child keeps pages of the parent until it writes them: the best that is left. What would write
 * into the parent's memory is no child of it. */
static void fork_child(void)
{
    if (heap.shared) {
        if (heap.copy ? !become_copy() : !has_fd() || !map_private(heap.base, hcore_heap_range.bytes, heap.fd)) {
            abort();
        }
        if (has_fd()) {
            close(heap.fd);
        }
        heap.fd = -1;
        heap.copy = NULL;
        heap.shared = false;
    }
    pthread_mutex_unlock(&lock);
}

/* Handlers registered first run last before a fork and first after it: those of others find a heap that serves, and in the child the
 * child's own. */
bool hcore_heap_watch_forks(void)
{
    static atomic_bool watched;
    return atomic_exchange_explicit(&watched, true, memory_order_relaxed) ||
           pthread_atfork(fork_prepare, fork_parent, fork_child) == 0;
}

__attribute__((constructor)) static void watch_early(void)
{
    hcore_heap_watch_forks();
}
