#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Collectives that move data: all types, counts, roots, in place or not, both forms, against a serial reference.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 1 2 3 4 5 6 7 8; do
    mpi_case "moves on $ranks ranks" $ranks coll_matrix --kind move
done
done_testing
