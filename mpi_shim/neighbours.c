/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbours.c - whom a rank of a virtual topology sends to and receives from: asked for once, since MPI fixes it with the communicator.
 *
 * A rank may be a neighbour several times. On graphs, the k-th block to it is then received in its k-th block from here. On a Cartesian
 * topology what is sent one way in a dimension is received from the other way, also where both ways lead to the same rank (MPI 4.1,
 * section 8.6): there, the receiver's two blocks of each dimension are taken in turned order.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/shim.h"

enum { WAYS = 2 }; /* of each dimension */

/* As MPI tells them, PROC_NULL included. */
typedef struct {
    int count[2];
    int *rank[2];
    bool turned; /* OUT is matched in turned pairs */
} lists_t;

static bool make_lists(lists_t *lists, int in, int out)
{
    lists->count[SHIM_IN] = in;
    lists->count[SHIM_OUT] = out;
    for (unsigned i = 0; i < 2; i++) {
        lists->rank[i] = calloc((size_t)lists->count[i] + 1, sizeof(int)); /* MPI wants an address for none, too */
    }
    return lists->rank[SHIM_IN] && lists->rank[SHIM_OUT];
}

static int ask_cart(const shim_comm_t *comm, lists_t *lists)
{
    int dims = 0, code = shim_pmpi.Cartdim_get(comm->handle, &dims);
    if (code == MPI_SUCCESS && !make_lists(lists, WAYS * dims, WAYS * dims)) {
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < dims && code == MPI_SUCCESS; i++) {
        int *there = &lists->rank[SHIM_IN][WAYS * i];
        code = shim_pmpi.Cart_shift(comm->handle, i, 1, &there[0], &there[1]);
    }
    if (code == MPI_SUCCESS) {
        memcpy(lists->rank[SHIM_OUT], lists->rank[SHIM_IN], (size_t)lists->count[SHIM_IN] * sizeof(int));
        lists->turned = true;
    }
    return code;
}

static int ask_graph(const shim_comm_t *comm, lists_t *lists)
{
    const int rank = (int)comm->rank;
    int count = 0, code = shim_pmpi.Graph_neighbors_count(comm->handle, rank, &count);
    if (code == MPI_SUCCESS && !make_lists(lists, count, count)) {
        return MPI_ERR_NO_MEM;
    }
    for (unsigned i = 0; i < 2 && code == MPI_SUCCESS; i++) {
        code = shim_pmpi.Graph_neighbors(comm->handle, rank, count, lists->rank[i]);
    }
    return code;
}

static int ask_dist_graph(const shim_comm_t *comm, lists_t *lists)
{
    int from = 0, to = 0, weighted, code = shim_pmpi.Dist_graph_neighbors_count(comm->handle, &from, &to, &weighted);
    if (code != MPI_SUCCESS) {
        return code;
    }
    int *weights = calloc((size_t)from + (size_t)to + 1, sizeof(int)); /* MPI_UNWEIGHTED is a variable of the MPI underneath */
    code = weights && make_lists(lists, to, from) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS) {
        code = shim_pmpi.Dist_graph_neighbors(comm->handle, from, lists->rank[SHIM_OUT], weights, to, lists->rank[SHIM_IN],
                                              weights + from);
    }
    free(weights);
    return code;
}

static int ask(const shim_comm_t *comm, lists_t *lists)
{
    int kind = MPI_UNDEFINED;
    const int code = shim_pmpi.Topo_test(comm->handle, &kind);
    if (code != MPI_SUCCESS) {
        return code;
    }
    return kind == MPI_CART         ? ask_cart(comm, lists)
           : kind == MPI_GRAPH      ? ask_graph(comm, lists)
           : kind == MPI_DIST_GRAPH ? ask_dist_graph(comm, lists)
                                    : SHIM_PASS;
}

/* Blocks sorted by rank, those of one rank in the order of the list. */
static bool sort(const lists_t *lists, unsigned which, uint32_t size, shim_parts_t *parts)
{
    const int *rank = lists->rank[which];
    const uint32_t n = (uint32_t)lists->count[which], turn = which == SHIM_OUT && lists->turned;
    parts->block = calloc((size_t)n + 1, sizeof(*parts->block));
    parts->first = calloc((size_t)size + 1, sizeof(*parts->first));
    uint32_t *next = calloc((size_t)size + 1, sizeof(*next));
    const bool good = parts->block && parts->first && next;
    for (uint32_t i = 0; good && i < n; i++) {
        if (rank[i] >= 0) { /* all others are MPI_PROC_NULL */
            parts->first[rank[i] + 1]++;
        }
    }
    for (uint32_t r = 0; good && r < size; r++) {
        parts->first[r + 1] += parts->first[r];
        next[r] = parts->first[r];
    }
    for (uint32_t i = 0; good && i < n; i++) {
        const uint32_t block = i ^ turn;
        if (rank[block] >= 0) {
            parts->block[next[rank[block]]++] = block;
        }
    }
    parts->count = good ? parts->first[size] : 0;
    free(next);
    return good;
}

void shim_neighbours_free(shim_neighbours_t *neighbours)
{
    for (unsigned i = 0; neighbours && i < 2; i++) {
        free(neighbours->side[i].block);
        free(neighbours->side[i].first);
    }
    free(neighbours);
}

int shim_neighbours_find(shim_comm_t *comm)
{
    lists_t lists = {.turned = false};
    if (comm->neighbours) {
        return MPI_SUCCESS;
    }
    shim_neighbours_t *found = calloc(1, sizeof(*found));
    int code = found ? ask(comm, &lists) : MPI_ERR_NO_MEM;
    for (unsigned i = 0; i < 2 && code == MPI_SUCCESS; i++) {
        code = sort(&lists, i, comm->size, &found->side[i]) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    free(lists.rank[SHIM_IN]);
    free(lists.rank[SHIM_OUT]);
    if (code == MPI_SUCCESS) {
        comm->neighbours = found;
    } else {
        shim_neighbours_free(found);
    }
    return code;
}
