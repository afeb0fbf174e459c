// SPDX-License-Identifier: GPL-2.0-only
/* Every CPU counts in the first slot, as CPUs 0, 256, 512, ... do on a machine with more CPUs than slots. */
#include "fixture.h"

INLINE void trigger(void)
{
	asm volatile("lock *(u64 *)(%0 + 0) += %1" : : "r"(&hits[0]), "r"(1ULL) : "memory");
}

PROGRAMS(count, drive_count, trigger)
