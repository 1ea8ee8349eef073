/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * benchmarks/floor.c - the least that the same work costs on these cores: flags and plain loads and stores on memory that all
 * ranks share, without a library. A round is: say "here", wait for all, move or reduce, say "done", wait for all.
 * What fits a flag's cache line travels with it, and one flag is enough.
 */
#include "bench.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, APART = 128, SPIN = 1000, PAGE = 4096, LINE_PAYLOAD = LINE - sizeof(uint64_t), PIECE = 16 * 1024 };

typedef struct {
    _Alignas(APART) _Atomic uint64_t arrived; /* release after the payload; pairs with the acquire in await */
    char payload[LINE_PAYLOAD];
    _Alignas(APART) _Atomic uint64_t arrived_odd;
    char payload_odd[LINE_PAYLOAD];
    _Alignas(APART) _Atomic uint64_t done; /* release after the last access; acquire in await */
} flags_t;

struct bench_floor {
    MPI_Win win;
    flags_t **flags;
    char **in, **out; /* of each rank */
    size_t in_room;
    uint64_t round;
};

static void await(_Atomic uint64_t *flag, uint64_t round)
{
    for (unsigned i = 0; atomic_load_explicit(flag, memory_order_acquire) < round; i++) {
        if (i > SPIN) {
            sched_yield();
        }
    }
}

static size_t pages(size_t bytes)
{
    return (bytes + PAGE) / PAGE * PAGE;
}

static bool find_ranks(bench_floor_t *floor, int nranks)
{
    floor->flags = calloc((size_t)nranks, sizeof *floor->flags);
    floor->in = calloc((size_t)nranks, sizeof *floor->in);
    floor->out = calloc((size_t)nranks, sizeof *floor->out);
    for (int i = 0; floor->flags && floor->in && floor->out && i < nranks; i++) {
        MPI_Aint size;
        int unit;
        char *base = NULL;
        PMPI_Win_shared_query(floor->win, i, &size, &unit, &base);
        floor->flags[i] = (flags_t *)base;
        floor->in[i] = base + pages(sizeof(flags_t));
        floor->out[i] = floor->in[i] + floor->in_room;
    }
    return floor->flags && floor->in && floor->out;
}

/* NULL where not all ranks share a host, or for want of memory; the same on all ranks. */
bench_floor_t *bench_floor_open(MPI_Comm comm, size_t send_bytes, size_t recv_bytes)
{
    MPI_Comm host;
    int here, all, nranks, rank;
    PMPI_Comm_size(comm, &nranks);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    PMPI_Comm_size(host, &here);
    PMPI_Comm_free(&host);
    PMPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, comm);
    bench_floor_t *floor = all == nranks ? calloc(1, sizeof *floor) : NULL;
    if (floor == NULL) {
        return NULL;
    }
    floor->in_room = pages(send_bytes);
    char *base;
    const size_t room = pages(sizeof(flags_t)) + floor->in_room + pages(recv_bytes);
    PMPI_Win_allocate_shared((MPI_Aint)room, 1, MPI_INFO_NULL, comm, &base, &floor->win);
    memset(base, 0, room);
    int good = find_ranks(floor, nranks);
    PMPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, comm); /* also: all flags are zero */
    if (!good) {
        bench_floor_close(floor);
        return NULL;
    }
    return floor;
}

void bench_floor_close(bench_floor_t *floor)
{
    if (floor != NULL) {
        PMPI_Win_free(&floor->win);
        free(floor->flags);
        free(floor->in);
        free(floor->out);
        free(floor);
    }
}

char *bench_floor_send(const bench_floor_t *floor, int rank)
{
    return floor->in[rank];
}

/* ---- reductions ---- */

#if defined(__x86_64__) && defined(__clang__)
#define VECTOR __attribute__((target_clones("avx512f", "avx2", "default")))
#elif defined(__x86_64__)
#define VECTOR __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define VECTOR
#endif
#ifdef __clang__
#define NO_OVERLAP _Pragma("clang loop vectorize(assume_safety)")
#else
#define NO_OVERLAP _Pragma("GCC ivdep")
#endif

#define ADD(name, type)                                                                                      \
    VECTOR static void name(void *dst, const void *a, const void *b, size_t bytes)                           \
    {                                                                                                        \
        type *d = dst;                                                                                       \
        const type *x = a, *y = b;                                                                           \
        NO_OVERLAP /* dst is a source exactly, or overlaps none */                                           \
        for (size_t i = 0; i < bytes / sizeof(type); i++) {                                                  \
            d[i] = (type)(x[i] + y[i]);                                                                      \
        }                                                                                                    \
    }
ADD(add_char, signed char)
ADD(add_int, int)
ADD(add_int64, int64_t)
ADD(add_float, float)
ADD(add_double, double)

typedef void (*add_t)(void *dst, const void *a, const void *b, size_t bytes);

static add_t add_for(const bench_job_t *job)
{
    static const struct {
        const char *name;
        add_t add;
    } adds[] = {{"char", add_char}, {"int", add_int}, {"int64", add_int64}, {"float", add_float}, {"double", add_double}};
    for (size_t i = 0; i < sizeof adds / sizeof adds[0]; i++) {
        if (strcmp(adds[i].name, job->type_name) == 0) {
            return adds[i].add;
        }
    }
    return NULL;
}

/* dst <- the sum over all ranks of what lies at `at` in their IN. */
static void reduce(const bench_job_t *job, char *dst, size_t at, size_t bytes)
{
    const bench_floor_t *floor = job->floor;
    const add_t add = add_for(job);
    const char *left = floor->in[0] + at;
    for (int i = 1; i < job->nranks; i++, left = dst) {
        add(dst, left, floor->in[i] + at, bytes);
    }
}

static size_t slice(const bench_job_t *job, size_t bytes, int rank)
{
    const size_t lines = (bytes + LINE - 1) / LINE, begin = lines * (size_t)rank / (size_t)job->nranks * LINE;
    return begin < bytes ? begin : bytes;
}

static void reduce_to_all(const bench_job_t *job, size_t bytes)
{
    const bench_floor_t *floor = job->floor;
    const size_t end = slice(job, bytes, job->rank + 1);
    for (size_t at = slice(job, bytes, job->rank); at < end; at += PIECE) {
        const size_t now = end - at < PIECE ? end - at : PIECE;
        reduce(job, floor->out[job->rank] + at, at, now);
        for (int i = 1; i < job->nranks; i++) {
            memcpy(floor->out[(job->rank + i) % job->nranks] + at, floor->out[job->rank] + at, now);
        }
    }
}

/* ---- the patterns ---- */

static void work(const bench_job_t *job, bench_floor_kind_t kind, size_t bytes)
{
    const bench_floor_t *f = job->floor;
    const int me = job->rank, n = job->nranks;
    const bool root = me == job->root, spread = job->send_bytes > bytes; /* one block for each peer */
    const bool own = !job->in_place;                                     /* a rank's block for itself moves too */
    const size_t begin = slice(job, bytes, me), end = slice(job, bytes, me + 1);
    switch (kind) {
    case BENCH_FLOOR_FLAG:
    case BENCH_FLOOR_NONE:
        break;
    case BENCH_FLOOR_FROM_ROOT:
        for (int i = 0; root && n == 2 && i < n; i++) { /* two ranks: the root, whose data it is, writes */
            memcpy(f->out[i], f->in[me] + (spread ? (size_t)i * bytes : 0), i == me && !(spread && own) ? 0 : bytes);
        }
        if (n > 2 && ((spread && own) || !root)) {
            memcpy(f->out[me], f->in[job->root] + (spread ? (size_t)me * bytes : 0), bytes);
        }
        break;
    case BENCH_FLOOR_TO_ROOT:
        memcpy(f->out[job->root] + (size_t)me * bytes, f->in[me], own || !root ? bytes : 0);
        break;
    case BENCH_FLOOR_TO_ALL:
        for (int i = own ? 0 : 1; i < n; i++) {
            const int peer = (me + i) % n;
            memcpy(f->out[peer] + (size_t)me * bytes, f->in[me] + (spread ? (size_t)peer * bytes : 0), bytes);
        }
        break;
    case BENCH_FLOOR_REDUCE_ROOT:
        reduce(job, f->out[job->root] + begin, begin, end - begin);
        break;
    case BENCH_FLOOR_REDUCE_ALL:
        reduce_to_all(job, bytes);
        break;
    case BENCH_FLOOR_REDUCE_SCATTER:
        reduce(job, f->out[me], (size_t)me * bytes, bytes);
        break;
    }
}

bool bench_floor_has(const bench_job_t *job, const bench_collective_t *collective)
{
    const bool sum = job->op == MPI_SUM;
    return job->floor != NULL && collective->floor != BENCH_FLOOR_NONE && (!collective->reduces || sum);
}

static void one_line(const bench_job_t *job, size_t bytes)
{
    bench_floor_t *floor = job->floor;
    const bool odd = floor->round % 2 != 0;
    flags_t *mine = floor->flags[job->rank];
    char *out = floor->out[job->rank];
    memcpy(odd ? mine->payload_odd : mine->payload, floor->in[job->rank], bytes);
    atomic_store_explicit(odd ? &mine->arrived_odd : &mine->arrived, floor->round, memory_order_release);
    memcpy(out, floor->in[job->rank], bytes); /* not from the own line, which is on its way to the peers */
    for (int i = 1; i < job->nranks; i++) {
        flags_t *flags = floor->flags[(job->rank + i) % job->nranks];
        await(odd ? &flags->arrived_odd : &flags->arrived, floor->round);
        memcpy(out + (size_t)i * bytes, odd ? flags->payload_odd : flags->payload, bytes);
    }
    if (bytes > 0 && job->nranks > 1) {
        add_t add = add_for(job);
        for (int i = 1; add != NULL && i < job->nranks; i++) {
            add(out, out, out + (size_t)i * bytes, bytes);
        }
    }
}

void bench_floor_call(const bench_job_t *job, const bench_collective_t *collective)
{
    bench_floor_t *floor = job->floor;
    const size_t bytes = (size_t)job->count * job->type_bytes;
    const bool everyone = collective->floor == BENCH_FLOOR_REDUCE_ALL || collective->floor == BENCH_FLOOR_FLAG;
    floor->round++;
    if (everyone && bytes <= LINE_PAYLOAD) {
        one_line(job, bytes);
        return;
    }
    atomic_store_explicit(&floor->flags[job->rank]->arrived, floor->round, memory_order_release);
    for (int i = 1; i < job->nranks; i++) {
        await(&floor->flags[(job->rank + i) % job->nranks]->arrived, floor->round);
    }
    work(job, collective->floor, bytes);
    atomic_store_explicit(&floor->flags[job->rank]->done, floor->round, memory_order_release);
    for (int i = 1; i < job->nranks; i++) {
        await(&floor->flags[(job->rank + i) % job->nranks]->done, floor->round);
    }
}
