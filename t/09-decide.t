#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The decision which backend serves a call, on every row of the built-in profiles.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_decide"
