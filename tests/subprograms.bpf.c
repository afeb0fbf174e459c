// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subprograms in .text, called from several places and by each other, in an order that is not that of the file. A trigger counts
 * only where all of them ran and returned what they should.
 */
#include "fixture.h"

NOINLINE u64 twice(u64 x)
{
	asm volatile("" : "+r"(x));
	return 2 * x;
}

__attribute__((used)) NOINLINE u64 never_called(u64 x)
{
	return twice(x) + 1000;
}

NOINLINE u64 twice_and_one(u64 x)
{
	asm volatile("" : "+r"(x));
	return twice(x) + 1;
}

NOINLINE u64 sum(u64 x)
{
	return twice_and_one(x) + twice(x) + twice_and_one(x + 1);
}

NOINLINE void count_from_below(void)
{
	count_hit();
}

INLINE void trigger(void)
{
	u64 x = 5;

	asm volatile("" : "+r"(x)); /* so that nothing is computed when this is compiled */
	if (twice(x) == 10 && sum(x) == 34 && twice_and_one(x) == 11)
		count_from_below();
}

PROGRAMS(count, drive_count, trigger)
