#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every test of bpftrig.
#
# usage: ./test.sh [group...]		groups: build unit fuzz cli rows bench figures why cost ends faults docs examples vm; with none, all of them
#
# Prints `ok - NAME`, `not ok - NAME: REASON` with the output that was judged, or `skip - NAME: REASON` for what cannot run here,
# and last the counts. Exit status 1 if anything failed.
#
# A test is a function that check() runs in a process and an empty directory of its own. There it runs something (run, must) and
# judges what came of it (want...); fail and skip end it. To add one: the function in its group's part, and its line in the group.
#
# No test judges how fast something was, but those of --precision, which have seconds to spare, whether a run ended early. Where one has to
# happen while another goes on, it waits for a sign of that (wait_for).
set -u
export LC_ALL=C

top=$(cd "$(dirname "$0")" && pwd)
all_groups='build unit fuzz cli rows bench figures why cost ends faults docs examples vm'
small_limit=102400 # bytes of the static, stripped binary with musl, the measuring alone
size_limit=163840  # and with all that is done with figures

# shellcheck source=tests/kernels.sh
. "$top/tests/kernels.sh"

# === Harness ===================================================================================================================

passed=0 failed=0 skipped=0
running=

# With job control each test is a process group, which is what has to go when this ends early.
set -m
tmp=$(mktemp -d) || exit 1
chmod 755 "$tmp" # another user runs the binary from here

stop_running() {
	[ -n "$running" ] || return 0
	kill -TERM -- "-$running" 2>/dev/null && sleep 0.2
	kill -KILL -- "-$running" 2>/dev/null
	running=
}
hanging= # processes of the group ends that go on beside its tests

stop_hanging() {
	# shellcheck disable=SC2086
	[ -z "$hanging" ] || kill -KILL $hanging 2>/dev/null
	hanging=
}
trap 'stop_running; stop_hanging; rm -rf "$tmp"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

ok() {
	passed=$((passed + 1))
	printf 'ok - %s\n' "$1"
}

# not_ok NAME REASON [FILE]: the file is what was judged.
not_ok() {
	failed=$((failed + 1))
	printf 'not ok - %s: %s\n' "$1" "$2"
	[ $# -lt 3 ] || tail -n 60 "$3" | cut -c 1-400 | sed 's/^/    | /'
}

skip_test() {
	skipped=$((skipped + 1))
	printf 'skip - %s: %s\n' "$1" "$2"
}

# check NAME FUNCTION [ARGUMENT...]
check() {
	local name=$1 status reason
	shift
	rm -rf "$tmp/here" "$tmp/reason"
	mkdir "$tmp/here"
	(cd "$tmp/here" && "$@") >"$tmp/log" 2>&1 </dev/null &
	running=$!
	wait "$running"
	status=$?
	stop_running
	reason="ended with status $status"
	[ ! -e "$tmp/reason" ] || reason=$(cat "$tmp/reason")
	case $status in
	0) ok "$name" ;;
	77) skip_test "$name" "$reason" ;;
	*) not_ok "$name" "$reason" "$tmp/log" ;;
	esac
}

# --- for use in tests ----------------------------------------------------------------------------------------------------------

fail() {
	printf '%s\n' "$*" >"$tmp/reason"
	exit 1
}

skip() {
	printf '%s\n' "$*" >"$tmp/reason"
	exit 77
}

# Runs a command; what it wrote is in the files out and err, how it ended in $status.
run() {
	"$@" >out 2>err
	status=$?
	show "$*"
}

# For what run cannot: the same account of a command that the test ran itself. Another run on this machine, which ours had to wait
# for, is no matter of the test.
show() {
	[ ! -e err ] || sed -i '/^bpftrig: waiting for another run/d' err
	printf '$ %s\nexit status %d\n' "$1" "$status"
	[ ! -s out ] || sed 's/^/stdout: /' out
	[ ! -s err ] || sed 's/^/stderr: /' err
}

must() {
	run "$@"
	[ "$status" = 0 ] || fail "$1 failed, exit status $status"
}

want_status() {
	[ "$status" = "$1" ] || fail "exit status $status, not $1"
}

# want FILE REGEX [REASON]: a line of the file fits.
want() {
	grep -Eq -e "$2" "$1" || fail "${3:-no line of $1 fits $2}"
}

want_none() {
	! grep -Eq -e "$2" "$1" || fail "${3:-$1 has a line that fits $2}"
}

want_empty() {
	[ ! -s "$1" ] || fail "$1 is not empty"
}

want_lines() {
	[ "$(wc -l <"$1")" = "$2" ] || fail "$1 has $(wc -l <"$1") lines, not $2"
}

want_same() {
	cmp "$1" "$2" || fail "${3:-$1 and $2 differ}"
}

# wait_for COMMAND...: until it succeeds. The time allowed is for a machine that has a lot to do, or another run of bpftrig to wait for.
wait_for() {
	local tries

	for ((tries = 0; tries < 2400; tries++)); do
		"$@" && return
		sleep 0.05
	done
	fail "waited in vain for: $*"
}

has_line() { grep -Eqs -e "$2" "$1"; }

need() {
	local tool

	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

is_root() { [ "$(id -u)" = 0 ]; }

need_root() { is_root || skip 'not root'; }

need_strace() {
	need strace
	strace -o /dev/null true || skip 'strace cannot trace here'
}

# A copy of the sources alone: what .gitignore names is what a build makes.
copy_tree() {
	{ mkdir "$1" && cp -a "$top/." "$1/" && rm -rf "$1/.git"; } || fail 'cannot copy the tree'
	sed "s,^/,$1/," "$top/.gitignore" | xargs -rd '\n' rm -rf
}

files_below() { (cd "$1" && find . ! -type d | sort); }

# --- what is tested ------------------------------------------------------------------------------------------------------------

bin=$tmp/bin/bpftrig
bench=$tmp/bin/bench
clang=${CLANG:-clang}
built=$(cd "$top" && realpath -m "${O:-.}") # make exports the variables that it was given

# What is there is not judged while it is older than its sources. The copy is out of the way of whoever builds meanwhile.
build_first() {
	must make -C "$top" all
	{ mkdir "$tmp/bin" && cp "$built/bpftrig" "$built/bpf_progs.h" "$built/bpf_progs.o" "$tmp/bin/"; } || fail 'cannot copy the binary'
	ln -s bpftrig "$bench"
}

# names_in TABLE: the names in a table of bpftrig.c. Options without a help text are other spellings, and left out.
names_in() {
	sed -n "/ $1\\[\\] = {\$/,/^};/p" "$top/bpftrig.c" |
		sed -nE "/NULL \\},\$/d; s/^\\t\\{ ('.', |0, )?\"([a-z0-9-]+)\",.*/\\2/p"
}

row_names=$(names_in rows)

# The form of a figure, to the byte; and the two numbers in it say the same (for PRODUCERS, or one). Notes may stand behind them. The
# private stack's rows have the form of their script instead of the table's.
# Between them stands what the row costs net, where it has an attached program, and what the machine's counters say.
# is_figure LINE [PRODUCERS]
is_figure() {
	local number='([0-9]+\.[0-9]{3})' net='(, net -?[0-9]+\.[0-9]{2} ± [0-9]+\.[0-9]{2} ns)?'
	local counted='(, [0-9]+\.[0-9] instructions)?(, [0-9]+\.[0-9] cycles)?'
	local rest="  \\(([0-9]+\\.[0-9]{2}) ns/trigger$net$counted(; [^()]+)?\\)\$"
	local form="^([a-z0-9-]+) *: +$number ± +${number}M/s$rest"
	local private="^([a-z0-9-]*private-stack[a-z0-9-]*): +$number ± ${number}M/s \\(drops 0\\.000 ± 0\\.000M/s\\)$rest"

	if [[ $1 =~ $private ]]; then
		[ "$1" = "$(printf '%-20s %.3f ± %.3fM/s (drops 0.000 ± 0.000M/s)  (%s ns/trigger%s%s%s%s)' "${BASH_REMATCH[1]}:" "${BASH_REMATCH[@]:2}")" ]
	elif [[ $1 =~ $form ]]; then
		[ "$1" = "$(printf '%-15s: %8.3f ± %5.3fM/s  (%s ns/trigger%s%s%s%s)' "${BASH_REMATCH[@]:1}")" ]
	else
		false
	fi || return
	awk -v rate="${BASH_REMATCH[2]}" -v ns="${BASH_REMATCH[4]}" -v n="${2:-1}" 'BEGIN {
		exit !(n * 1e3 / (ns + 0.006) - 0.001 <= rate && rate <= n * 1e3 / (ns - 0.006) + 0.001)
	}'
}

# is_skipped LINE: with a reason that names an errno, or what is missing.
is_skipped() {
	[[ $1 =~ ^([a-z0-9-]+)\ *:\ \ skipped:\ (.*)$ ]] || return
	[ "$1" = "$(printf '%-15s:  skipped: %s' "${BASH_REMATCH[@]:1}")" ] || return
	[[ ${BASH_REMATCH[2]} =~ [A-Z][A-Z0-9]+\ \([0-9]+\)|the\ kernel\ (has|shows)\ |there\ is\ no\ |CONFIG_[A-Z]+|\ needs\  ]]
}

# line_of ROW FILE: the row's line.
line_of() { grep -E "^$1 *:" "$2"; }

# want_row FILE ROW WHAT: exactly one line; WHAT is "figure", "either" (a figure or a reason), or words that must be in the reason.
want_row() {
	local line

	line=$(line_of "$2" "$1")
	[ -n "$line" ] || fail "no line for $2"
	[ "$(wc -l <<<"$line")" = 1 ] || fail "more than one line for $2"
	printf '%s\n' "$line"
	case $3 in
	figure) is_figure "$line" || fail "$2 is no figure" ;;
	either) is_figure "$line" || is_skipped "$line" || fail "$2 is neither a figure nor skipped with a reason" ;;
	*)
		is_skipped "$line" || fail "$2 is not skipped with a reason"
		[[ $line == *"$3"* ]] || fail "$2 is not skipped for '$3'"
		;;
	esac
}

# === build: compilers, dependencies, the embedded object, what make leaves =====================================================

group_build() {
	local cc change

	for cc in gcc clang musl-gcc; do
		check "build: no warning from $cc" build_warnings "$cc"
	done
	check 'build: two builds give the same bytes' build_reproducible
	check 'build: nothing is rebuilt without a change' build_idle
	for change in bpf_progs.c gen_embed.sh bpftrig.c Makefile CFLAGS=-O1 LDFLAGS=-Wl,-O1 CLANG; do
		check "build: a change of $change rebuilds what depends on it" build_change "$change"
	done
	check 'build: a compiler that fails leaves nothing half made' build_failure
	check 'build: V=1 shows the commands' build_verbose
	check 'build: make clean removes all that make made' build_clean
	check 'build: make install and uninstall, PREFIX and DESTDIR' build_install
	check 'build: make help names every target' build_help
	check 'build: the binary is static and stripped' build_static
	check 'build: no segment is writable and executable, nor is the stack' build_segments
	check 'build: no frame is of variable size, or larger than two pages' build_frames
	check "build: the binary has at most $size_limit bytes" build_size "$size_limit"
	check "build: with SMALL=1, it has at most $small_limit bytes, and measures" build_size "$small_limit" SMALL=1
	check 'build: SMALL=1 leaves out what it says, and nothing else' build_small
	check 'build: the header holds the bytes of the object' build_embedded "$tmp/bin/bpf_progs.o"
	check 'build: the header of an object with repeated lines (od -v)' build_embedded_repeats
	check 'build: gen_embed.sh refuses what is no ELF' build_embed_refuses
	check 'build: gen_embed.sh with quotes in the compiler version' build_embed_quotes
	check 'build: the BPF programs add without fetching' build_atomics
	check 'build: no header of libbpf' build_headers
	check 'build: scripts pass shellcheck' build_shellcheck
	check 'build: the version stands in bpftrig.c, and all that names it has that one' build_version
	check 'build: each file says its licence, and LICENSE is that' build_licence
	check 'build: make dist: archive and binaries, the same bytes from two clones' build_dist
	check 'build: make dist refuses what is not committed' build_dist_refuses
	check 'build: make deb: what install installs, as a package' build_deb
	check 'build: .ci/run is the test command of the README' build_ci
}

build_warnings() {
	need "$1"
	copy_tree tree
	must make -C tree CC="$1" CFLAGS='-Os -Wall -Wextra'
	want_empty err
	run tree/bpftrig --version
	want_status 0
	run readelf -lW tree/bpftrig
	want_none out INTERP 'linked dynamically'
}

build_reproducible() {
	copy_tree tree
	mkdir -p other/place
	must make -C tree
	must make -C "$top" O="$PWD/other/place"
	want_same tree/bpf_progs.h other/place/bpf_progs.h
	want_same tree/bpftrig other/place/bpftrig
	[ "$(readlink other/place/bench)" = bpftrig ] || fail 'no link bench'
}

build_idle() {
	copy_tree tree
	must make -C tree CFLAGS=-O0
	must make -C tree CFLAGS=-O0
	want_none out 'BPF|EMBED|CC'
	must make -q -C tree CFLAGS=-O0
}

# What a change must rebuild, as make says it: BPF (the object), EMBED (the header), CC (the program).
build_change() {
	local flags=(CFLAGS=-O0) steps

	copy_tree tree
	must make -C tree "${flags[@]}"
	case $1 in
	bpf_progs.c) steps='BPF EMBED CC' ;;
	gen_embed.sh) steps='EMBED CC' ;;
	bpftrig.c) steps='CC' ;;
	Makefile) steps='BPF EMBED CC' ;; # the flags of all three are in it
	CLANG)
		flags+=(CLANG="$(command -v clang)")
		steps='BPF EMBED CC'
		;;
	*)
		flags+=("$1")
		steps='CC'
		;;
	esac
	[ ! -f "tree/$1" ] || touch "tree/$1"
	must make -C tree "${flags[@]}"
	for step in $steps; do
		want out "^  $step	" "$step was not done again"
	done
	must make -q -C tree "${flags[@]}"
}

build_failure() {
	copy_tree tree
	run make -C tree CLANG=false
	[ "$status" != 0 ] || fail 'make succeeded without a BPF compiler'
	run make -C tree CC=false
	[ "$status" != 0 ] || fail 'make succeeded without a C compiler'
	[ ! -e tree/bpftrig ] || fail 'there is a binary'
	must make -C tree CFLAGS=-O0
	must tree/bpftrig --version
}

build_verbose() {
	copy_tree tree
	must make -C tree V=1 CFLAGS=-O0
	want out '^clang .*-target bpf(el|eb) .*bpf_progs\.c'
	want out '^\./gen_embed\.sh .*bpf_progs\.o'
	want out ' bpftrig\.c -o [^ ]*bpftrig '
	rm tree/bpftrig
	must make -C tree CFLAGS=-O0
	want_none out ' -o '
}

build_clean() {
	copy_tree tree
	files_below tree >before
	must make -C tree CFLAGS=-O0
	must make -C tree clean
	files_below tree >after
	want_same before after
	must make -C tree O=out CFLAGS=-O0
	must make -C tree O=out clean
	rmdir tree/out || fail 'something is left in O=out'
	files_below tree >after
	want_same before after
}

# want_installed PREFIX: the three files, nothing else, and each where who looks for it finds it.
want_installed() {
	printf './%s\n' bin/bpftrig share/bash-completion/completions/bpftrig share/man/man1/bpftrig.1 >wanted
	files_below "root$1" >installed
	want_same wanted installed
	must "root$1/bin/bpftrig" --version
	want_same "root$1/share/man/man1/bpftrig.1" "$top/bpftrig.1"
	want_same "root$1/share/bash-completion/completions/bpftrig" "$top/bpftrig.bash"
}

build_install() {
	copy_tree tree
	must make -C tree CFLAGS=-O0 DESTDIR="$PWD/root" install
	want_installed /usr/local
	must make -C tree CFLAGS=-O0 DESTDIR="$PWD/root" uninstall
	must make -C tree CFLAGS=-O0 DESTDIR="$PWD/root" PREFIX=/opt install
	want_installed /opt
	must make -C tree CFLAGS=-O0 DESTDIR="$PWD/root" PREFIX=/opt uninstall
	[ -z "$(files_below root)" ] || fail "left: $(files_below root)"
}

build_help() {
	local target

	must make -C "$top" help
	want out '^make  +[^ ]'
	sed -n 's/^\.PHONY://p' "$top/Makefile" | tr -s ' ' '\n' >targets
	while read -r target; do
		case $target in '' | all | help) continue ;; esac # all is `make` alone
		want out "make $target( |;|\$)"
	done <targets
}

build_static() {
	need file readelf
	must file "$bin"
	want out 'statically linked|static-pie linked'
	want out ', stripped'
	must readelf -lSW "$bin"
	want_none out 'INTERP|\.symtab|\.debug'
}

build_segments() {
	need readelf
	must readelf -lW "$bin"
	want out '^ +LOAD .* R E '
	want out '^ +GNU_STACK .* RW '
	want_none out ' RWE '
}

# So that the page below a stack catches whatever runs over it.
build_frames() {
	must gcc -Os -Wvla -Walloca -Wframe-larger-than=8192 -c -I"$tmp/bin" "$top/bpftrig.c" -o frames.o
	want_empty err
}

# build_size LIMIT [MAKE-VARIABLE...]
build_size() {
	local limit=$1
	shift
	need musl-gcc
	copy_tree tree
	must make -C tree CC=musl-gcc "$@"
	size=$(stat -c %s tree/bpftrig)
	[ "$size" -le "$limit" ] || fail "$size bytes"
	printf '%d bytes\n' "$size"
	must tree/bpftrig -q -d 0.05 -w 0 usermode-count
	want_row out usermode-count figure
}

build_small() {
	local word

	copy_tree tree
	must make -C tree SMALL=1
	want_none err warning
	for word in save chart svg fail-above; do
		run tree/bpftrig --$word=1
		want_status 2
		want err "^bpftrig: --$word: no such option"
	done
	for word in compare cost diff; do
		run tree/bpftrig $word a b
		want_status 2
		want err "^bpftrig: $word: no such benchmark"
	done
	run tree/bpftrig --format json
	want_status 2
	want err "'json' is none of bench, overhead \\(bpftrig --help\\)$"
	must tree/bpftrig --help
	want_none out 'bpftrig (compare|cost|diff) |gobench|--svg|--save|^Targets'
	tree/bpftrig --help | sed -n '/^Rows:/,/^$/p' >small
	"$bin" --help | sed -n '/^Rows:/,/^$/p' >full
	diff small full || fail 'the rows are not the same'
}

# build_embedded OBJECT [HEADER]: what a compiler makes of the header is the object.
build_embedded() {
	cp "${2:-$tmp/bin/bpf_progs.h}" header.h
	cat >dump.c <<-'END'
		#include <stdio.h>
		#include "header.h"
		int main(void)
		{
			return fwrite(embedded_object, sizeof(embedded_object), 1, stdout) != 1 ||
			       fprintf(stderr, "%s\n%s\n", EMBEDDED_SOURCE, EMBEDDED_COMPILER) < 0;
		}
	END
	must gcc dump.c -o dump
	./dump >dumped 2>texts || fail 'the header does not work'
	want_same dumped "$1"
}

build_embedded_repeats() {
	for tail_bytes in 0 1 15; do
		{
			cat "$tmp/bin/bpf_progs.o"
			head -c $((4096 + tail_bytes)) /dev/zero
			cat "$tmp/bin/bpf_progs.o"
			head -c $((64 + tail_bytes)) /dev/zero | tr '\0' '\252'
		} >object
		"$top/gen_embed.sh" object "$top/bpf_progs.c" 'a compiler' >new.h || fail 'gen_embed.sh failed'
		build_embedded object new.h
	done
	want texts "$(sha256sum <"$top/bpf_progs.c" | cut -c1-16)"
}

build_embed_refuses() {
	printf 'not an object\n' >text
	: >empty
	for file in text empty missing; do
		run "$top/gen_embed.sh" $file "$top/bpf_progs.c" 'a compiler'
		want_status 1
		want_empty out
		want err "$file"
	done
}

build_embed_quotes() {
	"$top/gen_embed.sh" "$tmp/bin/bpf_progs.o" "$top/bpf_progs.c" 'clang "14\n" \x' >new.h || fail 'gen_embed.sh failed'
	build_embedded "$tmp/bin/bpf_progs.o" new.h
}

# Byte 0 of an instruction is the operation, db an atomic one on 64 bits; imm, the last four bytes, is 0 for an addition without
# the old value.
build_atomics() {
	need llvm-objdump
	must llvm-objdump -d --section=entry "$tmp/bin/bpf_progs.o"
	want out '^[0-9a-f]+ <count>:'
	sed -nE 's/^ +[0-9]+:\s+(([0-9a-f]{2}\s){8}).*/\1/p' out >bytes
	want bytes '^db '
	grep -E '^(db|c3) ' bytes >atomic
	want_none atomic '^db( ..){3} .*[1-9a-f]' 'an atomic operation that is no plain addition'
	want_none atomic '^c3'
	sed -n '/<count>:/,/^$/p' out >count
	want count '\bdb .. .. .. 00 00 00 00' 'count has no atomic addition'
}

build_headers() {
	must "$clang" -target bpf -M "$top/bpf_progs.c"
	want_none out '\.h\b'
	want_none "$top/bpftrig.c" '#include [<"](bpf/|libbpf|gelf|libelf)'
}

build_shellcheck() {
	need shellcheck
	must env -C "$top" sh -c 'shellcheck -x -e SC1003 test.sh tests/kernels.sh tests/faults.sh tests/fuzz.sh gen_embed.sh .ci/run examples/*.sh examples/fleet/*.sh bpftrig.bash'
}

# One that a release has is 9.8.7 here: what still says another has it from elsewhere.
build_version() {
	copy_tree tree
	version=$(sed -n 's/^#define VERSION "\(.*\)"$/\1/p' tree/bpftrig.c)
	want tree/CHANGELOG.md "^## \\[$version\\] - [0-9]{4}-[0-9]{2}-[0-9]{2}\$"
	grep -rlE "(^|[^0-9.])${version//./\\.}([^0-9.]|\$)" tree --exclude-dir=tests >named
	printf '%s\n' tree/bpftrig.c tree/CHANGELOG.md tree/README.md >may # the last in what was printed once
	sort -o named named
	sort -o may may
	comm -23 named may >others
	[ ! -s others ] || fail "$version is in $(cat others) too"
	sed -i 's/^#define VERSION ".*"$/#define VERSION "9.8.7"/' tree/bpftrig.c
	must make -C tree CFLAGS=-O0 DESTDIR="$PWD/root" install
	must root/usr/local/bin/bpftrig --version
	want out '^bpftrig 9\.8\.7 '
	must make -C tree -n dist-source
	want out 'bpftrig-9\.8\.7\.tar\.gz'
}

build_licence() {
	copy_tree tree
	files_below tree | while read -r file; do
		case $file in ./LICENSE | *.md | ./tests/linux-*.txt) continue ;; esac # the last are results
		head -n 3 "tree/$file" | grep -qE 'SPDX-License-Identifier: GPL-2\.0-only( \*/)?$' || echo "$file"
	done >without
	[ ! -s without ] || fail "no licence in $(tr '\n' ' ' <without)"
	[ ! -e /usr/share/common-licenses/GPL-2 ] || want_same tree/LICENSE /usr/share/common-licenses/GPL-2
}

# A clone of what is here, committed or not, by somebody at some time.
commit_tree() {
	copy_tree "$1"
	git -C "$1" init -q
	git -C "$1" add -A
	must git -C "$1" -c user.name=tester -c user.email=tester@example.org commit -q -m all
}

build_dist() {
	local machine emulator name file

	need git musl-gcc aarch64-linux-gnu-gcc riscv64-linux-gnu-gcc s390x-linux-gnu-gcc readelf
	commit_tree tree
	must git clone -q tree one
	must git clone -q tree another/place
	(umask 077 && must make -C one -j2 dist) || exit
	sleep 1 # another second is another time
	must env TZ=Asia/Tokyo make -C another/place -j2 DIST_ARCHS='x86_64 s390x' dist
	for file in another/place/dist/bpftrig-*; do
		want_same "$file" "one/dist/${file##*/}"
	done
	(cd one/dist && must sha256sum -c SHA256SUMS && want_lines out 5) || exit
	version=$("$bin" --version | cut -d ' ' -f 2)
	while read -r machine emulator name; do
		file=one/dist/bpftrig-$version-$machine
		must readelf -hlW "$file"
		want out "Machine: +$name"
		want_none out 'INTERP|DYNAMIC' 'not static'
		size=$(stat -c %s "$file") # with glibc, it would be twice that at least
		[ "$size" -le $((size_limit * 3 / 2)) ] || fail "$file has $size bytes"
		command -v "$emulator" || continue
		must "$emulator" "$file" --version
		want out "^bpftrig $version "
	done <<-'END'
		x86_64 env .*X86-64
		arm64 qemu-aarch64-static AArch64
		riscv64 qemu-riscv64-static RISC-V
		s390x qemu-s390x-static IBM S/390
	END
	must tar -xf "one/dist/bpftrig-$version.tar.gz"
	(cd tree && git ls-files | sort) >committed
	(cd "bpftrig-$version" && find . -type f | sed 's,^\./,,' | sort) >packed
	want_same committed packed
	must make -C "bpftrig-$version" CC=musl-gcc
	want_same "bpftrig-$version/bpftrig" "one/dist/bpftrig-$version-x86_64"
}

build_dist_refuses() {
	need git
	copy_tree tree
	run make -C tree dist
	want_status 2
	want out '^make dist: this is no clone'
	commit_tree clone
	echo >>clone/README.md
	run make -C clone dist
	want_status 2
	want out '^make dist: .* not committed'
	[ ! -e clone/dist ] || fail 'there is something in dist'
}

build_deb() {
	need dpkg-deb
	copy_tree tree
	export SOURCE_DATE_EPOCH=1700000000
	(umask 077 && must make -C tree CFLAGS=-O0 deb) || exit
	mv tree/dist/*.deb first.deb
	must make -C tree CFLAGS=-O0 deb
	want_same first.deb tree/dist/bpftrig_*.deb
	want_none <(cd tree && find . -name deb) . 'its folder is left'
	must dpkg-deb -I first.deb
	want out "^ Version: $("$bin" --version | cut -d ' ' -f 2)\$"
	must dpkg-deb -c first.deb
	want_none out -v ' root/root .* 2023-11-14 '
	want out '^-rwxr-xr-x root/root .* \./usr/bin/bpftrig$'
	must dpkg-deb -x first.deb unpacked
	must make -C tree CFLAGS=-O0 DESTDIR="$PWD/root" PREFIX=/usr install
	(cd root && find . -type f | sed 's/\.gz$//' | sort) >installed
	(cd unpacked && find . -type f ! -path './usr/share/doc/bpftrig/*' | sed 's/\.gz$//' | sort) >packed
	want_same installed packed
	must unpacked/usr/bin/bpftrig --version
	if command -v lintian >/dev/null; then
		run lintian --allow-root --fail-on error --suppress-tags statically-linked-binary,bogus-mail-host,bogus-mail-host-in-debian-changelog first.deb
		want_status 0
	fi
}

build_ci() {
	[ -e "$top/README.md" ] || skip 'there is no README.md yet'
	want "$top/.ci/run" 'make deps test'
	want "$top/README.md" 'sudo make deps test'
}

# === unit: functions of bpftrig.c that a run cannot reach, under sanitizers ====================================================

group_unit() {
	local cc

	for cc in gcc clang; do
		unit_with "$cc"
	done
}

# Each line of tests/unit.c is a test of ours, so this one is not for check() alone.
unit_with() {
	local line reason

	rm -f "$tmp/unit-lines"
	check "unit: $1 compiles tests/unit.c and its run ends well" unit_run "$1"
	[ -e "$tmp/unit-lines" ] || return
	while IFS= read -r line; do
		case $line in
		'ok - '*) ok "unit $1: ${line#ok - }" ;;
		'not ok - '*)
			line=${line#not ok - } # "group: sentence: what came"
			reason=${line#*: *: }
			not_ok "unit $1: ${line%": $reason"}" "$reason"
			;;
		'skip - '*)
			line=${line#skip - }
			reason=${line#*: *: }
			skip_test "unit $1: ${line%": $reason"}" "$reason"
			;;
		esac
	done <"$tmp/unit-lines"
}

# Fails after a crash, a report of a sanitizer or a run without a line, whatever the lines say.
unit_run() {
	local flags=(-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all)

	need "$1"
	[ -e "$top/tests/unit.c" ] || skip 'there is no tests/unit.c'
	echo 'int main(void) { return 0; }' >empty.c
	{ "$1" "${flags[@]}" empty.c -o empty && ./empty; } || skip "$1 has no sanitizers here (libclang-rt-dev, libasan)"
	must "$1" -g -O1 -Wall -Wextra -Wno-unused-function "${flags[@]}" -I"$top" -I"$tmp/bin" "$top/tests/unit.c" -o unit -pthread -lm
	want_empty err
	(cd "$top" && timeout --foreground 300 "$OLDPWD/unit") >"$tmp/unit-lines" 2>err
	status=$?
	cp "$tmp/unit-lines" out
	show "unit, compiled by $1"
	want out '^(not )?ok - ' 'it printed no test'
	want_none err 'runtime error|Sanitizer'
	if ! grep -q '^not ok - ' out; then
		want_status 0
	else
		want_status 1
	fi
}

# === fuzz: foreign bytes, under sanitizers =====================================================================================
# tests/fuzz.sh makes the seeds and the programs; here it runs for a minute, and always does the same.

group_fuzz() {
	local cc=gcc target

	command -v gcc >/dev/null || cc=clang
	check 'fuzz: seeds from real objects, texts and command lines' fuzz_seeds
	check "fuzz: every seed, and some damaged in each byte, compiled by $cc" fuzz_command "$cc" plain "$cc"
	for target in object btf binary saved kallsyms words numbers gunzip notes facts records; do
		check "fuzz: libFuzzer finds nothing in $target" fuzz_command clang short "$target"
	done
	check 'fuzz: 95 % of the lines of ELF, BTF and linking are reached' fuzz_coverage
}

fuzz() { run env FUZZ="$tmp/fuzz" BUILT="$tmp/bin" CLANG="$clang" "$top/tests/fuzz.sh" "$@"; }

fuzz_seeds() {
	need "$clang"
	fuzz seeds
	want_status 0
	run find "$tmp/fuzz/seeds" -name 'bpf_progs*' -size +1k
	want out seeds/object
	run find "$tmp/fuzz/seeds" -mindepth 1 -maxdepth 1 -empty
	want_empty out
}

# fuzz_command COMPILER COMMAND...
fuzz_command() {
	need "$1"
	[ -d "$tmp/fuzz/seeds" ] || fail 'there are no seeds'
	echo 'int main(void) { return 0; }' >empty.c
	{ "$1" -fsanitize=address -fsanitize=undefined empty.c -o empty && ./empty; } || skip "$1 has no sanitizers here (libclang-rt-dev, libasan)"
	shift
	fuzz "$@"
	want_status 0
	want out ' [1-9][0-9]* runs'
}

fuzz_coverage() {
	need llvm-cov
	need llvm-profdata
	fuzz coverage
	want_status 0
	awk '/^(ELF|BTF|Object: linking) / { n++; low += $(NF - 1) < 95 } END { exit !(n == 3 && !low) }' out || fail 'one of the three is below 95 %'
}

# === cli: arguments, output and signals; no feature of the kernel is needed ====================================================

# What is typed, and what the one line on standard error must name.
misuses() {
	cat <<-'END'
		fentri | fentri.*\bfentry\b
		krpobe | krpobe.*\bkprobe\b
		trig-kpobe | trig-kpobe.*\bkprobe\b
		syscal-count | syscal-count.*\bsyscall-count\b
		nothing-like-it-at-all | nothing-like-it-at-all
		'' | no such benchmark
		-d 5x | -d\b.*'5x'
		-d '' | -d\b.*''
		-d -1 | -d\b.*'-1'
		-d . | -d\b.*'\.'
		-d 1e3 | -d\b.*'1e3'
		-d inf | -d\b.*'inf'
		-d 0 | -d\b.*'0'
		-d 0x10 | -d\b.*'0x10'
		-d 99999999 | -d\b.*'99999999'
		-d ' 5' | -d\b.*' 5'
		-w -1 | -w\b.*'-1'
		-w nan | -w\b.*'nan'
		--duration=abc | --duration\b.*'abc'
		--duration= | --duration\b.*''
		-p 0 | -p\b.*'0'
		-p 5x | -p\b.*'5x'
		-p5x | -p\b.*'5x'
		-p -1 | -p\b.*'-1'
		-p '' | -p\b.*''
		-p 1.5 | -p\b.*'1.5'
		-p 18446744073709551617 | -p\b.*'18446744073709551617'
		--producers=100000 | --producers\b.*'100000'
		--batch 0 | --batch\b.*'0'
		--batch 99999999 | --batch\b.*'99999999'
		--batch 100,8x | --batch\b.*'100,8x'
		--trig-batch-iters 0 | --trig-batch-iters\b.*'0'
		--nr-batch-iters x | --nr-batch-iters\b.*'x'
		-c 1 | -c\b.*'1'
		-c x | -c\b.*'x'
		-d | -d\b.*value
		-p | -p\b.*value
		-qd | -d\b.*value
		--batch | --batch\b.*value
		--obj | --obj\b.*value
		--obj '' | --obj\b.*empty
		--prod-affinity | --prod-affinity\b.*value
		--quiet=1 | --quiet\b
		--nope | --nope\b
		--nope=5 | --nope\b
		--dur 1 | --dur\b
		-Z | -Z\b
		-qZ | -Z\b
		-q -v | -q.*-v
		-qv | -q.*-v
		-p 2 --prod-affinity 0 | --prod-affinity\b.*\b2\b
		--prod-affinity 8191 | --prod-affinity\b.*\b8191\b
		--prod-affinity 99999 | --prod-affinity\b.*'99999'
		--prod-affinity x | --prod-affinity\b.*'x'
		--prod-affinity '' | --prod-affinity\b.*''
		--prod-affinity 0- | --prod-affinity\b.*'0-'
		--prod-affinity 1-0 | --prod-affinity\b.*'1-0'
		--prod-affinity 0, | --prod-affinity\b.*'0,'
		--prod-affinity -1 | --prod-affinity\b.*'-1'
		cost kprobe:+5 -- true | 'kprobe:\+5' names no function
		cost uprobe:/bin/true:+5 -- true | uprobe:/bin/true:\+5' names no function
	END
}

group_cli() {
	local typed words row

	while IFS= read -r row; do
		typed=${row%% | *} words=${row##* | }
		check "cli: misuse: bpftrig $typed" cli_misuse "$typed" "$words"
	done < <(misuses)
	check 'cli: --help on standard output, with every row, option and suite' cli_help
	check 'cli: --version on standard output' cli_version
	check 'cli: -l, --list and list, and the names as bench' cli_list
	check 'cli: aliases, globs and suites' cli_names
	check 'cli: -d5, -d 5, --duration 5 and --duration=5' cli_spellings
	check 'cli: figures are formatted to the byte, for one and two producers' cli_figures
	check 'cli: the machine on standard error, nothing of it with -q' cli_machine
	check 'cli: --obj of a text file' cli_object text 'not an ELF file'
	check 'cli: --obj of an empty file' cli_object empty 'is empty'
	check 'cli: --obj of an x86 object' cli_object foreign 'for machine [0-9]+, not for BPF'
	check 'cli: --obj of the other byte order' cli_object swapped 'byte order'
	check 'cli: --obj of a truncated object' cli_object_truncated
	check 'cli: --obj of a directory, a missing file, an endless one' cli_object_unreadable
	check 'cli: without root, what needs none runs' cli_unprivileged
	check 'cli: without root, kernel-count and rawtp say what they need' cli_unprivileged_refused
	check 'cli: EPERM as root: without capabilities, the uid and the sysctl are named' cli_no_capabilities
	check 'cli: a closed pipe is silent' cli_closed_pipe
	check 'cli: a closed pipe with SIGPIPE ignored is silent' cli_closed_pipe_ignored
	check 'cli: a full standard output is an error' cli_full_output
	check 'cli: a closed standard output is an error' cli_closed_output
	check 'cli: closed standard input and error do no harm' cli_closed_others
	check 'cli: killed in a pipe by SIGKILL: finished lines are out' cli_killed KILL 137
	check 'cli: killed in a pipe by SIGINT: finished lines are out, exit status 130' cli_killed INT 130
	check 'cli: killed in a pipe by SIGTERM: finished lines are out, exit status 143' cli_killed TERM 143
	check 'cli: an interrupted run prints what it has' cli_interrupted
	check 'cli: a signal that is ignored does not interrupt' cli_ignored
	check 'cli: two runs at once: the second waits for the first' cli_two_runs
	check 'cli: the lock of another user does not stop root' cli_foreign_lock
	check 'cli: affinity: only CPUs of the mask that it was given' cli_affinity
	check 'cli: no AF_UNIX: it runs without the lock' cli_no_lock
	check 'cli: a producer that cannot be started is a failure' cli_no_thread
	check 'cli: initramfs: an archive that cpio takes, at most 4 KiB larger than the binary' cli_archive
	check 'cli: initramfs: the same bytes each time, to a file and to standard output, without root and /proc' cli_archive_same
	check 'cli: initramfs: --args and --init' cli_archive_parts
	check 'cli: initramfs: a full disk, a missing folder, a missing --init' cli_archive_fails
	check 'cli: process 1 of a container does not end the machine' cli_container
	check 'cli: without /proc and /sys, no line without a word' cli_no_proc
}

cli_archive() {
	need cpio
	must "$bin" initramfs
	mv out archive
	must cpio -tv --quiet <archive
	want out '^drwxr-xr-x .* dev$'
	want out '^crw------- .* 5, +1 .* dev/console$'
	want out '^-rwxr-xr-x .* init$'
	mkdir root
	(cd root && cpio -id --quiet init <../archive) || fail 'cpio cannot unpack it'
	want_same root/init "$bin"
	[ $(($(stat -c %s archive) - $(stat -c %s "$bin"))) -le 4096 ] || fail "it has $(stat -c %s archive) bytes"
}

cli_archive_same() {
	must "$bin" initramfs
	mv out one
	must "$bin" initramfs two
	want_same one two
	if is_root; then
		as_nobody "$bin" initramfs
		want_status 0
		want_same out one
		# shellcheck disable=SC2016
		must unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$1" initramfs' sh "$bin"
		want_same out one
	fi
}

cli_archive_parts() {
	need cpio
	cp "$tmp/bin/bpf_progs.o" other
	must "$bin" initramfs --init other --args '-d 1 fentry' archive
	mkdir root
	(cd root && cpio -id --quiet <../archive 2>/dev/null)
	want_same root/init other
	[ "$(cat root/bpftrig.args)" = '-d 1 fentry' ] || fail 'other arguments'
}

cli_archive_fails() {
	run sh -c '"$1" initramfs >/dev/full' sh "$bin"
	want_status 1
	want err 'standard output: ENOSPC'
	run "$bin" initramfs missing/archive
	want_status 1
	want err 'missing/archive: ENOENT'
	run "$bin" initramfs --init missing archive
	want_status 1
	want err 'missing: ENOENT'
	printf 'not a program' >text
	run "$bin" initramfs --init text archive
	want_status 1
	want err 'text: no program'
	[ ! -e archive ] || fail 'it made an archive all the same'
	run "$bin" initramfs one two
	want_status 2
	run sh -c '"$1" initramfs | true' sh "$bin"
	want_empty err
}

cli_container() {
	need unshare
	need_root
	must timeout --foreground 60 unshare --pid --fork --mount-proc "$bin" -q -d 0.1 -w 0 usermode-count
	want_row out usermode-count figure
	want_none out '^bpftrig: exit'
	mkdir root # without /proc, and without the right to mount it
	cp "$bin" root/bpftrig
	chmod 755 . root
	setpriv --reuid=65534 --regid=65534 --clear-groups -- unshare -Ur true || return 0
	must timeout --foreground 60 setpriv --reuid=65534 --regid=65534 --clear-groups -- \
		unshare -Ur --pid --fork chroot root /bpftrig -q -d 0.1 -w 0 usermode-count
	want_row out usermode-count figure
	want_none out '^bpftrig: exit'
}

# A line on the machine of which nothing is known is none.
cli_no_proc() {
	need_root
	mkdir root
	cp "$bin" root/bpftrig
	chmod 755 . root
	must timeout --foreground 60 chroot --userspec=65534:65534 root /bpftrig -d 0.05 -w 0 usermode-count
	want err '^bpftrig: .*Linux'
	want_none err '^bpftrig: *$'
}

# Runs bpftrig as typed, with a time limit: no argument that should be refused may start a long run.
typed() {
	local -a arguments

	eval "arguments=($1)"
	run timeout --foreground 60 "$bin" "${arguments[@]}"
}

cli_misuse() {
	typed "$1"
	want_status 2
	want_empty out
	want_lines err 1
	want err "$2"
}

cli_help() {
	local name

	must "$bin" --help
	want_empty err
	cp out help
	must "$bin" -h
	want_same out help
	[ "$(wc -w <<<"$row_names")" -ge 15 ] || fail 'fewer than 15 rows found in bpftrig.c'
	for name in $row_names; do
		want out "^  ${name}[ *] *[^ ]"
	done
	for name in $(names_in options) help version; do
		want out "^  .*--$name "
	done
	for name in $(names_in suites) trig all; do
		want out "^  $name +[^ ]"
	done
	want_none out '.{133}' 'a line is longer than 132 characters'
}

cli_version() {
	must "$bin" --version
	want_empty err
	want_lines out 1
	want out "^bpftrig [0-9]+\.[0-9.]+ .*sha256 $(sha256sum <"$top/bpf_progs.c" | cut -c1-16)"
	cp out version
	must "$bin" -V
	want_same out version
}

# Two rows that every kernel has; what `list` says of the others is judged in the group rows.
cli_list() {
	for word in list -l --list; do
		must "$bin" "$word" '*e*-count' syscall-count
		want out '^usermode-count +yes '
		want out '^syscall-count +yes '
		want out '^ +needs '
	done
	must "$bench" -l
	want out '^Available benchmarks:$'
	for name in $row_names; do
		want out "^- trig-$name\$|^- $name\$"
	done
}

cli_names() {
	must "$bin" -q -d 0.02 -w 0 base trig-base uprobe-base usermode-count-batch trig-syscall-count syscall-count usermode-count
	sed 's/ *:.*//' out >names
	printf '%s\n' {syscall,syscall,usermode,usermode,syscall,syscall,usermode}-count >wanted
	want_same names wanted
	run "$bin" -q -d 0.02 -w 0 trig-fentry 'usermode-*' '?ser*t'
	sed 's/ *:.*//' out >names
	printf '%s\n' fentry usermode-count usermode-count >wanted
	want_same names wanted
	run "$bin" -l trig
	sed -nE 's/^([a-z0-9-]+) .*/\1/p' out >trig
	run "$bin" -l all
	sed -nE 's/^([a-z0-9-]+) .*/\1/p' out >all
	printf '%s\n' "$row_names" >wanted
	want_same all wanted
	[ "$(wc -l <trig)" -ge 15 ] || fail 'the suite trig has fewer than 15 rows'
}

cli_spellings() {
	local arguments

	for arguments in '-qd0.02 -w0' '-q -d 0.02 -w 0' '--quiet --duration 0.02 --warmup 0' '--duration=0.02 --warmup=0 -q'; do
		typed "$arguments usermode-count"
		want_status 0
		want_row out usermode-count figure
	done
	typed '-q -d 0.02 -w 0 -- usermode-count'
	want_row out usermode-count figure
}

cli_figures() {
	must "$bin" -q -d 0.1 -w 0 usermode-count syscall-count
	want_lines out 2
	want_row out usermode-count figure
	want_row out syscall-count figure
	must "$bin" -q -d 0.1 -w 0 -p 2 usermode-count
	is_figure "$(cat out)" 2 || fail 'the figure of two producers is not right'
}

cli_machine() {
	must "$bin" -d 0.02 -w 0 usermode-count
	want err "Linux $(uname -r)"
	want_lines out 1
	must "$bin" -q -d 0.02 -w 0 usermode-count
	want_empty err
}

# cli_object KIND REGEX: the row says what the file is not.
cli_object() {
	case $1 in
	text) printf 'just a text, of more bytes than an ELF header has, so that it could be taken for one\n' >text ;;
	empty) : >empty ;;
	foreign)
		need gcc
		echo 'int x;' >x.c
		must gcc -c x.c -o foreign
		;;
	swapped)
		need "$clang"
		must "$clang" -target bpfeb -O2 -c "$top/bpf_progs.c" -o swapped
		;;
	esac
	object_fails "$1" "$2"
}

object_fails() {
	run "$bin" -q -d 0.02 -w 0 --obj "$1" kernel-count
	want_status 1
	want_lines out 1
	want out "^kernel-count +:  failed: $1: .*($2)"
	want_empty err
}

cli_object_truncated() {
	local object=$tmp/bin/bpf_progs.o length

	length=$(stat -c %s "$object")
	for keep in 3 4 16 63 64 65 200 $((length / 2)) $((length - 64)) $((length - 1)); do
		head -c "$keep" "$object" >part
		object_fails part 'truncated|not an ELF|outside the file|not inside the file'
	done
}

cli_object_unreadable() {
	mkdir directory
	for file in directory missing /dev/zero; do
		run timeout --foreground 60 "$bin" -q -d 0.02 -w 0 --obj "$file" kernel-count
		want_status 1
		want_empty out
		want_lines err 1
		want err "^bpftrig: $file: E[A-Z0-9]+ \([0-9]+\)"
	done
}

# Runs a command as a user without rights.
as_nobody() {
	if is_root; then
		need setpriv
		run setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
	else
		run "$@"
	fi
}

cli_unprivileged() {
	chmod 755 .
	as_nobody "$bin" -q -d 0.05 -w 0 usermode-count syscall-count
	want_status 0
	want_lines out 2
	want_row out usermode-count figure
	want_row out syscall-count figure
}

cli_unprivileged_refused() {
	as_nobody "$bin" -q -d 0.05 -w 0 kernel-count
	want_status 1
	want out '^kernel-count +:  failed: .*EPERM \(1\): needs root'
	as_nobody "$bin" -q -d 0.05 -w 0 rawtp
	if has_line out 'needs bpf_modify_return_test_tp'; then
		want_status 4
	else
		want_status 1
		want out '^rawtp +:  failed: .*EPERM \(1\): needs root'
	fi
}

cli_no_capabilities() {
	need_root
	need setpriv
	run setpriv --inh-caps=-all --bounding-set=-all -- "$bin" -q -d 0.05 -w 0 kernel-count
	want_status 1
	want out '^kernel-count +:  failed: .*EPERM \(1\): needs root, or CAP_BPF.*uid 0.*unprivileged_bpf_disabled = '
}

# A pipe that nobody reads is made by opening both ends and closing one: no race with a reader that is just ending.
cli_closed_pipe() {
	mkfifo pipe
	exec 7<>pipe
	exec 8>pipe 7<&-
	for arguments in --help --version '-l -q' '-q -d 0.02 -w 0 usermode-count syscall-count'; do
		# shellcheck disable=SC2086
		"$bin" $arguments >&8 2>err
		status=$?
		: >out
		show "$arguments"
		want_empty err
		[ "$status" = 141 ] || want_status 1
	done
	exec 8>&-
	"$bin" --help 2>err | head -n 0
	show '--help | head -n 0'
	want_empty err
	"$bin" -q -d 0.02 -w 0 usermode-count syscall-count 2>err | true
	show '... | true'
	want_empty err
}

cli_closed_pipe_ignored() {
	mkfifo pipe
	exec 7<>pipe
	exec 8>pipe 7<&-
	trap '' PIPE
	for arguments in --help '-q -d 0.02 -w 0 usermode-count syscall-count'; do
		# shellcheck disable=SC2086
		"$bin" $arguments >&8 2>err
		status=$?
		show "$arguments"
		want_empty err
		want_status 1
	done
}

cli_full_output() {
	[ -c /dev/full ] || skip 'no /dev/full'
	for arguments in --help --version '-l -q usermode-count syscall-count' '-q -d 0.02 -w 0 usermode-count syscall-count'; do
		# shellcheck disable=SC2086
		"$bin" $arguments >/dev/full 2>err
		status=$?
		show "$arguments"
		want_status 1
		want_lines err 1
		want err 'standard output: ENOSPC \(28\)'
	done
	"$bench" -q -w 1 -d 1 usermode-count >/dev/full 2>err
	status=$?
	show bench
	want_status 1
	want_lines err 1
}

cli_closed_output() {
	for arguments in --help --version '-q -d 0.02 -w 0 usermode-count'; do
		# shellcheck disable=SC2086
		"$bin" $arguments >&- 2>err
		status=$?
		show "$arguments"
		want_status 1
		want_lines err 1
		want err 'standard output: '
	done
}

cli_closed_others() {
	"$bin" -d 0.02 -w 0 usermode-count kernel-count <&- 2>&- >out
	status=$?
	: >err
	show 'without standard input and error'
	want_row out usermode-count figure
	want out '^kernel-count '
	want_lines out 2
}

# Started in the background of a script, a process ignores SIGINT unless told otherwise.
with_signals() { exec env --default-signal=INT,TERM,HUP,PIPE "$@"; }

# cli_killed SIGNAL STATUS: while the second of four rows runs, the first one's line is already at the other end of the pipe.
cli_killed() {
	mkfifo pipe
	cat pipe >out &
	with_signals "$bin" -q -d 2 -w 0 usermode-count usermode-count usermode-count usermode-count >pipe 2>err &
	wait_for has_line out usermode-count
	kill -s "$1" $!
	wait $!
	status=$?
	wait
	show "killed by SIG$1"
	want_status "$2"
	want_empty err
	[ "$(wc -l <out)" -lt 4 ] || fail 'it had ended before'
	is_figure "$(head -n 1 out)" || fail 'the first line is no figure'
	[ -z "$(tail -c 1 out)" ] || fail 'the last line is not whole'
}

# waits_of PID TIMES: whether it has slept that often, which for the main thread is once a window.
waits_of() { [ "$(sed -n 's/^voluntary_ctxt_switches:\s*//p' "/proc/$1/status")" -ge "$2" ]; }

cli_interrupted() {
	with_signals "$bin" -q -d 20 -w 0 usermode-count syscall-count >out 2>err &
	wait_for waits_of $! 20
	kill -s INT $!
	wait $!
	status=$?
	show 'interrupted'
	want_status 130
	want_lines out 1
	want out ' interrupted$'
	is_figure "$(sed 's/ interrupted$//' out)" || fail 'no figure'
	want_empty err
}

# In a network name space of their own, where there is no other run to wait for.
own_network() {
	if is_root && unshare -n true; then
		exec unshare -n "$@"
	fi
	exec "$@"
}

in_network_of() {
	local pid=$1

	shift
	if is_root && unshare -n true; then
		exec nsenter -t "$pid" -n "$@"
	fi
	exec "$@"
}

# The first is stopped while it holds the lock, so that it cannot end before the second has seen it.
cli_two_runs() {
	local first second

	own_network "$bin" -d 3 -w 0 usermode-count >first 2>first.err &
	first=$!
	wait_for has_line first.err Linux
	kill -s STOP "$first"
	in_network_of "$first" "$bin" -d 0.05 -w 0 syscall-count >out 2>second.err &
	second=$!
	wait_for has_line second.err "waiting .*process $first\\b"
	want_empty out
	kill -s CONT "$first"
	wait "$first"
	status=$?
	want_status 0
	want_row first usermode-count figure
	wait "$second"
	status=$?
	show 'the second'
	want_status 0
	want_row out syscall-count figure
	[ "$(grep -c waiting second.err)" = 1 ] || fail 'it says more than once that it waits'
}

# Users have a lock each; and whoever takes root's, listening or not, does not stop root.
cli_foreign_lock() {
	local listen

	need_root
	need setpriv perl
	unshare -n true || skip 'no name space for it'
	# shellcheck disable=SC2016
	for listen in 'listen(S, 1) or die;' ''; do
		own_network setpriv --reuid=65534 --regid=65534 --clear-groups -- perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die;
			bind(S, pack("S a*", AF_UNIX, "\0bpftrig-0")) or die; '"$listen"' $| = 1; print "bound\n"; sleep 600' >held 2>/dev/null &
		wait_for has_line held bound
		nsenter -t $! -n timeout --foreground 60 "$bin" -d 0.05 -w 0 syscall-count >out 2>err
		status=$?
		kill $!
		show 'as root'
		want_status 0
		want_row out syscall-count figure
		want err 'holds the lock.*going on without'
		rm held
	done
	own_network setpriv --reuid=65534 --regid=65534 --clear-groups -- "$bin" -d 600 usermode-count >/dev/null 2>first.err &
	wait_for has_line first.err Linux
	nsenter -t $! -n timeout --foreground 60 "$bin" -d 0.05 -w 0 syscall-count >out 2>err
	status=$?
	kill $!
	want_status 0
	want_none err 'the lock|waiting'
}

# As under nohup, or in the background of a script.
cli_ignored() {
	env --ignore-signal=INT,HUP "$bin" -d 1 -w 0 usermode-count >out 2>err &
	wait_for has_line err Linux
	kill -s INT $!
	kill -s HUP $!
	wait $!
	status=$?
	want_status 0
	want_row out usermode-count figure
	want_none out interrupted
}

cli_affinity() {
	local last

	need_strace
	need taskset
	last=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	[ "$last" != 0 ] || skip 'there is one CPU only'
	for arguments in '' '-p 2' "--prod-affinity $last"; do
		# shellcheck disable=SC2086
		must taskset -c "$last" strace -f -qq -e trace=sched_setaffinity -e signal=none -o calls \
			"$bin" -q -d 0.05 -w 0 $arguments usermode-count
		cat calls
		grep -v "sched_setaffinity(.*, .*, \\[$last\\]) *= 0" calls && fail "a thread is pinned elsewhere"
		want calls sched_setaffinity
	done
	run taskset -c "$last" "$bin" --prod-affinity 0 usermode-count
	want_status 2
	want err '--prod-affinity: CPU 0 '
}

# injected STRACE-ARGUMENTS ARGUMENTS...: runs bpftrig with system calls made to fail.
injected() {
	local what=$1

	shift
	need_strace
	# shellcheck disable=SC2086
	run timeout --foreground 120 strace -f -qq -e signal=none -o calls $what "$bin" -q -d 0.05 -w 0 "$@"
	want calls INJECTED 'no call was made to fail'
}

cli_no_lock() {
	injected '-e trace=socket -e inject=socket:error=EAFNOSUPPORT' usermode-count
	want_status 0
	want_row out usermode-count figure
	want_empty err
}

cli_no_thread() {
	injected '-e trace=clone,clone3 -e inject=clone,clone3:error=EAGAIN' usermode-count
	want_status 1
	want_lines out 1
	want out '^usermode-count *:  failed: .*producer.*EAGAIN \(11\)'
}

# === rows: every benchmark on the running kernel, objects of others, system calls ==============================================

fixtures_that_count='globals subprograms'

group_rows() {
	local name compiler cpu

	check 'rows: all: each has one line, a figure or a reason' rows_all
	for name in $row_names; do
		check "rows: $name: a figure or a reason" rows_one "$name"
	done
	check 'rows: usermode-count and syscall-count are figures' rows_always
	check 'rows: list says yes to the rows that give a figure' rows_list
	check 'rows: -p 2 and --batch' rows_options
	check 'rows: a list for -p or --batch: a line for each, the number behind the name' rows_sweep
	check 'rows: the private stack sweep prints twelve lines' rows_private_sweep
	check 'rows: the private stack: what -v shows of the JITed code fits what the row says' rows_private_proof
	check 'rows: -s takes stack traces' rows_stacktrace
	check 'rows: --format overhead' rows_overhead
	check 'rows: the USDT probes are in the notes that readelf shows' rows_usdt
	check 'rows: the file of this program has the probed functions where objdump finds them' rows_sites
	check 'rows: a rename changes no name' rows_rename
	check 'rows: SIGKILL in the middle leaves no probe, link or name behind' rows_killed
	check 'rows: nothing is left behind: the mounts' rows_mounts
	check 'rows: nothing is left behind: probes in tracefs' rows_probes
	check 'rows: resident memory' rows_memory

	for name in kernel-count rawtp; do
		check "rows: --obj: two globals at offsets 0 and 8, .data, .rodata ($name)" rows_fixture globals "$name"
		check "rows: --obj: subprograms in .text ($name)" rows_fixture subprograms "$name"
		check "rows: --obj: count is refused, count_plain is not ($name)" rows_fallback "$name"
		check "rows: --obj: a program that does not count ($name)" \
			rows_fixture_fails no_count "$name" '[0-9]+ triggers did not run the program'
		check "rows: --obj: a program that counts twice ($name)" \
			rows_fixture_fails double_count "$name" '200 hits for 100 triggers: something else'
		check "rows: --obj: the verifier refuses, and says why behind 64 KiB of log ($name)" rows_rejected "$name"
		check "rows: --obj: too few counters ($name)" rows_fixture_fails few_slots "$name" 'few_slots\.o: .*hits, 256 slots of 128 bytes'
		check "rows: --obj: no variable hits ($name)" rows_fixture_fails no_hits "$name" 'no_hits\.o: .*hits'
		check "rows: --obj: a map ($name)" rows_fixture_fails map "$name" 'map\.o: section \.maps defines a map'
		check "rows: --obj: a kernel function that does not exist ($name)" rows_no_kfunc "$name"
	done
	check 'rows: --obj: a program of the name of the row comes first' rows_own_name
	check 'rows: more CPUs than slots: two producers in one slot are counted exactly' rows_one_slot
	check 'rows: --obj: a subprogram in .text is no program' rows_text_only
	for compiler in "$clang" clang-16 clang-19; do
		[ "$compiler" = "$clang" ] || command -v "$compiler" >/dev/null || continue
		for cpu in v1 v2 v3 v4; do
			check "rows: --obj: objects of $compiler -mcpu=$cpu, -O1 and -O2, with and without -g" rows_compiled "$compiler" "$cpu"
		done
	done

	check 'rows: few system calls before the first BPF_PROG_TEST_RUN' rows_system_calls
	check 'rows: the first BPF_PROG_TEST_RUN fails' rows_test_run_fails 1
	check 'rows: a later BPF_PROG_TEST_RUN fails' rows_test_run_fails 2
	check 'rows: EPERM from the memlock limit: raised and tried again' rows_memlock
	check 'rows: EPERM from a memlock limit that may not be raised names it' rows_memlock_fixed
	check 'rows: EPERM as root names what was read from the machine' rows_refused EPERM 'EPERM \(1\): .*uid 0.*lockdown: .*LSMs: '
	check 'rows: ENOSYS names the seccomp filter' rows_refused ENOSYS 'ENOSYS \(38\): .*seccomp'
	check 'rows: link creation not supported for trampolines: BPF_RAW_TRACEPOINT_OPEN' rows_no_link
	check 'rows: attaching returns 524: ENOTSUPP' rows_notsupp
	check 'rows: perf-event links not supported: PERF_EVENT_IOC_SET_BPF' rows_ioctl
	check 'rows: EBUSY: something else holds the target' rows_busy
	check 'rows: EMFILE at every step names the limit' rows_few_files
}

# The lines of a run of every row, in $tmp/all; made on first use, for the other groups need to know them too.
know_all() {
	[ -s "$tmp/all" ] && return
	run "$bin" -d 0.2 -w 0.05 all
	mv out "$tmp/all"
	printf '%d\n' "$status" >"$tmp/all.status"
}

# need_figure ROW: skips the test where the row is skipped on this kernel.
need_figure() {
	need_root
	know_all
	is_figure "$(line_of "$1" "$tmp/all")" || skip "on this kernel: $(line_of "$1" "$tmp/all")"
}

# The row whose system calls are looked at: rawtp, or what every kernel has.
driven_row() {
	if is_figure "$(line_of rawtp "$tmp/all")"; then
		echo rawtp
	else
		echo kernel-count
	fi
}

rows_all() {
	need_root
	know_all
	cat "$tmp/all"
	[ "$(cat "$tmp/all.status")" = 0 ] || fail "exit status $(cat "$tmp/all.status")"
	want_lines "$tmp/all" "$(wc -w <<<"$row_names")"
}

rows_one() {
	need_root
	know_all
	want_row "$tmp/all" "$1" either
}

rows_always() {
	need_root
	know_all
	want_row "$tmp/all" usermode-count figure
	want_row "$tmp/all" syscall-count figure
}

rows_list() {
	local name word

	need_root
	know_all
	must "$bin" list all
	for name in $row_names; do
		word=no
		! is_figure "$(line_of "$name" "$tmp/all")" || word=yes
		want out "^$name +$word " "$name is not listed as '$word'"
	done
}

rows_options() {
	need_figure kernel-count
	for arguments in '--batch 1' '--batch 65536' '--trig-batch-iters=7' '--nr-batch-iters 1000'; do
		typed "-q -d 0.1 -w 0 $arguments kernel-count"
		want_status 0
		want_row out kernel-count figure
	done
	must "$bin" -q -d 0.1 -w 0 -p 2 kernel-count
	is_figure "$(cat out)" 2 || fail 'no figure of two producers'
}

rows_sweep() {
	must "$bin" -q -d 0.1 -w 0 -p 1,2 --batch 1,8 usermode-count
	sed -E 's/ *:.*//' out >names
	printf 'usermode-count-%s\n' 1-1 2-1 1-8 2-8 | diff - names || fail 'not the four lines'
	while IFS= read -r line; do
		name=${line%% *}
		is_figure "$line" "$(cut -d- -f3 <<<"$name")" || fail "$name is no figure"
	done <out
}

# As the script of the patch that measured it first: six batch sizes, both sides, in one run; and the same as bench.
rows_private_sweep() {
	local batches=1,8,64,512,2048,4096

	need_figure private-stack-rawtp
	must "$bin" -q -d 0.05 -w 0 --nr-batch-iters $batches no-private-stack-rawtp private-stack-rawtp
	want_lines out 12
	while IFS= read -r line; do
		is_figure "$line" || fail "no figure: $line"
	done <out
	must "$bench" -w1 -d1 --nr-batch-iters 1,4096 no-private-stack-rawtp private-stack-rawtp
	want_lines out 4
	want out '^no-private-stack-rawtp-1: [0-9.]+ ± [0-9.]+M/s \(drops 0\.000 ± 0\.000M/s\)$'
}

# objdump is the judge: a function with a private stack adds a per-CPU base to r9, one without makes its frame on the kernel's stack.
rows_private_proof() {
	need objdump
	need_figure private-stack-rawtp
	[ "$(uname -m)" = x86_64 ] || skip 'the patterns are those of x86-64'
	must "$bin" -v -d 0.05 -w 0 private-stack-rawtp
	want out 'by (depth|flag).*; private stack in 2 of 2 functions'
	for number in 0 1; do
		jited 'private side' $number with.bin
		objdump -D -b binary -m i386:x86-64 with.bin >with
		want with 'add +%gs:.*,%r9'
		want_none with '\(bad\)'
		jited 'other side' $number without.bin
		objdump -D -b binary -m i386:x86-64 without.bin >without
		want_none without '%r9'
		want_none without '\(bad\)'
	done
}

# jited SIDE NUMBER FILE: the bytes of a function that -v showed, from the file err.
jited() {
	sed -n "s/^bpftrig: JITed $1, function $2, .*: //p" err | tr ' ' '\n' | sed 's/^/\\x/' | tr -d '\n' >hex
	[ -s hex ] || fail "no code of the $1, function $2"
	# shellcheck disable=SC2059
	printf "$(cat hex)" >"$3"
}

rows_stacktrace() {
	need_figure rawtp
	must "$bin" -d 0.1 -w 0 -v -s rawtp
	want err 'loaded count_stack for rawtp'
	want_row out rawtp figure
}

rows_overhead() {
	need_figure rename-base
	must "$bin" -q -d 0.1 -w 0 --format overhead rename-base usermode-count
	want out '^task_rename base        [0-9]+K events per sec$'
	want out '^usermode-count [0-9]+K events per sec$'
	want_lines out 2
}

rows_usdt() {
	need readelf
	must readelf -n "$bin"
	grep -A1 'Provider: bpftrig' out | sed -n 's/.*Name: //p' >names
	want names '^usdt_nop$'
	[ "$(uname -m)" != x86_64 ] || { want names '^usdt_nop5$' && want names '^usdt_nop10$'; }
}

# The offset in the message of a row that the kernel refuses, or in -v of one that it takes, has the instruction of the row's name,
# in each way of linking.
rows_sites() {
	local link flags

	need objdump
	[ "$(uname -m)" = x86_64 ] || skip 'the instructions are those of x86-64'
	need_figure uprobe-nop
	for link in 'static: -static' 'static-pie: -static-pie -fPIE' 'pie: -pie -fPIE' 'separate: -static -Wl,-z,separate-code'; do
		read -ra flags <<<"${link#*: }"
		must gcc -O2 -pthread "${flags[@]}" -I"$tmp/bin" "$top/bpftrig.c" -o linked -lm
		must ./linked -v -d 0.05 -w 0 uprobe-nop uprobe-push uprobe-ret uprobe-nop5 usdt-nop
		for row in uprobe-nop uprobe-push uprobe-ret usdt-nop; do
			want_row out $row figure
			offset=$(sed -n "s/^bpftrig: $row: attached .* at offset \\(0x[0-9a-f]*\\)$/\\1/p" err | head -n 1)
			[ -n "$offset" ] || fail "$row: no offset in -v"
			byte=$(od -An -tx1 -N1 -j"$((offset))" linked | tr -d ' ')
			case $row:$byte in
			*-nop:90 | *-push:55 | *-ret:c3) ;;
			*) fail "$link: $row: byte $byte at $offset" ;;
			esac
		done
	done
}

rows_rename() {
	need_figure rename-base
	"$bin" -q -d 1 -w 0 -p 2 rename-base >out 2>err &
	wait_for grep -qx bpftrig "/proc/$!/comm" # it is the shell's until then
	for ((i = 0; i < 10; i++)); do
		cat /proc/$!/task/*/comm 2>/dev/null
	done | sort -u >names
	wait $! || fail 'the run failed'
	[ "$(cat names)" = bpftrig ] || fail "names: $(tr '\n' ' ' <names)"
}

# Counted by what the kernel says of itself: programs by their numbers, and the events of tracefs, which nobody writes.
rows_killed() {
	need_figure rawtp
	for row in rawtp uprobe-nop tp; do
		"$bin" -v -d 30 "$row" >out 2>err &
		victim=$!
		wait_for grep -q 'one batch' err
		kill -KILL $victim
		wait $victim
		must "$bin" -q -d 0.1 -w 0 "$row" # the lock is free, and nobody else counts
		want_row out "$row" figure
	done
}

rows_mounts() {
	need_root
	cat /proc/self/mountinfo >before
	run "$bin" -q -d 0.05 -w 0 all
	cat /proc/self/mountinfo >after
	want_same before after
}

rows_probes() {
	local list lists=0

	need_root
	run "$bin" -q -d 0.05 -w 0 all
	for list in /sys/kernel/tracing/{kprobe,uprobe,dynamic}_events /sys/kernel/debug/tracing/{kprobe,uprobe,dynamic}_events; do
		cat "$list" >probes 2>/dev/null || continue
		lists=$((lists + 1))
		want_none probes bpftrig
	done
	[ "$lists" -gt 0 ] || skip 'no list of probes is readable'
}

# What the run needs at most is known once its first row is done. It is stopped there, so that it can be asked.
rows_memory() {
	local btf=/sys/kernel/btf/vmlinux limit=$((2 << 10)) high row

	need_root
	know_all
	row=$(driven_row)
	[ ! -r $btf ] || limit=$((limit + $(stat -c %s $btf) / 1024))
	"$bin" -q -d 1 -w 0 "$row" "$row" >out 2>err &
	wait_for has_line out "$row"
	kill -s STOP $!
	high=$(sed -nE 's/^VmHWM:\s+([0-9]+) kB/\1/p' /proc/$!/status)
	kill -s CONT $!
	wait $!
	status=$?
	show "$row"
	printf 'at most %s kB were resident; the limit is %d\n' "$high" "$limit"
	want_lines out 2
	[ "${high:-$((limit + 1))}" -le "$limit" ] || fail "$high kB were resident, more than $limit"
}

# --- objects -------------------------------------------------------------------------------------------------------------------

# fixture NAME [FLAG...]: compiles tests/NAME.bpf.c to NAME.o.
fixture() {
	need "$clang"
	must "$clang" -target bpf -mcpu=v3 -O2 "${@:2}" -c "$top/tests/$1.bpf.c" -o "$1.o"
}

run_object() { run timeout --foreground 120 "$bin" -q -d 0.05 -w 0 --obj "$1" "$2"; }

rows_fixture() {
	need_figure "$2"
	fixture "$1"
	run_object "$1.o" "$2"
	want_row out "$2" figure
	want_status 0
	want_empty err
}

# rows_fixture_fails NAME ROW REGEX
rows_fixture_fails() {
	need_figure "$2"
	fixture "$1"
	run_object "$1.o" "$2"
	want_lines out 1
	want out "^$2 *:  failed: .*($3)"
	want_status 1
}

# The log is longer than the first buffer for it, and ENOSPC is not the error.
rows_rejected() {
	rows_fixture_fails rejected "$1" 'BPF_PROG_LOAD of [a-z_]+ .*(EACCES \(13\)|EINVAL \(22\))'
	want err '^bpftrig: the verifier on BPF_PROG_LOAD of '
	want err 'R[0-9] invalid mem access'
	[ "$(wc -l <err)" -lt 40 ] || fail 'more of the log than its end'
}

rows_fallback() {
	need_figure "$1"
	fixture fallback
	run_object fallback.o "$1"
	want_row out "$1" figure
	want_status 0
	want err 'using (drive_)?count_plain, without atomic operations'
}

rows_no_kfunc() {
	need_figure "$1"
	[ -r /sys/kernel/btf/vmlinux ] || skip 'the kernel has no BTF'
	fixture no_kfunc
	run_object no_kfunc.o "$1"
	want_row out "$1" 'no function bpf_function_of_no_kernel'
	want_status 4
}

rows_one_slot() {
	need_figure kernel-count
	fixture one_slot
	must "$bin" -q -d 0.2 -w 0 -p 2 --obj one_slot.o kernel-count
	is_figure "$(cat out)" 2 || fail 'no figure'
	want_empty err # no hits too many, which would be said
}

rows_own_name() {
	rows_fixture own_name rawtp
	need_figure tp
	run_object own_name.o tp
	want out '^tp +:  failed: .*has no|did not (run the program|count)|does not count'
	want_status 1
}

rows_text_only() {
	rows_fixture_fails text_only rawtp 'text_only\.o: has no program count'
}

rows_compiled() {
	local source optimize debug

	need_figure kernel-count
	need "$1"
	echo 'int x;' >x.c
	"$1" -target bpf -mcpu="$2" -c x.c -o x.o || skip "$1 knows no -mcpu=$2"
	if [ "$2" = v4 ] && [ "$(printf '6.6\n%s\n' "$(uname -r)" | sort -V | head -n 1)" != 6.6 ]; then
		skip 'the instructions of v4 are those of kernels from 6.6 on'
	fi
	for source in "$top/bpf_progs.c" "$top"/tests/{globals,subprograms}.bpf.c; do
		for optimize in -O1 -O2; do
			for debug in -g0 -g; do
				must "$1" -target bpf -mcpu="$2" $optimize $debug -c "$source" -o object.o
				run_object object.o kernel-count
				want_row out kernel-count figure
				want_status 0
			done
		done
	done
}

# --- system calls --------------------------------------------------------------------------------------------------------------

# traced STRACE-ARGUMENTS ROW: its calls are in the file calls. Without -f those of the main thread alone, which sets up.
traced() {
	need_strace
	# shellcheck disable=SC2086
	run timeout --foreground 120 strace -qq -e signal=none -o calls $1 "$bin" -q -d 0.05 -w 0 "$2"
}

# calls_before COMMAND: how many calls came before the first bpf() of that command.
calls_before() {
	local number

	number=$(grep -nEm1 "bpf\\($1" calls | cut -d: -f1)
	[ -n "$number" ] || return
	echo $((number - 1))
}

rows_system_calls() {
	need_root
	know_all
	traced -f "$(driven_row)"
	want_status 0
	calls_before 'BPF_PROG_(TEST_)?RUN' >count || fail 'no BPF_PROG_TEST_RUN was seen'
	head -n "$(cat count)" calls
	# The watch and its start are a dozen of them (a stack, a handler, a thread, and what libc does around that).
	[ "$(cat count)" -le 72 ] || fail "$(cat count) system calls before it"
	[ "$(head -n "$(cat count)" calls | grep -c ' bpf(')" -le 15 ] || fail 'more than 15 calls of bpf() before it'
}

# setup_calls ROW: the bpf() calls of a run that goes well.
setup_calls() {
	traced '-e trace=bpf' "$1"
	want_status 0
}

# strace numbers the calls of each thread: with "+", all from the Nth on, they fail in the producer as well.
rows_test_run_fails() {
	local row setup

	need_root
	know_all
	row=$(driven_row)
	setup_calls "$row"
	setup=$(calls_before 'BPF_PROG_(TEST_)?RUN') || fail 'no BPF_PROG_TEST_RUN was seen'
	traced "-f -e trace=bpf -e inject=bpf:error=EINVAL:when=$((setup + $1))+" "$row"
	tail -n 5 calls
	want calls 'BPF_PROG_(TEST_)?RUN.*INJECTED' 'no call was made to fail'
	want_status 1
	want_lines out 1
	want out "^$row +:  failed: BPF_PROG_TEST_RUN: EINVAL \\(22\\)"
}

# Kernels before 5.11 charge maps and programs to the limit, and answer EPERM.
rows_memlock() {
	local hard

	need_root
	need prlimit
	need_strace
	hard=$(ulimit -Hl) # kilobytes
	[ "$hard" = unlimited ] || [ "$hard" -gt 64 ] || skip "the hard limit is $hard kB: there is nothing to raise"
	run prlimit --memlock=65536: strace -qq -o calls -e trace=bpf,prlimit64,setrlimit -e inject=bpf:error=EPERM:when=1 \
		"$bin" -q -d 0.05 -w 0 kernel-count
	head -n 5 calls
	want calls 'limit.*MEMLOCK, \{rlim_cur=.*= 0$' 'the limit was not raised'
	want_status 0
	want_row out kernel-count figure
}

rows_memlock_fixed() {
	need_root
	need prlimit setpriv
	need_strace
	run prlimit --memlock=65536:65536 setpriv --inh-caps=-sys_resource --bounding-set=-sys_resource -- \
		strace -qq -o calls -e trace=bpf -e inject=bpf:error=EPERM "$bin" -q -d 0.05 -w 0 kernel-count
	want_row out kernel-count 'EPERM (1)'
	want out '[Mm]emlock|MEMLOCK|ulimit -l' 'the limit is not named'
}

# rows_refused ERROR REGEX: every bpf() call fails so.
rows_refused() {
	need_root
	traced "-e trace=bpf -e inject=bpf:error=$1" kernel-count
	want_status 4
	want_row out kernel-count ' '
	want out "^kernel-count +:  skipped: .*($2)"
}

rows_no_link() {
	local before

	need_figure tpbtf
	setup_calls tpbtf
	before=$(calls_before BPF_LINK_CREATE) || skip 'this kernel is old enough to do so itself'
	traced "-e trace=bpf -e inject=bpf:error=EINVAL:when=$((before + 1))" tpbtf
	want calls 'BPF_LINK_CREATE.*INJECTED' 'the call was not made to fail'
	want calls 'BPF_RAW_TRACEPOINT_OPEN'
	want_status 0
	want_row out tpbtf figure
}

rows_notsupp() {
	local before

	need_figure tpbtf
	setup_calls tpbtf
	before=$(calls_before BPF_LINK_CREATE) || skip 'this kernel has no BPF_LINK_CREATE'
	traced "-e trace=bpf -e inject=bpf:error=524:when=$((before + 1))" tpbtf
	want calls 'BPF_LINK_CREATE.*INJECTED' 'the call was not made to fail'
	want_status 4
	want_row out tpbtf 'ENOTSUPP (524)'
	want_none out 'Unknown error'
}

rows_ioctl() {
	local before

	need_figure tp
	setup_calls tp
	before=$(calls_before BPF_LINK_CREATE) || skip 'this kernel has no BPF_LINK_CREATE'
	traced "-e trace=bpf,ioctl -e inject=bpf:error=EINVAL:when=$((before + 1))" tp
	want calls 'BPF_LINK_CREATE.*INJECTED' 'the call was not made to fail'
	want calls 'ioctl\(.*PERF_EVENT_IOC_SET_BPF'
	want_status 0
	want_row out tp figure
}

rows_busy() {
	need_figure tp
	injected '-e trace=perf_event_open -e inject=perf_event_open:error=EBUSY' tp
	want_status 4
	want_row out tp 'EBUSY (16): something else holds the target'
}

# From a limit that leaves no descriptor to one that is enough.
rows_few_files() {
	local files refused=0

	need_figure tp
	need prlimit
	for files in {3..16}; do
		run prlimit --nofile="$files" "$bin" -q -d 0.05 -w 0 tp
		if [ "$status" != 0 ]; then
			want_status 1
			want out '^tp *:  failed: .*EMFILE \(24\).*ulimit -n'
			refused=$((refused + 1))
		fi
	done
	want_row out tp figure
	[ "$refused" -gt 0 ] || fail 'no limit was too low'
}

# === bench: run by that name, it is the kernel's bench =========================================================================

group_bench() {
	check 'bench: the lines are those of the kernel, to the byte' bench_lines
	check 'bench: one Iter line for each second of warm-up and duration' bench_windows
	check 'bench: what the scripts of the kernel tree read of the last line' bench_pipeline
	check 'bench: -q leaves out the first two lines' bench_quiet
	check 'bench: -a and -p 2' bench_producers
	check 'bench: several benchmarks, or a sweep: a line each' bench_several
	check 'bench: a loop like those of the kernel scripts gets a line for each row' bench_loop
	check 'bench: the scripts of the kernel tree run unchanged' bench_scripts
	check 'bench: a skipped row ends with the reason and exit status 0' bench_skipped
	check 'bench: a failed row has no summary, and exit status 1' bench_failed
}

number='[0-9]+\.[0-9]{3}'
iter_form="^Iter +[0-9]+ \\( *-?${number}us\\): hits +${number}M/s \\( *${number}M/prod\\), drops +${number}M/s, total operations +${number}M/s\$"
summary_form="^Summary: hits +$number ± +${number}M/s \\( *${number}M/prod\\), drops +$number ± +${number}M/s, total operations +$number ± +${number}M/s\$"

# Prints the numbers of a line back in the format that is the kernel's, for a comparison to the byte.
reprint() {
	local -a numbers

	read -ra numbers <<<"$(sed -E 's/^(Iter|Summary)//; s/[^0-9.-]+/ /g' <<<"$1")"
	case $1 in
	Iter*) printf 'Iter %3d (%7.3fus): hits %8.3fM/s (%7.3fM/prod), drops %8.3fM/s, total operations %8.3fM/s\n' "${numbers[@]}" ;;
	*) printf 'Summary: hits %8.3f ± %5.3fM/s (%7.3fM/prod), drops %8.3f ± %5.3fM/s, total operations %8.3f ± %5.3fM/s\n' "${numbers[@]}" ;;
	esac
}

bench_lines() {
	must "$bench" -w1 -d1 trig-usermode-count
	want_empty err
	want_lines out 5
	sed -n 1,2p out >start
	printf "Setting up benchmark 'trig-usermode-count'...\nBenchmark 'trig-usermode-count' started.\n" >wanted
	want_same start wanted
	sed -n 3,4p out >iterations
	want iterations "$iter_form"
	want iterations '^Iter   0 '
	want iterations '^Iter   1 '
	sed -n 5p out >summary
	want summary "$summary_form"
	while IFS= read -r line; do
		[ "$(reprint "$line")" = "$line" ] || fail "not in the format: $line"
	done < <(sed -n '3,$p' out)
}

bench_windows() {
	must "$bench" -w1 -d2 syscall-count
	[ "$(grep -cE "$iter_form" out)" = 3 ] || fail "not 3 lines"
	must "$bench" -w 0 -d 1 base
	[ "$(grep -cE "$iter_form" out)" = 1 ] || fail "not 1 line"
	want out "^Benchmark 'trig-syscall-count' started\\.\$"
}

bench_pipeline() {
	local text

	text=$("$bench" -w1 -d1 -a trig-syscall-count | tail -n1 | cut -d'(' -f1 | cut -d' ' -f3-)
	printf '%s\n' "$text"
	[[ $text =~ ^\ *[0-9]+\.[0-9]{3}\ ±\ +[0-9]+\.[0-9]{3}M/s\ ?$ ]] || fail 'not the text of a table'
	text=$("$bench" -w1 -d1 -a trig-syscall-count | sed -nE 's/^Summary:.* hits\s+([0-9]+\.[0-9]+ ± [0-9 ]+\.[0-9]+M\/s).*drops\s+([0-9]+\.[0-9]+) .*/\1 \2/p')
	printf '%s\n' "$text"
	[[ $text =~ M/s\ 0\.000$ ]] || fail 'hits and drops are not found'
}

bench_quiet() {
	must "$bench" -q -w1 -d1 usermode-count
	want_lines out 3
	sed -n 1p out >first
	want first "$iter_form"
	want_none out 'Setting up|started'
}

# What one producer made is half of what two did.
bench_producers() {
	must "$bench" -a -p 2 -w1 -d1 usermode-count
	read -r hits each < <(sed -nE 's/^Summary: hits +([0-9.]+) .*\( *([0-9.]+)M\/prod.*/\1 \2/p' out)
	awk -v hits="$hits" -v each="$each" 'BEGIN { exit !(each > 0 && hits - 2 * each < 0.002 && 2 * each - hits < 0.002) }' ||
		fail "$hits M/s are not two times $each"
}

# Which the kernel's bench does not have: a line each, as its scripts' summarize() makes of a summary.
bench_several() {
	must "$bench" -w1 -d1 --trig-batch-iters 1,8 usermode-count syscall-count
	for name in usermode-count-1 syscall-count-1 usermode-count-8 syscall-count-8; do
		want out "^$(printf '%-20s' "$name:") $number ± ${number}M/s \\(drops 0\\.000 ± 0\\.000M/s\\)\$"
	done
	want_lines out 4
}

# The loop over the rows as the kernel's run_bench_*.sh have it: bash -e, pipefail, the last line cut. A line for each name.
bench_loop() {
	local name

	need_root
	for name in trig-usermode-count trig-fentry trig-kprobe-multi trig-uprobe-nop trig-uprobe-nop10 rename-base rename-fentry; do
		run bash -euo pipefail -c '"$1" -w1 -d1 -a "$2" | tail -n1 | cut -d"(" -f1 | cut -d" " -f3-' loop "$bench" "$name"
		want_status 0
		want_lines out 1
		want out "^ *$number ± +${number}M/s \$|^skipped: .*[A-Z]"
	done
}

# The scripts themselves, where a kernel tree is at hand: KERNEL_TREE=/usr/src/linux ./test.sh bench
bench_scripts() {
	local scripts=${KERNEL_TREE-}/tools/testing/selftests/bpf/benchs script

	need_root
	[ -d "$scripts" ] || skip 'KERNEL_TREE names no kernel tree'
	ln -s "$bench" bench
	mkdir shim
	printf '#!/bin/sh\nexec "$@"\n' >shim/sudo
	chmod +x shim/sudo
	for script in trigger uprobes rename; do
		run env PATH="$PWD/shim:$PATH" bash "$scripts/run_bench_$script.sh"
		want_status 0
		want_none out ': *$' 'a row without a word'
	done
}

bench_skipped() {
	local row

	need_root
	know_all
	row=$(sed -nE 's/ *:  skipped: .*//p' "$tmp/all" | head -n 1)
	if [ -n "$row" ]; then
		run timeout --foreground 60 "$bench" -w1 -d1 "trig-$row"
	else
		need_strace
		run strace -f -qq -e trace=bpf -e inject=bpf:error=ENOSYS -o calls "$bench" -w1 -d1 trig-kernel-count
	fi
	want_status 0
	tail -n 1 out >last
	want last '^Summary: hits skipped: .'
	want_empty err
}

bench_failed() {
	need_figure kernel-count
	fixture no_count
	run timeout --foreground 60 "$bench" --obj no_count.o -w1 -d1 kernel-count
	want_status 1
	want_none out '^Summary'
	want err 'failed: .*did not run the program'
}

# === figures: what they are worth, and what is done with them ==================================================================

group_figures() {
	local typed words row line

	check 'figures: net: what the program adds to a pass, in each round less than the pass' figures_net
	check 'figures: net: none where nothing is attached' figures_net_none
	check 'figures: net: none as bench' figures_net_bench
	check 'figures: --precision: a run that knows enough ends early' figures_precision
	check 'figures: --precision 0: a run takes its time' figures_precision_never
	check 'figures: --precision: one that was not reached is noted' figures_precision_missed
	check 'figures: a CPU shared with others is noted' figures_shared

	check 'figures: --save: the machine, a line each round, and a second run behind it' figures_save
	check 'figures: --save: options that change what is measured are in the name' figures_save_name
	check 'figures: --save: a skipped row is a remark' figures_save_skipped
	check 'figures: --save: into a missing folder: nothing is measured' figures_save_missing
	check 'figures: --save: a full disk' figures_save_full

	check 'figures: diff: a file with itself: no difference' figures_diff_itself
	check 'figures: diff: two sides clearly apart' figures_diff_apart
	check 'figures: diff: --fail-above' figures_diff_fail_above
	check 'figures: diff: what is on one side only' figures_diff_only
	check 'figures: diff: nothing in common: exit status 4' figures_diff_nothing
	check 'figures: diff: several files on a side' figures_diff_files
	check 'figures: diff: several kernels: a table for each pair' figures_diff_kernels
	check 'figures: diff: several hosts: each with itself, and the others with each other' figures_diff_hosts
	check 'figures: diff: a remark where the machines differ in what matters' figures_diff_machines
	check 'figures: diff: a remark where there is one run on each side' figures_diff_one_run
	check 'figures: diff: lines of CRLF, and what Go prints beside results' figures_diff_foreign
	while IFS= read -r row; do
		check "figures: diff: malformed: ${row%% | *}" figures_diff_malformed "${row%% | *}" "${row##* | }"
	done < <(malformed_lines)
	check 'figures: diff: a JSON file, an empty one, a directory, none' figures_diff_unreadable
	check 'figures: diff: means, intervals and p are those of scipy' figures_diff_scipy

	check 'figures: json: names, rounds, threads, and a mean of the rounds' figures_json
	check 'figures: json: a skipped and a failed row have the reason, with quotes in it' figures_json_reasons
	check 'figures: json: interrupted in the middle of several rows' figures_json_interrupted
	check 'figures: a row that was interrupted before it had a figure has that as its reason, in each format' figures_interrupted_early
	check "figures: json: google benchmark's compare.py takes it" figures_json_compare
	check 'figures: gobench: what --save writes' figures_gobench
	check 'figures: gobench: benchstat takes it' figures_benchstat
	check 'figures: csv: as many fields in each line, quotes within' figures_csv
	check 'figures: ktap: version, plan, numbers, SKIP' figures_ktap
	check "figures: ktap: the kernel's kunit.py takes it" figures_kunit

	check 'figures: --chart: a bar for each figure, as wide as the terminal allows' figures_chart
	check 'figures: --svg: well-formed, a bar for each figure, over what was there' figures_svg
	check 'figures: --svg: a directory, a missing folder, a full disk' figures_svg_unwritable
	check 'figures: --svg: no figure, no file' figures_svg_nothing
	check 'figures: progress: on a terminal, and cleared' figures_progress
	check 'figures: progress: none where standard error is no terminal, none with -q' figures_progress_none

	check 'figures: compare: four lines, and the slower one is named' figures_compare
	check 'figures: compare: a row with itself' figures_compare_itself
	check 'figures: compare: options of one side' figures_compare_options
	check 'figures: compare: an object for each side' figures_compare_objects
	check 'figures: compare: --fail-above' figures_compare_fail_above
	check 'figures: compare: a row that cannot run: its reason, exit status 4' figures_compare_skipped
	check 'figures: compare: interrupted: what is known, exit status 130' figures_compare_interrupted

	while IFS= read -r row; do
		typed=${row%% | *} words=${row##* | }
		check "figures: misuse: bpftrig $typed" cli_misuse "$typed" "$words"
	done < <(figures_misuses)
}

# What is typed, and what the one line on standard error must name.
figures_misuses() {
	local option

	cat <<-'END'
		--precision 101 usermode-count | --precision\b.*'101'
		--precision -1 usermode-count | --precision\b.*'-1'
		--precision 5% usermode-count | --precision\b.*'5%'
		--format xml usermode-count | --format\b.*'xml'.*\bktap\b
		list --format csv usermode-count | --format\b.*\blist\b
		--format json --chart usermode-count | --chart\b.*--format bench
		--save '' usermode-count | --save\b.*empty
		compare usermode-count | compare\b.*two rows
		compare | compare\b.*two rows
		compare usermode-count usermode-count usermode-count | compare\b.*two rows
		compare usermode-count fentri | fentri.*\bfentry\b
		compare usermode-count '' | compare\b.*names no row
		compare usermode-count ' --batch 10' | compare\b.*' --batch 10' names no row
		compare usermode-count trig | compare\b.*'trig' is more than one row
		compare usermode-count 'usermode-count -p 1,2' | compare\b.*more than one row
		compare usermode-count 'usermode-count --batch 1,10' | compare\b.*more than one row
		compare --batch 1,10 usermode-count usermode-count | compare\b.*more than one row
		compare usermode-count 'usermode-count --nope' | --nope\b
		compare usermode-count 'usermode-count --batch' | --batch\b.*value
		compare --fail-above x usermode-count usermode-count | --fail-above\b.*'x'
		diff | diff\b.*OLD and NEW
		diff old | diff\b.*OLD and NEW
		diff old new newer | diff\b.*OLD and NEW
		diff old, new | diff\b.*'old,' has an empty name
		diff old '' | diff\b.*'' has an empty name
		diff --fail-above -1 old new | --fail-above\b.*'-1'
	END
	# Options that a command has no use for. The value is a good one, and so are the names.
	for option in '--fail-above 1' '--init x' '--args x'; do
		printf '%s usermode-count | %s\\b.*not for a run\n' "$option" "${option% *}"
	done
	for option in '--save x' '--svg x' '--fail-above 1' '--init x' '--args x' '--chart'; do
		printf 'list %s usermode-count | %s\\b.*not for list\n' "$option" "${option% *}"
	done
	for option in '--save x' '--svg x' '--format csv' '--warmup 1' '--init x' '--args x' '--chart' '--list'; do
		printf 'compare %s usermode-count usermode-count | %s\\b.*not for compare\n' "$option" "${option% *}"
	done
	for option in '--duration 1' '--precision 1' '--format csv' '--save x' '--svg x' '--fail-above 1' '--quiet' '--verbose' '--chart' '--list'; do
		printf "compare usermode-count 'usermode-count %s' | %s\\\\b.*not for one side of compare\\n" "$option" "${option% *}"
	done
	for option in '--duration 1' '--warmup 1' '--precision 1' '--producers 2' '--batch 1' '--affinity' '--prod-affinity 0' '--stacktrace' \
		'--obj x' '--format csv' '--save x' '--svg x' '--chart' '--init x' '--args x' '--list'; do
		printf 'diff %s old new | %s\\b.*not for diff\n' "$option" "${option% *}"
	done
	for option in '--duration 1' '--precision 1' '--producers 2' '--batch 1' '--obj x' '--format csv' '--save x' '--chart' '--fail-above 1' \
		'--on-exit halt'; do
		printf 'initramfs %s archive | %s\\b.*not for initramfs\n' "$option" "${option% *}"
	done
}

# --- for use in these tests ----------------------------------------------------------------------------------------------------

python=/usr/bin/python3 # the system's, which its packages of modules are for
[ -x "$python" ] || python=python3

# need_python [MODULE...]
need_python() {
	local module

	need "$python"
	for module; do
		"$python" -c "import $module" || skip "$python has no $module"
	done
}

# What is a row of figures here and what is not, from list: less than the run of all that need_figure makes.
know_some() {
	[ -s "$tmp/some" ] && return
	"$bin" list usermode-count kernel-count rawtp tp uprobe-nop fentry fexit kprobe kprobe-multi fsession fentry-multi uprobe-nop10 >"$tmp/some"
}

is_row_here() { grep -Eq "^$1 +yes " "$tmp/some"; }

need_row() {
	need_root
	know_some
	is_row_here "$1" || skip "there is no $1 here"
}

# $attached: a row with a program.
need_attached() {
	need_root
	know_some
	for attached in rawtp tp uprobe-nop; do
		! is_row_here "$attached" || return 0
	done
	skip 'no row with a program runs here'
}

# $refused: a row that is skipped.
need_refused() {
	need_root
	know_some
	refused=$(sed -nE 's/^([a-z0-9-]+) +no .*/\1/p' "$tmp/some" | head -n 1)
	[ -n "$refused" ] || skip 'every row runs here'
}

# An --obj file that is none, with a name that every format has to quote; usermode-count takes no notice of it.
odd_name='a "b", \c #1'
make_odd() { printf 'just a text, of more bytes than an ELF header has, so that it could be taken for one\n' >"$odd_name"; }

# alone COMMAND...: runs it where no other run is waited for, and sets $took, in milliseconds. Not for rows that attach something.
alone() {
	local start=${EPOCHREALTIME/./}

	(own_network "$@") >out 2>err
	status=$?
	took=$(((${EPOCHREALTIME/./} - start) / 1000))
	show "$*, $took ms"
}

# --- net, precision, notes -----------------------------------------------------------------------------------------------------

# The printed cost is the mean of the rounds'. Each is less than what the pass costs with the program, as the loop is not free.
figures_net() {
	need_attached
	must "$bin" -q -d 3 -w 0.1 --save saved "$attached"
	cat saved
	want_row out "$attached" figure
	want out ', net [0-9.]+ ± [0-9.]+ ns[;)]'
	# The line's net is time over hits of all rounds, of which one that was half lost counts for half: as far as it may be from their mean.
	sed -nE 's/.*, net ([0-9.]+) ± ([0-9.]+) ns.*/\1 \2/p' out >net
	awk -v net="$(cut -d' ' -f 1 net)" -v half="$(cut -d' ' -f 2 net)" '
		/^Benchmark/ { n++; sum += $5; bad += NF != 6 || $4 != "ns/op" || $6 != "net-ns/op" || $5 >= $3 }
		END { printf "%d rounds, mean %f, printed %s\n", n, sum / n, net; exit !(n >= 10 && !bad && (sum / n - net) ^ 2 < (0.006 + half) ^ 2) }
	' saved || fail 'what is saved of the rounds does not fit'
}

figures_net_none() {
	need_row kernel-count
	must "$bin" -q -d 0.1 -w 0 usermode-count syscall-count kernel-count rename-base
	want_lines out 4
	want_none out '\bnet\b'
	must "$bin" -q -d 0.5 -w 0 --save saved usermode-count kernel-count
	want saved '^BenchmarkTrigger/kernel-count '
	want_none saved 'net'
}

figures_net_bench() {
	need_attached
	must "$bench" -w0 -d1 "$attached"
	want out "$summary_form"
	want_none out '\bnet\b'
}

# Ten rounds are the least, and twenty are all, but for one in which the producer had no CPU at all. The seconds between what it takes and what is allowed are for the machine.
figures_precision() {
	alone "$bin" -q -d 20 -w 0 --precision 100 --save saved usermode-count
	want_status 0
	want_row out usermode-count figure
	[ "$(grep -c ^Benchmark saved)" = 10 ] || fail "$(grep -c ^Benchmark saved) rounds, not 10"
	[ "$took" -lt 15000 ] || fail "it took $took ms"
}

figures_precision_never() {
	alone "$bin" -q -d 1 -w 0 --precision 0 --save saved usermode-count
	want_status 0
	want_row out usermode-count figure
	want_none out 'too noisy'
	[ "$(grep -c ^Benchmark saved)" -gt 10 ] || fail "$(grep -c ^Benchmark saved) rounds, not 20"
	[ "$took" -ge 900 ] || fail "it took $took ms"
}

figures_precision_missed() {
	must "$bin" -q -d 0.1 -w 0 --precision 0.000001 usermode-count
	want_row out usermode-count figure
	want out '; too noisy for 0\.000001 %[;)]'
}

figures_shared() {
	local cpu busy part

	need taskset
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	busy=$!
	alone "$bin" -q -d 1 -w 0.1 --precision 0 --prod-affinity "$cpu" usermode-count
	kill $busy
	want_status 0
	want_row out usermode-count figure
	part=$(sed -nE 's/.*; CPU shared with others: a producer had ([0-9]+) % of it[;)].*/\1/p' out)
	[ -n "$part" ] || fail 'no note on the CPU'
	if [ "$part" -lt 5 ] || [ "$part" -gt 90 ]; then # half of it, and less of a machine that has more to do
		fail "the producer had $part %?"
	fi
}

# --- saved results -------------------------------------------------------------------------------------------------------------

# The figure is what the rounds come to: all of the time for all of the hits.
figures_save() {
	local key

	must "$bin" -q -d 1 -w 0 --precision 0 --save saved usermode-count
	want_row out usermode-count figure
	cat saved
	printf 'goos: linux\npkg: bpftrig\n' >wanted
	head -n 2 saved | cmp - wanted || fail 'it does not begin with goos and pkg'
	grep -Fqx "kernel: $(uname -r)" saved || fail "no line 'kernel: $(uname -r)'"
	for key in goarch cpus machine jit bpftrig; do
		want saved "^$key: [^ ]"
	done
	grep ^Benchmark saved | grep -vE '^BenchmarkTrigger/usermode-count [1-9][0-9]* [0-9]+\.[0-9]{4} ns/op$' >other
	want_empty other
	[ "$(grep -c ^Benchmark saved)" -gt 10 ] || fail 'not twenty rounds'
	sed -E 's/.*\(([0-9.]+) ns.*/\1/' out >ns
	awk -v ns="$(cat ns)" '/^Benchmark/ { hits += $2; all += $2 * $3 } END { exit !((all / hits - ns) ^ 2 < 0.006 ^ 2) }' saved ||
		fail "the rounds do not come to $(cat ns) ns"
	cp saved first
	must "$bin" -q -d 0.5 -w 0 --precision 0 -p 2 --batch 8 --save saved usermode-count
	head -c "$(stat -c %s first)" saved | cmp - first || fail 'the first run is not there any more'
	[ "$(grep -cx 'pkg: bpftrig' saved)" = 2 ] || fail 'not two runs'
	want saved '^BenchmarkTrigger/usermode-count/batch=8-2 [1-9][0-9]* [0-9]+\.[0-9]{4} ns/op$'
	printf 'BenchmarkX 10 5 ns/op' >saved # as an editor, or a full disk, may leave it
	must "$bin" -q -d 0.5 -w 0 --save saved usermode-count
	want saved '^BenchmarkX 10 5 ns/op$'
	must "$bin" -q diff saved saved
	want out '^Trigger/usermode-count '
}

figures_save_name() {
	need_row kernel-count
	fixture globals
	mkdir some
	mv globals.o 'some/my globals.o'
	must "$bin" -q -d 0.5 -w 0 -p 2 --batch 8 --obj 'some/my globals.o' --save saved kernel-count
	want saved '^BenchmarkTrigger/kernel-count/batch=8/obj=some_my_globals\.o-2 [0-9]+ [0-9.]+ ns/op$'
	must "$bin" -q diff saved saved
}

figures_save_skipped() {
	need_refused
	must "$bin" -q -d 0.5 -w 0 --save saved usermode-count "$refused"
	want_row out "$refused" ' '
	sed -nE "s/^$refused *:  skipped: /# $refused: skipped: /p" out >wanted
	grep "^# $refused:" saved >remark || fail "no remark on $refused"
	want_same remark wanted
	want saved '^BenchmarkTrigger/usermode-count '
	want_none saved "^Benchmark.*/$refused\\b"
	must "$bin" -q diff saved saved
}

figures_save_missing() {
	run "$bin" -q -d 0.1 -w 0 --save missing/saved usermode-count
	want_status 1
	want_empty out
	want_lines err 1
	want err '^bpftrig: missing/saved: ENOENT \(2\)'
}

figures_save_full() {
	[ -c /dev/full ] || skip 'no /dev/full'
	run "$bin" -q -d 0.1 -w 0 --save /dev/full usermode-count
	want_status 1
	want_row out usermode-count figure
	want_lines err 1
	want err '^bpftrig: /dev/full: ENOSPC \(28\)'
}

# --- diff ----------------------------------------------------------------------------------------------------------------------

# results KERNEL JIT NAME VALUE...: a run, as --save writes it.
results() {
	printf 'goos: linux\npkg: bpftrig\nkernel: %s\njit: %s\n' "$1" "$2"
	printf "BenchmarkTrigger/$3 1000 %s ns/op\\n" "${@:4}"
}

# Ten values around a number, in no order.
around() {
	local tenth

	for tenth in 3 -4 1 5 -2 -5 4 0 2 -3; do
		awk -v x="$1" -v t="$tenth" 'BEGIN { printf "%.1f ", x + t / 10 }'
	done
}

# Two sides, of 100 and 112 ns.
make_sides() {
	# shellcheck disable=SC2046
	results 6.1 on fentry $(around 100) >old
	# shellcheck disable=SC2046
	results 6.1 on fentry $(around 112) >new
}

figures_diff_itself() {
	make_sides
	must "$bin" -q -d 1 -w 0 --save saved usermode-count syscall-count
	for file in old saved; do
		must "$bin" diff "$file" "$file"
		[ "$(grep -c 'Trigger/' out)" = "$(sed -nE 's/^Benchmark([^ ]+) .*/\1/p' "$file" | uniq | wc -l)" ] || fail 'not one line each'
		grep 'Trigger/' out | grep -vE ' ns/op +[0-9.]+ ± [0-9.]+ +[0-9.]+ ± [0-9.]+  ~  p=1\.000 n=[0-9]+\+[0-9]+$' >other
		want_empty other
	done
	want out "^$(uname -r | sed 's/[.+]/\\&/g')( on [^ ]+)? -> "
}

figures_diff_apart() {
	make_sides
	must "$bin" -q diff old new
	want_empty err
	want out '^Trigger/fentry +ns/op +100\.01 ± 0\.25 +112\.01 ± 0\.25  \+12\.00 \(\+12\.0%\)  p=0\.000 n=10\+10$'
	must "$bin" -q diff new old
	want out ' -12\.00 \(-10\.7%\)  p=0\.000 n=10\+10$'
	results 6.1 on fentry 100 101 99 100.5 >old # as few as can differ
	results 6.1 on fentry 120 121 119 120.5 >new
	must "$bin" -q diff old new
	want out ' \+20\.00 \(\+20\.0%\)  p=0\.029 n=4\+4$'
	results 6.1 on fentry 100 101 99 >old # p cannot be under 0.1
	results 6.1 on fentry 120 121 119 >new
	must "$bin" -q diff old new
	want out '  ~  p=0\.100 n=3\+3$'
	results 6.1 on fentry 100 >old
	must "$bin" -q diff old new
	want out '^Trigger/fentry +ns/op +100\.00 +120\.00 ± [0-9.]+  ~ '
}

figures_diff_fail_above() {
	make_sides
	run "$bin" -q diff --fail-above 11.9 old new
	want_status 1
	want err '^bpftrig: 1 of 1 results are slower by more than 11.9 %'
	want out '\+12\.00 \(\+12\.0%\)'
	must "$bin" -q diff --fail-above 12.1 old new
	want_empty err
	must "$bin" -q diff --fail-above 0 new old # faster
	must "$bin" -q diff --fail-above 0 old old
	must "$bin" -q diff old new
	sed -i 's,ns/op,MB/s,' old new # of which more is not slower
	must "$bin" -q diff --fail-above 0 old new
	want out ' MB/s .*\(\+12\.0%\)'
}

figures_diff_only() {
	make_sides
	results 6.1 on kprobe 1 2 3 >>old
	results 6.1 on tp 1 2 3 >>new
	must "$bin" -q diff old new
	want out '^Trigger/kprobe +ns/op .* only in OLD$'
	want out '^Trigger/tp +ns/op .* only in NEW$'
	want out '^Trigger/fentry .* n=10\+10$'
}

figures_diff_nothing() {
	results 6.1 on kprobe 1 2 3 >old
	results 6.1 on tp 1 2 3 >new
	run "$bin" -q diff --fail-above 0 old new
	want_status 4
	want out '^Trigger/kprobe .* only in OLD$'
	want out '^Trigger/tp .* only in NEW$'
}

figures_diff_files() {
	make_sides
	must "$bin" -q diff old,new,old new
	want out ' n=30\+10$'
	must "$bin" -q diff new old,new
	want out ' n=10\+20$'
	run "$bin" -q diff old,missing new
	want_status 2
	want err '^bpftrig: missing: ENOENT \(2\)'
}

figures_diff_kernels() {
	{ results 6.1 on fentry 100 101 99 100.5 && results 6.6 on fentry 200 201 199 200.5; } >old
	{ results 6.12 on fentry 112 113 111 112.5 && results 7.3 on fentry 220 221 219 220.5; } >new
	must "$bin" -q diff old new
	grep -e '->' out >pairs
	printf '%s -> %s\n' 6.1 6.12 6.1 7.3 6.6 6.12 6.6 7.3 >wanted
	want_same pairs wanted
	sed -nE 's/.* (\S+) \(.*n=4\+4$/\1/p' out >changes
	printf '%s\n' +12.00 +120.00 -88.00 +20.00 >wanted
	want_same changes wanted
	grep -v '^kernel' new >without
	must "$bin" -q diff old without
	want out '^6\.1 -> NEW$'
}

# results_of HOST KERNEL VALUE...: of a host, as --save has it.
results_of() { results "$2" on fentry "${@:3}" | sed "s/^kernel: .*/&\\nhost: $1/"; }

figures_diff_hosts() {
	{ results_of one 6.1 100 101 99 100.5 && results_of two 6.1 200 201 199 200.5; } >old
	{ results_of two 6.6 240 241 239 240.5 && results_of one 6.6 110 111 109 110.5; } >new
	must "$bin" diff old new
	grep -e '->' out >pairs
	printf '6.1 on %s -> 6.6 on %s\n' one one two two >wanted
	want_same pairs wanted
	sed -nE 's/.* (\S+) \(.*n=4\+4$/\1/p' out >changes
	printf '%s\n' +10.00 +40.00 >wanted
	want_same changes wanted
	want_none err 'only in|taken as one'
	results_of three 6.6 1 2 3 4 >>new
	must "$bin" diff old new
	grep -ce '->' out | grep -qx 2 || fail 'three was compared'
	want err '^bpftrig: three is only in NEW$'
	results_of four 6.1 1 2 3 4 | sed 's/^jit: on/jit: off/' >>old
	must "$bin" diff old new
	grep -ce '->' out | grep -qx 3 || fail 'four was not compared with three'
	want err '^bpftrig: three: the machines differ: jit: off, and on$'
	want_lines <(grep differ err) 1
	{ results_of one 6.1 1 2 3 4 | sed 's/^jit: on/jit: off/' && results_of two 6.1 1 2 3 4 | sed '/^jit:/d'; } >old
	results_of two 6.6 1 2 3 4 >other
	must "$bin" diff old other
	want_none err 'machines differ' 'what one says of itself is taken for what two says'
	results 6.1 on fentry 100 101 99 100.5 >golden
	must "$bin" -q diff golden new
	grep -e '->' out >pairs
	printf '6.1 -> 6.6 on %s\n' two one three >wanted
	want_same pairs wanted
}

figures_diff_machines() {
	make_sides
	sed 's/^jit: on/jit: off/' new >other
	must "$bin" diff old other
	want err '^bpftrig: the machines differ: jit: on, and off$'
	want_none out 'machines'
	must "$bin" -q diff old other
	want_empty err
	must "$bin" diff old new
	want_none err 'machines differ'
	must "$bin" diff old,other new
	want err '^bpftrig: OLD holds results of machines that differ \(jit\)'
	sed 's/^kernel: 6.1/kernel: 6.2/; s/^goos: .*/goos: other/' new >other # what one compares, and what is not ours
	must "$bin" diff old other
	want_none err 'machines.* differ'
}

figures_diff_one_run() {
	make_sides
	must "$bin" diff old new
	want err '^bpftrig: one run on each side'
	must "$bin" diff old,old new
	want_none err 'one run'
}

figures_diff_foreign() {
	make_sides
	must "$bin" -q diff old new
	mv out plain
	sed 's/$/\r/' old >crlf
	must "$bin" -q diff crlf new
	want_same plain out
	{
		printf 'goos: linux\ngoarch: amd64\npkg: example.com/x\n\nBenchmarkTrigger/fentry\n# a remark\n=== RUN x\n--- BENCH: x\n'
		sed -n '/^Benchmark/ { s/ /\t  /g; p }' new
		printf 'PASS\nok  \texample.com/x\t1.2s\nUnit ns/op better=lower'
	} >go
	must "$bin" -q diff old go
	want out '^6\.1 -> NEW$'
	want out ' \+12\.00 \(\+12\.0%\)  p=0\.000 n=10\+10$'
	printf 'BenchmarkX 10 1.5e2 ns/op\nBenchmarkX 10 15E+1 ns/op\nBenchmarkX 10 +150 ns/op\nBenchmarkY 10 -15e-1 ns/op 3 B/op' >numbers
	must "$bin" -q diff numbers numbers
	want out '^X +ns/op +150\.00 ± 0\.00 '
	want out '^Y +ns/op +-1\.50* '
	want out '^Y +B/op +3\.00* '
}

# A line, and what is wrong with it.
malformed_lines() {
	cat <<-'END'
		BenchmarkX ten 5 ns/op | number of iterations
		BenchmarkX -1 5 ns/op | number of iterations
		BenchmarkX 1.5 5 ns/op | number of iterations
		BenchmarkX 10 | no value
		BenchmarkX 10 5 | no unit
		BenchmarkX 10 5 ns/op 7 | no unit
		BenchmarkX 10 5x ns/op | no number
		BenchmarkX 10 nan ns/op | no number
		BenchmarkX 10 inf ns/op | no number
		BenchmarkX 10 0x10 ns/op | no number
		BenchmarkX 10 1e ns/op | no number
		BenchmarkX 10 1e999 ns/op | no number
		BenchmarkX 10 1e300e1 ns/op | no number
		usermode-count :  463.3 ± 5.9M/s  (2.16 ns/trigger) | no line of a result file
		some words | no line of a result file
		Kernel: 6.1 | no line of a result file
		<html> | no line of a result file
	END
}

# It is the third line, and nothing is printed of the good ones around it.
figures_diff_malformed() {
	printf 'BenchmarkX 10 5 ns/op\n\n%s\nBenchmarkX 10 6 ns/op\n' "$1" >bad
	printf 'BenchmarkX 10 5 ns/op\n' >good
	for sides in 'bad good' 'good bad'; do
		# shellcheck disable=SC2086
		run "$bin" diff $sides
		want_status 2
		want_empty out
		want_lines err 1
		want err "^bpftrig: bad:3: .*$2"
	done
}

figures_diff_unreadable() {
	local file words

	make_sides
	must "$bin" -q -d 0.1 -w 0 --format json usermode-count
	mv out json
	: >empty
	mkdir directory
	printf 'pkg: bpftrig\n# usermode-count: skipped: a reason\n' >remarks
	printf 'BenchmarkX 10 5 ns/op\n\0\n' >binary
	while read -r file words; do
		for sides in "$file old" "old,$file old" "old $file"; do
			# shellcheck disable=SC2086
			run timeout --foreground 60 "$bin" diff $sides
			want_status 2
			want_empty out
			want_lines err 1
			want err "^bpftrig: $file: ?$words"
		done
	done <<-'END'
		json 1: this is no line of a result file
		empty  holds no results
		remarks  holds no results
		binary  has a zero byte
		directory  EISDIR \(21\)
		missing  ENOENT \(2\)
		/dev/zero  E[A-Z]+ \([0-9]+\)
	END
}

# The interval of a mean as bpftrig.c describes it (estimate_mean), the test of scipy: exact up to a product of sizes of 400.
figures_diff_scipy() {
	need_python numpy scipy.stats
	must "$python" - "$bin" <<-'END'
		import random, re, subprocess, sys
		import numpy as np
		from scipy import stats

		def estimate(x):
		    n, d = len(x), x - x.mean()
		    r = (d[1:] * d[:-1]).sum() / (d * d).sum() if d.any() else 0
		    r += (1 + 3 * r) / n
		    r = min(max(r, 0), 0.9) if d.any() else 0
		    worth = min(max(n * (1 - r) / (1 + r), 4), n)
		    return x.mean(), stats.t.ppf(0.975, int(worth + 0.5) - 1) * x.std(ddof=1) / np.sqrt(worth)

		random.seed(1)
		wrong = changes = 0
		for case in range(60):
		    n, m = random.choice([(2, 2), (3, 5), (4, 4), (7, 9), (20, 20), (20, 21), (60, 40), (5, 80)])
		    digits = random.choice([0, 1, 4])  # 0: with ties
		    shift, drift = random.choice([0, 0.5, 2, 10]), random.choice([0, 0.2])
		    x = np.array([round(random.gauss(50, 2) + drift * i, digits) for i in range(n)])
		    y = np.array([round(random.gauss(50 + shift, 2) + drift * i, digits) for i in range(m)])
		    for name, side in (("old", x), ("new", y)):
		        with open(name, "w") as f:
		            f.writelines("BenchmarkX 1 %.4f ns/op\n" % v for v in side)
		    text = subprocess.run([sys.argv[1], "-q", "diff", "old", "new"], capture_output=True, text=True, check=True).stdout
		    line = text.splitlines()[-1]
		    form = r"X +ns/op +(\S+) ± (\S+) +(\S+) ± (\S+)  (?:~|(\S+) \((\S+)%\))  p=(\S+) n=(\d+)\+(\d+)"
		    g = re.fullmatch(form, line).groups()
		    exact = n * m <= 400 and len(set(x) | set(y)) == n + m
		    p = stats.mannwhitneyu(x, y, method="exact" if exact else "asymptotic").pvalue
		    p = 1 if np.isnan(p) else p
		    (a, half_a), (b, half_b) = estimate(x), estimate(y)
		    differs = p < 0.05 and (b - a) ** 2 > half_a ** 2 + half_b ** 2
		    pairs = [(g[0], a, 0.0051), (g[1], half_a, 0.0051), (g[2], b, 0.0051), (g[3], half_b, 0.0051), (g[6], p, 0.00051)]
		    if g[4] and differs:
		        pairs += [(g[4], b - a, 0.0051), (g[5], 100 * (b - a) / a, 0.051)]
		    changes += differs
		    if (g[4] is not None) != differs or (int(g[7]), int(g[8])) != (n, m) or any(abs(float(s) - v) > e for s, v, e in pairs):
		        wrong += 1
		        print(line, "\n  wanted", a, half_a, b, half_b, p, differs)
		print(changes, "changes in 60,", wrong, "wrong")
		sys.exit(1 if wrong or changes < 10 or changes > 50 else 0)
	END
}

# --- formats -------------------------------------------------------------------------------------------------------------------

figures_json() {
	need_python
	must "$bin" -q -d 1 -w 0 -p 2 --precision 0 --format json usermode-count syscall-count
	mv out json
	must "$python" - <<-'END'
		import json, os
		data = json.load(open("json"))
		assert data["context"]["kernel"] == os.uname().release, data["context"]
		assert data["context"]["executable"] == "bpftrig"
		rows = ["usermode-count", "syscall-count"]
		assert [b["run_name"] for b in data["benchmarks"] if b["run_type"] == "aggregate"] == rows
		cpus = min(2, len(os.sched_getaffinity(0)))
		for row in rows:
		    *rounds, mean = [b for b in data["benchmarks"] if b["run_name"] == row]
		    indices = [b["repetition_index"] for b in rounds]
		    assert indices == sorted(set(indices)) and len(indices) > 10 and set(indices) <= set(range(20)), indices
		    for b in rounds:
		        assert (b["name"], b["run_type"], b["repetitions"]) == (row, "iteration", 20), b
		        assert b["iterations"] > 0 and b["real_time"] == b["cpu_time"] > 0 and b["time_unit"] == "ns", b
		    assert all(b["threads"] == 2 and "net_ns" not in b and "error_occurred" not in b for b in rounds + [mean])
		    assert (mean["name"], mean["run_type"], mean["aggregate_name"]) == (row + "_mean", "aggregate", "mean"), mean
		    hits = sum(b["iterations"] for b in rounds)
		    ns = sum(b["iterations"] * b["real_time"] for b in rounds) / hits
		    assert abs(mean["real_time"] / ns - 1) < 1e-2 if len(rounds) < 20 else 1e-4, (mean, ns)
		    assert abs(mean["real_time"] * mean["rate"] / (cpus * 1e3) - 1) < 1e-4, mean
		    assert mean["rate_half"] > 0 and mean["interrupted"] is False, mean
	END
}

figures_json_reasons() {
	need_python
	need_refused
	must "$bin" -q -d 0.1 -w 0 --format json usermode-count "$refused"
	mv out skipped
	make_odd
	run "$bin" -q -d 0.1 -w 0 --format json --obj "$odd_name" usermode-count kernel-count
	want_status 1
	mv out failed
	run "$bin" -q -d 0.1 -w 0 "$refused"
	sed -E 's/^[a-z0-9-]+ *:  skipped: //' out >reason
	must "$python" - "$refused" "$odd_name" <<-'END'
		import json, sys
		row, odd = sys.argv[1:]
		last = json.load(open("skipped"))["benchmarks"][-1]
		assert last["name"] == row and last["error_occurred"] is True and last["skipped"] is True, last
		assert last["error_message"] + "\n" == open("reason").read(), last
		last = json.load(open("failed"))["benchmarks"][-1]
		assert last["name"] == "kernel-count" and last["error_occurred"] is True and last["skipped"] is False, last
		assert last["error_message"].startswith(odd + ": "), last
	END
}

# Eight rows, which take eight seconds at least; it is interrupted in the second, or whatever the machine made of that.
figures_json_interrupted() {
	local row=usermode-count

	need_python
	own_network env --default-signal=INT "$bin" -q -d 2 -w 0 --precision 100 --format json \
		$row $row $row $row $row $row $row $row >out 2>err &
	wait_for has_line out "\"${row}_mean\""
	wait_for waits_of $! $(($(sed -n 's/^voluntary_ctxt_switches:\s*//p' "/proc/$!/status") + 40))
	kill -s INT $!
	wait $!
	status=$?
	show 'interrupted'
	want_status 130
	want_empty err
	mv out json
	must "$python" - <<-'END'
		import json
		means = [b for b in json.load(open("json"))["benchmarks"] if b["run_type"] == "aggregate"]
		assert 2 <= len(means) < 8, means
		assert [b["interrupted"] for b in means] == [False] * (len(means) - 1) + [True], means
	END
}

# The reason of the row before it is another one.
figures_interrupted_early() {
	local format

	need_refused
	for format in json csv gobench ktap bench; do
		own_network env --default-signal=INT "$bin" -q -d 1 -w 600 --format $format "$refused" usermode-count >out 2>err &
		wait_for has_line out "$refused"
		kill -s INT $!
		wait $!
		status=$?
		show "$format, interrupted"
		want_status 130
		want out 'usermode-count.*interrupted before there was a figure'
		want_none out 'usermode-count.*needs|usermode-count.*\([0-9]+\)'
	done
}

figures_json_compare() {
	local tool=/usr/share/benchmark/compare.py side

	[ -e "$tool" ] || skip "there is no $tool (libbenchmark-tools)"
	need_python numpy scipy.stats
	need_refused
	for side in a b; do
		must "$bin" -q -d 0.5 -w 0 --format json usermode-count "$refused" syscall-count
		mv out $side
	done
	must timeout --foreground 60 "$python" "$tool" --no-color benchmarks a b
	want_empty err
	want out '^usermode-count_pvalue '
	want out '^syscall-count_mean '
}

figures_gobench() {
	local row=usermode-count

	if is_root; then
		need_refused
		row="$row $refused"
	fi
	# shellcheck disable=SC2086
	must "$bin" -q -d 0.5 -w 0 --batch 10,100 --format gobench --save saved $row
	want_same out saved
	want out '^BenchmarkTrigger/usermode-count/batch=10 '
	want out '^BenchmarkTrigger/usermode-count '
}

# BENCHSTAT=path/to/benchstat ./test.sh figures
figures_benchstat() {
	local benchstat=${BENCHSTAT:-benchstat} row

	need "$benchstat"
	row=usermode-count
	! is_root || { need_attached && row="$row $attached"; }
	for side in a b; do
		# shellcheck disable=SC2086
		must "$bin" -q -d 0.5 -w 0 --save $side $row
	done
	must "$benchstat" a b
	want_empty err
	want out '^Trigger/usermode-count +[0-9.]+n ± +[0-9]+% +[0-9.]+n ± '
	must "$bin" diff a b
}

figures_csv() {
	need_python
	need_refused
	must "$bin" -q -d 0.1 -w 0 -p 1,2 --batch 8 --format csv usermode-count "$refused"
	mv out skipped
	make_odd
	run "$bin" -q -d 0.1 -w 0 --format csv --obj "$odd_name" usermode-count kernel-count
	want_status 1
	mv out failed
	must "$python" - "$refused" "$odd_name" <<-'END'
		import csv, os, sys
		row, odd = sys.argv[1:]
		cpus = len(os.sched_getaffinity(0))
		head, *lines = csv.reader(open("skipped", newline=""), strict=True)
		assert head == "row,producers,batch,outcome,rate,rate_half,ns,net_ns,net_ns_half,instructions,cycles,rounds,note".split(","), head
		assert all(len(line) == len(head) for line in lines), lines
		assert [line[:4] for line in lines] == [["usermode-count", "1", "8", "done"], ["usermode-count", "2", "8", "done"],
		                                        [row, "1", "8", "skipped"], [row, "2", "8", "skipped"]], lines
		for line in lines[:2]:
		    entry = dict(zip(head, line))
		    assert abs(float(entry["ns"]) * float(entry["rate"]) / min(int(entry["producers"]), cpus) / 1e3 - 1) < 1e-3, entry
		    assert float(entry["rate_half"]) > 0 and entry["net_ns"] == entry["net_ns_half"] == "", entry
		assert all(line[4:-1] == [""] * 7 + ["0"] and line[-1] for line in lines[2:]), lines
		head, done, failed = csv.reader(open("failed", newline=""), strict=True)
		assert failed[3] == "failed" and failed[-1].startswith(odd + ": "), failed
	END
}

# ktap_lines: reads KTAP, and prints "RESULT NAME" for each test; fails where it is none.
ktap_lines() {
	awk '
		function bad(what) { print what ": " $0 >"/dev/stderr"; wrong = 1; exit 1 }
		NR == 1 { if ($0 != "KTAP version 1") bad("version"); next }
		NR == 2 { if ($0 !~ /^1\.\.[0-9]+$/) bad("plan"); planned = substr($0, 4); next }
		/^# / { next }
		{
			result = "pass"
			rest = $0
			if (sub(/^not /, "", rest)) result = "fail"
			if (!sub(/^ok /, "", rest)) bad("line")
			if (rest !~ "^" (++n) " [a-z0-9-]+( # SKIP .+)?$") bad("number, or name")
			if (rest ~ / # SKIP /) { if (result == "fail") bad("skipped and failed"); result = "skip" }
			if (gsub(/#/, "#", rest) > (result == "skip")) bad("directive")
			split(rest, word, " ")
			print result, word[2]
		}
		END { if (!wrong && n != planned) { print "planned " planned ", came " n >"/dev/stderr"; exit 1 } exit wrong }'
}

figures_ktap() {
	need_refused
	must "$bin" -q -d 0.1 -w 0 --batch 10,100 --format ktap usermode-count "$refused" syscall-count
	cp out ktap
	want ktap "^# kernel: $(uname -r | sed 's/[.+]/\\&/g')\$"
	is_figure "$(sed -n 's/^# \(usermode-count-10: \)/\1/p' ktap)" || fail 'no figure in front of the result'
	must ktap_lines <ktap
	printf '%s\n' 'pass usermode-count-10' "skip $refused-10" 'pass syscall-count-10' 'pass usermode-count-100' "skip $refused-100" 'pass syscall-count-100' >wanted
	want_same out wanted
	make_odd
	run "$bin" -q -d 0.1 -w 0 --format ktap --obj "$odd_name" usermode-count kernel-count
	want_status 1
	cp out ktap
	want ktap '^# kernel-count: a "b", \\c [ #]1: ' 'no reason of the failed row'
	must ktap_lines <ktap
	printf '%s\n' 'pass usermode-count' 'fail kernel-count' >wanted
	want_same out wanted
}

# KUNIT=/usr/src/linux/tools/testing/kunit/kunit.py ./test.sh figures
figures_kunit() {
	[ -e "${KUNIT-}" ] || skip 'KUNIT names no kunit.py'
	need_python
	need_refused
	must "$bin" -q -d 0.1 -w 0 --format ktap usermode-count "$refused"
	mv out passed
	make_odd
	run "$bin" -q -d 0.1 -w 0 --format ktap --obj "$odd_name" usermode-count kernel-count
	mv out failed
	must timeout --foreground 60 "$python" "$KUNIT" parse passed
	want out 'Ran 2 tests: passed: 1, skipped: 1'
	want out "\\[SKIPPED\\] $refused"
	run timeout --foreground 60 "$python" "$KUNIT" parse failed
	want out 'Ran 2 tests: passed: 1, failed: 1$'
}

# --- charts and progress -------------------------------------------------------------------------------------------------------

# on_terminal WIDTH COMMAND-LINE: what it writes to a terminal.
on_terminal() {
	need script stty
	(own_network script -qec "stty cols $1; $2" /dev/null) </dev/null >out 2>err
	status=$?
	tr -d '\r' <out | cat -v
	want_status 0
}

# want_chart COLUMNS: the lines behind the empty one are a chart, whose numbers, with a linear scale, give the lengths of the bars. A
# character has eight parts.
want_chart() {
	tr -d '\r' <out | sed '1,/^$/d' >chart
	want chart '^ +ns/trigger ± half of the 95 % interval$' 'no heading of a chart with a linear scale'
	awk -v columns="$1" '
		NR > 1 {
			if ($3 != "±" || NF < 4) exit 1
			name[NR] = $1; ns[NR] = $2; half[NR] = $4
			if (length($1) > label) label = length($1)
			if ($2 + $4 > high) high = $2 + $4
			bar[NR] = 8 * gsub(/█/, "")
			split("▏ ▎ ▍ ▌ ▋ ▊ ▉", part, " ")
			for (i in part) if (index($0, part[i])) bar[NR] += i
		}
		END {
			for (i = 2; i <= NR; i++) {
				wanted = 8 * (columns - label - 26) * ns[i] / high
				printf "%s: %d eighths, wanted %.2f\n", name[i], bar[i], wanted
				if (bar[i] - wanted > 1 + wanted / 100 || wanted - bar[i] > 1 + wanted / 100) wrong = 1
			}
			exit wrong || NR < 2
		}' chart || fail 'the bars are not as long as their numbers'
}

figures_chart() {
	local rows='usermode-count usermode-count' drawn columns

	drawn=$rows
	! is_root || { need_refused && rows="usermode-count $refused kernel-count" drawn='usermode-count kernel-count'; }
	for columns in 60 132; do
		on_terminal $columns "'$bin' -q -d 0.2 -w 0 --chart $rows 2>/dev/null"
		want_chart $columns
		[ "$(sed 1d chart | cut -d' ' -f1 | tr '\n' ' ')" = "$drawn " ] || fail 'not a bar for each figure'
	done
	# shellcheck disable=SC2086
	must "$bin" -q -d 0.2 -w 0 --chart $rows # no terminal: 80 columns
	want_chart 80
	must "$bin" -q -d 0.2 -w 0 usermode-count
	want_lines out 1
}

figures_svg() {
	local rows='usermode-count syscall-count' drawn

	need_python
	drawn=$rows
	! is_root || { need_refused && rows="usermode-count $refused kernel-count" drawn='usermode-count kernel-count'; }
	head -c 100000 /dev/zero | tr '\0' 'x' >chart.svg
	# shellcheck disable=SC2086
	must "$bin" -q -d 0.2 -w 0 --svg chart.svg $rows
	want_empty err
	# shellcheck disable=SC2086
	must "$python" - $drawn <<-'END'
		import os, sys
		import xml.etree.ElementTree as tree
		svg = tree.parse("chart.svg").getroot()
		space = "{http://www.w3.org/2000/svg}"
		assert svg.tag == space + "svg", svg.tag
		bars = [r for r in svg.iter(space + "rect") if r.get("y")]
		assert len(bars) == len(sys.argv) - 1, bars
		texts = [t.text for t in svg.iter(space + "text")]
		assert [t for t in texts if t in sys.argv[1:]] == sys.argv[1:], texts
		assert any(os.uname().release in t for t in texts), texts
		figures = [float(t.split()[0]) for t in texts if " ± " in t]
		widths = [float(r.get("width")) for r in bars]
		assert len(figures) == len(widths) and widths.index(max(widths)) == figures.index(max(figures)), (figures, widths)
		assert all(0 < w < int(svg.get("width")) for w in widths), widths
	END
}

figures_svg_unwritable() {
	local file words

	mkdir directory
	while read -r file words; do
		run "$bin" -q -d 0.1 -w 0 --svg "$file" usermode-count
		want_status 1
		[ "$file" = /dev/full ] || want_empty out # nothing is measured for it
		want_lines err 1
		want err "^bpftrig: $file: $words"
	done <<-'END'
		directory EISDIR \(21\)
		missing/chart.svg ENOENT \(2\)
		/dev/full ENOSPC \(28\)
	END
}

figures_svg_nothing() {
	need_refused
	echo before >chart.svg
	for file in chart.svg new.svg; do
		run "$bin" -q -d 0.1 -w 0 --chart --svg $file "$refused"
		want_status 4
		want_lines out 1
		want err "^bpftrig: $file: not written, for there is no figure"
	done
	[ "$(cat chart.svg)" = before ] || fail 'the old file is not there any more'
	[ ! -e new.svg ] || fail 'something was written'
}

# What is shown begins at the line's start, with what clears it; the last thing of a row is that.
figures_progress() {
	local clear=$'\r\e[K'

	[ "$(nproc)" -gt 1 ] || skip 'with one CPU there is none: it takes time from the producers'
	on_terminal 80 "'$bin' -d 1 -w 0 --precision 0 usermode-count syscall-count 2>&1 >/dev/null"
	for row in usermode-count syscall-count; do
		grep -Fq "$clear$row, at most " out || fail "$row is not shown at its start"
		grep -Eq "${clear/\[/\\[}$row: [0-9.]+M/s to [0-9.]+ %, at most [0-9]+ s more" out || fail "it is not shown how narrow the interval of $row is"
	done
	[ "$(tail -c 4 out)" = "$clear" ] || fail 'the last row is not cleared'
	grep -Fq "$clear${clear}syscall-count" out || fail 'the first row is not cleared'
	on_terminal 60 "'$bin' -d 0.5 -w 0 --precision 2.5 usermode-count 2>&1 >/dev/null"
	grep -Eq ' to [0-9.]+ % of 2\.5 %' out || fail 'the precision that is wanted is not shown'
	awk -v RS='\r' 'sub(/^\033\[K/, "") && length > 59 { print; wrong = 1 } END { exit wrong }' out || fail 'it is longer than the line'
}

figures_progress_none() {
	must "$bin" -d 0.5 -w 0 usermode-count
	want_none err $'[\r\e]'
	on_terminal 80 "'$bin' -q -d 0.5 -w 0 usermode-count 2>&1 >/dev/null"
	want_empty out
}

# --- compare -------------------------------------------------------------------------------------------------------------------

# want_comparison A B VERDICT: four lines and no other, but remarks on the two. The percents are those of the ratio.
want_comparison() {
	local a=$1 b=$2 line

	grep -v '^# ' out >comparison
	want_lines comparison 4
	for line in 1 2; do
		sed -n ${line}p comparison >side
		grep -Fqx "$(printf '%-15s: %8.2f ns/trigger' "${!line}" "$(sed -E 's/.*: +([0-9.]+) ns.*/\1/' side)")" side || fail "line $line is not that of '${!line}'"
	done
	want comparison '^B / A          : +[0-9]+\.[0-9]{4}, 99 % interval [0-9.]+ to ([0-9.]+|inf), [0-9]+ rounds$'
	sed -n 4p comparison >verdict
	case $3 in
	any) want verdict "^($b is (slower|faster): [0-9.]+ % (more|less) time a trigger than $a|no difference: if there is one, it is at most [0-9.]+ %|not enough data in [0-9]+ rounds: compare for longer \\(-d\\))\$" ;;
	slower) want verdict "^$b is slower: [0-9.]+ % more time a trigger than $a\$" ;;
	faster) want verdict "^$b is faster: [0-9.]+ % less time a trigger than $a\$" ;;
	esac
	awk '
		NR == 3 {
			ratio = $5 + 0
			if (ratio < $9 + 0 || ($11 !~ /^inf/ && ratio > $11 + 0) || $12 < 2) exit 1
		}
		NR == 4 && match($0, /is (slower|faster): [0-9.]+/) {
			percent = substr($0, RSTART + 11, RLENGTH - 11)
			real = 100 * (ratio > 1 ? ratio - 1 : 1 - ratio)
			exit percent - real > 0.011 || real - percent > 0.011
		}' comparison || fail 'the numbers do not fit'
}

figures_compare() {
	need_row kernel-count
	must "$bin" compare -d 1 usermode-count kernel-count
	want err "Linux $(uname -r)"
	want_comparison usermode-count kernel-count slower
	must "$bin" -q compare -d 1 kernel-count usermode-count
	want_empty err
	want_comparison kernel-count usermode-count faster
}

figures_compare_itself() {
	must "$bin" compare usermode-count usermode-count -d 1
	want_comparison usermode-count usermode-count any
	need_attached
	must "$bin" -q compare -d 1 "$attached" "$attached"
	want_comparison "$attached" "$attached" any
}

# A system call for each trigger costs many times what the trigger does.
figures_compare_options() {
	must "$bin" -q compare -d 0.5 usermode-count 'usermode-count  --batch 10 -p2'
	want_comparison usermode-count 'usermode-count  --batch 10 -p2' any
	need_row kernel-count
	must "$bin" -q compare -d 0.5 'kernel-count --batch 1' kernel-count
	want_comparison 'kernel-count --batch 1' kernel-count faster
	must "$bin" -q compare -d 0.5 --batch 1 'kernel-count --batch 100' kernel-count # what is said of both, and of one
	want_comparison 'kernel-count --batch 100' kernel-count slower
}

figures_compare_objects() {
	need_row kernel-count
	fixture globals
	fixture subprograms
	fixture no_count
	must "$bin" -q compare -d 0.5 'kernel-count --obj globals.o' 'kernel-count --obj subprograms.o'
	want_comparison 'kernel-count --obj globals.o' 'kernel-count --obj subprograms.o' any
	run "$bin" -q compare -d 0.5 kernel-count 'kernel-count --obj no_count.o'
	want_status 1
	want_lines out 1
	want out '^kernel-count --obj no_count\.o: +failed: .*did not run the program'
	run "$bin" -q compare 'kernel-count --obj missing.o' kernel-count
	want_status 1
	want_empty out
	want err '^bpftrig: missing\.o: ENOENT \(2\)'
}

figures_compare_fail_above() {
	need_row kernel-count
	run "$bin" -q compare -d 0.5 --fail-above 50 usermode-count kernel-count
	want_status 1
	want_comparison usermode-count kernel-count slower
	must "$bin" -q compare -d 0.5 --fail-above 0 kernel-count usermode-count
	must "$bin" -q compare -d 0.5 --fail-above 100000 usermode-count kernel-count
}

figures_compare_skipped() {
	need_refused
	for sides in "usermode-count $refused" "$refused usermode-count"; do
		# shellcheck disable=SC2086
		run "$bin" -q compare -d 1 $sides
		want_status 4
		want_lines out 1
		want_row out "$refused" ' '
	done
}

figures_compare_interrupted() {
	own_network env --default-signal=INT "$bin" -q compare --precision 0 -d 60 usermode-count usermode-count >out 2>err &
	wait_for waits_of $! 100
	kill -s INT $!
	wait $!
	status=$?
	show 'interrupted'
	want_status 130
	want_empty err
	want_comparison usermode-count usermode-count any
}

# === why: the JITed code, the profile, the machine =============================================================================

group_why() {
	check 'why: jit: objdump and llvm-mc read what it prints, in both forms, to the last byte' why_jit_bytes
	check 'why: jit: each function has the private stack that objdump sees' why_jit_private
	check 'why: jit: the head says size, instructions, time and tag' why_jit_head
	check 'why: jit: rows without a program, or that cannot run, say so' why_jit_refused
	check 'why: jit: where the kernel hides the code, the reason' why_jit_hidden
	check 'why: --profile: the program, the tracepoint and the kfunc are among the first' why_profile
	check 'why: --profile: the shares add up, and are those of perf' why_profile_perf
	check 'why: --profile: where the kernel hides addresses, the reason' why_profile_hidden
	check 'why: --profile: a user loop, and no line without it' why_profile_user
	check 'why: the header of results: what the machine says of itself' why_facts
	check 'why: the debug options are those of the configuration' why_debug
	check 'why: a warning for each fact that spoils figures' why_warnings
	check 'why: list --format json says what list says' why_list
	check 'why: list without rights names those that are missing' why_list_rights
	check 'why: the line on the machine has all of it' why_line
}

# jit_of ROW: its program as hexadecimal text (code.txt) and as bytes (code.bin).
jit_of() {
	"$bin" jit --raw "$1" >code.bin 2>why || skip "no JITed code here: $(cat why)"
	must "$bin" jit "$1"
	sed '/: driver /,$d' out >code.txt
}

why_jit_bytes() {
	need objdump llvm-mc
	[ "$(uname -m)" = x86_64 ] || skip 'not x86-64'
	for row in rawtp kernel-count private-stack-rawtp; do
		need_figure "$row"
		jit_of "$row"
		[ "$row" != kernel-count ] || cp out code.txt
		sed 's/ *#.*//' code.txt | tr ' ' '\n' | grep . | sed 's/0x/\\x/' | tr -d '\n' >escapes
		# The addresses of maps, and what is relative to the code's place, are others each time that it is loaded.
		printf '%b' "$(cat escapes)" >text.bin
		[ "$(stat -c %s text.bin)" = "$(stat -c %s code.bin)" ] || fail "$row: the two forms differ in length"
		objdump -D -b binary -m i386:x86-64 code.bin | sed -nE 's/^ *[0-9a-f]+:\t[0-9a-f ]+\t(\S+).*/\1/p' >objdump-names
		objdump -D -b binary -m i386:x86-64 text.bin | sed -nE 's/^ *[0-9a-f]+:\t[0-9a-f ]+\t(\S+).*/\1/p' >text-names
		want_none objdump-names 'bad'
		want_same objdump-names text-names
		[ "$(wc -l <objdump-names)" -ge 10 ] || fail "$row: $(wc -l <objdump-names) instructions"
		llvm-mc --disassemble --arch=x86-64 code.txt >mc 2>mc-err || fail 'llvm-mc fails'
		want_empty mc-err
		[ "$(grep -c '^	[a-z]' mc)" -ge 10 ] || fail "$row: llvm-mc sees less"
	done
}

why_jit_private() {
	local name bytes offset says

	need objdump
	[ "$(uname -m)" = x86_64 ] || skip 'not x86-64'
	for row in private-stack-rawtp no-private-stack-rawtp rawtp; do
		need_figure "$row"
		jit_of "$row"
		# shellcheck disable=SC2034
		sed -nE 's/^# function (\S+): ([0-9]+) bytes at offset (0x[0-9a-f]+|0), (.*)$/\1 \2 \3 \4/p' code.txt >functions
		[ -s functions ] || fail 'no functions'
		while read -r name bytes offset says; do
			objdump -D -b binary -m i386:x86-64 --start-address=$((offset)) --stop-address=$((offset + bytes)) code.bin >asm
			if grep -q 'add .*%gs:.*,%r9' asm; then
				[ "$says" = 'a private stack' ] || fail "$row: $name has one, and it says '$says'"
			else
				[ "$says" = 'no private stack' ] || fail "$row: $name has none, and it says '$says'"
			fi
		done <functions
		[ "$(awk '{ n += $2 } END { print n }' functions)" = "$(stat -c %s code.bin)" ] || fail "$row: the functions are not all of the code"
	done
	[ "$(wc -l <functions)" = 1 ] || fail 'rawtp has more than one function'
}

why_jit_head() {
	need_figure rawtp
	jit_of rawtp
	want out '^# rawtp: program count: tag [0-9a-f]{16}, [0-9]+ instructions, [0-9]+ verified in [0-9]+ us; [0-9]+ bytes of code$'
	want out '^# rawtp: driver drive_kfunc: tag [0-9a-f]{16}, '
	want out '^# function count: [0-9]+ bytes at offset 0, '
	want out '^0x.*# 0010$'
	sed -n 's/.*program count: tag \(.*\),.* in .*/\1/p' out >first
	must "$bin" jit rawtp
	sed -n 's/.*program count: tag \(.*\),.* in .*/\1/p' out >second
	want_same first second 'the tag changes'
}

why_jit_refused() {
	run "$bin" jit usermode-count
	want_status 4
	want_empty out
	want err '^bpftrig: usermode-count: skipped: has no BPF program$'
	run "$bin" jit
	want_status 2
	run "$bin" jit no-such-row
	want_status 2
	if is_skipped "$(line_of fentry "$tmp/all")"; then
		run "$bin" jit fentry
		want_status 4
		want err '^bpftrig: fentry: skipped: .*[A-Z]+ \([0-9]+\)'
	fi
}

# with_sysctl NAME VALUE COMMAND...: as run, and the old value afterwards.
with_sysctl() {
	local name=$1 old
	need_root
	need sysctl
	old=$(sysctl -n "$name") || skip "there is no $name"
	sysctl -q -w "$name=$2" || skip "$name cannot be set"
	shift 2
	run "$@"
	sysctl -q -w "$name=$old"
}

why_jit_hidden() {
	need_figure rawtp
	with_sysctl kernel.kptr_restrict 2 "$bin" jit rawtp
	want_status 4
	want err 'the kernel shows no JITed code \(.*kernel.kptr_restrict 2; it is 2\)'
}

profile_of() {
	must "$bin" -q -d 1 -w 0.1 --profile "$1"
	sed -nE 's/^ +([0-9.]+) %  (.*)$/\1 \2/p' out >symbols
	[ -s symbols ] || skip "no profile here: $(cat err)"
}

why_profile() {
	need_figure rawtp
	profile_of rawtp
	head -n 5 symbols >first
	want first ' bpf_prog_[0-9a-f]{16}_count$'
	want first ' bpf_trace_run1$'
	want first ' bpf_modify_return_test_tp$'
	want symbols ' bpf_prog_[0-9a-f]{16}_drive_kfunc$'
	cut -d' ' -f 1 symbols | sort -rnc || fail 'they are not in order'
	is_figure "$(head -n 1 out)" || fail 'the figure is not the first line'
}

# One profile of ours and one of perf, of two runs: whether they agree in what is most often seen.
profile_as_perf() {
	profile_of rawtp
	sed -nE '2s/^  rawtp: [0-9]+ samples of .*: user ([0-9.]+) %, kernel ([0-9.]+) %, trampoline ([0-9.]+) %, program ([0-9.]+) %.*$/\1 \2 \3 \4/p' out >shares
	awk '{ s = $1 + $2 + $3 + $4; exit !(s > 99.7 && s < 100.3) }' shares || fail 'the shares are not 100 %'
	# As bench, there is no time without the program. Its main thread sleeps.
	perf record -q -e cpu-clock -F 4000 -o data -- "$bench" -q -w 0 -d 3 trig-rawtp >bench-out 2>&1 || skip 'perf cannot record here'
	perf report -i data --no-children --sort symbol --stdio -F overhead,sym 2>/dev/null | sed -nE 's/^ +([0-9.]+)% +\[.\] (\S+).*/\1 \2/p' >perf-symbols
	[ -s perf-symbols ] || skip 'perf reports nothing'
	head -n 8 symbols | while read -r share name; do
		theirs=$(awk -v name="$name" '$2 == name { print $1 }' perf-symbols)
		[ "$name" != '[user] the loop' ] || continue
		echo "$name: $share, perf ${theirs:-none}"
		awk -v a="$share" -v b="${theirs:-0}" 'BEGIN { d = a - b; exit !(d <= 5 && d >= -5) }' || exit 1
	done
}

# The two are of different seconds, in which a neighbour may have had the caches: a difference that is ours is there each time.
why_profile_perf() {
	local try

	need perf
	need_figure rawtp
	for try in 1 2 3; do
		! profile_as_perf || return 0
		echo "try $try: more than 5 points apart"
	done
	fail 'more than 5 points apart, three times'
}

why_profile_hidden() {
	need_figure rawtp
	with_sysctl kernel.kptr_restrict 2 "$bin" -q -d 0.2 -w 0 --profile rawtp
	want_status 0
	want err '/proc/kallsyms shows no addresses \(.*; it is 2\)$'
	want out '%  \[kernel\] no symbol$'
}

why_profile_user() {
	profile_of usermode-count
	head -n 1 symbols >first
	want first '^(9[0-9]|100)\.[0-9] \[user\] the loop$'
	must "$bin" -q -d 0.1 -w 0 usermode-count
	want_lines out 1
}

why_facts() {
	must "$bin" -q -d 0.05 -w 0 --format gobench usermode-count
	fact() { sed -n "s/^$1: //p" out; }
	[ "$(fact kernel)" = "$(uname -r)" ] || fail "kernel: $(fact kernel)"
	[ "$(fact cpus)" = "$(nproc)" ] || fail "cpus: $(fact cpus)"
	[ "$(fact host)" = "$(uname -n | grep -vx -e localhost -e '(none)')" ] || fail "host: $(fact host)"
	for pair in bpf_stats:kernel/bpf_stats_enabled perf_event_paranoid:kernel/perf_event_paranoid; do
		[ "$(fact "${pair%%:*}")" = "$(cat "/proc/sys/${pair#*:}" 2>/dev/null)" ] || fail "$pair: $(fact "${pair%%:*}")"
	done
	if [ -e /sys/kernel/security/lsm ]; then
		[ "$(fact lsm)" = "$(cat /sys/kernel/security/lsm)" ] || fail "lsm: $(fact lsm)"
	fi
	if [ "$(uname -m)" = x86_64 ]; then
		[ "$(fact cpu)" = "$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)" ] || fail "cpu: $(fact cpu)"
	fi
	for word in $(fact mitigations | sed 's/([^)]*)//g'); do
		[ "$word" = none ] || grep -q '^Mitigation' "/sys/devices/system/cpu/vulnerabilities/$word" || fail "mitigations: $word"
	done
	[ "$(grep -l '^Mitigation' /sys/devices/system/cpu/vulnerabilities/* 2>/dev/null | wc -l)" -ge "$(fact mitigations | wc -w)" ] ||
		[ "$(fact mitigations)" = none ] || fail 'mitigations: too many'
}

why_line() {
	must "$bin" -d 0.05 -w 0 --format gobench usermode-count
	grep -v '^Bench' out | sed -nE '/^(goos|pkg|kernel|host|cpus|jit|machine|goarch|bpftrig|#)/!p' | while IFS= read -r line; do
		grep -qF -- "$line" err || fail "it lacks '$line'"
	done || exit 1
	want err "^bpftrig: [0-9.]+ \\(.*\\), Linux $(uname -r) $(uname -m), $(nproc) CPUs?, BPF JIT "
}

# in_mounts COMMAND...: with mounts that nobody else sees.
in_mounts() {
	need_root
	need unshare
	unshare -m true || skip 'no name space for mounts here'
	run unshare -m sh -c "$@"
}

why_debug() {
	if zcat /proc/config.gz >config 2>/dev/null; then
		must "$bin" -q -d 0.05 -w 0 --format gobench usermode-count
		sed -n 's/^debug: //p' out | tr ' ' '\n' >words
		while read -r word; do
			[ "$word" = none ] || grep -q "^CONFIG_$word=y" config || fail "debug: $word is not set"
		done <words
		[ -s words ] || fail 'debug: nothing'
	fi
	# shellcheck disable=SC2016
	in_mounts 'mkdir -p /boot && mount -t tmpfs none /boot && printf "CONFIG_A=y\nCONFIG_KASAN=y\n# CONFIG_KCSAN is not set\nCONFIG_KCOV=m\nCONFIG_PROVE_LOCKING=y\n" >"/boot/config-$(uname -r)" &&
		"$0" -q -d 0.05 -w 0 --format gobench usermode-count' "$bin"
	want_status 0
	want out '^debug: KASAN PROVE_LOCKING$'
}

why_warnings() {
	# shellcheck disable=SC2016
	in_mounts 'mkdir -p /boot cpu0/cpufreq && mount -t tmpfs none /boot && echo CONFIG_KASAN=y | sed "i\\\\" >"/boot/config-$(uname -r)" &&
		echo powersave >cpu0/cpufreq/scaling_governor && mount --bind cpu0 /sys/devices/system/cpu/cpu0 &&
		"$0" -d 0.05 -w 0 usermode-count' "$bin"
	want_status 0
	want err '^bpftrig: debug options of this kernel: KASAN: figures say nothing'
	want err '^bpftrig: CPU frequency governor: powersave: the clock follows the load; write performance into '
	with_sysctl kernel.bpf_stats_enabled 1 "$bin" -d 0.05 -w 0 usermode-count
	want err '^bpftrig: kernel.bpf_stats_enabled: 1: each run of a program is timed'
	with_sysctl net.core.bpf_jit_harden 2 "$bin" -d 0.05 -w 0 usermode-count
	want err '^bpftrig: BPF JIT: on, hardened: '
	must "$bin" -q -d 0.05 -w 0 usermode-count
	want_empty err
}

# What is missing is said to who has no rights, by list as by a run; and who may nothing at all still learns what works.
why_list_rights() {
	need_root
	need setpriv sysctl
	old=$(sysctl -n kernel.perf_event_paranoid)
	sysctl -q -w kernel.perf_event_paranoid=3 || skip 'kernel.perf_event_paranoid cannot be set'
	as_nobody "$bin" list usermode-count rawtp uprobe-nop
	cp out list
	as_nobody "$bin" -q -d 0.05 -w 0 usermode-count rawtp uprobe-nop
	sysctl -q -w kernel.perf_event_paranoid="$old"
	want_status 1
	want list '^usermode-count +yes '
	want list '^rawtp +no '
	want list '^uprobe-nop +no '
	want list '^ +.*EPERM \(1\): needs root, or CAP_BPF and CAP_PERFMON \(uid 65534'
	want out '^rawtp +:  failed: .*EPERM \(1\): needs root, or CAP_BPF and CAP_PERFMON \(uid 65534'
	want_row out usermode-count figure
}

why_list() {
	need python3
	must "$bin" list --format json usermode-count fentry kprobe rawtp uprobe-nop
	python3 -c '
import json, sys
for r in json.load(sys.stdin):
    print("%-23s %-4s %s" % (r["name"], "yes" if r["works"] else "no", r["help"]))
    print("%-23s      needs %s" % ("", r["needs"]))
    if not r["works"]:
        print("%-23s      %s" % ("", r["reason"]))' <out >from-json || fail 'it is no JSON'
	must "$bin" list usermode-count fentry kprobe rawtp uprobe-nop
	want_same out from-json
	run "$bin" list --format csv
	want_status 2
}

# === faults: each call of the program that fails, with each errno (tests/faults.sh) ============================================

group_faults() {
	local name

	mkdir "$tmp/faults"
	while read -r name; do
		check "faults: $name: each errno of its calls ends as the table says" faults_of "$name"
	done < <(sed -n '/^commands="/,/^"/s/^\([a-z-]*\)\t.*/\1/p' "$top/tests/faults.sh")
	check 'faults: initramfs to a device that is full: the device stays' faults_device
	check 'faults: --save and --svg: neither is left where the other cannot be opened' faults_two_files
	[ -e "$tmp/faults/pairs" ] || return 0
	check "faults: $(sort -u "$tmp/faults/pairs" | wc -l) pairs of call and errno, in $(wc -l <"$tmp/faults/pairs") runs" faults_enough
}

faults_of() {
	need_root
	need_strace
	need pgrep unshare
	unshare -m true || skip 'no mount namespace can be made here'
	run "$top/tests/faults.sh" "$bin" "$tmp/faults" quick "$1"
	[ "$status" != 77 ] || skip "$(sed -n 's/^skip: //p' out | head -n 1)"
	want_status 0
}

faults_device() {
	need_root
	{ mknod full c 1 7 && (: >full); } || skip 'no device can be made here'
	run "$bin" initramfs full
	want_status 1
	want err '^bpftrig: full: ENOSPC \(28\)$'
	[ -c full ] || fail 'the device was removed'
}

faults_two_files() {
	run "$bin" -q -d 0.05 -w 0 --save results --svg no/picture.svg usermode-count
	want_status 1
	want err '^bpftrig: no/picture.svg: ENOENT \(2\)$'
	run "$bin" -q -d 0.05 -w 0 --save no/results --svg picture.svg usermode-count
	want_status 1
	want err '^bpftrig: no/results: ENOENT \(2\)$'
	if [ -e results ] || [ -e picture.svg ]; then
		fail 'a file is left'
	fi
}

# Those of the rows that need nothing of the kernel alone.
faults_enough() {
	[ "$(sort -u "$tmp/faults/pairs" | wc -l)" -ge 250 ] || fail 'those are too few'
}

# === docs: README.md, the man page and the completion ==========================================================================

group_docs() {
	local block

	check 'docs: the tables in README.md, man page and completion are those of bpftrig.c' docs_made
	check 'docs: the tables of README.md that no one makes have the same rows' docs_figures
	check 'docs: the man page has each command, option, suite and row, and no other' docs_man
	check 'docs: the man page is in order' docs_man_form
	check 'docs: the completion has each command, option, suite and row, and no other' docs_completion
	check 'docs: the completion knows what an option wants' docs_completion_values
	check 'docs: the completion of commands' docs_completion_commands
	check 'docs: options in README.md exist' docs_options
	check 'docs: links within README.md lead somewhere' docs_links
	check 'docs: spelling' docs_spelling
	check 'docs: the row that README.md adds is built, and runs or is skipped' docs_new_row
	rm -rf "$tmp/examples"
	docs_examples
	for block in "$tmp/examples"/block-*; do
		check "docs: README.md: $(sed -n '1s/^\$ //p' "$block")" docs_example "$block"
	done
}

# What --help says there is: options with their dashes, suites and rows.
help_options() { "$bin" --help | sed -nE '/^Usage/,/^Defaults/s/^  (-.,|   ) (--[a-z-]+).*/\1 \2/p' | tr -d ,; }
help_names() { "$bin" --help | sed -n "/^$1:/,/^\$/s/^  \\([a-z0-9-]*\\) .*/\\1/p"; }
help_commands() { "$bin" --help | sed -nE 's/^ +bpftrig ([a-z]+) .*/\1/p'; }

docs_made() {
	local file

	copy_tree tree
	must make -C tree docs
	for file in README.md bpftrig.1 bpftrig.bash; do
		diff -u "$top/$file" "tree/$file" || fail "$file is not up to date: make docs"
	done
}

# The two tables of figures are of runs on other kernels; a new row is missing there until these are run again.
docs_figures() {
	local table

	tr -s ' ' '\n' <<<"$row_names" >names
	want "$top/README.md" "\\[$(wc -w <<<"$row_names") rows\\]\\(#rows\\)" 'the number of rows is wrong'
	for table in '| row | 5.10 |' '| row | x86_64-5.10 |'; do
		grep -A1000 -F "$table" "$top/README.md" | sed -n '3,${/^|/!q;p}' | sed 's/^| \([a-z0-9-]*\) .*/\1/' >in_table
		[ -s in_table ] || fail "no table $table"
		comm -13 <(sort names) <(sort in_table) >strange
		want_empty strange
		[ "$(wc -l <in_table)" -ge 60 ] || fail "the table $table is short"
	done
}

# The words of a list in the man page's source: .It Cm WORD below a section.
man_items() { sed -n "/^\\.Sh $1/,/^\\.Sh /p" "$top/bpftrig.1" | sed -n 's/^\.It Cm \([a-z0-9-]*\).*/\1/p'; }

docs_man() {
	help_commands | sort >wanted
	man_items COMMANDS | sort >found
	want_same wanted found 'the commands differ'
	{ help_names Suites; help_names Rows; sed -n '/aliases\[\] = {/,/^};/s/^\t{ "\([^"]*\)".*/\1/p' "$top/bpftrig.c"; } | sort >wanted
	man_items ROWS | sort >found
	want_same wanted found 'suites, rows or aliases differ'
	help_options | tr -s ' ' '\n' | grep . | sort >wanted
	sed -n '/^\.Sh OPTIONS/,/^\.Sh /s/^\.It Fl //p' "$top/bpftrig.1" |
		sed -E 's/ Ar .*//; s/^\\(-.*)/-\1/; s/^(.) , Fl \\(-.*)/-\1\n-\2/' | sort >found
	want_same wanted found 'the options differ'
	grep -oE '(^|[^a-z\\-])\\-(\\-)?[a-z][a-z-]+' "$top/bpftrig.1" | sed -E 's/.*\\-(\\-)?/--/' | sort -u >mentioned
	comm -23 mentioned <({ cat wanted; printf -- '--%s\n' disassemble trig-batch-iters nr-batch-iters cons-affinity; } | sort) >strange
	want_empty strange
}

# What the page refers to is not on every machine.
docs_man_form() {
	need mandoc
	mandoc -T lint -W style "$top/bpftrig.1" >found 2>&1
	grep -vE 'outdated mandoc.db|referenced manual not found' found >out
	want_empty out
	need man groff
	LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$top/bpftrig.1" >out 2>err || fail 'man failed'
	want_empty err
	want out '^NAME$'
	want out '±'
	for section in SYNOPSIS DESCRIPTION COMMANDS OPTIONS OUTPUT FILES 'EXIT STATUS' EXAMPLES 'SEE ALSO' CAVEATS; do
		want out "^$section\$"
	done
}

# complete WORD...: what is offered for the last of them, behind bpftrig, as one sorted column in the file out; without bpftrig in
# the PATH, so that it cannot be asked.
complete_words() {
	# shellcheck disable=SC2016
	PATH=/nowhere "$BASH" --norc -c '
		. "$0" && spec=$(complete -p bpftrig) || exit
		[ "$spec" = "complete -F _bpftrig bpftrig" ] || exit
		COMP_WORDS=(bpftrig "$@") COMP_CWORD=$#
		_bpftrig bpftrig "${!#}" || exit
		printf "%s\n" "${COMPREPLY[@]}"' "$top/bpftrig.bash" "$@" >unsorted 2>err || fail 'the completion failed'
	want_empty err
	grep . unsorted | sort -u >out
	printf 'bpftrig %s: %s\n' "$*" "$(tr '\n' ' ' <out)"
}

# offers WORD... gives WANTED...: just these.
offers() {
	local words=()

	while [ "$1" != gives ]; do
		words+=("$1")
		shift
	done
	shift
	complete_words "${words[@]}"
	[ "$(tr '\n' ' ' <out)" = "$(printf '%s\n' "$@" | grep . | sort -u | tr '\n' ' ')" ] || fail "wanted: $*"
}

# is_taken COMMAND OPTION [VALUE]: whether the command, which is empty for a run, takes it. The names behind are wrong for each, so that
# none does more than to look at its arguments.
is_taken() {
	local wrong='no-such-row no-such-row no-such-row'

	# shellcheck disable=SC2086
	run "$bin" $1 "${@:2}" $wrong
	want_status 2
	! grep -qE "^bpftrig: --[a-z-]+: not for " err
}

docs_completion() {
	local command long arg value

	{ help_commands; help_names Suites; help_names Rows; } | sort -u >wanted
	complete_words ''
	want_same wanted out
	help_options | tr -s ' ' '\n' | grep . | sort >wanted
	{ complete_words - && cat out; for command in $(help_commands); do complete_words "$command" - && cat out; done; } |
		grep '^-' | sort -u >offered
	want_same wanted offered
	# Each is offered to those alone that take it.
	"$bin" --help | sed -nE '/^Usage/,/^Defaults/s/^  (-.,|   ) (--[a-z-]+)( ([A-Z][A-Z,.]*))? .*/\2 \4/p' | grep -vE 'help|version' >options
	for command in '' $(help_commands); do
		# shellcheck disable=SC2086
		complete_words $command -
		cp out offered
		while read -r long arg; do
			case $long,$arg in
			--consumers,* | *,CPUS) value=0 ;;
			*,FORMAT) value=json ;;
			*,HOW) value=halt ;;
			*) value=${arg:+1} ;;
			esac
			if is_taken "$command" "$long${value:+=$value}"; then
				grep -qxe "$long" offered || fail "$long is not offered to '$command', which takes it"
			else
				! grep -qxe "$long" offered || fail "$long is offered to '$command', which does not take it"
			fi
		done <options
	done
}

docs_completion_values() {
	mkdir -p d/dir
	touch d/a.txt d/b.o
	offers --format '' gives bench overhead gobench json csv ktap
	offers --format = gives bench overhead gobench json csv ktap
	offers --format = j gives json
	offers --on-exit re gives reboot
	offers --obj d/b gives d/b.o
	offers --obj = d/b gives d/b.o
	offers --save d/ gives d/a.txt d/b.o d/dir
	offers -d '' gives
	offers -p '' gives
	offers --args '' gives
	offers -d 1 kprobe-s gives kprobe-session
	offers --chart uprobe-s gives uprobe-session-nop
}

docs_completion_commands() {
	mkdir d
	touch d/old.txt d/old-2.txt d/new.txt
	offers comp gives compare
	offers -q comp gives compare
	offers compare no-private-stack- gives no-private-stack-rawtp no-private-stack-kprobe
	offers compare fentry leg gives
	offers list leg gives legacy
	offers jit fsession- gives fsession-multi
	offers diff d/o gives d/old.txt d/old-2.txt
	offers diff d/old.txt,d/n gives d/old.txt,d/new.txt
	offers initramfs d/n gives d/new.txt
	offers list lis gives
	offers diff --f gives --fail-above
	offers initramfs --i gives --init
	offers list --s gives --stacktrace
	offers cost us gives usdt:
	offers cost kprobe gives kprobe: kprobe-multi:
	offers cost uprobe : d/n gives d/new.txt
	offers cost kprobe : vfs gives
	offers cost --q gives --quiet --quiet-command
	offers cost rawtp : sys_enter -- compge gives compgen
	offers cost rawtp : sys_enter -- true -- gives
	offers cost rawtp : sys_enter -- cat d/n gives d/new.txt
}

# An option with two dashes in README.md is bpftrig's, but for these of other programs.
docs_options() {
	grep -vE '^(vng|vmtest) ' "$top/README.md" | grep -oE '(^|[^a-z-])--[a-z][a-z-]+' | grep -oE -- '--.*' | sort -u >mentioned
	{ help_options | grep -oE -- '--.*'; echo --disassemble; } | sort >known
	comm -23 mentioned known >strange
	want_empty strange
	want mentioned '^--fail-above$'
}

# The anchor of a heading is its text in lower case, without punctuation, blanks as dashes.
docs_links() {
	sed -n 's/^##* //p' "$top/README.md" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9\n-' | sort >anchors
	grep -oE '\]\(#[^)]*\)' "$top/README.md" | sed 's/^](#//; s/)$//' | sort -u >linked
	want linked '^rows$'
	comm -23 linked anchors >broken
	want_empty broken
}

# Words that are right here: Nd and HART are names of others, ser is of a regular expression, benchs of test names.
docs_spelling() {
	need codespell
	must env -C "$top" codespell --ignore-words-list nd,ser,hart,benchs README.md bpftrig.1 bpftrig.bash Makefile bpftrig.c bpf_progs.c \
		gen_embed.sh test.sh tests
	echo 'it is occured' >wrong
	run codespell wrong
	[ "$status" != 0 ] || fail 'codespell finds nothing'
}

docs_new_row() {
	local name

	need patch
	copy_tree tree
	awk '/^```/ { inside = $0 == "```diff"; next } inside' "$top/README.md" >row.diff
	name=$(sed -nE 's/^\+\t\{ "([a-z0-9-]+)".*/\1/p' row.diff)
	[ -n "$name" ] || fail 'README.md has no diff that adds a row'
	must patch -d tree -p1 -F0 -i "$PWD/row.diff"
	must make -C tree CFLAGS='-O0 -Wall -Wextra'
	want_empty err
	must tree/bpftrig --help
	want out "^  $name "
	must make -C tree docs
	want tree/README.md "^\| $name \|"
	want tree/bpftrig.1 "^\.It Cm $name\$"
	want tree/bpftrig.bash "[ ']${name}[ ']"
	need_root
	run tree/bpftrig -q -d 0.2 "$name"
	want_row out "$name" either
}

# --- the examples of README.md: blocks that begin with "$ "; what stands behind such a line is what the command prints, if anything

docs_examples() {
	mkdir -p "$tmp/examples/here"
	ln -s "$bin" "$tmp/examples/here/bpftrig"
	ln -s "$top/tests" "$tmp/examples/here/tests"
	awk -v to="$tmp/examples/block-" '
		/^```/ { if (inside) { inside = 0; close(file) } else { inside = first = 1 } next }
		inside && first { first = 0; wanted = /^\$ /; if (wanted) file = sprintf("%s%02d", to, ++n) }
		inside && wanted { print >file }' "$top/README.md"
}

# The form of what is printed: numbers, bars and their scale, symbols and facts of a machine are any; so is a verdict of compare, and
# which windows were far out. A row's line is to the byte what is_figure or is_skipped wants, and either will do, because machines differ.
docs_form() {
	local line number='-?[0-9]+(\.[0-9]+)?'

	while IFS= read -r line; do
		if is_figure "$line" || is_skipped "$line"; then
			printf 'ROW %s\n' "${line%%[ :]*}"
		else
			printf '%s\n' "$line"
		fi
	done <"$1" | sed -E "
		s/, $number (instructions|cycles)//g
		s/^[a-z].* is (slower|faster): .*|^no difference: .*|^not enough data .*/VERDICT/
		/^# [a-z_]+: /{ /M\/s/!s/.*/# FACT/; }
		s/^(ok [0-9]+ [a-z0-9-]+) # SKIP .*/\1/
		s/^(# [a-z0-9-]+: .*ns)(; [^()]+)?\\)\$/\\1)/
		s/ samples of [a-z-]+:/ samples:/
		s/^( *$number %)  .*/\\1  SYMBOL/
		s/[▏▎▍▌▋▊▉█]+/BAR/
		s/ interval, logarithmic\$/ interval/
		s/ hits a run( \([0-9]+ to [0-9]+\))?, (.* ns a hit|lost in .* ns a hit)\$/ hits a run, a hit/
		s/\( *$number\)?us\)/Nus/
		s/[+-]?$number/N/g
		s/ +/ /g" | uniq
}

# Rows that are skipped have no bar, and no figure before their result.
docs_drop_skipped() {
	local name

	sed -nE 's/^([a-z0-9-]+) *:  skipped: .*/\1/p; s/^ok [0-9]+ ([a-z0-9-]+) # SKIP .*/\1/p' out wanted | sort -u >without
	while read -r name; do
		sed -i -E "/^$name +N ± N BAR|^# $name: /d" "$1"
	done <without
}

docs_example() {
	local command='' line n=0

	cd "$tmp/examples/here" || fail 'no directory'
	: >wanted
	{ cat "$1"; echo '$ end'; } | while IFS= read -r line; do
		case $line in
		'$ '*)
			[ -z "$command" ] || docs_command "$command"
			command=${line#'$ '}
			n=$((n + 1))
			: >wanted
			;;
		*) printf '%s\n' "$line" >>wanted ;;
		esac
	done
	exit "${PIPESTATUS[1]}"
}

docs_command() {
	case $1 in *sudo*) need_root ;; esac
	case $1 in *x86-64*) [ "$(uname -m)" = x86_64 ] || skip 'it is for x86-64' ;; esac
	run bash -c "${1//sudo /}" </dev/null
	[ "$status" != 4 ] || skip 'nothing in it can run here'
	! grep -q '^Summary: hits skipped' out || skip 'its row cannot run here'
	want_status 0
	[ -s wanted ] || return 0
	docs_form wanted >wanted.form
	docs_form out >out.form
	docs_drop_skipped wanted.form
	docs_drop_skipped out.form
	diff -u wanted.form out.form || fail 'what it prints has another form than README.md shows'
}

# === examples: the scripts of examples/, as a user runs them ===================================================================

examples=$top/examples

group_examples() {
	local file

	check 'examples: each script says what it is for and how it is used' examples_usage
	check 'examples: own-body.sh: a body of your own against the plain one' examples_own_body
	check 'examples: scaling.sh: a line for each number of producers, and the speed-up' examples_scaling
	check 'examples: mitigations.sh: two boots of one kernel, and their difference' examples_mitigations
	check 'examples: two-kernels.sh: a kernel that is none' examples_no_kernel
	check 'examples: fleet.sh: hosts that work, fail, skip, and their results merged' examples_fleet
	check 'examples: fleet.sh: a host that hangs' examples_fleet_hangs
	check 'examples: fleet.sh: through a real sshd' examples_fleet_sshd
	for file in "$examples"/fleet/*.y*ml; do
		check "examples: ${file##*/} is YAML" examples_yaml "$file"
	done
	check 'examples: bpftrig.yml: ansible takes it' examples_ansible
	check 'examples: Containerfile and job.yaml: an empty root, and only the capabilities asked for' examples_scratch
	check "examples: lava.yaml: LAVA's schema takes it" examples_lava_schema
	check 'examples: lava.yaml: a test case for each line' examples_lava
	check 'examples: ktap.yaml: a test case for each row' examples_ktap
}

# Misused, a script says its usage line, exit status 2; those that need no argument have the line.
examples_usage() {
	local script

	for script in "$examples"/*.sh "$examples"/fleet/*.sh; do
		sed -n 3p "$script" >purpose
		want purpose '^# .{20}' "$script says nothing of its purpose"
		want "$script" "^# usage.*: ${script##*/} "
		[ -x "$script" ] || fail "$script is not executable"
	done
	for script in two-kernels.sh mitigations.sh fleet/fleet.sh; do
		run "$examples/$script"
		want_status 2
		want err "${script##*/} "
	done
}

examples_own_body() {
	need_attached
	need "$clang"
	must env BPFTRIG="$bin" CLANG="$clang" "$examples/own-body.sh" "$examples/my_body.bpf.c" "$attached" -q -d 1
	want_empty err
	want_lines out 4
	want out "^$attached --obj [^ ]*: +[0-9.]+ ns/trigger\$"
	want out '(slower|faster|^no difference|^not enough data)'
	run env BPFTRIG="$bin" "$examples/own-body.sh" missing.c
	[ "$status" != 0 ] || fail 'a missing body is measured'
}

examples_scaling() {
	must env BPFTRIG="$bin" "$examples/scaling.sh" usermode-count 3 -d 0.1 -w 0 --prod-affinity 0,0,0
	awk 'NR > 1 { print $1 }' out >producers
	printf '%s\n' 1 2 3 >wanted
	want_same producers wanted
	awk 'NR == 2 { single = $2 } NR > 1 && ($3 - $2 / single) ^ 2 > 0.0002 { exit 1 }' out || fail 'a speed-up is not that of the rates'
	need_refused
	run env BPFTRIG="$bin" "$examples/scaling.sh" "$refused" 1
	want_status 1
	want out ',skipped,'
}

examples_mitigations() {
	need qemu-system-x86_64
	kernel_fetch x86_64-6.1 >image 2>why || skip "no kernel image: $(tail -n 1 why)"
	must env BPFTRIG="$bin" ARCH=x86_64 "$examples/mitigations.sh" "$(cat image)" syscall-count fentry
	want err '^bpftrig: the machines differ: mitigations: [^,]+, and none$'
	want out '^Trigger/fentry +net-ns/op .* n=[0-9]+'
	want new.txt '^mitigations: none$'
	want old.txt '^mitigations: spectre'
}

examples_no_kernel() {
	run env BPFTRIG="$bin" "$examples/two-kernels.sh" ./missing ./missing fentry
	want_status 2
	want err 'missing: no such file'
}

# An ssh that runs what it is told here, with the host's name where it may.
stub_ssh() {
	cat >ssh <<-'END'
		#!/bin/sh
		while [ "$1" != -- ]; do shift; done
		host=$2
		shift 2
		case $host in
		refuses) echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255 ;;
		hangs) exec sleep 1000 ;;
		esac
		[ "$(id -u)" != 0 ] || exec unshare -u sh -c 'hostname "$0" && exec sh -c "$*"' "$host" "$@"
		exec sh -c "$*"
	END
	chmod +x ssh
	export SSH=$PWD/ssh
}

examples_fleet() {
	local folder

	need_root
	need_refused
	need unshare hostname
	unshare -u true || skip 'no name space for host names here'
	stub_ssh
	printf '# all of them\nalpha\nrefuses # is down\n\nbeta\n' >hosts
	for folder in before after; do
		run "$examples/fleet/fleet.sh" -b "$bin" -o "$folder" hosts -d 0.1 -w 0 usermode-count 'kernel-coun?'
		want_status 1
		want out '^alpha: ok, [0-9]+ results$'
		want out '^refuses: failed: exit status 255: .*Connection refused, 0 results$'
		want out '^beta: ok, '
		want_lines out 3
	done
	must "$bin" diff before/all.txt after/all.txt
	sed -nE 's/.* -> .* on (.*)/\1/p' out >tables
	printf '%s\n' alpha beta >wanted
	want_same tables wanted
	[ "$(grep -c 'Trigger/kernel-count *ns/op' out)" = 2 ] || fail 'not two of kernel-count'
	run "$examples/fleet/fleet.sh" -b for-ARCH alpha usermode-count
	want_status 1
	want out "^alpha: failed: .*there is no for-$(uname -m | sed s/aarch64/arm64/)"
	cp "$bin" "for-$(uname -m | sed s/aarch64/arm64/)"
	must "$examples/fleet/fleet.sh" -b for-ARCH alpha "$refused" -q
	want out '^alpha: skipped: every row, 0 results$'
	want results/alpha.txt "^# $refused: skipped: "
}

examples_fleet_hangs() {
	stub_ssh
	run "$examples/fleet/fleet.sh" -b "$bin" -t 1 hangs,refuses usermode-count
	want_status 1
	want out '^hangs: failed: no answer in 1 s, 0 results$'
	want out '^refuses: failed: exit status 255'
	[ -z "$(find results -size +0 -name '*.txt')" ] || fail 'there are results'
}

# Of its own keys and folder, on a port that is free; not installed by make deps, which would start one on each machine.
examples_fleet_sshd() {
	local port

	need_root
	need ssh ssh-keygen
	[ -x /usr/sbin/sshd ] || skip 'sshd is not installed'
	ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f key && mkdir -p /run/sshd
	for port in 20022 21022 22022 23022 24022; do
		printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $PWD/host" "AuthorizedKeysFile $PWD/key.pub" "PidFile $PWD/pid" \
			'UsePAM no' 'StrictModes no' 'PermitRootLogin prohibit-password' >sshd.conf
		/usr/sbin/sshd -D -f sshd.conf -E sshd.log &
		wait_for eval '[ -s pid ] || ! kill -0 $! 2>/dev/null'
		! kill -0 $! 2>/dev/null || break
	done
	[ -s pid ] || { cat sshd.log; fail 'sshd does not start'; }
	export SSH="ssh -F none -p $port -i $PWD/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
	run "$examples/fleet/fleet.sh" -b "$bin" 127.0.0.1 -d 0.1 -w 0 'usermode-coun?' -p1
	kill "$(cat pid)"
	want_status 0
	want out '^127\.0\.0\.1: ok, [0-9]+ results$'
	want results/all.txt "^kernel: $(uname -r)\$"
}

examples_yaml() {
	need_python yaml
	must "$python" -c 'import sys, yaml; assert all(yaml.safe_load_all(open(sys.argv[1])))' "$1"
}

examples_ansible() {
	need ansible-playbook
	must env LC_ALL=C.UTF-8 ansible-playbook --syntax-check -i localhost, "$examples/fleet/bpftrig.yml"
	want out '^playbook: '
}

# What the image is, run as the job runs it: the capabilities are those of its file.
examples_scratch() {
	need_root
	need_attached
	need_python yaml
	need unshare setpriv chroot
	want "$examples/fleet/Containerfile" '^FROM scratch$'
	want "$examples/fleet/Containerfile" '^COPY \$\{BINARY\} /bpftrig$'
	want "$examples/fleet/Containerfile" '^ENTRYPOINT \["/bpftrig"\]$'
	"$python" - "$examples/fleet/job.yaml" >job <<-'END' || fail 'job.yaml has no such container'
		import sys, yaml
		c = yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]["containers"][0]
		print("".join(",+" + name.lower() for name in c["securityContext"]["capabilities"]["add"]))
		print(" ".join(c["args"]))
	END
	mkdir root && cp "$bin" root/bpftrig
	unshare -m -p -f true || skip 'no name spaces here'
	# shellcheck disable=SC2046
	must unshare -m -p -f setpriv --bounding-set="-all,+sys_chroot$(sed -n 1p job)" chroot root \
		/bpftrig $(sed -n 2p job | sed 's/ -d .*//') -d 0.1 -w 0 "$attached" uprobe-nop
	want out "^BenchmarkTrigger/$attached "
	want out '^BenchmarkTrigger/uprobe-nop '
	mv out saved
	must "$bin" diff saved saved
}

examples_lava_schema() {
	need_python yaml
	PYTHONPATH=/usr/lib/python3/dist-packages "$python" -c 'import lava_common.schemas' || skip 'lava-common is not installed'
	must "$python" - "$examples/fleet/lava.yaml" <<-'END'
		import sys, yaml
		from lava_common.schemas import validate
		validate(yaml.safe_load(open(sys.argv[1])), strict=True)
	END
}

# The monitors' patterns one after the other, as LAVA uses them, on what a run as process 1 prints.
examples_lava() {
	need_refused
	need_python yaml
	run "$bin" -d 0.1 -w 0 usermode-count "$refused" kernel-count
	{ cat err out && printf 'bpftrig: exit 1\n[    9.75] reboot: Power down\n'; } | sed 's/$/\r/' >console
	must "$python" - "$examples/fleet/lava.yaml" console <<-'END'
		import re, sys, yaml
		job = yaml.safe_load(open(sys.argv[1]))
		text = open(sys.argv[2], newline="").read()
		for monitor in job["actions"][2]["test"]["monitors"]:
		    text = text[re.search(monitor["start"], text).end():]
		    while True:
		        end, case = re.search(monitor["end"], text), re.search(monitor["pattern"], text)
		        if not case or end.start() < case.start():
		            break
		        m = case.groupdict()
		        print(m["test_case_id"], monitor["fixupdict"][m["result"]], m.get("measurement"), m.get("units"))
		        text = text[case.end():]
		    text = text[end.end():]
	END
	sed -nE 's,^([a-z-]+) *: .*\(([0-9.]+) ns/trigger.*,\1 pass \2 ns,p' console >wanted
	echo 'exit fail None None' >>wanted
	want_lines wanted 3
	want_same out wanted
}

examples_ktap() {
	need_refused
	need_python yaml
	"$python" -c 'import sys, yaml; print("\n".join(yaml.safe_load(open(sys.argv[1]))["run"]["steps"]))' "$examples/fleet/ktap.yaml" >steps
	printf '#!/bin/sh\necho "$@" >>cases\n' >lava-test-case
	chmod +x lava-test-case
	PATH=$PWD:$PATH BINARY=$bin OPTIONS="-d 0.1 -w 0 usermode-count $refused" must sh -e steps
	want_lines cases 2
	want cases "^usermode-count --result pass --measurement $(sed -nE 's,.*\(([0-9.]+) ns/trigger.*,\1,p' bpftrig.ktap) --units ns\$"
	want cases "^$refused --result skip\$"
	printf '#!/bin/sh\nprintf "KTAP version 1\\n1..1\\n# kprobe: of no importance\\nnot ok 1 kprobe\\n"\nexit 1\n' >fails
	chmod +x fails
	rm cases
	PATH=$PWD:$PATH BINARY=./fails OPTIONS='' must sh -e steps
	want cases '^kprobe --result fail$'
}

# === ends: what ends a run or stops it, and what a machine may not have ========================================================

# The runs with a call that never comes back, by tests/keep.c: HOW CALL ARGUMENT NUMBER, and the arguments of bpftrig. They take a minute,
# all at once, while the other tests of the group go on; each is in a network name space of its own, where nobody waits for another.
hanging_runs() {
	local bpf perf_event_open sched_setaffinity

	read -r bpf perf_event_open sched_setaffinity < <(printf '#include <sys/syscall.h>\nSYS_bpf SYS_perf_event_open SYS_sched_setaffinity\n' |
		gcc -E -P - | tail -n 1)
	cat <<-END
		load | kill $bpf 5 1 | -q -d 0.05 -w 0 kernel-count usermode-count
		verifier | signals $bpf 5 1 | -q -d 0.05 -w 0 kernel-count usermode-count
		batch | kill $bpf 10 1 | -q -d 0.05 -w 0 --format json --save saved usermode-count kernel-count
		producer | kill $bpf 10 30 | -q -d 0.05 -w 0 -p 2 kernel-count usermode-count
		attach | kill $perf_event_open -1 1 | -q -d 0.05 -w 0 uprobe-nop usermode-count
		list | kill $bpf 10 1 | list -q --format json usermode-count kernel-count
		compare | kill $bpf 5 6 | compare -q -d 0.05 usermode-count kernel-count
		jit | kill $bpf 5 1 | jit kernel-count
		dies | dies $sched_setaffinity -1 1 | -q -d 0.05 -w 0 usermode-count kernel-count
		signalled | kill $bpf 5 1 | -q kernel-count usermode-count
	END
}

start_hanging() {
	local name how arguments

	is_root && command -v gcc >/dev/null && unshare -n true && gcc "$top/tests/keep.c" -o "$tmp/keep" 2>/dev/null || return 0
	timeout 10 "$tmp/keep" kill 65535 -1 1 true || return 0 # seccomp without listeners
	while IFS='|' read -r name how arguments; do
		name=${name% }
		mkdir "$tmp/hanging-$name"
		# shellcheck disable=SC2086
		(
			cd "$tmp/hanging-$name" && cp "$bin" bpftrig || exit
			timeout -s KILL 400 unshare -n "$tmp/keep" $how ./bpftrig $arguments >out 2>err </dev/null &
			echo $! >pid
			wait $!
			echo $? >status.new
			mv status.new status
		) &
		hanging="$hanging $!"
	done < <(hanging_runs)
}

# hanging NAME STATUS: that one has ended so; its files are here.
hanging() {
	[ -d "$tmp/hanging-$1" ] || skip 'not root, no gcc, or no seccomp listeners'
	wait_for test -e "$tmp/hanging-$1/status"
	cp "$tmp/hanging-$1/"* .
	status=$(cat status)
	show "$1"
	want_status "$2"
}

lost='took more than 6[0-9] s; the run ends here: a thread in the kernel cannot be ended'

group_ends() {
	local name

	start_hanging
	check 'ends: a signal ends a run whose row hangs' ends_hang_signalled
	check 'ends: killed by SIGHUP: finished lines are out, exit status 129' cli_killed HUP 129
	check 'ends: SIGINT before the first row, while a pipe is read' ends_reading
	check 'ends: process 1 of a container: SIGTERM prints what is known, exit status 143' ends_container
	for name in STOP TSTP; do
		check "ends: stopped by SIG$name and continued: the windows of that time are taken again" ends_stopped $name '-d 2 --precision 0 -w 0' usermode-count
	done
	check 'ends: stopped in a sweep' ends_stopped STOP '-d 2 --precision 0 -w 0 -p 2,1' usermode-count
	check 'ends: stopped with --profile' ends_stopped STOP '-d 2 --precision 0 -w 0 --profile' usermode-count
	check 'ends: stopped within a window, and continued before it ends' ends_stopped_within
	check 'ends: stopped as process 1 of a container' ends_stopped_container
	check 'ends: stopped as bench: no window is as long as that' ends_stopped_bench
	check 'ends: stopped in compare: the verdict is that of equals' ends_stopped_compare
	check 'ends: a main thread without a CPU comes to an end' ends_starved
	check 'ends: a stack of 64 KiB' ends_stack
	check 'ends: any limit of memory: a figure, or a reason that names memory' ends_memory
	check 'ends: no memory for the log of the verifier' ends_no_log
	check 'ends: any limit of open files: a figure, or a reason that names the limit' ends_files
	check 'ends: no locked memory' ends_memlock
	check 'ends: no process more: the producer cannot be started' ends_processes
	check 'ends: a limit of file sizes: --save and standard output say so' ends_file_size
	check 'ends: long names: rows, paths, values' ends_long_names
	check 'ends: a root that cannot be written' ends_read_only
	check 'ends: no /proc, no /sys, no /dev' ends_nothing_mounted
	check 'ends: the environment changes nothing' ends_environment
	check 'ends: the address and undefined-behaviour sanitizers find nothing in a run of all rows' ends_sanitized address,undefined
	check 'ends: the thread sanitizer finds nothing in a run with two producers' ends_sanitized thread
	check 'ends: BTF that cannot be mapped is read, in short reads' ends_btf_pipe
	check 'ends: no BTF: the rows that need it say so, all others run' ends_no_btf
	check 'ends: BTF that cannot be followed: the rows that need it say so, all others run' ends_bad_btf
	check 'ends: a function in kallsyms but not in BTF, in neither, or only as a clone of the compiler' ends_missing_function
	check 'ends: no kprobe or uprobe PMU in sysfs' ends_no_pmu
	check 'ends: a file system that allows no uprobes (EIO)' ends_uprobe_eio
	check 'ends: perf_event_paranoid 4 is named with its value' ends_paranoid
	check 'ends: ± is defined where it is printed' ends_plus_minus
	check 'ends: each case in tests/cases.txt is held by tests that exist' ends_cases
	check 'ends: a load that the verifier does not end is interrupted, and the next row runs' ends_hang_interrupted
	check 'ends: a load that hangs' ends_hang load kernel-count BPF_PROG_LOAD
	check 'ends: an attachment that hangs' ends_hang attach uprobe-nop attaching
	check 'ends: a first batch that hangs: the json is whole, what was known is saved' ends_hang_json
	check 'ends: a producer that hangs' ends_hang producer kernel-count 'the last batch'
	check 'ends: a thread that dies' ends_hang dies usermode-count 'the last batch'
	check 'ends: list, compare and jit of a row that hangs' ends_hang_others
	stop_hanging
}

# Where no other run is waited for: what counts its sleeps (waits_of) is in the middle of a row then.
own_with_signals() { own_network env --default-signal=INT,TERM,HUP,PIPE "$@"; }

# SIGINT is not held back before there is a row to finish.
ends_reading() {
	mkfifo pipe
	own_with_signals "$bin" -q --obj pipe rawtp >out 2>err &
	exec 7>pipe
	kill -s INT $!
	wait_for has_ended $!
	wait $!
	status=$?
	show 'interrupted'
	want_status 130
	want_empty out
}

# A signal from outside cannot end process 1, but it interrupts.
ends_container() {
	need_root
	unshare --pid --fork true || skip 'no pid name space'
	own_with_signals unshare --pid --fork --kill-child "$bin" -q -d 60 -w 0 --precision 0 usermode-count >out 2>err &
	wait_for child_of $!
	wait_for waits_of "$(child_of $!)" 20
	kill -s TERM "$(child_of $!)"
	wait $!
	status=$?
	show 'process 1, interrupted'
	want_status 143
	want out '^usermode-count .* interrupted$'
}

has_ended() { ! kill -0 "$1" 2>/dev/null; }

child_of() { pgrep -P "$1" -x bpftrig; }

# stop_and_go PID [SIGNAL]: for longer than some windows, once it has measured a few.
stop_and_go() {
	wait_for waits_of "$1" 20
	kill -s "${2-STOP}" "$1"
	wait_for has_line "/proc/$1/status" '^State:\s+T'
	sleep 1
	kill -s CONT "$1"
}

# ends_stopped SIGNAL OPTIONS ROW
ends_stopped() {
	# shellcheck disable=SC2086
	own_with_signals "$bin" -q $2 "$3" >out 2>err &
	stop_and_go $! "$1"
	wait $!
	status=$?
	show "$2 $3"
	want_status 0
	want out "^$3.* windows late, and taken again"
	is_figure "$(grep -m 1 'taken again' out)" 2 || is_figure "$(grep -m 1 'taken again' out)" || fail 'no figure'
}

# Windows of a second. What was stopped for a part of one would not be late, if the wait did not begin again.
ends_stopped_within() {
	own_with_signals "$bin" -q -d 200 -w 0 usermode-count >out 2>err &
	wait_for has_line "/proc/$!/wchan" 'sigtimedwait|^0$' # in its first window
	sleep 0.2
	kill -s STOP $!
	wait_for has_line "/proc/$!/status" '^State:\s+T'
	sleep 0.3
	kill -s CONT $!
	wait_for waits_of $! $(($(sed -n 's/^voluntary_ctxt_switches:\s*//p' "/proc/$!/status") + 6))
	kill -s INT $!
	wait $!
	status=$?
	show 'stopped, and interrupted later'
	want_status 130
	want out '^usermode-count.* windows late, and taken again.* interrupted$'
}

ends_stopped_container() {
	need_root
	unshare --pid --fork true || skip 'no pid name space'
	own_with_signals unshare --pid --fork --kill-child "$bin" -q -d 2 --precision 0 -w 0 usermode-count >out 2>err &
	wait_for child_of $!
	stop_and_go "$(child_of $!)"
	wait $!
	status=$?
	want_status 0
	want out '^usermode-count.* windows late, and taken again'
}

# In brackets is by how much a window missed its second, in microseconds.
ends_stopped_bench() {
	"$bench" -w 1 -d 3 usermode-count >out 2>err &
	wait_for has_line out '^Iter +1 '
	kill -s STOP $!
	wait_for has_line "/proc/$!/status" '^State:\s+T'
	sleep 1
	kill -s CONT $!
	wait $!
	status=$?
	show 'as bench'
	want_status 0
	want err 'usermode-count: [1-9][0-9]* windows late, and taken again'
	[ "$(grep -c '^Iter' out)" = 4 ] || fail 'not a line for each window that counts'
	awk -F'[(]|us[)]' '/^Iter/ && ($2 > 500000 || $2 < -500000) { exit 1 }' out || fail 'a window is as long as the stop'
}

ends_stopped_compare() {
	own_with_signals "$bin" -q compare -d 2 usermode-count usermode-count >out 2>err &
	stop_and_go $!
	wait $!
	status=$?
	show compare
	want_status 0
	want_comparison usermode-count usermode-count any
}

# Many others at a better priority, and one CPU: each window comes late. That must not be taken again for ever.
ends_starved() {
	local hogs='' i

	need taskset
	for i in 1 2 3 4; do
		taskset -c 0 sh -c 'while :; do :; done' &
		hogs="$hogs $!"
	done
	run timeout --foreground 300 nice -n 19 taskset -c 0 "$bin" -q -d 0.05 -w 0 usermode-count
	# shellcheck disable=SC2086
	kill $hogs
	want_ended # a producer that gets no CPU at all is a failure
	want out '^usermode-count '
}

# with_limit OPTIONS COMMAND...: by prlimit.
with_limit() {
	local options=$1

	shift
	need prlimit
	# shellcheck disable=SC2086
	run timeout --foreground 120 prlimit $options -- "$@"
}

# Not killed: an exit status that bpftrig gives, and not a line too many.
want_ended() {
	case $status in 0 | 1 | 4) ;; *) fail "exit status $status" ;; esac
	want_none err 'Sanitizer|Segmentation'
}

# want_no_failure FILE: of a run of all rows, but for those that something else on this machine triggers too.
want_no_failure() {
	grep ' failed: ' "$1" | grep -v 'something else on this machine' >failures
	want_empty failures
}

ends_stack() {
	local words

	need_root
	for words in '-q -d 0.05 -w 0 all' '-d 0.05 -w 0 -p 8 usermode-count' '-q list all' '-q --help' '-q compare -d 0.1 usermode-count syscall-count' \
		'-v -d 0.05 -w 0 --profile --chart --svg out.svg --save saved rawtp kernel-count' '-q --format json -d 0.05 -w 0 usermode-count' \
		'diff saved saved' 'initramfs archive'; do
		# shellcheck disable=SC2086
		with_limit --stack=65536:65536 "$bin" $words
		want_ended
		want_no_failure out
	done
}

# From what is just enough to start (with less, the kernel kills it before it begins) up to enough for all.
ends_memory() {
	local kilobytes figures=0

	need_root
	for ((kilobytes = 800; kilobytes <= 65536; kilobytes = kilobytes * 5 / 4)); do
		prlimit --as=$((kilobytes * 1024)) -- "$bin" --version >/dev/null 2>&1 || [ -e started ] || continue # execve() itself kills it
		: >started
		with_limit --as=$((kilobytes * 1024)) "$bin" -q -d 0.02 -w 0 usermode-count kernel-count uprobe-nop
		want_ended
		[ -s out ] || want err 'no memory'
		grep -vE 'M/s|ENOMEM \(12\)|EAGAIN \(11\)|out of memory' out >left
		[ ! -s left ] || fail "with $kilobytes kB: $(head -n 1 left)"
		figures=$(grep -c M/s out)
	done
	[ "$figures" -ge 2 ] || fail 'not even 64 MB were enough'
}

# The verifier refuses the program, and there is no memory for its words: what is said is what it returned.
ends_no_log() {
	need_root
	fixture rejected
	injected_log() { with_limit "--as=$1" "$bin" -q -d 0.02 -w 0 --obj rejected.o rawtp; }
	injected_log 67108864
	[ "$status" = 1 ] || skip 'rawtp is skipped here'
	want out 'failed: BPF_PROG_LOAD of .*E[A-Z]+ \([0-9]+\)'
	cp out whole
	need_strace
	run timeout --foreground 60 strace -f -qq -e signal=none -o calls -e trace=mmap -e inject=mmap:error=ENOMEM:when=9+ \
		"$bin" -q -d 0.02 -w 0 --obj rejected.o rawtp
	want_status 1
	want out ' failed: '
}

ends_files() {
	local limit

	need_root
	for ((limit = 0; limit <= 16; limit++)); do
		with_limit --nofile=$limit:$limit "$bin" -q -d 0.02 -w 0 usermode-count kernel-count uprobe-nop
		want_ended
		want_row out usermode-count figure
		grep -vE 'M/s| skipped: |EMFILE \(24\).*(ulimit -n)?' out >left
		[ ! -s left ] || fail "with $limit files: $(head -n 1 left)"
	done
	want_row out kernel-count figure
}

ends_memlock() {
	need_root
	with_limit --memlock=0:0 "$bin" -q -d 0.05 -w 0 kernel-count
	want_status 0
	want_row out kernel-count figure
	with_limit --memlock=0:0 "$bin" -d 0.05 -w 0 --profile usermode-count
	want_status 0
	want_row out usermode-count figure
}

ends_processes() {
	need_root
	need setpriv
	chmod 755 .
	with_limit --nproc=1:1 setpriv --reuid=54321 --regid=54321 --clear-groups -- "$bin" -q -d 0.05 -w 0 usermode-count
	want_status 1
	want out '^usermode-count *:  failed: start of producer 0: EAGAIN \(11\)'
}

ends_file_size() {
	# shellcheck disable=SC2016
	run bash -c 'prlimit --fsize=100:100 -- "$1" -q -d 0.05 -w 0 --save saved usermode-count | cat; exit "${PIPESTATUS[0]}"' sh "$bin"
	want_status 1
	want err '^bpftrig: saved: EFBIG \(27\)'
	want_row out usermode-count figure
	# shellcheck disable=SC2016
	run bash -c 'prlimit --fsize=10:10 -- "$1" -q -d 0.05 -w 0 usermode-count 2>&1 >part | cat >&2; exit "${PIPESTATUS[0]}"' sh "$bin"
	want_status 1
	want err 'EFBIG \(27\)'
	with_limit --fsize=1000:1000 "$bin" initramfs archive
	want_status 1
	want err 'archive: EFBIG'
	[ ! -e archive ] || fail 'half an archive is left'
}

ends_long_names() {
	local long option

	long=$(head -c 100000 /dev/zero | tr '\0' x)
	for option in '' --obj= --save= --svg= --format= --batch= --precision= --prod-affinity= -d -p --on-exit= --; do
		"$bin" -q "$option$long" rawtp >out 2>err
		status=$?
		cut -c 1-200 err
		case $option in
		--obj= | --save= | --svg=)
			want_status 1
			want err 'ENAMETOOLONG \(36\)'
			;;
		*) want_status 2 ;;
		esac
		want_lines err 1
		want_empty out
	done
	echo 'just a text, of more bytes than an ELF header has, so that it could be taken for one' >text
	"$bin" -q --obj "$(printf './%.0s' {1..1000})text" kernel-count >out 2>err
	want out 'text: not an ELF file'
	for option in "compare $long rawtp" "diff $long $long" "list $long" "jit $long" "initramfs /$long"; do
		# shellcheck disable=SC2086
		"$bin" $option >out 2>err
		status=$?
		cut -c 1-200 err
		[ "$status" = 1 ] || want_status 2
		want_lines err 1
	done
	long=${long:0:200} # as much as a file's name may have
	must "$bin" -q -d 0.02 -w 0 --save "$long" usermode-count
	[ -s "$long" ] || fail 'nothing is saved'
	cp "$tmp/bin/bpf_progs.o" "$long"
	is_root || return 0
	must "$bin" -q -d 0.02 -w 0 --obj "$long" kernel-count
	mkdir "$long.d"
	cp "$bin" "$long.d/$long"
	must "$long.d/$long" -q -d 0.02 -w 0 uprobe-nop usdt-nop
}

# The same rows as ever, with the root mounted read-only (in a mount name space).
ends_read_only() {
	need_root
	unshare --mount true || skip 'no mount name space'
	# shellcheck disable=SC2016
	run unshare --mount sh -c 'mount --bind "$1" "$1" && mount -o remount,ro,bind / 2>/dev/null
		mount -o remount,ro,bind "$1" && cd "$1" && ! touch x 2>/dev/null && exec ./bpftrig -q -d 0.05 -w 0 all' sh "$tmp/bin"
	cut -d: -f1 out | tr -d ' ' >names
	printf '%s\n' "$row_names" | diff - names || fail 'not every row has its line'
	want_no_failure out
	# shellcheck disable=SC2016
	run unshare --mount sh -c 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" && exec ./bpftrig -q --save x usermode-count' sh "$tmp/bin"
	want_status 1
	want err '^bpftrig: x: EROFS \(30\)'
}

# A root with nothing but the program. With the rights to, it finds proc, sysfs and tracefs without a mount; without them, it says which
# rows need what.
ends_nothing_mounted() {
	need_root
	know_all
	mkdir root
	cp "$bin" root/bpftrig
	chmod 755 . root
	run chroot root /bpftrig -q -d 0.05 -w 0 all
	want_ended
	cut -d: -f1 out | tr -d ' ' >names
	printf '%s\n' "$row_names" | diff - names || fail 'not every row has its line'
	want_no_failure out
	grep -v ' skipped: ' out | cut -d: -f1 | tr -d ' ' >here
	grep -v ' skipped: ' "$tmp/all" | cut -d: -f1 | tr -d ' ' >there
	want_same here there 'other rows give a figure than with all mounted'
	run setpriv --reuid=65534 --regid=65534 --clear-groups chroot --userspec=65534:65534 root /bpftrig -q -d 0.05 -w 0 usermode-count rename-base
	[ "$status" != 125 ] || run chroot --userspec=65534:65534 root /bpftrig -d 0.05 -w 0 usermode-count rename-base
	want_row out usermode-count figure
	want out '^rename-base *:  skipped: .*there is no procfs'
}

# Only cost asks for it, which looks for the files of the user's programs as a shell does; the build without cost cannot. With an
# environment that would change others, a run does and says the same.
ends_environment() {
	grep -E 'getenv|environ\b|execvp|setlocale|wordexp' "$top/bpftrig.c" | grep -vE 'find_in_folders\(getenv\((variable|"PATH")\)|execve\(cost->path, .*, environ\)' >asks
	want_empty asks
	if command -v musl-gcc >/dev/null; then
		copy_tree tree
		must make -C tree SMALL=1 CC=musl-gcc LDFLAGS=-Wl,-Map=map
		want tree/map '\(__libc_start_main\.l?o\)'
		want_none tree/map '\((getenv|secure_getenv|setlocale|tzset|__tz)\.l?o\)'
	fi
	for arguments in --help 'list usermode-count' 'initramfs' '-q --format csv fentri' 'diff missing missing'; do
		# shellcheck disable=SC2086
		env -i "$bin" $arguments >plain.out 2>plain.err
		# shellcheck disable=SC2086
		env -i LD_PRELOAD=/missing.so LD_LIBRARY_PATH=/ LD_DEBUG=all LC_ALL=de_DE.UTF-8 LANG=tr_TR LANGUAGE=de TZ=:/etc/passwd TMPDIR=/missing \
			HOME=/missing COLUMNS=20 LINES=2 TERM=dumb NO_COLOR=1 PATH=/missing POSIXLY_CORRECT=1 MALLOC_PERTURB_=165 MUSL_LOCPATH=/ \
			GCONV_PATH=/ GLIBC_TUNABLES=glibc.malloc.check=3 BPFTRIG_SMALL=1 ASAN_OPTIONS=x IFS=x \
			"$bin" $arguments >out 2>err
		status=$?
		show "$arguments"
		want_same out plain.out
		want_same err plain.err
	done
	must env -i COLUMNS=20 LINES=2 TERM=dumb "$bin" -q -d 0.05 -w 0 --chart usermode-count
	sed 's/[0-9.]\+/N/g; s/[^ -~]//g' out >one
	must env -i "$bin" -q -d 0.05 -w 0 --chart usermode-count
	want out '^usermode-count '
}

# ends_sanitized SANITIZERS: nothing on standard error, whatever each row comes to.
ends_sanitized() {
	local words='all' turn=

	need_root
	echo 'int main(void) { return 0; }' >empty.c
	{ gcc -fsanitize="$1" empty.c -o empty && ./empty; } || skip 'gcc has no such sanitizer here'
	[ "$1" != thread ] || { words='-p 2 usermode-count syscall-count kernel-count rawtp uprobe-nop rename-base' turn='setarch -R'; }
	must gcc -g -O1 -fno-omit-frame-pointer -fsanitize="$1" -fno-sanitize-recover=all -pthread -I"$tmp/bin" "$top/bpftrig.c" -o sanitized -lm
	# shellcheck disable=SC2086
	run $turn ./sanitized -q -d 0.05 -w 0 $words
	want_ended
	want_none err 'Sanitizer|runtime error|WARNING'
	must ./sanitized -q -d 0.05 -w 0 --profile --chart --svg a.svg --save saved usermode-count kernel-count
	must ./sanitized diff saved saved
	must ./sanitized -q compare -d 0.2 usermode-count usermode-count
}

# bound FILE PLACE COMMAND...: with the file in that place, in a mount name space of its own.
bound() {
	need_root
	unshare --mount true || skip 'no mount name space'
	[ -e "$2" ] || skip "there is no $2"
	# shellcheck disable=SC2016
	run timeout --foreground 120 unshare --mount sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$@"
}

btf=/sys/kernel/btf/vmlinux

# mmap() of a pipe fails; its reads are as short as its writes. One row that opens it once: what comes of that is what comes without.
ends_btf_pipe() {
	need_root
	know_all
	mkfifo pipe
	dd if=$btf bs=1000 of=pipe status=none &
	bound pipe $btf "$bin" -q -d 0.05 -w 0 fentry
	sed 's/M\/s.*//; s/[0-9]//g' out >here
	line_of fentry "$tmp/all" | sed 's/M\/s.*//; s/[0-9]//g' | diff -b - here || fail 'it is not as with a file'
}

ends_no_btf() {
	need_root
	need_strace
	run timeout --foreground 120 strace -f -qq -e signal=none -o calls -e trace=open,openat -P $btf -P kernel/btf/vmlinux \
		-e inject=open,openat:error=ENOENT "$bin" -q -d 0.05 -w 0 fentry tpbtf usermode-count kernel-count uprobe-nop
	want_row out fentry 'the kernel has no BTF'
	want_row out tpbtf 'the kernel has no BTF'
	want_row out usermode-count figure
	want_row out kernel-count figure
	want_row out uprobe-nop either
}

ends_bad_btf() {
	printf 'no BTF at all, but a few bytes' >garbage
	bound garbage $btf "$bin" -q -d 0.05 -w 0 fentry usermode-count kernel-count
	want_status 0
	want_row out fentry 'kernel BTF: magic'
	want_row out kernel-count figure
}

# BTF without a type: a header, and one empty string. Which half is missing is told by kallsyms.
ends_missing_function() {
	[ "$(printf '\1\0' | od -An -tu2 | tr -d ' ')" = 1 ] || skip 'the bytes are those of a little-endian machine'
	printf '\237\353\1\0\30\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0' >tiny
	bound tiny $btf "$bin" -q fentry
	want_row out fentry 'kernel BTF: ENOENT (2): /proc/kallsyms has function bpf_get_numa_node_id, but it is not to be had here'
	echo 'ffffffff81000000 T bpf_get_numa_node_id.isra.0' >symbols
	# shellcheck disable=SC2016
	bound tiny $btf sh -c 'mount --bind symbols /proc/kallsyms && exec "$1" -q fentry' sh "$bin"
	want_row out fentry "the kernel has bpf_get_numa_node_id only as the compiler's bpf_get_numa_node_id.isra.0"
	# shellcheck disable=SC2016
	bound tiny $btf sh -c 'mount --bind /dev/null /proc/kallsyms && exec "$1" -q fentry' sh "$bin"
	want_row out fentry 'the kernel has no function bpf_get_numa_node_id'
}

ends_no_pmu() {
	local row pmu

	need_root
	need_strace
	for row in uprobe-nop kprobe; do
		pmu=${row%-nop}
		run timeout --foreground 120 strace -f -qq -e signal=none -o calls -e trace=open,openat -P "/sys/bus/event_source/devices/$pmu/type" \
			-P "bus/event_source/devices/$pmu/type" -e inject=open,openat:error=ENOENT "$bin" -q -d 0.05 -w 0 "$row" usermode-count
		want_row out "$row" ': '
		[ "$pmu" = kprobe ] || want_row out "$row" '/sys/bus/event_source/devices/uprobe/type: ENOENT (2): the kernel has no uprobe events'
		want_row out usermode-count figure
	done
}

ends_uprobe_eio() {
	need_figure uprobe-nop
	injected '-e trace=perf_event_open -e inject=perf_event_open:error=EIO' uprobe-nop
	want_status 4
	want_row out uprobe-nop 'the file system of that file does not allow uprobes: copy it to another, such as a tmpfs'
}

ends_paranoid() {
	need_figure uprobe-nop
	need_strace
	echo 4 >four
	bound four /proc/sys/kernel/perf_event_paranoid strace -f -qq -e signal=none -o calls -e trace=perf_event_open \
		-e inject=perf_event_open:error=EACCES "$bin" -q -d 0.05 -w 0 uprobe-nop
	want_status 4
	want_row out uprobe-nop 'EACCES (13): forbidden by a sysctl (kernel.perf_event_paranoid = 4)'
}

ends_plus_minus() {
	must "$bin" --help
	want out '± half of the 95% confidence'
	want "$top/README.md" '±.*(95 ?%|half)|95 ?%.*±'
}

# Every name that a check has, those of the tables and loops with their values.
test_names() {
	local kernel names what name row

	sed -nE "s/^\\tcheck [\"'](.*)[\"'] [a-z_]+.*/\\1/p; s/^\\t\\tcheck [\"'](.*)[\"'] [a-z_]*.*/\\1/p; s/^\\t\\tcheck \"(.*)\" \\\\$/\\1/p" "$top/test.sh"
	while IFS= read -r row; do
		echo "cli: misuse: bpftrig ${row%% | *}"
	done < <(misuses)
	while IFS='|' read -r kernel names what; do
		for name in $names; do
			echo "vm: ${kernel% }: $name: ${what# }"
		done
	done < <(vm_expectations)
}

# In tests/cases.txt, each line that begins with a tab is the whole name of a test; the others, but for remarks, are the cases.
ends_cases() {
	local test

	test_names >names
	sed -n 's/^\t//p' "$top/tests/cases.txt" >named
	[ "$(wc -l <named)" -ge 60 ] || fail "only $(wc -l <named) tests are named"
	awk '/^[^#\t]/ { if (open) bad = open; open = $0 } /^\t/ { open = "" } END { if (open bad) { print open bad; exit 1 } }' "$top/tests/cases.txt" ||
		fail 'a case without a test'
	while IFS= read -r test; do
		case $test in
		unit:*) grep -qF -e "${test#unit: }\"" -e "\"${test#unit: *: }\"" "$top/tests/unit.c" || fail "no such test: $test" ;;
		*) grep -qxF -- "$test" names || fail "no such test: $test" ;;
		esac
	done <named
}

# ends_hang NAME ROW STAGE: the row has its reason, and there is no other.
ends_hang() {
	hanging "$1" 1
	want_lines out 1
	want out "^$2 *:  failed: $3 $lost\$"
}

ends_hang_interrupted() {
	hanging verifier 1
	want_lines out 2
	want out '^kernel-count *:  failed: BPF_PROG_LOAD took more than 60 s, and was interrupted$'
	want_row out usermode-count figure
}

ends_hang_json() {
	hanging batch 1
	need python3
	python3 -c 'import json; b = json.load(open("out"))["benchmarks"]
assert b[0]["name"] == "usermode-count" and "error_message" not in b[0], b
assert b[-1]["name"] == "kernel-count" and "the first batch took more" in b[-1]["error_message"], b' || fail 'the json is not whole'
	want saved '^BenchmarkTrigger/usermode-count '
}

ends_hang_others() {
	hanging list 1
	need python3
	python3 -c 'import json; b = json.load(open("out")); assert [r["works"] for r in b] == [True, False], b; assert "the first batch" in b[1]["reason"], b' ||
		fail 'the json of list is not whole'
	hanging compare 1
	want err "kernel-count: failed: BPF_PROG_LOAD $lost"
	hanging jit 1
	want err "kernel-count: failed: BPF_PROG_LOAD $lost"
}

# Nothing can end it at once, but it does not take the whole minute either.
ends_hang_signalled() {
	[ -d "$tmp/hanging-signalled" ] || skip 'not root, no gcc, or no seccomp listeners'
	wait_for test -s "$tmp/hanging-signalled/pid"
	wait_for child_of "$(pgrep -P "$(cat "$tmp/hanging-signalled/pid")")"
	sleep 1 # it holds the signal back once it has begun; before, it would just end
	kill -s INT "$(child_of "$(pgrep -P "$(cat "$tmp/hanging-signalled/pid")")")"
	hanging signalled 130
	want out "^kernel-count *:  failed: BPF_PROG_LOAD took more than "
	want_lines out 1
}

# === cost: what probes cost a command, or the machine as it runs ===============================================================
# The command is tests/calls.c. What it calls is in files of the test's own, which nobody else runs: the hits are exact, whatever else
# the machine does. No test judges ns a hit, which on a machine with something else to do is another each time: that is for vm.

# What is typed behind cost, and what the one line on standard error must name; the exit status is 2 where bpftrig's usage is the matter.
cost_refused_rows() {
	cat <<-'END'
		2 | '' -- ./pie | cost: '' is no target: KIND:WHERE
		2 | uprobe -- ./pie | 'uprobe' is no target
		2 | probe:x -- ./pie | 'probe:x' is no target
		2 | kprobe: -- ./pie | names nothing
		2 | kprobe:+4 -- ./pie | names no function
		2 | kprobe:schedule+x -- ./pie | an offset that is not a number
		2 | kretprobe:schedule+4 -- ./pie | a return has none
		2 | tp:sched_switch -- ./pie | wants CATEGORY:NAME
		2 | tp:../x:y -- ./pie | wants CATEGORY:NAME
		2 | uprobe:./pie -- ./pie | wants BINARY:FUNC
		2 | uprobe:./pie: -- ./pie | wants BINARY:FUNC
		2 | uprobe::plain -- ./pie | wants BINARY:FUNC
		2 | uprobe:./pie:+4 -- ./pie | names no function
		2 | uprobe:./pie:0x -- ./pie | an offset that is not a number
		2 | uprobe:./pie:0x12345678901234567 -- ./pie | an offset that is not a number
		2 | uretprobe:./pie:plain+4 -- ./pie | a return has none
		2 | usdt:./pie:pass -- ./pie | wants BINARY:PROVIDER:NAME
		2 | uprobe:./pie:plain | wants a command behind --, or --for SEC
		2 | uprobe:./pie:plain -- | wants a command behind --, or --for SEC
		2 | uprobe:./pie:plain --for 1 -- ./pie | a command or --for, not both
		2 | -- ./pie | wants from one to 16 targets
		2 | uprobe:./pie:plain --prog x -- ./pie | --prog: only with --obj
		2 | uprobe:./pie:plain --for 0 | --for\b
		2 | uprobe:./pie:plain -p 2 -- ./pie | --producers\b.*not for cost
		1 | fentry:no_such_function -- ./pie | the kernel has no function no_such_function
		1 | kprobe:sys_getpgi -- ./pie | the kernel has no function sys_getpgi; did you mean .*sys_getpgid
		1 | rawtp:sys_ente -- ./pie | the kernel has no tracepoint sys_ente; did you mean sys_enter
		1 | tpbtf:nothing_like_it -- ./pie | the kernel has no tracepoint nothing_like_it
		1 | uprobe:./missing:plain -- ./pie | \./missing: ENOENT \(2\)
		1 | uprobe:no-such-program:plain -- ./pie | no such program in PATH or .*/usr/bin
		1 | uprobe:libnothing.so.1:plain -- ./pie | no such library in LD_LIBRARY_PATH or .*/usr/lib
		1 | uprobe:.:plain -- ./pie | \.: no such program
		1 | uprobe:./:plain -- ./pie | \./: not a regular file
		1 | uprobe:/dev/zero:plain -- ./pie | /dev/zero: not a regular file
		1 | uprobe:./pipe:plain -- ./pie | \./pipe: not a regular file
		1 | uprobe:./script:plain -- ./pie | a script; .* /usr/bin/env sh
		1 | uprobe:./text:plain -- ./pie | not an ELF file
		1 | uprobe:./bits32:plain -- ./pie | a 32-bit binary
		1 | uprobe:./short:plain -- ./pie | truncated
		1 | uprobe:./object:plain -- ./pie | neither a program nor a shared library
		1 | uprobe:./swapped:plain -- ./pie | for another machine
		1 | uprobe:./pie:plane -- ./pie | has no function plane; did you mean plain$
		1 | uprobe:./stripped:plain -- ./pie | has no function plain.*it is stripped
		1 | uprobe:./pie:printf -- ./pie | takes printf from a library
		1 | uprobe:./pie:twice -- ./pie | has several functions twice \(at 0x.* and 0x
		1 | uprobe:./pie:picked -- ./pie | picked is an ifunc
		1 | uprobe:./libcalls.so:versioned@V_3 -- ./pie | has no function versioned@V_3
		1 | uprobe:./pie:plain+1000 -- ./pie | offset 1000 is past the end of plain, which has [0-9]+ bytes
		1 | uprobe:./pie:0x1 -- ./pie | there is no code at offset 0x1
		1 | uprobe:./pie:99999999 -- ./pie | is past the end of the file
		1 | usdt:./pie:calls:pas -- ./pie | has no USDT probe calls:pas; did you mean pass
		1 | usdt:./pie:other:pass -- ./pie | has no USDT probe other:pass
		1 | usdt:./stripped:calls:nothing -- ./pie | has no USDT probe calls:nothing
		1 | uprobe:./pie:plain uprobe:./pie:plane -- ./pie | has no function plane
		1 | uprobe:./pie:plain -- ./missing | \./missing: ENOENT \(2\)
		1 | uprobe:./pie:plain -- no-such-program x | no-such-program: no such program in PATH
		1 | uprobe:./pie:plain -- text | text: no such program in PATH
		1 | uprobe:./pie:plain -- ./text | \./text: EACCES \(13\)
		1 | uprobe:./pie:plain -- ./ | \./: not a regular file
		1 | uprobe:./pie:plain --obj ./missing -- ./pie | \./missing: ENOENT \(2\)
	END
}

group_cost() {
	local row status typed words kind

	while IFS= read -r row; do
		status=${row%% | *} typed=${row#* | } words=${row##* | }
		typed=${typed%% | *}
		check "cost: refused: $typed" cost_refused "$status" "$typed" "$words"
	done < <(cost_refused_rows)
	for kind in pie static static-pie; do
		check "cost: $kind: hits are exact, at the places that nm and readelf know" cost_exact "$kind"
	done
	check 'cost: an offset counts, also where there are no names, or two of one name' cost_offsets
	check 'cost: a library of LD_LIBRARY_PATH, and the versions of its function' cost_versions
	check 'cost: getpid of a libc of our own' cost_libc
	check 'cost: a program of PATH, which is one only if it can be run' cost_path
	check 'cost: usdt: both places, with the semaphore up only meanwhile' cost_usdt
	check 'cost: usdt: by perf events where there are no multi links' cost_usdt_events
	check 'cost: tp and rawtp count what strace -c counts' cost_syscalls
	check 'cost: uretprobe, uprobe-multi and uretprobe-multi, side by side' cost_several
	check 'cost: --obj and --prog' cost_object
	check 'cost: the form of its lines' cost_form
	check 'cost: the output of the command, and --quiet-command' cost_output
	check 'cost: what the command finds open and blocked' cost_surroundings
	check 'cost: a command that fails ends it, and at once' cost_fails
	check 'cost: a command that runs bpftrig is not kept waiting' cost_of_itself
	check 'cost: interrupted by SIGINT: the command is ended, what is known printed, nothing left' cost_interrupted INT 130
	check 'cost: interrupted by SIGTERM' cost_interrupted TERM 143
	check 'cost: interrupted: a command that ignores SIGTERM' cost_stubborn
	check 'cost: killed: neither program nor command is left' cost_killed
	check 'cost: --for: a steady caller, on the CPU that it is on' cost_live
	check 'cost: --for: interrupted, nothing is left' cost_live_interrupted
	check 'cost: --for: what never runs' cost_live_nothing
	check 'cost: what this machine refuses is skipped, the rest goes on' cost_skipped
	check 'cost: what runs everywhere is warned of' cost_hot
	check 'cost: hot or not, a closed pipe is silent' cost_closed_pipe
}

# The programs, compiled once, into the test's directory.
cost_programs() {
	need gcc
	if [ ! -e "$tmp/calls/done" ]; then
		mkdir -p "$tmp/calls"
		(cd "$tmp/calls" && cost_compile) || fail 'cannot compile tests/calls.c'
		: >"$tmp/calls/done"
	fi
	cp -a "$tmp/calls/." .
}

cost_compile() {
	local source=$top/tests/calls.c

	set -e
	printf 'V_1 { global: versioned; local: *; };\nV_2 { global: versioned; } V_1;\n' >map
	gcc -O2 -Wall -Wextra -DLIBRARY -shared -fPIC -Wl,--version-script=map "$source" -o libcalls.so
	gcc -O2 -Wall -Wextra -DOTHER -c "$source" -o other.o
	gcc -O2 -Wall -Wextra -pie -fPIE -DVERSIONED "$source" other.o libcalls.so -o pie
	gcc -O2 -static "$source" other.o -o static
	gcc -O2 -static-pie -fPIE "$source" other.o -o static-pie
	strip pie -o stripped
	cp other.o object
	printf '#!/usr/bin/env sh\n' >script
	echo 'not a program' >text
	head -c 60 pie >short
	cp pie bits32
	printf '\001' | dd of=bits32 bs=1 seek=4 conv=notrunc status=none # EI_CLASS
	cp pie swapped
	printf '\377\377' | dd of=swapped bs=1 seek=18 conv=notrunc status=none # e_machine
	mkfifo pipe
}

# As root, and where uprobes are to be had.
need_cost() {
	need_root
	need_figure uprobe-push
	cost_programs
	export LD_LIBRARY_PATH=.
}

# cost ARGUMENTS...: the least number of rounds; quiet, but for -v.
cost() {
	[ "$1" = -v ] || set -- -q "$@"
	run timeout --foreground 200 "$bin" cost -d 0.1 "$@"
}

# Nothing may be attached, nor even loaded, before all is known to be well.
cost_refused() {
	local -a arguments

	need_strace
	cost_programs
	eval "arguments=($2)"
	run timeout --foreground 60 strace -f -qq -o calls -e signal=none -e trace=bpf,perf_event_open "$bin" cost "${arguments[@]}"
	want_status "$1"
	want_empty out
	want_lines err 1
	want err "$3"
	cat calls
	want_empty calls
}

# want_hits TARGET HITS: as they stand in its line.
want_hits() {
	local line

	line=$(grep -F -- "$1 " out | grep -E '^[a-z-]+:[^ ]+ +: ') || fail "no line for $1"
	[[ $line == *"; $2 hits a run"* ]] || fail "$1 has not $2 hits a run"
}

# place_of FILE ADDRESS: where in the file what is loaded at an address is, by readelf.
place_of() {
	local address=$(($2)) off virtual size flags

	while read -r off virtual size flags; do
		if [[ $flags == *E* ]] && ((address >= virtual && address < virtual + size)); then
			printf '0x%x\n' $((address - virtual + off))
			return
		fi
	done < <(readelf -lW "$1" | sed -nE 's/^ +LOAD +(0x\S+) +(0x\S+) +0x\S+ +(0x\S+) +0x\S+ +([RWE ]+) 0x.*/\1 \2 \3 \4/p')
	return 1
}

# place_of_function FILE NAME: with the symbol's address from nm.
place_of_function() { place_of "$1" 0x"$(nm "$1" | awk -v name="$2" '$3 == name { print $1 }')"; }

# want_place TARGET OFFSET: by what -v says.
want_place() {
	[ -n "$2" ] || fail "no place known for $1"
	grep -Eq "^bpftrig: $1: attached by .* at offset $2\$" err || fail "$1 is not attached at $2"
}

cost_exact() {
	local name target

	need nm readelf
	need_cost
	for name in push plain usdt other; do
		target=uprobe:./$1:$([ $name != other ] && echo $name || echo call_other)
		cost -v "$target" -- "./$1" 197 $name
		want_status 0
		want_hits "$target" 197
		want_place "$target" "$(place_of_function "./$1" "${target##*:}")"
	done
}

# The first of the two functions is that of calls.c itself. What stands 4 bytes behind an entry is an instruction of a function that begins
# with one of 4 bytes, which is what objdump says.
cost_offsets() {
	local first second place behind

	need nm objdump
	need_cost
	read -r first second < <(nm pie | awk '$3 == "twice" { printf "0x%s ", $1 } END { print "" }')
	place=$(place_of pie "$first")
	for name in pie stripped; do
		cost "uprobe:./$name:$place" "uprobe:./$name:$(place_of pie "$second")" -- "./$name" 97 twice
		want_status 0
		want_hits "uprobe:./$name:$place" 97
		want out "^uprobe:./$name:$(place_of pie "$second") .*; not one hit: the command never came there$"
	done
	cost "uprobe:./stripped:$((place))" -- ./stripped 97 twice
	want_hits "uprobe:./stripped:$((place))" 97
	behind=$(objdump -d --no-show-raw-insn --disassemble=plain pie | sed -nE 's/^ +([0-9a-f]+):.*/0x\1/p' | sed -n 2p)
	behind=$((behind - 0x$(nm pie | awk '$3 == "plain" { print $1 }')))
	cost -v "uprobe:./pie:plain+$behind" "uprobe:./pie:plain+0" -- ./pie 97 plain
	want_hits "uprobe:./pie:plain+$behind" 97
	want_hits "uprobe:./pie:plain+0" 97
	want_place "uprobe:./pie:plain\\+$behind" "$(printf '0x%x' $(($(place_of_function pie plain) + behind)))"
}

cost_versions() {
	local old new

	need nm
	need_cost
	cost -v uprobe:libcalls.so:versioned uprobe:libcalls.so:versioned@V_1 uprobe:libcalls.so:versioned@@V_2 -- ./pie 97 old
	want_status 0
	want_hits uprobe:libcalls.so:versioned@V_1 97
	want out '^uprobe:libcalls.so:versioned .*not one hit'
	want out '^uprobe:libcalls.so:versioned@@V_2 .*not one hit'
	old=$(place_of_function libcalls.so versioned_1) new=$(place_of_function libcalls.so versioned_2)
	[ "$old" != "$new" ] || fail 'both versions are one'
	want_place uprobe:libcalls.so:versioned@V_1 "$old"
	want_place uprobe:libcalls.so:versioned "$new"
	want_place uprobe:libcalls.so:versioned@@V_2 "$new"
	strip libcalls.so # .dynsym has the versions by number
	cost uprobe:libcalls.so:versioned uprobe:libcalls.so:versioned@V_1 -- ./pie 97 new
	want_status 0
	want_hits uprobe:libcalls.so:versioned 97
	want out '^uprobe:libcalls.so:versioned@V_1 .*not one hit'
}

# The machine's libc is everybody's: the copy is what this command alone runs.
cost_libc() {
	local libc

	need_cost
	libc=$(ldd ./pie | sed -nE 's/^\s*libc\.so\.6 => (\S+).*/\1/p')
	[ -n "$libc" ] || skip 'this is no glibc'
	cost -v uprobe:libc.so.6:getpid -- ./pie 97 libc
	want_status 0
	want err "^bpftrig: uprobe:libc.so.6:getpid: attached by uprobe to getpid, $(readlink -f "$libc" | sed 's,.*/,.*/,') at offset" ||
		want err '^bpftrig: uprobe:libc.so.6:getpid: attached by uprobe to getpid, /.*libc.so.6 at offset'
	cp "$libc" libc.so.6
	cost -v uprobe:libc.so.6:getpid -- ./pie 97 libc
	want_status 0
	want_hits uprobe:libc.so.6:getpid 97
	want err '^bpftrig: uprobe:libc.so.6:getpid: attached by uprobe to getpid, \./libc.so.6 at offset'
}

cost_path() {
	need_cost
	mkdir not-here here
	: >not-here/my-calls
	cp static here/my-calls
	PATH=not-here:here:$PATH cost -v uprobe:my-calls:plain -- my-calls 97 plain
	want_status 0
	want_hits uprobe:my-calls:plain 97
	want err ' here/my-calls at offset'
}

# Each place of the two holds the semaphore up by one.
cost_usdt() {
	need readelf
	need_cost
	for name in pie static static-pie stripped; do
		cost -v usdt:./$name:calls:pass -- ./$name 97 usdt
		want_status 0
		want_hits usdt:./$name:calls:pass 97
		sort out | uniq -c
		[ "$(grep -c '^semaphore: 2$' out)" -ge 5 ] || fail 'the semaphore was not up'
		[ "$(grep -c '^semaphore: 0$' out)" -ge 6 ] || fail 'the semaphore was never down'
		want_none out '^semaphore: [^02]'
		readelf -n ./$name | sed -nE '/Name: pass$/{n;s/.*Location: (0x[0-9a-f]+),.*/\1/p}' >places
		want_lines places 2
		want_place usdt:./$name:calls:pass "$(place_of ./$name "$(head -n 1 places)")"
	done
}

# The call that makes the link is the only one on uprobes that fails here; what strace sees of the program's own calls is the same in each run.
cost_usdt_events() {
	local number

	need_strace
	need_cost
	must strace -qq -e signal=none -e trace=bpf -o calls "$bin" cost -q -d 0.1 usdt:./pie:calls:pass --for 0.1
	number=$(grep -n 'BPF_LINK_CREATE' calls | head -n 1 | cut -d : -f 1)
	[ -n "$number" ] || skip 'this kernel has no multi links of uprobes'
	run strace -qq -e signal=none -e trace=bpf -o calls -e "inject=bpf:error=EINVAL:when=$number" \
		"$bin" cost -d 0.1 -v usdt:./pie:calls:pass --for 0.1
	want_status 0
	want calls 'BPF_LINK_CREATE.*INJECTED'
	want err '^bpftrig: usdt:./pie:calls:pass: attached by uprobe to pass, ./pie at offset'
}

# least_hits TARGET: of a run.
least_hits() {
	sed -nE "s/^$1.* hits a run \\(([0-9]+) to .*/\\1/p; s/^$1.*; ([0-9]+) hits a run.*/\\1/p" out | head -n 1
}

# Others may make that call, too; in the least of the rounds, nobody did.
cost_syscalls() {
	local counted hits

	need_strace
	need_cost
	run strace -c -f -o table -e trace=getpgid ./pie 997 syscall
	counted=$(awk '$NF == "getpgid" { print $4 }' table)
	[ "$counted" = 997 ] || fail "strace counts $counted"
	need_figure tp-legacy
	cost tp:syscalls:sys_enter_getpgid rawtp:sys_enter -- ./pie 997 syscall
	want_status 0
	hits=$(least_hits tp:)
	[ "$hits" = "$counted" ] || fail "at least $hits hits, where strace counts $counted"
	hits=$(least_hits rawtp:)
	must strace -c -f -o table ./pie 997 syscall
	counted=$(awk '$NF == "total" { print $4 }' table)
	[ "$hits" -ge "$((counted - 1))" ] || fail "at least $hits hits, where strace counts $counted" # execve is entered by strace's child
}

cost_several() {
	local kinds='uprobe uretprobe' kind
	local -a targets=()

	need_cost
	[ ! -e "$tmp/all" ] || ! line_of uprobe-multi-push "$tmp/all" | grep -q ns/trigger || kinds="$kinds uprobe-multi uretprobe-multi"
	for kind in $kinds; do
		targets+=("$kind:./static:plain")
	done
	cost "${targets[@]}" -- ./static 97 plain
	want_status 0
	want_lines out $((${#targets[@]} + 1))
	for kind in "${targets[@]}"; do
		want_hits "$kind" 97
	done
}

# An object with a program that counts three for each hit, under a name that nobody else's has.
cost_mine() {
	need "$clang"
	cat >mine.bpf.c <<-'END'
		#include "FIXTURE"

		ENTRY int cost_mine(void *ctx)
		{
			for (int i = 0; i < 3; i++)
				__sync_fetch_and_add(&hits[get_smp_processor_id() & 255].hits, 1);
			return 0;
		}
	END
	sed -i "s,FIXTURE,$top/tests/fixture.h," mine.bpf.c
	must "$clang" -target bpf -mcpu=v3 -O2 -c mine.bpf.c -o mine.o
}

cost_object() {
	need_cost
	cost_mine
	cost uprobe:./pie:plain --obj mine.o --prog cost_mine -- ./pie 97 plain
	want_status 0
	want_hits uprobe:./pie:plain 291
	cost uprobe:./pie:plain --obj mine.o -- ./pie 97 plain
	want_status 1
	want out "^uprobe:./pie:plain *:  failed: .*\\bcount\\b"
	cost uprobe:./pie:plain --obj mine.o --prog other -- ./pie 97 plain
	want_status 1
	want out "^uprobe:./pie:plain *:  failed: .*\\bother\\b"
	cost uprobe:./pie:plain --obj mine.o --prog cost_mine --for 0.2
	want_status 0
	want out '^uprobe:./pie:plain *: +0.0 ± 0.0 hits/s; not one hit in'
}

cost_form() {
	local ms='[0-9]+\.[0-9]{3}' spent

	need_cost
	spent="$ms ± $ms ms \\(user $ms, system $ms\\)"
	cost uprobe:./static:plain uprobe:./static:push usdt:./static:calls:pass -- ./static 197 plain
	want_status 0
	want_empty err
	want_lines out 4
	want out "^nothing attached         : +$spent; ([5-9]|[0-9]{2,4}) rounds$"
	want out "^uprobe:./static:plain    : +$spent; [+-]$ms ± $ms ms \\([+-][0-9]+\\.[0-9] %\\); 197 hits a run, ([0-9.]+ ± [0-9.]+ ns a hit|lost in the noise: at most [0-9.]+ ns a hit)$"
	want out "^uprobe:./static:push     : +$spent; [+-]$ms ± $ms ms \\([+-][0-9]+\\.[0-9] %\\); not one hit: the command never came there$"
	want out "^usdt:./static:calls:pass : +$spent; .*; not one hit"
	head -n 1 out | grep -q '^nothing attached' || fail 'the run with nothing attached is not the first line'
	awk '{ print index($0, ": ") }' out | sort -u >columns
	want_lines columns 1
}

cost_output() {
	local runs

	need_cost
	cost uprobe:./pie:plain -- sh -c 'echo to out; echo to err >&2; ./pie 7 plain'
	want_status 0
	runs=$(grep -c '^to out$' out)
	[ "$runs" = "$(grep -c '^to err$' err)" ] || fail 'not as often on the one as on the other'
	[ "$runs" = $((2 * $(sed -nE 's/^nothing attached.*; ([0-9]+) rounds$/\1/p' out) + 1)) ] || fail "$runs runs"
	want_lines err "$runs"
	cost --quiet-command uprobe:./pie:plain -- sh -c 'echo to out; echo to err >&2; ./pie 7 plain'
	want_status 0
	want_empty err
	want_lines out 2
	want_hits uprobe:./pie:plain 7
}

# Nothing of ours is open in it, no signal blocked, and standard input is empty: there are many runs, and only the first could read it.
cost_surroundings() {
	local -a look=(sh -c 'ls -l /proc/self/fd | sed "s/.*:.. //; s/ -> .*//" | tr "\n" " "; grep -E "^Sig(Blk|Ign)" /proc/self/status')

	need_cost
	"${look[@]}" </dev/null >before
	cost uprobe:./pie:plain -- "${look[@]}"
	want_status 0
	grep -vE 'nothing attached|^uprobe:' out | sort -u >during
	sort -u before | diff - during || fail 'the command finds what it would not find elsewhere'
	cost uprobe:./pie:plain -- ./pie 0 input <text
	want_status 0
	want out '^input: 0$'
	want_none out '^input: [^0]'
	run sh -c '"$1" cost -q -d 0.1 uprobe:./pie:plain -- ./pie 7 plain >&-' sh "$bin"
	want_status 1
	want err 'standard output'
}

cost_fails() {
	need_cost
	cost uprobe:./pie:plain -- sh -c 'exit 3'
	want_status 1
	want_empty out
	want_lines err 1
	want err '/sh: ended with status 3$'
	cost uprobe:./pie:plain -- sh -c 'kill -KILL $$'
	want_status 1
	want_lines err 1
	want err '/sh: ended by signal 9$'
	# shellcheck disable=SC2016
	cost uprobe:./pie:plain -- sh -c 'echo run >>runs; [ $(wc -l <runs) != 4 ]'
	want_status 1
	want err 'ended with status 1$'
	want_none out 'hits'
	want_lines runs 4
	chmod 755 text
	cost uprobe:./pie:plain -- ./text
	want_status 1
	want_lines err 1
	want err '\./text: ENOEXEC \(8\)'
}

# It holds the lock that the other would wait for.
cost_of_itself() {
	need_cost
	cost --quiet-command uprobe:./pie:plain -- "$bin" -q -d 0.05 -w 0 usermode-count
	want_status 0
	# shellcheck disable=SC2016
	cost --quiet-command uprobe:./pie:plain -- sh -c '"$1" -q -d 0.05 -w 0 usermode-count; :' sh "$bin"
	want_status 0
	want_lines out 2
}

# The programs that the kernel has compiled are in kallsyms by their names.
mine_is_loaded() { grep -q '\bbpf_prog_[0-9a-f]*_cost_mine' /proc/kallsyms; }
mine_is_gone() { ! mine_is_loaded; }

need_mine() {
	need_cost
	cost_mine
	cost uprobe:./pie:plain --obj mine.o --prog cost_mine -- sh -c 'grep -o "bpf_prog_[0-9a-f]*_cost_mine" /proc/kallsyms; :'
	want_status 0
	grep -q cost_mine out || skip 'kallsyms shows no programs'
	wait_for mine_is_gone
}

# The tenth run of the command, in the fifth round, is a long one; which target it is of, chance has said.
cost_interrupted() {
	need_mine
	# shellcheck disable=SC2016
	with_signals "$bin" cost -q -d 600 uprobe:./pie:plain --obj mine.o --prog cost_mine -- \
		sh -c 'echo $$ >>pids; [ $(wc -l <pids) -lt 10 ] || exec sleep 1000' >out 2>err &
	wait_for tenth_sleeps
	kill -s "$1" $!
	wait $!
	status=$?
	show "SIG$1"
	want_status "$2"
	want_empty err
	want out '^nothing attached .* 4 rounds, interrupted$'
	want out '^uprobe:./pie:plain .*not one hit'
	wait_for mine_is_gone
	! kill -0 "$(tail -n 1 pids)" 2>/dev/null || fail 'the command still runs'
}

tenth_sleeps() { [ -e pids ] && [ "$(wc -l <pids)" = 10 ] && mine_sleeps; }

cost_stubborn() {
	need_mine
	with_signals "$bin" cost -q uprobe:./pie:plain --obj mine.o --prog cost_mine -- \
		sh -c 'trap "" TERM INT; echo $$ >>pids; while :; do sleep 1; done' >out 2>err &
	wait_for test -s pids
	kill -s TERM $!
	wait $!
	status=$?
	show 'SIGTERM'
	want_status 143
	want out '^interrupted before there was a figure$'
	! kill -0 "$(cat pids)" 2>/dev/null || fail 'the command still runs'
	mine_is_gone || wait_for mine_is_gone
}

cost_killed() {
	need_mine
	"$bin" cost -q -d 600 uprobe:./pie:plain --obj mine.o --prog cost_mine -- \
		sh -c 'echo $$ >>pids; ! grep -q "bpf_prog_[0-9a-f]*_cost_mine" /proc/kallsyms || exec sleep 1000' >out 2>err &
	wait_for mine_sleeps
	kill -KILL $!
	wait $!
	wait_for mine_is_gone
	wait_for is_gone "$(tail -n 1 pids)"
}

is_gone() { ! kill -0 "$1" 2>/dev/null; }
mine_sleeps() { [ -s pids ] && [ "$(cat /proc/"$(tail -n 1 pids)"/comm 2>/dev/null)" = sleep ]; }

# It calls a thousand times a second: late now and then, but it catches up. The least and the most are far apart because the machine may
# have a lot to do; exact is that all is on its CPU, and that the share is the rate at the cost of one.
cost_live() {
	need_cost
	need taskset
	taskset -c 0 ./static 1000000 steady &
	steady=$!
	cost uprobe:./static:plain uprobe:./static:push --for 2
	kill $steady
	want_status 0
	want_empty err
	want_lines out 2
	want out '^uprobe:./static:push +: +0\.0 ± 0\.0 hits/s; not one hit in 2\.[0-9] s$'
	want out '^uprobe:./static:plain +: +[0-9.]+ ± [0-9.]+ hits/s \(CPU 0: [0-9.]+\); at [0-9.]+ ± [0-9.]+ ns, which is what uprobe-[a-z0-9]+ adds, [0-9.]+ ± [0-9.]+ % of a CPU$'
	sed -nE 's/^uprobe:.*plain +: +([0-9.]+) ± ([0-9.]+) .*CPU 0: ([0-9.]+).* at ([0-9.]+) ± .* adds, ([0-9.]+) ± .*/\1 \2 \3 \4 \5/p' out |
		awk '{ share = $1 * $4 / 1e7; exit !(NR == 1 && $1 > 500 && $1 < 2000 && $3 > 500 && $3 < 2000 && share - $5 < 0.0002 + share / 500 && $5 - share < 0.0002 + share / 500) }' ||
		fail 'the rate is not a thousand, or the share is not what that costs'
}

cost_live_interrupted() {
	need_mine
	with_signals "$bin" cost -q uprobe:./pie:plain --obj mine.o --prog cost_mine --for 300 >out 2>err &
	wait_for mine_is_loaded
	kill -s INT $!
	wait $!
	status=$?
	show 'SIGINT'
	want_status 130
	want_lines out 1
	want out '^uprobe:./pie:plain +:  interrupted before there was a figure$'
	wait_for mine_is_gone
}

cost_live_nothing() {
	need_cost
	cost uprobe:./static:plain --for 0.1
	want_status 0
	want_empty err
	want_lines out 1
	want out '^uprobe:./static:plain : +0.0 ± 0.0 hits/s; not one hit in 0.[0-9] s$'
}

cost_skipped() {
	need_cost
	cost kprobe:schedule -- true
	case $status in
	4) want out '^kprobe:schedule *:  skipped: ' && want_lines out 1 ;;
	0) skip 'this machine has kprobes' ;;
	*) fail "exit status $status" ;;
	esac
	cost kprobe:schedule uprobe:./pie:plain -- ./pie 7 plain
	want_status 0
	want_lines out 3
	want out '^kprobe:schedule *:  skipped: '
	want_hits uprobe:./pie:plain 7
}

cost_hot() {
	need_cost
	run timeout --foreground 100 "$bin" cost -d 0.1 uprobe:libc.so.6:malloc uprobe:./pie:plain -- true
	want_status 0
	want err '^bpftrig: uprobe:libc.so.6:malloc: runs very often'
	want_none err 'plain: runs very often'
	cost uprobe:libc.so.6:malloc -- true
	want_empty err
}

cost_closed_pipe() {
	need_cost
	# shellcheck disable=SC2016
	run sh -c '"$1" cost -q -d 0.1 --quiet-command uprobe:./pie:plain -- ./pie 7 plain | true' sh "$bin"
	want_empty err
	want_status 0
}

# === vm: the binary as /init on released kernels ===============================================================================

vm_kernels='x86_64-5.10 x86_64-6.1 x86_64-6.12 x86_64-new'

# Kernel, rows, and what each of them must be: a figure, or skipped for a reason with these words.
vm_expectations() {
	local plain='usermode-count syscall-count kernel-count fentry fexit kprobe kretprobe' kernel
	local fprobe='kprobe-multi kretprobe-multi kprobe-multi-all kretprobe-multi-all kprobe-multi-legacy kretprobe-multi-legacy'
	local kfunc='fmodret tp rawtp tpbtf'
	local legacy='fentry-legacy fexit-legacy rawtp-legacy tp-legacy kprobe-legacy kretprobe-legacy'
	local multi='fentry-multi fexit-multi fsession-multi'
	local uprobe='uprobe-nop uprobe-push uprobe-ret uprobe-nop5 uretprobe-nop uretprobe-push uretprobe-ret uretprobe-nop5'
	local umulti='uprobe-multi-nop uprobe-multi-push uprobe-multi-ret uprobe-multi-nop5 uretprobe-multi-nop uretprobe-multi-push'
	local rename='rename-base rename-kprobe rename-kretprobe rename-rawtp rename-tp rename-fentry rename-fexit'
	local nop10='uprobe-nop10 uretprobe-nop10 usdt-nop10' umulti10='uprobe-multi-nop10 uretprobe-multi-nop10'
	local private='private-stack no-private-stack private-stack-kprobe no-private-stack-kprobe'
	local private_rawtp='private-stack-rawtp no-private-stack-rawtp'

	umulti="$umulti uretprobe-multi-ret uretprobe-multi-nop5"
	for kernel in $vm_kernels; do
		echo "$kernel | $plain $legacy $uprobe $rename usdt-nop usdt-nop5 | figure"
	done
	for kernel in x86_64-5.10 x86_64-6.1; do
		echo "$kernel | $fprobe | CONFIG_FPROBE"
		echo "$kernel | $kfunc $private_rawtp | bpf_modify_return_test_tp (6.10)"
		echo "$kernel | kprobe-session | kprobe sessions (6.10"
		echo "$kernel | $umulti $umulti10 | uprobe-multi links (6.6)"
		echo "$kernel | $private | no private stack here"
	done
	echo "x86_64-6.12 | $fprobe $kfunc $umulti kprobe-session | figure"
	echo "x86_64-6.12 | $umulti10 | cannot probe that instruction"
	echo "x86_64-6.12 | $private $private_rawtp | no private stack here"
	for kernel in x86_64-5.10 x86_64-6.1 x86_64-6.12; do
		echo "$kernel | fsession | trampoline sessions"
		echo "$kernel | $multi | trampolines to many functions"
		echo "$kernel | fmodret-legacy | may not be modified"
		echo "$kernel | fentry-sleep | may not be probed by a sleepable program"
		echo "$kernel | uprobe-session-nop | uprobe sessions (6.13)"
		echo "$kernel | $nop10 | cannot probe that instruction"
	done
	echo "x86_64-new | $fprobe $kfunc $umulti $umulti10 $nop10 $multi $private $private_rawtp | figure"
	echo "x86_64-new | kprobe-session fsession uprobe-session-nop fmodret-legacy fentry-sleep | figure"
}

# What a reason of a skipped row may be, and the words for it in the table of outcomes.
vm_reasons='
cannot probe it     | cannot probe that instruction
no such instruction | there is no [a-z_0-9]+ on
may not be modified | may not be modified
may not sleep       | may not be probed by a sleepable program
may not be probed   | but it is not to be had here
no private stack    | no private stack here
no JITed code       | shows no JITed code
JIT off             | kfuncs need the BPF JIT
no BTF              | the kernel has no BTF
no test kfunc       | no function bpf_modify_return_test_tp
no fsession         | trampoline sessions
no fentry-multi     | trampolines to many functions
no kprobe-session   | kprobe sessions
no kprobe-multi     | kprobe-multi links
no uprobe-multi     | uprobe-multi links
no uprobe-session   | uprobe sessions
lockdown            | kernel lockdown
'

# known_reason LINE: its words in the table.
known_reason() {
	local words pattern

	while IFS='|' read -r words pattern; do
		pattern=${pattern# }
		# shellcheck disable=SC2086
		[ -n "$pattern" ] && [[ $1 =~ $pattern ]] && { echo $words; return; } # without the spaces behind them
	done <<<"$vm_reasons"
	return 1
}

# The outcomes of the kernels that ran, as the README shows them.
vm_table() {
	local kernels='x86_64-5.10 x86_64-6.1 x86_64-6.12 x86_64-new arm64-6.12 riscv64-6.12 s390x-6.1 arm-6.12' kernel name line

	{
		echo "| row | ${kernels// / | } |"
		echo "|---|---|---|---|---|---|---|---|---|"
		for name in $row_names; do
			printf '| %s |' "$name"
			for kernel in $kernels; do
				line=$(line_of "$name" "$tmp/vm-$kernel" 2>/dev/null)
				if is_figure "$line"; then
					printf ' yes |'
				else
					printf ' %s |' "$(known_reason "$line")"
				fi
			done
			echo
		done
	} >"$tmp/outcomes"
	mkdir -p "$top/build" && cp "$tmp/outcomes" "$top/build/outcomes.md"
	want_lines "$tmp/outcomes" $(($(wc -w <<<"$row_names") + 2))
	want_none "$tmp/outcomes" '\|  \|' 'a row without figure or reason'
}

# Another machine's binary on its kernel.
vm_foreign() {
	local machine=$1 kernel=$2

	need_root
	need "qemu-system-${3:-$machine}"
	kernel_fetch "$kernel" >image 2>why || skip "no kernel image: $(tail -n 1 why)"
	copy_tree tree
	must make -C tree ARCH="$machine" musl
	must make -C tree ARCH="$machine"
	must file "tree/build/$machine/bpftrig"
	want out 'statically linked'
	run env MAKER="$bin" "$top/tests/vm.sh" "$machine" "tree/build/$machine/bpftrig" "$(cat image)" -d 0.2 all
	want_status 0
	cp out "$tmp/vm-$kernel"
	# shellcheck disable=SC2086
	want_rows out $row_names
	want_row out usermode-count figure
	[ "$machine" = arm ] || want_row out uprobe-nop figure
	case $machine in # the name of the system call's entry is right
	riscv64) want_row out kprobe-legacy __riscv_sys_getpgid ;;
	*) want_row out kprobe-legacy figure ;;
	esac
	want_row out kernel-count figure
	want_row out rename-tp figure
	cp out all
	run env MAKER="$bin" "$top/tests/vm.sh" "$machine" "tree/build/$machine/bpftrig" "$(cat image)" list all
	want_listed all
}

# want_listed FILE: what list says in the file out is what a run of the same rows, in FILE, came to, with the same reasons.
want_listed() {
	local line

	awk '/^[a-z]/ && $2 ~ /^(yes|no)$/ { print $1, $2 }' out >listed
	sed -nE 's/^([a-z0-9-]+) *:.*M\/s.*/\1 yes/p; s/^([a-z0-9-]+) *:  (skipped|failed): .*/\1 no/p' "$1" >ran
	want_same listed ran 'list and the run differ'
	grep ' skipped: ' "$1" | sed 's/^[^:]*:  skipped: //' | sort -u >reasons
	while IFS= read -r line; do
		grep -qF -- "$line" out || fail "list does not say: $line"
	done <reasons
}

# Where nothing is mounted, /init has no console node, and arguments come with the archive; it ends as --on-exit says.
vm_init() {
	need_root
	must "$bin" initramfs --args '-q -d 0.2 fentry kprobe --on-exit reboot' initrd
	vm_boot x86_64-6.12 '' ''
	want_row out fentry figure
	want_row out kprobe figure
	want_exit 0
}

exact='-icount shift=0,sleep=off -seed 1 -rtc base=2026-01-01,clock=vm' # as in vm.sh

# Two boots, and each figure the same to three digits.
# A program with so many instructions more, against the one without: the comparison finds them all, and no others.
vm_exact_compare() {
	need_root
	fixture slower -DEXTRA=0
	mv slower.o base.o
	fixture slower -DEXTRA=5
	vm_archive base.o slower.o
	QEMU_MORE="$exact" vm_boot x86_64-new '' "-q compare -d 2 'rawtp --obj base.o' 'rawtp --obj slower.o'"
	want_exit 0
	want out '^rawtp --obj slower.o is slower: [0-9.]+ % more time a trigger than rawtp --obj base.o$'
	awk '/ns\/trigger/ { ns[++n] = $(NF - 1) } END { d = ns[2] - ns[1]; print d; exit !(n == 2 && d > 4.7 && d < 5.3) }' out ||
		fail 'it does not find five instructions'
}

vm_exact_profile() {
	need_root
	QEMU_MORE="$exact" vm_boot x86_64-new '' '-q -d 0.5 -w 0.2 --profile fentry kprobe'
	want_exit 0
	sed -n '/^fentry/,/^kprobe/p' out | grep '%  ' | head -n 5 >fentry
	sed -n '/^kprobe/,$p' out | grep '%  ' | head -n 5 >kprobe
	want fentry ' bpf_trampoline_[0-9]+'
	want fentry ' bpf_prog_[0-9a-f]{16}_count$'
	want kprobe ' (ftrace_trampoline|kprobe_optinsn_page)'
	want kprobe ' kprobe_(ftrace_handler|perf_func|dispatcher)'
	want out '^  fentry: [0-9]+ samples of cpu-clock: user [0-9.]+ %, kernel [0-9.]+ %, trampoline [1-9][0-9.]* %, program [1-9][0-9.]* %$'
}

# QEMU's Cortex-A72 counts instructions where it counts time by them: the two are one, but for what the clock sees of other threads.
vm_exact_counters() {
	need_root
	need qemu-system-aarch64
	kernel_fetch arm64-6.12 >image 2>why || skip "no kernel image: $(tail -n 1 why)"
	copy_tree tree
	must make -C tree ARCH=arm64
	run env EXACT=1 MAKER="$bin" "$top/tests/vm.sh" arm64 tree/build/arm64/bpftrig "$(cat image)" -q -d 0.4 -w 0.2 syscall-count kernel-count rawtp
	want_status 0
	sed -nE 's/^(\S+) *: .*\(([0-9.]+) ns.*, ([0-9.]+) instructions, ([0-9.]+) cycles.*/\1 \2 \3 \4/p' out >counted
	want_lines counted 3
	awk '{ d = ($2 - $3) / $2; print $1, d; if (d > 0.02 || d < -0.02) exit 1 }' counted || fail 'instructions and time differ'
}

vm_warnings() {
	vm_boot x86_64-6.1 'sysctl.kernel.bpf_stats_enabled=1 sysctl.net.core.bpf_jit_harden=2' '-d 0.1 -w 0 usermode-count'
	want_exit 0
	want out '^bpftrig: kernel.bpf_stats_enabled: 1: each run of a program is timed'
	want out '^bpftrig: BPF JIT: on, hardened: '
	vm_boot x86_64-6.1 'sysctl.net.core.bpf_jit_enable=0' 'list fentry kprobe kernel-count'
	want out '^kernel-count +(yes|no)'
}

vm_exact_twice() {
	local words='usermode-count syscall-count kernel-count fentry fexit kprobe kretprobe kprobe-multi fmodret tp rawtp uprobe-nop10 rename-base kprobe-multi-all'

	need_root
	for number in 1 2; do
		QEMU_MORE="$exact" vm_boot x86_64-new '' "-q -d 0.4 -w 0.2 $words"
		want_exit 0
		awk -F'[: ]+' '/M\/s/ { printf "%s %.3g\n", $1, $2 }' out >figures-$number
	done
	want_lines figures-1 14
	paste -d' ' figures-1 figures-2
	paste -d' ' figures-1 figures-2 | awk '{ d = ($2 - $4) / $2; if (d > 0.0051 || d < -0.0051) exit 1 }' || fail 'the two boots differ'
}

group_vm() {
	local kernel name names what

	for kernel in $vm_kernels; do
		check "vm: $kernel: boots, runs all, ends with exit 0" vm_all "$kernel"
		check "vm: $kernel: each row has one line, a figure or a reason" vm_lines "$kernel"
		while IFS='|' read -r _ names what; do
			for name in $names; do
				check "vm: $kernel: $name: ${what# }" vm_row "$kernel" "$name" "${what# }"
			done
		done < <(vm_expectations | grep "^$kernel ")
	done
	check 'vm: x86_64-5.10: the largest batch is loaded' vm_batch x86_64-5.10
	for name in $fixtures_that_count; do
		check "vm: x86_64-5.10: --obj: $name" vm_object x86_64-5.10 "$name"
	done
	check 'vm: x86_64-6.1: a wrong name, and an archive without /dev/console: exit 2' vm_misuse x86_64-6.1
	check 'vm: x86_64-6.12: an archive without /dev/console' vm_no_console x86_64-6.12
	check 'vm: x86_64-6.12: lockdown=integrity: each row is a figure or a reason' vm_lockdown x86_64-6.12 integrity
	check 'vm: x86_64-6.12: lockdown=confidentiality: each row is a figure or a reason' vm_lockdown x86_64-6.12 confidentiality
	check 'vm: x86_64-6.12: lockdown=confidentiality is named where it forbids a row' vm_lockdown_named x86_64-6.12
	check 'vm: x86_64-6.12: arguments in the archive, and --on-exit' vm_init
	check 'vm: x86_64-6.1: 1024 CPUs that may come, and one that is there' vm_possible_cpus
	check 'vm: x86_64-6.12: a CPU that is not online' vm_offline_cpu
	check 'vm: arm64-6.12: each row has one line, a figure or a reason' vm_foreign arm64 arm64-6.12 aarch64
	check 'vm: riscv64-6.12: each row has one line, a figure or a reason' vm_foreign riscv64 riscv64-6.12
	check 'vm: riscv64-6.12: the JIT is off, and each figure of a program says so' vm_jit_off
	check 'vm: s390x-6.1: each row has one line, a figure or a reason' vm_foreign s390x s390x-6.1
	check 'vm: arm-6.12 (32 bits): each row has one line, a figure or a reason' vm_foreign arm arm-6.12
	check 'vm: the table of outcomes has a word for each row and kernel' vm_table
	check 'vm: x86_64-new: -icount: two boots give the same figures' vm_exact_twice
	check 'vm: x86_64-new: -icount: the two sides of the private stack differ by what their JITed code says' vm_exact
	check 'vm: x86_64-new: -icount: compare finds five instructions, and no more' vm_exact_compare
	check 'vm: x86_64-new: -icount: --profile names the trampoline and the way of the kprobe' vm_exact_profile
	check 'vm: x86_64-new: -icount: cost: a hit costs a program what the rows say' vm_exact_cost
	check 'vm: arm64-6.12: -icount: counted instructions are the time' vm_exact_counters
	check 'vm: x86_64-6.1: sysctls that spoil figures are warned of' vm_warnings
	check 'vm: x86_64-new: -icount: net does not depend on the batch, and compare finds what there is to find' vm_exact_figures
}

# Makes the archive: bpftrig as /init by itself; or, with files to add (CONSOLE=no: without the console's device node; INIT=another
# /init), by cpio.
vm_archive() {
	if [ $# = 0 ] && [ "${CONSOLE-}" != no ]; then
		must "$bin" initramfs initrd
		return
	fi
	need cpio
	mkdir -p root/dev
	cp "${INIT:-$bin}" root/init
	[ $# = 0 ] || cp "$@" root/
	if [ "${CONSOLE-}" != no ]; then
		mknod root/dev/console c 5 1 || skip 'device nodes cannot be made here'
	fi
	(cd root && find . | cpio -o -H newc --quiet) >initrd || fail 'cpio failed'
}

# vm_boot KERNEL PARAMETERS ARGUMENTS: boots the archive; what the program wrote is in the file out. The kernel's own lines, which start
# with a time, are left out; the firmware's are on the display that nobody sees.
#
# One CPU: with two, TCG runs into the middle of the kernel's patching of its own code now and then. Of 27 boots of 6.12 with
# "-cpu max,cx16=off -smp 2" two never came to /init; of 40 with one CPU, none.
vm_boot() {
	local image

	[ "$(uname -m)" = x86_64 ] || skip 'the binary is not for x86-64'
	need qemu-system-x86_64
	image=$(kernel_fetch "$1" 2>why) || skip "no kernel image: $(tail -n 1 why)"
	[ -e initrd ] || vm_archive
	# shellcheck disable=SC2086
	timeout --foreground 300 qemu-system-x86_64 -accel tcg -m 512 -cpu max -smp 1 ${QEMU_MORE-} -kernel "$image" -initrd initrd -no-reboot \
		-display none -monitor none -serial stdio \
		-append "console=ttyS0 quiet panic=-1 $2 -- $3" </dev/null >console 2>err
	status=$?
	tr -d '\r' <console | grep -vE '^\[ *[0-9]+\.[0-9]+\] ' >out
	show "$1: $2 -- $3"
	want_status 0
}

want_exit() {
	[ "$(tail -n 1 out)" = "bpftrig: exit $1" ] || fail "the last line is not 'bpftrig: exit $1'"
}

# want_rows FILE [ROW...]: each has one line, and there are no others.
want_rows() {
	local file=$1 name

	shift
	for name; do
		want_row "$file" "$name" either
	done
	[ "$(grep -v '^bpftrig: ' "$file" | grep -cE '^[a-z0-9-]+ *: ')" = $# ] || fail "not $# rows"
}

vm_all() {
	need_root
	vm_boot "$1" '' '-d 0.2 all'
	cp out "$tmp/vm-$1"
	want_exit 0
	want out '^bpftrig: .* Linux '
}

vm_ran() { [ -e "$tmp/vm-$1" ] || skip "$1 did not run"; }

vm_lines() {
	vm_ran "$1"
	# shellcheck disable=SC2086
	want_rows "$tmp/vm-$1" $row_names
}

vm_row() {
	vm_ran "$1"
	want_row "$tmp/vm-$1" "$2" "$3"
}

vm_batch() {
	need_root
	vm_boot "$1" '' '-d 0.2 --batch 65536 kernel-count'
	want_row out kernel-count figure
	want_exit 0
}

vm_object() {
	need_root
	fixture "$2"
	vm_archive "$2.o"
	vm_boot "$1" '' "-d 0.2 --obj /$2.o kernel-count fentry kprobe"
	want_row out kernel-count figure
	want_row out fentry figure
	want_row out kprobe figure
	want_exit 0
}

vm_misuse() {
	CONSOLE=no vm_archive
	vm_boot "$1" '' 'fentri'
	want out '^bpftrig: fentri: no such benchmark.*fentry'
	want_exit 2
}

# The console is opened by us then, and what was opened before must not be closed for it.
vm_no_console() {
	need_root
	CONSOLE=no vm_archive
	vm_boot "$1" '' '-d 0.2 usermode-count rename-base tp-legacy'
	want_row out usermode-count figure
	want_row out rename-base figure
	want_row out tp-legacy figure
	want_exit 0
}

# What is sized by CPUs is sized by those that this process may use; the kernel's per-CPU maps and its answers are for all that may come.
vm_possible_cpus() {
	need_root
	QEMU_MORE='-m 1024' vm_boot x86_64-6.1 'possible_cpus=1024 loglevel=7' '-d 0.1 -w 0 usermode-count kernel-count fentry tp-legacy kprobe uprobe-nop'
	want console 'nr_cpu_ids:1024'
	for row in usermode-count kernel-count fentry tp-legacy kprobe uprobe-nop; do
		want_row out $row figure
	done
	want out 'Linux .* 1 CPU,'
	want_exit 0
}

vm_offline_cpu() {
	need_root
	QEMU_MORE='-smp 2 -cpu max,cx16=off' vm_boot x86_64-6.12 'maxcpus=1' '-d 0.1 -w 0 -p 2 kernel-count tp'
	want out 'Linux .* 1 CPU,'
	want out '^kernel-count .*2 producers on 1 CPUs'
	want out '^tp .*2 producers on 1 CPUs'
	want_exit 0
	QEMU_MORE='-smp 2 -cpu max,cx16=off' vm_boot x86_64-6.12 'maxcpus=1' '-q --prod-affinity 1 kernel-count'
	want out '^bpftrig: --prod-affinity: CPU 1 is not online'
	want_exit 2
}

vm_lockdown() {
	need_root
	vm_boot "$1" "lockdown=$2" '-d 0.1 all'
	# shellcheck disable=SC2086
	want_rows out $row_names
	want_exit 0
	cp out "$tmp/lockdown-$2"
	vm_boot "$1" "lockdown=$2" '-q list all'
	want_listed "$tmp/lockdown-$2"
}

# The kernel refuses kprobes in that mode, and the files of tracefs.
vm_lockdown_named() {
	[ -e "$tmp/lockdown-confidentiality" ] || skip 'it did not run'
	want_row "$tmp/lockdown-confidentiality" kprobe lockdown
	want_row "$tmp/lockdown-confidentiality" kprobe 'confidentiality'
	want_row "$tmp/lockdown-confidentiality" tp 'lockdown'
}

vm_jit_off() {
	vm_ran riscv64-6.12
	want "$tmp/vm-riscv64-6.12" 'BPF JIT off: the programs are interpreted'
	want_row "$tmp/vm-riscv64-6.12" kernel-count figure
	grep -E 'ns/trigger' "$tmp/vm-riscv64-6.12" | grep -vE '^(usermode-count|syscall-count|rename-base) ' | grep -v 'interpreted' >figures
	want_empty figures
}

# Time is a count of instructions there. The two programs run straight through: the program once, its subprogram three times, so that
# their code, disassembled by objdump, gives the difference; the measured one must be the same to a tenth of an instruction.
vm_exact() {
	local row measured computed

	need objdump
	QEMU_MORE="$exact" vm_boot x86_64-new '' '-v -d 1 -w 0.5 private-stack'
	want out 'exact mode: 1 ns is 1 instruction'
	for row in '' -rawtp -kprobe; do
		sed -n "/for private-stack$row:/,/^private-stack$row:/p" out >err
		computed=0
		for side in 'private side' 'other side'; do
			for number in 0 1; do
				jited "$side" $number code
				objdump -D -b binary -m i386:x86-64 code >dis
				want_none dis '\(bad\)'
				n=$(grep -cP '^ *[0-9a-f]+:\t[^\t]+\t' dis)
				[ $number = 0 ] || n=$((3 * n))
				[ "$side" = 'private side' ] || n=$((-n))
				computed=$((computed + n))
			done
		done
		measured=$(awk -v with="private-stack$row:" -v without="no-private-stack$row:" '
			match($0, /\([0-9.]+ ns/) { ns = substr($0, RSTART + 1, RLENGTH - 4) }
			$1 == with { a = ns } $1 == without { b = ns } END { print a - b }' out)
		echo "private-stack$row: computed $computed, measured $measured"
		[ $computed -gt 0 ] || fail "the JITed code explains no difference"
		awk -v a="$computed" -v b="$measured" 'BEGIN { exit !(a - b < 0.1 && b - a < 0.1) }' ||
			fail "private-stack$row costs $measured instructions, its code has $computed"
	done
}

# vm_runs [FILE...] <RUNS: several runs in one boot of the exact mode, one on a line, with files to add; what the n-th wrote is in part-n.
vm_runs() {
	need_root
	need gcc
	cat >runs
	must gcc -static -O2 "$top/tests/init.c" -o init
	INIT=init vm_archive "$bin" runs "$@"
	QEMU_MORE="$exact" vm_boot x86_64-new '' ''
	awk 'BEGIN { n = 1 } /^bpftrig: exit/ { n++; next } { print >"part-" n }' out
}

# What is net in the exact mode is so to a fraction of an instruction, whatever the batch; and what differs is found, what does not is not.
vm_exact_figures() {
	vm_runs <<-'END'
		-q -d 0.5 --batch 64,1000 rawtp
		-q compare -d 1 fentry kprobe
		-q compare -d 1 rawtp rawtp
	END
	[ "$(grep -c '^bpftrig: exit 0$' out)" = 3 ] || fail 'not every run ended well'
	sed -nE 's/^rawtp-([0-9]+) .*\(([0-9.]+) ns.*, net ([0-9.]+) ± ([0-9.]+) ns.*/\1 \2 \3 \4/p' part-1 >nets
	awk '
		function distance(a, b) { return a > b ? a - b : b - a }
		{ batch[NR] = $1; ns[NR] = $2; net[NR] = $3; half[NR] = $4 }
		END {
			bound = half[1] + half[2] + 0.5
			exit !(NR == 2 && batch[1] == 64 && batch[2] == 1000 && distance(net[1], net[2]) <= bound && distance(ns[1], ns[2]) > bound)
		}' nets || fail 'the two net costs differ, or the others do not'
	cp part-2 out
	want_comparison fentry kprobe slower
	cp part-3 out
	want_comparison rawtp rawtp any
	want out '^no difference: ' 'rawtp is not rawtp'
}

# What a probe costs a program is what the rows say of it, in instructions: the function that is driven is the same, and the program that
# is attached. For a uprobe the bound is wider: the kernel looks for the mapping that was hit, and a process with few of them has less to
# search than bpftrig. Of two runs, one with so many calls more, the hits differ by just those.
vm_exact_cost() {
	local kind

	need_root
	cost_programs
	cp static calls
	vm_runs calls <<-'END'
		-q -d 0.3 fentry-legacy kprobe-legacy tp-legacy uprobe-push
		cost -q -d 1 fentry:__x64_sys_getpgid kprobe:__x64_sys_getpgid tp:syscalls:sys_enter_getpgid rawtp:sys_enter -- /calls 20000 syscall
		cost -q -d 0.5 uprobe:/calls:push -- /calls 20000 push
		cost -q -d 0.1 rawtp:sys_enter -- /calls 12345 syscall
		cost -q -d 0.1 kprobe-multi:__x64_sys_getpg* kretprobe-multi:__x64_sys_getpgid -- /calls 1000 syscall
		cost -q kprobe:__x64_sys_getpgid+1 -- /calls 1 push
		cost -q kprobe:__x64_sys_getpgid+100000 -- /calls 1 push
		cost -q kprobe-multi:no_such_function* -- /calls 1 push
		cost kprobe-multi:[a-s]* -- /missing
	END
	grep '^bpftrig: exit' out | tr -d '\n' >exits
	[ "$(cat exits)" = "$(printf 'bpftrig: exit %d' 0 0 0 0 0 1 1 1 1)" ] || fail 'the runs do not end as they should'
	cat part-2 part-3 >costs
	for kind in fentry kprobe tp uprobe; do
		sed -nE "s/^$kind-[a-z]+ .*, net ([0-9.]+) ± .*/net \\1/p" part-1
		sed -nE "s/^$kind:.*; 20000 hits a run, ([0-9.]+) ± .* ns a hit$/hit \\1/p" costs
	done >figures
	cat figures
	want_lines figures 8
	awk '$1 == "net" { net = $2; n++ } $1 == "hit" { d = $2 / net - 1; print d; if (d > (n == 4 ? 0.05 : 0.02) || d < (n == 4 ? -0.05 : -0.02)) exit 1 }' figures ||
		fail 'the cost of a hit is not that of the rows'
	cp part-2 out
	kind=$(least_hits rawtp:)
	cp part-4 out
	[ $((kind - $(least_hits rawtp:))) = 7655 ] || fail "$kind and $(least_hits rawtp:) hits do not differ by 20000 - 12345"
	want part-5 '^kprobe-multi:.*; 10[0-9]{2}(\.[0-9])? hits a run'
	want part-5 '^kretprobe-multi:.*; 1000 hits a run'
	want part-6 '^kprobe:__x64_sys_getpgid\+1 *:  failed: .*EILSEQ \(84\): no instruction begins at that offset$'
	want part-7 'offset 100000 is past the end of __x64_sys_getpgid, which has [0-9]+ bytes$'
	want part-8 'the kernel has no function that fits no_such_function\*$'
	want part-9 '/missing: ENOENT \(2\)$'
}

# === main ======================================================================================================================

main() {
	local group

	for group; do
		case " $all_groups " in
		*" $group "*) ;;
		*)
			printf 'test.sh: no group %s; there are: %s\n' "$group" "$all_groups" >&2
			exit 2
			;;
		esac
	done
	check 'build: make' build_first
	# What the caller of make asked for is for this build alone; the tests of the Makefile start from its defaults.
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES SOURCE_DATE_EPOCH MAINTAINER O V CC CFLAGS CPPFLAGS LDFLAGS CLANG CROSS_COMPILE PREFIX DESTDIR
	if [ -e "$bin" ]; then
		[ $# -gt 0 ] || eval "set -- $all_groups"
		for group; do
			"group_$group"
		done
	fi
	printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	[ "$failed" = 0 ]
}

main "$@"
