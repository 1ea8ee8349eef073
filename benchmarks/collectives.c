/* SPDX-License-Identifier: BSD-3-Clause */
/* benchmarks/collectives.c - the tables: collectives, types and ops that shim_bench knows. */
#include "bench.h"

/* One row yields one function that makes the same call through either name. Bcast has one buffer, and no form in place. */
#define BENCH_COLLECTIVE_LIST(X)                                                                             \
    X(Barrier, barrier, NONE, NONE, NEVER, false, FLAG, (j->comm))                                           \
    X(Bcast, bcast, BLOCK, BLOCK, NEVER, false, FROM_ROOT,                                                   \
      (j->rank == j->root ? j->send : j->recv, j->count, j->type, j->root, j->comm))                         \
    X(Gather, gather, BLOCK, ALL, ROOT_SEND, false, TO_ROOT,                                                 \
      (j->from, j->count, j->type, j->to, j->count, j->type, j->root, j->comm))                              \
    X(Gatherv, gatherv, BLOCK, ALL, ROOT_SEND, false, TO_ROOT,                                               \
      (j->from, j->count, j->type, j->to, j->counts, j->displs, j->type, j->root, j->comm))                  \
    X(Scatter, scatter, ALL, BLOCK, ROOT_RECV, false, FROM_ROOT,                                             \
      (j->from, j->count, j->type, j->to, j->count, j->type, j->root, j->comm))                              \
    X(Scatterv, scatterv, ALL, BLOCK, ROOT_RECV, false, FROM_ROOT,                                           \
      (j->from, j->counts, j->displs, j->type, j->to, j->count, j->type, j->root, j->comm))                  \
    X(Allgather, allgather, BLOCK, ALL, SEND, false, TO_ALL,                                                 \
      (j->from, j->count, j->type, j->to, j->count, j->type, j->comm))                                       \
    X(Allgatherv, allgatherv, BLOCK, ALL, SEND, false, TO_ALL,                                               \
      (j->from, j->count, j->type, j->to, j->counts, j->displs, j->type, j->comm))                           \
    X(Alltoall, alltoall, ALL, ALL, SEND, false, TO_ALL,                                                     \
      (j->from, j->count, j->type, j->to, j->count, j->type, j->comm))                                       \
    X(Alltoallv, alltoallv, ALL, ALL, SEND, false, TO_ALL,                                                   \
      (j->from, j->counts, j->displs, j->type, j->to, j->counts, j->displs, j->type, j->comm))               \
    X(Alltoallw, alltoallw, ALL, ALL, SEND, false, TO_ALL,                                                   \
      (j->from, j->counts, j->byte_displs, j->types, j->to, j->counts, j->byte_displs, j->types, j->comm))   \
    X(Reduce, reduce, BLOCK, BLOCK, ROOT_SEND, true, REDUCE_ROOT,                                            \
      (j->from, j->to, j->count, j->type, j->op, j->root, j->comm))                                          \
    X(Allreduce, allreduce, BLOCK, BLOCK, SEND, true, REDUCE_ALL,                                            \
      (j->from, j->to, j->count, j->type, j->op, j->comm))                                                   \
    X(Reduce_scatter, reduce_scatter, ALL, BLOCK, SEND, true, REDUCE_SCATTER,                                \
      (j->from, j->to, j->counts, j->type, j->op, j->comm))                                                  \
    X(Reduce_scatter_block, reduce_scatter_block, ALL, BLOCK, SEND, true, REDUCE_SCATTER,                    \
      (j->from, j->to, j->count, j->type, j->op, j->comm))                                                   \
    X(Scan, scan, BLOCK, BLOCK, SEND, true, NONE, (j->from, j->to, j->count, j->type, j->op, j->comm))       \
    X(Exscan, exscan, BLOCK, BLOCK, SEND, true, NONE, (j->from, j->to, j->count, j->type, j->op, j->comm))

#define X(mpi_name, name, send, recv, in_place, reduces, floor, args)                                        \
    static int call_##name(const bench_job_t *j, bool pmpi)                                                  \
    {                                                                                                        \
        return pmpi ? PMPI_##mpi_name args : MPI_##mpi_name args;                                            \
    }
BENCH_COLLECTIVE_LIST(X)
#undef X

const bench_collective_t bench_collectives[] = {
#define X(mpi_name, name, send, recv, in_place, reduces, floor, args)                                        \
    {#name, call_##name, BENCH_##send, BENCH_##recv, BENCH_##in_place, reduces, BENCH_FLOOR_##floor},
    BENCH_COLLECTIVE_LIST(X)
#undef X
};
const size_t bench_collective_count = sizeof bench_collectives / sizeof bench_collectives[0];

#define BENCH_TYPE_LIST(X)                                                                                   \
    X("char", fill_char, signed char, MPI_SIGNED_CHAR, true)                                                 \
    X("int", fill_int, int, MPI_INT, true)                                                                   \
    X("int64", fill_int64, int64_t, MPI_INT64_T, true)                                                       \
    X("float", fill_float, float, MPI_FLOAT, false)                                                          \
    X("double", fill_double, double, MPI_DOUBLE, false)

#define X(name, fill, c_type, mpi_type, integer)                                                             \
    static void fill(void *element, unsigned value)                                                          \
    {                                                                                                        \
        *(c_type *)element = (c_type)value;                                                                  \
    }
BENCH_TYPE_LIST(X)
#undef X

const bench_type_t bench_types[] = {
#define X(name, fill, c_type, mpi_type, integer) {name, mpi_type, sizeof(c_type), integer, fill},
    BENCH_TYPE_LIST(X)
#undef X
};
const size_t bench_type_count = sizeof bench_types / sizeof bench_types[0];

/* MPI defines the logical and bitwise ops on integers alone. Sums rest at 0 and products at 1; the others rest at both. */
const bench_op_t bench_ops[] = {
    {"sum", MPI_SUM, false, 0}, {"prod", MPI_PROD, false, 1}, {"max", MPI_MAX, false, 1},  {"min", MPI_MIN, false, 1},
    {"land", MPI_LAND, true, 1}, {"lor", MPI_LOR, true, 1},   {"lxor", MPI_LXOR, true, 0}, {"band", MPI_BAND, true, 1},
    {"bor", MPI_BOR, true, 1},   {"bxor", MPI_BXOR, true, 0},
};
const size_t bench_op_count = sizeof bench_ops / sizeof bench_ops[0];
