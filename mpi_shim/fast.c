/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fast.c - the short way of a call like one before it: same communicator, operator, type and op. What depends on these has been
 * found out (serve.c, remember); what is left to look at are the counts and the buffers. SHIM_PASS: go the long way, which is right for
 * everything, and says what is wrong.
 */
#include "mpi_shim/shim.h"

/* The communicator this thread used last; zero is no handle. Handles are given out again, so any that is freed makes it look again. */
static __thread struct {
    MPI_Comm handle;
    unsigned freed;
    shim_comm_t *comm;
} last __attribute__((tls_model("initial-exec")));

static inline shim_comm_t *comm_of(MPI_Comm handle)
{
    const unsigned freed = atomic_load_explicit(&shim_comms_freed, memory_order_relaxed);
    if (__builtin_expect(last.handle != handle || last.freed != freed, 0)) {
        shim_comm_t *comm = shim_comm_get(handle);
        if (!comm) {
            return NULL;
        }
        last.handle = handle;
        last.freed = freed;
        last.comm = comm;
    }
    return last.comm;
}

static inline int finish(shim_comm_t *comm, hcore_status_t status, hcore_backend_t backend, const char *algorithm)
{
    shim_path.backend = backend;
    shim_path.algorithm = algorithm;
    shim_path.any = true;
    return __builtin_expect(status == HCORE_OK, 1) ? MPI_SUCCESS : shim_finish(comm, status);
}

/* One call, on its way. */
typedef struct {
    shim_comm_t *comm;
    const shim_memo_t *memo;
    hcore_args_t args;
} fast_t;

/* False: no memo of such a call. */
static inline bool begin(fast_t *f, hcore_oper_t oper, MPI_Datatype type, MPI_Comm handle)
{
    shim_comm_t *comm = shim.reporting ? NULL : comm_of(handle);
    if (!comm || !comm->memo[oper].known || comm->memo[oper].type != type || !hcore_queue_empty(&comm->queue)) {
        return false;
    }
    f->comm = comm;
    f->memo = &comm->memo[oper];
    f->args = (hcore_args_t){.oper = oper};
    return true;
}

static inline bool begin_reduction(fast_t *f, hcore_oper_t oper, MPI_Datatype type, MPI_Op op, MPI_Comm handle)
{
    if (!begin(f, oper, type, handle) || f->memo->op != op) {
        return false;
    }
    f->args.reducer = &f->memo->reducer;
    return true;
}

static inline bool set_root(fast_t *f, int root)
{
    f->args.root = (uint32_t)root;
    return root >= 0 && f->args.root < f->comm->size;
}

static inline bool at_root(const fast_t *f)
{
    return f->comm->rank == f->args.root;
}

static inline bool plain(const void *buffer)
{
    return buffer && buffer != MPI_IN_PLACE;
}

/* Blocks of `count` elements, one after another. An int times the size of a predefined type and of a communicator: no overflow. */
static inline bool set_uniform(fast_t *f, hcore_blocks_t *blocks, const void *buffer, int count)
{
    f->args.bytes = (uint64_t)count * f->memo->elem;
    *blocks = (hcore_blocks_t){.base = (void *)buffer, .stride = (ptrdiff_t)f->args.bytes};
    return count > 0 ? plain(buffer) : count == 0;
}

/* Blocks of a V argument; without `displs` one after another. `total`: bytes of all. */
static inline bool set_arrays(fast_t *f, unsigned which, const void *buffer, const int *counts, const int *displs, uint64_t *total)
{
    uint64_t *bytes = f->comm->scratch.bytes[which];
    ptrdiff_t *place = f->comm->scratch.displs[which];
    const uint64_t elem = f->memo->elem;
    uint64_t sum = 0;
    if (!plain(buffer) || !counts) {
        return false;
    }
    for (uint32_t i = 0; i < f->comm->size; i++) {
        if (counts[i] < 0) {
            return false;
        }
        bytes[i] = (uint64_t)counts[i] * elem;
        place[i] = displs ? (ptrdiff_t)displs[i] * (ptrdiff_t)elem : (ptrdiff_t)sum;
        sum += bytes[i];
    }
    *total = sum;
    *(which == SHIM_IN ? &f->args.in : &f->args.out) = (hcore_blocks_t){.base = (void *)buffer, .displs = place};
    *(which == SHIM_IN ? &f->args.in_bytes : &f->args.out_bytes) = bytes;
    return true;
}

/* Whether `buffer` is this rank's own block of a V argument: used twice without saying so, which the long way has to see. */
static inline bool own_block(const fast_t *f, const hcore_blocks_t *all, const void *buffer)
{
    return buffer == hcore_block_at(all, f->comm->rank);
}

/* `key`: what the decision takes as the size of the call. */
static inline int run(fast_t *f, uint64_t key)
{
    const hcore_backend_t backend = f->memo->backend[key > f->memo->limit];
    const char *algorithm = NULL;
    if (backend == HCORE_BACKEND_MPI) {
        return SHIM_PASS;
    }
    if (key == 0 && f->memo->sized) {
        return finish(f->comm, HCORE_OK, backend, "nothing"); /* as in job.c: on every rank */
    }
    if (f->memo->line > 0 && key <= f->memo->line) {
        return finish(f->comm, hcore_line_run(f->comm->core, &f->args), backend, hcore_line_name);
    }
    const hcore_status_t status = hcore_run(f->comm->core, backend, &f->args, &algorithm);
    return finish(f->comm, status, backend, algorithm);
}

int shim_fast_Barrier(MPI_Comm handle)
{
    shim_comm_t *comm = shim.reporting ? NULL : comm_of(handle);
    if (!comm || !comm->memo[HCORE_OPER_Barrier].known || !hcore_queue_empty(&comm->queue)) {
        return SHIM_PASS;
    }
    return finish(comm, hcore_line_barrier(comm->core), HCORE_BACKEND_AIV, hcore_line_name);
}

int shim_fast_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm handle)
{
    fast_t f;
    if (!begin(&f, HCORE_OPER_Broadcast, type, handle) || !set_root(&f, root) ||
        !set_uniform(&f, at_root(&f) ? &f.args.in : &f.args.out, buffer, count)) {
        return SHIM_PASS;
    }
    return run(&f, f.args.bytes);
}

/* Of Gather and Scatter, the side that is significant at the root alone, with one block for each rank. */
static inline bool same_blocks(const fast_t *f, const void *one, int count, const void *all, int all_count, MPI_Datatype all_type)
{
    return all_count == count && all_type == f->memo->type && plain(all) &&
           one != (const uint8_t *)all + f->comm->rank * f->args.bytes;
}

int shim_fast_Gather(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count, MPI_Datatype out_type, int root,
                     MPI_Comm handle)
{
    fast_t f;
    if (!begin(&f, HCORE_OPER_Gather, in_type, handle) || !set_root(&f, root) || !set_uniform(&f, &f.args.in, in, in_count)) {
        return SHIM_PASS;
    }
    if (at_root(&f) &&
        !(same_blocks(&f, in, in_count, out, out_count, out_type) && set_uniform(&f, &f.args.out, out, out_count))) {
        return SHIM_PASS;
    }
    return run(&f, f.args.bytes);
}

int shim_fast_Scatter(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count, MPI_Datatype out_type,
                      int root, MPI_Comm handle)
{
    fast_t f;
    if (!begin(&f, HCORE_OPER_Scatter, out_type, handle) || !set_root(&f, root) ||
        !set_uniform(&f, &f.args.out, out, out_count)) {
        return SHIM_PASS;
    }
    if (at_root(&f) &&
        !(same_blocks(&f, out, out_count, in, in_count, in_type) && set_uniform(&f, &f.args.in, in, in_count))) {
        return SHIM_PASS;
    }
    return run(&f, f.args.bytes);
}

int shim_fast_Gatherv(const void *in, int in_count, MPI_Datatype in_type, void *out, const int *counts, const int *displs,
                      MPI_Datatype out_type, int root, MPI_Comm handle)
{
    fast_t f;
    uint64_t total;
    if (!begin(&f, HCORE_OPER_GatherV, in_type, handle) || !set_root(&f, root) || !set_uniform(&f, &f.args.in, in, in_count)) {
        return SHIM_PASS;
    }
    if (at_root(&f) && (out_type != in_type || in == out || !displs || !set_arrays(&f, SHIM_OUT, out, counts, displs, &total) ||
                        counts[f.comm->rank] != in_count || own_block(&f, &f.args.out, in))) {
        return SHIM_PASS;
    }
    return run(&f, 0);
}

int shim_fast_Scatterv(const void *in, const int *counts, const int *displs, MPI_Datatype in_type, void *out, int out_count,
                       MPI_Datatype out_type, int root, MPI_Comm handle)
{
    fast_t f;
    uint64_t total;
    if (!begin(&f, HCORE_OPER_ScatterV, out_type, handle) || !set_root(&f, root) ||
        !set_uniform(&f, &f.args.out, out, out_count)) {
        return SHIM_PASS;
    }
    if (at_root(&f) && (in_type != out_type || in == out || !displs || !set_arrays(&f, SHIM_IN, in, counts, displs, &total) ||
                        counts[f.comm->rank] != out_count || own_block(&f, &f.args.in, out))) {
        return SHIM_PASS;
    }
    return run(&f, 0);
}

int shim_fast_Allgather(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count, MPI_Datatype out_type,
                        MPI_Comm handle)
{
    fast_t f;
    if (!begin(&f, HCORE_OPER_AllGather, in_type, handle) || !set_uniform(&f, &f.args.in, in, in_count) ||
        !same_blocks(&f, in, in_count, out, out_count, out_type) || !set_uniform(&f, &f.args.out, out, out_count)) {
        return SHIM_PASS;
    }
    return run(&f, f.args.bytes);
}

int shim_fast_Allgatherv(const void *in, int in_count, MPI_Datatype in_type, void *out, const int *counts, const int *displs,
                         MPI_Datatype out_type, MPI_Comm handle)
{
    fast_t f;
    uint64_t total;
    if (!begin(&f, HCORE_OPER_AllGatherV, in_type, handle) || out_type != in_type || in == out || !displs ||
        !set_uniform(&f, &f.args.in, in, in_count) || !set_arrays(&f, SHIM_OUT, out, counts, displs, &total) ||
        counts[f.comm->rank] != in_count || own_block(&f, &f.args.out, in)) {
        return SHIM_PASS;
    }
    f.args.bytes = total;
    return run(&f, total);
}

int shim_fast_Alltoall(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count, MPI_Datatype out_type,
                       MPI_Comm handle)
{
    fast_t f;
    if (!begin(&f, HCORE_OPER_AlltoAll, in_type, handle) || in == out || in_type != out_type || in_count != out_count ||
        !set_uniform(&f, &f.args.in, in, in_count) || !set_uniform(&f, &f.args.out, out, out_count)) {
        return SHIM_PASS;
    }
    return run(&f, f.args.bytes);
}

int shim_fast_Alltoallv(const void *in, const int *in_counts, const int *in_displs, MPI_Datatype in_type, void *out,
                        const int *out_counts, const int *out_displs, MPI_Datatype out_type, MPI_Comm handle)
{
    fast_t f;
    uint64_t total;
    if (!begin(&f, HCORE_OPER_AlltoAllV, in_type, handle) || in_type != out_type || in == out || !in_displs || !out_displs ||
        !set_arrays(&f, SHIM_IN, in, in_counts, in_displs, &total) ||
        !set_arrays(&f, SHIM_OUT, out, out_counts, out_displs, &total) ||
        in_counts[f.comm->rank] != out_counts[f.comm->rank]) {
        return SHIM_PASS;
    }
    return run(&f, 0);
}

/* All the types of a W argument are those of the memo. */
static inline bool one_type(const fast_t *f, const MPI_Datatype *types)
{
    bool same = types != NULL;
    for (uint32_t i = 0; i < f->comm->size && same; i++) {
        same = types[i] == f->memo->type;
    }
    return same;
}

/* Displacements of a W argument are in bytes. */
static inline void set_places(fast_t *f, unsigned which, const int *displs)
{
    for (uint32_t i = 0; i < f->comm->size; i++) {
        f->comm->scratch.displs[which][i] = displs[i];
    }
}

int shim_fast_Alltoallw(const void *in, const int *in_counts, const int *in_displs, const MPI_Datatype *in_types, void *out,
                        const int *out_counts, const int *out_displs, const MPI_Datatype *out_types, MPI_Comm handle)
{
    fast_t f;
    uint64_t total;
    if (!plain(in) || !in_types || !begin(&f, HCORE_OPER_AlltoAllW, in_types[0], handle) || in == out || !in_displs ||
        !out_displs || !one_type(&f, in_types) || !one_type(&f, out_types) ||
        !set_arrays(&f, SHIM_IN, in, in_counts, NULL, &total) || !set_arrays(&f, SHIM_OUT, out, out_counts, NULL, &total) ||
        in_counts[f.comm->rank] != out_counts[f.comm->rank]) {
        return SHIM_PASS;
    }
    set_places(&f, SHIM_IN, in_displs);
    set_places(&f, SHIM_OUT, out_displs);
    return run(&f, 0);
}

int shim_fast_Reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm handle)
{
    fast_t f;
    if (!begin_reduction(&f, HCORE_OPER_Reduce, type, op, handle) || !set_root(&f, root) ||
        !set_uniform(&f, &f.args.in, in, count) ||
        (at_root(&f) && (in == out || !set_uniform(&f, &f.args.out, out, count)))) {
        return SHIM_PASS;
    }
    return run(&f, f.args.bytes);
}

int shim_fast_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm handle)
{
    fast_t f;
    if (!begin_reduction(&f, HCORE_OPER_AllReduce, type, op, handle) || in == out) {
        return SHIM_PASS;
    }
    f.args.in_place = in == MPI_IN_PLACE;
    if (!set_uniform(&f, &f.args.in, f.args.in_place ? out : in, count) || !set_uniform(&f, &f.args.out, out, count)) {
        return SHIM_PASS;
    }
    if (f.args.bytes <= f.memo->line && count > 0) {
        return finish(f.comm, hcore_line_allreduce(f.comm->core, f.args.in.base, out, f.args.bytes, &f.memo->reducer),
                      HCORE_BACKEND_AIV, hcore_line_name);
    }
    return run(&f, f.args.bytes);
}

int shim_fast_Reduce_scatter(const void *in, void *out, const int *counts, MPI_Datatype type, MPI_Op op, MPI_Comm handle)
{
    fast_t f;
    uint64_t total;
    if (!begin_reduction(&f, HCORE_OPER_ReduceScatterV, type, op, handle) || in == out ||
        !set_arrays(&f, SHIM_IN, in, counts, NULL, &total) || total == 0 ||
        !set_uniform(&f, &f.args.out, out, counts[f.comm->rank])) {
        return SHIM_PASS;
    }
    f.args.bytes = total;
    return run(&f, total);
}

int shim_fast_Reduce_scatter_block(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm handle)
{
    fast_t f;
    if (!begin_reduction(&f, HCORE_OPER_ReduceScatter, type, op, handle) || in == out ||
        !set_uniform(&f, &f.args.in, in, count) || !set_uniform(&f, &f.args.out, out, count)) {
        return SHIM_PASS;
    }
    return run(&f, f.args.bytes);
}

static inline int scan(hcore_oper_t oper, const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm handle)
{
    fast_t f;
    if (!begin_reduction(&f, oper, type, op, handle) || in == out || !set_uniform(&f, &f.args.in, in, count) ||
        !set_uniform(&f, &f.args.out, out, count)) {
        return SHIM_PASS;
    }
    return run(&f, f.args.bytes);
}

int shim_fast_Scan(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm handle)
{
    return scan(HCORE_OPER_Scan, in, out, count, type, op, handle);
}

int shim_fast_Exscan(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm handle)
{
    return scan(HCORE_OPER_Exscan, in, out, count, type, op, handle);
}
