#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Types made by MPI_Type_create_f90_integer, _real and _complex: right wherever they run.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
export TEST_MAY_FALL_BACK=1 TEST_ANY_ORDER=1

for ranks in 1 2; do
    mpi_case "f90 types on $ranks ranks" $ranks coll_matrix --count 0,1,7,1000 \
        --type f90_integer_4,f90_integer_9,f90_integer_15,f90_real_6,f90_real_15,f90_complex_15
done
done_testing
