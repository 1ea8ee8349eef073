#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A program of another MPI is left alone: it works, and the log says why.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
cc=$(command -v mpicc.openmpi) && launcher=$(command -v mpirun.openmpi) || skip_all "Open MPI is not installed"

"$cc" -o "$SHIM_TMP/known" "$SHIM_SRC/t/mpi/other_abi.c" || { ok 1 "builds with Open MPI"; done_testing; }
log=$SHIM_TMP/log
out=$(MPI_SHIM_LOG=warn:$log MPI_SHIM_REPORT=$SHIM_TMP/report timeout 60 "$launcher" --allow-run-as-root --oversubscribe -n 2 \
    -x MPI_SHIM_LOG -x MPI_SHIM_REPORT -x LD_PRELOAD="$SHIM_PRELOAD" "$SHIM_TMP/known" 2>"$SHIM_TMP/err")
is "$? $out" "0 right" "a program of Open MPI works"
is "$(cat "$SHIM_TMP/err")" "" "and says nothing"
[ ! -e "$SHIM_TMP/report" ]
ok $? "no report of it"
like "$(cat "$log"* 2>/dev/null)" "left alone.*ABI" "the log has a line"
done_testing
