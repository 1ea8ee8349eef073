/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c - the slow half of waiting: progress of the caller's library, yield, sleep, and noticing that a peer is gone. */
#define _GNU_SOURCE
#include "comm/wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PROGRESS_EVERY_NS = 20 * 1000,        /* the caller's library is polled at least this often */
    SLEEP_AFTER_RANK_NS = 5 * 1000,       /* for each rank: yields that brought nothing for so long lead to sleep */
    SPREAD_EVERY_NS = 2 * 1000 * 1000,    /* ranks with a cpu each that wait look where the others run */
    SLEEP_NS = 500 * 1000,                /* bound of one sleep: the caller's library must keep moving */
    QUIT_NS = 2000 * 1000 * 1000,         /* how long who leaves with an error waits for a peer that does not move */
    ALIVE_EVERY_NS = 100 * 1000 * 1000    /* how often peers are checked to be alive */
};

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

void hcore_ring(hcore_comm_t *comm)
{
    /* Pairs with the fence in sleep_once: flag store before sleepers load, sleepers store before flag load. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&comm->header->sleepers, memory_order_relaxed) == 0) {
        return;
    }
    atomic_fetch_add_explicit(&comm->header->bell, 1, memory_order_release);
    futex(&comm->header->bell, FUTEX_WAKE, INT32_MAX, NULL);
}

/* Sleeps until the bell rings or SLEEP_NS pass. The bell is read before the condition, so a ring in between makes
 * the futex call return at once. */
static bool sleep_once(hcore_comm_t *comm, const hcore_condition_t *condition)
{
    lane_header_t *header = comm->header;
    const struct timespec timeout = {0, SLEEP_NS};
    uint32_t bell = atomic_load_explicit(&header->bell, memory_order_acquire);
    atomic_fetch_add_explicit(&header->sleepers, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with the fence in hcore_ring */
    bool holds = condition->holds(condition->context);
    if (!holds) {
        futex(&header->bell, FUTEX_WAIT, bell, &timeout);
    }
    atomic_fetch_sub_explicit(&header->sleepers, 1, memory_order_relaxed);
    return holds;
}

/* A zombie has ended too; so has a process whose number now belongs to a younger one. */
static bool peer_dead(const hcore_comm_t *comm, uint32_t peer)
{
    char state = 0;
    uint64_t start = 0;
    if (peer == comm->rank || comm->pid[peer] == 0) {
        return false;
    }
    if (!process_state(comm->pid[peer], &state, &start)) {
        return errno == ENOENT || errno == ESRCH;
    }
    return state == 'Z' || state == 'X' || (comm->start[peer] != 0 && start != comm->start[peer]);
}

hcore_status_t hcore_break(hcore_comm_t *comm, hcore_status_t status, int dead)
{
    comm->broken = status;
    comm->dead_rank = dead;
    atomic_store_explicit(&comm->header->dead, (uint32_t)(dead + 1), memory_order_relaxed);
    /* release: pairs with the acquire in check_peers, so that `dead` is seen with it */
    atomic_store_explicit(&comm->header->broken, (uint32_t)(1 - (int)status), memory_order_release);
    return status;
}

/* Whether waiting has become senseless: a peer has ended, or another rank has found so. */
static hcore_status_t check_peers(hcore_comm_t *comm)
{
    uint32_t broken = atomic_load_explicit(&comm->header->broken, memory_order_acquire);
    if (broken != 0) {
        comm->broken = (hcore_status_t)(1 - (int)broken);
        comm->dead_rank = (int)atomic_load_explicit(&comm->header->dead, memory_order_relaxed) - 1;
        return comm->broken;
    }
    for (uint32_t peer = 0; peer < comm->nranks; peer++) {
        if (peer_dead(comm, peer)) {
            hcore_error("rank %u (process %d) has ended while rank %u waits for it", peer, (int)comm->pid[peer],
                        comm->rank);
            return hcore_break(comm, HCORE_ERR_PEER_DEAD, (int)peer);
        }
    }
    return HCORE_OK;
}

static hcore_status_t check_deadline(hcore_comm_t *comm, const hcore_condition_t *condition, uint64_t waited_ns)
{
    uint64_t limit = (uint64_t)comm->options.exec_timeout_s * 1000000000u;
    if (limit == 0 || waited_ns < limit) {
        return HCORE_OK;
    }
    hcore_error("rank %u has waited %u s for rank %u (HCCL_EXEC_TIMEOUT)", comm->rank, comm->options.exec_timeout_s,
                condition->peer);
    return hcore_break(comm, HCORE_ERR_TIMEOUT, (int)condition->peer);
}

/* Lets others have the cpu. */
static void give_way(hcore_comm_t *comm, const hcore_condition_t *condition, uint64_t now, bool impatient)
{
    if (!comm->oversubscribed && now - comm->spread_ns >= SPREAD_EVERY_NS) {
        comm->spread_ns = now;
        hcore_spread(comm);
    }
    if (comm->oversubscribed && impatient && !comm->restless) {
        sleep_once(comm, condition);
    } else {
        sched_yield();
    }
}

/*
 * A yield helps only while the scheduler finds that the others have run less than this rank. After a phase in which they spun
 * elsewhere it hands the cpu straight back, for milliseconds. Where yields work, a turn of all ranks takes about a
 * microsecond each (measured with 4 and 8 ranks on 2 cpus); a rank that has waited several times that sleeps.
 */
hcore_status_t hcore_wait_slow(hcore_comm_t *comm, const hcore_condition_t *condition)
{
    const uint64_t start = hcore_now_ns(), patience = (uint64_t)comm->nranks * SLEEP_AFTER_RANK_NS;
    const bool in_task = hcore_task_inside();
    uint64_t checked = start;
    while (!condition->holds(condition->context)) {
        uint64_t now = hcore_now_ns();
        if (in_task) {
            hcore_task_yield();
        } else if (now - comm->progressed_ns >= PROGRESS_EVERY_NS) {
            hcore_progress(comm);
            comm->progressed_ns = hcore_now_ns();
        }
        if (now - checked >= ALIVE_EVERY_NS) {
            checked = now;
            hcore_status_t status = check_peers(comm);
            if (status == HCORE_OK) {
                status = check_deadline(comm, condition, now - start);
            }
            /* The peer may have set the flag and then ended: what was sent counts. */
            if (status != HCORE_OK && !condition->holds(condition->context)) {
                return status;
            }
            comm->broken = HCORE_OK;
        }
        if (!in_task) {
            give_way(comm, condition, now, now - start >= patience);
        }
    }
    return HCORE_OK;
}

/* Peers inside the operator find out within ALIVE_EVERY_NS that the communicator is broken, unless they are stopped. */
void hcore_quit(hcore_comm_t *comm)
{
    const uint64_t start = hcore_now_ns();
    push_end(comm); /* this rank writes nothing more, and others may be leaving too */
    if (atomic_load_explicit(&comm->header->broken, memory_order_relaxed) == 0) {
        return; /* an error after which all go on */
    }
    atomic_thread_fence(memory_order_seq_cst); /* pairs with the fence in push_begin */
    for (uint32_t peer = 0; peer < comm->nranks; peer++) {
        while (atomic_load_explicit(&comm->ctl[peer].busy, memory_order_acquire) != 0 && !peer_dead(comm, peer)) {
            if (hcore_now_ns() - start > QUIT_NS) {
                hcore_error("rank %u leaves a broken operator, though rank %u may still write in its memory", comm->rank, peer);
                return;
            }
            if (hcore_task_inside()) {
                hcore_task_yield();
            } else {
                sched_yield();
            }
        }
    }
}

typedef struct {
    _Atomic uint64_t *flag;
    uint64_t value;
} flag_condition_t;

static bool flag_holds(void *context)
{
    const flag_condition_t *c = context;
    return flag_reached(c->flag, c->value);
}

hcore_status_t hcore_wait_flag_slow(hcore_comm_t *comm, _Atomic uint64_t *flag, uint64_t value, uint32_t peer)
{
    flag_condition_t context = {flag, value};
    const hcore_condition_t condition = {flag_holds, &context, peer};
    return hcore_wait_slow(comm, &condition);
}
