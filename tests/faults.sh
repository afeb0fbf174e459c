#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Makes each system call of bpftrig fail with each errno that it can have, one after another, by strace's fault injection, and judges what
# the program makes of it: no crash, no hang, the exit status and the message that the table below wants, and nothing left behind.
#
# usage: faults.sh BINARY FOLDER [all|quick|table] [COMMAND...]	(as root; absolute paths)
#
# A dry run of each command tells which calls it makes. all: each of them in turn is the one that fails (of one that is repeated in a loop
# the first two and the last), once, and at its first place from there on for good. quick: each kind of call at its first place,
# and no (call, errno) of the same kind twice in all of the commands. table: all, with a line for each kind of call and errno, and what came
# of it. Prints what was not as it should be, with the output, and how many were tried. FOLDER is where that is counted. Exit status 77: this
# machine has none of the commands' rows.
#
# To add a command: a line of commands; with the name and the errno of a call behind it, that fails in each of its runs, and shows what the
# program does then. To add a call: its errnos, and what is to come of it: a line of the table, the first that fits.
set -u
export LC_ALL=C

# What a call can fail with: its manual page's and the kernel's. =N: it returns N, as if it had done less than it was asked for.
declare -A errnos=(
	[access]='EACCES EFAULT EINVAL EIO ELOOP ENOENT ENOMEM ENOTDIR EROFS'
	[bind]='EACCES EADDRINUSE EINVAL ENOMEM EPERM'
	[bpf BPF_LINK_CREATE]='E2BIG EACCES EAGAIN EBADF EBUSY EEXIST EFAULT EINTR EINVAL EIO EMFILE ENFILE ENODEV ENOENT ENOMEM ENOSPC ENOSYS EOPNOTSUPP EPERM ESRCH 524'
	[bpf BPF_MAP_CREATE]='E2BIG EACCES EAGAIN EFAULT EINVAL EMFILE ENFILE ENOMEM ENOSYS EPERM'
	[bpf BPF_MAP_FREEZE]='EBADF EBUSY EINVAL ENOSYS EPERM 524'
	[bpf BPF_MAP_UPDATE_ELEM]='E2BIG EBADF EBUSY EEXIST EFAULT EINVAL ENOENT ENOMEM ENOSYS EPERM'
	[bpf BPF_OBJ_GET_INFO_BY_FD]='E2BIG EBADF EFAULT EINVAL ENOENT ENOMEM ENOSYS EPERM'
	[bpf BPF_PROG_LOAD]='E2BIG EACCES EAGAIN EBADF EFAULT EINTR EINVAL EMFILE ENFILE ENOENT ENOMEM ENOSPC ENOSYS EPERM 524'
	[bpf BPF_PROG_TEST_RUN]='EAGAIN EBADF EFAULT EINTR EINVAL ENOMEM ENOSYS EPERM 524'
	[bpf BPF_RAW_TRACEPOINT_OPEN]='EACCES EBADF EBUSY EEXIST EFAULT EINVAL EMFILE ENFILE ENOENT ENOMEM ENOSYS EPERM 524'
	[capget]='EFAULT EINVAL EPERM'
	[clock_gettime]='EFAULT EINVAL EPERM'
	[clone]='EAGAIN EINVAL ENOMEM EPERM'
	[close]='EBADF EDQUOT EINTR EIO ENOSPC'
	[connect]='EACCES EAGAIN ECONNREFUSED EINTR EPERM'
	[create]='EACCES EDQUOT EEXIST EFBIG EINTR EINVAL EIO EISDIR ELOOP EMFILE ENAMETOOLONG ENFILE ENODEV ENOENT ENOMEM ENOSPC ENOTDIR ENXIO EOPNOTSUPP EOVERFLOW EPERM EROFS ESTALE ETXTBSY'
	[dup3]='EBADF EINTR EINVAL EMFILE'
	[fcntl]='EBADF EINVAL EMFILE'
	[fork]='EAGAIN ENOMEM ENOSYS'
	[fsconfig]='EACCES EBUSY EINVAL ENOMEM ENOSYS EOPNOTSUPP EPERM'
	[fsmount]='EBUSY EINVAL EMFILE ENFILE ENOMEM ENOSYS EPERM'
	[fsopen]='EFAULT EINVAL EMFILE ENFILE ENODEV ENOMEM ENOSYS EPERM'
	[fstat]='EACCES EBADF EIO ENOMEM EOVERFLOW'
	[ftruncate]='EFBIG EINTR EIO EPERM EROFS ETXTBSY'
	[futex]='EAGAIN EINTR EINVAL'
	[getpgid]='EPERM ESRCH'
	[getsockopt]='EINVAL ENOPROTOOPT'
	[ioctl]='E2BIG EACCES EBADF EEXIST EFAULT EINVAL ENOENT ENOMEM ENOTTY EPERM'
	[listen]='EACCES EADDRINUSE EOPNOTSUPP'
	[mmap]='EACCES EAGAIN EINVAL ENFILE ENODEV ENOMEM EPERM'
	[mprotect]='EACCES EINVAL ENOMEM'
	[mremap]='EAGAIN EFAULT EINVAL ENOMEM'
	[munmap]='EINVAL ENOMEM'
	[open]='EACCES EAGAIN EBUSY EINTR EINVAL EIO EISDIR ELOOP EMFILE ENFILE ENODEV ENOENT ENOMEM ENOTDIR ENXIO EOVERFLOW EPERM ESTALE'
	[perf_event_open]='E2BIG EACCES EBADF EBUSY EFAULT EINTR EINVAL EIO EMFILE ENFILE ENODEV ENOENT ENOMEM ENOSPC ENOSYS EOPNOTSUPP EOVERFLOW EPERM ESRCH 524'
	[pipe2]='EFAULT EINVAL EMFILE ENFILE'
	[poll]='EINTR EINVAL ENOMEM'
	[prctl]='EFAULT EINVAL'
	[pread64]='EAGAIN EINTR EINVAL EIO EISDIR ENOMEM ESTALE =0 =1'
	[prlimit64]='EFAULT EINVAL EPERM ESRCH'
	[read]='EACCES EAGAIN EBADF EFAULT EINTR EINVAL EIO EISDIR ENODEV ENOMEM EPERM ESTALE =0'
	[rt_sigaction]='EFAULT EINVAL'
	[rt_sigpending]='EFAULT'
	[rt_sigprocmask]='EFAULT EINVAL'
	[rt_sigtimedwait]='EAGAIN EINTR EINVAL'
	[sched_getaffinity]='EFAULT EINVAL EPERM ESRCH'
	[sched_setaffinity]='EFAULT EINVAL EPERM ESRCH'
	[socket]='EACCES EAFNOSUPPORT EINVAL EMFILE ENFILE ENOBUFS ENOMEM EPERM EPROTONOSUPPORT'
	[stat]='EACCES EFAULT EIO ELOOP ENOENT ENOMEM ENOTDIR'
	[uname]='EFAULT'
	[unlink]='EACCES EBUSY EIO ENOENT EPERM EROFS'
	[wait4]='ECHILD EINTR EINVAL'
	[write]='EAGAIN EBADF EDQUOT EFAULT EFBIG EINTR EINVAL EIO ENOMEM ENOSPC EPERM EPIPE =0 =1'
)
# The start and end of a process, and what cannot fail.
ignored=' execve exit exit_group arch_prctl set_tid_address set_robust_list rseq brk getpid getppid gettid geteuid getrandom rt_sigreturn restart_syscall '

short='-q -d 0.02 -w 0'
commands="
usermode	$short usermode-count
syscall	$short -p 2 syscall-count
kernel	$short kernel-count
rename	$short rename-base
uprobe	$short uprobe-nop
uprobe-multi	$short uprobe-multi-nop
usdt	$short usdt-nop
rawtp	$short rawtp
tp	$short tp
tpbtf	$short tpbtf
tp-ioctl	$short tp	bpf BPF_LINK_CREATE	EINVAL
refused	$short kernel-count	bpf BPF_MAP_CREATE	EPERM
private	$short private-stack-rawtp
machine	-d 0.02 -w 0 usermode-count
affinity	$short --prod-affinity 0 usermode-count
object	$short --chart --obj progs.o kernel-count
save	$short --save results usermode-count
svg	$short --svg picture.svg usermode-count
profile	$short --profile syscall-count
json	$short --format json usermode-count
gobench	$short --format gobench usermode-count
csv	$short --format csv usermode-count
ktap	$short --format ktap usermode-count
overhead	$short --format overhead rename-base
list	list -q kernel-count
list-json	list -q --format json usdt-nop
jit	jit kernel-count
compare	compare -q -d 0.01 usermode-count kernel-count
cost	cost -q -d 0.05 usdt:./tool:bpftrig:usdt_nop -- /bin/true
diff	diff old new
initramfs	initramfs --args x archive
initramfs-stdout	initramfs
initramfs-limit	initramfs archive
help	--help
"

# What is to come of it: the exit status (same: that of the dry run), and what is said. In that, % is the errno as in "EPERM (1)", and - means
# that nothing needs to be said. when: once, or on (from there on, for good). Columns are tabs apart; all but the last two are patterns.
#
# "same -" is for what the program goes on without: each has its reason.
while IFS=$'\t' read -r command call errno when want text; do
	[[ -n $command && $command != \#* ]] || continue
	row_command+=("$command") row_call+=("$call") row_errno+=("$errno") row_when+=("$when") row_want+=("$want") row_text+=("$text")
done <<'END'
# command	call	errno	when	status	message

# --- what is written. A pipe that nobody reads any more is no news. Once nothing can be written, nothing can be said either.
.*	write standard output	EINTR|=1	once	same	-
.*	write standard output	EPIPE	.*	1	-
.*	write standard output	=0	once	1	^bpftrig: standard output: EIO \(5\)$
.*	write standard output	.*	once	1	^bpftrig: standard output: %$
.*	write standard error	.*	.*	same	-
.*	write .*	.*	on	1	-
save|svg|initramfs.*	write .*/(results|picture.svg|archive)	EINTR|=1	once	same	-
save|svg|initramfs.*	write .*/(results|picture.svg|archive)	=0	once	1	^bpftrig: (results|picture.svg|archive): EIO \(5\)$
save|svg|initramfs.*	write .*/(results|picture.svg|archive)	.*	once	1	^bpftrig: (results|picture.svg|archive): %$
# A close that was interrupted has closed, and libc says so.
save|svg|initramfs.*	close .*/(results|picture.svg|archive)	EINTR	.*	same	-
save|svg|initramfs.*	close .*/(results|picture.svg|archive)	.*	.*	1	^bpftrig: (results|picture.svg|archive): %$
svg	ftruncate .*	.*	.*	1	^bpftrig: picture.svg: %$
# It is tried again in another way, for which there is no file yet.
save	create results	EACCES|EINVAL	once	1	^bpftrig: results: ENOENT \(2\)$
svg	create picture.svg	EEXIST	once	1	^bpftrig: picture.svg: ENOENT \(2\)$
save|svg|initramfs.*	create .*	.*	.*	1	^bpftrig: (results|picture.svg|archive): %$
# Whether the file ends in the middle of a line is not known then; and what kind of file it is.
save|initramfs.*	fstat .*/(results|archive)	.*	.*	same	-
initramfs-limit	unlink archive	.*	.*	1	^bpftrig: archive: is not whole, and cannot be removed: %$

# --- what is read. musl makes ENOMEM of EPERM.
.*	mmap memory .*	EPERM	once	same|1|2	: (ENOMEM \(12\)|%)
.*	mmap [^s].*	EPERM	on	same|1|2	: (ENOMEM \(12\)|%)
diff	(open|read) (.*/)?(old|new)	EINTR	once	same|2	-
diff	read .*/(old|new)	=0	once	same|2	^bpftrig: (old|new): holds no results
diff	(open|read) (.*/)?(old|new)	.*	.*	2	^bpftrig: (old|new): %$
diff	mmap memory .*	.*	.*	2	^bpftrig: (old|new): (1: memory for it: mmap: )?%$|^bpftrig: (old|new):[0-9]+: memory for it: mmap: %
diff	mremap	.*	.*	2	^bpftrig: (old|new): %$
object	read .*/progs.o	EINTR	once	same	-
object	read .*/progs.o	=0	once	same|1	^bpftrig: progs.o: |progs.o: 
object	open progs.o|read .*/progs.o	.*	.*	1	^bpftrig: progs.o: %
# This program has its own file in two ways.
initramfs.*	(open|read) (/proc/self/exe|.*/bpftrig)	.*	once	same|1	-
initramfs.*	(open|read) (/proc/self/exe|.*/bpftrig)	.*	on	1	^bpftrig: this program's own file: %$
usdt|list-json	open /proc/self/exe	.*	once	same|1	read /proc/self/exe: %
usdt|list-json	read .*/bpftrig	EINTR	once	same	-
usdt|list-json	read .*/bpftrig	=0	once	same|1	/proc/self/exe: 
usdt|list-json	read .*/bpftrig	.*	.*	1	read /proc/self/exe: %
.*	open /proc/self/exe|pread64 .*/bpftrig	.*	once	same|1	-
.*	open /proc/self/exe	.*	on	1	own file .*: %
.*	pread64 .*/bpftrig	=.*	on	1	own file
.*	pread64 .*/bpftrig	.*	on	1	own file .*: %
# Where a file of the kernel's is not at its usual place, another mount of its file system is tried (with another call, in some libcs).
.*	open .*/uprobe/type	ENOENT|ENOTDIR	.*	same|1|4	/sys/bus/event_source/devices/uprobe/type: %
.*	(open|read) .*/uprobe/type	EPERM	.*	4	/sys/bus/event_source/devices/uprobe/type: %
.*	read .*/uprobe/type	=0	.*	1	/sys/bus/event_source/devices/uprobe/type: EINVAL \(22\)
.*	(open|read) .*/uprobe/type	.*	.*	1	/sys/bus/event_source/devices/uprobe/type: %
tp.*	open .*/id	ENOENT|ENOTDIR	.*	same|1|4	tracefs events/[^ ]+/id: %
tp.*	(open|read) .*/id	ENOENT|EPERM	.*	4	tracefs events/[^ ]+/id: %
tp.*	read .*/id	=0	.*	1	tracefs events/[^ ]+/id: EINVAL \(22\)
tp.*	(open|read) .*/id	.*	.*	1	tracefs events/[^ ]+/id: %
tp.*	(fsopen|fsconfig|fsmount).*	EMFILE|ENFILE|ENOMEM	.*	same|1	tracefs events/[^ ]+/id: %
tp.*	(fsopen|fsconfig|fsmount).*	.*	.*	same|4	tracefs events/[^ ]+/id: ENOENT \(2\)
.*	open .*/btf/vmlinux	ENOENT|ENOTDIR	.*	same|1|4	the kernel has no BTF \(/sys/kernel/btf/vmlinux|: %
.*	open .*/btf/vmlinux	EPERM	.*	4	/sys/kernel/btf/vmlinux: %
.*	open .*/btf/vmlinux	.*	.*	1	/sys/kernel/btf/vmlinux: %
# It is read where it cannot be mapped.
.*	(fstat|mmap) .*/btf/vmlinux	.*	once	same	-
rename|overhead	open /proc/thread-self/comm	ENOENT|ENOTDIR	.*	same|1|4	open /proc/thread-self/comm: %
rename|overhead	open /proc/thread-self/comm	EPERM	.*	4	open /proc/thread-self/comm: %
rename|overhead	open /proc/thread-self/comm	.*	.*	1	open /proc/thread-self/comm: %
rename|overhead	write .*/comm	=.*	once	same	-
rename|overhead	write .*/comm	EPERM	once	4	write /proc/thread-self/comm: %
rename|overhead	write .*/comm	.*	once	1	write /proc/thread-self/comm: %
profile	open /proc/kallsyms	ENOENT|ENOTDIR	.*	same	-
profile	read .*/kallsyms	EINTR	once	same	-
profile	read .*/kallsyms	=0	.*	same	-
profile	(open|read) .*/kallsyms	.*	.*	same	--profile: /proc/kallsyms: %
profile	mremap	.*	.*	same	--profile: /proc/kallsyms: %
profile	mmap memory .*	.*	once	same|1	memory for [a-z ]+: mmap: %|--profile: .*: %
# What is only said of the machine, or of a figure: it is not said then.
.*	(open|read|fstat) (.*/)?(cpuinfo|config.*|lockdown|lsm|bpf_jit_enable|bpf_jit_harden|bpf_stats_enabled|perf_event_paranoid)	.*	.*	same	-
.*	(open|read) .*devices/system/cpu/.*	.*	.*	same	-
.*	(fsopen|fsconfig|fsmount).*	.*	.*	same	-
# The size of a file is only the first guess of how much memory it needs.
.*	fstat .*	.*	once	same	-

# --- memory and threads. What the options of the kernel are is not said then.
machine|save|svg|json|gobench|csv|ktap	mmap memory .*	.*	once	same|1	memory for [a-z ]+: mmap: %
machine|save|svg|json|gobench|csv|ktap	mremap	.*	.*	same	-
object	mmap memory .*	.*	once	1	fill and freeze section [.a-z]+: %|memory for [a-z.0-9_ ]+: mmap: %|^bpftrig: progs.o: %|^bpftrig: the chart is not whole: mmap: %
object	mremap	.*	.*	1	: %
initramfs.*	mmap memory .*|mremap	.*	once	same|1	own file: %
jit	mmap memory .*	.*	once	1	memory for [a-z.0-9_ -]+: mmap: %|BPF_OBJ_GET_INFO_BY_FD: %
private	mmap memory .*	.*	once	same|1	: %
.*	mmap memory .*	.*	once	1	memory for [a-z.0-9_/-]+( [a-z]+)?: mmap: %|fill and freeze section [.a-z]+: %|read [^ ]+: %
.*	mremap	.*	.*	1	: %
.*	mmap bpf-map	.*	once	1	mmap of section [.a-z]+: %
profile	thread mmap perf_event	.*	.*	same	--profile: .*: perf_event_open of samples: %
# libc makes one errno of several.
# The first thread is the watch, without which a run goes on; list, jit and what is refused start no other.
list.*|jit|refused	mmap stack|mprotect|clone	.*	.*	same	-
# The command is a process of its own: without producers, the watch is the only thread.
cost	mmap stack|mprotect|clone	.*	.*	same	-
.*	mmap stack|mprotect|clone	.*	once	same|1	start of producer [0-9]+: (EAGAIN \(11\)|%)
.*	mmap stack|mprotect|clone	.*	on	1	start of producer [0-9]+: (EAGAIN \(11\)|%)|: mmap: (ENOMEM \(12\)|%)
.*	thread sched_setaffinity	EPERM	.*	4	sched_setaffinity: %
.*	thread sched_setaffinity	.*	.*	1	sched_setaffinity: %
affinity	sched_getaffinity	.*	once	same|1	^bpftrig: sched_getaffinity: %
affinity	sched_getaffinity	.*	on	1	^bpftrig: sched_getaffinity: %

cost	stat (/bin/true|\./tool)	.*	.*	1	(/bin/true|\./tool): %
cost	access	.*	.*	1|2	^bpftrig: .*/bin/true
cost	(open|read|mmap memory|mremap) .*tool.*	EINTR	once	same|1	: %
cost	open .*tool	.*	.*	1|2|4	: %
cost	read .*tool	=0	once	1	tool
cost	read .*tool	.*	.*	1|2|4	: %
cost	(fork|clone)	.*	.*	1	^bpftrig: fork: %
cost	pipe2	.*	.*	1	^bpftrig: pipe2: %
cost	wait4	.*	.*	1	^bpftrig: wait4: %
# What the child has to say is not heard; it has an exit status, too.
cost	read pipe.*	.*	once	same	-

# --- BPF and perf events. ENOSYS, EPERM and what says that the kernel cannot are no fault: the row is skipped.
usdt|list-json	bpf BPF_(MAP_CREATE|PROG_LOAD)	ENOSYS|EPERM	once	same	-
usdt|list-json	bpf BPF_LINK_CREATE	EINVAL|EIO|ENOSYS|EOPNOTSUPP|EPERM|524	once	same	-
cost	bpf BPF_(MAP_CREATE|PROG_LOAD|LINK_CREATE)	.*	.*	same|1|4	BPF_[A-Z_]+ [^:]+: %
.*	bpf BPF_MAP_CREATE	ENOSYS|EPERM	.*	4	BPF_MAP_CREATE for section [.a-z]+: %
.*	bpf BPF_MAP_CREATE	.*	.*	1	BPF_MAP_CREATE for section [.a-z]+: %
.*	bpf BPF_MAP_(UPDATE_ELEM|FREEZE)	.*	.*	1	fill and freeze section [.a-z]+: %
# Two ways of making the pair. Any other program is loaded again for the verifier's log, and that went well.
private	bpf BPF_PROG_LOAD	.*	once	same|1|4	BPF_PROG_LOAD of [a-z0-9_]+ for [a-z -]+: %
.*	bpf BPF_PROG_LOAD	ENOSYS|EPERM	once	4	BPF_PROG_LOAD of [a-z0-9_]+ for [a-z -]+: %
.*	bpf BPF_PROG_LOAD	.*	once	same	-
.*	bpf BPF_PROG_LOAD	ENOSYS|EPERM|EINVAL	on	4	BPF_PROG_LOAD of [a-z0-9_]+ for [a-z -]+: %
.*	bpf BPF_PROG_LOAD	.*	on	1	BPF_PROG_LOAD of [a-z0-9_]+ for [a-z -]+: %
.*	bpf BPF_RAW_TRACEPOINT_OPEN	EBUSY|EINVAL|ENOENT|ENOSYS|EPERM|524	.*	4	BPF_RAW_TRACEPOINT_OPEN of bpf_trigger_tp: %
.*	bpf BPF_RAW_TRACEPOINT_OPEN	.*	.*	1	BPF_RAW_TRACEPOINT_OPEN of bpf_trigger_tp: %
# An older way is tried.
tp|tpbtf|uprobe	bpf BPF_LINK_CREATE	EINVAL	once	same	-
tp|tpbtf|uprobe	bpf BPF_LINK_CREATE	EBUSY|ENOSYS|EOPNOTSUPP|EPERM|524	once	4	BPF_LINK_CREATE [^:]+: %
uprobe-multi	bpf BPF_LINK_CREATE	EINVAL|EIO|ENOSYS|EOPNOTSUPP|EPERM|524	once	4	BPF_LINK_CREATE [^:]+: %
.*	bpf BPF_LINK_CREATE	EACCES	once	1|4	BPF_LINK_CREATE [^:]+: %
.*	bpf BPF_LINK_CREATE	.*	once	1	BPF_LINK_CREATE [^:]+: %
.*	(thread )?bpf BPF_PROG_TEST_RUN	ENOSYS|EPERM	.*	4	BPF_PROG_TEST_RUN: %
.*	(thread )?bpf BPF_PROG_TEST_RUN	.*	.*	1	BPF_PROG_TEST_RUN: %
.*	dup3	.*	.*	1	dup3: %
.*	bpf BPF_OBJ_GET_INFO_BY_FD	.*	.*	1	BPF_OBJ_GET_INFO_BY_FD: %
tp-ioctl	ioctl PERF_EVENT_IOC_SET_BPF	EINVAL|EPERM	.*	4	PERF_EVENT_IOC_SET_BPF of the program [^:]+: %
tp-ioctl	ioctl PERF_EVENT_IOC_SET_BPF	.*	.*	1	PERF_EVENT_IOC_SET_BPF of the program [^:]+: %
tp.*	perf_event_open	EBUSY|ENOSYS|EPERM	.*	4	perf_event_open \([^:]+: %
uprobe	perf_event_open	EIO|ENOSYS|EOPNOTSUPP|EPERM|524	.*	4	perf_event_open \([^:]+: %
tp.*|uprobe	perf_event_open	EACCES	.*	1|4	perf_event_open \([^:]+: %
tp.*|uprobe	perf_event_open	.*	.*	1	perf_event_open \([^:]+: %
# Of the events to sample by, the second does as well. Counts of instructions are only a remark.
profile	thread perf_event_open	.*	on	same	--profile: .*: perf_event_open of samples: %
.*	thread (perf_event_open|mmap perf_event)	.*	.*	same	-
# A close that is made to fail does not detach; the check of that is what says so.
.*	close (bpf_link|perf_event)	.*	.*	same|1	the program was detached, and ran [0-9]+ times more

# --- what the program goes on without: the lock (hits from elsewhere are noticed), signals, limits, the size of a terminal; and what ends at
# the latest with the process.
.*	(socket|bind|listen|connect|getsockopt|(thread )?poll)	.*	.*	same	-
# To know why BPF is refused, too.
# Whether who holds the lock has started us is asked only where somebody does.
.*	(open|read|close|fstat) /proc/[0-9]+/status	.*	.*	same	-
.*	(thread )?(capget|stat .*|rt_.*|futex|munmap|prlimit64|sched_getaffinity|uname|getpgid|clock_gettime|prctl|fcntl|ioctl (TIOCGWINSZ|TCGETS))	.*	.*	same	-
.*	(thread )?close .*	.*	once	same	-
.*	(thread )?close .*	.*	on	same|1	the program was detached, and ran [0-9]+ times more|: %

# Whatever else fails for good: it goes on without, or says so.
.*	.*	.*	on	same|1|2|4	: %
END

declare -A numbers=([524]=524)
while read -r _ name number _; do
	[[ $number =~ ^[0-9]+$ ]] && numbers[$name]=$number
done < <(cat /usr/include/asm-generic/errno-base.h /usr/include/asm-generic/errno.h)

# site_of LINE OF STRACE: the kind of call, for the table, in $site, and its name in $call.
site_of() {
	local line=$1 rest path=

	[[ $line =~ ^([a-z0-9_]+)\((.*)$ ]] || return
	call=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}
	case $call in
	bpf)
		site="bpf ${rest%%,*}"
		;;
	open | openat)
		[[ $rest =~ \"([^\"]*)\" ]] && path=${BASH_REMATCH[1]}
		site="open $path"
		[[ $rest != *O_CREAT* && $path != picture.svg && $path != results ]] || site="create $path"
		;;
	mmap | mmap2)
		site="mmap memory $([[ $rest =~ ^NULL,\ ([0-9]+) ]] && echo "${BASH_REMATCH[1]}")"
		[[ ! $rest =~ PROT_NONE ]] || site='mmap stack'
		[[ ! $rest =~ [0-9]+\<(anon_inode:)?([^\>]*)\> ]] || site="mmap ${BASH_REMATCH[2]}"
		;;
	ioctl)
		rest=${rest#*, }
		site="ioctl ${rest%%[,)]*}"
		;;
	fsopen)
		[[ $rest =~ \"([^\"]*)\" ]] && site="fsopen ${BASH_REMATCH[1]}"
		;;
	clone3) site=clone ;;
	ppoll) site=poll ;;
	newfstatat | stat | statx)
		[[ $rest =~ \"([^\"]*)\" ]] && path=${BASH_REMATCH[1]}
		site=${path:+stat $path}
		site=${site:-fstat $([[ $rest =~ ^[0-9]+\<([^\>]*)\> ]] && echo "${BASH_REMATCH[1]}")}
		;;
	read | write | close | pread64 | fstat | ftruncate | fsconfig | fsmount)
		site=$call
		[[ ! $rest =~ ^([0-9]+)\<([^\>]*)\> ]] || site="$call ${BASH_REMATCH[2]#anon_inode:}"
		[[ ! $rest =~ ^1\< ]] || site="$call standard output"
		[[ ! $rest =~ ^2\< ]] || site="$call standard error"
		;;
	unlink | unlinkat)
		[[ $rest =~ \"([^\"]*)\" ]] && site="unlink ${BASH_REMATCH[1]}"
		;;
	*) site=$call ;;
	esac
	site=${site//\[/} site=${site//\]/}
}

# kind_of SITE: what its errnos depend on, in $kind.
kind_of() {
	kind=${1#thread }
	[[ $kind = bpf\ * ]] || kind=${kind%% *}
}

# select_rows: those that speak of the command $name, into $selected.
select_rows() {
	local i

	selected=()
	for i in "${!row_call[@]}"; do
		[[ ! $name =~ ^(${row_command[i]})$ ]] || selected+=("$i")
	done
}

# look_up: the row of the table that speaks of $site, $errno and $when: its number in $row, and $want and $text.
look_up() {
	for row in "${selected[@]}"; do
		if [[ $errno =~ ^(${row_errno[row]})$ && $when =~ ^(${row_when[row]})$ && $site =~ ^(${row_call[row]})$ ]]; then
			want=${row_want[row]} text=${row_text[row]}
			return
		fi
	done
	row='' want='' text=''
}

# --- one run

# Runs the command with STRACE-ARGUMENTS. Its calls are in the file calls; $status and $said.
run_it() {
	rm -f archive results picture.svg calls
	(
		[ "$name" != initramfs-limit ] || ulimit -Sf 100
		# shellcheck disable=SC2086
		exec timeout --foreground -k 1 30 strace -qq -y -e signal=none -o calls "${always[@]}" "$@" "$bin" $arguments >out 2>err </dev/null
	)
	status=$?
	said=
	[ "$name" = initramfs-stdout ] || said=$(<out)
	said+=$'\n'$(grep -v '^bpftrig: waiting for another run' err)
}

# What of the machine could have been left changed: mounts, and the events of tracefs.
state_of_machine() {
	local events=/sys/kernel/tracing

	printf '%s' "$(</proc/self/mountinfo)"
	[ ! -e $events/uprobe_events ] || printf '%s' "$(<$events/uprobe_events)" "$(<$events/kprobe_events)"
}

# What a run that ended so has left behind.
leftovers() {
	local file

	for file in *; do
		case $file in
		out | err | calls | old | new | progs.o | tool) ;;
		results) [ "$name" = save ] || echo "file $file" ;; # what was measured before the fault stays
		archive) [ "$status" = 0 ] || [[ $said = *'cannot be removed'* ]] || echo "file $file" ;;
		picture.svg) [ "$(tail -n 1 picture.svg)" = '</svg>' ] || echo "file $file, not whole" ;;
		*) echo "file $file" ;;
		esac
	done
	[ "$(state_of_machine)" = "$before" ] || echo 'a mount, or an event of tracefs'
}

# judge: sets $verdict to what is wrong with the run, or to nothing.
judge() {
	local wanted left named

	verdict=
	if [ "$status" -ge 124 ]; then
		verdict="ended by a signal, or hung: status $status"
		return
	fi
	look_up
	if [ -z "$row" ]; then
		verdict='no row of the table speaks of it'
		return
	fi
	wanted=${want/same/$dry}
	[[ $status =~ ^($wanted)$ ]] || verdict="exit status $status, not $wanted;"
	[[ $want != same\|* || $status != "$dry" ]] || text=-
	named="$errno \\(${numbers[$errno]-}\\)"
	[ "$errno" != 524 ] || named='ENOTSUPP \(524\)'
	[ "$text" = - ] || grep -Eq -e "${text//%/$named}" <<<"$said" || verdict+=" nothing said of ${text//%/$named};"
	left=$(leftovers)
	[ -z "$left" ] || verdict+=" left behind: $left"
}

# try CALL N[+] [STRACE-ARGUMENTS]: $site is to fail with $errno. Again where it was not made this time, which happens behind the measurement,
# and where the machine had no time for it or others triggered, too.
try() {
	local call=$1 place=$2 how tries line

	shift 2
	how="error=$errno"
	[[ $errno != =* ]] || how="retval$errno"
	for ((tries = 0; tries < 5; tries++)); do
		run_it "$@" -e "trace=$call" -e "inject=$call:$how:when=$place"
		line=$(grep -m1 "^[0-9 ]*\(<... \)\?$call\>.*INJECTED" calls) && ! grep -Eq 'not one trigger in|something else on this machine|hits came from elsewhere' <<<"$said" && break
	done
	if [ -z "$line" ]; then
		unreached=$((unreached + 1))
		return
	fi
	# There, the Nth call need not be the one that it was in the dry run.
	[[ $site = thread* ]] || site_of "$line"
	kind_of "$site"
	[[ " ${errnos[$kind]-} " = *" $errno "* ]] || return
	runs=$((runs + 1))
	printf '%s %s\n' "$kind" "$errno" >>"$folder/pairs"
	judge
	[ "$mode" != table ] || printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$site" "$errno" "$when" "$status" \
		"$(grep -Em1 'E[A-Z0-9]+ \([0-9]+\)|skipped:|failed:|bpftrig:' <<<"$said")"
	[ -n "$verdict" ] || return
	wrong=$((wrong + 1))
	printf 'wrong: %s: %s: %s: %s\n' "$name" "$site" "$errno" "$verdict"
	printf '  $ strace %s -e inject=%s:%s:when=%s %s %s\n' "$*" "$call" "$how" "$place" "$bin" "$arguments"
	sed '/^$/d; s/^/  | /' <<<"$said" | head -n 8 | cut -c 1-300
}

# try_all SITE CALL N[+] [STRACE-ARGUMENTS]: each errno. What is interrupted for ever, or short for ever, may never end.
try_all() {
	local planned=$1 call=$2 place=$3 errno site when=once kind row want text

	shift 3
	[[ $place != *+ ]] || when=on
	kind_of "$planned"
	# A close that is made to fail does not close: cost waits for the end of a pipe that it has itself.
	[ "$name $kind" != 'cost close' ] || return 0
	for errno in ${errnos[$kind]}; do
		[[ $when = once || ($errno != EINTR && $errno != =*) ]] || continue
		site=$planned
		if [ "$mode" = quick ]; then
			kind_of "$planned"
			look_up
			[ -z "${tried["$kind $errno $row"]-}" ] || continue
			tried["$kind $errno $row"]=1
			printf '%s\n' "$kind $errno $row" >>"$folder/tried"
		fi
		try "$call" "$place" "$@"
	done
}

# --- a command

# plan: lines of strace from standard input. Its calls into $sites, in the order of their first places; their names and places.
plan() {
	local line site call

	sites=() calls_of=() places_of=() count=()
	while IFS= read -r line; do
		site=
		site_of "$line"
		[ -n "$site" ] || continue
		count[$call]=$((${count[$call]-0} + 1))
		[[ " $ignored ${first% *} " != *" $call "* ]] || continue
		[ -n "${places_of[$site]-}" ] || sites+=("$site")
		calls_of[$site]=$call
		places_of[$site]+=" ${count[$call]}"
	done
}

# plan_ok SITE: whether its errnos are known.
has_errnos() {
	kind_of "$1"
	[ -z "${errnos[$kind]-}" ] || return 0
	printf 'wrong: %s: the errnos of %s are not known\n' "$name" "$1"
	wrong=$((wrong + 1))
	return 1
}

# The calls of the main thread: strace does not follow the others.
try_main() {
	local site place places lines

	run_it
	if [ -n "$first" ]; then
		plan <calls
		[ -n "${places_of[$first]-}" ] || return
		read -r place _ <<<"${places_of[$first]}"
		always=(-e "inject=${first% *}:error=$first_errno:when=$place")
		run_it
	fi
	dry=$status
	lines=$(<calls)
	[ -z "$(leftovers)" ] || printf 'wrong: %s: a dry run leaves behind: %s\n' "$name" "$(leftovers)"
	if [ "$dry" != 0 ] && [[ " initramfs-limit refused " != *" $name "* ]]; then
		printf 'skip: %s: exit status %d: %s\n' "$name" "$dry" "$said"
		return 1
	fi
	plan <<<"$lines"
	for site in "${sites[@]}"; do
		has_errnos "$site" || continue
		read -r -a places <<<"${places_of[$site]}"
		[ "$mode" != quick ] || places=("${places[0]}")
		[ "${#places[@]}" -le "$most" ] || places=("${places[0]}" "${places[1]}" "${places[-1]}")
		for place in "${places[@]}"; do
			try_all "$site" "${calls_of[$site]}" "$place"
		done
		try_all "$site" "${calls_of[$site]}" "${places[0]}+"
	done
	return 0
}

# Those of the first and the last of the others. strace counts for each thread: a place behind all of the main thread's is the producers' alone.
try_threads() {
	local thread threads place lines site call
	declare -A of_main

	[ "$name" != cost ] || return # whose others are the command, no thread of ours

	for call in "${!count[@]}"; do
		of_main[$call]=${count[$call]}
	done
	run_it -f
	lines=$(<calls)
	mapfile -t threads < <(awk '!seen[$1]++ { print $1 }' <<<"$lines")
	[ "${#threads[@]}" -gt 1 ] || return
	for thread in "${threads[1]}" "${threads[-1]}"; do
		plan < <(sed -n "s/^$thread  *//p" <<<"$lines")
		for site in "${sites[@]}"; do
			call=${calls_of[$site]}
			read -r place _ <<<"${places_of[$site]}"
			if ! has_errnos "$site"; then
				continue
			elif [ -z "${of_main[$call]-}" ]; then
				try_all "thread $site" "$call" "$place" -f
				try_all "thread $site" "$call" "$place+" -f
			elif [ "${count[$call]}" -gt "$((of_main[$call] + 10))" ]; then
				try_all "thread $site" "$call" "$((of_main[$call] + 1))+" -f
			fi
		done
	done
}

main() {
	local line name arguments call site first first_errno verdict wrong=0 runs=0 unreached=0 here=0 most=40 dry before
	declare -A calls_of places_of count tried
	declare -a sites always selected

	bin=$1 folder=$2 mode=${3-all}
	shift $(($# < 3 ? $# : 3))
	[ "$mode" != quick ] || [ ! -e "$folder/tried" ] || while IFS= read -r line; do
		tried[$line]=1
	done <"$folder/tried"
	ulimit -Sl unlimited 2>/dev/null # else EPERM has the program raise it, and try again
	before=$(state_of_machine)
	work=$(mktemp -d) && cd "$work" || exit 2
	trap 'rm -rf "$work"' EXIT
	printf 'BenchmarkRawtp 1 10.0 ns/op\n' >old
	printf 'BenchmarkRawtp 1 12.0 ns/op\n' >new
	{ cp "${bin%/*}/bpf_progs.o" progs.o && cp "$bin" tool; } || exit 2
	while IFS=$'\t' read -r name arguments first first_errno; do
		[[ -n $name && ($# = 0 || " $* " = *" $name "*) ]] || continue
		always=()
		select_rows
		try_main || continue
		here=$((here + 1))
		try_threads
		! pgrep -f "^$bin( |\$)" || printf 'wrong: %s: a process is left behind\n' "$name"
	done <<<"$commands"
	touch "$folder/pairs"
	printf '%d runs; by now, %d pairs of call and errno have failed; %d wrong, %d not reached\n' "$runs" \
		"$(sort -u "$folder/pairs" | wc -l)" "$wrong" "$unreached"
	[ "$here" != 0 ] || exit 77
	[ "$wrong" = 0 ]
}

# In a mount namespace of its own: what others mount meanwhile is none of its business.
if [ "${1-}" = inside ]; then
	main "${@:2}"
else
	exec unshare -m "$0" inside "$@"
fi
