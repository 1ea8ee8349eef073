#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A process bound by itself counts the cpus it is bound to.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_topo" affinity
