#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The host profile promises a reduction exactly when there is a kernel for it.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_limits"
