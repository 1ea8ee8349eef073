#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every collective in its nonblocking and its persistent form, against the same references as the blocking ones.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

# Each initialisation of a persistent one makes a core with an allgather of the MPI underneath, which takes that milliseconds where ranks
# outnumber cpus: two ranks then.
declare -A ranks_of=([nonblocking]="1 2 4" [persistent]="1 2") derived_on=([nonblocking]=3 [persistent]=2)
for how in nonblocking persistent; do
    export TEST_STARTED=$how
    for ranks in ${ranks_of[$how]}; do
        mpi_case "$how: moves on $ranks ranks" $ranks coll_matrix_started --kind move
        mpi_case "$how: reductions on $ranks ranks" $ranks coll_matrix_started --kind reduce --type int,double,2int,double_int --form both
        mpi_case "$how: user ops on $ranks ranks" $ranks userop_started
    done
    mpi_case "$how: derived types on ${derived_on[$how]} ranks" "${derived_on[$how]}" derived_started
done
done_testing
