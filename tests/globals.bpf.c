// SPDX-License-Identifier: GPL-2.0-only
/* Variables in every kind of section. A trigger counts only where each holds what was put into it, so a wrong address is a missed one. */
#include "fixture.h"

/* Two at offsets 0 and 8 of a section of their own: without the symbol's value, the second is the first. */
volatile u64 first __attribute__((section(".bss.pair")));
volatile u64 second __attribute__((section(".bss.pair")));

volatile u64 initial = 0x1122334455667788;
volatile u32 behind_initial = 99;
static volatile u64 unnamed[3] = { 5, 6, 7 }; /* static: clang refers to it by its section and an offset */

const volatile u64 constant = 0xabcdef;
static const volatile u32 table[4] = { 10, 20, 30, 40 };

INLINE void trigger(void)
{
	first = 1;
	second = 2;
	if (first != 1 || second != 2)
		return;
	if (initial != 0x1122334455667788 || behind_initial != 99 || unnamed[0] != 5 || unnamed[2] != 7)
		return;
	if (constant != 0xabcdef || table[0] != 10 || table[3] != 40)
		return;
	count_hit();
}

PROGRAMS(count, drive_count, trigger)
