/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/userop.c - user-defined ops, commutative and not, on predefined and derived types with gaps, in all
 * collectives that reduce, against a reference in rank order. The op function must see the datatype handle of
 * the call and sane lengths.
 *
 * usage: userop [LARGEST_COUNT]
 */
#include "common.h"

enum { MAX_RANKS = 64, MAX_WORDS = 4 };

/*
 * An element is `words` unsigned ints at `at`, in units of int; what lies between belongs to somebody else.
 * All arithmetic is modulo 2^32, so that any order of evaluation that keeps the order of the operands gives
 * the same bits.
 */
typedef struct {
    const char *name;
    MPI_Op op;
    MPI_Datatype type;
    int words, at[MAX_WORDS], extent;
    void (*apply)(const unsigned *left, const unsigned *right, unsigned *result);
    bool commutes;
} algebra_t;

static algebra_t *current;
static unsigned long calls, bad_handles, bad_lengths, aliased;
static int largest_length;

static void affine(const unsigned *l, const unsigned *r, unsigned *out)
{
    unsigned a = l[0] * r[0], b = l[1] * r[0] + r[1];
    out[0] = a;
    out[1] = b;
}

static void matrix_product(const unsigned *l, const unsigned *r, unsigned *out)
{
    unsigned m[4] = {l[0] * r[0] + l[1] * r[2], l[0] * r[1] + l[1] * r[3], l[2] * r[0] + l[3] * r[2],
                     l[2] * r[1] + l[3] * r[3]};
    memcpy(out, m, sizeof m);
}

static void first(const unsigned *l, const unsigned *r, unsigned *out)
{
    (void)r;
    out[0] = l[0];
}

static void last(const unsigned *l, const unsigned *r, unsigned *out)
{
    (void)l;
    out[0] = r[0];
}

static void modular_sum(const unsigned *l, const unsigned *r, unsigned *out)
{
    out[0] = (l[0] % 65521 + r[0] % 65521) % 65521;
}

static void load(const algebra_t *a, const unsigned *element, unsigned *words)
{
    for (int i = 0; i < a->words; i++) {
        words[i] = element[a->at[i]];
    }
}

static void store(const algebra_t *a, unsigned *element, const unsigned *words)
{
    for (int i = 0; i < a->words; i++) {
        element[a->at[i]] = words[i];
    }
}

/* inout = in op inout: what is in `in` stands left. */
static void apply_all(const unsigned *in, unsigned *inout, size_t n, MPI_Datatype type)
{
    const algebra_t *a = current;
    calls++;
    bad_handles += type != a->type;
    aliased += in == inout;
    for (size_t i = 0; i < n; i++, in += a->extent, inout += a->extent) {
        unsigned l[MAX_WORDS], r[MAX_WORDS], result[MAX_WORDS];
        load(a, in, l);
        load(a, inout, r);
        a->apply(l, r, result);
        store(a, inout, result);
    }
}

static void op_small(void *in, void *inout, int *n, MPI_Datatype *type)
{
    bad_lengths += *n <= 0 || *n > largest_length;
    apply_all(in, inout, (size_t)*n, *type);
}

static void op_large(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    bad_lengths += *n <= 0 || *n > largest_length;
    apply_all(in, inout, (size_t)*n, *type);
}

/* ---- one call ---- */

typedef struct {
    algebra_t *a;
    int count, root;
    bool in_place, large;
    t_buf_t send, recv, send_want, recv_want;
} call_t;

static unsigned input_word(int rank, size_t index, int word)
{
    return (unsigned)t_mix(((uint64_t)rank << 48) + index * MAX_WORDS + (uint64_t)word);
}

static void set_element(const algebra_t *a, t_buf_t *buf, size_t at, const unsigned *words)
{
    store(a, (unsigned *)(void *)buf->data + at * (size_t)a->extent, words);
}

static void input(const algebra_t *a, int rank, size_t index, unsigned *words)
{
    for (int i = 0; i < a->words; i++) {
        words[i] = input_word(rank, index, i);
    }
}

static void begin(call_t *c, size_t inputs, size_t outputs, bool in_place)
{
    size_t bytes = (size_t)c->a->extent * sizeof(unsigned);
    t_buf_set(&c->send, inputs * bytes, 0);
    t_buf_set(&c->recv, (in_place && inputs > outputs ? inputs : outputs) * bytes, 0);
    for (size_t i = 0; i < inputs; i++) {
        unsigned words[MAX_WORDS];
        input(c->a, t_rank, i, words);
        set_element(c->a, in_place ? &c->recv : &c->send, i, words);
    }
    t_buf_image(&c->send_want, &c->send);
    t_buf_image(&c->recv_want, &c->recv);
}

static void want(call_t *c, int ranks, size_t index, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned sum[MAX_WORDS], next[MAX_WORDS];
        input(c->a, 0, index + i, sum);
        for (int r = 1; r < ranks; r++) {
            input(c->a, r, index + i, next);
            c->a->apply(sum, next, sum);
        }
        set_element(c->a, &c->recv_want, i, sum);
    }
}

static void end(call_t *c, const char *name, int code)
{
    char text[128];
    ptrdiff_t where = 0;
    snprintf(text, sizeof text, "%s%s %s count %d root %d%s", name, c->large ? "_c" : "", c->a->name,
             c->count, c->root, c->in_place ? " in place" : "");
    t_check(code == MPI_SUCCESS, "%s: returned %d", text, code);
    t_check(t_buf_equal(&c->send, &c->send_want, &where), "%s: send buffer changed at byte %td", text, where);
    bool same = t_buf_equal(&c->recv, &c->recv_want, &where);
    t_check(same, "%s: receive buffer wrong at byte %td (element %td)", text, where,
            where / (ptrdiff_t)(sizeof(unsigned) * (size_t)c->a->extent));
}

#define CALL(large, name, ...) ((large) ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))
#define SENT(c, in_place)      ((in_place) ? MPI_IN_PLACE : (c)->send.data)

static void reduce(call_t *c)
{
    bool is_root = t_rank == c->root, in_place = is_root && c->in_place;
    size_t n = (size_t)c->count;
    begin(c, n, is_root ? n : 0, in_place);
    want(c, t_size, 0, is_root ? n : 0);
    end(c, "MPI_Reduce",
        CALL(c->large, MPI_Reduce, SENT(c, in_place), is_root ? c->recv.data : NULL, c->count, c->a->type,
             c->a->op, c->root, MPI_COMM_WORLD));
}

static void allreduce(call_t *c)
{
    begin(c, (size_t)c->count, (size_t)c->count, c->in_place);
    want(c, t_size, 0, (size_t)c->count);
    end(c, "MPI_Allreduce",
        CALL(c->large, MPI_Allreduce, SENT(c, c->in_place), c->recv.data, c->count, c->a->type, c->a->op,
             MPI_COMM_WORLD));
}

static void scan(call_t *c)
{
    begin(c, (size_t)c->count, (size_t)c->count, c->in_place);
    want(c, t_rank + 1, 0, (size_t)c->count);
    end(c, "MPI_Scan",
        CALL(c->large, MPI_Scan, SENT(c, c->in_place), c->recv.data, c->count, c->a->type, c->a->op,
             MPI_COMM_WORLD));
}

static void exscan(call_t *c)
{
    begin(c, (size_t)c->count, (size_t)c->count, c->in_place);
    want(c, t_rank, 0, t_rank ? (size_t)c->count : 0);
    end(c, "MPI_Exscan",
        CALL(c->large, MPI_Exscan, SENT(c, c->in_place), c->recv.data, c->count, c->a->type, c->a->op,
             MPI_COMM_WORLD));
}

static void reduce_scatter(call_t *c)
{
    int counts[MAX_RANKS];
    MPI_Count wide[MAX_RANKS];
    size_t before = 0, total = 0;
    for (int r = 0; r < t_size; r++) {
        counts[r] = c->count / t_size + (r * 2 + 1) % 3;
        wide[r] = counts[r];
        before += r < t_rank ? (size_t)counts[r] : 0;
        total += (size_t)counts[r];
    }
    largest_length = (int)total;
    begin(c, total, (size_t)counts[t_rank], c->in_place);
    want(c, t_size, before, (size_t)counts[t_rank]);
    void *from = SENT(c, c->in_place);
    end(c, "MPI_Reduce_scatter",
        c->large ? MPI_Reduce_scatter_c(from, c->recv.data, wide, c->a->type, c->a->op, MPI_COMM_WORLD)
                 : MPI_Reduce_scatter(from, c->recv.data, counts, c->a->type, c->a->op, MPI_COMM_WORLD));
}

static void reduce_scatter_block(call_t *c)
{
    int count = c->count / t_size + 1;
    size_t n = (size_t)count;
    largest_length = count * t_size;
    begin(c, n * (size_t)t_size, n, c->in_place);
    want(c, t_size, n * (size_t)t_rank, n);
    end(c, "MPI_Reduce_scatter_block",
        CALL(c->large, MPI_Reduce_scatter_block, SENT(c, c->in_place), c->recv.data, count, c->a->type,
             c->a->op, MPI_COMM_WORLD));
}

static const struct {
    const char *name;
    void (*run)(call_t *c);
} functions[] = {
    {"MPI_Reduce", reduce},
    {"MPI_Allreduce", allreduce},
    {"MPI_Scan", scan},
    {"MPI_Exscan", exscan},
    {"MPI_Reduce_scatter", reduce_scatter},
    {"MPI_Reduce_scatter_block", reduce_scatter_block},
};

/* ---- the ops ---- */

static MPI_Datatype words_at(int words, const int *at, int extent)
{
    MPI_Datatype blocks, type;
    MPI_Type_create_indexed_block(words, 1, at, MPI_UNSIGNED, &blocks);
    MPI_Type_create_resized(blocks, 0, (MPI_Aint)(extent * (int)sizeof(unsigned)), &type);
    MPI_Type_free(&blocks);
    MPI_Type_commit(&type);
    return type;
}

static void run_algebra(algebra_t *a, bool large_function, int limit)
{
    static const int counts[] = {0, 1, 5, 1000, 20000};
    static call_t c;
    current = a;
    a->type = a->words == 1 && a->extent == 1 ? MPI_UNSIGNED : words_at(a->words, a->at, a->extent);
    if (large_function) {
        MPI_Op_create_c(op_large, a->commutes, &a->op);
    } else {
        MPI_Op_create(op_small, a->commutes, &a->op);
    }
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts && counts[i] <= limit; i++) {
            for (int variant = 0; variant < 4; variant++) {
                c.a = a;
                c.count = largest_length = counts[i];
                c.root = (variant + (int)i) % t_size;
                c.in_place = variant % 2 == 1;
                c.large = variant / 2 == 1;
                functions[f].run(&c);
            }
        }
    }
    MPI_Op_free(&a->op);
    if (a->type != MPI_UNSIGNED) {
        MPI_Type_free(&a->type);
    }
}

int main(int argc, char **argv)
{
    enum { SECONDS = 120 };
    static algebra_t algebras[] = {
        {.name = "sum modulo 65521",
         .words = 1,
         .at = {0},
         .extent = 1,
         .apply = modular_sum,
         .commutes = true},
        {.name = "leftmost", .words = 1, .at = {0}, .extent = 1, .apply = first},
        {.name = "rightmost", .words = 1, .at = {0}, .extent = 1, .apply = last},
        {.name = "affine maps", .words = 2, .at = {0, 1}, .extent = 2, .apply = affine},
        {.name = "affine maps with gaps", .words = 2, .at = {0, 3}, .extent = 5, .apply = affine},
        {.name = "2x2 matrices", .words = 4, .at = {0, 1, 2, 3}, .extent = 4, .apply = matrix_product},
        {.name = "2x2 matrices with gaps",
         .words = 4,
         .at = {5, 0, 2, 3},
         .extent = 7,
         .apply = matrix_product},
        {.name = "sum modulo 65521 with a gap",
         .words = 1,
         .at = {1},
         .extent = 3,
         .apply = modular_sum,
         .commutes = true},
    };
    t_init(&argc, &argv, SECONDS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int limit = argc > 1 ? atoi(argv[1]) : 1 << 30;
    for (size_t i = 0; i < sizeof algebras / sizeof *algebras; i++) {
        for (int large = 0; large < 2; large++) {
            run_algebra(&algebras[i], large == 1, limit);
        }
        t_section("user op: %s, on %d ranks", algebras[i].name, t_size);
    }
    t_check(t_size == 1 || calls > 0, "no op function was called");
    t_check(bad_handles == 0, "%lu of %lu calls of an op function saw another datatype handle", bad_handles,
            calls);
    t_check(bad_lengths == 0, "%lu of %lu calls of an op function saw a length of 0 or more than the count",
            bad_lengths, calls);
    t_check(aliased == 0, "%lu of %lu calls of an op function saw one buffer as both arguments", aliased,
            calls);
    t_section("what op functions are called with");
    return t_finish();
}
