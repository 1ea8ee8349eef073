/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/heap_malloc.c - the allocation functions as C, POSIX and glibc have them, for sizes on both sides of
 * those that come from the shared heap; MPI_Alloc_mem; other processes while blocks are live.
 *
 * usage: heap_malloc [heap|none|forked|closed]: large blocks come from the heap (the default); they do not,
 * as a limit is in force; MPI runs in a forked child of the process that allocated; the heap's descriptor is
 * another file's.
 */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60, KIB = 1024, MIB = 1024 * KIB };

extern char **environ;

static const size_t sizes[] = {1,           100,          4 * KIB,     8 * KIB - 1,  8 * KIB,
                               8 * KIB + 1, 16 * KIB - 1, 16 * KIB,    16 * KIB + 1, 20 * KIB + 7,
                               64 * KIB,    128 * KIB,    1 * MIB + 3, 5 * MIB};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Known to the compiler they would be warned of, or left out. */
static volatile size_t huge[] = {SIZE_MAX / 2, (size_t)PTRDIFF_MAX + 1, SIZE_MAX, SIZE_MAX - 4096,
                                 (size_t)1 << 46};
enum { HUGES = sizeof huge / sizeof *huge };

/* A block that could not be resized is still there: compilers do not believe it. */
static void *(*volatile resize)(void *, size_t) = realloc;
static void *(*volatile resize_array)(void *, size_t, size_t) = reallocarray;

static uintptr_t heap_from, heap_to;

/* Before MPI_Init: later there are maps of other ranks' heaps too. */
static void find_heap(void)
{
    char line[512];
    void *volatile block = malloc(64 * KIB);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (strstr(line, "memfd:hccl-shim-heap") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
            heap_from = heap_from ? heap_from : from;
            heap_to = to;
        }
    }
    if (maps) {
        fclose(maps);
    }
    free(block);
}

static bool in_heap(const void *block)
{
    return (uintptr_t)block - heap_from < heap_to - heap_from;
}

static void fill(void *block, size_t bytes, unsigned key)
{
    unsigned char *p = block;
    for (size_t i = 0; i < bytes; i++) {
        p[i] = (unsigned char)(key + i * 7 + i / 251);
    }
}

static bool filled(const void *block, size_t bytes, unsigned key)
{
    const unsigned char *p = block;
    size_t i = 0;
    while (i < bytes && p[i] == (unsigned char)(key + i * 7 + i / 251)) {
        i++;
    }
    return i == bytes;
}

static bool zero(const void *block, size_t bytes)
{
    const unsigned char *p = block;
    return bytes == 0 || (p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0);
}

/* ---- malloc, calloc, free ---- */

static void check_malloc(void)
{
    unsigned char *block[SIZES];
    for (unsigned i = 0; i < SIZES; i++) {
        block[i] = malloc(sizes[i]);
        t_check(block[i] && (uintptr_t)block[i] % _Alignof(max_align_t) == 0, "malloc(%zu): %p", sizes[i],
                (void *)block[i]);
        t_check(malloc_usable_size(block[i]) >= sizes[i], "malloc_usable_size of %zu is %zu", sizes[i],
                malloc_usable_size(block[i]));
        fill(block[i], malloc_usable_size(block[i]), i);
    }
    for (unsigned i = 0; i < SIZES; i++) {
        t_check(filled(block[i], malloc_usable_size(block[i]), i), "a block of %zu changed", sizes[i]);
        errno = 77;
        free(block[i]);
        t_check(errno == 77, "free of %zu bytes sets errno", sizes[i]);
    }
    errno = 77;
    free(NULL);
    t_check(errno == 77 && malloc_usable_size(NULL) == 0, "NULL is a block");
    void *volatile nothing = malloc(0);
    t_check(nothing != NULL, "malloc(0)");
    free(nothing);
}

static void check_calloc(void)
{
    for (unsigned i = 0; i < SIZES; i++) {
        unsigned char *dirty = malloc(sizes[i]);
        memset(dirty, 0xff, malloc_usable_size(dirty));
        free(dirty);
        unsigned char *clean = calloc(sizes[i], 1);
        t_check(clean && zero(clean, sizes[i]), "calloc of %zu bytes is not zero", sizes[i]);
        memset(clean, 0xff, sizes[i]);
        free(clean);
        clean = calloc(3, sizes[i]);
        t_check(clean && zero(clean, 3 * sizes[i]), "calloc of 3 times %zu bytes is not zero", sizes[i]);
        free(clean);
    }
}

static bool refused(void *block)
{
    const bool good = block == NULL && errno == ENOMEM;
    free(block);
    errno = 0;
    return good;
}

static void check_huge(void)
{
    void *kept = malloc(20 * KIB), *small = malloc(20), *out = &out;
    fill(kept, 20 * KIB, 9);
    for (unsigned i = 0; i < HUGES; i++) {
        errno = 0;
        t_check(refused(malloc(huge[i])), "malloc(%zu)", huge[i]);
        t_check(refused(calloc(huge[i], 1)) && refused(calloc(huge[i], 4)) && refused(calloc(3, huge[i])),
                "calloc(%zu)", huge[i]);
        t_check(refused(realloc(NULL, huge[i])), "realloc(NULL, %zu)", huge[i]);
        t_check(resize(kept, huge[i]) == NULL && errno == ENOMEM, "realloc(large, %zu)", huge[i]);
        t_check(resize(small, huge[i]) == NULL && errno == ENOMEM, "realloc(small, %zu)", huge[i]);
        t_check(resize_array(kept, huge[i], 16) == NULL && errno == ENOMEM, "reallocarray(large, %zu, 16)",
                huge[i]);
        errno = 0;
        t_check(refused(memalign(8192, huge[i])) && refused(aligned_alloc(4096, huge[i])), "aligned, %zu",
                huge[i]);
        t_check(refused(valloc(huge[i])) && refused(pvalloc(huge[i])), "valloc, pvalloc(%zu)", huge[i]);
        t_check(posix_memalign(&out, 64, huge[i]) == ENOMEM && out == &out, "posix_memalign of %zu", huge[i]);
    }
    t_check(filled(kept, 20 * KIB, 9), "a block that could not grow changed");
    free(kept);
    free(small);
}

/* ---- realloc ---- */

static void check_realloc(void)
{
    for (unsigned i = 0; i < SIZES; i++) {
        for (unsigned k = 0; k < SIZES; k++) {
            const size_t least = sizes[i] < sizes[k] ? sizes[i] : sizes[k];
            void *block = malloc(sizes[i]);
            fill(block, sizes[i], i);
            block = k % 2 ? realloc(block, sizes[k]) : reallocarray(block, 1, sizes[k]);
            t_check(block && filled(block, least, i) && malloc_usable_size(block) >= sizes[k],
                    "realloc from %zu to %zu bytes", sizes[i], sizes[k]);
            fill(block, sizes[k], k);
            void *again = realloc(block, sizes[i]);
            t_check(again && filled(again, least, k), "realloc from %zu back to %zu bytes", sizes[k],
                    sizes[i]);
            free(again);
        }
    }
    for (unsigned i = 0; i < SIZES; i++) {
        void *block = realloc(NULL, sizes[i]);
        t_check(block && malloc_usable_size(block) >= sizes[i], "realloc(NULL, %zu)", sizes[i]);
        const size_t none = huge[0] & 1 ? 0 : 1; /* SIZE_MAX / 2 is odd: 0, unknown to the compiler */
        t_check(realloc(block, none) == NULL, "realloc of %zu bytes to 0 frees", sizes[i]);
    }
}

/* A block that grows step by step, as that of a growing string, among others that come and go. */
static void check_growing(void)
{
    unsigned char *grown = NULL;
    bool good = true;
    for (size_t bytes = 1000; bytes <= 300 * KIB; bytes += 1000) {
        grown = realloc(grown, bytes);
        void *volatile other = malloc(bytes % 7 ? bytes : 100);
        good = good && grown && filled(grown, bytes - 1000, 3);
        fill(grown, bytes, 3);
        free(other);
    }
    t_check(good, "a block that grows by 1000 bytes");
    free(grown);
}

/* ---- alignment ---- */

static void check_aligned_block(void *block, size_t align, size_t bytes, const char *name)
{
    t_check(block && (uintptr_t)block % align == 0 && malloc_usable_size(block) >= bytes, "%s(%zu, %zu): %p",
            name, align, bytes, block);
    if (block) {
        memset(block, 0x77, bytes);
    }
    free(block);
}

static void check_alignment(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < SIZES; i++) {
        for (size_t align = sizeof(void *); align <= (size_t)4 * MIB; align *= 2) {
            void *block = NULL;
            t_check(posix_memalign(&block, align, sizes[i]) == 0, "posix_memalign(%zu, %zu)", align,
                    sizes[i]);
            check_aligned_block(block, align, sizes[i], "posix_memalign");
            check_aligned_block(memalign(align, sizes[i]), align, sizes[i], "memalign");
            const size_t whole = (sizes[i] + align - 1) / align * align;
            check_aligned_block(aligned_alloc(align, whole), align, whole, "aligned_alloc");
        }
        check_aligned_block(valloc(sizes[i]), page, sizes[i], "valloc");
        check_aligned_block(pvalloc(sizes[i]), page, (sizes[i] + page - 1) / page * page, "pvalloc");
    }
}

static void check_bad_alignment(void)
{
    volatile size_t bad[] = {0, 1, 2, 4, 12, 24, 4095, 8192 + 8};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (size_t bytes = 100; bytes < (size_t)100 * KIB; bytes *= 30) {
            void *block = &block;
            t_check(posix_memalign(&block, bad[i], bytes) == EINVAL && block == &block,
                    "posix_memalign(%zu, %zu)", bad[i], bytes);
        }
    }
    volatile size_t odd = 8191;
    void *block = memalign(odd, 20 * KIB); /* rounded up */
    t_check(block && (uintptr_t)block % 8192 == 0, "memalign(%zu) of 20 KiB: %p", odd, block);
    free(block);
}

/* A realloc keeps contents, whatever the alignment was. */
static void check_aligned_realloc(void)
{
    for (unsigned i = 0; i < SIZES; i++) {
        void *block = NULL;
        t_check(posix_memalign(&block, 64 * KIB, 10 * KIB) == 0, "posix_memalign");
        fill(block, 10 * KIB, i);
        block = realloc(block, sizes[i]);
        t_check(block && filled(block, sizes[i] < 10 * KIB ? sizes[i] : 10 * KIB, i),
                "realloc of an aligned block to %zu", sizes[i]);
        free(block);
    }
}

/* ---- MPI_Alloc_mem ---- */

static void check_alloc_mem(const char *align, bool heap)
{
    MPI_Info info = MPI_INFO_NULL;
    if (align) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", align);
    }
    const size_t wanted = align ? strtoull(align, NULL, 10) : 1,
                 multiple = wanted & (wanted - 1) || !wanted ? 1 : wanted;
    for (unsigned i = 0; i < SIZES; i++) {
        unsigned char *block[3];
        for (unsigned k = 0; k < 3; k++) {
            block[k] = NULL;
            t_check(MPI_Alloc_mem((MPI_Aint)sizes[i], info, &block[k]) == MPI_SUCCESS && block[k],
                    "MPI_Alloc_mem(%zu)", sizes[i]);
            t_check(!heap || sizes[i] < 4 * KIB || (uintptr_t)block[k] % multiple == 0,
                    "MPI_Alloc_mem(%zu), aligned %s: %p", sizes[i], align ? align : "", (void *)block[k]);
            fill(block[k], sizes[i], k);
        }
        for (unsigned k = 0; k < 3; k++) {
            t_check(filled(block[k], sizes[i], k), "MPI_Alloc_mem(%zu): a block changed", sizes[i]);
            t_check(MPI_Free_mem(block[k]) == MPI_SUCCESS, "MPI_Free_mem of %zu", sizes[i]);
        }
    }
    if (align) {
        MPI_Info_free(&info);
    }
}

/* ---- other processes ---- */

static bool succeeded(pid_t child)
{
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* What the child does is what a program does that forks workers: it reads what was there, allocates, and
 * forks again. */
static int in_child(unsigned char *block, size_t bytes, int depth)
{
    alarm(20);
    if (!filled(block, bytes, 1)) {
        return 1;
    }
    unsigned char *more = calloc(1, 100 * KIB);
    if (!more || !zero(more, 100 * KIB)) {
        return 2;
    }
    fill(block, bytes, 1); /* its own copy */
    pid_t child = depth > 0 ? fork() : -1;
    if (child == 0) {
        _exit(in_child(block, bytes, depth - 1));
    }
    memset(block, 0x33, bytes);
    free(more);
    more = realloc(block, 2 * bytes);
    const int bad = !more || more[bytes - 1] != 0x33 || (depth > 0 && !succeeded(child));
    free(more);
    return bad ? 3 : 0;
}

static void check_processes(void)
{
    const size_t bytes = 3 * MIB;
    unsigned char *block = malloc(bytes);
    fill(block, bytes, 1);
    pid_t child = fork();
    if (child == 0) {
        _exit(in_child(block, bytes, 2));
    }
    fill(block, bytes, 2);
    t_check(succeeded(child), "fork");
    t_check(filled(block, bytes, 2), "a forked child changed its parent's memory");

    t_check(system("test $((1 + 1)) = 2") == 0, "system");
    char *arguments[] = {"sh", "-c", "exit 0", NULL};
    t_check(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) == 0 && succeeded(child),
            "posix_spawn");
    child = fork();
    if (child == 0) {
        execvp("sh", arguments);
        _exit(127);
    }
    t_check(succeeded(child), "fork and exec");
    FILE *pipe = popen("echo 5", "r");
    int five = 0;
    t_check(pipe && fscanf(pipe, "%d", &five) == 1 && pclose(pipe) == 0 && five == 5, "popen");
    t_check(filled(block, bytes, 2), "other processes changed a block");
    free(block);
}

/* ---- collectives on the heap of a process whose descriptor peers can't open ---- */

static void check_sums(void)
{
    enum { N = 40000 };
    int *in = malloc(N * sizeof *in), *out = calloc(N, sizeof *out);
    size_t bad = 0;
    for (int call = 0; call < 40; call++) {
        const int n = call % 2 ? N : N / 16;
        for (int i = 0; i < n; i++) {
            in[i] = i + t_rank + call;
        }
        MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) {
            bad += out[i] != t_size * (i + call) + t_size * (t_size - 1) / 2;
        }
        MPI_Allgather(in, n / t_size, MPI_INT, out, n / t_size, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < n / t_size; i++) {
            bad += out[i] != i + call;
        }
    }
    t_check(bad == 0, "%zu wrong elements", bad);
    free(in);
    free(out);
}

/* The child is the MPI process; its parent has its exit status. */
static void become_child(void)
{
    void *volatile block = malloc(100 * KIB);
    pid_t child = fork();
    if (child != 0) {
        int status = 1;
        waitpid(child, &status, 0);
        free(block);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    free(block);
}

/* As a daemon does that closes what it inherited. */
static void take_descriptor(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 256; fd++) {
        char path[64], target[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, "memfd:hccl-shim-heap")) {
            dup2(null, fd);
        }
    }
    close(null);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "heap";
    const bool heap = strcmp(mode, "none") != 0;
    find_heap();
    if (strcmp(mode, "forked") == 0) {
        become_child();
    } else if (strcmp(mode, "closed") == 0) {
        take_descriptor();
    }
    t_init(&argc, &argv, SECONDS);
    void *large = malloc(64 * KIB), *small = malloc(100);
    t_check((heap_to > 0) == heap && in_heap(large) == heap && !in_heap(small),
            "large blocks are in the heap, or not, against \"%s\"", mode);
    free(large);
    free(small);
    t_section("where blocks are");
    check_sums();
    t_section("collectives");
    check_malloc();
    check_calloc();
    check_huge();
    t_section("malloc, calloc, free");
    check_realloc();
    check_growing();
    t_section("realloc");
    check_alignment();
    check_bad_alignment();
    check_aligned_realloc();
    t_section("alignment");
    check_alloc_mem(NULL, heap);
    check_alloc_mem("64", heap);
    check_alloc_mem("2097152", heap);
    check_alloc_mem("3", heap);
    t_section("MPI_Alloc_mem");
    check_processes();
    t_section("other processes");
    return t_finish();
}
