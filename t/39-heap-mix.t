#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# All collectives on buffers in the shared heap, outside it, and of both kinds among the ranks. HEAP_ROUNDS: more of it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
ROUNDS=${HEAP_ROUNDS:-4}
seed=0

mix() { # mix TEXT RANKS: each run has a seed of its own
    seed=$((seed + 1))
    mpi_case "$1, $2 ranks" "$2" heap_mix $seed "$ROUNDS" mix
}

for ranks in 2 3 4; do
    mix "buffers anywhere" $ranks
    for setting in MPI_SHIM_BACKEND=aiv MPI_SHIM_BACKEND=aicpu MPI_SHIM_CMA=off MPI_SHIM_HEAP=alloc_mem MPI_SHIM_HEAP=off; do
        export "${setting?}"
        mix "buffers anywhere, $setting" $ranks
        unset "${setting%%=*}"
    done
done

[ "$SHIM_PRELOAD" = "$SHIM_LIB" ] || done_testing # a sanitizer's run time has an allocator of its own

# Large data that lies in heaps does not go through windows or system calls.
export MPI_SHIM_REPORT="$SHIM_TMP/report"
MPI_SHIM_BACKEND=aicpu mpi_case "all buffers in heaps, 2 ranks" 2 heap_mix 1 4 heap 131072
for name in Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw Allreduce Reduce \
    Reduce_scatter_block Reduce_scatter; do
    like "$(report algorithms $name)" '^aicpu/[a-z]*-heap$' "MPI_$name: the heaps are used"
done
rm -f "$MPI_SHIM_REPORT"
MPI_SHIM_HEAP=off MPI_SHIM_BACKEND=aicpu mpi_case "no heaps, 2 ranks" 2 heap_mix 1 4 heap 131072
for name in Bcast Allreduce Alltoallv; do
    like " $(report algorithms $name)" ' aicpu/' "MPI_$name without heaps: the core"
    [[ $(report algorithms $name) != *-heap* ]]
    ok $? "MPI_$name without heaps: no heap is used"
done
done_testing
