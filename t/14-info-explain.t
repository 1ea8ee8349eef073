#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# hccl_info explain: verdict and reasons, sizes, and the environment as the shim sees it.
. "$(dirname "$0")/lib.sh"
info=$SHIM_BUILD/hccl_info

# verdict ARGS...: "backend reason | aiv's reason | aicpu's reason" (the taken one has none).
verdict() {
    "$info" explain --format json "$@" | python3 -c '
import json, sys
answer = json.load(sys.stdin)
passed = {p["backend"]: p["reason"] for p in answer["passed"]}
print(answer["backend"], answer["reason"], "|", passed.get("aiv", "-"), "|", passed.get("aicpu", "-"))'
}
is "$(verdict --operator AllReduce --type fp64 --op sum --bytes 1M --ranks 8 --span node)" "aicpu chosen | too_large | -" "a large AllReduce"
is "$(verdict --operator AllReduce --type fp64 --op sum --bytes 8 --ranks 8 --span node)" "aiv chosen | - | too_small" "a small one"
is "$(verdict --operator allreduce --profile atlas-a3 --type fp64)" "mpi no_backend | type | type" "a type the vendor has not"
is "$(verdict --operator AllReduce --profile atlas-a3 --op prod)" "mpi no_backend | redop | redop" "an op the vendor has not"
is "$(verdict --operator AllReduce --retry)" "aicpu chosen_only | no_reexecution | -" "re-execution"
is "$(verdict --operator AllReduce --zero-copy)" "aicpu chosen_only | no_zero_copy | -" "zero copy"
is "$(verdict --operator ReduceScatterV --deterministic --profile atlas-a3)" "aicpu chosen_only | not_deterministic | -" "determinism"
is "$(verdict --operator Broadcast --span inter_superpod)" "aicpu chosen_only | level | -" "a level"
is "$(verdict --operator Scatter --mode ir --profile atlas-a3)" "mpi no_backend | not_listed | not_listed" "a mode without a row"
is "$(verdict --operator Scatter --mode ir)" "aiv chosen | - | too_small" "which the host has"

is "$(verdict --operator Reduce --bytes 128K)" "$(verdict --operator Reduce --bytes 131072)" "K is 1024"
limit=$("$info" explain --operator Reduce | sed -n 's/^sizes: *aiv up to \([0-9]*\) bytes.*/\1/p')
is "$(verdict --operator Reduce --bytes "$limit")" "aiv chosen | - | too_small" "the limit"
is "$(verdict --operator Reduce --bytes $((limit + 1)))" "aicpu chosen | too_large | -" "one byte more"
is "$(verdict --operator AlltoAllV --bytes 10G)" "aiv chosen | - | too_small" "a size that no decision may use is not used"
like "$("$info" explain --operator Reduce)" "sizes:    aiv up to [0-9]+ bytes, aicpu above" "the text tells the sizes"
like "$("$info" explain --operator Reduce --bytes 1G)" \
    "verdict:  aicpu - .*passed:   aiv - larger than .*\[too_large\]" "the text has the same reasons"

is "$(MPI_SHIM_BACKEND=aicpu verdict --operator Reduce)" "aicpu forced | switched_off | -" "MPI_SHIM_BACKEND"
is "$(HCCL_OP_EXPANSION_MODE=AI_CPU verdict --operator Reduce)" "aicpu forced | switched_off | -" "HCCL_OP_EXPANSION_MODE"
is "$(MPI_SHIM_PROFILE=atlas-a3 verdict --operator Barrier)" "mpi no_backend | not_listed | not_listed" "MPI_SHIM_PROFILE"
is "$(MPI_SHIM_PROFILE=atlas-a3 verdict --operator Barrier --profile host)" "aiv chosen | - | too_small" "--profile is stronger"
is "$(HCCL_DETERMINISTIC=true verdict --operator ReduceScatterV --profile atlas-a3)" "aicpu chosen_only | not_deterministic | -" "HCCL_DETERMINISTIC"
is "$(HCCL_OP_RETRY_ENABLE=L1:1 verdict --operator Reduce --span superpod)" "aicpu chosen_only | no_reexecution | -" "HCCL_OP_RETRY_ENABLE within the span"
is "$(HCCL_OP_RETRY_ENABLE=L1:1 verdict --operator Reduce --span node)" "aiv chosen | - | too_small" "HCCL_OP_RETRY_ENABLE above the span"
is "$(MPI_SHIM_AIV_LIMIT=Reduce:4K verdict --operator Reduce --bytes 4097)" "aicpu chosen | too_large | -" "MPI_SHIM_AIV_LIMIT"
is "$(MPI_SHIM_AIV_LIMIT=Reduce:4K verdict --operator Reduce --bytes 4K)" "aiv chosen | - | too_small" "MPI_SHIM_AIV_LIMIT, up to it"
like "$(MPI_SHIM_AIV_LIMIT=Reduce:4K "$info" explain --operator Reduce)" "sizes:    aiv up to 4096 bytes, aicpu above" "its size is told"
is "$(MPI_SHIM_DISABLE=1 verdict --operator Reduce)" "mpi inactive | inactive | inactive" "MPI_SHIM_DISABLE"

message=$(HCCL_BUFFSIZE=much "$info" explain --operator Reduce 2>&1 >/dev/null)
is "$? $(wc -l <<<"$message")" "0 1" "a bad value gets one line and no more"
HCCL_BUFFSIZE=much MPI_SHIM_STRICT=1 "$info" explain --operator Reduce >/dev/null 2>&1
is "$?" 1 "unless MPI_SHIM_STRICT is set"
done_testing
