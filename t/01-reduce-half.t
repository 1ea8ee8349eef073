#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# 16-bit floating types convert and round right, on every value.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_half"
