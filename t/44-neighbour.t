#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Neighbourhood collectives on Cartesian, graph and distributed graph topologies, in all their forms, run on the core.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

export MPI_SHIM_REPORT="$SHIM_TMP/report"
for ranks in 1 2 3 4 5; do
    rm -f "$MPI_SHIM_REPORT"
    mpi_case "neighbours on $ranks ranks" $ranks neighbour
    is "$(report check 2>&1)" "" "$ranks ranks: the report holds together"
    is "$(report only-core bad_argument 2>&1)" "" "$ranks ranks: all of it on the core"
done
for function in {N,In}eighbor_{allgather,allgatherv,alltoall,alltoallv,alltoallw}{,_c}; do
    core="$core $function:$(report core "$function")"
done
for function in Neighbor_{allgather,allgatherv,alltoall,alltoallv,alltoallw}_init{,_c}; do
    core="$core $function:$(report core "$function")"
done
[[ $core != *:0* ]]
ok $? "each function in its small and large form was served by the core:$core"
unset MPI_SHIM_REPORT

MPI_SHIM_BACKEND=aiv mpi_case "neighbours on 4 ranks, AIV alone, which waits for neighbours alone" 4 neighbour apart
MPI_SHIM_BACKEND=aicpu mpi_case "neighbours on 3 ranks, AI CPU alone" 3 neighbour
MPI_SHIM_BACKEND=aicpu MPI_SHIM_HEAP=off mpi_case "neighbours on 4 ranks, AI CPU alone, without shared heaps" 4 neighbour
MPI_SHIM_HEAP=off mpi_case "neighbours on 3 ranks without shared heaps" 3 neighbour
MPI_SHIM_REPORT="$SHIM_TMP/atlas" MPI_SHIM_PROFILE=atlas-a3 mpi_case "profile atlas-a3" 2 neighbour mpi
MPI_SHIM_REPORT="$SHIM_TMP/atlas"
is "$(report core Neighbor_alltoall)" 0 "atlas-a3: neighbourhood operators are MPI's"
done_testing
