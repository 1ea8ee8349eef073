/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/heap_stress.c - threads that allocate, resize and free blocks of all sizes, full of patterns, while the main thread runs collectives
 * on blocks of its own and forks. A child looks at the blocks as they were when it was forked, while its parent writes others, and
 * allocates for itself.
 *
 * usage: heap_stress [SEED [SECONDS [look]]]; look: children do not allocate, as with an allocator that is not ready for fork
 */
#define _GNU_SOURCE
#include "common.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, BLOCKS = 40, MOST_BYTES = 3 << 20, GUARD = 100, STEP = 509, FORK_EVERY = 40 };

typedef struct {
    unsigned char *data;
    size_t bytes;
    unsigned char seed;
} block_t;

/* The blocks of one thread. */
typedef struct {
    uint64_t state;
    block_t block[BLOCKS];
    unsigned long wrong, done;
} area_t;

static atomic_bool over;
static bool look_only;

/* Both ends and every STEP-th byte: what a page that is lost, shared or another's would change. */
static void paint(block_t *b, size_t from, unsigned char seed)
{
    b->seed = seed;
    for (size_t i = from; i < b->bytes; i += STEP) {
        b->data[i] = (unsigned char)(seed + i * 7);
    }
    if (b->bytes > 0) {
        b->data[b->bytes - 1] = seed;
    }
}

static bool painted(const block_t *b, size_t upto)
{
    const size_t bytes = upto < b->bytes ? upto : b->bytes;
    for (size_t i = 0; i + 1 < bytes; i += STEP) {
        if (b->data[i] != (unsigned char)(b->seed + i * 7)) {
            return false;
        }
    }
    return bytes == 0 || bytes < b->bytes || b->data[bytes - 1] == b->seed;
}

static size_t random_bytes(uint64_t *state)
{
    static const unsigned limits[] = {200, 9000, 9000, 40000, 200000, MOST_BYTES};
    return 1 + t_below(state, limits[t_below(state, sizeof limits / sizeof *limits)]);
}

static void *allocate(uint64_t *state, size_t bytes)
{
    void *data = NULL;
    switch (t_below(state, 4)) {
    case 0:
        return calloc(1, bytes);
    case 1:
        return posix_memalign(&data, (size_t)64 << t_below(state, 12), bytes) == 0 ? data : NULL;
    default:
        return malloc(bytes);
    }
}

/* One block: made, resized or freed, and looked at. */
static void turn(area_t *area)
{
    block_t *b = &area->block[t_below(&area->state, BLOCKS)];
    const size_t bytes = random_bytes(&area->state);
    area->wrong += !painted(b, b->bytes);
    area->done++;
    if (!b->data) {
        b->data = allocate(&area->state, bytes);
        b->bytes = b->data ? bytes : 0;
    } else if (t_below(&area->state, 3) == 0) {
        unsigned char *data = realloc(b->data, bytes);
        if (data) {
            const size_t kept = bytes < b->bytes ? bytes : b->bytes;
            b->data = data;
            b->bytes = bytes;
            area->wrong += !painted(b, kept > 0 ? kept - 1 : 0);
        }
    } else {
        free(b->data);
        *b = (block_t){0};
    }
    paint(b, 0, (unsigned char)t_next(&area->state));
}

static void *run_thread(void *argument)
{
    area_t *area = argument;
    while (!atomic_load(&over)) {
        turn(area);
    }
    return NULL;
}

static void free_area(area_t *area)
{
    for (int i = 0; i < BLOCKS; i++) {
        area->wrong += !painted(&area->block[i], area->block[i].bytes);
        free(area->block[i].data);
    }
}

/* Wrong blocks, of those of the parent and new ones. */
static int look_and_allocate(area_t *area)
{
    int wrong = 0;
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL); /* the parent is writing */
    for (int i = 0; i < BLOCKS; i++) {
        wrong += !painted(&area->block[i], area->block[i].bytes);
    }
    area->wrong = 0;
    for (int i = 0; i < 2 * BLOCKS && !look_only; i++) {
        turn(area);
    }
    return wrong + (int)area->wrong;
}

static void fork_one(area_t *area)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        _exit(look_and_allocate(area) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    for (int i = 0; i < BLOCKS; i++) {
        paint(&area->block[i], 0, (unsigned char)t_next(&area->state));
    }
    waitpid(child, &status, 0);
    t_check(status == 0, "child: status %x", status);
}

/* A sum and an exchange, on blocks that the heap has just given out. */
static void collectives(area_t *area, uint64_t *common)
{
    const size_t n = random_bytes(common) / sizeof(int) / (size_t)t_size;
    const size_t all = n * (size_t)t_size;
    int *in = malloc(all * sizeof *in + 1), *out = malloc(all * sizeof *out + 1);
    const int key = (int)t_below(common, 1000);
    size_t bad = 0;
    for (size_t i = 0; i < all; i++) {
        in[i] = key + t_rank + (int)i;
    }
    MPI_Allreduce(in, out, (int)all, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < all; i++) {
        bad += out[i] != t_size * (key + (int)i) + t_size * (t_size - 1) / 2;
    }
    MPI_Alltoall(in, (int)n, MPI_INT, out, (int)n, MPI_INT, MPI_COMM_WORLD);
    memset(in, 0, all * sizeof *in);
    for (size_t i = 0; i < all; i++) {
        bad += out[i] != key + (int)(i / (n ? n : 1)) + t_rank * (int)n + (int)(i % (n ? n : 1));
    }
    t_check(bad == 0, "%zu ints a rank: %zu wrong", n, bad);
    free(in);
    free(out);
    turn(area);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    const double seconds = argc > 2 ? atof(argv[2]) : 5;
    look_only = argc > 3;
    static area_t area[THREADS + 1];
    pthread_t thread[THREADS];
    uint64_t common = seed;
    t_init(&argc, &argv, (unsigned)seconds + GUARD);
    for (int i = 0; i <= THREADS; i++) {
        area[i].state = seed * 1000 + (uint64_t)(t_rank * 10 + i);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, run_thread, &area[i]);
    }
    const double end = now() + seconds;
    for (int i = 0, go_on = 1; go_on; i++) {
        collectives(&area[THREADS], &common);
        if (i % FORK_EVERY == FORK_EVERY - 1) {
            fork_one(&area[THREADS]);
        }
        go_on = now() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    for (int i = 0; i <= THREADS; i++) {
        free_area(&area[i]);
        t_check(area[i].wrong == 0 && area[i].done > 0, "thread %d: %lu wrong of %lu turns", i, area[i].wrong, area[i].done);
    }
    t_section("allocation in %d threads, collectives and children, seed %llu", THREADS, (unsigned long long)seed);
    return t_finish();
}
