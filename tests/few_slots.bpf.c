// SPDX-License-Identifier: GPL-2.0-only
/* Fewer counters than bpftrig would read. */
#define SLOT_COUNT 16
#include "fixture.h"

PROGRAMS(count, drive_count, count_hit)
