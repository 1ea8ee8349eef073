#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Derived datatypes in the collectives that move data.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 1 2 3 4 7; do
    mpi_case "derived types on $ranks ranks" $ranks derived
done
MPI_SHIM_BACKEND=aiv mpi_case "derived types on 3 ranks, AIV alone" 3 derived
MPI_SHIM_BACKEND=aicpu mpi_case "derived types on 3 ranks, AI CPU alone" 3 derived
done_testing
