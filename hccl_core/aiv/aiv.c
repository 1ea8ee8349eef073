/* SPDX-License-Identifier: BSD-3-Clause */
/* aiv.c - which AIV kernel serves an operator at which size, and the loop over data larger than a slot. */
#include "aiv/aiv.h"

/* What a rank's slot holds in a round: one piece, one for each other rank, one for each rank. */
typedef enum { ONE_PIECE, FOR_OTHERS, FOR_ALL } pieces_t;

/* Kernels per operator, in order of preference: the first whose limits hold ranks and bytes is taken. */
typedef struct {
    const char *name;
    uint32_t ranks; /* at most */
    pieces_t pieces;
    uint64_t upto;  /* bytes as hcore_oper_bytes has them */
    aiv_round_t round;
} kernel_t;

enum { ANY_RANKS = INT32_MAX, PAIR = 2, KERNELS = 3 };
#define ANY_SIZE UINT64_MAX

static const kernel_t kernels[HCORE_OPER_COUNT][KERNELS] = {
    /* two ranks read as much of each other in one phase as in two */
    [HCORE_OPER_AllReduce] = {{"one-shot", PAIR, ONE_PIECE, ANY_SIZE, aiv_slot_allreduce_flat},
                              {"one-shot", ANY_RANKS, ONE_PIECE, 2048, aiv_slot_allreduce_flat},
                              {"two-shot", ANY_RANKS, ONE_PIECE, ANY_SIZE, aiv_slot_allreduce_sliced}},
    [HCORE_OPER_Reduce] = {{"slots", ANY_RANKS, ONE_PIECE, ANY_SIZE, aiv_slot_reduce}},
    [HCORE_OPER_Scan] = {{"slots", ANY_RANKS, ONE_PIECE, ANY_SIZE, aiv_slot_scan}},
    [HCORE_OPER_Exscan] = {{"slots", ANY_RANKS, ONE_PIECE, ANY_SIZE, aiv_slot_scan}},
    [HCORE_OPER_ReduceScatter] = {{"slots", ANY_RANKS, FOR_ALL, ANY_SIZE, aiv_slot_reduce_scatter}},
    [HCORE_OPER_ReduceScatterV] = {{"slots", ANY_RANKS, FOR_ALL, ANY_SIZE, aiv_slot_reduce_scatter}},
    [HCORE_OPER_Broadcast] = {{"slots", ANY_RANKS, ONE_PIECE, ANY_SIZE, aiv_slot_broadcast}},
    [HCORE_OPER_AllGather] = {{"slots", ANY_RANKS, ONE_PIECE, ANY_SIZE, aiv_slot_allgather}},
    [HCORE_OPER_AllGatherV] = {{"slots", ANY_RANKS, ONE_PIECE, ANY_SIZE, aiv_slot_allgather}},
    [HCORE_OPER_Gather] = {{"slots", ANY_RANKS, ONE_PIECE, ANY_SIZE, aiv_slot_gather}},
    [HCORE_OPER_Scatter] = {{"slots", ANY_RANKS, FOR_OTHERS, ANY_SIZE, aiv_slot_scatter}},
    [HCORE_OPER_AlltoAll] = {{"slots", ANY_RANKS, FOR_OTHERS, ANY_SIZE, aiv_slot_alltoall}},
};

static const kernel_t *find_kernel(hcore_oper_t oper, uint32_t nranks, uint64_t bytes)
{
    const kernel_t *kernel = kernels[oper];
    for (size_t i = 0; i < KERNELS && kernel[i].round; i++) {
        if (nranks <= kernel[i].ranks && bytes <= kernel[i].upto) {
            return &kernel[i];
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

static uint32_t pieces_of(const kernel_t *kernel, uint32_t nranks)
{
    return kernel->pieces == ONE_PIECE ? 1 : kernel->pieces == FOR_OTHERS ? nranks - 1 : nranks;
}

static hcore_status_t run_rounds(hcore_comm_t *comm, const hcore_args_t *args, const kernel_t *kernel, uint64_t total)
{
    const uint64_t elem = args->reducer ? args->reducer->elem_bytes : LANE_ALIGN;
    const uint64_t room = SLOT_BYTES / pieces_of(kernel, comm->nranks);
    const uint64_t step = room > elem ? room / elem * elem : room;
    hcore_status_t status = HCORE_OK;
    for (uint64_t offset = 0; offset < total && status == HCORE_OK; offset += step) {
        uint64_t bytes = total - offset < step ? total - offset : step;
        status = kernel->round(comm, args, offset, bytes);
    }
    return status;
}

/* The first kernel of an operator is the one for small data. */
uint64_t aiv_line_limit(const hcore_comm_t *comm, hcore_oper_t oper)
{
    const hcore_bytes_kind_t kind = hcore_oper_bytes(oper);
    const bool one_size = kind == HCORE_BYTES_BUFFER || kind == HCORE_BYTES_BLOCK;
    return one_size && kernels[oper][0].round ? LINE_PAYLOAD / pieces_of(&kernels[oper][0], comm->nranks) : 0;
}

hcore_status_t aiv_line_run(hcore_comm_t *comm, const hcore_args_t *args)
{
    return kernels[args->oper][0].round(comm, args, 0, args->bytes);
}

/* One block a rank, or one for each; all ranks go through the same rounds. */
static hcore_status_t run_kernel(hcore_comm_t *comm, const hcore_args_t *args, const char **algorithm)
{
    const kernel_t *kernel = find_kernel(args->oper, comm->nranks, args->bytes);
    if (!kernel) {
        return HCORE_ERR_UNSUPPORTED;
    }
    const uint64_t total = longest(args, comm->nranks);
    if (total > 0 && total * pieces_of(kernel, comm->nranks) <= LINE_PAYLOAD) {
        *algorithm = hcore_line_name;
        return kernel->round(comm, args, 0, total);
    }
    bool done;
    hcore_status_t status = aiv_heap_try(comm, args, &done);
    if (status != HCORE_OK || done) {
        *algorithm = "heap";
        return status;
    }
    *algorithm = kernel->name;
    return run_rounds(comm, args, kernel, total);
}

hcore_status_t aiv_run(hcore_comm_t *comm, const hcore_args_t *args, const char **algorithm)
{
    switch (args->oper) {
    case HCORE_OPER_Barrier:
        *algorithm = hcore_line_name;
        return aiv_line_barrier(comm);
    case HCORE_OPER_AlltoAllV:
    case HCORE_OPER_AlltoAllW:
    case HCORE_OPER_GatherV:
    case HCORE_OPER_ScatterV:
        return aiv_cell_exchange(comm, args, algorithm);
    default:
        return run_kernel(comm, args, algorithm);
    }
}
