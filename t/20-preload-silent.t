#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that have nothing to do with MPI are the same under the preload: output, errors, status.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"

same() {
    local text=$1 plain shim
    shift
    plain=$("$@" 2>&1 </dev/null; echo "status $?")
    shim=$(LD_PRELOAD=$SHIM_PRELOAD "$@" 2>&1 </dev/null; echo "status $?")
    is "$shim" "$plain" "$text"
}

same "ls" ls -la /usr/bin/env /etc/hostname
same "ls of something that is not there" ls /nonexistent
same "bash with children" bash -c 'echo a; (echo b >&2; exit 3); echo "$?"; sed -n 1p /etc/passwd | wc -l'
same "python3" "$PYTHON" -c 'import sys, subprocess, ctypes; print(sys.version); subprocess.run(["true"], check=True)'
same "python3, threads and fork" "$PYTHON" -c '
import os, threading
t = threading.Thread(target=lambda: print("thread")); t.start(); t.join()
pid = os.fork()
if pid == 0: os._exit(4)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))'
same "a program that dies of a signal" bash -c 'kill -9 $$'
same "a dlsym of a name that nobody has" "$PYTHON" -c '
import ctypes
try: ctypes.CDLL(None).no_such_function_anywhere
except AttributeError as e: print(e)'
for variable in MPI_SHIM_BACKEND=nonsense MPI_SHIM_LOG=debug MPI_SHIM_REPORT="$SHIM_TMP/report"; do
    same "ls with $variable" env "$variable" ls /etc/hostname
done
[ ! -e "$SHIM_TMP/report" ]
ok $? "no report of a program without MPI"
needed=$(readelf -d "$SHIM_LIB" | grep NEEDED)
[[ -n $needed && ! $needed =~ mpi ]]
ok $? "the library does not depend on an MPI"
done_testing
