#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots a bpftrig binary as /init in QEMU and gives back what it prints and its exit status (125: it did not come to an end).
# usage: vm.sh ARCH BINARY KERNEL [ARGUMENT...]
#   ARCH    x86_64, arm64, riscv64, s390x or arm (of 32 bits)
#   KERNEL  the path of a kernel image, or the name of a Debian kernel in kernels.sh (x86_64-new, say)
# Variables: EXACT=1 makes time a count of instructions (one CPU); SMP=1, MEM=512M, SECONDS_MAX=300; APPEND= more for the kernel's
# command line; MAKER=./bpftrig makes the archive, a binary that runs on this machine.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 3 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed -n '2,8p' >&2; exit 2; }
machine=$1 binary=$2 kernel=$3
shift 3
words=
for word; do # within quotes where it has blanks: bpftrig takes them off
	case $word in *' '*) word="'$word'" ;; esac
	words="$words $word"
done

case $machine in # as uname -m says it
aarch64) machine=arm64 ;;
armv7l) machine=arm ;;
esac
case $kernel in
*/*) [ -e "$kernel" ] || { echo "vm.sh: $kernel: no such file" >&2; exit 2; } ;;
esac
if [ ! -e "$kernel" ]; then
	# shellcheck source=tests/kernels.sh
	. "$here/kernels.sh"
	kernel=$(kernel_fetch "$kernel") || { echo "vm.sh: the names are:$(awk '/^[a-z].*linux-image/ { printf " %s", $1 }' <<<"$KERNEL_TABLE")" >&2; exit 2; }
fi

# One CPU by default: with two, TCG runs into the kernel's patching of its own code now and then (two of 27 boots of 6.12 never came to
# /init). With two, never cmpxchg16b, which QEMU 7.2 tears: 6.12 oopses in two boots of five.
smp=${SMP:-1} exact=() firmware_end=
# The seed is of what the guest's rdrand gives: the kernel's hash tables, and with them the -all rows, came out otherwise in each boot.
[ -z "${EXACT:-}" ] || { smp=1; exact=(-icount 'shift=0,sleep=off' -seed 1 -rtc 'base=2026-01-01,clock=vm'); }
case $machine in
x86_64) qemu=(qemu-system-x86_64 -cpu "max$([ "$smp" = 1 ] || echo ,cx16=off)") console=ttyS0 ;;
arm64) qemu=(qemu-system-aarch64 -M virt -cpu cortex-a72) console=ttyAMA0 ;;
riscv64) qemu=(qemu-system-riscv64 -M virt) console=ttyS0 firmware_end='^Boot HART MEDELEG' ;; # it speaks on the console
s390x) qemu=(qemu-system-s390x -cpu max) console=ttysclp0 ;;
arm) qemu=(qemu-system-arm -M virt) console=ttyAMA0 ;;
*) echo "vm.sh: $machine: not x86_64, arm64, riscv64, s390x or arm" >&2; exit 2 ;;
esac
command -v "${qemu[0]}" >/dev/null || { echo "vm.sh: ${qemu[0]} is not installed" >&2; exit 127; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"${MAKER:-$here/../bpftrig}" initramfs --init "$binary" "$tmp/initramfs"
timeout "${SECONDS_MAX:-300}" "${qemu[@]}" "${exact[@]}" -m "${MEM:-512M}" -smp "$smp" -no-reboot \
	-display none -monitor none -serial stdio \
	-kernel "$kernel" -initrd "$tmp/initramfs" -append "console=$console quiet panic=-1 ${APPEND:-} --$words" </dev/null >"$tmp/out" 2>&1 || :

# The kernel's own lines start with a time; the firmware's are on the display that nobody sees.
tr -d '\r' <"$tmp/out" | sed "${firmware_end:+1,/$firmware_end/d}" | grep -vE '^\[ *[0-9]+\.[0-9]+\] ' >"$tmp/clean" || :
status=$(sed -n 's/^bpftrig: exit \([0-9]*\)$/\1/p' "$tmp/clean" | tail -n 1)
sed '/^bpftrig: exit /d' "$tmp/clean"
if [ -z "$status" ]; then
	echo "vm.sh: bpftrig did not come to its end, after $SECONDS s (the limit is SECONDS_MAX=${SECONDS_MAX:-300}); is it the kernel of $machine?" >&2
	exit 125
fi
exit "$status"
