# SPDX-License-Identifier: BSD-3-Clause
# t/mpi/run.sh - what the tests of the preloaded library share. Sourced after t/lib.sh.
MPI_TESTS=${MPI_TESTS:-$SHIM_BUILD/t/mpi}
PYTHON=${PYTHON:-python3}
export TEST_SHIM=1

# The end of what a failed run said, as TAP comments.
show_output() {
    head -n 25 "$SHIM_TMP/out" | sed 's/^\(# *\)*/#   /'
    head -n 15 "$SHIM_TMP/err" | sed 's/^/#   stderr: /'
}

# mpi_case TEXT RANKS PROGRAM ARGS...: a program of t/mpi under the preload. One TAP line: status 0 and a silent stderr.
mpi_case() {
    local text=$1 ranks=$2 program=$3 status
    shift 3
    run_shim "$ranks" "$MPI_TESTS/$program" "$@" >"$SHIM_TMP/out" 2>"$SHIM_TMP/err" </dev/null
    status=$?
    [ "$status" -eq 0 ] && [ ! -s "$SHIM_TMP/err" ]
    ok $? "$text"
    [ "$status" -eq 0 ] && [ ! -s "$SHIM_TMP/err" ] || { note "status $status"; show_output; }
}

# report QUESTION ARGS...: see t/mpi/report.py; the report is that of $MPI_SHIM_REPORT.
report() { "$PYTHON" "$SHIM_SRC/t/mpi/report.py" "$MPI_SHIM_REPORT" "$@"; }
