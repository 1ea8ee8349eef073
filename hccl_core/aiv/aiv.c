/* SPDX-License-Identifier: BSD-3-Clause */
/* aiv.c - which AIV kernel serves an operator at which size, and the loop over data larger than a slot. */
#include "aiv/aiv.h"

/*
 * One row per kernel, in order of preference: the first row of the operator whose limits hold ranks and bytes is taken. A round covers
 * at most SLOT_BYTES / (shared ? nranks : 1) of a vector or of each block.
 */
typedef struct {
    hcore_oper_t oper;
    const char *name;
    uint32_t ranks; /* at most */
    uint64_t upto;  /* bytes as hcore_oper_bytes has them */
    bool shared;   /* one slot holds a piece for each rank */
    aiv_round_t round;
} kernel_t;

enum { ANY_RANKS = INT32_MAX, PAIR = 2 };
static const uint64_t any_size = UINT64_MAX;

static const kernel_t kernels[] = {
    /* two ranks read as much of each other in one phase as in two */
    {HCORE_OPER_AllReduce, "one-shot", PAIR, any_size, false, aiv_slot_allreduce_flat},
    {HCORE_OPER_AllReduce, "one-shot", ANY_RANKS, 2048, false, aiv_slot_allreduce_flat},
    {HCORE_OPER_AllReduce, "two-shot", ANY_RANKS, any_size, false, aiv_slot_allreduce_sliced},
    {HCORE_OPER_Reduce, "slots", ANY_RANKS, any_size, false, aiv_slot_reduce},
    {HCORE_OPER_Scan, "slots", ANY_RANKS, any_size, false, aiv_slot_scan},
    {HCORE_OPER_Exscan, "slots", ANY_RANKS, any_size, false, aiv_slot_scan},
    {HCORE_OPER_ReduceScatter, "slots", ANY_RANKS, any_size, true, aiv_slot_reduce_scatter},
    {HCORE_OPER_ReduceScatterV, "slots", ANY_RANKS, any_size, true, aiv_slot_reduce_scatter},
    {HCORE_OPER_Broadcast, "slots", ANY_RANKS, any_size, false, aiv_slot_broadcast},
    {HCORE_OPER_AllGather, "slots", ANY_RANKS, any_size, false, aiv_slot_allgather},
    {HCORE_OPER_AllGatherV, "slots", ANY_RANKS, any_size, false, aiv_slot_allgather},
    {HCORE_OPER_Gather, "slots", ANY_RANKS, any_size, false, aiv_slot_gather},
    {HCORE_OPER_Scatter, "slots", ANY_RANKS, any_size, true, aiv_slot_scatter},
    {HCORE_OPER_AlltoAll, "slots", ANY_RANKS, any_size, true, aiv_slot_alltoall},
};

static const kernel_t *find_kernel(hcore_oper_t oper, uint32_t nranks, uint64_t bytes)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        if (kernels[i].oper == oper && nranks <= kernels[i].ranks && bytes <= kernels[i].upto) {
            return &kernels[i];
        }
    }
    return NULL;
}

/* The longest block: every rank knows all sizes of these operators, so all count the same rounds. */
static uint64_t longest(const hcore_args_t *args, uint32_t nranks)
{
    const uint64_t *sizes = args->oper == HCORE_OPER_AllGatherV       ? args->out_bytes
                            : args->oper == HCORE_OPER_ReduceScatterV ? args->in_bytes
                                                                      : NULL;
    uint64_t most = sizes ? 0 : args->bytes;
    for (uint32_t i = 0; sizes && i < nranks; i++) {
        most = sizes[i] > most ? sizes[i] : most;
    }
    return most;
}

static hcore_status_t run_rounds(hcore_comm_t *comm, const hcore_args_t *args, const kernel_t *kernel)
{
    const uint64_t elem = args->reducer ? args->reducer->elem_bytes : LANE_ALIGN;
    const uint64_t room = SLOT_BYTES / (kernel->shared ? comm->nranks : 1);
    const uint64_t step = room > elem ? room / elem * elem : room;
    const uint64_t total = longest(args, comm->nranks);
    hcore_status_t status = HCORE_OK;
    for (uint64_t offset = 0; offset < total && status == HCORE_OK; offset += step) {
        uint64_t bytes = total - offset < step ? total - offset : step;
        status = kernel->round(comm, args, offset, bytes);
    }
    return status;
}

hcore_status_t aiv_run(hcore_comm_t *comm, const hcore_args_t *args, const char **algorithm)
{
    const bool line = args->bytes <= LINE_PAYLOAD;
    switch (args->oper) {
    case HCORE_OPER_Barrier:
        *algorithm = hcore_line_name;
        return aiv_line_barrier(comm);
    case HCORE_OPER_AlltoAllV:
    case HCORE_OPER_AlltoAllW:
    case HCORE_OPER_GatherV:
    case HCORE_OPER_ScatterV:
        *algorithm = "cells";
        return aiv_cell_exchange(comm, args);
    case HCORE_OPER_AllReduce:
    case HCORE_OPER_Broadcast:
        if (line) {
            *algorithm = hcore_line_name;
            return args->oper == HCORE_OPER_AllReduce
                       ? aiv_line_allreduce(comm, hcore_block_at(&args->in, 0), hcore_block_at(&args->out, 0), args->bytes,
                                            args->reducer)
                       : aiv_line_broadcast(comm, args);
        }
        break;
    default:
        break;
    }
    const kernel_t *kernel = find_kernel(args->oper, comm->nranks, args->bytes);
    if (!kernel) {
        return HCORE_ERR_UNSUPPORTED;
    }
    bool done;
    hcore_status_t status = aiv_heap_try(comm, args, &done);
    if (status != HCORE_OK || done) {
        *algorithm = "heap";
        return status;
    }
    *algorithm = kernel->name;
    return run_rounds(comm, args, kernel);
}
