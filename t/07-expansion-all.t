#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every algorithm, proven for up to 64 ranks, all kinds of sizes and roots.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_expansion" all
