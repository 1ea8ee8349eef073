#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The kernel's files tell which cache, NUMA node and package a set of cpus lies in.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_topo" sysfs "$SHIM_TMP"
