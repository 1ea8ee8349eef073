#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every algorithm, proven for few ranks: data flow, order of accesses, balance, closure.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_expansion" quick
