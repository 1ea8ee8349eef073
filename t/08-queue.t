#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fibers and queues of tasks, with either way of switching stacks.
. "$(dirname "$0")/lib.sh"

for program in check_queue check_queue_ucontext; do
    timeout -k 5 60 "$SHIM_BUILD/t/$program" >"$SHIM_TMP/out" 2>&1
    ok $? "$program"
    sed 's/^/#   /' "$SHIM_TMP/out"
done
done_testing
