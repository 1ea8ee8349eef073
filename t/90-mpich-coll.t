#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The MPICH project's own collective tests (test/mpi/coll), from the distribution's source package of the installed version:
# each passes under the preload if it passes without, prints what it prints without, and its calls run on the core.
#
# SHIM_MPICH_SRC=DIR keeps the unpacked and built tests in DIR for the next time.
# A program that passes under the preload is not run without it: plain MPICH takes milliseconds for each call where ranks
# outnumber cpus.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
. "$(dirname "$0")/mpi/mpich_src.sh"
why='' tests='' programs=0 built=0 # set by the functions of mpich_src.sh
ONE_LIMIT=60 # seconds for one program; a second chance has three times as many
# Reasons for which a call may go to MPI: intercommunicators, and what is no call for the core by its own arguments.
EXCUSED=(intercomm bad_argument unknown_type)

mpich_source_tests || skip_all "$why"
mpich_build_tests || skip_all "$why"
note "$built of $programs programs of $tests built"
[ "$built" -gt 0 ] && [ $((built * 10)) -ge $((programs * 9)) ]
ok $? "nine of ten programs build"

# passes HOW RANKS PROGRAM ARGS...: by the rules of MPICH's runtests: status 0, "No Errors" alone, a silent stderr.
# What runs into its time limit may have met a busy machine, and gets a second chance.
passes() {
    local how=$1 limit status
    shift
    for limit in $ONE_LIMIT $((3 * ONE_LIMIT)); do
        (cd "$tests/coll" && SHIM_TIMEOUT=$limit "$how" "$@" >"$SHIM_TMP/out" 2>"$SHIM_TMP/err" </dev/null)
        status=$?
        [ $status -eq 124 ] || break
    done
    [ $status -eq 0 ] && [ "$(sed 's/^ *//; s/ *$//' "$SHIM_TMP/out")" = "No Errors" ] && [ ! -s "$SHIM_TMP/err" ]
}

export MPI_SHIM_REPORT="$SHIM_TMP/report"
fallen=0 total=0
while read -r program ranks rest; do
    [ -x "$tests/coll/$program" ] || continue
    args=() text="$program, $ranks ranks"
    for word in $rest; do
        case $word in arg=*) args+=("${word#arg=}") ;; esac
    done
    rm -f "$MPI_SHIM_REPORT"
    total=$((total + 1))
    if passes run_shim "$ranks" "./$program" "${args[@]}"; then
        ok 0 "$text"
        moved=$(report only-core "${EXCUSED[@]}" 2>&1) || { fallen=$((fallen + 1)); note "$text: $moved"; }
    elif cp "$SHIM_TMP/out" "$SHIM_TMP/shim.out"; cp "$SHIM_TMP/err" "$SHIM_TMP/shim.err"
        passes run_plain "$ranks" "./$program" "${args[@]}"; then
        ok 1 "$text: passes without the shim, not with it"
        mv "$SHIM_TMP/shim.out" "$SHIM_TMP/out"; mv "$SHIM_TMP/shim.err" "$SHIM_TMP/err"
        show_output
    else
        skip "$text" "fails without the shim, too"
    fi
done < <(mpich_test_list)
[ $total -gt 0 ]
ok $? "$total runs"
is "$fallen" 0 "runs in which a call that the core should serve went to MPI"
done_testing
