#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Each library serves the programs of its own ABI and no others, also if both are preloaded, in either order.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
first=$SHIM_PRELOAD
second=${SHIM_PRELOAD//${SHIM_NAME[mpich]}/${SHIM_NAME[openmpi]}}
[ -e "$SHIM_BUILD/.libs/${SHIM_NAME[openmpi]}" ] || skip_all "built without Open MPI"

# case_of TEXT MPI PRELOAD SERVED: a program of that MPI; all of its calls are served by the core, or none is.
case_of() {
    local text=$1 mpi=$2 preload=$3 served=$4
    export MPI_SHIM_REPORT="$SHIM_TMP/report"
    rm -f "$MPI_SHIM_REPORT"
    is "$(launch "$mpi" 2 -genv LD_PRELOAD "$preload" "$SHIM_TMP/$mpi" 2>&1)" right "$text: works"
    is "$([ -e "$MPI_SHIM_REPORT" ] && report core Allreduce)" "$served" "$text: calls on the core"
}

for mpi in mpich openmpi; do
    command -v "${LAUNCHER[$mpi]}" >/dev/null || skip_all "no launcher of $mpi"
    "${COMPILER[$mpi]}" -o "$SHIM_TMP/$mpi" "$SHIM_SRC/t/mpi/other_abi.c"
    ok $? "builds with $mpi"
done
case_of "MPICH and its library" mpich "$first" 10
case_of "MPICH and Open MPI's library" mpich "$second" ""
case_of "Open MPI and its library" openmpi "$second" 10
for mpi in mpich openmpi; do
    case_of "$mpi and both" $mpi "$first:$second" 10
    case_of "$mpi and both, in the other order" $mpi "$second:$first" 10
done
needed=$(readelf -d "$SHIM_BUILD/.libs/${SHIM_NAME[openmpi]}" | grep NEEDED)
[[ -n $needed && ! $needed =~ mpi ]]
ok $? "Open MPI's library does not depend on an MPI"
is "$(nm -D --undefined-only "$SHIM_BUILD/.libs/${SHIM_NAME[openmpi]}" | grep -i mpi)" "" "and uses no name of one"
done_testing
