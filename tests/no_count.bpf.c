// SPDX-License-Identifier: GPL-2.0-only
/* Has counters and leaves them alone: every trigger is missed. */
#include "fixture.h"

volatile u64 elsewhere;

INLINE void trigger(void)
{
	elsewhere++;
	if (elsewhere == 0) /* never, but the verifier cannot know, and the counters are in use */
		count_hit();
}

PROGRAMS(count, drive_count, trigger)
