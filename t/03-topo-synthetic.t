#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Machines that are only described have the places they should.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_topo" synthetic
