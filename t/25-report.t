#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI_SHIM_REPORT counts every call, who served it, and why.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
export MPI_SHIM_REPORT="$SHIM_TMP/report"

counts() { echo "$(report calls Allreduce) $(report calls Allreduce_c) $(report calls Bcast) $(report calls Barrier) $(report calls Alltoall)"; }

mpi_case "a program of known calls" 2 known
is "$(report check 2>&1)" "" "the report is JSON and adds up"
is "$(counts)" "11 1 5 3 2" "the numbers of calls"
is "$(report only-core intercomm 2>&1)" "" "served by the core but for intercommunicators"
is "$(report reason Allreduce intercomm)" 1 "the intercommunicator's reason"
grep -q '"aiv/[a-z]' "$MPI_SHIM_REPORT"
ok $? "an algorithm of the AIV engine has its name"

for backend in aiv aicpu mpi; do
    rm -f "$MPI_SHIM_REPORT"
    MPI_SHIM_BACKEND=$backend mpi_case "MPI_SHIM_BACKEND=$backend" 2 known
    is "$(report check 2>&1) $(counts)" " 11 1 5 3 2" "MPI_SHIM_BACKEND=$backend: the numbers of calls"
    others=$("$PYTHON" -c '
import json, sys
f = json.load(open(sys.argv[1]))["functions"]["MPI_Allreduce"]["served"]
print(f[sys.argv[2]], sum(v for k, v in f.items() if k not in (sys.argv[2], "mpi")))' "$MPI_SHIM_REPORT" $backend)
    is "$others" "$([ $backend = mpi ] && echo 11 || echo 10) 0" "MPI_SHIM_BACKEND=$backend serves all on the communicator"
done

rm -f "$MPI_SHIM_REPORT"
MPI_SHIM_PROFILE=atlas-a3 mpi_case "profile atlas-a3" 2 known
is "$(report core Allreduce) $(report reason Allreduce type)" "7 3" "atlas-a3: sums of floats on the core, of doubles on MPI"

rm -f "$MPI_SHIM_REPORT"
TEST_SHIM=0 MPI_SHIM_DISABLE=1 mpi_case "MPI_SHIM_DISABLE=1" 2 known
[ ! -e "$MPI_SHIM_REPORT" ]
ok $? "MPI_SHIM_DISABLE=1 writes no report"
done_testing
