#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Knobs: defaults, good and bad values, unknown names.
. "$(dirname "$0")/lib.sh"
"$SHIM_BUILD/t/check_config"
