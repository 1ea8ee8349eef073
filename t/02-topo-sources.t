#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# hwloc and the kernel's files agree on this machine.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_topo" sources
