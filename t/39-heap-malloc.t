#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The allocation functions keep their contract where large blocks come from the shared heap, and where it refuses.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/mpi/run.sh"
[ "$SHIM_PRELOAD" = "$SHIM_LIB" ] || skip_all "a sanitizer's run time comes first, and has an allocator of its own"
MPICXX=${MPICXX:-mpicxx.mpich}

for ranks in 1 2; do
    mpi_case "allocation, $ranks ranks" $ranks heap_malloc heap
done
MPI_SHIM_HEAP=off mpi_case "allocation, MPI_SHIM_HEAP=off" 1 heap_malloc none
MPI_SHIM_HEAP=alloc_mem mpi_case "allocation, MPI_SHIM_HEAP=alloc_mem" 1 heap_malloc none
for mode in forked closed; do # the other rank has a heap that can be shared
    mpi_case "MPI with a heap that peers can't map: $mode" 1 heap_malloc $mode : -n 1 "$MPI_TESTS/heap_malloc" heap
done

limited() { # limited TEXT ULIMIT...: under a limit the heap is not there, and nothing is said
    local text=$1
    shift
    run_shim 2 bash -c "ulimit $* && exec \"\$0\" none" "$MPI_TESTS/heap_malloc" >"$SHIM_TMP/out" 2>"$SHIM_TMP/err" </dev/null
    is "$? $(cat "$SHIM_TMP/err")" "0 " "$text"
    grep '^#' "$SHIM_TMP/out"
}
limited "address space limited" -v 8000000
limited "file size limited" -f 8000000

cat >"$SHIM_TMP/new.cc" <<'END'
#include <mpi.h>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>
#include <vector>
struct alignas(65536) wide { char bytes[65536]; };
int main(int argc, char **argv)
{
    std::vector<std::string> early(10000, std::string(100, 'x'));
    MPI_Init(&argc, &argv);
    bool good = early.back() == std::string(100, 'x');
    std::vector<int> grown;
    for (int i = 0; i < 500000; i++) grown.push_back(i);
    for (int i = 0; i < 500000; i++) good = good && grown[i] == i;
    wide *aligned = new wide[3];
    good = good && reinterpret_cast<std::uintptr_t>(aligned) % alignof(wide) == 0;
    delete[] aligned;
    volatile std::size_t huge = SIZE_MAX / 4;
    good = good && !::operator new(huge, std::nothrow);
    try { delete[] new char[huge]; good = false; } catch (const std::bad_alloc &) {}
    MPI_Finalize();
    std::puts(good ? "good" : "bad");
}
END
if command -v "$MPICXX" >"$SHIM_TMP/which" 2>&1 && "$MPICXX" -std=c++17 -o "$SHIM_TMP/new" "$SHIM_TMP/new.cc" >"$SHIM_TMP/out" 2>&1; then
    is "$(run_shim 2 "$SHIM_TMP/new" 2>&1 | tr -d '\n')" goodgood "new and delete of C++"
else
    skip "new and delete of C++" "no C++ compiler for MPI"
fi
is "$(LD_PRELOAD=$SHIM_PRELOAD "$PYTHON" -c 'print(len(bytearray(10**7)))' 2>&1)" 10000000 "a process without MPI"
done_testing
