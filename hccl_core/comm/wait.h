/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.h - setting flags and waiting for them: spin, then yield, then (ranks > cpus) sleep.
 *
 * A rank that sleeps has counted itself in header.sleepers before its last look at the flag; a rank that sets a flag
 * looks at sleepers after setting it. Both put a full fence between their store and their load, so at least one
 * sees the other (Dekker): either the sleeper sees the flag, or the setter sees the sleeper and rings the bell.
 * Where no rank ever sleeps (comm->oversubscribed false, agreed by all ranks) the fence is left out.
 */
#ifndef HCORE_WAIT_H
#define HCORE_WAIT_H

#include "comm/comm_internal.h"

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/*
 * Takes a line away from the caches of the peers who have read it, ahead of a store. Only a hint, and only good while no
 * peer looks at the line. (GCC's __builtin_prefetch is a plain read prefetch on x86 unless told of the CPU.)
 */
static inline void cpu_own(const void *line)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("prefetchw %0" ::"m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1, 3);
#endif
}

/* After a store that peers wait for: moves the line to the cache that all cores share, where they find it sooner than in this core's.
 * Only a hint, and no instruction at all on processors that do not know it. */
static inline void cpu_share(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("cldemote %0" ::"m"(*(const char *)line));
#else
    (void)line;
#endif
}

void hcore_spread(hcore_comm_t *comm); /* spread.c; for communicators whose ranks have a cpu each */
void hcore_ring(hcore_comm_t *comm); /* the setter's half of the Dekker pair */

/* Publishes `value`: everything written before is visible to whoever sees it (pairs with flag_reached). */
static inline void flag_set(hcore_comm_t *comm, _Atomic uint64_t *flag, uint64_t value)
{
    atomic_store_explicit(flag, value, memory_order_release);
    if (__builtin_expect(comm->oversubscribed, 0)) {
        hcore_ring(comm);
    }
}

/* Pairs with flag_set. Flags only grow. */
static inline bool flag_reached(_Atomic uint64_t *flag, uint64_t value)
{
    return atomic_load_explicit(flag, memory_order_acquire) >= value;
}

enum { SPIN_EAGER = 128 }; /* polls without a pause: a pause may be longer than the flight of a line */

/*
 * One condition a rank waits for: any function of flags. `peer` is whose turn it is, for the message when it never comes.
 */
typedef struct {
    bool (*holds)(void *context);
    void *context;
    uint32_t peer;
} hcore_condition_t;

/* The slow half of all waits. HCORE_OK when the condition holds, else the communicator is broken. */
hcore_status_t hcore_wait_slow(hcore_comm_t *comm, const hcore_condition_t *condition);
hcore_status_t hcore_wait_flag_slow(hcore_comm_t *comm, _Atomic uint64_t *flag, uint64_t value, uint32_t peer);

/* Makes the communicator useless for all ranks, who find out while they wait: better an error than waiting for ever for one who can't
 * go on. `dead` is the rank that ended, or -1. Returns `status`. */
hcore_status_t hcore_break(hcore_comm_t *comm, hcore_status_t status, int dead);

/*
 * Around everything that writes in peers' heaps. push_begin fails if the communicator is broken: some peer may have given up the
 * operator, and its caller the memory. push_end comes when nothing of the operator is left to write, also after an error.
 * Begin late, when the peers' flags have been seen: the fence waits for all stores before it, and those are done by then.
 */
static inline hcore_status_t push_begin(hcore_comm_t *comm)
{
    atomic_store_explicit(&comm->ctl[comm->rank].busy, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with the fence in hcore_quit */
    const uint32_t broken = atomic_load_explicit(&comm->header->broken, memory_order_relaxed);
    return __builtin_expect(broken == 0, 1) ? HCORE_OK : (hcore_status_t)(1 - (int)broken);
}

static inline void push_end(hcore_comm_t *comm)
{
    atomic_store_explicit(&comm->ctl[comm->rank].busy, 0, memory_order_release); /* pairs with the acquire in hcore_quit */
}

/* Before this rank leaves an operator with an error: no peer will write in its memory afterwards. */
void hcore_quit(hcore_comm_t *comm);

static inline hcore_status_t flag_wait(hcore_comm_t *comm, _Atomic uint64_t *flag, uint64_t value, uint32_t peer)
{
    for (uint32_t i = 0; i < comm->spin; i++) {
        if (__builtin_expect(flag_reached(flag, value), 1)) {
            return HCORE_OK;
        }
        if (i >= SPIN_EAGER) {
            cpu_relax();
        }
    }
    return hcore_wait_flag_slow(comm, flag, value, peer);
}

#endif
