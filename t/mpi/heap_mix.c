/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/heap_mix.c - every blocking collective, with each rank's buffers in the shared heap or not as a draw
 * of its own has it, in place on all ranks or some where MPI allows it, at sizes around the library's
 * thresholds. Values are closed forms. A send buffer is overwritten as soon as the call has returned, and
 * blocks are freed and come back in other calls: who reads or writes late is found.
 *
 * usage: heap_mix [SEED [ROUNDS [mix|heap [LEAST]]]]: a round is one call of each collective on a
 * communicator of its own; `heap` has all buffers in malloc's large blocks and nothing in place that need not
 * be; no call has less than LEAST bytes.
 */
#include "common.h"

enum { SECONDS = 100, MAX_RANKS = 8, MOST_BYTES = 3200 * 1024, AREA_BYTES = 5 * MOST_BYTES };

typedef enum { SEND, RECV, SIDES } side_t;
typedef enum { IN_HEAP, IN_STATIC, IN_ALLOC_MEM, KINDS } place_t;

/* One call. What is drawn from `common` is equal on all ranks. */
typedef struct {
    MPI_Comm comm;
    const char *name;
    int number, root, n; /* n: elements, of a block where there are several */
    bool in_place;       /* this rank's */
    MPI_Datatype type;
    int unit;                                 /* of `type` in an element: 1 for MPI_INT, 4 for bytes */
    int counts[MAX_RANKS], displs[MAX_RANKS]; /* of V calls, in elements */
    unsigned *buffer[SIDES];
    place_t place[SIDES];
    void *block[SIDES]; /* what is freed */
} call_t;

static uint64_t common, mine;
static bool all_heap;
static size_t least_bytes;
static unsigned char area[SIDES][AREA_BYTES];

/* ---- buffers ---- */

static unsigned *get(call_t *c, side_t side, size_t elements)
{
    const size_t bytes = elements * sizeof(unsigned), shift = all_heap ? 0 : t_below(&mine, 3) * 20;
    c->place[side] = all_heap ? IN_HEAP : (place_t)t_below(&mine, KINDS);
    c->block[side] = area[side];
    if (c->place[side] == IN_HEAP) {
        c->block[side] = malloc(bytes + shift + 4);
    } else if (c->place[side] == IN_ALLOC_MEM) {
        MPI_Alloc_mem((MPI_Aint)(bytes + shift + 4), MPI_INFO_NULL, &c->block[side]);
    }
    if (!c->block[side] || bytes + shift > AREA_BYTES) {
        abort();
    }
    c->buffer[side] = (unsigned *)((char *)c->block[side] + shift);
    memset(c->buffer[side], 0x5a, bytes);
    return c->buffer[side];
}

static void put(call_t *c)
{
    for (side_t side = SEND; side < SIDES; side++) {
        if (c->block[side] && c->place[side] == IN_ALLOC_MEM) {
            MPI_Free_mem(c->block[side]);
        } else if (c->block[side] && c->place[side] == IN_HEAP) {
            free(c->block[side]);
        }
    }
}

/* ---- values ---- */

/* Element `i` of what rank `from` has for rank `to`. */
static unsigned value(const call_t *c, int from, int to, size_t i)
{
    return (unsigned)c->number * 7919u + (unsigned)from * 104729u + (unsigned)to * 1299709u +
           (unsigned)i * 3u;
}

static void fill(const call_t *c, unsigned *p, int from, int to, int n)
{
    for (int i = 0; i < n; i++) {
        p[i] = value(c, from, to, (size_t)i);
    }
}

static void expect(const call_t *c, const unsigned *p, int from, int to, int n)
{
    int i = 0;
    while (i < n && p[i] == value(c, from, to, (size_t)i)) {
        i++;
    }
    t_check(i == n,
            "%s, call %d, %d elements of rank %d, root %d, places %d %d%s: element %d is %08x, wanted %08x",
            c->name, c->number, n, from, c->root, c->place[SEND], c->place[RECV],
            c->in_place ? " in place" : "", i, i < n ? p[i] : 0, i < n ? value(c, from, to, (size_t)i) : 0);
}

/* Elements [first, first + n) of the sum over ranks 0..members-1 of what each has for rank `to` 0. */
static void expect_sum(const call_t *c, const unsigned *p, int members, int first, int n)
{
    const unsigned m = (unsigned)members, ranks = m * (m - 1) / 2 * 104729u;
    int i = 0;
    while (i < n && p[i] == m * value(c, 0, 0, (size_t)(first + i)) + ranks) {
        i++;
    }
    t_check(i == n, "%s, call %d, %d elements, root %d, places %d %d%s: element %d is wrong", c->name,
            c->number, n, c->root, c->place[SEND], c->place[RECV], c->in_place ? " in place" : "", i);
}

/* The call has returned: what was sent is the program's again. */
static void spoil(const call_t *c, side_t side, size_t elements)
{
    if (c->buffer[side]) {
        memset(c->buffer[side], 0xee, elements * sizeof(unsigned));
    }
}

/* ---- draws ---- */

static const void *sent(const call_t *c)
{
    return c->in_place ? MPI_IN_PLACE : c->buffer[SEND];
}

static bool drawn(uint64_t *state)
{
    return !all_heap && t_below(state, 3) == 0;
}

/* Around the sizes from which on the library does something else, and a few elements off. */
static int draw_elements(int blocks)
{
    static const size_t near[] = {1024,      2048,      4096,      8192,       16384,      32768,     65536,
                                  128 << 10, 256 << 10, 512 << 10, 1024 << 10, 1536 << 10, 3072 << 10};
    size_t bytes;
    do {
        bytes = near[t_below(&common, sizeof near / sizeof *near)];
    } while (bytes < least_bytes);
    int elements = (int)(bytes / sizeof(unsigned)) + (int)t_below(&common, 3) * 5 - 5;
    if (blocks > 1 && (size_t)elements * (size_t)blocks * sizeof(unsigned) > MOST_BYTES) {
        elements = (int)(MOST_BYTES / sizeof(unsigned)) / blocks;
    }
    return elements;
}

/* Blocks of different sizes, some empty, one after another or apart. */
static int draw_counts(call_t *c)
{
    const int gap = all_heap ? 0 : (int)t_below(&common, 2) * 3;
    int end = 0;
    for (int i = 0; i < t_size; i++) {
        c->counts[i] =
            !all_heap && t_below(&common, 5) == 0 ? 0 : c->n / 2 + (int)t_below(&common, (unsigned)c->n / 2);
        c->displs[i] = end;
        end += c->counts[i] + gap;
    }
    return end + 1;
}

/* In units of the type, as MPI wants them. */
static int *in_units(const call_t *c, const int *elements, int *units)
{
    for (int i = 0; i < t_size; i++) {
        units[i] = elements[i] * c->unit;
    }
    return units;
}

/* ---- one block from or to the root ---- */

static void do_bcast(call_t *c)
{
    c->n = draw_elements(1);
    unsigned *p = get(c, RECV, (size_t)c->n);
    if (t_rank == c->root) {
        fill(c, p, c->root, 0, c->n);
    }
    MPI_Bcast(p, c->n * c->unit, c->type, c->root, c->comm);
    expect(c, p, c->root, 0, c->n);
    spoil(c, RECV, (size_t)c->n);
}

static void do_gather(call_t *c)
{
    c->n = draw_elements(t_size);
    c->in_place = t_rank == c->root && drawn(&mine);
    unsigned *in = get(c, SEND, (size_t)c->n),
             *out = t_rank == c->root ? get(c, RECV, (size_t)(c->n * t_size)) : NULL;
    fill(c, c->in_place ? out + (size_t)t_rank * (size_t)c->n : in, t_rank, 0, c->n);
    MPI_Gather(sent(c), c->n * c->unit, c->type, out, c->n * c->unit, c->type, c->root, c->comm);
    spoil(c, SEND, (size_t)c->n);
    for (int i = 0; i < t_size && t_rank == c->root; i++) {
        expect(c, out + (size_t)i * (size_t)c->n, i, 0, c->n);
    }
}

static void do_gatherv(call_t *c)
{
    c->n = draw_elements(t_size);
    const int end = draw_counts(c), n = c->counts[t_rank];
    int counts[MAX_RANKS], displs[MAX_RANKS];
    c->in_place = t_rank == c->root && drawn(&mine);
    unsigned *in = get(c, SEND, (size_t)n + 1), *out = t_rank == c->root ? get(c, RECV, (size_t)end) : NULL;
    fill(c, c->in_place ? out + c->displs[t_rank] : in, t_rank, 0, n);
    MPI_Gatherv(sent(c), n * c->unit, c->type, out, in_units(c, c->counts, counts),
                in_units(c, c->displs, displs), c->type, c->root, c->comm);
    spoil(c, SEND, (size_t)n);
    for (int i = 0; i < t_size && t_rank == c->root; i++) {
        expect(c, out + c->displs[i], i, 0, c->counts[i]);
    }
}

static void do_scatter(call_t *c)
{
    c->n = draw_elements(t_size);
    c->in_place = t_rank == c->root && drawn(&mine);
    unsigned *in = t_rank == c->root ? get(c, SEND, (size_t)(c->n * t_size)) : NULL,
             *out = get(c, RECV, (size_t)c->n);
    for (int i = 0; i < t_size && t_rank == c->root; i++) {
        fill(c, in + (size_t)i * (size_t)c->n, c->root, i, c->n);
    }
    MPI_Scatter(in, c->n * c->unit, c->type, c->in_place ? MPI_IN_PLACE : out, c->n * c->unit, c->type,
                c->root, c->comm);
    expect(c, c->in_place ? in + (size_t)t_rank * (size_t)c->n : out, c->root, t_rank, c->n);
    spoil(c, SEND, (size_t)(c->n * t_size));
}

static void do_scatterv(call_t *c)
{
    c->n = draw_elements(t_size);
    const int end = draw_counts(c), n = c->counts[t_rank];
    int counts[MAX_RANKS], displs[MAX_RANKS];
    c->in_place = t_rank == c->root && drawn(&mine);
    unsigned *in = t_rank == c->root ? get(c, SEND, (size_t)end) : NULL, *out = get(c, RECV, (size_t)n + 1);
    for (int i = 0; i < t_size && t_rank == c->root; i++) {
        fill(c, in + c->displs[i], c->root, i, c->counts[i]);
    }
    MPI_Scatterv(in, in_units(c, c->counts, counts), in_units(c, c->displs, displs), c->type,
                 c->in_place ? MPI_IN_PLACE : out, n * c->unit, c->type, c->root, c->comm);
    expect(c, c->in_place ? in + c->displs[t_rank] : out, c->root, t_rank, n);
    spoil(c, SEND, (size_t)end);
}

/* ---- blocks from all to all ---- */

static void do_allgather(call_t *c)
{
    c->n = draw_elements(t_size);
    c->in_place = drawn(&common);
    unsigned *in = get(c, SEND, (size_t)c->n), *out = get(c, RECV, (size_t)(c->n * t_size));
    fill(c, c->in_place ? out + (size_t)t_rank * (size_t)c->n : in, t_rank, 0, c->n);
    MPI_Allgather(sent(c), c->n * c->unit, c->type, out, c->n * c->unit, c->type, c->comm);
    spoil(c, SEND, (size_t)c->n);
    for (int i = 0; i < t_size; i++) {
        expect(c, out + (size_t)i * (size_t)c->n, i, 0, c->n);
    }
}

static void do_allgatherv(call_t *c)
{
    c->n = draw_elements(t_size);
    const int end = draw_counts(c), n = c->counts[t_rank];
    int counts[MAX_RANKS], displs[MAX_RANKS];
    c->in_place = drawn(&common);
    unsigned *in = get(c, SEND, (size_t)n + 1), *out = get(c, RECV, (size_t)end);
    fill(c, c->in_place ? out + c->displs[t_rank] : in, t_rank, 0, n);
    MPI_Allgatherv(sent(c), n * c->unit, c->type, out, in_units(c, c->counts, counts),
                   in_units(c, c->displs, displs), c->type, c->comm);
    spoil(c, SEND, (size_t)n);
    for (int i = 0; i < t_size; i++) {
        expect(c, out + c->displs[i], i, 0, c->counts[i]);
    }
}

static void do_alltoall(call_t *c)
{
    c->n = draw_elements(t_size);
    c->in_place = drawn(&common);
    const size_t n = (size_t)c->n;
    unsigned *in = get(c, SEND, n * (size_t)t_size), *out = get(c, RECV, n * (size_t)t_size);
    for (int i = 0; i < t_size; i++) {
        fill(c, (c->in_place ? out : in) + (size_t)i * n, t_rank, i, c->n);
    }
    MPI_Alltoall(sent(c), c->n * c->unit, c->type, out, c->n * c->unit, c->type, c->comm);
    spoil(c, SEND, n * (size_t)t_size);
    for (int i = 0; i < t_size; i++) {
        expect(c, out + (size_t)i * n, i, t_rank, c->n);
    }
}

/* The count of what `from` sends to `to`; the same both ways, as in place wants it. */
static int pair_count(const call_t *c, int from, int to)
{
    const int low = from < to ? from : to, high = from < to ? to : from;
    return (low + high + c->number) % 5 == 0 && !all_heap ? 0 : c->n - (low * 7 + high * 3) % 50;
}

static void pair_counts(call_t *c)
{
    for (int i = 0; i < t_size; i++) {
        c->counts[i] = pair_count(c, t_rank, i);
        c->displs[i] = i * c->n;
    }
}

static void do_alltoallvw(call_t *c, bool w)
{
    c->n = draw_elements(t_size);
    c->in_place = drawn(&common);
    const size_t all = (size_t)c->n * (size_t)t_size;
    int counts[MAX_RANKS], displs[MAX_RANKS];
    MPI_Datatype types[MAX_RANKS];
    unsigned *in = get(c, SEND, all), *out = get(c, RECV, all);
    pair_counts(c);
    in_units(c, c->counts, counts);
    in_units(c, c->displs, displs);
    for (int i = 0; i < t_size; i++) {
        fill(c, (c->in_place ? out : in) + c->displs[i], t_rank, i, c->counts[i]);
        types[i] = c->type;
        displs[i] = w ? c->displs[i] * (int)sizeof(unsigned) : displs[i];
    }
    if (w) {
        MPI_Alltoallw(sent(c), counts, displs, types, out, counts, displs, types, c->comm);
    } else {
        MPI_Alltoallv(sent(c), counts, displs, c->type, out, counts, displs, c->type, c->comm);
    }
    spoil(c, SEND, all);
    for (int i = 0; i < t_size; i++) {
        expect(c, out + c->displs[i], i, t_rank, c->counts[i]);
    }
}

static void do_alltoallv(call_t *c)
{
    do_alltoallvw(c, false);
}

static void do_alltoallw(call_t *c)
{
    do_alltoallvw(c, true);
}

/* ---- sums ---- */

static unsigned *get_summands(call_t *c, size_t in_elements, size_t out_elements)
{
    unsigned *in = get(c, SEND, in_elements), *out = get(c, RECV, c->in_place ? in_elements : out_elements);
    fill(c, c->in_place ? out : in, t_rank, 0, (int)in_elements);
    return out;
}

static void do_allreduce(call_t *c)
{
    c->n = draw_elements(1);
    c->in_place = drawn(&common);
    unsigned *out = get_summands(c, (size_t)c->n, (size_t)c->n);
    MPI_Allreduce(sent(c), out, c->n, MPI_UNSIGNED, MPI_SUM, c->comm);
    spoil(c, SEND, (size_t)c->n);
    expect_sum(c, out, t_size, 0, c->n);
}

static void do_reduce(call_t *c)
{
    c->n = draw_elements(1);
    c->in_place = t_rank == c->root && drawn(&mine);
    unsigned *out = get_summands(c, (size_t)c->n, (size_t)c->n);
    MPI_Reduce(sent(c), t_rank == c->root ? out : NULL, c->n, MPI_UNSIGNED, MPI_SUM, c->root, c->comm);
    spoil(c, SEND, (size_t)c->n);
    if (t_rank == c->root) {
        expect_sum(c, out, t_size, 0, c->n);
    }
}

/* In place on some ranks alone, also in the next three. */
static void do_reduce_scatter_block(call_t *c)
{
    c->n = draw_elements(t_size);
    c->in_place = drawn(&mine);
    unsigned *out = get_summands(c, (size_t)(c->n * t_size), (size_t)c->n);
    MPI_Reduce_scatter_block(sent(c), out, c->n, MPI_UNSIGNED, MPI_SUM, c->comm);
    spoil(c, SEND, (size_t)(c->n * t_size));
    expect_sum(c, out, t_size, t_rank * c->n, c->n);
}

static void do_reduce_scatter(call_t *c)
{
    c->n = draw_elements(t_size);
    c->in_place = drawn(&mine);
    int all = 0, before = 0;
    draw_counts(c);
    for (int i = 0; i < t_size; i++) {
        before += i < t_rank ? c->counts[i] : 0;
        all += c->counts[i];
    }
    unsigned *out = get_summands(c, (size_t)all + 1, (size_t)c->counts[t_rank] + 1);
    MPI_Reduce_scatter(sent(c), out, c->counts, MPI_UNSIGNED, MPI_SUM, c->comm);
    spoil(c, SEND, (size_t)all);
    expect_sum(c, out, t_size, before, c->counts[t_rank]);
}

static void do_scan(call_t *c)
{
    c->n = draw_elements(1);
    c->in_place = drawn(&mine);
    unsigned *out = get_summands(c, (size_t)c->n, (size_t)c->n);
    MPI_Scan(sent(c), out, c->n, MPI_UNSIGNED, MPI_SUM, c->comm);
    spoil(c, SEND, (size_t)c->n);
    expect_sum(c, out, t_rank + 1, 0, c->n);
}

static void do_exscan(call_t *c)
{
    c->n = draw_elements(1);
    c->in_place = drawn(&mine);
    unsigned *out = get_summands(c, (size_t)c->n, (size_t)c->n);
    MPI_Exscan(sent(c), out, c->n, MPI_UNSIGNED, MPI_SUM, c->comm);
    spoil(c, SEND, (size_t)c->n);
    if (t_rank > 0) {
        expect_sum(c, out, t_rank, 0, c->n);
    }
}

static void do_barrier(call_t *c)
{
    MPI_Barrier(c->comm);
}

/* ---- rounds ---- */

static const struct {
    const char *name;
    void (*run)(call_t *c);
} collectives[] = {
    {"Bcast", do_bcast},
    {"Gather", do_gather},
    {"Gatherv", do_gatherv},
    {"Scatter", do_scatter},
    {"Scatterv", do_scatterv},
    {"Allgather", do_allgather},
    {"Allgatherv", do_allgatherv},
    {"Alltoall", do_alltoall},
    {"Alltoallv", do_alltoallv},
    {"Alltoallw", do_alltoallw},
    {"Allreduce", do_allreduce},
    {"Reduce", do_reduce},
    {"Reduce_scatter_block", do_reduce_scatter_block},
    {"Reduce_scatter", do_reduce_scatter},
    {"Scan", do_scan},
    {"Exscan", do_exscan},
    {"Barrier", do_barrier},
};

/* A communicator that has seen no buffer outside the heap asks for heaps again: every other round is such a
 * one. */
static void run_round(int round)
{
    static int number;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
        const size_t at = (i * 5 + (size_t)round * 3) % (sizeof collectives / sizeof *collectives);
        const bool bytes = t_below(&common, 2);
        call_t c = {.comm = comm,
                    .name = collectives[at].name,
                    .number = ++number,
                    .root = (int)t_below(&common, (unsigned)t_size),
                    .type = bytes ? MPI_BYTE : MPI_UNSIGNED,
                    .unit = bytes ? (int)sizeof(unsigned) : 1};
        collectives[at].run(&c);
        put(&c);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    t_init(&argc, &argv, SECONDS);
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    const int rounds = argc > 2 ? atoi(argv[2]) : 4;
    const bool heap = argc > 3 && strcmp(argv[3], "heap") == 0;
    least_bytes = argc > 4 ? strtoull(argv[4], NULL, 0) : 0;
    common = t_mix(seed);
    mine = t_mix(seed + 1000 + (uint64_t)t_rank);
    for (int round = 0; round < rounds; round++) {
        all_heap = heap || round % 2;
        run_round(round);
    }
    t_section("%d rounds of %zu collectives on %d ranks, seed %llu", rounds,
              sizeof collectives / sizeof *collectives, t_size, (unsigned long long)seed);
    return t_finish();
}
