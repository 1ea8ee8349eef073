#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A matrix file is read back as written, and a malformed one is refused with file, line, field and what is allowed.
. "$(dirname "$0")/lib.sh"
info=$SHIM_BUILD/hccl_info
file=$SHIM_TMP/matrix.csv
header=backend,operator,mode,zero_copy,deterministic,reexecution,node,superpod,inter_superpod,origin
good=aiv,AllReduce,op,no,yes,no,yes,yes,no,file

"$info" matrix --profile host --format csv >"$file"
is "$("$info" matrix --profile "$file" --format csv)" "$(cat "$file")" "the host profile written and read again is the same"

printf '\xef\xbb\xbf%s\r\n# a comment\r\n\r\n  AIV , allreduce,OP,no,yes,no,yes,yes,no,file\r\n' "$header" >"$file"
is "$("$info" matrix --profile "$file" --format csv | sed 1d)" "$good" "blanks, comments, case and Windows line ends are accepted"
like "$("$info" explain --operator AllReduce --profile "$file" --bytes 1G)" "verdict:  aiv" "its rows decide"
like "$("$info" explain --operator Barrier --profile "$file")" "verdict:  mpi.*aiv - the profile has no row" "and nothing else does"
like "$(MPI_SHIM_PROFILE=$file "$info" explain --operator Barrier)" "profile $file" "MPI_SHIM_PROFILE names it too"

# refused TEXT REGEX CONTENT...: the lines of the file; the message matches.
refused() {
    local text=$1 regex=$2 message status
    shift 2
    printf '%b\n' "$@" >"$file"
    message=$("$info" matrix --profile "$file" --format csv 2>&1 >"$SHIM_TMP/out")
    status=$?
    is "$status $(wc -l <<<"$message") $(wc -c <"$SHIM_TMP/out")" "2 1 0" "$text: refused in one line"
    like "$message" "$regex" "$text: the line says where and what"
}
refused "no header" "matrix.csv:1: header .*allowed: $header" "$good"
refused "a wrong header" "matrix.csv:2: header .*allowed" "# first" "backend,operator"
refused "an empty file" "matrix.csv:1: the file ends without a row" ""
refused "a header alone" "matrix.csv:1: the file ends without a row" "$header"
refused "a wrong backend" 'matrix.csv:2: field 1 "backend": value "mpi" .*allowed: aiv, aicpu' "$header" "${good/aiv/mpi}"
refused "a wrong operator" 'matrix.csv:3: field 2 "operator": value "AllRedcue" .*nearest: AllReduce' "$header" "$good" "${good/AllReduce/AllRedcue}"
refused "a wrong mode" 'matrix.csv:2: field 3 "mode": value "graph" .*allowed: op, ir, capture' "$header" "${good/op/graph}"
n=3
for field in zero_copy deterministic reexecution node superpod inter_superpod; do
    n=$((n + 1))
    row=$(awk -F, -v OFS=, -v n=$n '{ $n = "maybe" } 1' <<<"$good")
    refused "a wrong $field" "matrix.csv:2: field $n \"$field\": value \"maybe\" .*allowed: no, yes, na" "$header" "$row"
done
refused "a wrong origin" 'matrix.csv:2: field 10 "origin": value "a5" .*allowed: atlas-a3, host, file' "$header" "${good/%file/a5}"
refused "an empty field" 'matrix.csv:2: field 4 "zero_copy": value "" ' "$header" "${good/op,no/op,}"
refused "a missing field" 'matrix.csv:2: field 10 "origin" is missing' "$header" "${good%,file}"
refused "a field too many" 'matrix.csv:2: field 11: value "x" is one too many' "$header" "$good,x"
refused "a zero byte" 'matrix.csv:2: a zero byte' "$header" "aiv\\0,AllReduce"

message=$("$info" matrix --profile "$SHIM_TMP/none.csv" 2>&1)
is "$?" 2 "a file that is not there is bad usage"
like "$message" "none.csv: neither a built-in profile \(allowed: atlas-a3, host\) nor a readable file: No such file" "and says so"
message=$("$info" matrix --profile "$SHIM_TMP" 2>&1)
is "$?" 2 "so is a folder"
like "$message" "can't be read: Is a directory" "and says so"
done_testing
