/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - the door of both engines: argument check, trivial communicators, dispatch. */
#include <string.h>

#include "aicpu/aicpu.h"
#include "aiv/aiv.h"
#include "comm/wait.h"

/* Operators whose waits are short never poll the caller's library while waiting. A loop of them must still let it move: a third
 * rank may need a message from it to end the loop. */
enum { POLL_EVERY_CALLS = 128 };

/* One rank: an operator is at most a copy of its own block. */
static hcore_status_t run_alone(const hcore_args_t *args)
{
    const uint64_t *sizes = args->in_bytes ? args->in_bytes : args->out_bytes;
    const uint64_t bytes = sizes ? sizes[0] : args->bytes;
    if (args->oper == HCORE_OPER_Barrier || args->oper == HCORE_OPER_Broadcast || args->oper == HCORE_OPER_Exscan ||
        bytes == 0) {
        return HCORE_OK;
    }
    void *out = hcore_block_at(&args->out, 0);
    const void *in = hcore_block_at(&args->in, 0);
    if (in != out) {
        memcpy(out, in, bytes);
    }
    return HCORE_OK;
}

/* Failures of one rank in the middle of an operator. The others (wrong arguments, too much data) are over when they are seen. */
static bool leaves_peers_waiting(hcore_status_t status)
{
    return status == HCORE_ERR_NO_MEMORY || status == HCORE_ERR_SYSTEM;
}

/* What every operator begins with. */
static inline hcore_status_t enter(hcore_comm_t *comm)
{
    if (__builtin_expect(comm->broken != HCORE_OK, 0)) {
        return comm->broken;
    }
    if (++comm->calls % POLL_EVERY_CALLS == 0) {
        hcore_progress(comm);
    }
    return HCORE_OK;
}

const char hcore_line_name[] = "one-line";

uint64_t hcore_line_limit(const hcore_comm_t *comm, hcore_oper_t oper)
{
    return comm->nranks > 1 ? aiv_line_limit(comm, oper) : 0;
}

hcore_status_t hcore_line_run(hcore_comm_t *comm, const hcore_args_t *args)
{
    hcore_status_t status = enter(comm);
    return status == HCORE_OK ? aiv_line_run(comm, args) : status;
}

hcore_status_t hcore_line_barrier(hcore_comm_t *comm)
{
    hcore_status_t status = enter(comm);
    return status == HCORE_OK ? aiv_line_barrier(comm) : status;
}

hcore_status_t hcore_line_allreduce(hcore_comm_t *comm, const void *in, void *out, size_t bytes, const hcore_reducer_t *reducer)
{
    hcore_status_t status = enter(comm);
    return status == HCORE_OK ? aiv_line_allreduce(comm, in, out, bytes, reducer) : status;
}

/* To the engines a neighbourhood operator is an AlltoAllV in which most pairs have no data: a rank waits for its neighbours alone. */
static bool among_neighbours(hcore_oper_t oper)
{
    return oper == HCORE_OPER_NeighborAllGather || oper == HCORE_OPER_NeighborAllGatherV || oper == HCORE_OPER_NeighborAlltoAll ||
           oper == HCORE_OPER_NeighborAlltoAllV || oper == HCORE_OPER_NeighborAlltoAllW;
}

hcore_status_t hcore_run(hcore_comm_t *comm, hcore_backend_t backend, const hcore_args_t *args, const char **algorithm)
{
    const char *unnamed;
    if (among_neighbours(args->oper)) {
        hcore_args_t pairs = *args;
        pairs.oper = HCORE_OPER_AlltoAllV;
        return hcore_run(comm, backend, &pairs, algorithm);
    }
    if (args->root >= comm->nranks || (hcore_oper_reduces(args->oper) && !args->reducer)) {
        return HCORE_ERR_PARAM;
    }
    if (!algorithm) {
        algorithm = &unnamed;
    }
    if (comm->nranks == 1) {
        *algorithm = "self";
        return run_alone(args);
    }
    hcore_status_t status = enter(comm);
    if (status != HCORE_OK) {
        return status;
    }
    status = HCORE_ERR_UNSUPPORTED;
    if (backend == HCORE_BACKEND_AIV) {
        status = aiv_run(comm, args, algorithm);
    } else if (backend == HCORE_BACKEND_AICPU) {
        status = aicpu_run(comm, args, algorithm);
    }
    if (__builtin_expect(status == HCORE_OK, 1)) {
        return HCORE_OK;
    }
    if (leaves_peers_waiting(status) && comm->broken == HCORE_OK) {
        hcore_break(comm, status, -1);
    }
    hcore_quit(comm);
    return status;
}
