#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A setting that is not allowed: one line that names it, and the program goes on; with MPI_SHIM_STRICT=1 the job ends.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

# bad TEXT NAME VALUE ALLOWED...: each ALLOWED must stand in the line.
bad() {
    local text=$1 name=$2 value=$3 word status missing=''
    shift 3
    run_shim 2 -genv "$name" "$value" "$MPI_TESTS/known" >"$SHIM_TMP/out" 2>"$SHIM_TMP/err"
    is $? 0 "$text: the program goes on"
    is "$(wc -l <"$SHIM_TMP/err")" 1 "$text: one line"
    for word in "$name" "$value" "$@"; do
        grep -qF -- "$word" "$SHIM_TMP/err" || missing="$missing '$word'"
    done
    is "$missing" "" "$text: the line names variable, value and what is allowed"
    [ -z "$missing" ] || show_output
    # mpiexec now and then loses what a job says before it aborts, so that the line may take more than one run to show
    for ((i = 0; i < 5; i++)); do
        run_shim 2 -genv "$name" "$value" -genv MPI_SHIM_STRICT 1 "$MPI_TESTS/known" >"$SHIM_TMP/out" 2>"$SHIM_TMP/err"
        status=$?
        if [ "$status" -eq 0 ] || grep -qF -- "$name" "$SHIM_TMP/err"; then break; fi
    done
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] && ! grep -q '^ok' "$SHIM_TMP/out"
    ok $? "$text: under MPI_SHIM_STRICT=1 the job ends, status $status"
    grep -qF -- "$name" "$SHIM_TMP/err"
    ok $? "$text: under MPI_SHIM_STRICT=1 the line is there"
}

malformed=$SHIM_TMP/malformed.csv
printf 'backend,operator,mode,zero_copy,deterministic,reexecution,node,superpod,inter_superpod,origin\naiv,AllReduce,op,maybe,yes,no,yes,no,no,host\n' >"$malformed"

bad "unknown backend" MPI_SHIM_BACKEND gpu auto aiv aicpu mpi
bad "unknown profile" MPI_SHIM_PROFILE atlas-a9 atlas-a3 host
bad "malformed matrix file" MPI_SHIM_PROFILE "$malformed" maybe yes no na
bad "HCCL_BUFFSIZE out of range" HCCL_BUFFSIZE 99999999 65536
bad "HCCL_BUFFSIZE not a number" HCCL_BUFFSIZE many 65536
bad "unknown determinism" HCCL_DETERMINISTIC perhaps true strict
bad "HCCL_ALGO malformed" HCCL_ALGO level9:round ring NHR

run_shim 2 -genv MPI_SHIM_REPORT "$SHIM_TMP/no/such/folder/report" "$MPI_TESTS/known" >"$SHIM_TMP/out" 2>"$SHIM_TMP/err"
is $? 0 "a report that can't be written: the program goes on"
is "$(grep -c 'MPI_SHIM_REPORT' "$SHIM_TMP/err") $(wc -l <"$SHIM_TMP/err")" "1 1" "a report that can't be written: one line"
done_testing
