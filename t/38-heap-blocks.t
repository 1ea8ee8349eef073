#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Blocks of the shared heap: sizes, reuse, memory that goes back, threads.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_heap"
