/* SPDX-License-Identifier: BSD-3-Clause */
/* cma.c - single copy from a peer's private memory by cross-memory attach (process_vm_readv). */
#define _GNU_SOURCE
#include "comm/comm_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

hcore_status_t cma_read(hcore_comm_t *comm, uint32_t peer, void *dst, uint64_t address, uint64_t bytes)
{
    while (bytes > 0) {
        const struct iovec local = {dst, bytes};
        const struct iovec remote = {(void *)(uintptr_t)address, bytes};
        ssize_t got = process_vm_readv(comm->pid[peer], &local, 1, &remote, 1, 0);
        if (got <= 0) {
            hcore_error("reading %llu bytes of rank %u (process %d): %s", (unsigned long long)bytes, peer,
                        (int)comm->pid[peer], got < 0 ? strerror(errno) : "nothing read");
            return HCORE_ERR_SYSTEM;
        }
        dst = (uint8_t *)dst + got;
        address += (uint64_t)got;
        bytes -= (uint64_t)got;
    }
    return HCORE_OK;
}

bool cma_probe(hcore_comm_t *comm, uint32_t peer)
{
    uint64_t got = 0;
    const uint64_t there = comm->ctl[peer].probe; /* its own address in the peer, put there before a barrier */
    if (comm->pid[peer] == 0) {
        hcore_info("CMA off: rank %u lives in another pid namespace", peer);
        return false;
    }
    const struct iovec local = {&got, sizeof(got)};
    const struct iovec remote = {(void *)(uintptr_t)there, sizeof(got)};
    if (process_vm_readv(comm->pid[peer], &local, 1, &remote, 1, 0) != (ssize_t)sizeof(got) || got != there) {
        hcore_info("CMA off: rank %u can't read rank %u: %s", comm->rank, peer, strerror(errno));
        return false;
    }
    return true;
}
