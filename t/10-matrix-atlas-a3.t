#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The profile atlas-a3 is the vendor's page row by row, every cell, in the page's order.
. "$(dirname "$0")/lib.sh"
page=$SHIM_SRC/t/data/atlas_a3_support_matrix.md
csv=$SHIM_TMP/atlas.csv
"$SHIM_BUILD/hccl_info" matrix --profile atlas-a3 --format csv >"$csv"
ok $? "the profile prints as csv"
is "$(head -1 "$csv")" "backend,operator,mode,zero_copy,deterministic,reexecution,node,superpod,inter_superpod,origin" "the header"

# The page's tables as csv without the origin: a row is "| operator | mode | six cells |" under the heading of its backend.
declare -A word=([单算子模式]=op ["图模式Ascend IR"]=ir [图捕获模式aclgraph]=capture [√]=yes [☓]=no [NA]=na ["AI CPU"]=aicpu [AIV]=aiv)
page_rows() {
    local line backend= operator mode cells row cell
    while IFS= read -r line; do
        if [[ $line == '#### '* ]]; then
            backend=${word[${line#\#### }]}
        elif [[ $line =~ ^'| '([A-Za-z]+)' | '([^|]+)' |'(.*)'|'$ ]]; then
            operator=${BASH_REMATCH[1]} mode=${BASH_REMATCH[2]} cells=${BASH_REMATCH[3]}
            row=$backend,$operator,${word[$mode]-unknown mode $mode}
            while IFS= read -r cell; do row+=,${word[$cell]-unknown cell $cell}; done < <(tr -d ' ' <<<"$cells" | tr '|' '\n')
            echo "$row"
        fi
    done <"$page"
}
page_rows >"$SHIM_TMP/page.csv"
is "$(wc -l <"$SHIM_TMP/page.csv")" 67 "the page has 67 rows"
is "$(grep -c '^aicpu,' "$SHIM_TMP/page.csv")" 40 "40 of them AI CPU"
sed 1d "$csv" >"$SHIM_TMP/rows.csv"
is "$(wc -l <"$SHIM_TMP/rows.csv")" 67 "the profile has as many rows"
number=0
while IFS= read -r wanted <&3 && IFS= read -r got <&4; do
    number=$((number + 1))
    is "$got" "$wanted,atlas-a3" "row $number: ${wanted%%,[yn]*}"
done 3<"$SHIM_TMP/page.csv" 4<"$SHIM_TMP/rows.csv"

is "$("$SHIM_BUILD/hccl_info" matrix --format csv | sed 1d | grep ',atlas-a3$')" "$(cat "$SHIM_TMP/rows.csv")" \
    "the host profile, the default, has them all"
like "$("$SHIM_BUILD/hccl_info" matrix --format csv)" "aiv,Barrier,op,no,na,no,yes,yes,no,host" "and marks its own rows"
done_testing
