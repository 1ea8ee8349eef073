/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.c - the way of a collective call: check, decide, pack, run, unpack.
 *
 * Everything up to the decision depends on this rank's arguments only through what MPI forces to be equal on all
 * ranks, except where an argument is plainly wrong: then MPI is called and reports it.
 */
#include <stdio.h>

#include "mpi_shim/shim.h"

int shim_pass(shim_watch_t *watch, hcore_reason_t reason)
{
    watch->backend = HCORE_BACKEND_MPI;
    watch->reason = reason;
    watch->algorithm = NULL;
    return SHIM_PASS;
}

int shim_raise(MPI_Comm comm, int code)
{
    shim_pmpi.Comm_call_errhandler(comm, code);
    return code;
}

/* One of our own: MPICH finds no text of a code added to a predefined class. Without a lock, which must not be held in a call of MPI: threads
 * that come here together make one each, and all use the first's (relaxed: nothing else goes with the number). */
static int error_class(void)
{
    static atomic_int known = MPI_ERR_OTHER;
    int class = atomic_load_explicit(&known, memory_order_relaxed);
    if (class == MPI_ERR_OTHER && shim_pmpi.Add_error_class(&class) == MPI_SUCCESS) {
        int before = MPI_ERR_OTHER;
        shim_pmpi.Add_error_string(class, "hccl-shim: a collective could not be completed");
        class = atomic_compare_exchange_strong_explicit(&known, &before, class, memory_order_relaxed, memory_order_relaxed) ? class : before;
    }
    return class;
}

/* A code whose text names what happened. */
static int error_code(const shim_comm_t *comm, hcore_status_t status)
{
    char text[MPI_MAX_ERROR_STRING];
    int code = MPI_ERR_OTHER;
    const int dead = hcore_comm_dead_rank(comm->core);
    if (shim_pmpi.Add_error_code(error_class(), &code) != MPI_SUCCESS) {
        return MPI_ERR_OTHER;
    }
    if (dead >= 0) {
        snprintf(text, sizeof(text), "hccl-shim: collective on a communicator of %u ranks: %s (rank %d)", comm->size,
                 hcore_status_text(status), dead);
    } else {
        snprintf(text, sizeof(text), "hccl-shim: collective on a communicator of %u ranks: %s", comm->size,
                 hcore_status_text(status));
    }
    shim_pmpi.Add_error_string(code, text);
    return code;
}

int shim_code_of(const shim_comm_t *comm, hcore_status_t status)
{
    switch (status) {
    case HCORE_OK:
        return MPI_SUCCESS;
    case HCORE_ERR_TRUNCATE:
        return MPI_ERR_TRUNCATE;
    case HCORE_ERR_NO_MEMORY:
        return MPI_ERR_NO_MEM;
    default:
        return error_code(comm, status);
    }
}

int shim_finish(shim_comm_t *comm, hcore_status_t status)
{
    return status == HCORE_OK ? MPI_SUCCESS : shim_raise(shim_comm_handle(comm), shim_code_of(comm, status));
}

int shim_job_no_memory(shim_job_t *job)
{
    if (job->comm->core) {
        hcore_comm_fail(job->comm->core);
    }
    return shim_raise(shim_comm_handle(job->comm), MPI_ERR_NO_MEM);
}

static bool is_rooted(hcore_oper_t oper)
{
    return oper == HCORE_OPER_Broadcast || oper == HCORE_OPER_Reduce || oper == HCORE_OPER_Gather ||
           oper == HCORE_OPER_GatherV || oper == HCORE_OPER_Scatter || oper == HCORE_OPER_ScatterV;
}

int shim_job_begin(shim_job_t *job, shim_comm_t *comm, shim_scratch_t *scratch, const shim_call_t *call, shim_watch_t *watch,
                   hcore_oper_t oper)
{
    *job = (shim_job_t){.call = call, .watch = watch, .comm = comm, .scratch = scratch, .type = HCORE_TYPE_NONE,
                        .redop = HCORE_REDOP_NONE};
    if (!shim_comm_pending(comm) && !comm->core) { /* in this order: another thread may connect it just now */
        return shim_pass(watch, comm->why);
    }
    job->args.oper = oper;
    if (is_rooted(oper)) {
        if (call->root < 0 || (uint32_t)call->root >= job->comm->size) {
            return shim_pass(watch, HCORE_REASON_BAD_ARGUMENT);
        }
        job->args.root = (uint32_t)call->root;
    }
    for (unsigned i = 0; i < 2; i++) {
        job->side[i].large = call->large;
    }
    return MPI_SUCCESS;
}

int shim_job_reducer(shim_job_t *job)
{
    shim_type_t type;
    const MPI_Datatype handle = job->call->recvtype;
    job->redop = shim_op_get(job->call->op);
    job->type = HCORE_TYPE_OPAQUE;
    if (job->redop == HCORE_REDOP_NONE || !shim_type_get(handle, &type)) {
        return shim_pass(job->watch, HCORE_REASON_BAD_ARGUMENT);
    }
    if (job->redop != HCORE_REDOP_USER) {
        job->side[SHIM_IN].raw = job->side[SHIM_OUT].raw = true;
        job->type = type.core;
        if (hcore_reducer_builtin(type.core, job->redop, &job->reducer) != HCORE_OK) {
            return shim_pass(job->watch, HCORE_REASON_UNKNOWN_TYPE);
        }
    } else {
        job->user = (shim_user_op_t){.type = handle, .op = job->call->op, .comm = job->call->comm, .info = type};
        job->reducer = (hcore_reducer_t){.run = shim_user_reduce, .context = &job->user, .elem_bytes = type.size};
    }
    job->args.reducer = &job->reducer;
    return MPI_SUCCESS;
}

/* What MPI calls wrong and the library underneath does not survive (doc/user-guide.md) is reported here. */
static int plain_error(const shim_job_t *job)
{
    for (unsigned i = 0; i < 2; i++) {
        const shim_side_t *side = &job->side[i];
        bool any = false;
        for (uint32_t b = 0; b < shim_pieces(side, job->nblocks[i]); b++) {
            if (shim_count(side, b) < 0) {
                return MPI_ERR_COUNT;
            }
            any = any || shim_count(side, b) > 0;
            if (!side->counts) {
                break;
            }
        }
        if (job->nblocks[i] > 0 && !side->types && side->type == MPI_DATATYPE_NULL) {
            return MPI_ERR_TYPE;
        }
        if (any && side->buffer == MPI_IN_PLACE) {
            return MPI_ERR_BUFFER;
        }
    }
    return MPI_SUCCESS;
}

static int make_views(shim_job_t *job)
{
    for (unsigned i = 0; i < 2; i++) {
        if (job->nblocks[i] == 0) {
            continue;
        }
        int code = shim_view(job->comm, job->scratch, &job->side[i], job->nblocks[i], i, &job->view[i]);
        if (code == SHIM_PASS) {
            return plain_error(job) == MPI_SUCCESS ? shim_pass(job->watch, HCORE_REASON_BAD_ARGUMENT)
                                                   : shim_raise(shim_comm_handle(job->comm), plain_error(job));
        }
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    const int code = plain_error(job);
    return code == MPI_SUCCESS ? code : shim_raise(shim_comm_handle(job->comm), code);
}

static uint64_t sum_bytes(const shim_job_t *job, unsigned which)
{
    const shim_view_t *view = &job->view[which];
    uint64_t total = view->sizes ? 0 : view->bytes * job->nblocks[which];
    for (uint32_t i = 0; view->sizes && i < job->nblocks[which]; i++) {
        total += view->sizes[i];
    }
    return total;
}

static uint64_t block_bytes(const shim_job_t *job, unsigned which, uint32_t block)
{
    return job->view[which].sizes ? job->view[which].sizes[block] : job->view[which].bytes;
}

/* Which block of the larger side is this rank's own: the one a single-block other side must match. */
static bool own_sizes_match(const shim_job_t *job)
{
    const uint32_t *n = job->nblocks;
    if (n[SHIM_IN] == 0 || n[SHIM_OUT] == 0) {
        return true;
    }
    const uint32_t own = job->comm->rank;
    const uint64_t in = block_bytes(job, SHIM_IN, n[SHIM_IN] > 1 ? own : 0);
    const uint64_t out = block_bytes(job, SHIM_OUT, n[SHIM_OUT] > 1 ? own : 0);
    return in == out;
}

/* Which block of a side begins where the other side's buffer must not: this rank's own, or the first where all blocks have a part in
 * both (or, ReduceScatter, where MPI looks at the buffers as a whole). */
static uint32_t alias_block(const shim_job_t *job, unsigned which)
{
    const bool whole = job->nblocks[SHIM_IN] == job->nblocks[SHIM_OUT] || job->args.oper == HCORE_OPER_ReduceScatter ||
                       job->args.oper == HCORE_OPER_ReduceScatterV;
    return whole || job->nblocks[which] == 1 ? 0 : job->comm->rank;
}

/* A buffer used for sending and receiving without saying so: MPI reports it, or copes. */
static bool aliased(const shim_job_t *job)
{
    const uint32_t *n = job->nblocks;
    if (n[SHIM_IN] == 0 || n[SHIM_OUT] == 0 || job->in_place || job->view[SHIM_IN].packed || job->view[SHIM_OUT].packed) {
        return false;
    }
    const uint32_t in = alias_block(job, SHIM_IN), out = alias_block(job, SHIM_OUT);
    return block_bytes(job, SHIM_IN, in) > 0 && block_bytes(job, SHIM_OUT, out) > 0 &&
           hcore_block_at(&job->view[SHIM_IN].blocks, in) == hcore_block_at(&job->view[SHIM_OUT].blocks, out);
}

/* The core's arguments from the views; in place, the missing side is cut from the other. */
static void fill_args(shim_job_t *job)
{
    hcore_args_t *args = &job->args;
    const shim_view_t *in = &job->view[SHIM_IN], *out = &job->view[SHIM_OUT];
    const uint32_t own = job->comm->rank;
    args->in = in->blocks;
    args->out = out->blocks;
    args->in_bytes = in->sizes;
    args->out_bytes = out->sizes;
    args->bytes = job->nblocks[SHIM_IN] > 0 ? in->bytes : out->bytes;
    args->in_place = job->in_place;
    if (job->in_place && job->nblocks[SHIM_IN] == 0) {
        args->in = (hcore_blocks_t){.base = job->nblocks[SHIM_OUT] > 1
                                                ? hcore_block_at(&out->blocks, own)
                                                : out->blocks.base};
        args->bytes = out->bytes;
    } else if (job->in_place && job->nblocks[SHIM_OUT] == 0) {
        args->out = (hcore_blocks_t){.base = hcore_block_at(&in->blocks, own)};
    }
}

/* What the decision and the kernels take as the size of the call. */
static uint64_t decision_bytes(shim_job_t *job)
{
    const hcore_oper_t oper = job->args.oper;
    switch (hcore_oper_bytes(oper)) {
    case HCORE_BYTES_TOTAL:
        job->args.bytes = sum_bytes(job, oper == HCORE_OPER_AllGatherV ? SHIM_OUT : SHIM_IN);
        return job->args.bytes;
    case HCORE_BYTES_UNKNOWN:
        return 0;
    default:
        return job->args.bytes;
    }
}

int shim_job_pack(shim_job_t *job)
{
    const uint32_t own = job->comm->rank, n = job->nblocks[SHIM_OUT];
    if (job->nblocks[SHIM_IN] > 0) {
        return shim_view_pack(job->comm, &job->side[SHIM_IN], 0, job->nblocks[SHIM_IN], &job->view[SHIM_IN]);
    }
    return job->in_place ? shim_view_pack(job->comm, &job->side[SHIM_OUT], n > 1 ? own : 0, 1, &job->view[SHIM_OUT])
                         : MPI_SUCCESS;
}

static int run_core(shim_job_t *job, hcore_backend_t backend)
{
    int code = shim_job_pack(job);
    if (code != MPI_SUCCESS) {
        return code;
    }
    const hcore_status_t status = hcore_run(job->comm->core, backend, &job->args, &job->watch->algorithm);
    code = shim_finish(job->comm, status);
    if (code == MPI_SUCCESS && job->user.error != MPI_SUCCESS) {
        return job->user.error;
    }
    return code == MPI_SUCCESS ? shim_view_unpack(job->comm, &job->side[SHIM_OUT], job->nblocks[SHIM_OUT],
                                                  &job->view[SHIM_OUT])
                               : code;
}

int shim_job_prepare(shim_job_t *job)
{
    int code = make_views(job);
    if (code == MPI_ERR_NO_MEM && job->comm->core) { /* no fault of the program's: the peers are in the operator, or will be, and must not wait */
        hcore_comm_fail(job->comm->core);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (!own_sizes_match(job) || aliased(job)) {
        return shim_pass(job->watch, HCORE_REASON_BAD_ARGUMENT);
    }
    fill_args(job);
    job->watch->bytes = sum_bytes(job, job->nblocks[SHIM_IN] > 0 ? SHIM_IN : SHIM_OUT);
    return MPI_SUCCESS;
}

hcore_backend_t shim_job_decide(shim_job_t *job, bool *nothing)
{
    const hcore_oper_t oper = job->args.oper;
    const uint64_t bytes = decision_bytes(job);
    const bool user = job->redop == HCORE_REDOP_USER;
    if (user && job->reducer.elem_bytes > hcore_comm_elem_limit(job->comm->core)) {
        shim_pass(job->watch, HCORE_REASON_TYPE);
        return HCORE_BACKEND_MPI;
    }
    const hcore_backend_t backend = shim_decide(job->comm, job->mode, oper, job->type, job->redop, bytes, job->watch);
    /* Where all ranks see the same size, and it is none, no rank has anything to do. */
    *nothing = backend != HCORE_BACKEND_MPI && bytes == 0 && oper != HCORE_OPER_Barrier &&
               hcore_oper_bytes(oper) != HCORE_BYTES_UNKNOWN;
    if (*nothing) {
        job->watch->algorithm = "nothing";
    }
    return backend;
}

int shim_job_run(shim_job_t *job)
{
    bool nothing;
    const int code = shim_job_prepare(job);
    if (code != MPI_SUCCESS) {
        return code;
    }
    const hcore_backend_t backend = shim_job_decide(job, &nothing);
    if (backend == HCORE_BACKEND_MPI) {
        return SHIM_PASS;
    }
    return nothing ? MPI_SUCCESS : run_core(job, backend);
}
