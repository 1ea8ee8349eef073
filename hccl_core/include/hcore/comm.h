/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hcore/comm.h - communicators of the core and the call that runs an operator on one.
 *
 * A communicator joins processes of one host that can share memory. It is made from callbacks of the caller
 * (the core knows no MPI), owns one shared window (a memfd: nothing to leave behind), and runs one operator at
 * a time, in the same order on all ranks. Different communicators may be used by different threads at once.
 */
#ifndef HCORE_COMM_H
#define HCORE_COMM_H

#include "hcore/expansion.h"
#include "hcore/matrix.h"
#include "hcore/reduce.h"

typedef struct hcore_comm hcore_comm_t;

/*
 * What the caller lends to a communicator. All callbacks may be called from hcore_comm_create; `progress` also from
 * every wait inside hcore_run. `context` must live as long as the communicator.
 *   allgather  collective over the communicator's ranks: `bytes` from each rank, concatenated in rank order into `all`
 *              on every rank. Returns 0 on success; a failure is taken to be seen by all ranks.
 *   progress   keeps the caller's own messages moving while this rank waits; must not block. Returns whether the caller has more to move
 *              than messages: then the wait does not sleep. May be NULL. Not called in a task of a queue (hcore/queue.h): who moves the
 *              queue does what it does.
 */
typedef struct {
    void *context;
    int (*allgather)(void *context, const void *mine, void *all, size_t bytes);
    bool (*progress)(void *context);
} hcore_boot_t;

/*
 * window            upper bound in bytes of one rank's CCL window
 * connect_timeout_s bound on the wait for a peer during creation
 * exec_timeout_s    bound on the wait for a peer inside an operator; 0: none
 * host_ranks        ranks of the whole job on this host as far as the caller knows, 0 if unknown: more of them than
 *                   cpus makes waits give up the cpu
 * cma               try cross-memory attach
 * heap              start this process's shared heap (hcore/heap.h) if it was not, and use the peers'
 * expansion_cache   keep AI CPU expansions for repeated calls
 * algo              level-1 algorithm wanted per operator (hcore_config_algo), NULL entries: free choice
 * heap_from         per operator: bytes (hcore_args_t.bytes; of a message for GatherV, ScatterV, AlltoAllV, AlltoAllW) from which on AIV moves
 *                   data directly between shared heaps, where each rank has a cpu;
 *                   0: as measured
 * rank_order        reductions keep rank order whatever `algo` says (HCCL_DETERMINISTIC)
 */
typedef struct {
    uint64_t window;
    uint32_t connect_timeout_s, exec_timeout_s, host_ranks;
    bool cma, heap, expansion_cache, rank_order;
    const char *algo[HCORE_OPER_COUNT];
    uint64_t heap_from[HCORE_OPER_COUNT];
} hcore_comm_options_t;

/*
 * Collective over the ranks 0..nranks-1 that share `boot`'s allgather. Every rank gets the same status:
 * HCORE_OK, or HCORE_ERR_UNSUPPORTED with *why = NO_PATH (not one host, not one user) or SETUP_FAILED (some rank
 * could not get the memory). The communicator is the caller's until hcore_comm_destroy.
 */
hcore_status_t hcore_comm_create(const hcore_boot_t *boot, const hcore_comm_options_t *options, uint32_t rank,
                                 uint32_t nranks, hcore_comm_t **comm, hcore_reason_t *why);

/* Local: no rank waits for another. The window goes back to the system when the last rank has let go of it. */
void hcore_comm_destroy(hcore_comm_t *comm);

uint32_t hcore_comm_rank(const hcore_comm_t *comm);
uint32_t hcore_comm_size(const hcore_comm_t *comm);
hcore_span_t hcore_comm_span(const hcore_comm_t *comm);
bool hcore_comm_direct(const hcore_comm_t *comm);         /* peers' private memory can be read */
bool hcore_comm_heaps(const hcore_comm_t *comm);          /* peers' shared heaps can be read, and some rank has one */
uint64_t hcore_comm_elem_limit(const hcore_comm_t *comm); /* bytes of the largest element a reduction can take */
bool hcore_comm_oversubscribed(const hcore_comm_t *comm); /* ranks outnumber cpus */
/* This rank can't take part in an operator that its peers have begun or will: they get HCORE_ERR_SYSTEM instead of waiting for ever, and
 * the communicator is broken. Any thread that may use the communicator. */
void hcore_comm_fail(hcore_comm_t *comm);
int hcore_comm_dead_rank(const hcore_comm_t *comm);       /* after HCORE_ERR_PEER_DEAD: who; -1 if unknown */

/*
 * Blocks of an operator as expansion.h names them: block i begins at base + displs[i] bytes, or at
 * base + i * stride when displs is NULL. base may be NULL with absolute displacements.
 */
typedef struct {
    void *base;
    ptrdiff_t stride;
    const ptrdiff_t *displs;
} hcore_blocks_t;

static inline uint8_t *hcore_block_at(const hcore_blocks_t *blocks, uint32_t index)
{
    ptrdiff_t offset = blocks->displs ? blocks->displs[index] : (ptrdiff_t)index * blocks->stride;
    return (uint8_t *)((uintptr_t)blocks->base + (uintptr_t)offset);
}

/*
 * Arguments of one operator. Sizes are as in hx_shape_t: `bytes` for uniform operators, the arrays for V and W. The neighbourhood operators
 * are given as AlltoAllV, whatever their name: a block for each rank, of no bytes where it is no neighbour, and all that goes to one
 * neighbour in one.
 * reducer: reductions only; bytes must be a multiple of its elem_bytes. in_place: IN and OUT alias as expansion.h
 * says; otherwise they do not overlap. Nothing is kept after the call.
 */
typedef struct {
    hcore_oper_t oper;
    uint32_t root;
    uint64_t bytes;
    const uint64_t *in_bytes, *out_bytes;
    hcore_blocks_t in, out;
    const hcore_reducer_t *reducer;
    bool in_place;
} hcore_args_t;

/*
 * Runs an operator on the backend that hcore_decide gave (the same on all ranks). Blocks until this rank's part is done.
 * *algorithm, if not NULL, receives a name of static storage ("one-line", "mesh").
 * Errors: HCORE_ERR_PEER_DEAD, HCORE_ERR_TIMEOUT, HCORE_ERR_NO_MEMORY, HCORE_ERR_TRUNCATE; after the first two the
 * communicator is broken and every later call returns the same.
 */
hcore_status_t hcore_run(hcore_comm_t *comm, hcore_backend_t backend, const hcore_args_t *args, const char **algorithm);

/*
 * What hcore_run does on AIV with data that fits one line, on communicators of more than one rank: the same algorithm (hcore_line_name), for
 * callers who know so much already. hcore_line_limit: hcore_args_t.bytes (more than 0) up to which hcore_line_run may be called; 0: not for
 * this operator. hcore_line_allreduce takes up to HCORE_LINE_BYTES; `in` and `out` may be the same.
 */
enum { HCORE_LINE_BYTES = 56 };
extern const char hcore_line_name[];
uint64_t hcore_line_limit(const hcore_comm_t *comm, hcore_oper_t oper);
hcore_status_t hcore_line_run(hcore_comm_t *comm, const hcore_args_t *args);
hcore_status_t hcore_line_barrier(hcore_comm_t *comm);
hcore_status_t hcore_line_allreduce(hcore_comm_t *comm, const void *in, void *out, size_t bytes, const hcore_reducer_t *reducer);

#endif
