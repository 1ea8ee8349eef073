#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Any two operators, one after the other on the same windows, keep out of each other's way.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_expansion" succession
