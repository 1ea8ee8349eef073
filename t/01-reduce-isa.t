#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The widest instruction set that runs here is chosen.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_isa"
