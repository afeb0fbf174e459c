#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs bpftrig on many hosts at once by ssh, and gathers the results. Nothing stays there, and nothing but sh, cat and chmod is needed.
# usage: fleet.sh [-b BINARY] [-o FOLDER] [-t SECONDS] [-j JOBS] HOSTS [ARGUMENT...]
#   HOSTS    a file, a host (as ssh knows it) a line, or a list with commas: alpha,root@beta
#   BINARY   what is copied: bpftrig, or one for each machine with the word ARCH in its place, as make dist makes them:
#            dist/bpftrig-VERSION-ARCH (x86_64, arm64, riscv64, s390x)
#   FOLDER   gets HOST.txt (results), HOST.err (what was said), all.txt (the results of all): results, by default
#   SECONDS  that a host may take: 300. JOBS: hosts at a time: 16
#   The arguments are bpftrig's: fleet.sh -o before hosts.txt -d 1 rawtp kprobe
# A host that fails is named at the end, with why, and stops no other; the exit status is 1 then. Before and after a change, or hosts against
# one that is known well, are compared with:
#   bpftrig diff before/all.txt after/all.txt; bpftrig diff before/golden.txt after/all.txt
# Who logs in must be root or able to say sudo without a password. SSH= another command, with its options: SSH="ssh -i key".
set -u

here=$(cd "$(dirname "$0")" && pwd)
binary=$here/../../bpftrig folder=results seconds=300 jobs=16
usage() { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
while getopts b:o:t:j: option; do
	case $option in
	b) binary=$OPTARG ;;
	o) folder=$OPTARG ;;
	t) seconds=$OPTARG ;;
	j) jobs=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || usage
hosts=$1
shift
words=
for word; do # the far shell takes the quotes off
	words="$words '$(printf %s "$word" | sed "s/'/'\\\\''/g")'"
done

# No question is asked that nobody is there to answer. A host that hangs is given up after that many seconds.
there() {
	host=$1
	shift
	# shellcheck disable=SC2086
	timeout -k 5 "$seconds" ${SSH:-ssh} -o BatchMode=yes -o ConnectTimeout=10 -- "$host" "$@"
}

# one HOST: measures there. The binary is the first connection's answer to the question what machine it is, the second's input.
one() {
	machine=$(there "$1" uname -m </dev/null) || return
	case $machine in
	aarch64) machine=arm64 ;;
	esac
	file=$(printf %s "$binary" | sed "s,ARCH,$machine,")
	[ -f "$file" ] || { echo "there is no $file for a machine of $machine" >&2; return 1; }
	# With a timeout of its own where it has one: what was started there is to end too.
	there "$1" "f=\$(mktemp) && trap 'rm -f \"\$f\"' EXIT && trap exit HUP TERM PIPE && cat >\"\$f\" && chmod 700 \"\$f\" || exit
		limit=; ! command -v timeout >/dev/null || limit='timeout $seconds'
		become=; [ \"\$(id -u)\" = 0 ] || become='sudo -n'
		\$become \$limit \"\$f\" --format gobench$words" <"$file"
}

# The hosts in turns, each in a process of its own, its end in a file.
mkdir -p "$folder" || exit 2
if [ -f "$hosts" ]; then hosts=$(cat "$hosts"); fi
hosts=$(sed 's/#.*//; s/[[:space:],]/\n/g' <<<"$hosts" | sed '/^$/d')
while read -r host; do
	[ "$(jobs -r | wc -l)" -lt "$jobs" ] || wait -n
	{
		one "$host" >"$folder/$host.txt" 2>"$folder/$host.err"
		echo $? >"$folder/$host.end"
	} &
done <<<"$hosts"
wait

failed=0
while read -r host; do
	end=$(cat "$folder/$host.end")
	case $end in
	0) why=ok ;;
	4) why='skipped: every row' ;;
	124) why="failed: no answer in $seconds s" ;;
	*) why="failed: exit status $end: $(tail -n 1 "$folder/$host.err")" ;;
	esac
	case $end in 0 | 4) ;; *) failed=1 ;; esac
	printf '%s: %s, %d results\n' "$host" "$why" "$(grep -c ^Benchmark "$folder/$host.txt")" >&3
	rm "$folder/$host.end"
	cat "$folder/$host.txt"
done <<<"$hosts" 3>&1 >"$folder/all.txt"
exit $failed
