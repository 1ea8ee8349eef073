/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbourhood operators on every kind of topology, blocking, nonblocking and persistent, in their small and large forms, against
 * a serial reference: every rank knows the lists of all, and MPI 4.1, section 8.6, says which block goes where. On a Cartesian topology
 * block k is received as block k^1 of that neighbour; on graphs the k-th block for a rank as the k-th block from this one.
 */
#include "common.h"

enum { SECONDS = 240, MOST_EDGES = 24, MOST_RANKS = 64, ALIGN = 16 };

/* Of all ranks: whom they send to, and receive from. */
typedef struct {
    MPI_Comm comm;
    int rank, size;
    bool cart;
    int count[2][MOST_RANKS];
    int list[2][MOST_RANKS][MOST_EDGES];
} topo_t;
enum { TO, FROM };

typedef enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, OPERATORS } oper_t;
static const char *const oper_name[] = {"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};
typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS } form_t;
static const char *const form_name[] = {"blocking", "nonblocking", "persistent"};

/* One call: `most` ints in a block. */
typedef struct {
    const topo_t *topo;
    oper_t oper;
    form_t form;
    bool large, spaced; /* _c; a type with gaps on the receiving side */
    unsigned most, seed;
} case_t;

/* The blocks of one side: ints at `at` (bytes), every `step`th. */
typedef struct {
    int blocks;
    int n[MOST_EDGES], step[MOST_EDGES];
    size_t at[MOST_EDGES], bytes;
    t_buf_t buf;
    void *address;
    int counts[MOST_EDGES], displs[MOST_EDGES];
    MPI_Count counts_c[MOST_EDGES];
    MPI_Aint displs_c[MOST_EDGES];
    MPI_Datatype types[MOST_EDGES];
} side_t;

static bool left_to_mpi;        /* the profile does: then only what MPI gets right */
static MPI_Datatype spaced_int; /* an int and a gap of the same size */

static int count_of(const case_t *c, int rank, int block)
{
    const bool uniform = c->oper == ALLGATHER || c->oper == ALLTOALL;
    const uint64_t key = ((uint64_t)c->seed << 32) ^ (uint64_t)(rank * 1000 + (c->oper == ALLGATHERV ? 0 : block));
    return uniform ? (int)c->most : t_mix(key) % 4 == 0 ? 0 : (int)(t_mix(key + 1) % (c->most + 1));
}

static int value_of(const case_t *c, int rank, int block, int element, unsigned start)
{
    const bool same = c->oper == ALLGATHER || c->oper == ALLGATHERV;
    return (int)(t_mix(((uint64_t)c->seed << 40) + ((uint64_t)start << 32) + (uint64_t)rank * 64 + (uint64_t)(same ? 0 : block)) + (unsigned)element);
}

/* Which of its sender's blocks arrives in block `l` of this rank. */
static int sent_as(const topo_t *t, int l)
{
    const int from = t->list[FROM][t->rank][l];
    if (t->cart) {
        return l ^ 1;
    }
    int before = 0, k = 0;
    for (int i = 0; i < l; i++) {
        before += t->list[FROM][t->rank][i] == from;
    }
    for (;; k++) {
        if (t->list[TO][from][k] == t->rank && before-- == 0) {
            return k;
        }
    }
}

/* Blocks of V and W lie in any order, with gaps. */
static void lay_out(const case_t *c, side_t *side, bool in_turn)
{
    size_t at = 0;
    for (int i = 0; i < side->blocks; i++) {
        const int b = in_turn ? i : side->blocks - 1 - i;
        side->at[b] = at;
        at += (size_t)side->n[b] * (size_t)side->step[b] * sizeof(int);
        at += in_turn ? 0 : (t_mix(c->seed + (unsigned)b) % 3) * ALIGN;
        at = in_turn ? at : (at + ALIGN - 1) / ALIGN * ALIGN;
    }
    side->bytes = at + ALIGN;
    t_buf_set(&side->buf, side->bytes, c->seed % 3 * sizeof(int));
    side->address = side->buf.data;
}

/* The arrays of a V or W argument. W: absolute addresses where the seed says so. */
static void tell(const case_t *c, side_t *side)
{
    const bool w = c->oper == ALLTOALLW, absolute = w && c->seed % 4 == 3;
    for (int b = 0; b < side->blocks; b++) {
        const size_t extent = (size_t)side->step[b] * sizeof(int);
        side->types[b] = side->step[b] == 1 ? MPI_INT : spaced_int;
        side->counts_c[b] = side->counts[b] = side->n[b];
        side->displs[b] = (int)(side->at[b] / extent);
        side->displs_c[b] = (MPI_Aint)(w ? side->at[b] : side->at[b] / extent);
        if (absolute) {
            MPI_Aint base;
            MPI_Get_address(side->buf.data, &base);
            side->displs_c[b] = base + (MPI_Aint)side->at[b];
        }
    }
    if (absolute) {
        side->address = MPI_BOTTOM;
    }
}

static int *int_at(const side_t *side, int block, int element, unsigned char *data)
{
    return (int *)(void *)(data + side->at[block] + (size_t)element * (size_t)side->step[block] * sizeof(int));
}

static void make_sent(const case_t *c, side_t *side)
{
    const topo_t *t = c->topo;
    side->blocks = c->oper == ALLGATHER || c->oper == ALLGATHERV ? 1 : t->count[TO][t->rank];
    for (int b = 0; b < side->blocks; b++) {
        side->n[b] = count_of(c, t->rank, b);
        side->step[b] = c->oper == ALLTOALLW ? 1 + (b + (int)c->seed) % 2 : 1 + (c->seed % 5 == 4);
    }
    lay_out(c, side, c->oper == ALLGATHER || c->oper == ALLTOALL || c->oper == ALLGATHERV);
    tell(c, side);
}

static void make_received(const case_t *c, side_t *side)
{
    const topo_t *t = c->topo;
    side->blocks = t->count[FROM][t->rank];
    for (int b = 0; b < side->blocks; b++) {
        const int from = t->list[FROM][t->rank][b];
        side->n[b] = from == MPI_PROC_NULL ? (int)c->most : count_of(c, from, sent_as(t, b));
        side->step[b] = c->oper == ALLTOALLW ? 1 + b % 2 : 1 + c->spaced;
    }
    lay_out(c, side, c->oper == ALLGATHER || c->oper == ALLTOALL);
    tell(c, side);
}

static void fill(const case_t *c, side_t *sent, unsigned start)
{
    for (int b = 0; b < sent->blocks; b++) {
        for (int e = 0; e < sent->n[b]; e++) {
            *int_at(sent, b, e, sent->buf.data) = value_of(c, c->topo->rank, b, e, start);
        }
    }
}

static bool arrived(const case_t *c, const side_t *side, unsigned start)
{
    const topo_t *t = c->topo;
    t_buf_t image = {.raw = NULL};
    t_buf_set(&image, side->bytes, side->buf.shift);
    for (int b = 0; b < side->blocks; b++) {
        const int from = t->list[FROM][t->rank][b];
        for (int e = 0; from != MPI_PROC_NULL && e < side->n[b]; e++) {
            *int_at(side, b, e, image.data) = value_of(c, from, sent_as(t, b), e, start);
        }
    }
    ptrdiff_t where;
    const bool good = t_buf_equal(&side->buf, &image, &where);
    t_buf_free(&image);
    return t_check(good, "%s %s%s of %u ints, start %u: differs at byte %td of %zu", form_name[c->form], oper_name[c->oper], c->large ? "_c" : "",
                   c->most, start, where, side->bytes);
}

#define CALL(tail, c, ...)                                                                      \
    (form == BLOCKING      ? MPI_Neighbor_##tail##c(__VA_ARGS__)                                \
     : form == NONBLOCKING ? MPI_Ineighbor_##tail##c(__VA_ARGS__, request)                      \
                           : MPI_Neighbor_##tail##_init##c(__VA_ARGS__, MPI_INFO_NULL, request))

static int call_small(const case_t *c, const side_t *s, const side_t *r, MPI_Request *request)
{
    const form_t form = c->form;
    const MPI_Comm comm = c->topo->comm;
    const MPI_Datatype st = c->seed % 5 == 4 ? spaced_int : MPI_INT, rt = c->spaced ? spaced_int : MPI_INT;
    const int most = (int)c->most;
    switch (c->oper) {
    case ALLGATHER:
        return CALL(allgather, , s->address, most, st, r->address, most, rt, comm);
    case ALLGATHERV:
        return CALL(allgatherv, , s->address, s->n[0], st, r->address, r->counts, r->displs, rt, comm);
    case ALLTOALL:
        return CALL(alltoall, , s->address, most, st, r->address, most, rt, comm);
    case ALLTOALLV:
        return CALL(alltoallv, , s->address, s->counts, s->displs, st, r->address, r->counts, r->displs, rt, comm);
    default:
        return CALL(alltoallw, , s->address, s->counts, s->displs_c, s->types, r->address, r->counts, r->displs_c, r->types, comm);
    }
}

static int call_large(const case_t *c, const side_t *s, const side_t *r, MPI_Request *request)
{
    const form_t form = c->form;
    const MPI_Comm comm = c->topo->comm;
    const MPI_Datatype st = c->seed % 5 == 4 ? spaced_int : MPI_INT, rt = c->spaced ? spaced_int : MPI_INT;
    const MPI_Count most = (MPI_Count)c->most;
    switch (c->oper) {
    case ALLGATHER:
        return CALL(allgather, _c, s->address, most, st, r->address, most, rt, comm);
    case ALLGATHERV:
        return CALL(allgatherv, _c, s->address, s->counts_c[0], st, r->address, r->counts_c, r->displs_c, rt, comm);
    case ALLTOALL:
        return CALL(alltoall, _c, s->address, most, st, r->address, most, rt, comm);
    case ALLTOALLV:
        return CALL(alltoallv, _c, s->address, s->counts_c, s->displs_c, st, r->address, r->counts_c, r->displs_c, rt, comm);
    default:
        return CALL(alltoallw, _c, s->address, s->counts_c, s->displs_c, s->types, r->address, r->counts_c, r->displs_c, r->types, comm);
    }
}

static void run(const case_t *c)
{
    side_t sent = {.blocks = 0}, received = {.blocks = 0};
    MPI_Request request = MPI_REQUEST_NULL;
    make_sent(c, &sent);
    make_received(c, &received);
    fill(c, &sent, 0);
    int code = (c->large ? call_large : call_small)(c, &sent, &received, &request);
    for (unsigned start = 0; code == MPI_SUCCESS && start < (c->form == PERSISTENT ? 3 : 1); start++) {
        if (start > 0) {
            t_buf_set(&received.buf, received.bytes, received.buf.shift);
            fill(c, &sent, start);
        }
        code = c->form == PERSISTENT ? MPI_Start(&request) : code;
        code = code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
        arrived(c, &received, start);
        t_check(t_served_by_core() != left_to_mpi, "%s %s ran on %s", form_name[c->form], oper_name[c->oper], t_last_path());
    }
    t_check(code == MPI_SUCCESS, "%s %s: error %d", form_name[c->form], oper_name[c->oper], t_class(code));
    if (request != MPI_REQUEST_NULL) {
        MPI_Request_free(&request);
    }
    t_buf_free(&sent.buf);
    t_buf_free(&received.buf);
}

/* ---- topologies ---- */

/* Everybody's lists, told by each. */
static void gather_lists(topo_t *t)
{
    int mine[2][MOST_EDGES + 1] = {{0}}, all[MOST_RANKS][2][MOST_EDGES + 1];
    for (int i = 0; i < 2; i++) {
        mine[i][0] = t->count[i][t->rank];
        memcpy(&mine[i][1], t->list[i][t->rank], MOST_EDGES * sizeof(int));
    }
    MPI_Allgather(mine, 2 * (MOST_EDGES + 1), MPI_INT, all, 2 * (MOST_EDGES + 1), MPI_INT, t->comm);
    for (int r = 0; r < t->size; r++) {
        for (int i = 0; i < 2; i++) {
            t->count[i][r] = all[r][i][0];
            memcpy(t->list[i][r], &all[r][i][1], MOST_EDGES * sizeof(int));
        }
    }
}

static bool begin(topo_t *t)
{
    if (t->comm == MPI_COMM_NULL) {
        return false;
    }
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->size);
    return true;
}

/* All operators, forms and sizes. */
static void run_all(topo_t *t, const char *text)
{
    static const unsigned most[] = {3, 700, 20000};
    static unsigned seed;
    for (unsigned i = 0; i < OPERATORS * FORMS; i += left_to_mpi ? FORMS : 1) {
        const form_t form = (form_t)(i % FORMS);
        const unsigned sizes = form == PERSISTENT ? 1 : 3;
        for (unsigned k = 0; t->comm != MPI_COMM_NULL && k < sizes; k++) {
            const unsigned size = form == PERSISTENT ? seed % 3 : k;
            run(&(case_t){.topo = t, .oper = (oper_t)(i / FORMS), .form = form, .large = seed % 3 == 1, .spaced = seed % 7 == 2,
                          .most = most[size], .seed = seed + k});
        }
        seed += 4 + i % 2;
    }
    if (t->comm != MPI_COMM_NULL) {
        MPI_Comm_free(&t->comm);
    }
    t_section("%s", text);
}

/* Ranks lie in row-major order. */
static int cart_rank(int dims, const int *dim, const int *period, const int *at)
{
    int rank = 0;
    for (int d = 0; d < dims; d++) {
        if (!period[d] && (at[d] < 0 || at[d] >= dim[d])) {
            return MPI_PROC_NULL;
        }
        rank = rank * dim[d] + (at[d] + dim[d]) % dim[d];
    }
    return rank;
}

static void cart(int dims, const int *dim, const int *period)
{
    topo_t *t = calloc(1, sizeof *t);
    char text[120];
    int used = snprintf(text, sizeof text, "Cartesian:");
    for (int d = 0; d < dims; d++) {
        used += snprintf(text + used, sizeof text - (size_t)used, " %d%s", dim[d], period[d] ? " around" : "");
    }
    t->cart = true;
    MPI_Cart_create(MPI_COMM_WORLD, dims, dim, period, 0, &t->comm);
    const bool member = begin(t);
    for (int r = 0; member && r < t->size; r++) {
        int at[3] = {0};
        for (int d = dims, rest = r; d-- > 0; rest /= dim[d]) {
            at[d] = rest % dim[d];
        }
        t->count[TO][r] = t->count[FROM][r] = 2 * dims;
        for (int i = 0; i < 2 * dims; i++) {
            const int step = i % 2 ? 1 : -1;
            at[i / 2] += step;
            t->list[TO][r][i] = t->list[FROM][r][i] = cart_rank(dims, dim, period, at);
            at[i / 2] -= step;
        }
    }
    run_all(t, text);
    free(t);
}

static void all_carts(void)
{
    const int n = t_size;
    int two[2] = {0, 0}, three[3] = {0, 0, 0};
    MPI_Dims_create(n, 2, two);
    MPI_Dims_create(n, 3, three);
    cart(1, (int[]){n}, (int[]){1});
    cart(2, two, (int[]){1, 0});
    cart(2, (int[]){n, 1}, (int[]){1, 1});
    cart(3, three, (int[]){1, 1, 1});
    cart(3, (int[]){1, n, 1}, (int[]){1, 0, 1});
    if (n > 1) {
        cart(1, (int[]){n - 1}, (int[]){1}); /* one rank is no member */
    }
    cart(0, (int[]){1}, (int[]){0});
}

/* A ring, in which rank 0 is also everybody's neighbour, and its own. */
static void graph(void)
{
    topo_t *t = calloc(1, sizeof *t);
    int index[MOST_RANKS], edges[MOST_RANKS * 8], used = 0;
    for (int r = 0; r < t_size; r++) {
        edges[used++] = (r + 1) % t_size;
        edges[used++] = (r + t_size - 1) % t_size;
        for (int i = 0; r == 0 && i < t_size; i++) {
            edges[used++] = i;
        }
        if (r > 0) {
            edges[used++] = 0;
        }
        index[r] = used;
    }
    MPI_Graph_create(MPI_COMM_WORLD, t_size, index, edges, 0, &t->comm);
    begin(t);
    for (int i = 0; i < 2; i++) {
        t->count[i][t->rank] = index[t->rank] - (t->rank > 0 ? index[t->rank - 1] : 0);
        memcpy(t->list[i][t->rank], edges + (t->rank > 0 ? index[t->rank - 1] : 0), (size_t)t->count[i][t->rank] * sizeof(int));
    }
    gather_lists(t);
    run_all(t, "a graph with a hub");
    free(t);
}

/* The edges from `a` to `b`: 0 to 3 of them, by the seed. The last of several ranks may have none at all. */
static int edges_of(unsigned seed, int a, int b)
{
    const bool lonely = t_size > 1 && seed % 2 && (a == t_size - 1 || b == t_size - 1);
    const unsigned many = (unsigned)(t_mix(seed * 10007u + (unsigned)(a * 97 + b)) % 5);
    return lonely || many > 3 ? 0 : (int)many;
}

/* Both ends list their edges in any order. */
static void list_edges(topo_t *t, unsigned seed)
{
    t->rank = t_rank;
    for (int i = 0; i < 2; i++) {
        int *list = t->list[i][t_rank], used = 0;
        for (int r = 0; r < t_size; r++) {
            for (int k = i == TO ? edges_of(seed, t_rank, r) : edges_of(seed, r, t_rank); k > 0 && used < MOST_EDGES; k--) {
                list[used++] = r;
            }
        }
        for (int k = used; k > 1; k--) {
            const int other = (int)(t_mix(seed + (unsigned)(k * 31 + t_rank * 7 + i)) % (unsigned)k), was = list[other];
            list[other] = list[k - 1];
            list[k - 1] = was;
        }
        t->count[i][t_rank] = used;
    }
}

static void adjacent(unsigned seed)
{
    topo_t *t = calloc(1, sizeof *t);
    char text[80];
    int weights[MOST_EDGES] = {0};
    list_edges(t, seed);
    snprintf(text, sizeof text, "a distributed graph, seed %u", seed);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, t->count[FROM][t_rank], t->list[FROM][t_rank], seed % 3 ? MPI_UNWEIGHTED : weights,
                                   t->count[TO][t_rank], t->list[TO][t_rank], seed % 3 ? MPI_UNWEIGHTED : weights, MPI_INFO_NULL, 0,
                                   &t->comm);
    begin(t);
    gather_lists(t);
    run_all(t, text);
    free(t);
}

/* Each rank tells the edges that end at the next; MPI orders them. Used through a duplicate. */
static void general(unsigned seed)
{
    topo_t *t = calloc(1, sizeof *t);
    int source[MOST_EDGES], ones[MOST_EDGES], dest[MOST_EDGES], used = 0, weighted, weights[2][MOST_EDGES];
    MPI_Comm first;
    for (int r = 0; r < t_size; r++) {
        for (int k = edges_of(seed, r, (t_rank + 1) % t_size); k > 0 && used < MOST_EDGES; k--) {
            source[used] = r;
            ones[used] = 1;
            dest[used++] = (t_rank + 1) % t_size;
        }
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, used, source, ones, dest, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &first);
    MPI_Comm_dup(first, &t->comm);
    MPI_Comm_free(&first);
    begin(t);
    MPI_Dist_graph_neighbors_count(t->comm, &t->count[FROM][t_rank], &t->count[TO][t_rank], &weighted);
    MPI_Dist_graph_neighbors(t->comm, t->count[FROM][t_rank], t->list[FROM][t_rank], weights[0], t->count[TO][t_rank],
                             t->list[TO][t_rank], weights[1]);
    gather_lists(t);
    run_all(t, "a duplicate of a distributed graph that others told");
    free(t);
}

/* ---- beside other operators ---- */

/* Several under way, others between them, completed in any order. */
static void mixed(void)
{
    enum { MANY = 6 };
    MPI_Comm ring;
    MPI_Request request[2 * MANY];
    int out[MANY][2], in[MANY][2], sum[MANY], one = t_rank + 1, bad = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){t_size}, (int[]){1}, 0, &ring);
    for (int i = 0; i < MANY; i++) {
        out[i][0] = t_rank * 100 + i;
        out[i][1] = t_rank * 100 + 50 + i;
        MPI_Ineighbor_alltoall(out[i], 1, MPI_INT, in[i], 1, MPI_INT, ring, &request[2 * i]);
        MPI_Iallreduce(&one, &sum[i], 1, MPI_INT, MPI_SUM, ring, &request[2 * i + 1]);
    }
    int now[2], from[2] = {t_rank, t_rank + 1000};
    MPI_Neighbor_alltoall(from, 1, MPI_INT, now, 1, MPI_INT, ring);
    const int left = (t_rank + t_size - 1) % t_size, right = (t_rank + 1) % t_size;
    t_check(now[0] == left + 1000 && now[1] == right, "a blocking one after %d: %d %d", 2 * MANY, now[0], now[1]);
    for (int i = 2 * MANY; i-- > 0;) {
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < MANY; i++) {
        bad += in[i][0] != left * 100 + 50 + i || in[i][1] != right * 100 + i || sum[i] != t_size * (t_size + 1) / 2;
    }
    t_check(bad == 0, "%d of %d are wrong", bad, MANY);
    MPI_Comm_free(&ring);
    t_section("among other operators");
}

/* A communicator without a topology: MPI's own error, and what follows works. */
static void no_topology(void)
{
    int out[2] = {1, 2}, in[2] = {0, 0}, sum = 0;
    MPI_Comm plain;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &plain);
    MPI_Comm_set_errhandler(plain, MPI_ERRORS_RETURN);
    const int code = MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, plain);
    const int started = MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, plain, &request);
    t_check(t_class(code) == MPI_ERR_TOPOLOGY && t_class(started) == MPI_ERR_TOPOLOGY, "classes %d and %d", t_class(code), t_class(started));
    MPI_Allreduce(out, &sum, 1, MPI_INT, MPI_SUM, plain);
    t_check(sum == t_size, "the next gives %d", sum);
    MPI_Comm_free(&plain);
    t_section("no topology: MPI's error");
}

/* AIV waits for neighbours alone: rank 0 and 1 are done with each other before the others call. */
static void apart(void)
{
    enum { PAIR = 2 };
    MPI_Comm pairs;
    int peer = t_rank ^ 1, one = t_rank, got = -1, degree = peer < t_size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, &peer, MPI_UNWEIGHTED, degree, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &pairs);
    MPI_Barrier(pairs);
    if (t_rank >= PAIR) {
        MPI_Recv(NULL, 0, MPI_INT, t_rank % PAIR, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Neighbor_allgather(&one, 1, MPI_INT, &got, 1, MPI_INT, pairs);
    for (int r = PAIR + t_rank; t_rank < PAIR && r < t_size; r += PAIR) {
        MPI_Send(NULL, 0, MPI_INT, r, 0, MPI_COMM_WORLD);
    }
    t_check(got == (degree ? peer : -1), "received %d", got);
    MPI_Comm_free(&pairs);
    t_section("neighbours do not wait for the others");
}

int main(int argc, char **argv)
{
    t_init(&argc, &argv, SECONDS);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced_int);
    MPI_Type_commit(&spaced_int);
    left_to_mpi = argc > 1 && strcmp(argv[1], "mpi") == 0;
    cart(1, (int[]){t_size}, (int[]){0});
    if (!left_to_mpi) {
        all_carts();
        graph();
        for (unsigned seed = 0; seed < 4; seed++) {
            adjacent(seed);
        }
        general(4);
        mixed();
    }
    no_topology();
    if (argc > 1 && strcmp(argv[1], "apart") == 0) {
        apart();
    }
    MPI_Type_free(&spaced_int);
    return t_finish();
}
