#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The bits of a reduction do not depend on how the vector is cut.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_reduce" pieces
