#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Which algorithm is chosen, and what is refused.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_expansion_choose"
