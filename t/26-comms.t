#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Communicators of every constructor, freed and made again.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for ranks in 1 2 3 4 7; do
    mpi_case "communicators on $ranks ranks" $ranks comms
done
done_testing
