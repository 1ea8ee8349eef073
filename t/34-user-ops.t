#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# User-defined ops, commutative and not, in rank order.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 1 2 3 4 7; do
    mpi_case "user ops on $ranks ranks" $ranks userop
done
MPI_SHIM_BACKEND=aiv mpi_case "user ops on 4 ranks, AIV alone" 4 userop
MPI_SHIM_BACKEND=aicpu mpi_case "user ops on 4 ranks, AI CPU alone" 4 userop
done_testing
