# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# bash completion for bpftrig: source it, or let `make install` put it where bash-completion looks. It never runs bpftrig.

# The tables are the program's own: `make docs` writes them.
# docs: bash tables
_bpftrig_commands='list compare jit cost diff initramfs'
_bpftrig_suites='trig uprobe legacy rename private-stack all'
_bpftrig_rows='usermode-count syscall-count kernel-count fentry fexit kprobe kretprobe kprobe-multi kretprobe-multi kprobe-multi-all kretprobe-multi-all kprobe-session fsession fentry-multi fexit-multi fsession-multi fmodret tp rawtp tpbtf fentry-legacy fexit-legacy fmodret-legacy rawtp-legacy tp-legacy kprobe-legacy kretprobe-legacy kprobe-multi-legacy kretprobe-multi-legacy fentry-sleep uprobe-nop uprobe-push uprobe-ret uprobe-nop5 uprobe-nop10 uretprobe-nop uretprobe-push uretprobe-ret uretprobe-nop5 uretprobe-nop10 uprobe-multi-nop uprobe-multi-push uprobe-multi-ret uprobe-multi-nop5 uprobe-multi-nop10 uretprobe-multi-nop uretprobe-multi-push uretprobe-multi-ret uretprobe-multi-nop5 uretprobe-multi-nop10 uprobe-session-nop usdt-nop usdt-nop5 usdt-nop10 rename-base rename-kprobe rename-kretprobe rename-rawtp rename-tp rename-fentry rename-fexit no-private-stack private-stack no-private-stack-rawtp private-stack-rawtp no-private-stack-kprobe private-stack-kprobe'
_bpftrig_kinds='fentry: fexit: kprobe: kretprobe: kprobe-multi: kretprobe-multi: tp: rawtp: tpbtf: uprobe: uretprobe: uprobe-multi: uretprobe-multi: usdt:'

_bpftrig_options() {
	case $1 in
	list) echo -d --duration -w --warmup --precision -p --producers -c --consumers -a --affinity --prod-affinity --batch -s --stacktrace --obj --format --on-exit -q --quiet -v --verbose -l --list -h --help -V --version ;;
	compare) echo -d --duration --precision -p --producers -c --consumers -a --affinity --prod-affinity --batch -s --stacktrace --obj --fail-above --on-exit -q --quiet -v --verbose -h --help -V --version ;;
	jit) echo -d --duration --precision -p --producers -c --consumers -a --affinity --prod-affinity --batch -s --stacktrace --obj --raw --on-exit -q --quiet -v --verbose -h --help -V --version ;;
	cost) echo -d --duration -s --stacktrace --obj --prog --for --quiet-command --on-exit -q --quiet -v --verbose -h --help -V --version ;;
	diff) echo --fail-above --on-exit -q --quiet -v --verbose -h --help -V --version ;;
	initramfs) echo --init --args -q --quiet -v --verbose -h --help -V --version ;;
	*) echo -d --duration -w --warmup --precision -p --producers -c --consumers -a --affinity --prod-affinity --batch -s --stacktrace --obj --format --save --chart --svg --profile --on-exit -q --quiet -v --verbose -l --list -h --help -V --version ;;
	esac
}

_bpftrig_value() {
	case $1 in
	-d | --duration) echo ANY ;;
	-w | --warmup) echo ANY ;;
	--precision) echo ANY ;;
	-p | --producers) echo ANY ;;
	-c | --consumers) echo ANY ;;
	--prod-affinity) echo ANY ;;
	--batch) echo ANY ;;
	--obj) echo FILE ;;
	--format) echo bench overhead gobench json csv ktap ;;
	--save) echo FILE ;;
	--svg) echo FILE ;;
	--fail-above) echo ANY ;;
	--prog) echo ANY ;;
	--for) echo ANY ;;
	--init) echo FILE ;;
	--args) echo ANY ;;
	--on-exit) echo poweroff reboot halt ;;
	esac
}
# docs: end

# The command among the words before the one being completed, or nothing; $2 and so on are those words, without the program's name.
_bpftrig_command() {
	local word

	for word; do
		case " $_bpftrig_commands " in *" $word "*)
			echo "$word"
			return
			;;
		esac
	done
}

# Files, the last of several with commas between them too, as diff takes them.
_bpftrig_files() {
	local before=

	case $1 in *,*) before=${1%,*}, ;; esac
	compopt -o filenames 2>/dev/null # fails where there is no completion going on
	mapfile -t COMPREPLY < <(compgen -P "$before" -f -- "${1#"$before"}")
}

# What follows cost: targets, a command behind --, and then what that takes, which is files as far as is known here. bash takes
# kind:where apart at its ":", and then replaces only what is behind it.
_bpftrig_cost() {
	local cur=$1 kind="" i

	for ((i = 2; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" = -- ] || continue
		if [ $((i + 1)) = "$COMP_CWORD" ]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		else
			_bpftrig_files "$cur"
		fi
		return
	done
	if [ "${COMP_WORDS[COMP_CWORD]}" = : ]; then
		kind=${COMP_WORDS[COMP_CWORD - 1]}
	elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = : ]; then
		kind=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $kind in
	u*) _bpftrig_files "$cur" ;; # uprobe, uretprobe, usdt: those of a file
	'')
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -W "$_bpftrig_kinds" -- "$cur")
		;;
	esac
}

_bpftrig() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} value command words

	# bash takes --format=json apart at its "=".
	if [ "$cur" = = ] || [ "$cur" = : ]; then
		cur=
	elif [ "$prev" = = ] && [ "$COMP_CWORD" -gt 1 ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	value=$(_bpftrig_value "$prev")
	case $value in
	ANY) return ;;
	FILE)
		_bpftrig_files "$cur"
		return
		;;
	?*)
		mapfile -t COMPREPLY < <(compgen -W "$value" -- "$cur")
		return
		;;
	esac

	command=$(_bpftrig_command "${COMP_WORDS[@]:1:COMP_CWORD-1}")
	case $cur,$command in
	*,cost)
		case " ${COMP_WORDS[*]:1:COMP_CWORD-1} ,$cur" in *' -- '* | *,[!-]* | *,) _bpftrig_cost "$cur"; return ;; esac
		words=$(_bpftrig_options cost)
		;;
	-*) words=$(_bpftrig_options "$command") ;;
	*,diff | *,initramfs)
		_bpftrig_files "$cur"
		return
		;;
	*,compare) words=$_bpftrig_rows ;;
	*,?*) words="$_bpftrig_rows $_bpftrig_suites" ;;
	*) words="$_bpftrig_commands $_bpftrig_rows $_bpftrig_suites" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _bpftrig bpftrig
