#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Places tell a node from a superpod, and how many cpus ranks have together.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_topo" span
