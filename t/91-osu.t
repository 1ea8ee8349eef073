#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The OSU Micro-Benchmarks' blocking collectives with validation, where OSU_DIR points at a build of them for the MPI under
# test: all sizes pass, and the calls of the benchmark's own collective run on the core.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
[ -n "$OSU_DIR" ] || skip_all "OSU_DIR is not set"
folder=$(dirname "$(find "$OSU_DIR" -name osu_allreduce -type f -perm -u+x 2>/dev/null | head -n 1)" 2>/dev/null)
[ -x "$folder/osu_allreduce" ] || skip_all "no osu_allreduce below $OSU_DIR"
export MPI_SHIM_REPORT="$SHIM_TMP/report"
SIZES=1:65536 ITERATIONS=(-i 20 -x 2)

# osu RANKS FUNCTION PROGRAM ARGS...
osu() {
    local ranks=$1 name=$2 program=$3 status bad moved
    shift 3
    [ -x "$folder/$program" ] || { skip "$program" "not built"; return; }
    rm -f "$MPI_SHIM_REPORT"
    run_shim "$ranks" "$folder/$program" "${ITERATIONS[@]}" "$@" >"$SHIM_TMP/out" 2>"$SHIM_TMP/err"
    status=$?
    # lines of numbers: as many as there are sizes, each ending in Pass where validation is on
    bad=$(awk -v c="$*" '/^[0-9 ]/ { n++; if (c ~ /-c/ && $NF != "Pass") bad++ } END { if (n) print bad + 0; else print "no lines" }' "$SHIM_TMP/out")
    is "status $status, lines without Pass: $bad, $(head -c 200 "$SHIM_TMP/err")" "status 0, lines without Pass: 0, " \
        "$program $* on $ranks ranks"
    moved=$(($(report calls "$name") - $(report core "$name")))
    is "$(report calls "$name" | grep -vc '^0$') $moved" "1 0" "$program $* on $ranks ranks: served by the core"
}

for ranks in 2 4; do
    osu $ranks Barrier osu_barrier
    for move in Allgather:osu_allgather Allgatherv:osu_allgatherv Alltoall:osu_alltoall Alltoallv:osu_alltoallv \
        Alltoallw:osu_alltoallw Bcast:osu_bcast Gather:osu_gather Gatherv:osu_gatherv Scatter:osu_scatter \
        Scatterv:osu_scatterv; do
        osu $ranks "${move%%:*}" "${move##*:}" -c -m $SIZES
    done
    for type in mpi_float mpi_int; do
        for reduction in Allreduce:osu_allreduce Reduce:osu_reduce Reduce_scatter:osu_reduce_scatter \
            Reduce_scatter_block:osu_reduce_scatter_block; do
            osu $ranks "${reduction%%:*}" "${reduction##*:}" -T $type -c -m 4:65536
        done
    done
done
done_testing
