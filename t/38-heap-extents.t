#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The page allocator of the shared heap against a model: random sequences, and all short ones on a tiny region.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_extents"
