// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program body of your own, for --obj: own-body.sh compiles it and compares it with the plain one.
 *
 * This one does what tracing programs do beside counting: it asks who runs, and keeps a number for each process in a table. A global
 * variable is an array map of one element, the table is in its value, and the look-up is an index into it. (Maps in a section
 * ".maps" are not supported: bpftrig loads without libbpf and makes maps of global variables alone.)
 *
 * What bpftrig needs of it: the array hits[], to which each run adds one, so that it can be verified; a license; and a function, in any
 * section but .text, with the row's name (_ for -) or called count, for all rows. No header is needed, not even one of libbpf.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

static u32 (*const get_smp_processor_id)(void) = (void *)8; /* numbers of enum bpf_func_id in <linux/bpf.h> */
static u64 (*const get_current_pid_tgid)(void) = (void *)14;

char license_text[] __attribute__((section("license"), used)) = "GPL";

struct slot {
	u64 hits;
} __attribute__((aligned(128)));
struct slot hits[256];

struct process {
	u64 runs, last_thread;
};
struct process processes[1024];

__attribute__((section("entry"), used)) int count(void *ctx)
{
	u64 id = get_current_pid_tgid();
	struct process *p = &processes[id >> 32 & 1023]; /* the verifier wants to see that the index is within bounds */

	p->runs++;
	p->last_thread = (u32)id;
	__sync_fetch_and_add(&hits[get_smp_processor_id() & 255].hits, 1);
	return 0;
}
