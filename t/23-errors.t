#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Wrong arguments are MPI's own errors.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 1 2 3; do
    mpi_case "errors on $ranks ranks" $ranks errors
done
done_testing
