#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The configuration file: its grammar, its mistakes, and that the environment is stronger.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_config_file" "$SHIM_TMP"
