#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Allocation, collectives and fork at once. TEST_SEED and TEST_SECONDS change what is run and for how long.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
seed=${TEST_SEED:-1} seconds=${TEST_SECONDS:-4}
SHIM_TIMEOUT=$((seconds + 110))

mpi_case "two ranks" 2 heap_stress "$seed" "$seconds"
mpi_case "three ranks" 3 heap_stress "$seed" "$seconds"
MPI_SHIM_HEAP=alloc_mem mpi_case "without blocks of malloc in the heap" 2 heap_stress "$seed" "$seconds"
done_testing
