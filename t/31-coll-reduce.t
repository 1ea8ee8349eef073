#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Collectives that reduce: all types and ops, counts, roots, in place or not, against a serial reference in rank order.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 1 2 3 4 5 6 7 8; do
    mpi_case "reductions on $ranks ranks" $ranks coll_matrix --kind reduce
done
done_testing
