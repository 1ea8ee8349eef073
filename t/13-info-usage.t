#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# hccl_info: help for every command; bad usage is one line on standard error, nothing on standard output, exit status 2.
. "$(dirname "$0")/lib.sh"
info=$SHIM_BUILD/hccl_info

help=$("$info" --help)
is "$?" 0 "--help succeeds"
for command in matrix explain config topo version; do
    like "$help" "$command" "--help names $command"
    text=$("$info" "$command" --help)
    is "$?" 0 "$command --help succeeds"
    like "$text" "^usage: hccl_info $command.*--format FORMAT" "$command --help shows its options"
done
like "$("$info" explain --help)" "AlltoAllVC.*pair_fp64_int.*maxloc" "explain --help lists operators, types and ops"
like "$("$info" --version)" "^hccl-shim.version: [0-9]+\.[0-9]+" "--version"
like "$("$info" version --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])')" "^[0-9]+\." "version as JSON"

# refused REGEX ARGS...
refused() {
    local regex=$1 message
    shift
    message=$("$info" "$@" 2>&1 >"$SHIM_TMP/out")
    is "$? $(wc -l <<<"$message") $(wc -c <"$SHIM_TMP/out")" "2 1 0" "hccl_info $* is refused in one line"
    like "$message" "^hccl_info.*$regex" "hccl_info $* says what is allowed"
}
refused "a command must be given .*matrix, explain, config, topo, version"
refused '"matrx" is not a command .nearest: matrix; allowed: ' matrx
refused '"--formt" is not an option .nearest: --format; allowed, after --: profile, format, help' matrix --formt csv
refused '"csv" is not an option' matrix csv
refused "--format needs a value" matrix --format
refused '--format: "xml" is not allowed .*allowed: text, csv, json' matrix --format xml
refused '--format: "csv" is not allowed .*allowed: text, json' explain --operator Reduce --format csv
refused "--operator must be given" explain
refused '--operator: "AllRedcue" is not allowed .nearest: AllReduce; allowed: Broadcast' explain --operator AllRedcue
refused '--type: "double" is not allowed .*fp64' explain --operator Reduce --type double
refused '--op: "plus" is not allowed .*sum' explain --operator Reduce --op plus
refused '--span: "host" is not allowed .*node, superpod, inter_superpod' explain --operator Reduce --span host
refused '--mode: "graph" is not allowed .*op, ir, capture' explain --operator Reduce --mode graph
refused '--ranks: "0" is not allowed .allowed: 1\.\.' explain --operator Reduce --ranks 0
refused "--deterministic takes no value" explain --operator Reduce --deterministic=yes
for size in "" M -1 1T 1.5M 17179869184G 18446744073709551616; do
    refused "--bytes: \"$size\" is not allowed" explain --operator Reduce --bytes "$size"
done
if [ -w /dev/full ]; then
    "$info" matrix >/dev/full 2>"$SHIM_TMP/err"
    is "$? $(wc -l <"$SHIM_TMP/err")" "1 1" "an output that can't be written is an error"
else
    skip "an output that can't be written is an error" "no /dev/full"
fi
done_testing
