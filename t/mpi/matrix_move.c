/* SPDX-License-Identifier: BSD-3-Clause */
/* t/mpi/matrix_move.c - the collectives that move data, as coll_matrix calls and checks them. */
#include "matrix.h"

static area_t send, recv;

/* Block sizes of v-collectives: uneven, some empty when the count is small. */
static int block_of_rank(int rank, int count)
{
    int less = rank % 3;
    return count > less ? count - less : 0;
}

static int block_between(int from, int to, int count)
{
    return block_of_rank(2 * from + to, count);
}

static int block_to(int peer, int count)
{
    return block_between(t_rank, peer, count);
}

static int block_from(int peer, int count)
{
    return block_between(peer, t_rank, count);
}

/* In place, what i sends to j is as long as what j sends to i. */
static int block_both_ways(int peer, int count)
{
    return block_of_rank(t_rank + peer, count);
}

/* Index of the first element of what `from` has for `to`. */
static size_t pair_index(int to, int count)
{
    return (size_t)to * ((size_t)count + 5);
}

static void run_barrier(const cell_t *cell)
{
    cell_check_code(cell, MPI_Barrier(MPI_COMM_WORLD));
}

static void run_bcast(const cell_t *cell)
{
    size_t n = (size_t)cell->count;
    area_new(&recv, cell, n);
    if (t_rank == cell->root) {
        area_put(&recv, cell, 0, cell->root, 0, n);
    }
    area_ready(&recv);
    area_want_moved(&recv, cell, 0, cell->root, 0, n);
    int code = CALL(cell->large, MPI_Bcast, recv.buf.data, cell->count, cell->type->handle, cell->root,
                    MPI_COMM_WORLD);
    cell_check_code(cell, code);
    area_check(&recv, cell, "buffer");
    area_same(&recv, cell, 0, n);
}

/* The sending side of a gather: own block, or what a root in place has already. */
static void set_send(const cell_t *cell, size_t n)
{
    area_new(&send, cell, n);
    area_put(&send, cell, 0, t_rank, 0, n);
    area_ready(&send);
}

static void run_gather(const cell_t *cell)
{
    size_t n = (size_t)cell->count;
    bool is_root = t_rank == cell->root, in_place = is_root && cell->in_place;
    MPI_Datatype type = cell->type->handle;
    set_send(cell, n);
    area_new(&recv, cell, is_root ? n * (size_t)t_size : 0);
    if (in_place) {
        area_put(&recv, cell, n * (size_t)t_rank, t_rank, 0, n);
    }
    area_ready(&recv);
    for (int r = 0; r < t_size && is_root; r++) {
        area_want_moved(&recv, cell, n * (size_t)r, r, 0, n);
    }
    int code = CALL(cell->large, MPI_Gather, in_place ? MPI_IN_PLACE : send.buf.data,
                    in_place ? JUNK_COUNT : cell->count, in_place ? JUNK_TYPE : type,
                    is_root ? recv.buf.data : JUNK_BUFFER, is_root ? cell->count : JUNK_COUNT,
                    is_root ? type : JUNK_TYPE, cell->root, MPI_COMM_WORLD);
    cell_check_code(cell, code);
    area_check(&send, cell, "send buffer");
    area_check(&recv, cell, "receive buffer");
}

static void run_gatherv(const cell_t *cell)
{
    layout_t l;
    bool is_root = t_rank == cell->root, in_place = is_root && cell->in_place;
    MPI_Datatype type = cell->type->handle;
    layout_set(&l, cell->count, block_of_rank, LAYOUT_DOWN);
    int mine = l.n[t_rank];
    set_send(cell, (size_t)mine);
    area_new(&recv, cell, is_root ? l.elements : 0);
    if (in_place) {
        area_put(&recv, cell, (size_t)l.d[t_rank], t_rank, 0, (size_t)mine);
    }
    area_ready(&recv);
    for (int r = 0; r < t_size && is_root; r++) {
        area_want_moved(&recv, cell, (size_t)l.d[r], r, 0, (size_t)l.n[r]);
    }
    void *from = in_place ? MPI_IN_PLACE : send.buf.data, *to = is_root ? recv.buf.data : JUNK_BUFFER;
    int n = in_place ? JUNK_COUNT : mine;
    MPI_Datatype send_type = in_place ? JUNK_TYPE : type, recv_type = is_root ? type : JUNK_TYPE;
    int code = cell->large ? MPI_Gatherv_c(from, n, send_type, to, is_root ? l.nc : JUNK_COUNTS,
                                           is_root ? l.dc : JUNK_AINTS, recv_type, cell->root, MPI_COMM_WORLD)
                           : MPI_Gatherv(from, n, send_type, to, is_root ? l.n : JUNK_INTS,
                                         is_root ? l.d : JUNK_INTS, recv_type, cell->root, MPI_COMM_WORLD);
    cell_check_code(cell, code);
    area_check(&send, cell, "send buffer");
    area_check(&recv, cell, "receive buffer");
}

static void run_scatter(const cell_t *cell)
{
    size_t n = (size_t)cell->count;
    bool is_root = t_rank == cell->root, in_place = is_root && cell->in_place;
    MPI_Datatype type = cell->type->handle;
    area_new(&send, cell, is_root ? n * (size_t)t_size : 0);
    for (int r = 0; r < t_size && is_root; r++) {
        area_put(&send, cell, n * (size_t)r, cell->root, pair_index(r, cell->count), n);
    }
    area_ready(&send);
    area_new(&recv, cell, in_place ? 0 : n);
    area_ready(&recv);
    if (!in_place) {
        area_want_moved(&recv, cell, 0, cell->root, pair_index(t_rank, cell->count), n);
    }
    int code = CALL(cell->large, MPI_Scatter, is_root ? send.buf.data : JUNK_BUFFER,
                    is_root ? cell->count : JUNK_COUNT, is_root ? type : JUNK_TYPE,
                    in_place ? MPI_IN_PLACE : recv.buf.data, in_place ? JUNK_COUNT : cell->count,
                    in_place ? JUNK_TYPE : type, cell->root, MPI_COMM_WORLD);
    cell_check_code(cell, code);
    area_check(&send, cell, "send buffer");
    area_check(&recv, cell, "receive buffer");
}

static void run_scatterv(const cell_t *cell)
{
    layout_t l;
    bool is_root = t_rank == cell->root, in_place = is_root && cell->in_place;
    MPI_Datatype type = cell->type->handle;
    layout_set(&l, cell->count, block_of_rank, LAYOUT_DOWN);
    size_t mine = (size_t)l.n[t_rank];
    area_new(&send, cell, is_root ? l.elements : 0);
    for (int r = 0; r < t_size && is_root; r++) {
        area_put(&send, cell, (size_t)l.d[r], cell->root, pair_index(r, cell->count), (size_t)l.n[r]);
    }
    area_ready(&send);
    area_new(&recv, cell, in_place ? 0 : mine);
    area_ready(&recv);
    if (!in_place) {
        area_want_moved(&recv, cell, 0, cell->root, pair_index(t_rank, cell->count), mine);
    }
    void *from = is_root ? send.buf.data : JUNK_BUFFER, *to = in_place ? MPI_IN_PLACE : recv.buf.data;
    int n = in_place ? JUNK_COUNT : (int)mine;
    MPI_Datatype send_type = is_root ? type : JUNK_TYPE, recv_type = in_place ? JUNK_TYPE : type;
    int code = cell->large ? MPI_Scatterv_c(from, is_root ? l.nc : JUNK_COUNTS, is_root ? l.dc : JUNK_AINTS,
                                            send_type, to, n, recv_type, cell->root, MPI_COMM_WORLD)
                           : MPI_Scatterv(from, is_root ? l.n : JUNK_INTS, is_root ? l.d : JUNK_INTS,
                                          send_type, to, n, recv_type, cell->root, MPI_COMM_WORLD);
    cell_check_code(cell, code);
    area_check(&send, cell, "send buffer");
    area_check(&recv, cell, "receive buffer");
}

static void run_allgather(const cell_t *cell)
{
    size_t n = (size_t)cell->count;
    MPI_Datatype type = cell->type->handle;
    bool in_place = cell->in_place;
    set_send(cell, n);
    area_new(&recv, cell, n * (size_t)t_size);
    if (in_place) {
        area_put(&recv, cell, n * (size_t)t_rank, t_rank, 0, n);
    }
    area_ready(&recv);
    for (int r = 0; r < t_size; r++) {
        area_want_moved(&recv, cell, n * (size_t)r, r, 0, n);
    }
    int code = CALL(cell->large, MPI_Allgather, in_place ? MPI_IN_PLACE : send.buf.data,
                    in_place ? JUNK_COUNT : cell->count, in_place ? JUNK_TYPE : type, recv.buf.data,
                    cell->count, type, MPI_COMM_WORLD);
    cell_check_code(cell, code);
    area_check(&send, cell, "send buffer");
    area_check(&recv, cell, "receive buffer");
    area_same(&recv, cell, 0, n * (size_t)t_size);
}

static void run_allgatherv(const cell_t *cell)
{
    layout_t l;
    MPI_Datatype type = cell->type->handle;
    bool in_place = cell->in_place;
    layout_set(&l, cell->count, block_of_rank, LAYOUT_DOWN);
    size_t mine = (size_t)l.n[t_rank];
    set_send(cell, mine);
    area_new(&recv, cell, l.elements);
    if (in_place) {
        area_put(&recv, cell, (size_t)l.d[t_rank], t_rank, 0, mine);
    }
    area_ready(&recv);
    for (int r = 0; r < t_size; r++) {
        area_want_moved(&recv, cell, (size_t)l.d[r], r, 0, (size_t)l.n[r]);
    }
    void *from = in_place ? MPI_IN_PLACE : send.buf.data, *to = recv.buf.data;
    int n = in_place ? JUNK_COUNT : (int)mine;
    MPI_Datatype send_type = in_place ? JUNK_TYPE : type;
    int code = cell->large ? MPI_Allgatherv_c(from, n, send_type, to, l.nc, l.dc, type, MPI_COMM_WORLD)
                           : MPI_Allgatherv(from, n, send_type, to, l.n, l.d, type, MPI_COMM_WORLD);
    cell_check_code(cell, code);
    area_check(&send, cell, "send buffer");
    area_check(&recv, cell, "receive buffer");
}

static void run_alltoall(const cell_t *cell)
{
    size_t n = (size_t)cell->count, p = (size_t)t_size;
    MPI_Datatype type = cell->type->handle;
    bool in_place = cell->in_place;
    area_new(&send, cell, n * p);
    area_new(&recv, cell, n * p);
    area_t *input = in_place ? &recv : &send;
    for (int r = 0; r < t_size; r++) {
        area_put(input, cell, n * (size_t)r, t_rank, pair_index(r, cell->count), n);
    }
    area_ready(&send);
    area_ready(&recv);
    for (int r = 0; r < t_size; r++) {
        area_want_moved(&recv, cell, n * (size_t)r, r, pair_index(t_rank, cell->count), n);
    }
    int code = CALL(cell->large, MPI_Alltoall, in_place ? MPI_IN_PLACE : send.buf.data,
                    in_place ? JUNK_COUNT : cell->count, in_place ? JUNK_TYPE : type, recv.buf.data,
                    cell->count, type, MPI_COMM_WORLD);
    cell_check_code(cell, code);
    area_check(&send, cell, "send buffer");
    area_check(&recv, cell, "receive buffer");
}

/* Alltoallv and Alltoallw differ in how the layouts are told. */
typedef struct {
    layout_t from, to;
    bool in_place;
} exchange_t;

static void set_exchange(exchange_t *x, const cell_t *cell)
{
    x->in_place = cell->in_place;
    layout_set(&x->from, cell->count, x->in_place ? block_both_ways : block_to, LAYOUT_UP);
    layout_set(&x->to, cell->count, x->in_place ? block_both_ways : block_from, LAYOUT_DOWN);
    area_new(&send, cell, x->from.elements);
    area_new(&recv, cell, x->to.elements);
    area_t *input = x->in_place ? &recv : &send;
    const layout_t *l = x->in_place ? &x->to : &x->from;
    for (int r = 0; r < t_size; r++) {
        area_put(input, cell, (size_t)l->d[r], t_rank, pair_index(r, cell->count), (size_t)l->n[r]);
    }
    area_ready(&send);
    area_ready(&recv);
    for (int r = 0; r < t_size; r++) {
        area_want_moved(&recv, cell, (size_t)x->to.d[r], r, pair_index(t_rank, cell->count),
                        (size_t)x->to.n[r]);
    }
}

static void run_alltoallv(const cell_t *cell)
{
    exchange_t x;
    MPI_Datatype type = cell->type->handle, send_type = cell->in_place ? JUNK_TYPE : type;
    set_exchange(&x, cell);
    void *from = x.in_place ? MPI_IN_PLACE : send.buf.data;
    int code =
        cell->large
            ? MPI_Alltoallv_c(from, x.in_place ? JUNK_COUNTS : x.from.nc, x.in_place ? JUNK_AINTS : x.from.dc,
                              send_type, recv.buf.data, x.to.nc, x.to.dc, type, MPI_COMM_WORLD)
            : MPI_Alltoallv(from, x.in_place ? JUNK_INTS : x.from.n, x.in_place ? JUNK_INTS : x.from.d,
                            send_type, recv.buf.data, x.to.n, x.to.d, type, MPI_COMM_WORLD);
    cell_check_code(cell, code);
    area_check(&send, cell, "send buffer");
    area_check(&recv, cell, "receive buffer");
}

static void to_bytes(layout_t *l, size_t extent)
{
    for (int r = 0; r < t_size; r++) {
        l->d[r] *= (int)extent;
        l->dc[r] = l->d[r];
    }
}

static void run_alltoallw(const cell_t *cell)
{
    exchange_t x;
    MPI_Datatype types[MAX_RANKS], *send_types = cell->in_place ? (MPI_Datatype *)JUNK_BUFFER : types;
    set_exchange(&x, cell);
    to_bytes(&x.from, cell->type->extent);
    to_bytes(&x.to, cell->type->extent);
    for (int r = 0; r < t_size; r++) {
        types[r] = cell->type->handle;
    }
    void *from = x.in_place ? MPI_IN_PLACE : send.buf.data;
    int code =
        cell->large
            ? MPI_Alltoallw_c(from, x.in_place ? JUNK_COUNTS : x.from.nc, x.in_place ? JUNK_AINTS : x.from.dc,
                              send_types, recv.buf.data, x.to.nc, x.to.dc, types, MPI_COMM_WORLD)
            : MPI_Alltoallw(from, x.in_place ? JUNK_INTS : x.from.n, x.in_place ? JUNK_INTS : x.from.d,
                            send_types, recv.buf.data, x.to.n, x.to.d, types, MPI_COMM_WORLD);
    cell_check_code(cell, code);
    area_check(&send, cell, "send buffer");
    area_check(&recv, cell, "receive buffer");
}

const func_t move_funcs[] = {
    {"MPI_Barrier", false, false, run_barrier},    {"MPI_Bcast", true, false, run_bcast},
    {"MPI_Gather", true, true, run_gather},        {"MPI_Gatherv", true, true, run_gatherv},
    {"MPI_Scatter", true, true, run_scatter},      {"MPI_Scatterv", true, true, run_scatterv},
    {"MPI_Allgather", false, true, run_allgather}, {"MPI_Allgatherv", false, true, run_allgatherv},
    {"MPI_Alltoall", false, true, run_alltoall},   {"MPI_Alltoallv", false, true, run_alltoallv},
    {"MPI_Alltoallw", false, true, run_alltoallw}, {0},
};
