#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A process that taskset binds to one cpu counts one.
. "$(dirname "$0")/lib.sh"
command -v taskset >/dev/null || skip_all "no taskset"
is "$(taskset -c 0 "$SHIM_BUILD/t/check_topo" cpus)" 1 "bound to cpu 0"
done_testing
