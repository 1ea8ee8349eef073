#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What only one rank sees must not change the path that all take.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 2 3; do
    mpi_case "local choices on $ranks ranks" $ranks local_choices
    MPI_SHIM_BACKEND=aicpu mpi_case "local choices on $ranks ranks, AI CPU alone" $ranks local_choices
done
done_testing
