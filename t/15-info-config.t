#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# hccl_info config: every knob with value, source, default, what is allowed and help, in every format.
. "$(dirname "$0")/lib.sh"
info=$SHIM_BUILD/hccl_info

text=$("$info" config)
for knob in HCCL_OP_EXPANSION_MODE HCCL_DETERMINISTIC HCCL_ALGO HCCL_BUFFSIZE HCCL_OP_RETRY_ENABLE HCCL_OP_RETRY_PARAMS \
    HCCL_CONNECT_TIMEOUT HCCL_EXEC_TIMEOUT MPI_SHIM_DISABLE MPI_SHIM_STRICT MPI_SHIM_PROFILE MPI_SHIM_BACKEND \
    MPI_SHIM_LOG MPI_SHIM_REPORT MPI_SHIM_HEAP MPI_SHIM_CMA MPI_SHIM_AIV_LIMIT MPI_SHIM_HEAP_FROM; do
    like "$text" "$knob = [^ ]+ \(default\)" "$knob is there, at its default"
done
like "$(env -u MPI_SHIM_CONFIG_FILE "$info" config 2>/dev/null)" "MPI_SHIM_CONFIG_FILE = /[^ ]*/hccl-shim.conf \(default\)" \
    "the system's file is named"
like "$(HCCL_BUFFSIZE=64 "$info" config)" "HCCL_BUFFSIZE = 64 \(environment\)" "a value from the environment is marked"
printf '%s\n' "HCCL_BUFFSIZE = 32" "MPI_SHIM_AIV_LIMIT = scan:4k" "MPI_SHIM_CMA off" >"$SHIM_TMP/file"
text=$(MPI_SHIM_CONFIG_FILE=$SHIM_TMP/file "$info" config 2>"$SHIM_TMP/err")
like "$text" "HCCL_BUFFSIZE = 32 \(file\)" "a value from the file is marked"
like "$text" "MPI_SHIM_AIV_LIMIT = Scan:4K \(file\)" "a list of sizes from the file too"
is "$(cat "$SHIM_TMP/err")" "hccl_info config: $SHIM_TMP/file:3: \"MPI_SHIM_CMA off\" is no assignment NAME = value" "a bad line is named"
text=$(HCCL_BUFFSIZE=64 MPI_SHIM_CONFIG_FILE=$SHIM_TMP/file "$info" config 2>/dev/null)
like "$text" "HCCL_BUFFSIZE = 64 \(environment\)" "the environment is stronger than the file"
message=$(HCCL_BUFFSIZE=64M "$info" config 2>&1 >"$SHIM_TMP/out")
like "$message" '^hccl_info config: HCCL_BUFFSIZE: value "64M" is not allowed .allowed: 1\.\.65536 .MB.*default 200' "a bad value is named"
like "$(cat "$SHIM_TMP/out")" "HCCL_BUFFSIZE = 200 \(default\)" "and the default stays"
message=$(MPI_SHIM_BACKENDS=aiv "$info" config 2>&1 >/dev/null)
like "$message" "MPI_SHIM_BACKENDS: no such variable; the nearest known name is MPI_SHIM_BACKEND$" "an unknown name is told"
HCCL_BUFFSIZE=64M MPI_SHIM_STRICT=1 "$info" config >/dev/null 2>&1
is "$?" 1 "with MPI_SHIM_STRICT a bad value is a failure"

read_json='import csv, json, sys
rows = json.load(sys.stdin)
table = list(csv.DictReader(open(sys.argv[1])))
print(len(rows) == len(table) and rows == table, next(r["value"] for r in rows if r["name"] == "MPI_SHIM_REPORT"))'
export MPI_SHIM_REPORT='a "quoted", \ path'
"$info" config --format csv >"$SHIM_TMP/config.csv"
is "$("$info" config --format json | python3 -c "$read_json" "$SHIM_TMP/config.csv")" "True $MPI_SHIM_REPORT" \
    "csv and JSON hold the same, whatever a value is made of"
unset MPI_SHIM_REPORT
"$info" matrix --format json | python3 -m json.tool >/dev/null
ok $? "the matrix is JSON as well"
done_testing
