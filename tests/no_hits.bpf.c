// SPDX-License-Identifier: GPL-2.0-only
/* Counts in a variable of another name. */
#define hits strokes
#include "fixture.h"

PROGRAMS(count, drive_count, count_hit)
