#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# shim_bench_compare: one table of the shim, MPICH and Open MPI; pictures of it; what is missing is named. No time is judged.
. "$(dirname "$0")/lib.sh"
compare() {
    timeout -k 5 "$SHIM_TIMEOUT" "$SHIM_BUILD/benchmarks/shim_bench_compare" --shim "$SHIM_PRELOAD" --mpich "$MPIEXEC" "$@"
}
header=ranks,collective,bytes,type,op,shim_us,mpich_us,openmpi_us,floor_us,ratio,x_floor,in_place,backend,same
few=(-n 2 -b 8 -e 512 -f 8)
# collective, bytes, whether shim, MPICH and Open MPI have a number, same; of each line
numbers() { sed 1d | awk -F, '{ print $2, $3, ($6 > 0), ($7 > 0), ($8 > 0), $NF }' | paste -sd' '; }

csv=$(compare -R 1 -c barrier,allreduce -F csv --openmpi no -- "${few[@]}" 2>"$SHIM_TMP/err")
is "$? $(head -n 1 <<<"$csv")" "0 $header" "the table has its header"
is "$(numbers <<<"$csv")" "barrier 0 1 1 0 yes allreduce 8 1 1 0 yes allreduce 64 1 1 0 yes allreduce 512 1 1 0 yes" \
    "without Open MPI its column is empty"
is "$(cat "$SHIM_TMP/err")" "shim_bench_compare: without Open MPI" "and that is said"
out=$(compare -R 1 -c nope --openmpi no 2>&1; echo "status $?")
like "$out" 'no collective is named "nope".*status 2' "wrong arguments are named"
out=$(GNUPLOT=no-such-gnuplot compare -p "$SHIM_TMP/p" 2>&1; echo "status $?")
like "$out" "no-such-gnuplot is not installed.*gnuplot-nox.*status 2" \
    "gnuplot's absence is told before anything is measured"

if [ -x "$SHIM_BUILD/benchmarks/shim_bench_ompi" ] && command -v mpirun.openmpi >/dev/null; then
    csv=$(compare -R 1 -c allreduce -F csv -- -i "${few[@]}")
    is "$(numbers <<<"$csv")" "allreduce 8 1 1 1 yes allreduce 64 1 1 1 yes allreduce 512 1 1 1 yes" "with Open MPI"
else
    skip "with Open MPI" "Open MPI is not installed"
fi

if command -v gnuplot >/dev/null; then
    compare -R 1 -c barrier,allreduce -p "$SHIM_TMP/plots" --openmpi no -- "${few[@]}" >/dev/null 2>&1
    is "$(cd "$SHIM_TMP/plots" && echo *)" "latency-allreduce-2.png results.csv speedup-2.png" "pictures are drawn"
    is "$(head -qc 4 "$SHIM_TMP"/plots/*.png | tr -cd PNG)" PNGPNG "as PNG"
    "$SHIM_BUILD/benchmarks/shim_bench_plot" --format svg "$SHIM_TMP/plots/results.csv" "$SHIM_TMP/svg" 2>/dev/null
    is "$(grep -l '</svg>' "$SHIM_TMP"/svg/*.svg | wc -l)" 2 "and as SVG from the table"
else
    skip "pictures" "gnuplot is not installed"
fi
done_testing
