#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The log: silent by default, one line per record, a private file.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_log" "$SHIM_TMP/log"
