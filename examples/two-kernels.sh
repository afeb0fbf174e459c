#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Is a trigger longer on the one kernel or on the other? No root, no quiet machine: both boot in QEMU in exact mode, where time is a count of
# instructions and two boots agree to four digits.
# usage: two-kernels.sh OLD NEW [ROW...]
# A kernel is an image (a path with a slash) or a name in tests/kernels.sh: two-kernels.sh x86_64-6.1 x86_64-new fentry kprobe
# Saves old.txt and new.txt here, for more to be added, and prints their difference. With more for the kernel's command line in
# OLD_APPEND or NEW_APPEND, and ARCH=arm64 BPFTRIG=build/arm64/bpftrig MAKER=./bpftrig for the kernels of another machine.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
bpftrig=${BPFTRIG:-$here/../bpftrig}
[ $# -ge 2 ] || { sed -n 's/^# usage: //p' "$0" >&2; exit 2; }
old=$1 new=$2
shift 2
[ $# -gt 0 ] || set -- syscall-count fentry kprobe rawtp

# saved FILE KERNEL APPEND ROW...
saved() {
	file=$1 kernel=$2 append=$3
	shift 3
	echo "booting $kernel${append:+ with $append}" >&2
	EXACT=1 APPEND=$append SECONDS_MAX=${SECONDS_MAX:-900} "$here/../tests/vm.sh" "${ARCH:-$(uname -m)}" "$bpftrig" "$kernel" \
		-q -d 0.5 -w 0.2 --format gobench "$@" >"$file"
}

# At the same time, which makes no difference to a count of instructions. Exit status 4: the kernel has none of these rows.
saved old.txt "$old" "${OLD_APPEND:-}" "$@" &
old_status=0 new_status=0
saved new.txt "$new" "${NEW_APPEND:-}" "$@" || new_status=$?
wait $! || old_status=$?
for status in $old_status $new_status; do
	[ "$status" = 0 ] || [ "$status" = 4 ] || { cat old.txt new.txt >&2; exit "$status"; }
done
"${MAKER:-$bpftrig}" diff old.txt new.txt
