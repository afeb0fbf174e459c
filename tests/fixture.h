/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fixtures share: objects that test.sh gives to bpftrig with --obj. Each defines how one trigger is counted, and PROGRAMS()
 * makes two programs of it: a driver of its own for the row kernel-count, which every kernel since 5.10 can run, and the program
 * that the other rows attach. Nothing of bpf_progs.c is used, so that a mistake there is not repeated here.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

#define ENTRY __attribute__((section("entry"), used))
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline)) /* a function of its own, in .text */

#ifndef SLOT_COUNT
#define SLOT_COUNT 256
#endif

static u32 (*const get_smp_processor_id)(void) = (void *)8;

char license_text[] __attribute__((section("license"), used)) = "GPL";

struct slot {
	u64 hits;
} __attribute__((aligned(128)));
struct slot hits[SLOT_COUNT];

const volatile u32 batch_iters = 100;

INLINE void count_hit(void)
{
	struct slot *own = &hits[get_smp_processor_id() % SLOT_COUNT];

	asm volatile("lock *(u64 *)(%0 + 0) += %1" : : "r"(own), "r"(1ULL) : "memory");
}

#define PROGRAMS(attached, driver, trigger)                                                                                            \
	ENTRY int attached(void *ctx)                                                                                                  \
	{                                                                                                                              \
		trigger();                                                                                                             \
		return 0;                                                                                                              \
	}                                                                                                                              \
                                                                                                                                       \
	ENTRY int driver(void *ctx)                                                                                                    \
	{                                                                                                                              \
		for (u32 i = 0; i < batch_iters; i++)                                                                                  \
			trigger();                                                                                                     \
		return 0;                                                                                                              \
	}
