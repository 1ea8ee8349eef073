/* SPDX-License-Identifier: BSD-3-Clause */
/* executor.c - runs one rank's task list in order. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aicpu/aicpu.h"
#include "aicpu/cache.h"
#include "aicpu/path.h"
#include "comm/wait.h"
#include "mem/stream.h"

typedef struct {
    hcore_comm_t *comm;
    const hcore_args_t *args;
    const hx_expansion_t *list;
} run_t;

/* NULL: not in the peer's shared heap, or not all of it shown to this rank. */
static uint8_t *published(const run_t *run, const hx_loc_t *loc, const lane_place_t *shown, uint64_t bytes)
{
    const bool inside = loc->offset <= shown->bytes && bytes <= shown->bytes - loc->offset;
    return inside ? heap_find(run->comm, loc->index, shown->place + loc->offset, bytes) : NULL;
}

/* NULL: memory of a peer outside its shared heap. */
static uint8_t *address(const run_t *run, const hx_loc_t *loc, uint64_t bytes)
{
    switch ((hx_space_t)loc->space) {
    case HX_IN:
        return hcore_block_at(&run->args->in, loc->index) + loc->offset;
    case HX_OUT:
        return hcore_block_at(&run->args->out, loc->index) + loc->offset;
    case HX_CCL:
        return lane_window(run->comm, loc->index) + loc->offset;
    case HX_SCRATCH:
        return run->comm->scratch + loc->offset;
    case HX_PEER: /* published: visible since a WAIT on that rank */
        return published(run, loc, lane_publish(run->comm, loc->index, run->comm->rank), bytes);
    case HX_PEER_OUT:
        return published(run, loc, lane_publish_out(run->comm, loc->index, run->comm->rank), bytes);
    }
    return NULL;
}

/* Of what is to go to a peer, the part it has room for. */
static uint64_t room_for(const run_t *run, const hx_task_t *task)
{
    const uint64_t room = lane_publish_out(run->comm, task->dst.index, run->comm->rank)->bytes, at = task->dst.offset;
    const uint64_t left = room > at ? room - at : 0;
    return task->bytes < left ? task->bytes : left;
}

static hcore_status_t do_copy(const run_t *run, const hx_task_t *task)
{
    const hx_loc_t *src = &run->list->src[task->first_src];
    const uint64_t bytes = task->dst.space == HX_PEER_OUT ? room_for(run, task) : task->bytes;
    uint8_t *dst = address(run, &task->dst, bytes);
    const uint8_t *from = address(run, src, bytes);
    if (!dst || bytes == 0) {
        return HCORE_OK; /* the receiver has found that it lacks room */
    }
    if (!from) {
        const uint64_t base = lane_publish(run->comm, src->index, run->comm->rank)->place;
        return cma_read(run->comm, src->index, dst, base + src->offset, bytes);
    }
    if (from != dst) { /* in place: the data is there already */
        if (task->kind == HX_STREAM) {
            stream_copy(dst, from, bytes);
        } else {
            memcpy(dst, from, bytes);
        }
    }
    return HCORE_OK;
}

/* An operand that a peer does not have in full comes of a wrong program: nothing is reduced then, and the call fails when all tasks
 * are done. */
static void do_reduce(const run_t *run, const hx_task_t *task)
{
    const hcore_reducer_t *reducer = run->args->reducer;
    uint8_t *dst = address(run, &task->dst, task->bytes);
    bool whole = dst != NULL;
    for (uint32_t i = 0; i < task->nsrc; i++) {
        run->comm->source[i] = address(run, &run->list->src[task->first_src + i], task->bytes);
        whole = whole && run->comm->source[i];
    }
    if (whole) {
        reducer->run(reducer, dst, run->comm->source, task->nsrc, task->bytes / reducer->elem_bytes);
    } else {
        run->comm->truncated = true;
    }
}

static void do_post(hcore_comm_t *comm, uint32_t peer)
{
    flag_set(comm, lane_notify(comm, comm->rank, peer), ++comm->posted[peer]);
}

static hcore_status_t do_wait(hcore_comm_t *comm, uint32_t peer)
{
    return flag_wait(comm, lane_notify(comm, peer, comm->rank), comm->awaited[peer], peer);
}

static hcore_status_t do_task(const run_t *run, const hx_task_t *task)
{
    hcore_comm_t *comm = run->comm;
    switch ((hx_kind_t)task->kind) {
    case HX_COPY:
    case HX_STREAM:
        return do_copy(run, task);
    case HX_REDUCE:
        do_reduce(run, task);
        return HCORE_OK;
    case HX_POST:
        do_post(comm, task->peer);
        return HCORE_OK;
    case HX_WAIT:
        comm->awaited[task->peer]++;
        return do_wait(comm, task->peer);
    case HX_DEFER:
        comm->awaited[task->peer]++;
        comm->deferred = true;
        return HCORE_OK;
    }
    return HCORE_ERR_UNSUPPORTED;
}

/* Waits put off by the last operator: until they are done, peers may still read this rank's window. */
static hcore_status_t finish_deferred(hcore_comm_t *comm)
{
    hcore_status_t status = HCORE_OK;
    for (uint32_t i = 0; comm->deferred && i < comm->nranks && status == HCORE_OK; i++) {
        status = do_wait(comm, i);
    }
    comm->deferred = comm->deferred && status != HCORE_OK;
    return status;
}

static hcore_status_t grow_scratch(hcore_comm_t *comm, uint64_t bytes)
{
    if (bytes <= comm->scratch_bytes) {
        return HCORE_OK;
    }
    void *bigger = aligned_alloc(LANE_ALIGN, (bytes + LANE_ALIGN - 1) / LANE_ALIGN * LANE_ALIGN);
    if (!bigger) {
        hcore_error("no memory for %llu bytes of scratch", (unsigned long long)bytes);
        return HCORE_ERR_NO_MEMORY;
    }
    free(comm->scratch);
    comm->scratch = bigger;
    comm->scratch_bytes = bytes;
    return HCORE_OK;
}

static void publish(hcore_comm_t *comm, const hcore_args_t *args, const hx_shape_t *shape)
{
    for (uint32_t i = 0; i < comm->nranks; i++) {
        uint32_t block = hx_publish_block(shape, i);
        *lane_publish(comm, comm->rank, i) =
            (lane_place_t){(uintptr_t)hcore_block_at(&args->in, block), hx_in_bytes(shape, block)};
    }
}

static hcore_status_t run_list(hcore_comm_t *comm, const hcore_args_t *args, const cached_t *entry)
{
    const run_t run = {comm, args, &entry->expansion};
    hcore_status_t status = grow_scratch(comm, entry->expansion.scratch);
    if (status == HCORE_OK) {
        status = finish_deferred(comm);
    }
    if (status == HCORE_OK && entry->shape.direct && !entry->shape.load) { /* on heaps it was done to ask */
        publish(comm, args, &entry->shape);
    }
    for (uint32_t i = 0; i < entry->expansion.ntask && status == HCORE_OK; i++) {
        status = do_task(&run, &entry->expansion.task[i]);
    }
    return status;
}

/* What the report calls the algorithm: its name, and how peers' memory is read. */
static const char *name_of(const hx_algo_t *algo, const hx_shape_t *shape)
{
    const bool pairwise = strcmp(algo->name, "pairwise") == 0;
    if (algo->flags & HX_NEED_STORE || (algo->flags & HX_NEED_DIRECT && shape->load)) {
        return pairwise ? "pairwise-heap" : "mesh-heap";
    }
    if (algo->flags & HX_NEED_DIRECT) {
        return pairwise ? "pairwise-cma" : "mesh-cma";
    }
    return algo->name;
}

static hx_shape_t shape_of(const hcore_comm_t *comm, const hcore_args_t *args)
{
    return (hx_shape_t){
        .oper = args->oper,
        .rank = comm->rank,
        .nranks = comm->nranks,
        .root = args->root,
        .bytes = args->bytes,
        .in_bytes = args->in_bytes,
        .out_bytes = args->out_bytes,
        .elem_bytes = args->reducer ? args->reducer->elem_bytes : 1,
        .window = comm->layout.window_bytes,
    };
}

static hcore_status_t run_on(hcore_comm_t *comm, const hcore_args_t *args, const hx_shape_t *shape, bool in_place,
                             const char **algorithm)
{
    const hx_algo_t *algo = hx_algo_choose(shape, comm->options.algo[args->oper],
                                           !args->reducer || args->reducer->commutative, in_place,
                                           comm->options.rank_order);
    if (!algo) {
        hcore_error("no algorithm for %s", hcore_oper_name(args->oper));
        return HCORE_ERR_UNSUPPORTED;
    }
    const cached_t *entry;
    hcore_status_t status = aicpu_cache_get(comm->cache, algo, shape, comm->options.expansion_cache, &entry);
    if (status == HCORE_OK) {
        *algorithm = name_of(algo, shape);
        status = run_list(comm, args, entry);
    }
    return status;
}

hcore_status_t aicpu_run(hcore_comm_t *comm, const hcore_args_t *args, const char **algorithm)
{
    hx_shape_t shape = shape_of(comm, args);
    path_t path;
    hcore_status_t status = path_choose(comm, args, &shape, &path);
    if (status != HCORE_OK) {
        return status;
    }
    shape.direct = path.direct;
    shape.load = path.load;
    shape.store = path.store;
    const uint64_t start = path.trial ? hcore_now_ns() : 0;
    status = path.store ? push_begin(comm) : HCORE_OK;
    if (status == HCORE_OK) {
        status = run_on(comm, args, &shape, path.in_place, algorithm);
    }
    push_end(comm);
    path.truncated |= comm->truncated;
    comm->truncated = false;
    if (status == HCORE_OK && path.trial) {
        status = path_tried(comm, args, path.direct, hcore_now_ns() - start);
    }
    return status == HCORE_OK && path.truncated ? HCORE_ERR_TRUNCATE : status;
}
