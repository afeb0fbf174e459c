// SPDX-License-Identifier: GPL-2.0-only
/* The function of the right name is a subprogram, in .text. */
#include "fixture.h"

__attribute__((noinline)) int count(void *ctx)
{
	count_hit();
	return 0;
}

ENTRY int other(void *ctx)
{
	return count(ctx);
}
