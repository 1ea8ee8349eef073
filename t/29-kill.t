#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# kill -9 of one rank in a loop of collectives: the job ends, and nothing stays behind.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
LIMIT=20 # seconds that mpiexec may take to end

# Shared memory files and sockets that did not exist before.
traces() { find /dev/shm "${TMPDIR:-/tmp}" -maxdepth 1 \( -path '/dev/shm/*' -o -iname '*hcc*' -o -iname '*shim*' \) ! -path "$SHIM_TMP" | sort; }

kill_one() {
    local victim=$1 ranks=$2 pids="$SHIM_TMP/pids.$1.$2" before after job pid waited=0 left=''
    mkdir "$pids"
    before=$(traces)
    run_shim "$ranks" "$MPI_TESTS/endless" "$pids" >"$SHIM_TMP/out" 2>"$SHIM_TMP/err" &
    job=$!
    for ((i = 0; i < 200; i++)); do
        [ "$(ls "$pids" | wc -l)" -eq "$ranks" ] && break
        sleep 0.1
    done
    is "$(ls "$pids" | wc -l)" "$ranks" "all $ranks ranks are in the loop"
    [ -e "$pids/$victim" ] && kill -9 "$(cat "$pids/$victim")"
    while kill -0 $job 2>/dev/null && [ $waited -lt $((LIMIT * 10)) ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    [ $waited -lt $((LIMIT * 10)) ]
    ok $? "rank $victim of $ranks killed: mpiexec ended within $LIMIT s (took $((waited / 10)) s)"
    wait $job
    [ $? -ne 0 ]
    ok $? "rank $victim of $ranks killed: its status is not 0"
    sleep 0.3
    for pid in $(cat "$pids"/*); do
        kill -0 "$pid" 2>/dev/null && left="$left $pid" && kill -9 "$pid"
    done
    is "$left" "" "rank $victim of $ranks killed: no process is left"
    after=$(traces)
    is "$(comm -13 <(echo "$before") <(echo "$after"))" "" "rank $victim of $ranks killed: no file is left"
}

kill_one 2 4
kill_one 0 2
done_testing
