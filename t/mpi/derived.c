/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/derived.c - derived datatypes in the collectives that move data: each rank has shapes of its own with
 * equal signatures, on one side or both, with negative lower bounds and strides, gaps, and absolute addresses
 * on MPI_BOTTOM. usage: derived [LARGEST_NUMBER_OF_ITEMS]
 */
#include "shapes.h"

enum { MAX_RANKS = 64 };

/* One case: which shape each rank sends and receives. */
typedef struct {
    const shape_t *shapes;
    size_t n_shapes, items;
    int turn, root;
} case_t;

static side_t from, to;
static char text[128];

static const shape_t *sent_shape(const case_t *c, int rank)
{
    return &c->shapes[(size_t)(rank * 2 + c->turn) % c->n_shapes];
}

static const shape_t *received_shape(const case_t *c, int rank)
{
    return &c->shapes[(size_t)(rank + c->turn * 3 + 1) % c->n_shapes];
}

/* Absolute addresses are used on some ranks only. */
static bool is_absolute(const case_t *c, int rank)
{
    return (rank + c->turn) % 4 == 3;
}

/* Every third turn what is sent lies where it is received (on the root, where only that can be in place). */
static bool in_place(const case_t *c)
{
    return c->turn % 3 == 1;
}

/* Both forms of a call whose arguments convert; they take turns. */
#define CALL(c, name, ...) ((c)->turn % 2 ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))
#define SENT(here)         ((here) ? MPI_IN_PLACE : side_address(&from))
#define RECEIVED(here)     ((here) ? MPI_IN_PLACE : side_address(&to))

static void sides(const case_t *c, size_t sent, size_t received)
{
    side_new(&from, sent_shape(c, t_rank), sent, is_absolute(c, t_rank));
    side_new(&to, received_shape(c, t_rank), received, is_absolute(c, t_rank + 1));
}

static void ready(void)
{
    side_ready(&from);
    side_ready(&to);
}

static void finish(const char *name, const case_t *c, int code)
{
    snprintf(text, sizeof text, "%s of %zu items, turn %d root %d", name, c->items, c->turn, c->root);
    t_check(code == MPI_SUCCESS, "%s: returned %d", text, code);
    strcat(text, ", sent");
    side_check(&from, text);
    strcpy(strrchr(text, ','), ", received");
    side_check(&to, text);
    side_end(&from);
    side_end(&to);
}

static void bcast(const case_t *c)
{
    bool is_root = t_rank == c->root;
    sides(c, is_root ? c->items : 0, is_root ? 0 : c->items);
    side_t *mine = is_root ? &from : &to;
    side_put(&from, 0, c->root, 0, is_root ? c->items : 0);
    ready();
    side_want(mine, 0, c->root, 0, c->items);
    finish("MPI_Bcast", c,
           CALL(c, MPI_Bcast, side_address(mine), side_count(mine, c->items), mine->type, c->root,
                MPI_COMM_WORLD));
}

/* Ragged blocks of v-collectives, with a hole of one item after each; block r of `total` starts at displs[r].
 */
static size_t ragged(const case_t *c, const side_t *side, int *counts, int *displs)
{
    size_t at = 0;
    for (int r = t_size - 1; r >= 0; r--) {
        size_t n = c->items + (size_t)r % 2;
        counts[r] = side_count(side, n);
        displs[r] = side_count(side, at);
        at += n + 1;
    }
    return at;
}

static void gather(const case_t *c)
{
    bool is_root = t_rank == c->root, here = is_root && in_place(c);
    size_t n = c->items, p = (size_t)t_size;
    sides(c, n, is_root ? n * p : 0);
    side_put(here ? &to : &from, here ? n * (size_t)t_rank : 0, t_rank, 0, n);
    ready();
    for (int r = 0; r < t_size && is_root; r++) {
        side_want(&to, n * (size_t)r, r, 0, n);
    }
    finish("MPI_Gather", c,
           CALL(c, MPI_Gather, SENT(here), side_count(&from, n), from.type, side_address(&to),
                side_count(&to, n), to.type, c->root, MPI_COMM_WORLD));
}

static void gatherv(const case_t *c)
{
    int counts[MAX_RANKS], displs[MAX_RANKS];
    bool is_root = t_rank == c->root, here = is_root && in_place(c);
    size_t mine = c->items + (size_t)t_rank % 2;
    to.shape = received_shape(c, t_rank);
    size_t total = ragged(c, &to, counts, displs), own = (size_t)(displs[t_rank] / to.shape->per_item);
    sides(c, mine, is_root ? total : 0);
    side_put(here ? &to : &from, here ? own : 0, t_rank, 0, mine);
    ready();
    for (int r = 0; r < t_size && is_root; r++) {
        side_want(&to, (size_t)(displs[r] / to.shape->per_item), r, 0, c->items + (size_t)r % 2);
    }
    finish("MPI_Gatherv", c,
           MPI_Gatherv(SENT(here), side_count(&from, mine), from.type, side_address(&to), counts, displs,
                       to.type, c->root, MPI_COMM_WORLD));
}

static void scatter(const case_t *c)
{
    bool is_root = t_rank == c->root, here = is_root && in_place(c);
    size_t n = c->items;
    sides(c, is_root ? n * (size_t)t_size : 0, n);
    side_put(&from, 0, c->root, 0, is_root ? n * (size_t)t_size : 0);
    ready();
    side_want(&to, 0, c->root, n * (size_t)t_rank, here ? 0 : n);
    finish("MPI_Scatter", c,
           CALL(c, MPI_Scatter, side_address(&from), side_count(&from, n), from.type, RECEIVED(here),
                side_count(&to, n), to.type, c->root, MPI_COMM_WORLD));
}

static void scatterv(const case_t *c)
{
    int counts[MAX_RANKS], displs[MAX_RANKS];
    bool is_root = t_rank == c->root, here = is_root && in_place(c);
    size_t mine = c->items + (size_t)t_rank % 2;
    from.shape = sent_shape(c, t_rank);
    size_t total = ragged(c, &from, counts, displs);
    sides(c, is_root ? total : 0, mine);
    for (int r = 0; r < t_size && is_root; r++) {
        side_put(&from, (size_t)(displs[r] / from.shape->per_item), c->root, (size_t)r * 1000,
                 c->items + (size_t)r % 2);
    }
    ready();
    side_want(&to, 0, c->root, (size_t)t_rank * 1000, here ? 0 : mine);
    finish("MPI_Scatterv", c,
           MPI_Scatterv(side_address(&from), counts, displs, from.type, RECEIVED(here), side_count(&to, mine),
                        to.type, c->root, MPI_COMM_WORLD));
}

static void allgather(const case_t *c)
{
    size_t n = c->items;
    bool here = in_place(c);
    sides(c, n, n * (size_t)t_size);
    side_put(here ? &to : &from, here ? n * (size_t)t_rank : 0, t_rank, 0, n);
    ready();
    for (int r = 0; r < t_size; r++) {
        side_want(&to, n * (size_t)r, r, 0, n);
    }
    finish("MPI_Allgather", c,
           CALL(c, MPI_Allgather, SENT(here), side_count(&from, n), from.type, side_address(&to),
                side_count(&to, n), to.type, MPI_COMM_WORLD));
}

static void allgatherv(const case_t *c)
{
    int counts[MAX_RANKS], displs[MAX_RANKS];
    size_t mine = c->items + (size_t)t_rank % 2;
    bool here = in_place(c);
    to.shape = received_shape(c, t_rank);
    size_t total = ragged(c, &to, counts, displs), own = (size_t)(displs[t_rank] / to.shape->per_item);
    sides(c, mine, total);
    side_put(here ? &to : &from, here ? own : 0, t_rank, 0, mine);
    ready();
    for (int r = 0; r < t_size; r++) {
        side_want(&to, (size_t)(displs[r] / to.shape->per_item), r, 0, c->items + (size_t)r % 2);
    }
    finish("MPI_Allgatherv", c,
           MPI_Allgatherv(SENT(here), side_count(&from, mine), from.type, side_address(&to), counts, displs,
                          to.type, MPI_COMM_WORLD));
}

static void alltoall(const case_t *c)
{
    size_t n = c->items, p = (size_t)t_size;
    bool here = in_place(c);
    sides(c, n * p, n * p);
    side_put(here ? &to : &from, 0, t_rank, 0, n * p);
    ready();
    for (int r = 0; r < t_size; r++) {
        side_want(&to, n * (size_t)r, r, n * (size_t)t_rank, n);
    }
    finish("MPI_Alltoall", c,
           CALL(c, MPI_Alltoall, SENT(here), side_count(&from, n), from.type, side_address(&to),
                side_count(&to, n), to.type, MPI_COMM_WORLD));
}

/* What rank `sender` has for `receiver`: its size depends on both. */
static size_t pair_items(const case_t *c, int sender, int receiver)
{
    return c->items + (size_t)(2 * sender + receiver) % 3;
}

/* Blocks of Alltoallv and Alltoallw, and the wanted contents. */
typedef struct {
    int sent[MAX_RANKS], sent_at[MAX_RANKS], received[MAX_RANKS], received_at[MAX_RANKS];
} exchange_t;

static void set_exchange(const case_t *c, exchange_t *x)
{
    size_t items_from = 0, items_to = 0;
    from.shape = sent_shape(c, t_rank);
    to.shape = received_shape(c, t_rank);
    for (int i = 0; i < t_size; i++) {
        int r = t_size - 1 - i;
        x->sent[i] = side_count(&from, pair_items(c, t_rank, i));
        x->sent_at[i] = side_count(&from, items_from);
        items_from += pair_items(c, t_rank, i) + 1;
        x->received[r] = side_count(&to, pair_items(c, r, t_rank));
        x->received_at[r] = side_count(&to, items_to);
        items_to += pair_items(c, r, t_rank);
    }
    sides(c, items_from, items_to);
    for (int r = 0; r < t_size; r++) {
        side_put(&from, (size_t)(x->sent_at[r] / from.shape->per_item), t_rank, (size_t)r * 777,
                 pair_items(c, t_rank, r));
    }
    ready();
    for (int r = 0; r < t_size; r++) {
        side_want(&to, (size_t)(x->received_at[r] / to.shape->per_item), r, (size_t)t_rank * 777,
                  pair_items(c, r, t_rank));
    }
}

static void alltoallv(const case_t *c)
{
    exchange_t x;
    set_exchange(c, &x);
    finish("MPI_Alltoallv", c,
           MPI_Alltoallv(side_address(&from), x.sent, x.sent_at, from.type, side_address(&to), x.received,
                         x.received_at, to.type, MPI_COMM_WORLD));
}

static void alltoallw(const case_t *c)
{
    exchange_t x;
    MPI_Datatype sent_type[MAX_RANKS], received_type[MAX_RANKS];
    set_exchange(c, &x);
    for (int r = 0; r < t_size; r++) {
        x.sent_at[r] *= from.shape->extent / from.shape->per_item * (int)sizeof(int);
        x.received_at[r] *= to.shape->extent / to.shape->per_item * (int)sizeof(int);
        sent_type[r] = from.type;
        received_type[r] = to.type;
    }
    finish("MPI_Alltoallw", c,
           MPI_Alltoallw(side_address(&from), x.sent, x.sent_at, sent_type, side_address(&to), x.received,
                         x.received_at, received_type, MPI_COMM_WORLD));
}

static const struct {
    const char *name;
    void (*run)(const case_t *c);
} functions[] = {
    {"MPI_Bcast", bcast},           {"MPI_Gather", gather},     {"MPI_Gatherv", gatherv},
    {"MPI_Scatter", scatter},       {"MPI_Scatterv", scatterv}, {"MPI_Allgather", allgather},
    {"MPI_Allgatherv", allgatherv}, {"MPI_Alltoall", alltoall}, {"MPI_Alltoallv", alltoallv},
    {"MPI_Alltoallw", alltoallw},
};

int main(int argc, char **argv)
{
    enum { SECONDS = 120 };
    static const size_t items[] = {0, 1, 3, 200, 3000};
    t_init(&argc, &argv, SECONDS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    size_t limit = argc > 1 ? strtoul(argv[1], NULL, 10) : SIZE_MAX;
    case_t c = {0};
    c.n_shapes = shapes_make(&c.shapes);
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        for (size_t i = 0; i < sizeof items / sizeof *items && items[i] <= limit; i++) {
            c.items = items[i];
            for (c.turn = 0; c.turn < (int)c.n_shapes; c.turn++) {
                c.root = (c.turn + (int)i) % t_size;
                functions[f].run(&c);
            }
        }
        t_section("%s with derived types on %d ranks", functions[f].name, t_size);
    }
    shapes_free();
    t_buf_free(&from.buf);
    t_buf_free(&from.want);
    t_buf_free(&to.buf);
    t_buf_free(&to.want);
    return t_finish();
}
