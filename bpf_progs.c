// SPDX-License-Identifier: GPL-2.0-only
/*
 * The BPF programs of bpftrig.
 *
 * Every function in section "entry" is a program. The section says nothing about the program type: bpftrig.c loads an entry as
 * whatever type the benchmark row wants, so that one counting body serves fentry, kprobe, raw tracepoints and all the others, and
 * the figures of two rows differ by the trigger alone. For a row NAME a program called NAME (with _ for -) is taken first, then
 * the one that the row names; that is how an object given with --obj changes one trigger and leaves the others alone.
 *
 * The object is compiled without BTF and without libbpf's headers: the helpers used are declared here by their number, which is
 * kernel ABI (enum bpf_func_id in <linux/bpf.h>).
 */
typedef unsigned int u32;
typedef unsigned long long u64;

#define ENTRY __attribute__((section("entry"), used))

static u32 (*const get_smp_processor_id)(void) = (void *)8;
static u32 (*const get_numa_node_id)(void) = (void *)42;
static long (*const get_stack)(void *ctx, void *buf, u32 size, u64 flags) = (void *)67;

/* Kernels from 6.10 on. It fires the tracepoint bpf_test_run:bpf_trigger_tp, and a fmod_ret program may be attached to it. */
extern int bpf_modify_return_test_tp(int nonce);

char license_text[] __attribute__((section("license"), used)) = "GPL";

/*
 * A counter of its own for each CPU, two cache lines apart because x86 fetches lines in pairs. More CPUs than slots share them,
 * which is why the addition is atomic. Both numbers are the kernel bench's, so that an increment costs what it costs there.
 * bpftrig.c maps this array and knows its layout (SLOTS, SLOT_SIZE).
 */
struct slot {
	u64 hits;
} __attribute__((aligned(128)));
struct slot hits[256];

/* Set by bpftrig.c before the map is frozen: the verifier takes it for a constant and can bound the loops below. */
const volatile u32 batch_iters = 100;
const volatile u32 getpgid_nr = ~0u;

/* For -s: as deep a trace as the kernel's bench takes, a buffer for each slot. A section of its own, for few programs need it. */
struct trace {
	u64 ip[128];
};
struct trace traces[256] __attribute__((section(".bss.traces")));

static inline __attribute__((always_inline)) struct slot *own_slot(void)
{
	return &hits[get_smp_processor_id() & 255];
}

/*
 * BPF_ATOMIC | BPF_ADD without BPF_FETCH, whatever the compiler makes of the __sync builtins: the JITs of arm64 before 5.18 and
 * of riscv64 before 5.19 refuse the fetching form.
 */
static inline __attribute__((always_inline)) void count_hit(void)
{
	asm volatile("lock *(u64 *)(%0 + 0) += %1" : : "r"(own_slot()), "r"(1ULL) : "memory");
}

/* For a JIT without any atomic operation. Exact as long as one producer runs on each slot. */
static inline __attribute__((always_inline)) void count_hit_plain(void)
{
	(*(volatile u64 *)&own_slot()->hits)++;
}

static inline __attribute__((always_inline)) void take_trace(void *ctx)
{
	get_stack(ctx, &traces[get_smp_processor_id() & 255], sizeof(traces[0]), 0);
}

/* --- attached programs; NAME_plain is tried where the kernel will not load NAME --------------------------------------------- */

ENTRY int count(void *ctx)
{
	count_hit();
	return 0;
}

ENTRY int count_plain(void *ctx)
{
	count_hit_plain();
	return 0;
}

ENTRY int count_stack(void *ctx)
{
	count_hit();
	take_trace(ctx);
	return 0;
}

/* On raw tracepoint sys_enter, which fires for every system call. */
ENTRY int count_getpgid(u64 *ctx)
{
	if (ctx[1] == getpgid_nr)
		count_hit();
	return 0;
}

ENTRY int count_getpgid_stack(u64 *ctx)
{
	if (ctx[1] == getpgid_nr) {
		count_hit();
		take_trace(ctx);
	}
	return 0;
}

/* fmod_ret: a value other than 0 is returned in the function's place, -22 (EINVAL) as in the kernel's bench. */
ENTRY int modify(void *ctx)
{
	count_hit();
	return -22;
}

ENTRY int modify_plain(void *ctx)
{
	count_hit_plain();
	return -22;
}

ENTRY int modify_stack(void *ctx)
{
	count_hit();
	take_trace(ctx);
	return -22;
}

/*
 * Frames of 48 and of 64 bytes, in the program and in a subprogram that does nothing else: the kernel gives functions with 64 bytes
 * or more a private stack (BPF_PRIV_STACK_MIN_SIZE), and rounds up to 16 before it compares. What counts is the lowest byte that is
 * written; assembly, because a compiler may shrink any array of C. Three calls, because each one saves and restores the pointer to
 * the private stack.
 */
#define USE_FRAME(size) asm volatile("*(u64 *)(r10 - " #size ") = %0" : : "r"(0ULL) : "memory")
#define FRAMES(size) \
	static __attribute__((noinline)) void use_frame_##size(void) \
	{ \
		USE_FRAME(size); \
	} \
	ENTRY int frames_##size(void *ctx) \
	{ \
		USE_FRAME(size); \
		count_hit(); \
		use_frame_##size(); \
		use_frame_##size(); \
		use_frame_##size(); \
		return 0; \
	}
FRAMES(48)
FRAMES(64)

/* Attached to everything else by the -all rows. */
ENTRY int empty(void *ctx)
{
	return 0;
}

/*
 * --- drivers: run by BPF_PROG_TEST_RUN, one pass of the loop is one trigger ---------------------------------------------------
 *
 * The bound is read anew in each pass, as the kernel's bench does. It costs next to nothing, and on some CPUs makes kernel-count
 * faster: constant_copies() in bpftrig.c says how.
 */

ENTRY int drive_helper(void *ctx)
{
	for (u32 i = 0; i < batch_iters; i++)
		get_numa_node_id();
	return 0;
}

ENTRY int drive_kfunc(void *ctx)
{
	for (u32 i = 0; i < batch_iters; i++)
		bpf_modify_return_test_tp(0);
	return 0;
}

ENTRY int drive_count(void *ctx)
{
	for (u32 i = 0; i < batch_iters; i++) {
		count_hit();
		get_numa_node_id();
	}
	return 0;
}

ENTRY int drive_count_plain(void *ctx)
{
	for (u32 i = 0; i < batch_iters; i++) {
		count_hit_plain();
		get_numa_node_id();
	}
	return 0;
}
