// SPDX-License-Identifier: GPL-2.0-only
/* The kernel refuses the programs of the usual names; those with _plain behind count. */
#include "fixture.h"

INLINE void refused(void)
{
	u64 x;

	asm volatile("%0 = 1\n%0 = *(u64 *)(%0 + 0)" : "=r"(x));
	count_hit();
}

PROGRAMS(count, drive_count, refused)
PROGRAMS(count_plain, drive_count_plain, count_hit)
