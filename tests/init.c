// SPDX-License-Identifier: GPL-2.0-only
/*
 * /init for tests with several runs in one boot: runs /bpftrig once for each line of the file /runs, with its words, and says how each
 * ended. A kernel's command line has room for 32 words and one "--".
 */
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	struct timespec boot = { .tv_sec = 5 }; /* bpftrig.c says why (wait_until_quiet) */
	FILE *runs = fopen("/runs", "r");
	char line[4096];

	clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &boot, NULL);
	while (runs && fgets(line, sizeof(line), runs)) {
		char *words[64] = { "bpftrig" };
		int n = 1, status;

		for (char *word = strtok(line, " \n"); word && n < 63; word = strtok(NULL, " \n"))
			words[n++] = word;
		if (!fork()) {
			execv("/bpftrig", words);
			_exit(127);
		}
		wait(&status);
		printf("bpftrig: exit %d\n", WEXITSTATUS(status));
		fflush(stdout);
	}
	reboot(RB_POWER_OFF);
	return 0;
}
