/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aiv.h - the vector-kernel engine: the calling rank itself loads and stores the peers' shared memory. No task lists.
 *
 *   line.c   Barrier and AllReduce of one cache line, without a look at anything else
 *   slot_*.c rounds through per-rank slots, or lines where the data is small: reductions and uniform data moving
 *   heap.c   the same, and two-rank Broadcast and Scatter, on data in the shared heaps
 *   cell.c   independent pairs: the V and W operators, where only the two ends of a pair know its size
 */
#ifndef HCORE_AIV_H
#define HCORE_AIV_H

#include "comm/comm_internal.h"

/* Runs any operator of any size. */
hcore_status_t aiv_run(hcore_comm_t *comm, const hcore_args_t *args, const char **algorithm);

/* As hcore_line_limit, hcore_line_run. */
uint64_t aiv_line_limit(const hcore_comm_t *comm, hcore_oper_t oper);
hcore_status_t aiv_line_run(hcore_comm_t *comm, const hcore_args_t *args);

hcore_status_t aiv_line_barrier(hcore_comm_t *comm);
hcore_status_t aiv_line_allreduce(hcore_comm_t *comm, const void *in, void *out, size_t bytes, const hcore_reducer_t *reducer);

/* One round each of at most SLOT_BYTES per rank; the loops over larger data are in aiv.c. */
typedef hcore_status_t (*aiv_round_t)(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);
hcore_status_t aiv_slot_allreduce_flat(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);
hcore_status_t aiv_slot_allreduce_sliced(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);
hcore_status_t aiv_slot_reduce(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);
hcore_status_t aiv_slot_scan(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);
hcore_status_t aiv_slot_reduce_scatter(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);
hcore_status_t aiv_slot_broadcast(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);
hcore_status_t aiv_slot_allgather(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);
hcore_status_t aiv_slot_gather(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);
hcore_status_t aiv_slot_scatter(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);
hcore_status_t aiv_slot_alltoall(hcore_comm_t *comm, const hcore_args_t *args, uint64_t offset, uint64_t bytes);

/* From which sizes on a communicator uses the shared heaps, once all else about it is known. */
void aiv_heap_sizes(hcore_comm_t *comm);
/* If all ranks' data lies in shared heaps, runs the operator there (*done); else nothing has happened. The same on all ranks. */
hcore_status_t aiv_heap_try(hcore_comm_t *comm, const hcore_args_t *args, bool *done);

hcore_status_t aiv_cell_exchange(hcore_comm_t *comm, const hcore_args_t *args, const char **algorithm);

#endif
