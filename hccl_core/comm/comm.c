/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.c - making and ending communicators. */
#include "comm/comm_internal.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "aicpu/aicpu.h"
#include "aicpu/path.h"
#include "aiv/aiv.h"
#include "comm/wait.h"
#include "mem/heap.h"

enum {
    SPIN_ALONE = 500,          /* polls before the slow half when every rank has a cpu */
    SPIN_OVERSUBSCRIBED = 64,   /* the peer may be running on another cpu just now; not longer */
    WINDOW_PREFERRED = 1 << 20, /* two halves that fit a level-2 cache together with the caller's data */
    WINDOW_MIN = 64 * 1024
};

static hcore_status_t allocate(hcore_comm_t *comm)
{
    const uint32_t n = comm->nranks;
    comm->sent = calloc(n, sizeof(*comm->sent));
    comm->received = calloc(n, sizeof(*comm->received));
    comm->acked = calloc(n, sizeof(*comm->acked));
    comm->left = calloc(3 * (size_t)n, sizeof(*comm->left));
    comm->posted = calloc(n, sizeof(*comm->posted));
    comm->awaited = calloc(n, sizeof(*comm->awaited));
    comm->pid = calloc(n, sizeof(*comm->pid));
    comm->start = calloc(n, sizeof(*comm->start));
    comm->source = calloc(n, sizeof(*comm->source));
    comm->cache = aicpu_cache_create();
    comm->path = path_choice_create();
    comm->heap_base = calloc(n, sizeof(*comm->heap_base));
    comm->heap_in = calloc(n, sizeof(*comm->heap_in));
    comm->heap_out = calloc(n, sizeof(*comm->heap_out));
    comm->heap_range = calloc(n, sizeof(*comm->heap_range));
    comm->heap_peer = calloc(n, sizeof(*comm->heap_peer));
    if (!comm->sent || !comm->received || !comm->acked || !comm->left || !comm->posted || !comm->awaited || !comm->pid ||
        !comm->start || !comm->source || !comm->cache || !comm->path || !comm->heap_base || !comm->heap_range || !comm->heap_in || !comm->heap_out || !comm->heap_peer) {
        return HCORE_ERR_NO_MEMORY;
    }
    return HCORE_OK;
}

/* All ranks agree, through the lane itself, that each can read its neighbour, and the heaps of all. */
static hcore_status_t agree_direct(hcore_comm_t *comm)
{
    const uint32_t n = comm->nranks;
    struct {
        uint8_t direct, heaps;
    } mine = {0, comm->heaps}, all = {0, 0};
    hcore_reducer_t reducer;
    hcore_status_t status = hcore_reducer_builtin(HCORE_TYPE_UINT8, HCORE_REDOP_MIN, &reducer);
    comm->ctl[comm->rank].probe = (uint64_t)(uintptr_t)&comm->ctl[comm->rank].probe;
    const hcore_args_t barrier = {.oper = HCORE_OPER_Barrier};
    if (status == HCORE_OK) {
        status = hcore_run(comm, HCORE_BACKEND_AIV, &barrier, NULL);
    }
    if (status == HCORE_OK) {
        mine.direct = comm->options.cma && cma_probe(comm, (comm->rank + 1) % n);
        const hcore_args_t vote = {.oper = HCORE_OPER_AllReduce, .bytes = sizeof(mine), .in.base = &mine, .out.base = &all,
                                   .reducer = &reducer};
        status = hcore_run(comm, HCORE_BACKEND_AIV, &vote, NULL);
    }
    comm->direct = status == HCORE_OK && all.direct != 0;
    comm->heaps = status == HCORE_OK && all.heaps != 0;
    return status;
}

hcore_status_t hcore_comm_create(const hcore_boot_t *boot, const hcore_comm_options_t *options, uint32_t rank,
                                 uint32_t nranks, hcore_comm_t **out, hcore_reason_t *why)
{
    *why = HCORE_REASON_SETUP_FAILED;
    if (nranks == 0 || rank >= nranks) {
        return HCORE_ERR_PARAM;
    }
    hcore_comm_t *comm = calloc(1, sizeof(*comm));
    if (!comm) {
        return HCORE_ERR_NO_MEMORY;
    }
    comm->rank = rank;
    comm->nranks = nranks;
    comm->boot = *boot;
    comm->options = *options;
    comm->dead_rank = -1;
    uint64_t window = options->window < WINDOW_PREFERRED ? options->window : WINDOW_PREFERRED;
    lane_layout(&comm->layout, nranks, window < WINDOW_MIN ? WINDOW_MIN : window);
    hcore_status_t status = allocate(comm);
    if (status == HCORE_OK && nranks > 1) { /* a rank alone shares nothing */
        status = lane_bootstrap(comm, why);
    }
    if (status == HCORE_OK && nranks > 1) {
        comm->spin = comm->oversubscribed ? SPIN_OVERSUBSCRIBED : SPIN_ALONE;
        status = agree_direct(comm);
    }
    if (status != HCORE_OK) {
        hcore_comm_destroy(comm);
        return status;
    }
    aiv_heap_sizes(comm);
    hcore_info("communicator of %u ranks: span %s, %s, peers' memory %s, shared heaps %s", nranks,
               hcore_span_name(comm->span), comm->oversubscribed ? "ranks outnumber cpus" : "a cpu for each rank",
               comm->direct ? "read directly (CMA)" : "reached through windows", comm->heaps ? "on" : "off");
    *out = comm;
    return HCORE_OK;
}

void hcore_comm_destroy(hcore_comm_t *comm)
{
    if (!comm) {
        return;
    }
    for (uint32_t i = 0; comm->heap_peer && i < comm->nranks; i++) {
        heap_peer_put(comm->heap_peer[i]);
    }
    free(comm->heap_peer);
    free(comm->heap_base);
    free(comm->heap_range);
    free(comm->heap_in);
    free(comm->heap_out);
    if (comm->base) {
        munmap(comm->base, comm->layout.total);
    }
    aicpu_cache_destroy(comm->cache);
    free(comm->path);
    free(comm->scratch);
    free(comm->source);
    free(comm->sent);
    free(comm->received);
    free(comm->acked);
    free(comm->left);
    free(comm->posted);
    free(comm->awaited);
    free(comm->pid);
    free(comm->start);
    free(comm);
}

uint64_t hcore_comm_elem_limit(const hcore_comm_t *comm)
{
    uint64_t limit = SLOT_BYTES / comm->nranks; /* a round of a shared slot holds at least one element for each rank */
    while (limit > 1 && hx_window_least(comm->nranks, limit) > comm->layout.window_bytes) {
        limit /= 2;
    }
    return limit;
}

uint32_t hcore_comm_rank(const hcore_comm_t *comm)
{
    return comm->rank;
}

uint32_t hcore_comm_size(const hcore_comm_t *comm)
{
    return comm->nranks;
}

hcore_span_t hcore_comm_span(const hcore_comm_t *comm)
{
    return comm->span;
}

bool hcore_comm_direct(const hcore_comm_t *comm)
{
    return comm->direct;
}

bool hcore_comm_heaps(const hcore_comm_t *comm)
{
    return comm->heaps;
}

bool hcore_comm_oversubscribed(const hcore_comm_t *comm)
{
    return comm->oversubscribed;
}

void hcore_comm_fail(hcore_comm_t *comm)
{
    if (comm->nranks > 1) {
        hcore_break(comm, HCORE_ERR_SYSTEM, -1);
    }
}

int hcore_comm_dead_rank(const hcore_comm_t *comm)
{
    return comm->dead_rank;
}
