#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank that waits in the core keeps MPI moving.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 2 3 4; do
    mpi_case "progress on $ranks ranks" $ranks progress
done
MPI_SHIM_BACKEND=aicpu mpi_case "progress on 3 ranks, AI CPU alone" 3 progress
done_testing
