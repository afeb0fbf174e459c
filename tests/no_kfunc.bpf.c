// SPDX-License-Identifier: GPL-2.0-only
/* Calls a kernel function that no kernel has. */
#include "fixture.h"

extern int bpf_function_of_no_kernel(int x);

INLINE void trigger(void)
{
	count_hit();
	bpf_function_of_no_kernel(0);
}

PROGRAMS(count, drive_count, trigger)
