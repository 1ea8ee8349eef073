#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Random collectives on overlapping communicators. TEST_SEED and TEST_SECONDS change what is run and for how long.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
seed=${TEST_SEED:-1} seconds=${TEST_SECONDS:-6}

for ranks in 2 3 4 6 8; do
    mpi_case "stress on $ranks ranks, seed $seed" $ranks stress $((seed + ranks)) 1000000 "$seconds"
done
MPI_SHIM_BACKEND=aicpu MPI_SHIM_CMA=off mpi_case "stress on 4 ranks, AI CPU alone without CMA" 4 stress "$seed" 1000000 "$seconds"
done_testing
