#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Wrong programs, and calls given up, on buffers in the shared heap: errors, not another rank's memory written.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

mpi_case "different sizes" 2 heap_misuse sizes
for name in Allreduce Alltoallv; do
    for backend in aiv aicpu; do
        HCCL_EXEC_TIMEOUT=1 MPI_SHIM_BACKEND=$backend mpi_case "a late peer, $name, $backend" 2 heap_misuse late $name
    done
done
done_testing
