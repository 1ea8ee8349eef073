/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * serve.c - one function per operator: which arguments are significant on this rank, and what they mean for the core. An
 * argument that MPI says is ignored is never looked at.
 */
#include "mpi_shim/shim.h"

static inline bool at_root(const shim_job_t *job)
{
    return job->comm->rank == job->args.root;
}

static void set_side(shim_job_t *job, unsigned which, uint32_t nblocks)
{
    const shim_call_t *call = job->call;
    shim_side_t *side = &job->side[which];
    job->nblocks[which] = nblocks;
    if (which == SHIM_IN) {
        side->buffer = (void *)call->sendbuf;
        side->count = call->sendcount;
        side->type = call->sendtype;
    } else {
        side->buffer = call->recvbuf;
        side->count = call->recvcount;
        side->type = call->recvtype;
    }
}

/* The arrays of a V or W argument; NULL for the operators that have none. */
static void set_arrays(shim_job_t *job, unsigned which)
{
    const shim_call_t *call = job->call;
    shim_side_t *side = &job->side[which];
    side->counts = which == SHIM_IN ? call->sendcounts : call->recvcounts;
    side->displs = which == SHIM_IN ? call->sdispls : call->rdispls;
    side->types = which == SHIM_IN ? call->sendtypes : call->recvtypes;
}

/* The one type of all blocks that have a part on this rank, if there is one, and its elements lie without gaps. */
static bool one_type(const shim_job_t *job, MPI_Datatype *type)
{
    shim_type_t info;
    bool any = false;
    for (unsigned i = 0; i < 2; i++) {
        const shim_side_t *side = &job->side[i];
        for (uint32_t b = 0; b < (side->types ? job->nblocks[i] : job->nblocks[i] > 0); b++) {
            const MPI_Datatype handle = side->types ? side->types[b] : side->type;
            if (any && handle != *type) {
                return false;
            }
            *type = handle;
            any = true;
        }
    }
    return any && shim_type_get(*type, &info) && info.predefined && (info.contiguous || job->args.reducer);
}

/* What fast.c serves without looking at it again. */
static void remember(const shim_job_t *job)
{
    const hcore_oper_t oper = job->args.oper;
    shim_comm_t *comm = job->comm;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    shim_type_t info = {.size = 0};
    if (job->redop == HCORE_REDOP_USER || job->side[SHIM_OUT].parts || (oper != HCORE_OPER_Barrier && !one_type(job, &type))) {
        return;
    }
    shim_memo_t memo = {.type = type, .op = job->call->op, .reducer = job->reducer,
                        .sized = hcore_oper_bytes(oper) != HCORE_BYTES_UNKNOWN};
    shim_decide_steps(comm, oper, job->type, job->redop, &memo);
    const bool by_aiv = memo.backend[0] == HCORE_BACKEND_AIV && comm->size > 1;
    memo.known = oper == HCORE_OPER_Barrier ? by_aiv : shim_type_get(type, &info);
    memo.elem = job->args.reducer ? job->reducer.elem_bytes : info.size;
    memo.line = by_aiv ? hcore_line_limit(comm->core, oper) : 0;
    memo.line = memo.line < memo.limit ? memo.line : memo.limit;
    comm->memo[oper] = memo;
}

/* What an operator's arguments mean on this rank. SHIM_PASS or an MPI code instead of MPI_SUCCESS ends the call. */
typedef int (*describe_t)(shim_job_t *job);

int shim_job_describe(shim_job_t *job, describe_t describe)
{
    const int code = hcore_oper_reduces(job->args.oper) ? shim_job_reducer(job) : MPI_SUCCESS;
    return code == MPI_SUCCESS ? describe(job) : code;
}

static int serve(const shim_call_t *call, shim_watch_t *watch, hcore_oper_t oper, describe_t describe)
{
    shim_job_t job;
    shim_comm_t *comm = shim_comm_get(call->comm);
    if (!comm) {
        return shim_pass(watch, HCORE_REASON_BAD_ARGUMENT);
    }
    shim_wait_idle(comm); /* one communicator's operators run in the order of their calls */
    int code = shim_job_begin(&job, comm, &comm->scratch, call, watch, oper);
    if (code == MPI_SUCCESS) {
        code = shim_job_describe(&job, describe);
    }
    if (code == MPI_SUCCESS) {
        code = shim_job_run(&job);
        if (code == MPI_SUCCESS) {
            remember(&job);
        }
    }
    return code;
}

static int describe_barrier(shim_job_t *job)
{
    (void)job;
    return MPI_SUCCESS;
}

static int describe_broadcast(shim_job_t *job)
{
    set_side(job, at_root(job) ? SHIM_IN : SHIM_OUT, 1);
    return MPI_SUCCESS;
}

/* Gather(V): everything arrives at the root. */
static int describe_gather(shim_job_t *job)
{
    if (at_root(job)) {
        set_side(job, SHIM_OUT, job->comm->size);
        set_arrays(job, SHIM_OUT);
        job->in_place = job->call->sendbuf == MPI_IN_PLACE;
    }
    if (!job->in_place) {
        set_side(job, SHIM_IN, 1);
    }
    return MPI_SUCCESS;
}

/* Scatter(V): everything leaves from the root. */
static int describe_scatter(shim_job_t *job)
{
    if (at_root(job)) {
        set_side(job, SHIM_IN, job->comm->size);
        set_arrays(job, SHIM_IN);
        job->in_place = job->call->recvbuf == MPI_IN_PLACE;
    }
    if (!job->in_place) {
        set_side(job, SHIM_OUT, 1);
    }
    return MPI_SUCCESS;
}

static int describe_allgather(shim_job_t *job)
{
    set_side(job, SHIM_OUT, job->comm->size);
    set_arrays(job, SHIM_OUT);
    job->in_place = job->call->sendbuf == MPI_IN_PLACE;
    if (!job->in_place) {
        set_side(job, SHIM_IN, 1);
    }
    return MPI_SUCCESS;
}

/* In place, every block is sent from where another will arrive: IN is a copy, and the core sees no aliasing. */
static int describe_alltoall(shim_job_t *job)
{
    const uint32_t n = job->comm->size;
    set_side(job, SHIM_OUT, n);
    set_side(job, SHIM_IN, n);
    set_arrays(job, SHIM_OUT);
    set_arrays(job, SHIM_IN);
    if (job->call->sendbuf == MPI_IN_PLACE) {
        job->side[SHIM_IN] = job->side[SHIM_OUT];
        job->side[SHIM_IN].copy = true;
    }
    return MPI_SUCCESS;
}

/* One block for each rank, which is put together from those for it, as often as it is a neighbour. MPI knows no neighbourhood operator in
 * place, and does not report a buffer that is used twice. */
static int describe_neighbours(shim_job_t *job)
{
    const hcore_oper_t oper = job->args.oper;
    shim_comm_t *comm = job->comm;
    int code = shim_neighbours_find(comm);
    if (code == SHIM_PASS) {
        return shim_pass(job->watch, HCORE_REASON_BAD_ARGUMENT);
    }
    for (unsigned i = 0; i < 2 && code == MPI_SUCCESS; i++) {
        set_side(job, i, comm->size);
        set_arrays(job, i);
        job->side[i].parts = &comm->neighbours->side[i];
        job->side[i].aints = oper == HCORE_OPER_NeighborAlltoAllW;
        code = shim_scratch_grow(job->scratch, comm->size + job->side[i].parts->count) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    job->side[SHIM_IN].same = oper == HCORE_OPER_NeighborAllGather || oper == HCORE_OPER_NeighborAllGatherV;
    job->side[SHIM_IN].copy = job->call->sendbuf == job->call->recvbuf;
    return code == MPI_ERR_NO_MEM ? shim_job_no_memory(job) : code;
}

/* AllReduce, Reduce, Scan, Exscan: one block in, one block out. */
static int describe_reduction(shim_job_t *job)
{
    const shim_call_t *call = job->call;
    const hcore_oper_t oper = job->args.oper;
    const bool result = oper == HCORE_OPER_Reduce ? at_root(job) : true;
    job->in_place = result && call->sendbuf == MPI_IN_PLACE;
    if (result) {
        set_side(job, SHIM_OUT, 1);
    }
    if (job->in_place) {
        return MPI_SUCCESS;
    }
    set_side(job, SHIM_IN, 1);
    if (oper == HCORE_OPER_Exscan && job->comm->rank == 0) {
        /* Not significant there. But MPI refuses the buffers all the other ranks are refused for, and so must this one. */
        if (call->sendbuf == call->recvbuf && call->sendcount > 0) {
            return shim_pass(job->watch, HCORE_REASON_BAD_ARGUMENT);
        }
        job->nblocks[SHIM_OUT] = 0;
    }
    return MPI_SUCCESS;
}

/* The vector of all blocks lies in sendbuf, or in place in recvbuf, whose beginning then receives the result. */
static int describe_reduce_scatter(shim_job_t *job)
{
    const shim_call_t *call = job->call;
    set_side(job, SHIM_IN, job->comm->size);
    set_side(job, SHIM_OUT, 1);
    job->side[SHIM_IN].type = call->recvtype;
    if (job->args.oper == HCORE_OPER_ReduceScatterV) {
        job->side[SHIM_IN].counts = call->recvcounts;
        job->side[SHIM_OUT].count = shim_count(&job->side[SHIM_IN], job->comm->rank);
    }
    job->in_place = call->sendbuf == MPI_IN_PLACE;
    if (job->in_place) {
        job->side[SHIM_IN].buffer = call->recvbuf;
    }
    return MPI_SUCCESS;
}

#define SERVE(operator, describe)                                                                 \
    int shim_serve_##operator(const shim_call_t *call, shim_watch_t *watch)                       \
    {                                                                                             \
        return serve(call, watch, HCORE_OPER_##operator, describe);                               \
    }                                                                                             \
    int shim_start_##operator(const shim_call_t *call, shim_watch_t *watch, MPI_Request *request) \
    {                                                                                             \
        return shim_request_begin(request, call, watch, HCORE_OPER_##operator, describe, false);  \
    }                                                                                             \
    int shim_init_##operator(const shim_call_t *call, shim_watch_t *watch, MPI_Request *request)  \
    {                                                                                             \
        return shim_request_begin(request, call, watch, HCORE_OPER_##operator, describe, true);   \
    }
SERVE(Barrier, describe_barrier)
SERVE(Broadcast, describe_broadcast)
SERVE(Gather, describe_gather)
SERVE(GatherV, describe_gather)
SERVE(Scatter, describe_scatter)
SERVE(ScatterV, describe_scatter)
SERVE(AllGather, describe_allgather)
SERVE(AllGatherV, describe_allgather)
SERVE(AlltoAll, describe_alltoall)
SERVE(AlltoAllV, describe_alltoall)
SERVE(AlltoAllW, describe_alltoall)
SERVE(NeighborAllGather, describe_neighbours)
SERVE(NeighborAllGatherV, describe_neighbours)
SERVE(NeighborAlltoAll, describe_neighbours)
SERVE(NeighborAlltoAllV, describe_neighbours)
SERVE(NeighborAlltoAllW, describe_neighbours)
SERVE(Reduce, describe_reduction)
SERVE(Scan, describe_reduction)
SERVE(Exscan, describe_reduction)
SERVE(AllReduce, describe_reduction)
SERVE(ReduceScatter, describe_reduce_scatter)
SERVE(ReduceScatterV, describe_reduce_scatter)
