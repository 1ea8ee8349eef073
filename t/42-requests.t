#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Nonblocking and persistent collectives as requests, mixed with others, in every completion function.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 1 2 3 4 7; do
    mpi_case "requests on $ranks ranks" $ranks requests 100
done
MPI_SHIM_BACKEND=aicpu mpi_case "requests on 3 ranks, AI CPU alone" 3 requests 30
MPI_SHIM_BACKEND=aiv mpi_case "requests on 3 ranks, AIV alone" 3 requests 30
MPI_SHIM_HEAP=off mpi_case "requests on 2 ranks, without heap" 2 requests 30
MPI_SHIM_ASYNC=1 mpi_case "requests on 2 ranks, moved by a thread" 2 requests 100
MPI_SHIM_ASYNC=1 mpi_case "requests on 4 ranks, moved by a thread" 4 requests 30
MPI_SHIM_YIELD=off mpi_case "requests on 3 ranks that do not yield" 3 requests 3
done_testing
