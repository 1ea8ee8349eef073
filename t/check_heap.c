/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/check_heap.c - blocks of the shared heap: size, alignment, zeroes, growing in place, reuse of what was
 * freed last, memory that goes back to the system, threads. Forks and faults are check_heap_fork.c's.
 */
#define _GNU_SOURCE
#include "hcore/heap.h"
#include "mem/heap.h"
#include "heap_pattern.h"
#include "tap.h"

#include <dirent.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1024 * KIB };

static size_t page;

/* ---- what the heap holds ---- */

static size_t used(void)
{
    hcore_heap_stats_t stats;
    hcore_heap_stats(&stats);
    return stats.used;
}

/* Bytes of memory behind the region, as the system counts them. */
static size_t system_bytes(void)
{
    heap_card_t card;
    struct stat st;
    heap_card(&card);
    return fstat(card.fd, &st) == 0 ? (size_t)st.st_blocks * 512 : 0;
}

/* ---- refusal ---- */

/* A child has a limit and starts the heap: its exit status, 0 if it is refused. */
static int start_limited(int resource, rlim_t limit)
{
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit limits = {limit, RLIM_INFINITY};
        if (setrlimit(resource, &limits) != 0) {
            _exit(2);
        }
        _exit(hcore_heap_start() == HCORE_ERR_UNSUPPORTED && !hcore_heap_alloc(page, 1, false) &&
                      !hcore_heap_owns(&limits) && hcore_heap_start() == HCORE_ERR_UNSUPPORTED
                  ? 0
                  : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status;
}

static void check_refusal(void)
{
    tap_ok(!hcore_heap_alloc(page, 1, false) && !hcore_heap_owns(&page) && !hcore_heap_owns(NULL),
           "no block before the start");
    tap_ok(start_limited(RLIMIT_AS, (rlim_t)1 << 46) == 0, "no heap where address space is limited");
    tap_ok(start_limited(RLIMIT_FSIZE, (rlim_t)1 << 40) == 0, "no heap where the size of files is limited");
}

/* ---- the region ---- */

/* What asks for all pages that are mapped (mlockall; a core dump too) must not get the region, which is as
 * large as the memory. */
static void check_lock_all(void)
{
    if (mlockall(MCL_CURRENT) != 0) {
        tap_skip("mlockall", "not allowed here");
        return;
    }
    munlockall();
    tap_ok(system_bytes() <= (size_t)256 * MIB, "mlockall does not fill the region");
}

/* ---- blocks ---- */

static void check_sizes(void)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 8 * KIB, 64 * KIB + 1, 3 * MIB};
    enum { N = sizeof sizes / sizeof *sizes };
    void *block[N];
    bool good = true, apart = true;
    const size_t before = used();
    for (size_t i = 0; i < N; i++) {
        block[i] = hcore_heap_alloc(sizes[i], 1, false);
        good = good && block[i] && (uintptr_t)block[i] % page == 0 && hcore_heap_size(block[i]) >= sizes[i] &&
               hcore_heap_size(block[i]) < sizes[i] + page + !sizes[i] && hcore_heap_owns(block[i]);
        fill(block[i], hcore_heap_size(block[i]), i << 32);
    }
    for (size_t i = 0; i < N; i++) {
        apart = apart && filled(block[i], hcore_heap_size(block[i]), i << 32);
    }
    tap_ok(good, "blocks are pages, as many as are needed");
    tap_ok(apart, "blocks do not overlap");
    for (size_t i = 0; i < N; i++) {
        hcore_heap_free(block[i]);
    }
    tap_ok(used() == before, "what was freed is no longer used");
}

static void check_alignment(void)
{
    void *block[64];
    size_t n = 0;
    bool good = true;
    for (size_t align = 1; align <= (size_t)2 * MIB; align *= 2) {
        for (size_t bytes = page; bytes <= 5 * page; bytes += 4 * page) {
            block[n] = hcore_heap_alloc(bytes, align, false);
            good = good && block[n] && (uintptr_t)block[n] % align == 0;
            n += block[n] != NULL;
        }
    }
    tap_ok(good, "alignments up to 2 MiB");
    void *vast = hcore_heap_alloc(1, (size_t)1 << 30, false);
    tap_ok(!vast || (uintptr_t)vast % ((size_t)1 << 30) == 0, "an alignment of 1 GiB, or none");
    tap_ok(!hcore_heap_alloc(1, (size_t)1 << 31, false), "2 GiB is more than there is");
    tap_ok(!hcore_heap_alloc(PTRDIFF_MAX, 1, false) && !hcore_heap_alloc(SIZE_MAX, 1, false) &&
               !hcore_heap_alloc(hcore_heap_range.bytes, 1, false),
           "more bytes than there are are refused");
    while (n-- > 0) {
        hcore_heap_free(block[n]);
    }
    if (vast) {
        hcore_heap_free(vast);
    }
}

/* Blocks taken from where old bytes lie, in part. */
static void check_zeroes(void)
{
    bool good = true;
    for (size_t i = 0; i < 20; i++) {
        const size_t bytes = (i * 7 % 20 + 1) * page;
        void *old = hcore_heap_alloc(bytes, 1, false);
        fill(old, bytes, 1);
        hcore_heap_free(old);
        void *fresh = hcore_heap_alloc(bytes / 2 + i * page, 1, true);
        good = good && fresh && zero(fresh, hcore_heap_size(fresh));
        fill(fresh, hcore_heap_size(fresh), 2);
        hcore_heap_free(fresh);
    }
    tap_ok(good, "zeroes are asked for and given");
}

static void check_resize(void)
{
    uint8_t *a = hcore_heap_alloc(4 * page, 1, false), *b = hcore_heap_alloc(4 * page, 1, false);
    if (b != a + 4 * page) { /* the two are to be neighbours */
        uint8_t *first = b < a ? b : a, *other = b < a ? a : b;
        hcore_heap_free(other);
        a = first;
        b = hcore_heap_resize(a, 8 * page) && hcore_heap_resize(a, 4 * page)
                ? hcore_heap_alloc(4 * page, 1, false)
                : NULL;
    }
    if (!tap_ok(b == a + 4 * page, "what was freed last comes first")) {
        return;
    }
    fill(a, 4 * page, 10);
    fill(b, 4 * page, 20);
    tap_ok(!hcore_heap_resize(a, 5 * page) && hcore_heap_size(a) == 4 * page && filled(b, 4 * page, 20),
           "no growth into another block");
    tap_ok(hcore_heap_resize(a, 2 * page + 1) && hcore_heap_size(a) == 3 * page, "shrinking");
    tap_ok(hcore_heap_resize(a, 4 * page) && !hcore_heap_resize(a, 4 * page + 1),
           "growth into what shrinking left");
    hcore_heap_free(b);
    tap_ok(hcore_heap_resize(a, 6 * page) && hcore_heap_resize(a, 8 * page) && hcore_heap_size(a) == 8 * page,
           "growth into what was freed");
    tap_ok(filled(a, 3 * page, 10), "contents stay");
    tap_ok(!hcore_heap_resize(a, SIZE_MAX) && !hcore_heap_resize(a, hcore_heap_range.bytes) &&
               hcore_heap_size(a) == 8 * page,
           "no growth beyond the region");
    hcore_heap_free(a);
}

static void check_reuse(void)
{
    bool good = true;
    void *keep = hcore_heap_alloc(64 * KIB, 1, false);
    for (size_t bytes = page; bytes <= 1 * MIB; bytes *= 2) {
        void *first = hcore_heap_alloc(bytes, 1, false), *wall = hcore_heap_alloc(page, 1, false);
        hcore_heap_free(first);
        void *again = hcore_heap_alloc(bytes, 1, false);
        good = good && again == first;
        hcore_heap_free(again);
        hcore_heap_free(wall);
    }
    hcore_heap_free(keep);
    tap_ok(good, "what was freed last comes back first");
}

/* Free memory beyond 256 MiB goes back; what is left reads as before or as zero, and can be used again. */
static void check_bound(void)
{
    enum { N = 9, EACH = 40 * MIB };
    uint8_t *block[N], *wall[N];
    for (int i = 0; i < N; i++) {
        block[i] = hcore_heap_alloc(EACH, 1, false);
        wall[i] = hcore_heap_alloc(page, 1, false); /* else all would be one free extent */
        for (size_t at = 0; at < EACH; at += page) {
            block[i][at] = 1;
        }
        fill(wall[i], page, (uint64_t)i);
    }
    tap_ok(system_bytes() >= (size_t)N * EACH, "memory is there when it is used");
    for (int i = 0; i < N; i++) {
        hcore_heap_free(block[i]);
    }
    hcore_heap_stats_t stats;
    hcore_heap_stats(&stats);
    tap_ok(stats.free_kept <= (size_t)256 * MIB && system_bytes() <= stats.used + stats.free_kept,
           "what is free beyond the bound goes back to the system");
    tap_ok(stats.free_kept >= (size_t)128 * MIB, "the rest stays");
    bool good = true;
    for (int i = 0; i < N; i++) {
        good = good && filled(wall[i], page, (uint64_t)i);
        block[i] = hcore_heap_alloc(EACH, 1, i % 2);
        for (size_t at = 0; at < EACH && i % 2; at += page) {
            good = good && block[i][at] == 0;
        }
    }
    tap_ok(good, "its neighbours are what they were, its pages are zero when that is asked for");
    for (int i = 0; i < N; i++) {
        hcore_heap_free(block[i]);
        hcore_heap_free(wall[i]);
    }
}

/* ---- threads ---- */

enum { THREADS = 4, SLOTS = 12, STEPS = 6000 };

static uint64_t below(uint64_t *state, uint64_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % n;
}

/* The first and the last words of a block; all of it would be memory bandwidth alone. */
static bool mark(uint64_t *block, size_t bytes, uint64_t key, bool write)
{
    const size_t last = bytes / sizeof *block - 1;
    const bool good = block[0] == key && block[last] == ~key;
    if (write) {
        block[0] = key;
        block[last] = ~key;
    }
    return good;
}

static void *hammer(void *argument)
{
    uint64_t state = (uintptr_t)argument, bad = 0;
    struct {
        uint64_t *block, key;
        size_t bytes;
    } slot[SLOTS] = {0};
    for (unsigned step = 0; step < STEPS + SLOTS; step++) {
        const size_t i = step < STEPS ? below(&state, SLOTS) : step - STEPS;
        if (slot[i].block && below(&state, 4) == 0 &&
            hcore_heap_resize(slot[i].block, slot[i].bytes + 3 * page)) {
            bad += !mark(slot[i].block, slot[i].bytes, slot[i].key, false);
            slot[i].bytes += 3 * page;
            mark(slot[i].block, slot[i].bytes, slot[i].key, true);
        } else if (slot[i].block) {
            bad += !mark(slot[i].block, slot[i].bytes, slot[i].key, false);
            hcore_heap_free(slot[i].block);
            slot[i].block = NULL;
        } else if (step < STEPS) {
            slot[i].bytes = page * (1 + below(&state, 200));
            slot[i].key = state;
            const bool zeroed = below(&state, 8) == 0;
            slot[i].block = hcore_heap_alloc(slot[i].bytes, page << below(&state, 3), zeroed);
            bad += !slot[i].block || (zeroed && !zero(slot[i].block, slot[i].bytes));
            mark(slot[i].block, slot[i].bytes, slot[i].key, true);
        }
    }
    for (size_t i = 0; i < SLOTS; i++) { /* those that grew once more in the end */
        if (slot[i].block) {
            hcore_heap_free(slot[i].block);
        }
    }
    return (void *)(uintptr_t)bad;
}

static void check_threads(void)
{
    pthread_t thread[THREADS];
    uintptr_t bad = 0;
    const size_t before = used();
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, hammer, (void *)(i + 1));
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        bad += (uintptr_t)result;
    }
    tap_ok(bad == 0, "%d threads keep what is theirs", THREADS);
    tap_ok(used() == before, "and give it all back");
}

static void check_stop(void)
{
    void *block = hcore_heap_alloc(3 * page, 1, false);
    fill(block, 3 * page, 5);
    hcore_heap_stop();
    tap_ok(!hcore_heap_alloc(page, 1, false) && filled(block, 3 * page, 5) && hcore_heap_owns(block),
           "after the stop no new blocks, and the old ones are good");
    hcore_heap_free(block);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    page = (size_t)sysconf(_SC_PAGESIZE);
    check_refusal();
    const hcore_status_t status = hcore_heap_start();
    if (status == HCORE_ERR_UNSUPPORTED) {
        tap_skip("blocks of the heap", "this system's limits do not allow one");
        return tap_done();
    }
    tap_ok(status == HCORE_OK && hcore_heap_start() == HCORE_OK, "the heap starts");
    alarm(60);
    check_lock_all();
    check_sizes();
    check_alignment();
    check_zeroes();
    check_resize();
    check_reuse();
    check_bound();
    check_threads();
    check_stop();
    return tap_done();
}
