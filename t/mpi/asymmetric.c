/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/asymmetric.c - legal calls whose arguments differ from rank to rank in whatever MPI allows to differ.
 * A library that decides by such an argument takes different ways on different ranks and hangs; the alarm
 * turns that into a failure.
 *
 * usage: asymmetric [plain]     plain: without what MPICH 4.0 itself gets wrong
 */
#include "common.h"

enum { MAX_RANKS = 64, MIB = 1 << 20 };

static bool plain;

#define JUNK       t_junk
#define JUNK_INTS  ((int *)t_junk)
#define JUNK_COUNT T_JUNK_COUNT
#define JUNK_TYPE  ((MPI_Datatype)T_JUNK_HANDLE)

static unsigned char byte_of(int from, int to, size_t i)
{
    return (unsigned char)t_mix((uint64_t)from * 1000003 + (uint64_t)to * 10007 + i);
}

static void fill(unsigned char *p, size_t n, int from, int to)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = byte_of(from, to, i);
    }
}

static void check_bytes(const unsigned char *p, size_t n, int from, int to, const char *what)
{
    size_t i = 0;
    while (i < n && p[i] == byte_of(from, to, i)) {
        i++;
    }
    t_check(i == n, "%s: from %d to %d: byte %zu of %zu is %02x, wanted %02x", what, from, to, i, n,
            i < n ? p[i] : 0, i < n ? byte_of(from, to, i) : 0);
}

static void check_code(int code, const char *what)
{
    t_check(code == MPI_SUCCESS, "%s: returned %d", what, code);
}

/* ---- different amounts ---- */

typedef size_t (*amount_t)(int from, int to);

static size_t every_other_empty(int from, int to)
{
    return (size_t)((from + to) % 2) * (size_t)(3 * from + to + 1);
}
static size_t skewed(int from, int to)
{
    return from == 0 && to == t_size - 1 ? MIB : 1;
}
static size_t only_to_next(int from, int to)
{
    return to == (from + 1) % t_size ? 5000 : 0;
}
static size_t one_sender(int from, int to)
{
    (void)to;
    return from == t_size / 2 ? 70000 : 0;
}
static size_t one_receiver(int from, int to)
{
    return to == t_size / 2 ? 300 + (size_t)from : 0;
}
static size_t nothing(int from, int to)
{
    (void)from;
    (void)to;
    return 0;
}

static const struct {
    const char *name;
    amount_t amount;
} amounts[] = {
    {"every other empty", every_other_empty}, {"skewed", skewed},
    {"only to the next", only_to_next},       {"one sender", one_sender},
    {"one receiver", one_receiver},           {"nothing", nothing},
};
enum { N_AMOUNTS = sizeof amounts / sizeof *amounts };

static unsigned char *space(size_t n)
{
    unsigned char *p = malloc(n + 1);
    memset(p, 0xee, n + 1);
    return p;
}

static void alltoallv(const char *name, amount_t amount)
{
    int sent[MAX_RANKS], sent_at[MAX_RANKS], received[MAX_RANKS], received_at[MAX_RANKS];
    size_t out = 0, in = 0;
    for (int r = 0; r < t_size; r++) {
        sent[r] = (int)amount(t_rank, r);
        received[r] = (int)amount(r, t_rank);
        sent_at[r] = (int)out;
        received_at[r] = (int)in;
        out += (size_t)sent[r];
        in += (size_t)received[r];
    }
    unsigned char *from = out ? space(out) : NULL, *to = in ? space(in) : NULL;
    if (plain && !from && !to) { /* refused as aliased by MPICH 4.0 */
        from = space(0);
    }
    for (int r = 0; r < t_size; r++) {
        fill(from + sent_at[r], (size_t)sent[r], t_rank, r);
    }
    check_code(
        MPI_Alltoallv(from, sent, sent_at, MPI_BYTE, to, received, received_at, MPI_BYTE, MPI_COMM_WORLD),
        name);
    for (int r = 0; r < t_size; r++) {
        check_bytes(to + received_at[r], (size_t)received[r], r, t_rank, name);
    }
    free(from);
    free(to);
}

/* Each pair agrees on a type of its own: bytes or, where the amount allows, ints or a pair of them. */
static MPI_Datatype pair_type(int from, int to, size_t amount, size_t *size)
{
    static const struct {
        MPI_Datatype type;
        size_t size;
    } types[] = {{MPI_BYTE, 1}, {MPI_INT, 4}, {MPI_DOUBLE, 8}, {MPI_SHORT, 2}};
    size_t i = (size_t)(from * 3 + to) % (sizeof types / sizeof *types);
    i = amount % types[i].size ? 0 : i;
    *size = types[i].size;
    return types[i].type;
}

static void alltoallw(const char *name, amount_t amount)
{
    int sent[MAX_RANKS], sent_at[MAX_RANKS], received[MAX_RANKS], received_at[MAX_RANKS];
    MPI_Datatype sent_type[MAX_RANKS], received_type[MAX_RANKS];
    size_t out = 8, in = 8, size;
    for (int i = 0; i < t_size; i++) {
        int r = (i * 7 + 3) % t_size;
        r = t_size % 7 == 0 ? i : r; /* 7 must be no divisor for this to visit all */
        size_t n = amount(t_rank, r), m = amount(r, t_rank);
        sent_type[r] = pair_type(t_rank, r, n, &size);
        sent[r] = (int)(n / size);
        received_type[r] = pair_type(r, t_rank, m, &size);
        received[r] = (int)(m / size);
        sent_at[r] = (int)out;
        received_at[r] = (int)in;
        out += (n + 15) / 8 * 8;
        in += (m + 15) / 8 * 8;
    }
    unsigned char *from = space(out), *to = space(in);
    for (int r = 0; r < t_size; r++) {
        fill(from + sent_at[r], amount(t_rank, r), t_rank, r);
    }
    check_code(MPI_Alltoallw(from, sent, sent_at, sent_type, to, received, received_at, received_type,
                             MPI_COMM_WORLD),
               name);
    for (int r = 0; r < t_size; r++) {
        check_bytes(to + received_at[r], amount(r, t_rank), r, t_rank, name);
        t_check(to[(size_t)received_at[r] + amount(r, t_rank)] == 0xee, "%s: wrote behind the block of %d",
                name, r);
    }
    free(from);
    free(to);
}

/* Rooted: rank r's block is amount(r, root). Displacements count down and may be negative from the address
 * given. */
static void gatherv(const char *name, amount_t amount, int root)
{
    int counts[MAX_RANKS], displs[MAX_RANKS];
    size_t total = 0, mine = amount(t_rank, root);
    bool is_root = t_rank == root, in_place = is_root && root % 2 == 1;
    for (int r = 0; r < t_size; r++) {
        counts[r] = (int)amount(r, root);
        total += (size_t)counts[r] + 1;
    }
    unsigned char *from = mine ? space(mine) : NULL, *to = is_root ? space(total) : NULL;
    size_t end = total / 2; /* the address given lies in the middle */
    for (int r = 0, at = (int)total; r < t_size; r++) {
        at -= counts[r] + 1;
        displs[r] = at - (int)end;
    }
    fill(from, mine, t_rank, root);
    if (in_place) {
        fill(to + end + displs[root], mine, t_rank, root);
    }
    check_code(MPI_Gatherv(in_place ? MPI_IN_PLACE : from, in_place ? JUNK_COUNT : (int)mine,
                           in_place ? JUNK_TYPE : MPI_BYTE, is_root ? to + end : JUNK,
                           is_root ? counts : JUNK_INTS, is_root ? displs : JUNK_INTS,
                           is_root ? MPI_BYTE : JUNK_TYPE, root, MPI_COMM_WORLD),
               name);
    for (int r = 0; r < t_size && is_root; r++) {
        const unsigned char *block = to + end + displs[r];
        check_bytes(block, (size_t)counts[r], r, root, name);
        t_check(block[counts[r]] == 0xee, "%s: wrote behind the block of %d", name, r);
    }
    free(from);
    free(to);
}

static void scatterv(const char *name, amount_t amount, int root)
{
    int counts[MAX_RANKS], displs[MAX_RANKS];
    size_t total = 0, mine = amount(root, t_rank);
    bool is_root = t_rank == root, in_place = is_root && root % 2 == 0;
    for (int r = t_size - 1; r >= 0; r--) {
        counts[r] = (int)amount(root, r);
        displs[r] = (int)total;
        total += (size_t)counts[r];
    }
    unsigned char *from = is_root ? space(total) : NULL, *to = mine ? space(mine) : NULL;
    for (int r = 0; r < t_size && is_root; r++) {
        fill(from + displs[r], (size_t)counts[r], root, r);
    }
    check_code(MPI_Scatterv(is_root ? from : JUNK, is_root ? counts : JUNK_INTS, is_root ? displs : JUNK_INTS,
                            is_root ? MPI_BYTE : JUNK_TYPE, in_place ? MPI_IN_PLACE : to,
                            in_place ? JUNK_COUNT : (int)mine, in_place ? JUNK_TYPE : MPI_BYTE, root,
                            MPI_COMM_WORLD),
               name);
    if (!in_place) {
        check_bytes(to, mine, root, t_rank, name);
    }
    free(from);
    free(to);
}

/* Overlap of what is only read is allowed: all ranks get the same block. */
static void scatterv_one_block(int root)
{
    int counts[MAX_RANKS], displs[MAX_RANKS], got[8] = {0}, block[8];
    for (int i = 0; i < 8; i++) {
        block[i] = root * 100 + i;
    }
    for (int r = 0; r < t_size; r++) {
        counts[r] = 8;
        displs[r] = 0;
    }
    check_code(MPI_Scatterv(block, counts, displs, MPI_INT, got, 8, MPI_INT, root, MPI_COMM_WORLD),
               "one block for all");
    t_check(memcmp(got, block, sizeof got) == 0, "one block for all: got %d.. from root %d", got[0], root);
}

static void allgatherv(const char *name, amount_t amount)
{
    int counts[MAX_RANKS], displs[MAX_RANKS];
    size_t total = 0, mine = amount(t_rank, 0);
    for (int r = t_size - 1; r >= 0; r--) {
        counts[r] = (int)amount(r, 0);
        displs[r] = (int)total + 2;
        total += (size_t)counts[r] + 3;
    }
    unsigned char *from = mine ? space(mine) : NULL, *to = space(total);
    fill(from, mine, t_rank, 0);
    check_code(MPI_Allgatherv(from, (int)mine, MPI_BYTE, to, counts, displs, MPI_BYTE, MPI_COMM_WORLD), name);
    for (int r = 0; r < t_size && !(plain && t_size == 1); r++) {
        check_bytes(to + displs[r], (size_t)counts[r], r, 0, name);
        t_check(to[displs[r] - 1] == 0xee && to[displs[r] + counts[r]] == 0xee,
                "%s: wrote into a hole by block %d", name, r);
    }
    free(from);
    free(to);
}

static void reduce_scatter(const char *name, amount_t amount)
{
    int counts[MAX_RANKS];
    size_t total = 0, before = 0;
    for (int r = 0; r < t_size; r++) {
        counts[r] = (int)amount(r, 0);
        before += r < t_rank ? (size_t)counts[r] : 0;
        total += (size_t)counts[r];
    }
    unsigned *from = total ? malloc(total * sizeof *from) : NULL;
    unsigned *to = counts[t_rank] ? malloc((size_t)counts[t_rank] * sizeof *to) : NULL;
    for (size_t i = 0; i < total; i++) {
        from[i] = (unsigned)i * (unsigned)(t_rank + 1);
    }
    check_code(MPI_Reduce_scatter(from, to, counts, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD), name);
    unsigned weight = (unsigned)(t_size * (t_size + 1) / 2);
    size_t wrong = 0;
    for (size_t i = 0; i < (size_t)counts[t_rank]; i++) {
        wrong += to[i] != (unsigned)(before + i) * weight;
    }
    t_check(wrong == 0, "%s: %zu of %d sums wrong", name, wrong, counts[t_rank]);
    free(from);
    free(to);
}

/* ---- nothing at all ---- */

static void zero_counts(void)
{
    int zeros[MAX_RANKS] = {0};
    MPI_Comm c = MPI_COMM_WORLD;
    check_code(MPI_Bcast(NULL, 0, MPI_INT, 0, c), "Bcast of nothing");
    check_code(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_DOUBLE, 0, c), "Gather of nothing");
    check_code(MPI_Gatherv(NULL, 0, MPI_INT, NULL, zeros, zeros, MPI_INT, 0, c), "Gatherv of nothing");
    check_code(MPI_Scatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, c), "Scatter of nothing");
    check_code(MPI_Scatterv(NULL, zeros, zeros, MPI_INT, NULL, 0, MPI_INT, 0, c), "Scatterv of nothing");
    check_code(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, c), "Allgather of nothing");
    check_code(MPI_Allgatherv(NULL, 0, MPI_INT, NULL, zeros, zeros, MPI_INT, c), "Allgatherv of nothing");
    check_code(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, c), "Alltoall of nothing");
    check_code(MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, c), "Reduce of nothing");
    check_code(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, c), "Allreduce of nothing");
    check_code(MPI_Reduce_scatter(NULL, NULL, zeros, MPI_INT, MPI_SUM, c), "Reduce_scatter of nothing");
    check_code(MPI_Reduce_scatter_block(NULL, NULL, 0, MPI_INT, MPI_SUM, c),
               "Reduce_scatter_block of nothing");
    check_code(MPI_Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, c), "Scan of nothing");
    check_code(MPI_Exscan(NULL, NULL, 0, MPI_INT, MPI_SUM, c), "Exscan of nothing");
    t_section("zero counts with NULL buffers");
}

/* A type without data: any count of it is nothing, whatever the other side calls nothing. */
static void empty_types(void)
{
    MPI_Datatype empty, types[MAX_RANKS], ints[MAX_RANKS];
    int ones[MAX_RANKS], zeros[MAX_RANKS] = {0}, x = 5, y = 6, odd = t_rank % 2;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    for (int r = 0; r < t_size; r++) {
        ones[r] = 1;
        types[r] = empty;
        ints[r] = MPI_INT;
    }
    MPI_Comm c = MPI_COMM_WORLD;
    check_code(MPI_Bcast(&x, odd ? 3 : 0, odd ? empty : MPI_INT, 0, c), "Bcast of an empty type");
    check_code(MPI_Gather(&x, 2, empty, &y, odd ? 7 : 0, odd ? empty : MPI_INT, 0, c),
               "Gather of an empty type");
    check_code(MPI_Scatterv(&x, ones, zeros, empty, &y, 0, MPI_INT, 0, c), "Scatterv of an empty type");
    check_code(MPI_Allgather(&x, 2, empty, &y, 0, MPI_INT, c), "Allgather of an empty type");
    check_code(MPI_Allgatherv(&x, 0, MPI_INT, &y, ones, zeros, empty, c), "Allgatherv of an empty type");
    check_code(MPI_Alltoall(&x, 1, empty, &y, 1, empty, c), "Alltoall of an empty type");
    check_code(MPI_Alltoallv(&x, zeros, zeros, MPI_INT, &y, ones, zeros, empty, c),
               "Alltoallv of an empty type");
    check_code(MPI_Alltoallw(&x, ones, zeros, types, &y, zeros, zeros, ints, c),
               "Alltoallw of an empty type");
    check_code(MPI_Alltoallw(&x, zeros, zeros, ints, &y, ones, zeros, types, c),
               "Alltoallw to an empty type");
    check_code(
        MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, &y, odd ? zeros : ones, zeros, odd ? ints : types, c),
        "Alltoallw of an empty type in place");
    t_check(x == 5 && y == 6, "an empty type moved data: %d, %d", x, y);
    MPI_Type_free(&empty);
    t_section("types without data");
}

/* Some ranks give NULL with a count of zero while others have data. */
static void null_on_some(void)
{
    for (int root = 0; root < t_size; root++) {
        int counts[MAX_RANKS], displs[MAX_RANKS], total = 0, to[2 * MAX_RANKS];
        for (int r = 0; r < t_size; r++) {
            counts[r] = r % 2;
            displs[r] = total;
            total += counts[r];
        }
        int mine = 1000 + t_rank;
        check_code(MPI_Gatherv(counts[t_rank] ? &mine : NULL, counts[t_rank], MPI_INT,
                               t_rank == root ? to : NULL, t_rank == root ? counts : NULL,
                               t_rank == root ? displs : NULL, MPI_INT, root, MPI_COMM_WORLD),
                   "Gatherv, NULL on some");
        for (int r = 1; r < t_size && t_rank == root; r += 2) {
            t_check(to[displs[r]] == 1000 + r, "Gatherv, NULL on some: got %d from %d", to[displs[r]], r);
        }
    }
    t_section("NULL buffers on ranks whose count is zero");
}

/* ---- arguments that are not significant ---- */

static void junk_at_non_roots(void)
{
    for (int root = 0; root < t_size; root++) {
        bool is_root = t_rank == root;
        int mine = t_rank + 7, all[MAX_RANKS], sum = -1;
        check_code(MPI_Gather(&mine, 1, MPI_INT, is_root ? all : JUNK, is_root ? 1 : JUNK_COUNT,
                              is_root ? MPI_INT : JUNK_TYPE, root, MPI_COMM_WORLD),
                   "Gather, junk");
        for (int r = 0; r < t_size && is_root; r++) {
            t_check(all[r] == r + 7, "Gather, junk: got %d from %d", all[r], r);
        }
        check_code(MPI_Scatter(is_root ? all : JUNK, is_root ? 1 : JUNK_COUNT, is_root ? MPI_INT : JUNK_TYPE,
                               &mine, 1, MPI_INT, root, MPI_COMM_WORLD),
                   "Scatter, junk");
        t_check(mine == t_rank + 7, "Scatter, junk: got %d", mine);
        check_code(MPI_Reduce(&mine, is_root ? &sum : JUNK, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD),
                   "Reduce, junk");
        t_check(!is_root || sum == t_size * 7 + t_size * (t_size - 1) / 2, "Reduce, junk: got %d", sum);
    }
    t_section("garbage in arguments that are not significant at non-roots");
}

static void junk_in_place(void)
{
    int all[MAX_RANKS], counts[MAX_RANKS], displs[MAX_RANKS];
    MPI_Datatype types[MAX_RANKS];
    for (int r = 0; r < t_size; r++) {
        counts[r] = 1;
        displs[r] = r;
        types[r] = MPI_INT;
        all[r] = r == t_rank ? r + 7 : -1;
    }
    check_code(MPI_Allgather(MPI_IN_PLACE, JUNK_COUNT, JUNK_TYPE, all, 1, MPI_INT, MPI_COMM_WORLD),
               "Allgather, in place");
    for (int r = 0; r < t_size; r++) {
        t_check(all[r] == r + 7, "Allgather, in place: got %d from %d", all[r], r);
        all[r] = t_rank * 100 + r;
    }
    check_code(MPI_Alltoall(MPI_IN_PLACE, JUNK_COUNT, JUNK_TYPE, all, 1, MPI_INT, MPI_COMM_WORLD),
               "Alltoall, in place");
    check_code(MPI_Alltoallv(MPI_IN_PLACE, JUNK_INTS, JUNK_INTS, JUNK_TYPE, all, counts, displs, MPI_INT,
                             MPI_COMM_WORLD),
               "Alltoallv, in place");
    for (int r = 0; r < t_size; r++) {
        displs[r] = r * (int)sizeof(int);
    }
    check_code(
        MPI_Alltoallw(MPI_IN_PLACE, JUNK_INTS, JUNK_INTS, JUNK, all, counts, displs, types, MPI_COMM_WORLD),
        "Alltoallw, in place");
    for (int r = 0; r < t_size; r++) { /* transposed three times */
        t_check(all[r] == r * 100 + t_rank, "Alltoall three times in place: got %d from %d", all[r], r);
    }
    t_section("garbage in arguments that IN_PLACE makes not significant");
}

/* Rank 0 receives nothing from an Exscan: its receive buffer may be NULL. */
static void exscan_null(void)
{
    int mine = t_rank + 1, before = -1;
    check_code(MPI_Exscan(&mine, t_rank ? &before : NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "Exscan");
    t_check(t_rank == 0 || before == t_rank * (t_rank + 1) / 2, "Exscan: got %d", before);
    t_section("Exscan with NULL as rank 0's receive buffer");
}

/* ---- one side contiguous, the other not; only one rank of all ---- */

static void strided_on_one_rank(void)
{
    enum { N = 3000 };
    MPI_Datatype strided;
    MPI_Type_vector(N, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    for (int odd = 0; odd < t_size; odd++) {
        int *buffer = malloc(2 * N * sizeof *buffer);
        int step = t_rank == odd ? 2 : 1;
        for (int i = 0; i < 2 * N; i++) {
            buffer[i] = t_rank == 0 && i % step == 0 && i / step < N ? i / step + odd : -5;
        }
        check_code(t_rank == odd ? MPI_Bcast(buffer, 1, strided, 0, MPI_COMM_WORLD)
                                 : MPI_Bcast(buffer, N, MPI_INT, 0, MPI_COMM_WORLD),
                   "Bcast");
        int wrong = 0;
        for (int i = 0; i < 2 * N; i++) {
            bool data = i % step == 0 && i / step < N;
            wrong += buffer[i] != (data ? i / step + odd : -5);
        }
        t_check(wrong == 0, "Bcast, strided on rank %d alone: %d ints wrong", odd, wrong);
        free(buffer);
    }
    MPI_Type_free(&strided);
    t_section("Bcast with a derived type on one rank only");
}

int main(int argc, char **argv)
{
    enum { SECONDS = 60 };
    t_init(&argc, &argv, SECONDS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    plain = argc > 1 && strcmp(argv[1], "plain") == 0;
    for (int i = 0; i < N_AMOUNTS; i++) {
        alltoallv(amounts[i].name, amounts[i].amount);
        alltoallw(amounts[i].name, amounts[i].amount);
        allgatherv(amounts[i].name, amounts[i].amount);
        reduce_scatter(amounts[i].name, amounts[i].amount);
        for (int root = 0; root < t_size; root++) {
            gatherv(amounts[i].name, amounts[i].amount, root);
            scatterv(amounts[i].name, amounts[i].amount, root);
            scatterv_one_block(root);
        }
        t_section("amounts per pair: %s, on %d ranks", amounts[i].name, t_size);
    }
    zero_counts();
    if (!plain) { /* MPICH 4.0 sends a message that nobody receives */
        empty_types();
    }
    null_on_some();
    junk_at_non_roots();
    junk_in_place();
    if (!plain) {
        exscan_null();
    }
    strided_on_one_rank();
    return t_finish();
}
