// SPDX-License-Identifier: GPL-2.0-only
/* Counts each trigger twice. */
#include "fixture.h"

INLINE void trigger(void)
{
	count_hit();
	count_hit();
}

PROGRAMS(count, drive_count, trigger)
