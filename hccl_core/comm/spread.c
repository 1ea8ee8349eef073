/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spread.c - ranks that have a cpu each may still sit on the same one: the kernel likes to wake a process where its waker
 * runs, and two that hand a cpu to each other every few microseconds look to its balancing like one. A rank that waits long
 * says where it runs; one that sees a lower rank there steps over to a cpu nobody has named. Its affinity stays what it was.
 */
#define _GNU_SOURCE
#include "comm/wait.h"

#include <sched.h>

/* Whether one of the first `count` ranks says it runs there. What they say may be old by now; a needless step does no harm. Relaxed:
 * each word stands alone. */
static bool named(const hcore_comm_t *comm, uint32_t count, int cpu)
{
    for (uint32_t i = 0; i < count; i++) {
        if (atomic_load_explicit(&comm->ctl[i].cpu, memory_order_relaxed) == (uint32_t)cpu + 1) {
            return true;
        }
    }
    return false;
}

/* Being allowed on one cpu alone for a moment moves the thread there; it stays until there is a reason to move it. */
static void step_to(int cpu, const cpu_set_t *allowed)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one) == 0) {
        sched_setaffinity(0, sizeof(*allowed), allowed);
    }
}

void hcore_spread(hcore_comm_t *comm)
{
    const int here = sched_getcpu();
    cpu_set_t allowed;
    if (here < 0) {
        return;
    }
    atomic_store_explicit(&comm->ctl[comm->rank].cpu, (uint32_t)here + 1, memory_order_relaxed);
    if (!named(comm, comm->rank, here) || sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && cpu != here && !named(comm, comm->nranks, cpu)) {
            step_to(cpu, &allowed);
            atomic_store_explicit(&comm->ctl[comm->rank].cpu, (uint32_t)cpu + 1, memory_order_relaxed);
            return;
        }
    }
}
