/* SPDX-License-Identifier: BSD-3-Clause */
/* t/mpi/matrix_reduce.c - the collectives that reduce, as coll_matrix calls and checks them. */
#include "matrix.h"

static area_t send, recv;

/* The input is the send area, or the receive area when in place. */
static void set_areas(const cell_t *cell, size_t inputs, size_t outputs, bool in_place)
{
    area_new(&send, cell, inputs);
    area_new(&recv, cell, in_place && inputs > outputs ? inputs : outputs);
    area_put(in_place ? &recv : &send, cell, 0, t_rank, 0, inputs);
    area_ready(&send);
    area_ready(&recv);
}

static void check_areas(const cell_t *cell, int code)
{
    cell_check_code(cell, code);
    area_check(&send, cell, "send buffer");
    area_check(&recv, cell, "receive buffer");
}

static void *send_pointer(bool in_place)
{
    return in_place ? MPI_IN_PLACE : send.buf.data;
}

static void run_reduce(const cell_t *cell)
{
    size_t n = (size_t)cell->count;
    bool is_root = t_rank == cell->root, in_place = is_root && cell->in_place;
    set_areas(cell, n, is_root ? n : 0, in_place);
    if (is_root) {
        area_want_reduced(&recv, cell, 0, t_size, 0, n);
    }
    int code = CALL(cell->large, MPI_Reduce, send_pointer(in_place), is_root ? recv.buf.data : JUNK_BUFFER,
                    cell->count, cell->type->handle, op_get(cell->op)->handle, cell->root, MPI_COMM_WORLD);
    check_areas(cell, code);
}

static void run_allreduce(const cell_t *cell)
{
    size_t n = (size_t)cell->count;
    set_areas(cell, n, n, cell->in_place);
    area_want_reduced(&recv, cell, 0, t_size, 0, n);
    int code = CALL(cell->large, MPI_Allreduce, send_pointer(cell->in_place), recv.buf.data, cell->count,
                    cell->type->handle, op_get(cell->op)->handle, MPI_COMM_WORLD);
    check_areas(cell, code);
    area_same(&recv, cell, 0, n);
}

static void run_scan(const cell_t *cell)
{
    size_t n = (size_t)cell->count;
    set_areas(cell, n, n, cell->in_place);
    area_want_reduced(&recv, cell, 0, t_rank + 1, 0, n);
    int code = CALL(cell->large, MPI_Scan, send_pointer(cell->in_place), recv.buf.data, cell->count,
                    cell->type->handle, op_get(cell->op)->handle, MPI_COMM_WORLD);
    check_areas(cell, code);
}

/* Rank 0 receives nothing: its receive buffer is not significant, and in place it is not changed. */
static void run_exscan(const cell_t *cell)
{
    size_t n = (size_t)cell->count;
    set_areas(cell, n, n, cell->in_place);
    if (t_rank > 0) {
        area_want_reduced(&recv, cell, 0, t_rank, 0, n);
    }
    void *to = t_rank == 0 && !cell->in_place ? JUNK_BUFFER : recv.buf.data;
    int code = CALL(cell->large, MPI_Exscan, send_pointer(cell->in_place), to, cell->count,
                    cell->type->handle, op_get(cell->op)->handle, MPI_COMM_WORLD);
    check_areas(cell, code);
}

static int uneven_block(int rank, int count)
{
    int less = (2 * rank + 1) % 4;
    return count > less ? count - less : 0;
}

static void run_reduce_scatter(const cell_t *cell)
{
    layout_t l;
    layout_set(&l, cell->count, uneven_block, LAYOUT_DENSE);
    size_t mine = (size_t)l.n[t_rank];
    set_areas(cell, l.elements, mine, cell->in_place);
    area_want_reduced(&recv, cell, 0, t_size, (size_t)l.d[t_rank], mine);
    void *from = send_pointer(cell->in_place);
    MPI_Datatype type = cell->type->handle;
    MPI_Op op = op_get(cell->op)->handle;
    int code = cell->large ? MPI_Reduce_scatter_c(from, recv.buf.data, l.nc, type, op, MPI_COMM_WORLD)
                           : MPI_Reduce_scatter(from, recv.buf.data, l.n, type, op, MPI_COMM_WORLD);
    check_areas(cell, code);
}

static void run_reduce_scatter_block(const cell_t *cell)
{
    size_t n = (size_t)cell->count;
    set_areas(cell, n * (size_t)t_size, n, cell->in_place);
    area_want_reduced(&recv, cell, 0, t_size, n * (size_t)t_rank, n);
    int code = CALL(cell->large, MPI_Reduce_scatter_block, send_pointer(cell->in_place), recv.buf.data,
                    cell->count, cell->type->handle, op_get(cell->op)->handle, MPI_COMM_WORLD);
    check_areas(cell, code);
}

const func_t reduce_funcs[] = {
    {"MPI_Reduce", true, true, run_reduce},
    {"MPI_Allreduce", false, true, run_allreduce},
    {"MPI_Scan", false, true, run_scan},
    {"MPI_Exscan", false, true, run_exscan},
    {"MPI_Reduce_scatter", false, true, run_reduce_scatter},
    {"MPI_Reduce_scatter_block", false, true, run_reduce_scatter_block},
    {0},
};
