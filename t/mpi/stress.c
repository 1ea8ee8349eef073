/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/stress.c - a random sequence of collectives with random sizes, roots and types on several overlapping
 * communicators, with random delays of single ranks; all results checked.
 *
 * usage: stress [SEED [ROUNDS [SECONDS]]]: the sequence ends with the first of both. Equal seeds give equal
 * sequences.
 */
#include "common.h"

#include <sched.h>
#include <time.h>

enum { MAX_RANKS = 64, COMMS = 4, MAX_ELEMENTS = 60000 };

static MPI_Comm comms[COMMS];
static int ranks[COMMS], sizes[COMMS];

/* One call; every member draws the same numbers. */
typedef struct {
    MPI_Comm comm;
    int rank, size, root, n;
    bool in_place;
    uint64_t key; /* what the data of this call are made of */
} round_t;

static unsigned *in, *out;
static uint64_t own;        /* this rank's own random numbers */
static MPI_Datatype alias; /* of MPI_UNSIGNED */
static int counts[MAX_RANKS], displs[MAX_RANKS];

static unsigned value(const round_t *r, int rank, size_t i)
{
    return (unsigned)t_mix(r->key + (uint64_t)rank * 1000003 + i);
}

static void fill(const round_t *r, unsigned *p, int rank, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = value(r, rank, first + i);
    }
}

static void expect(const round_t *r, const unsigned *p, int rank, size_t first, size_t n, const char *what)
{
    size_t i = 0;
    while (i < n && p[i] == value(r, rank, first + i)) {
        i++;
    }
    t_check(i == n, "%s of %d on %d ranks, root %d, key %llx: element %zu of rank %d: got %08x wanted %08x",
            what, r->n, r->size, r->root, (unsigned long long)r->key, i, rank, i < n ? p[i] : 0,
            i < n ? value(r, rank, first + i) : 0);
}

static void expect_sum(const round_t *r, const unsigned *p, int members, size_t first, size_t n,
                       const char *what)
{
    for (size_t i = 0; i < n; i++) {
        unsigned sum = 0;
        for (int k = 0; k < members; k++) {
            sum += value(r, k, first + i);
        }
        if (p[i] != sum) {
            t_check(false, "%s of %d on %d ranks, root %d, key %llx: element %zu: got %08x wanted %08x", what,
                    r->n, r->size, r->root, (unsigned long long)r->key, i, p[i], sum);
            return;
        }
    }
    t_check(true, "right");
}

static size_t layout(const round_t *r)
{
    size_t total = 0;
    for (int k = 0; k < r->size; k++) {
        counts[k] = r->n / r->size / (1 + k % 3);
        displs[k] = (int)total;
        total += (size_t)counts[k];
    }
    return total;
}

static void barrier(const round_t *r)
{
    t_check(MPI_Barrier(r->comm) == MPI_SUCCESS, "barrier");
}

/* An element, mostly by its own name, sometimes by another that this rank alone uses. */
static MPI_Datatype unit(void)
{
    return t_below(&own, 8) == 0 ? alias : MPI_UNSIGNED;
}

static void bcast(const round_t *r)
{
    fill(r, in, r->rank, 0, (size_t)r->n);
    MPI_Bcast(in, r->n, unit(), r->root, r->comm);
    expect(r, in, r->root, 0, (size_t)r->n, "Bcast");
}

static void gather(const round_t *r)
{
    int n = r->n / r->size;
    bool is_root = r->rank == r->root, in_place = is_root && r->in_place;
    fill(r, in_place ? out + r->rank * n : in, r->rank, 0, (size_t)n);
    MPI_Gather(in_place ? MPI_IN_PLACE : in, n, unit(), out, n, unit(), r->root, r->comm);
    for (int k = 0; k < r->size && is_root; k++) {
        expect(r, out + k * n, k, 0, (size_t)n, "Gather");
    }
}

static void gatherv(const round_t *r)
{
    layout(r);
    int n = counts[r->rank];
    bool is_root = r->rank == r->root, in_place = is_root && r->in_place;
    fill(r, in_place ? out + displs[r->rank] : in, r->rank, 0, (size_t)n);
    MPI_Gatherv(in_place ? MPI_IN_PLACE : in, n, unit(), out, counts, displs, unit(), r->root,
                r->comm);
    for (int k = 0; k < r->size && is_root; k++) {
        expect(r, out + displs[k], k, 0, (size_t)counts[k], "Gatherv");
    }
}

static void scatter(const round_t *r)
{
    int n = r->n / r->size;
    bool is_root = r->rank == r->root, in_place = is_root && r->in_place;
    fill(r, in, r->root, 0, is_root ? (size_t)n * (size_t)r->size : 0);
    MPI_Scatter(in, n, unit(), in_place ? MPI_IN_PLACE : out, n, unit(), r->root, r->comm);
    expect(r, in_place ? in + r->rank * n : out, r->root, (size_t)(r->rank * n), (size_t)n, "Scatter");
}

static void scatterv(const round_t *r)
{
    size_t total = layout(r);
    bool is_root = r->rank == r->root, in_place = is_root && r->in_place;
    fill(r, in, r->root, 0, is_root ? total : 0);
    MPI_Scatterv(in, counts, displs, unit(), in_place ? MPI_IN_PLACE : out, counts[r->rank],
                 unit(), r->root, r->comm);
    expect(r, in_place ? in + displs[r->rank] : out, r->root, (size_t)displs[r->rank],
           (size_t)counts[r->rank], "Scatterv");
}

static void allgather(const round_t *r)
{
    int n = r->n / r->size;
    fill(r, r->in_place ? out + r->rank * n : in, r->rank, 0, (size_t)n);
    MPI_Allgather(r->in_place ? MPI_IN_PLACE : in, n, unit(), out, n, unit(), r->comm);
    for (int k = 0; k < r->size; k++) {
        expect(r, out + k * n, k, 0, (size_t)n, "Allgather");
    }
}

static void allgatherv(const round_t *r)
{
    layout(r);
    int n = counts[r->rank];
    fill(r, r->in_place ? out + displs[r->rank] : in, r->rank, 0, (size_t)n);
    MPI_Allgatherv(r->in_place ? MPI_IN_PLACE : in, n, unit(), out, counts, displs, unit(),
                   r->comm);
    for (int k = 0; k < r->size; k++) {
        expect(r, out + displs[k], k, 0, (size_t)counts[k], "Allgatherv");
    }
}

static void alltoall(const round_t *r)
{
    int n = r->n / r->size;
    fill(r, r->in_place ? out : in, r->rank, 0, (size_t)n * (size_t)r->size);
    MPI_Alltoall(r->in_place ? MPI_IN_PLACE : in, n, unit(), out, n, unit(), r->comm);
    for (int k = 0; k < r->size; k++) {
        expect(r, out + k * n, k, (size_t)(r->rank * n), (size_t)n, "Alltoall");
    }
}

/* What `from` has for `to`; its data begin at index to * n of from's values. */
static int pair_count(const round_t *r, int from, int to)
{
    return r->n / r->size / (1 + (from + 2 * to) % 4);
}

typedef struct {
    int sent[MAX_RANKS], sent_at[MAX_RANKS], got[MAX_RANKS], got_at[MAX_RANKS];
} exchange_t;

static void set_exchange(const round_t *r, exchange_t *x)
{
    int out_at = 0, in_at = 0;
    for (int k = 0; k < r->size; k++) {
        x->sent[k] = pair_count(r, r->rank, k);
        x->got[k] = pair_count(r, k, r->rank);
        x->sent_at[k] = out_at;
        x->got_at[k] = in_at;
        fill(r, in + out_at, r->rank, (size_t)k * (size_t)r->n, (size_t)x->sent[k]);
        out_at += x->sent[k];
        in_at += x->got[k];
    }
}

static void alltoallv(const round_t *r)
{
    exchange_t x;
    set_exchange(r, &x);
    MPI_Alltoallv(in, x.sent, x.sent_at, unit(), out, x.got, x.got_at, unit(), r->comm);
    for (int k = 0; k < r->size; k++) {
        expect(r, out + x.got_at[k], k, (size_t)r->rank * (size_t)r->n, (size_t)x.got[k], "Alltoallv");
    }
}

static void alltoallw(const round_t *r)
{
    exchange_t x;
    MPI_Datatype types[MAX_RANKS];
    set_exchange(r, &x);
    for (int k = 0; k < r->size; k++) {
        types[k] = unit();
        x.sent_at[k] *= (int)sizeof(unsigned);
        x.got_at[k] *= (int)sizeof(unsigned);
    }
    MPI_Alltoallw(in, x.sent, x.sent_at, types, out, x.got, x.got_at, types, r->comm);
    for (int k = 0; k < r->size; k++) {
        expect(r, out + x.got_at[k] / (int)sizeof(unsigned), k, (size_t)r->rank * (size_t)r->n,
               (size_t)x.got[k], "Alltoallw");
    }
}

static const void *input(const round_t *r, bool in_place, size_t n)
{
    fill(r, in_place ? out : in, r->rank, 0, n);
    return in_place ? MPI_IN_PLACE : in;
}

static void reduce(const round_t *r)
{
    bool is_root = r->rank == r->root;
    const void *from = input(r, is_root && r->in_place, (size_t)r->n);
    MPI_Reduce(from, out, r->n, MPI_UNSIGNED, MPI_SUM, r->root, r->comm);
    expect_sum(r, out, r->size, 0, is_root ? (size_t)r->n : 0, "Reduce");
}

static void allreduce(const round_t *r)
{
    MPI_Allreduce(input(r, r->in_place, (size_t)r->n), out, r->n, MPI_UNSIGNED, MPI_SUM, r->comm);
    expect_sum(r, out, r->size, 0, (size_t)r->n, "Allreduce");
}

static void scan(const round_t *r)
{
    MPI_Scan(input(r, r->in_place, (size_t)r->n), out, r->n, MPI_UNSIGNED, MPI_SUM, r->comm);
    expect_sum(r, out, r->rank + 1, 0, (size_t)r->n, "Scan");
}

static void exscan(const round_t *r)
{
    MPI_Exscan(input(r, r->in_place, (size_t)r->n), out, r->n, MPI_UNSIGNED, MPI_SUM, r->comm);
    expect_sum(r, out, r->rank, 0, r->rank ? (size_t)r->n : 0, "Exscan");
}

static void reduce_scatter(const round_t *r)
{
    size_t total = layout(r);
    MPI_Reduce_scatter(input(r, r->in_place, total), out, counts, MPI_UNSIGNED, MPI_SUM, r->comm);
    expect_sum(r, out, r->size, (size_t)displs[r->rank], (size_t)counts[r->rank], "Reduce_scatter");
}

static void reduce_scatter_block(const round_t *r)
{
    int n = r->n / r->size;
    MPI_Reduce_scatter_block(input(r, r->in_place, (size_t)(n * r->size)), out, n, MPI_UNSIGNED, MPI_SUM,
                             r->comm);
    expect_sum(r, out, r->size, (size_t)(n * r->rank), (size_t)n, "Reduce_scatter_block");
}

static void (*const functions[])(const round_t *) = {
    barrier,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    reduce,
    allreduce,
    scan,
    exscan,
    reduce_scatter,
    reduce_scatter_block,
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Mostly small, now and then large. */
static int random_size(uint64_t *state)
{
    static const unsigned limits[] = {2, 10, 100, 100, 1000, 1000, 10000, MAX_ELEMENTS};
    return (int)t_below(state, limits[t_below(state, sizeof limits / sizeof *limits)]);
}

/* A rank comes late: by a turn of the scheduler, some work, or a sleep. */
static void random_delay(uint64_t *state)
{
    switch (t_below(state, 24)) {
    case 0:
        sched_yield();
        break;
    case 1:
        for (volatile int i = 0; i < 20000; i++) {
        }
        break;
    case 2:
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        break;
    default:
        break;
    }
}

static void make_comms(void)
{
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -t_rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, t_rank % 2, t_rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, t_rank < (t_size + 1) / 2 ? 0 : MPI_UNDEFINED, t_rank * 3 % 5, &comms[3]);
    for (int i = 0; i < COMMS; i++) {
        if (comms[i] != MPI_COMM_NULL) {
            MPI_Comm_rank(comms[i], &ranks[i]);
            MPI_Comm_size(comms[i], &sizes[i]);
        }
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Members must agree on the end: rank 0's clock decides, asked every now and then. */
static bool time_is_over(int i, double end)
{
    enum { EVERY = 50 };
    int over = now() > end;
    if (i % EVERY == EVERY - 1) {
        MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return over;
    }
    return false;
}

int main(int argc, char **argv)
{
    enum { GUARD = 110, DEFAULT_ROUNDS = 3000, LONGEST_ROW = 200 };
    t_init(&argc, &argv, GUARD);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : DEFAULT_ROUNDS, i = 0;
    double end = now() + (argc > 3 ? atof(argv[3]) : 20.0);
    uint64_t shared = seed;
    own = seed * 31 + (uint64_t)t_rank;
    MPI_Type_dup(MPI_UNSIGNED, &alias);
    MPI_Type_commit(&alias);
    in = malloc((MAX_ELEMENTS + MAX_RANKS) * sizeof *in);
    out = malloc((MAX_ELEMENTS + MAX_RANKS) * sizeof *out);
    make_comms();
    for (; i < rounds && !time_is_over(i, end); i++) {
        unsigned c = t_below(&shared, COMMS), f = t_below(&shared, FUNCTIONS),
                 root = t_below(&shared, 1 << 20);
        round_t r = {.comm = comms[c], .n = random_size(&shared), .in_place = t_below(&shared, 3) == 0};
        /* Sometimes many alike in a row: a root runs ahead as far as it can. */
        const unsigned row = t_below(&shared, 16) == 0 ? t_below(&shared, LONGEST_ROW) : 1;
        for (unsigned k = 0; k < row; k++) {
            r.key = t_next(&shared);
            random_delay(&own);
            if (r.comm != MPI_COMM_NULL) {
                r.rank = ranks[c];
                r.size = sizes[c];
                r.root = (int)(root % (unsigned)r.size);
                functions[f](&r);
            }
        }
    }
    for (int c = 1; c < COMMS; c++) {
        if (comms[c] != MPI_COMM_NULL) {
            MPI_Comm_free(&comms[c]);
        }
    }
    MPI_Type_free(&alias);
    free(in);
    free(out);
    t_section("random collectives on %d ranks, seed %llu, %s", t_size, (unsigned long long)seed,
              i == rounds ? "all rounds" : "until the time was over");
    return t_finish();
}
