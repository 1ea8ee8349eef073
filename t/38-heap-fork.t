#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The shared heap in forked children, and frees of what is no block.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_heap_fork"
