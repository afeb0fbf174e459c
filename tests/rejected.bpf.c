// SPDX-License-Identifier: GPL-2.0-only
/* Reads where it may not, behind a loop that makes the verifier's log longer than the first buffer for it. */
#include "fixture.h"

INLINE void read_nowhere(void)
{
	u64 x;

	asm volatile("%0 = 1\n%0 = *(u64 *)(%0 + 0)" : "=r"(x));
}

INLINE void trigger(void)
{
	count_hit();
	for (u32 i = 0; i < 3000; i++)
		get_smp_processor_id();
	read_nowhere();
}

PROGRAMS(count, drive_count, trigger)
