/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matrix/rows_host.h - what the core does on a CPU beyond the vendor's table. Included by profile.c alone,
 * inside an array. Columns as in rows_atlas_a3.h. A call is served when any row qualifies, so a row here
 * widens the vendor's row of the same operator and never narrows it.
 */
/* AI CPU: operators that HCCL lacks */
ROW(AICPU, Barrier, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AICPU, Gather, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AICPU, GatherV, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AICPU, ScatterV, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AICPU, AlltoAllW, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AICPU, Scan, OP, NO, YES, NO, YES, YES, NO, HOST, NULL)
ROW(AICPU, Exscan, OP, NO, YES, NO, YES, YES, NO, HOST, NULL)

/* AIV: operators that HCCL lacks */
ROW(AIV, Barrier, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AIV, Gather, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AIV, GatherV, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AIV, ScatterV, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AIV, AlltoAllW, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AIV, Scan, OP, NO, YES, NO, YES, YES, NO, HOST, NULL)
ROW(AIV, Exscan, OP, NO, YES, NO, YES, YES, NO, HOST, NULL)

/* AIV: operators whose vendor row is missing or says no */
ROW(AIV, Broadcast, OP, NO, NA, NO, YES, YES, NO, HOST, HOST_WIDER)
ROW(AIV, AllGatherV, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AIV, Reduce, OP, NO, YES, NO, YES, YES, NO, HOST, NULL)
ROW(AIV, Scatter, OP, NO, NA, NO, YES, YES, NO, HOST, NULL)
ROW(AIV, ReduceScatterV, OP, NO, YES, NO, YES, YES, NO, HOST, HOST_WIDER)
