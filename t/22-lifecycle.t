#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that begin and end MPI in unusual ways.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

for scenario in none query single funneled serialized multiple selfattr twice session; do
    mpi_case "lifecycle $scenario" 3 lifecycle $scenario
done
is "$(LD_PRELOAD=$SHIM_PRELOAD timeout 60 "$MPI_TESTS/lifecycle" query 2>&1 | head -n 1)" \
    "ok 1 - Initialized and Finalized (6 checks, 0 failed)" "a singleton, without mpiexec"

# What ends a program early has the status it has without us, and no text of ours.
for scenario in abort exit finalize; do
    run_plain 2 "$MPI_TESTS/lifecycle" $scenario >/dev/null 2>&1
    plain=$?
    run_shim 2 "$MPI_TESTS/lifecycle" $scenario >"$SHIM_TMP/out" 2>"$SHIM_TMP/err"
    is $? $plain "lifecycle $scenario: status"
    is "$(grep -hi shim "$SHIM_TMP/out" "$SHIM_TMP/err")" "" "lifecycle $scenario: nothing from the shim"
done
done_testing
