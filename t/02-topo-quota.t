#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Cgroup limits, of both versions and at every level, bound the cpus.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_topo" quota "$SHIM_TMP"
