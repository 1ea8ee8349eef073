#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# shim_bench under the MPI alone: every collective is timed, in place too, both sides agree, the formats can be read, bad
# arguments are named.
. "$(dirname "$0")/lib.sh"
bench=$SHIM_BUILD/benchmarks/shim_bench

csv=$(run_plain 2 "$bench" -n 2 -b 8 -e 8 -F csv)
is "$(sed 1d <<<"$csv" | cut -d, -f1 | paste -sd' ')" "$("$bench" --list | sed -n 's/^collectives: //p')" "one line for each collective"
is "$(sed 1d <<<"$csv" | awk -F, '{ print $NF }' | sort -u)" "yes" "both sides give the same results"
is "$(sed 1d <<<"$csv" | awk -F, '$8 != 2 || $12 != 2' | wc -l)" 0 "as many calls as asked for"

csv=$(run_plain 2 "$bench" -i -n 3 -b 8 -e 512 -f 64 -F csv)
is "$(sed 1d <<<"$csv" | awk -F, '{ print $NF }' | sort | uniq -c | xargs)" "33 yes" "in place too both sides give the same results"
is "$(awk -F, 'NR > 1 && $(NF - 2) == "no" { print $1 }' <<<"$csv" | sort -u | xargs)" "barrier bcast" \
    "all but these have a form in place"
like "$(run_plain 2 "$bench" -i -w -c allreduce -t float -b 8 -e 8 -n 2000 -F csv)" \
    ",yes,-,yes$" "many sums in place, on what the last gave"

csv=$(run_plain 2 "$bench" -c allreduce -n 3 -b 8 -e 8 -S mpi -L off -F csv)
is "$(sed 1d <<<"$csv" | awk -F, '{ print $8, $12, ($5 > 0), ($9 > 0), $14 }')" "0 3 0 1 0.0000" "one side alone is timed"
is "$(run_plain 2 "$bench" -c allreduce -n 3 -b 8 -e 8 -F csv 2>&1 >/dev/null)" "" "no status line where there is no terminal"
like "$(run_plain 2 "$bench" -c allreduce -b 64K -e 64K -n 150000 -S mpi -L off -P 2>&1 >/dev/null)" \
    "allreduce, 65536 bytes: [0-9]+% done" "--progress gives one"

json=$(run_plain 2 "$bench" -c bcast,reduce -n 3 -b 4 -e 1K -f 16 -t int -o max -r 1 -F json)
is "$(python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["ranks"], d["shim"], d["type"], [(l["collective"], l["bytes"], l["op"]) for l in d["lines"]])' <<<"$json")" \
    "2 False int [('bcast', 4, '-'), ('bcast', 64, '-'), ('bcast', 1024, '-'), ('reduce', 4, 'max'), ('reduce', 64, 'max'), ('reduce', 1024, 'max')]" \
    "json has the lines asked for"

like "$(run_plain 2 "$bench" -c barrier -n 1)" "no shim is preloaded" "text says that no shim is there"

# refuses TEXT REGEX ARGUMENTS...
refuses() {
    local text=$1 regex=$2 out status
    shift 2
    out=$(run_plain 2 "$bench" "$@" 2>&1)
    status=$?
    like "$status:$out" "^2:.*$regex" "$text"
}
refuses "an unknown collective is named" 'no collective is named "allreduse"' -c allreduse
refuses "a size that is none is named" '--min: "3x"' -b 3x
refuses "a root beyond the ranks is refused" '--root: there are 2 ranks' -r 2
refuses "sides that are none are named" 'no side is named "left"' -S left
refuses "an op that MPI does not define on the type is refused" 'does not define band on double' -o band
refuses "a size that MPI can't count is refused" '--max' -e 3G
done_testing
