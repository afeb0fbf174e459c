// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command whose probes test.sh counts: calls something a known number of times, and nothing else that is probed.
 *
 *	calls N WHAT	WHAT: push plain twice other picked usdt old new libc syscall steady, as below;
 *			input: say whether there is any
 *
 * Compiled as the program; with -DOTHER as a second file of it, which has a static function of the same name; with -DLIBRARY as a library,
 * whose function `versioned` has an old version, V_1, and a default one, V_2. With -DVERSIONED the program calls both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noclone, used))

static volatile unsigned long calls_done;

#if defined(LIBRARY)

CALLED void versioned_1(void)
{
	calls_done++;
}

CALLED void versioned_2(void)
{
	calls_done += 2;
}

__asm__(".symver versioned_1, versioned@V_1\n.symver versioned_2, versioned@@V_2");

#elif defined(OTHER)

CALLED static void twice(void)
{
	calls_done++;
}

void call_other(void)
{
	twice();
}

#else

/* As systemtap's header writes a probe, with a semaphore: a number that whoever attaches holds above 0. */
unsigned short usdt_semaphore __attribute__((section(".probes"), used));

#define USDT_PROBE(provider, name)                                                                                                         \
	__asm__ volatile("990:	nop\n"                                                                                                      \
			 ".pushsection .note.stapsdt, \"\", @note\n"                                                                       \
			 ".balign 4\n.4byte 992f - 991f, 994f - 993f, 3\n"                                                                 \
			 "991:	.asciz \"stapsdt\"\n992:	.balign 4\n"                                                                       \
			 "993:	.8byte 990b, _.stapsdt.base, usdt_semaphore\n"                                                             \
			 ".asciz \"" provider "\", \"" name "\", \"\"\n994:	.balign 4\n"                                               \
			 ".popsection\n"                                                                                                   \
			 ".ifndef _.stapsdt.base\n"                                                                                        \
			 ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"                                       \
			 ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                                                                  \
			 "_.stapsdt.base: .space 1\n.popsection\n.endif" ::: "memory")

/* Begins with a push, which the kernel emulates. */
#if defined(__x86_64__)
__attribute__((naked)) CALLED void push(void)
{
	__asm__("push %rbp\n\tpop %rbp\n\tret");
}
#else
CALLED void push(void)
{
	calls_done++;
}
#endif

CALLED void plain(void)
{
	calls_done++;
}

CALLED static void twice(void)
{
	calls_done++;
}

static void (*choose_picked(void))(void)
{
	return plain;
}

/* An ifunc: the symbol is of the function that chooses. */
void picked(void) __attribute__((ifunc("choose_picked")));

/* In two places, as the probe of an inlined function is. */
CALLED void usdt(unsigned long i)
{
	if (i % 2) {
		USDT_PROBE("calls", "pass");
		calls_done++;
	} else {
		USDT_PROBE("calls", "pass");
	}
}

/* A thousand times a second, on average also where it is late now and then. */
static void steady(void)
{
	static struct timespec next;

	if (!next.tv_sec)
		clock_gettime(CLOCK_MONOTONIC, &next);
	next.tv_nsec += 1000000;
	next.tv_sec += next.tv_nsec / 1000000000;
	next.tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	plain();
}

void call_other(void);

#if defined(VERSIONED)
void versioned_old(void);
void versioned(void);
__asm__(".symver versioned_old, versioned@V_1");
#else
static void versioned_old(void) {}
static void versioned(void) {}
#endif

int main(int argc, char **argv)
{
	unsigned long n = argc == 3 ? strtoul(argv[1], NULL, 0) : 0;
	const char *what = argc == 3 ? argv[2] : "";
	char c;

	if (!strcmp(what, "input"))
		return printf("input: %zd\n", read(0, &c, 1)) < 0;
	for (unsigned long i = 0; i < n; i++) {
		if (!strcmp(what, "push"))
			push();
		else if (!strcmp(what, "plain"))
			plain();
		else if (!strcmp(what, "twice"))
			twice();
		else if (!strcmp(what, "other"))
			call_other();
		else if (!strcmp(what, "picked"))
			picked();
		else if (!strcmp(what, "usdt"))
			usdt(i);
		else if (!strcmp(what, "old"))
			versioned_old();
		else if (!strcmp(what, "new"))
			versioned();
		else if (!strcmp(what, "libc"))
			calls_done += getpid();
		else if (!strcmp(what, "syscall"))
			syscall(SYS_getpgid, 0);
		else if (!strcmp(what, "steady"))
			steady();
		else
			return 2;
	}
	if (!strcmp(what, "usdt"))
		printf("semaphore: %d\n", *(volatile unsigned short *)&usdt_semaphore);
	return 0;
}

#endif
