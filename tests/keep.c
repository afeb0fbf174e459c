// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command one of whose system calls does not come back: a seccomp filter hands the call over to this process, which answers
 * the first ones and no more.
 *
 *	keep HOW CALL ARGUMENT NUMBER COMMAND...
 *
 * HOW is "signals" (a signal interrupts the call), "kill" (only the end of the process does) or "dies" (no handing over: the thread is
 * gone at once). CALL is the number of the system call, ARGUMENT its first argument or -1 for any, NUMBER the first one to be kept. The exit
 * status is the command's.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* 5.19 */
#endif

/* For this process and what it starts. Returns the listener, or 0 where there is none. */
static int install(const char *how, unsigned call, int argument)
{
	unsigned action = strcmp(how, "dies") ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_KILL_THREAD;
	unsigned flags = strcmp(how, "dies") ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | (argument < 0 ? BPF_JA : BPF_JEQ) | BPF_K, argument < 0 ? 0 : argument, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (!strcmp(how, "kill"))
		flags |= SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* Answers one of the first calls: the kernel runs it. The others are received, and not answered. */
static void answer(int listener, int *number)
{
	struct seccomp_notif request;
	struct seccomp_notif_resp response;

	memset(&request, 0, sizeof(request));
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) || --*number <= 0)
		return;
	response = (struct seccomp_notif_resp){ .id = request.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

int main(int argc, char **argv)
{
	int number, listener, status;
	pid_t child;

	if (argc < 6)
		return 125;
	number = atoi(argv[4]);
	listener = install(argv[1], atoi(argv[2]), atoi(argv[3]));
	if (listener < 0) {
		perror("keep: seccomp");
		return 125;
	}
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execvp(argv[5], argv + 5);
		_exit(127);
	}
	while (!waitpid(child, &status, WNOHANG)) {
		struct pollfd p = { listener ? listener : -1, POLLIN, 0 };

		if (poll(&p, 1, 20) > 0 && p.revents & POLLIN)
			answer(listener, &number);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
