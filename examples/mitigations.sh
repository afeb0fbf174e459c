#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What do the mitigations of CPU bugs add to a trigger? One kernel, booted with them and with mitigations=off, in exact mode.
# usage: mitigations.sh KERNEL [ROW...]		KERNEL as in two-kernels.sh
# It is the length of the path that is compared: instructions that mitigations add. What they do to caches and predictors (IBRS, retpolines
# that stall) is not in it; for that, boot real hardware twice, with --save each time, and diff the files.
set -eu

[ $# -ge 1 ] || { sed -n 's/^# usage: //p' "$0" >&2; exit 2; }
kernel=$1
shift
NEW_APPEND=mitigations=off exec "$(dirname "$0")/two-kernels.sh" "$kernel" "$kernel" "$@"
