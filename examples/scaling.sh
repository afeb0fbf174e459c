#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How does a trigger scale over CPUs? A line for each number of producers, doubled up to all CPUs.
# usage (as root): scaling.sh [ROW [CPUS [OPTION...]]]		scaling.sh rawtp 8 -d 1
# Speed-up is the rate against that of one producer; efficiency, what is left of a producer's own. Both fall where the triggers share
# something: a lock, a cache line, or a core between two hyperthreads (--prod-affinity picks the CPUs).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
bpftrig=${BPFTRIG:-$here/../bpftrig}
row=${1:-rawtp} cpus=${2:-$(nproc)}
[ $# -lt 2 ] || shift
[ $# = 0 ] || shift

list=1 n=2
while [ "$n" -lt "$cpus" ]; do
	list=$list,$n n=$((n * 2))
done
[ "$cpus" = 1 ] || list=$list,$cpus

# Columns are found by their names, which stand in the first line.
"$bpftrig" -q --format csv -p "$list" "$@" "$row" | awk -F, '
	/^#/ { next }
	!header { for (i = 1; i <= NF; i++) column[$i] = i; header = 1; next }
	{
		n = $column["producers"]; rate = $column["rate"]
	}
	!rate { print; next }
	!single { single = rate; printf "%10s %12s %10s %10s\n", "producers", "M/s", "speed-up", "efficiency" }
	{ printf "%10d %12.3f %10.2f %9.0f%%\n", n, rate, rate / single, 100 * rate / single / n }
	END { exit !single }'
