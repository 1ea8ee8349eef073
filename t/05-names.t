#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every word of the core has a name of its own that reads back.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_names"
