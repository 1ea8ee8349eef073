#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The expansion checker finds every damage done to sound lists.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_expansion_mutants"
