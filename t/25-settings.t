#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Settings from a file and from the program itself decide as those from the environment do.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
export MPI_SHIM_REPORT="$SHIM_TMP/report"

mpi_case "mpi_shim_set" 2 settings

# by_backend NAME: "calls served by aiv, by aicpu".
by_backend() {
    "$PYTHON" -c '
import json, sys
f = json.load(open(sys.argv[1]))["functions"][sys.argv[2]]["served"]
print(f["aiv"], f["aicpu"])' "$MPI_SHIM_REPORT" "$1"
}
export MPI_SHIM_CONFIG_FILE="$SHIM_TMP/hccl-shim.conf"
echo "MPI_SHIM_AIV_LIMIT = AllReduce:0" >"$MPI_SHIM_CONFIG_FILE"
mpi_case "a file with MPI_SHIM_AIV_LIMIT" 2 known
is "$(by_backend MPI_Allreduce)" "0 10" "AllReduce:0 leaves no MPI_Allreduce to AIV"
is "$(by_backend MPI_Bcast)" "5 0" "the other operators keep their sizes"

MPI_SHIM_AIV_LIMIT=AllReduce:max mpi_case "the environment against the file" 2 known
is "$(by_backend MPI_Allreduce)" "10 0" "the environment is stronger"

rm -f "$MPI_SHIM_REPORT"
echo "MPI_SHIM_DISABLE = 1" >"$MPI_SHIM_CONFIG_FILE"
TEST_SHIM=0 mpi_case "a file with MPI_SHIM_DISABLE" 2 known
[ ! -e "$MPI_SHIM_REPORT" ]
ok $? "a file can switch the shim off"

echo "MPI_SHIM_AIV_LIMIT = Allreduce:much" >"$MPI_SHIM_CONFIG_FILE"
run_shim 2 "$MPI_TESTS/known" >"$SHIM_TMP/out" 2>"$SHIM_TMP/err"
is "$? $(grep -c '^hccl-shim: .*hccl-shim.conf:1: MPI_SHIM_AIV_LIMIT: value "Allreduce:much" is not allowed' "$SHIM_TMP/err")" "0 1" \
    "a bad line is told once"
MPI_SHIM_STRICT=1 run_shim 2 "$MPI_TESTS/known" >/dev/null 2>&1
[ $? -ne 0 ]
ok $? "with MPI_SHIM_STRICT it ends the program"
done_testing
