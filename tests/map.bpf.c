// SPDX-License-Identifier: GPL-2.0-only
/* Wants a map, as objects for libbpf do. */
#include "fixture.h"

struct {
	int (*type)[2];
	u32 *key;
	u64 *value;
} counters __attribute__((section(".maps"), used));

static void *(*const map_lookup_elem)(void *map, const void *key) = (void *)1;

INLINE void trigger(void)
{
	u32 key = 0;

	if (map_lookup_elem(&counters, &key))
		count_hit();
}

PROGRAMS(count, drive_count, trigger)
