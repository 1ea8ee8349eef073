#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ops that MPI does not define on a type have no kernel.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_reduce" undefined
