#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzzing of all that bpftrig reads and did not write: tests/fuzz.c, which has the targets, under the address and the undefined
# behaviour sanitizers.
#
# usage: tests/fuzz.sh seeds			what the others start from: real objects, texts of this machine, command lines of the README
#        tests/fuzz.sh plain COMPILER		every seed, and some of them with each byte changed and cut off there; no libFuzzer needed
#        tests/fuzz.sh short [TARGET...]	libFuzzer, for a few seconds of each target, always the same runs
#        tests/fuzz.sh long [TARGET...]		libFuzzer, RUNS=10000000 of each; what reaches something new is kept for the next time
#        tests/fuzz.sh coverage			the part of the lines of bpftrig.c, section by section, that all of this reaches
#
# All is made in FUZZ=build/fuzz. Nothing of it is in git: the seeds can be made anew anywhere, and say more of a new compiler or kernel.
# BUILT=. is where make put bpftrig and bpf_progs.h. Exit status 1: something was found, and FUZZ/found has the input that shows it.
set -eu
shopt -s nullglob
export LC_ALL=C ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:quarantine_size_mb=8:malloc_context_size=4}

cd "$(dirname "$0")/.."
dir=${FUZZ:-build/fuzz}
built=${BUILT:-.}
clang=${CLANG:-clang}
targets='object btf binary saved kallsyms words numbers gunzip notes facts records'
sanitizers=(-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all)

# build COMPILER DIRECTORY FLAG...: one program by the names of all targets
build() {
	local compiler=$1 to=$2 target
	shift 2
	mkdir -p "$to"
	"$compiler" -g -Wall -Wextra -Wno-unused-function "$@" -I"$built" tests/fuzz.c -o "$to/all" -pthread -lm
	for target in $targets; do
		ln -sf all "$to/$target"
	done
}

# === Seeds =====================================================================================================================
# A file in $dir/seeds/TARGET each; those in $dir/damage/TARGET are small, and tried with each byte changed.

# seed TARGET NAME: standard input is one
seed() { cat >"$dir/seeds/$1/$2"; }

# seed_lines TARGET NAME: each line of standard input is one
seed_lines() {
	local line n=0

	while IFS= read -r line; do
		n=$((n + 1))
		printf '%s' "$line" >"$dir/seeds/$1/$2-$n"
	done
}

damage() { cp "$dir/seeds/$1/$2" "$dir/damage/$1"; }

# le BYTES NUMBER...: numbers in little-endian order
le() {
	local bytes=$1 number i
	shift
	for number; do
		for ((i = 0; i < bytes; i++)); do
			# shellcheck disable=SC2059
			printf "\\x$(printf %02x $((number >> 8 * i & 255)))"
		done
	done
}

# object COMPILER SOURCE NAME OPTION...: what this compiler cannot make is no seed
object() {
	local cc=$1 source=$2 name=$3
	shift 3
	"$cc" -target bpfel -mcpu=v3 -O2 "$@" -c "$source" -o "$dir/seeds/object/$name" 2>/dev/null || rm -f "$dir/seeds/object/$name"
}

seed_object() {
	local cc source name cpu

	for cc in "$clang" clang-1{4..9} clang-2{0..3}; do
		command -v "$cc" >/dev/null || continue
		for source in bpf_progs.c tests/*.bpf.c; do
			name=$(basename "$source" .c)-$(basename "$cc")
			object "$cc" "$source" "$name"
			case $source in bpf_progs.c | *globals* | *subprograms* | *map*) ;; *) continue ;; esac
			object "$cc" "$source" "$name-g" -g
			object "$cc" "$source" "$name-be" -target bpfeb
			object "$cc" "$source" "$name-O1" -O1
			for cpu in 1 2 4; do
				object "$cc" "$source" "$name-v$cpu" "-mcpu=v$cpu"
			done
		done
	done
	for name in globals subprograms no_kfunc; do
		damage object "$name.bpf-$(basename "$clang")"
	done
	printf 'text' | seed object text
	: | seed object empty
}

# The BTF of our objects, the beginning of the kernel's, and such as a kernel to come may have: with a kind 20, and a layout that says
# how long that is.
seed_btf() {
	local kernel=/sys/kernel/btf/vmlinux types=3000 strings=3000 file

	for file in "$dir"/seeds/object/*-g; do
		llvm-objcopy --dump-section ".BTF=$dir/seeds/btf/${file##*/}" "$file" /dev/null 2>/dev/null || :
	done
	[ ! -r $kernel ] || {
		le 2 0xeb9f
		le 1 1 0
		le 4 24 0 $types $types $strings
		tail -c +25 $kernel | head -c $types
		tail -c "$(od -An -tu4 -j20 -N4 $kernel | tr -d ' ')" $kernel | head -c $((strings - 1))
		le 1 0
	} | seed btf kernel
	{
		le 2 0xeb9f
		le 1 1 0
		le 4 32 0 72 156 38 72 84
		le 4 22 $((1 << 24)) 4 32
		le 4 0 $((20 << 24 | 2)) 0 0 0 0 0 0
		le 4 1 $((12 << 24)) 1
		le 4 26 $((8 << 24)) 1
		head -c 80 /dev/zero
		le 1 4 8 0 0
		printf '\0bpf_get_numa_node_id\0int\0btf_trace_x\0'
	} | seed btf layout
	damage btf layout
	printf '0 T bpf_get_numa_node_id.isra.0\n0 T bpf_get_numa_node_id\t[x]\n' | seed btf symbols
	: | seed btf absent
	le 1 0xfe | seed btf forbidden
	le 1 0xff | seed btf broken
}

# A program and a library as linkers make them: with names and without, with versions, a probe, and its counter.
seed_binary() {
	local symbols

	cat >"$dir/binary.s" <<-'END'
		.text
		.globl main, _start
		.type main, %function
		.type _start, %function
		.type local, %function
		_start: .byte 0x90
		main: .fill 32, 1, 0x90
		.size main, . - main
		local: .fill 16, 1, 0x90
		.size local, . - local
		.section .note.stapsdt, "", %note
		.balign 4
		.4byte 8, 2f - 1f, 3
		.asciz "stapsdt"
		1: .8byte main, _.stapsdt.base, counter
		.asciz "bpftrig"
		.asciz "usdt_nop"
		.asciz ""
		2: .balign 4
		.section .stapsdt.base, "aG", %progbits, .stapsdt.base, comdat
		_.stapsdt.base: .byte 0
		.section .probes, "aw", %progbits
		counter: .2byte 0
		.2byte 0
	END
	printf 'V1 { main; };\nV2 { _start; } V1;\n' >"$dir/binary.map"
	for symbols in "" -s; do
		"$clang" -nostdlib -static -Wl,-z,noseparate-code,--build-id=none $symbols "$dir/binary.s" -o "$dir/seeds/binary/program$symbols"
		"$clang" -nostdlib -shared -Wl,-z,noseparate-code,-z,norelro,--build-id=none,--version-script="$dir/binary.map" $symbols "$dir/binary.s" \
			-o "$dir/seeds/binary/library$symbols"
	done
	for symbols in "$dir"/seeds/binary/*; do # each is asked for another target by its length
		seed_lengths "$symbols" 11
	done
	printf '#!/bin/sh\n' | seed binary script
	printf 'ffffffff81000000 T main\nffffffff81000010 t __traceiter_main\nffffffff81000020 T next\n' | seed binary kallsyms
	printf 'sched:main\nsched:sched_switch\n' | seed binary events
	seed_lengths "$dir/seeds/binary/kallsyms" 11
	seed_lengths "$dir/seeds/binary/events" 11
	damage binary program
	damage binary library
	damage binary kallsyms
}

# seed_lengths FILE N: the same with one to N zeros behind it
seed_lengths() {
	local n

	for ((n = 1; n <= $2; n++)); do
		{ cat "$1"; head -c $n /dev/zero; } >"$1+$n"
	done
}

# What --save writes; what Go's own benchmarks print, and a second side.
seed_saved() {
	# In a network of its own, it does not wait for another run.
	timeout 20 unshare -rn "$built/bpftrig" -q -d 0.05 -w 0 --save "$dir/saved" usermode-count syscall-count >/dev/null 2>&1 || :
	if [ -s "$dir/saved" ]; then
		seed saved own <"$dir/saved"
		{ cat "$dir/saved"; printf '\v'; sed 's/ ns\/op/1&/; s/^cpu:.*/cpu: other/' "$dir/saved"; } | seed saved two
	fi
	cat <<-'END' | seed saved go
		goos: linux
		pkg: bpftrig
		cpu: a CPU
		kernel: 5.10
		Benchmarkrawtp/batch=100	1000000	11.5 ns/op	1e3 B/op
		Benchmarkrawtp/batch=100	1000000	11.75 ns/op
		kernel: 6.12

		Benchmarkrawtp/batch=100	1000000	-1.25e-3 ns/op
		BenchmarkName
		# remark
		PASS
		ok  	bpftrig	1.2s
	END
	damage saved go
}

seed_kallsyms() {
	cat <<-'END' | seed kallsyms small
		ffffffff81000000 T _stext
		ffffffff81000010 t bpf_get_numa_node_id
		ffffffff81000010 t bpf_get_numa_node_id.isra.0
		ffffffff81000018 d data
		ffffffffc0000000 t bpf_prog_0123456789abcdef_count	[bpf]
		ffffffffc0001000 t bpf_trampoline_1	[bpf]
		0000000000000000 T zero
		short
	END
	damage kallsyms small
	if [ -r /proc/kallsyms ]; then
		head -n 40 /proc/kallsyms | seed kallsyms first
		grep '\[' /proc/kallsyms | head -n 40 | seed kallsyms modules
		grep -i ' bpf_get_numa' /proc/kallsyms | head -n 40 | seed kallsyms wanted
	fi
}

# Command lines: of the README, of the tests of misuse, each option alone.
seed_words() {
	sed -nE 's/^(\$ |\t)?(sudo )?(\.\/)?bpftrig ([^#|>]*).*/\4/p' README.md | seed_lines words readme
	sed -n "/^misuses() {/,/^	END/s/^	*\(.*\) | .*/\1/p" test.sh | seed_lines words misuse
	"$built/bpftrig" --help | sed -nE 's/^  (-.,|   ) (--[a-z-]+).*/\2 1/p' | seed_lines words option
	"$built/bpftrig" --help | sed -nE 's/^  (-.), .*/\11/p' | seed_lines words letter
	printf '%s\n' 'console=ttyS0 quiet -- -d 1 "rawtp" '"'k*'" "bench -p 2 --prod-affinity 0-1 trig-fentry" "compare 'rawtp -p2' rawtp" |
		seed_lines words init
}

seed_numbers() {
	printf '%s\n' 0 18446744073709551615 1,8,64 0,2-5 0-8191 1.25 .5 1e3 -2.5e-3 'a12' 'k*-multi?' trig-fentry-batch fentri 01234567 | seed_lines numbers n
}

# Each way of packing that gzip has: no code at all of its own, short codes, long ones, a name before them.
seed_gunzip() {
	local level

	printf 'CONFIG_BPF=y\n' | gzip -n | seed gunzip fixed
	for level in 1 6 9; do
		head -c 3000 README.md | gzip -n -$level | seed gunzip level-$level
		seq 1 500 | gzip -n -$level | seed gunzip numbers-$level
	done
	gzip -c Makefile | seed gunzip named
	head -c 4000 /dev/zero | gzip -n | seed gunzip long
	head -c 300 README.md | gzip -n | seed gunzip small
	damage gunzip fixed
	damage gunzip small
}

# Notes as they are in the program's own file, alone and in a file.
seed_notes() {
	cat >"$dir/notes.s" <<-'END'
		.section .note.stapsdt, "", %note
		.balign 4
		.4byte 8, 2f - 1f, 3
		.asciz "stapsdt"
		1: .8byte 0x401000, 0, 0
		.asciz "bpftrig"
		.asciz "usdt_nop5"
		.asciz ""
		2: .balign 4
		.4byte 8, 4f - 3f, 3
		.asciz "stapsdt"
		3: .8byte 0x401010, 0, 0
		.asciz "bpftrig"
		.asciz "usdt_nop"
		.asciz ""
		4: .balign 4
	END
	"$clang" -c "$dir/notes.s" -o "$dir/seeds/notes/file"
	llvm-objcopy --dump-section ".note.stapsdt=$dir/seeds/notes/alone" "$dir/seeds/notes/file" /dev/null
	damage notes file
	damage notes alone
}

# Small files of /proc, /sys and tracefs, and a verifier's log.
seed_facts() {
	local file

	for file in /proc/cpuinfo /proc/cmdline /proc/sys/net/core/bpf_jit_enable /sys/devices/system/cpu/vulnerabilities/* \
		/sys/kernel/security/{lsm,lockdown} /sys/kernel/tracing/available_filter_functions /sys/devices/system/cpu/online; do
		[ ! -r "$file" ] || head -c 3000 "$file" 2>/dev/null | seed facts "$(basename "$file")" || :
	done
	printf 'none [integrity] confidentiality\n' | seed facts locked
	printf 'Mitigation: Retpolines, STIBP: disabled; RSB filling\n' | seed facts mitigation
	printf '\nCONFIG_KASAN=y\n# CONFIG_KCSAN is not set\nCONFIG_PROVE_LOCKING=y\n' | seed facts config
	printf '1\n' | seed facts one
	printf 'model name\t: a CPU, of some kind\nuarch\t\t: x\n' | seed facts cpu
	printf 'schedule\nrcu_note\n__ftrace_invalid_address___16\nschedule\nbpf_get_numa_node_id\nother [module]\n' | seed facts functions
	printf '0: R1=ctx() R10=fp0\n0: (b7) r0 = 0\ncalling kernel function x is not allowed\nverification time 12 usec\nprocessed 2 insns\n' | seed facts log
	: | seed facts absent
	damage facts cpu
	damage facts functions
	damage facts log
}

seed_records() {
	{
		le 4 9
		le 2 1 16
		le 8 0xffffffff81000010
		le 4 2
		le 2 0 24
		le 8 1 2
		le 4 9
		le 2 2 16
		le 8 0x401000
	} | seed records three
	printf '\x65\x4c\x03\x0c\x25\0\0\0\0' | seed records private
	damage records three
}

make_seeds() {
	local target

	for target in $targets; do
		mkdir -p "$dir/seeds/$target" "$dir/damage/$target"
		"seed_$target"
	done
}

# === Running ===================================================================================================================

run_plain() {
	local target

	build "$1" "$dir/plain-$1" -O1 "${sanitizers[@]}"
	for target in $targets; do
		"$dir/plain-$1/$target" "$dir/seeds/$target"/* -d "$dir/damage/$target"/* 2>"$dir/err" || { tail -n 40 "$dir/err"; exit 1; }
	done
}

# What writes text is not what reads it; left out of what libFuzzer counts, it does not slow that down.
build_fuzzer() {
	printf 'fun:%s\n' 'sink_*' decimal digits_before edit_distance 'near*' touch >"$dir/uncounted"
	build "$clang" "$dir/fuzzer" -O2 -fsanitize=fuzzer "${sanitizers[@]}" -DLIBFUZZER "-fsanitize-coverage-ignorelist=$dir/uncounted"
}

# Objects are larger than lines; short inputs run so many times faster.
longest() {
	case $1 in
	object | binary) echo 3072 ;;
	btf | saved | notes | records) echo 1024 ;;
	*) echo 256 ;;
	esac
}

# fuzz TARGET RUNS CORPUS... [OPTION...]
fuzz() {
	local target=$1 runs=$2
	shift 2
	mkdir -p "$dir/found" "$dir/corpus/$target"
	"$dir/fuzzer/$target" -runs="$runs" -max_len="$(longest "$target")" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$dir/found/$target-" "$@" >"$dir/$target.log" 2>&1 || { tail -n 60 "$dir/$target.log"; return 1; }
	sed -n 's/^Done /'"$target"': /p' "$dir/$target.log"
}

run_short() {
	local target

	for target; do
		fuzz "$target" 10000 -seed=1 "$dir/seeds/$target"
	done
}

# The corpus is made small again before and after.
run_long() {
	local target

	for target; do
		mkdir -p "$dir/corpus/$target" "$dir/merged/$target"
		fuzz "$target" "${RUNS:-10000000}" "$dir/corpus/$target" "$dir/seeds/$target"
		"$dir/fuzzer/$target" -merge=1 -max_len=4096 "$dir/merged/$target" "$dir/corpus/$target" "$dir/seeds/$target" >/dev/null 2>&1
		rm -rf "${dir:?}/corpus/$target"
		mv "$dir/merged/$target" "$dir/corpus/$target"
	done
}

# === Coverage ==================================================================================================================

# Counts of lines as NUMBER COUNT, into SECTION REACHED ALL PERCENT; what is linked is a part of Object.
by_section() {
	awk '
		FILENAME == "bpftrig.c" && /^\/\* === / { name = $0; gsub(/^\/\* === | =*( \*\/)?$/, "", name); n++ }
		FILENAME == "bpftrig.c" && /^\/\* --- linking/ { name = "Object: linking"; n++ }
		FILENAME == "bpftrig.c" && /^\/\* --- maps and loading/ { name = "Object: loading"; n++ }
		FILENAME == "bpftrig.c" { section[FNR] = n; names[n] = name; next }
		{ all[section[$1]]++; reached[section[$1]] += $2 > 0 }
		END { for (i = 1; i <= n; i++) if (all[i]) printf "%-28s %5d of %5d lines  %5.1f %%\n", names[i], reached[i], all[i], 100 * reached[i] / all[i] }
	' bpftrig.c -
}

run_coverage() {
	local target
	local to=$dir/coverage

	rm -rf "$to"
	build "$clang" "$to" -O0 -fprofile-instr-generate -fcoverage-mapping
	for target in $targets; do
		mkdir -p "$dir/corpus/$target"
		find "$dir/seeds/$target" "$dir/corpus/$target" -type f -print0 |
			LLVM_PROFILE_FILE="$to/$target-%p.profraw" xargs -0 "$to/$target" >/dev/null
		LLVM_PROFILE_FILE="$to/$target-damage.profraw" "$to/$target" -d "$dir/damage/$target"/* >/dev/null
	done
	llvm-profdata merge "$to"/*.profraw -o "$to/all.profdata"
	llvm-cov export -format=lcov -instr-profile="$to/all.profdata" "$to/all" bpftrig.c |
		sed -nE 's/^DA:([0-9]+),([0-9]+).*/\1 \2/p' >"$to/lines"
	by_section <"$to/lines"
}

# === main ======================================================================================================================

command=${1:-}
[ $# = 0 ] || shift
case $command in
seeds) make_seeds ;;
plain) run_plain "$1" ;;
short | long)
	[ $# -gt 0 ] || eval "set -- $targets"
	[ -d "$dir/seeds" ] || make_seeds
	[ -x "$dir/fuzzer/all" ] || build_fuzzer
	"run_$command" "$@"
	;;
coverage) run_coverage ;;
*)
	sed -n '/^# usage/,/^# All/s/^# \?//p' "$0" | sed '$d'
	exit 2
	;;
esac
