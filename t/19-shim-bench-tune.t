#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# shim_bench --tune: what it writes is a configuration file that the shim follows; nothing of the user's is written over.
. "$(dirname "$0")/lib.sh"
[ "$SHIM_PRELOAD" = "$SHIM_LIB" ] || skip_all "a sanitizer's run time comes first, and has an allocator of its own"
bench=$SHIM_BUILD/benchmarks/shim_bench
file=$SHIM_TMP/tuned.conf
sizes=(-b 1K -e 64K -f 8 -s 0.01)

out=$(run_shim 2 "$bench" --tune "$file" -c bcast,scan,gatherv "${sizes[@]}" 2>&1)
is "$?" 0 "measures and writes"
like "$out" "bcast +MPI_SHIM_HEAP_FROM +1024 +[0-9.]+ +[0-9.]+" "shows what it measures"
like "$(cat "$file")" "MPI_SHIM_HEAP_FROM = .*Broadcast:(1024|8192|65536|max)" "a size of heaps, one of those measured"
like "$(cat "$file")" "GatherV:" "the V operators have one too"
like "$(cat "$file")" "MPI_SHIM_AIV_LIMIT = Broadcast:(0|1024|8192|65536|max),Scan:(0|1024|8192|65536|max)" "a size of AIV"
config=$(MPI_SHIM_CONFIG_FILE=$file "$SHIM_BUILD/hccl_info" config 2>&1)
like "$config" "MPI_SHIM_AIV_LIMIT = Broadcast:.* \(file\)" "the shim takes the file"
is "$(MPI_SHIM_CONFIG_FILE=$file "$SHIM_BUILD/hccl_info" config 2>&1 >/dev/null)" "" "without a complaint"

run_shim 2 "$bench" --tune "$file" -c scan "${sizes[@]}" >/dev/null 2>&1
is "$? $(grep -c Broadcast "$file")" "0 0" "writes over a file of its own"
echo "MPI_SHIM_BACKEND = aiv" >"$SHIM_TMP/mine.conf"
out=$(run_shim 2 "$bench" --tune "$SHIM_TMP/mine.conf" -c scan "${sizes[@]}" 2>&1)
is "$? $(cat "$SHIM_TMP/mine.conf")" "1 MPI_SHIM_BACKEND = aiv" "but not over another"
like "$out" "was not written by shim_bench --tune" "and says so"
out=$(run_shim 2 "$bench" --tune "$SHIM_TMP/no/such" -c scan "${sizes[@]}" 2>&1)
is "$?" 1 "a folder that is not there is a failure"
like "$out" "No such file or directory" "which is named"

out=$(run_plain 2 "$bench" --tune "$file" -c scan "${sizes[@]}" 2>&1)
like "$? $out" "^1 .*needs a preloaded shim" "without the shim there is nothing to measure"
like "$(run_shim 1 "$bench" --tune "$file" 2>&1)" "needs at least two ranks" "nor with one rank"
like "$(run_shim 2 "$bench" --tune "$file" -c barrier 2>&1)" "nothing is chosen by size" "nor for barrier alone"

# Without shared heaps both ways are the same, and no size of theirs is written.
MPI_SHIM_HEAP=off run_shim 2 "$bench" --tune "$file" -c bcast "${sizes[@]}" >/dev/null 2>&1
is "$? $(grep -c HEAP_FROM "$file") $(grep -c AIV_LIMIT "$file")" "0 0 1" "what makes no difference is left out"
done_testing
