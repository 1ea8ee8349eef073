/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matrix/rows_host.h - what the core does on a CPU beyond the vendor's table. Included by profile.c alone,
 * inside an array. Columns as in rows_atlas_a3.h. A call is served when any row qualifies, so a row here
 * widens the vendor's row of the same operator and never narrows it. A compiled plan is the same work as the call, so
 * each operator is listed in both modes.
 */
#define BOTH(backend, oper, deterministic, note)                                                             \
    ROW(backend, oper, OP, NO, deterministic, NO, YES, YES, NO, HOST, note)                                  \
    ROW(backend, oper, IR, NO, deterministic, NO, YES, YES, NO, HOST, note)

/* AI CPU: operators that HCCL lacks */
BOTH(AICPU, Barrier, NA, NULL)
BOTH(AICPU, Gather, NA, NULL)
BOTH(AICPU, GatherV, NA, NULL)
BOTH(AICPU, ScatterV, NA, NULL)
BOTH(AICPU, AlltoAllW, NA, NULL)
BOTH(AICPU, Scan, YES, NULL)
BOTH(AICPU, Exscan, YES, NULL)
BOTH(AICPU, NeighborAllGather, NA, NULL)
BOTH(AICPU, NeighborAllGatherV, NA, NULL)
BOTH(AICPU, NeighborAlltoAll, NA, NULL)
BOTH(AICPU, NeighborAlltoAllV, NA, NULL)
BOTH(AICPU, NeighborAlltoAllW, NA, NULL)

/* AIV: operators that HCCL lacks */
BOTH(AIV, Barrier, NA, NULL)
BOTH(AIV, Gather, NA, NULL)
BOTH(AIV, GatherV, NA, NULL)
BOTH(AIV, ScatterV, NA, NULL)
BOTH(AIV, AlltoAllW, NA, NULL)
BOTH(AIV, Scan, YES, NULL)
BOTH(AIV, Exscan, YES, NULL)
BOTH(AIV, NeighborAllGather, NA, NULL)
BOTH(AIV, NeighborAllGatherV, NA, NULL)
BOTH(AIV, NeighborAlltoAll, NA, NULL)
BOTH(AIV, NeighborAlltoAllV, NA, NULL)
BOTH(AIV, NeighborAlltoAllW, NA, NULL)

/* AIV: operators whose vendor row is missing or says no */
BOTH(AIV, Broadcast, NA, HOST_WIDER)
BOTH(AIV, AllGatherV, NA, NULL)
BOTH(AIV, Reduce, YES, NULL)
BOTH(AIV, Scatter, NA, NULL)
BOTH(AIV, ReduceScatterV, YES, HOST_WIDER)

/* AI CPU: calls of which the vendor does not list the plan */
ROW(AICPU, Scatter, IR, NO, NA, NO, YES, YES, NO, HOST, NULL)
#undef BOTH
