#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Each engine alone, without direct access to peers, with each algorithm family, and in small windows: a part of the
# types at all counts.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
PART=(--type MPI_INT,MPI_DOUBLE,MPI_SHORT_INT,MPI_SIGNED_CHAR)

for backend in aiv aicpu; do
    for ranks in 2 3 5; do
        MPI_SHIM_BACKEND=$backend mpi_case "$backend alone, $ranks ranks" $ranks coll_matrix "${PART[@]}"
    done
done
MPI_SHIM_BACKEND=aicpu MPI_SHIM_CMA=off mpi_case "AI CPU alone without CMA, 4 ranks" 4 coll_matrix "${PART[@]}"
MPI_SHIM_BACKEND=aicpu HCCL_BUFFSIZE=1 mpi_case "AI CPU alone in windows of 1 MB, 3 ranks" 3 coll_matrix "${PART[@]}"
MPI_SHIM_BACKEND=aiv HCCL_BUFFSIZE=1 mpi_case "AIV alone in windows of 1 MB, 3 ranks" 3 coll_matrix "${PART[@]}"
for algorithm in ring H-D_R NHR NB pairwise; do
    HCCL_ALGO="level0:NA;level1:$algorithm" MPI_SHIM_BACKEND=aicpu TEST_ANY_ORDER=1 \
        mpi_case "HCCL_ALGO $algorithm, 4 ranks" 4 coll_matrix --type MPI_INT,MPI_DOUBLE
done
for ranks in 3 4; do
    HCCL_DETERMINISTIC=strict mpi_case "HCCL_DETERMINISTIC=strict, $ranks ranks" $ranks coll_matrix --kind reduce "${PART[@]}"
done
MPI_SHIM_BACKEND=mpi TEST_MAY_FALL_BACK=1 TEST_ANY_ORDER=1 mpi_case "MPI alone, 2 ranks" 2 coll_matrix \
    --type MPI_INT,MPI_DOUBLE --count 0,1,7,1000
done_testing
