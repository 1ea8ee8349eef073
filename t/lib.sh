# SPDX-License-Identifier: BSD-3-Clause
# t/lib.sh - what the shell tests share. Sourced, with SHIM_BUILD (build folder) and SHIM_SRC (source folder) set by
# `make check` or, when a test is run by hand, guessed.
SHIM_SRC=${SHIM_SRC:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
SHIM_BUILD=${SHIM_BUILD:-$SHIM_SRC/build}
# Which MPI the programs run with, and so which library is preloaded: mpich, openmpi.
SHIM_MPI=${SHIM_MPI:-mpich}
declare -A SHIM_NAME=([mpich]=libmpi_shim.so [openmpi]=libmpi_shim_ompi.so)
declare -A LAUNCHER=([mpich]=${SHIM_MPICH_EXEC:-mpiexec.mpich} [openmpi]=${SHIM_OPENMPI_EXEC:-mpirun.openmpi})
declare -A COMPILER=([mpich]=${SHIM_MPICH_CC:-mpicc.mpich} [openmpi]=${SHIM_OPENMPI_CC:-mpicc.openmpi})
MPIEXEC=${LAUNCHER[$SHIM_MPI]} MPICC=${COMPILER[$SHIM_MPI]}
SHIM_LIB=${SHIM_LIB:-$SHIM_BUILD/.libs/${SHIM_NAME[$SHIM_MPI]}}
SHIM_TIMEOUT=${SHIM_TIMEOUT:-120}
# A sanitizer build needs its run time before the shim in LD_PRELOAD.
SHIM_PRELOAD=${SHIM_PRELOAD:-$SHIM_LIB}
# No file of the machine may change what is tested.
export MPI_SHIM_CONFIG_FILE=/dev/null
SHIM_TMP=$(mktemp -d "${TMPDIR:-/tmp}/shim-t.XXXXXX")
trap 'rm -rf "$SHIM_TMP"' EXIT
tap_n=0 tap_bad=0

# ok STATUS TEXT: one TAP line; STATUS 0 is good.
ok() {
    tap_n=$((tap_n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $tap_n - $2"; else echo "not ok $tap_n - $2"; tap_bad=$((tap_bad + 1)); fi
}
# is GOT WANTED TEXT
is() {
    [ "$1" = "$2" ]
    ok $? "$3"
    [ "$1" = "$2" ] || printf '#   got:    %s\n#   wanted: %s\n' "$1" "$2"
}
# like GOT REGEX TEXT
like() {
    [[ "$1" =~ $2 ]]
    ok $? "$3"
    [[ "$1" =~ $2 ]] || printf '#   got:          %s\n#   wanted match: %s\n' "$1" "$2"
}
skip() { tap_n=$((tap_n + 1)); echo "ok $tap_n - $1 # SKIP $2"; }
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
note() { sed 's/^/# /' <<<"$*"; }
done_testing() { echo "1..$tap_n"; [ "$tap_bad" -eq 0 ]; exit $?; }

# launch MPI N [-genv NAME VALUE]... PROG ARGS...: ranks of that MPI, with variables set for them alone. Bounded in time.
launch() {
    local mpi=$1 n=$2 set=()
    shift 2
    while [ "$1" = -genv ]; do
        if [ "$mpi" = openmpi ]; then set+=(-x "$2=$3"); else set+=("$1" "$2" "$3"); fi
        shift 3
    done
    [ "$mpi" = openmpi ] && set=(--allow-run-as-root --oversubscribe "${set[@]}")
    timeout -k 5 "$SHIM_TIMEOUT" "${LAUNCHER[$mpi]}" "${set[@]}" -n "$n" "$@"
}
# run_plain N PROG ARGS...: under the MPI alone. run_shim: the same with the shim preloaded into the ranks alone.
# Both leave the output of the ranks on stdout/stderr.
run_plain() { launch "$SHIM_MPI" "$@"; }
run_shim() { local n=$1; shift; launch "$SHIM_MPI" "$n" -genv LD_PRELOAD "$SHIM_PRELOAD" "$@"; }
