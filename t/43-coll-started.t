#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every collective in its nonblocking and its persistent form, against the same references as the blocking ones.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for how in nonblocking persistent; do
    export TEST_STARTED=$how
    for ranks in 1 2 4; do
        mpi_case "$how: moves on $ranks ranks" $ranks coll_matrix_started --kind move
        mpi_case "$how: reductions on $ranks ranks" $ranks coll_matrix_started --kind reduce --type int,double,2int,double_int --form both
        mpi_case "$how: user ops on $ranks ranks" $ranks userop_started
    done
    mpi_case "$how: derived types on 3 ranks" 3 derived_started
done
done_testing
