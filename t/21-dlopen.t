#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A program that is not linked with MPI and opens it RTLD_LOCAL is served.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

library=$(ldd "$MPI_TESTS/known" | awk '/libmpi/ { print $3; exit }')
export MPI_SHIM_REPORT="$SHIM_TMP/report"
mpi_case "dlopen, RTLD_LOCAL, 2 ranks" 2 dlopened "$library"
is "$(cat "$SHIM_TMP/out")" "2 ranks, 0 wrong" "its output"
is "$(report calls Allreduce) $(report core Allreduce)" "20 20" "all of its calls ran on the core"
is "$(MPI_SHIM_DISABLE=1 run_shim 2 "$MPI_TESTS/dlopened" "$library" 2>&1)" "2 ranks, 0 wrong" "switched off"

# Python and mpi4py, of whichever MPI it is built for: it must work; if that is ours, on the core.
program='
from mpi4py import MPI
from array import array
a, b = array("d", [MPI.COMM_WORLD.rank + 1.0]), array("d", [0.0])
for _ in range(10): MPI.COMM_WORLD.Allreduce(a, b)
n = MPI.COMM_WORLD.size
if MPI.COMM_WORLD.rank == 0: print("right" if b[0] == n * (n + 1) / 2 else b[0], "MPICH" if "MPICH" in MPI.Get_library_version() else "other")'
for python in python3 /usr/bin/python3; do
    mpi=$($python -c 'from mpi4py import MPI; print(MPI.Get_library_version())' 2>/dev/null | tr -d '\0')
    [ -n "$mpi" ] && break
done
rm -f "$MPI_SHIM_REPORT"
case $mpi in
*MPICH*)
    out=$(run_shim 2 "$python" -c "$program" 2>&1)
    is "$out" "right MPICH" "mpi4py"
    is "$(report core Allreduce)" 10 "mpi4py's calls ran on the core"
    ;;
*"Open MPI"*)
    launcher=$(command -v mpirun.openmpi) || { skip "mpi4py of Open MPI" "no mpirun.openmpi"; done_testing; }
    out=$(timeout 60 "$launcher" --allow-run-as-root --oversubscribe -n 2 -x LD_PRELOAD="$SHIM_PRELOAD" "$python" -c "$program" 2>&1)
    is "$out" "right other" "mpi4py of Open MPI is left alone and works"
    [ ! -e "$MPI_SHIM_REPORT" ]
    ok $? "no report of it"
    ;;
*) skip "mpi4py" "not installed" ;;
esac
done_testing
