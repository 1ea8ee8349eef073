#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Communicators that are used while they are freed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 1 2 3; do
    mpi_case "delete callbacks on $ranks ranks" $ranks freeing
done
done_testing
