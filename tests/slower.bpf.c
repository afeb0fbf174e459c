// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counting program with a known cost on top: EXTRA instructions, each of which waits for the one before it, and the count for the
 * last. JITed they are one machine instruction each, so with time as a count of instructions the cost is EXTRA.
 */
#include "fixture.h"

#ifndef EXTRA
#define EXTRA 5
#endif
#define STRING(x) #x
#define REPEAT(n, text) ".rept " STRING(n) "\n" text "\n.endr\n"

INLINE void trigger(void)
{
	struct slot *own = &hits[get_smp_processor_id() % SLOT_COUNT];
	u64 one = 1;

	asm volatile(REPEAT(EXTRA, "%0 *= %0") : "+r"(one), "+r"(own));
	asm volatile("lock *(u64 *)(%0 + 0) += %1" : : "r"(own), "r"(one) : "memory");
}

PROGRAMS(count, drive_count, trigger)
