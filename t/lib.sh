# SPDX-License-Identifier: BSD-3-Clause
# t/lib.sh - what the shell tests share. Sourced, with SHIM_BUILD (build folder) and SHIM_SRC (source folder) set by
# `make check` or, when a test is run by hand, guessed.
SHIM_SRC=${SHIM_SRC:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
SHIM_BUILD=${SHIM_BUILD:-$SHIM_SRC/build}
MPIEXEC=${MPIEXEC:-mpiexec.mpich}
SHIM_LIB=${SHIM_LIB:-$SHIM_BUILD/.libs/libmpi_shim.so}
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

# run_plain N PROG ARGS...: under the MPI alone. run_shim: the same with the shim preloaded into the ranks alone.
# Both are bounded in time and leave the output of the ranks on stdout/stderr.
run_plain() { local n=$1; shift; timeout -k 5 "$SHIM_TIMEOUT" "$MPIEXEC" -n "$n" "$@"; }
run_shim() { local n=$1; shift; timeout -k 5 "$SHIM_TIMEOUT" "$MPIEXEC" -n "$n" -genv LD_PRELOAD "$SHIM_PRELOAD" "$@"; }
