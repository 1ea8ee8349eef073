#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Legal calls whose arguments differ from rank to rank.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 1 2 3 4 7; do
    mpi_case "asymmetric calls on $ranks ranks" $ranks asymmetric
done
MPI_SHIM_BACKEND=aiv mpi_case "asymmetric calls on 3 ranks, AIV alone" 3 asymmetric
MPI_SHIM_BACKEND=aicpu mpi_case "asymmetric calls on 3 ranks, AI CPU alone" 3 asymmetric
MPI_SHIM_CMA=off mpi_case "asymmetric calls on 3 ranks without CMA" 3 asymmetric
done_testing
