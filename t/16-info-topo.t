#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# hccl_info topo: the cpus that this process may use, in text and JSON.
. "$(dirname "$0")/lib.sh"
info=$SHIM_BUILD/hccl_info

like "$("$info" topo)" "cpus: .*cgroup quota: .*last-level cache: .*NUMA node: .*package: .*hwloc: +(yes|no)" "all is told"
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
is "$("$info" topo --format json | field cpu_count)" "$(nproc)" "the cpus are counted as nproc does"
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
is "$(taskset -c "$cpu" "$info" topo --format json | field cpus)" "$cpu" "a process bound to one cpu sees that one"
is "$(taskset -c "$cpu" "$info" topo --format json | field usable)" 1 "and may use one"
done_testing
