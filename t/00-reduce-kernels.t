#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every reduction kernel gives the reference's bits, whatever the size, alignment and aliasing.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_reduce" kernels
