// SPDX-License-Identifier: GPL-2.0-only
/* A program for one row: it counts, and the one for all rows does not. */
#include "fixture.h"

ENTRY int rawtp(void *ctx)
{
	count_hit();
	return 0;
}

ENTRY int count(void *ctx)
{
	return 0;
}
