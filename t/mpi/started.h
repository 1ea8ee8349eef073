/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * t/mpi/started.h - included before a test program of blocking collectives, makes each call a nonblocking one that is waited for, or,
 * with TEST_STARTED=persistent, a persistent one that is made, started, waited for and freed.
 */
#ifndef T_MPI_STARTED_H
#define T_MPI_STARTED_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static inline int t_persistent(void)
{
    const char *how = getenv("TEST_STARTED");
    return how && strcmp(how, "persistent") == 0;
}

static inline int t_end(int code, MPI_Request *request, int persistent)
{
    if (code == MPI_SUCCESS && persistent) {
        code = MPI_Start(request);
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Wait(request, MPI_STATUS_IGNORE);
        if (persistent) {
            MPI_Request_free(request);
        }
    }
    return code;
}

#define T_STARTED(start, init, ...)                                                                          \
    ({                                                                                                       \
        MPI_Request t_request;                                                                               \
        const int t_lasting = t_persistent();                                                                \
        const int t_code = t_lasting ? init(__VA_ARGS__, MPI_INFO_NULL, &t_request) : start(__VA_ARGS__, &t_request); \
        t_end(t_code, &t_request, t_lasting);                                                                \
    })

#define MPI_Barrier(...)                T_STARTED(MPI_Ibarrier, MPI_Barrier_init, __VA_ARGS__)
#define MPI_Bcast(...)                  T_STARTED(MPI_Ibcast, MPI_Bcast_init, __VA_ARGS__)
#define MPI_Gather(...)                 T_STARTED(MPI_Igather, MPI_Gather_init, __VA_ARGS__)
#define MPI_Gatherv(...)                T_STARTED(MPI_Igatherv, MPI_Gatherv_init, __VA_ARGS__)
#define MPI_Scatter(...)                T_STARTED(MPI_Iscatter, MPI_Scatter_init, __VA_ARGS__)
#define MPI_Scatterv(...)               T_STARTED(MPI_Iscatterv, MPI_Scatterv_init, __VA_ARGS__)
#define MPI_Allgather(...)              T_STARTED(MPI_Iallgather, MPI_Allgather_init, __VA_ARGS__)
#define MPI_Allgatherv(...)             T_STARTED(MPI_Iallgatherv, MPI_Allgatherv_init, __VA_ARGS__)
#define MPI_Alltoall(...)               T_STARTED(MPI_Ialltoall, MPI_Alltoall_init, __VA_ARGS__)
#define MPI_Alltoallv(...)              T_STARTED(MPI_Ialltoallv, MPI_Alltoallv_init, __VA_ARGS__)
#define MPI_Alltoallw(...)              T_STARTED(MPI_Ialltoallw, MPI_Alltoallw_init, __VA_ARGS__)
#define MPI_Reduce(...)                 T_STARTED(MPI_Ireduce, MPI_Reduce_init, __VA_ARGS__)
#define MPI_Allreduce(...)              T_STARTED(MPI_Iallreduce, MPI_Allreduce_init, __VA_ARGS__)
#define MPI_Reduce_scatter(...)         T_STARTED(MPI_Ireduce_scatter, MPI_Reduce_scatter_init, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...)   T_STARTED(MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, __VA_ARGS__)
#define MPI_Scan(...)                   T_STARTED(MPI_Iscan, MPI_Scan_init, __VA_ARGS__)
#define MPI_Exscan(...)                 T_STARTED(MPI_Iexscan, MPI_Exscan_init, __VA_ARGS__)
#define MPI_Bcast_c(...)                T_STARTED(MPI_Ibcast_c, MPI_Bcast_init_c, __VA_ARGS__)
#define MPI_Gather_c(...)               T_STARTED(MPI_Igather_c, MPI_Gather_init_c, __VA_ARGS__)
#define MPI_Gatherv_c(...)              T_STARTED(MPI_Igatherv_c, MPI_Gatherv_init_c, __VA_ARGS__)
#define MPI_Scatter_c(...)              T_STARTED(MPI_Iscatter_c, MPI_Scatter_init_c, __VA_ARGS__)
#define MPI_Scatterv_c(...)             T_STARTED(MPI_Iscatterv_c, MPI_Scatterv_init_c, __VA_ARGS__)
#define MPI_Allgather_c(...)            T_STARTED(MPI_Iallgather_c, MPI_Allgather_init_c, __VA_ARGS__)
#define MPI_Allgatherv_c(...)           T_STARTED(MPI_Iallgatherv_c, MPI_Allgatherv_init_c, __VA_ARGS__)
#define MPI_Alltoall_c(...)             T_STARTED(MPI_Ialltoall_c, MPI_Alltoall_init_c, __VA_ARGS__)
#define MPI_Alltoallv_c(...)            T_STARTED(MPI_Ialltoallv_c, MPI_Alltoallv_init_c, __VA_ARGS__)
#define MPI_Alltoallw_c(...)            T_STARTED(MPI_Ialltoallw_c, MPI_Alltoallw_init_c, __VA_ARGS__)
#define MPI_Reduce_c(...)               T_STARTED(MPI_Ireduce_c, MPI_Reduce_init_c, __VA_ARGS__)
#define MPI_Allreduce_c(...)            T_STARTED(MPI_Iallreduce_c, MPI_Allreduce_init_c, __VA_ARGS__)
#define MPI_Reduce_scatter_c(...)       T_STARTED(MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init_c, __VA_ARGS__)
#define MPI_Reduce_scatter_block_c(...) T_STARTED(MPI_Ireduce_scatter_block_c, MPI_Reduce_scatter_block_init_c, __VA_ARGS__)
#define MPI_Scan_c(...)                 T_STARTED(MPI_Iscan_c, MPI_Scan_init_c, __VA_ARGS__)
#define MPI_Exscan_c(...)               T_STARTED(MPI_Iexscan_c, MPI_Exscan_init_c, __VA_ARGS__)

#endif
