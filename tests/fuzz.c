// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz targets: all that bpftrig reads and did not write. tests/fuzz.sh builds and runs them; a target is a function fuzz_NAME below,
 * its line in the table of targets, and seeds in tests/fuzz.sh. The program's own name says which target it is. With libFuzzer,
 *
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -DLIBFUZZER -pthread -I. tests/fuzz.c -o object -lm
 *	./object CORPUS
 *
 * and without, by any compiler, a program that runs each file that it is given; behind -d also each with its bytes changed and cut short:
 *
 *	gcc -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -pthread -I. tests/fuzz.c -o object -lm
 *	./object [FILE...] [-d FILE...]
 *
 * The input is what every file holds that bpftrig opens, for the calls that open and read are this file's own. Memory is
 * pieces of the heap (heap.h), of which each run must give back all. The last byte of an input says which of them is not to be had, the
 * first, second and so on; 0, which most files end in that are no text: all are.
 */
#define _GNU_SOURCE
#include "heap.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What must be true, whatever the input. */
#define MUST(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static void broken(const char *condition, int line)
{
	fprintf(stderr, "tests/fuzz.c:%d: not true: %s\n", line, condition);
	abort();
}

/* === The machine ===============================================================================================================
 * As the input has it.
 */

enum { FAKE_FD = 1 << 20 }; /* of files, maps and programs: no real one */

static struct {
	const uint8_t *at;
	size_t len, off;    /* off: what has been read */
	unsigned refused;   /* which piece of memory, from 1; 0: none */
	int pieces;	    /* held */
	uint32_t map_size, map_size_max; /* of the last map, and of the largest */
} machine;

/* What the kernel samples into, which is kept, for it is large. */
static struct { uint8_t page[4096], records[512 << 10]; } *ring_memory;

static volatile uint8_t touched;

/* Reads each byte, for the sanitizer. */
static void touch(const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		touched ^= ((const uint8_t *)bytes)[i];
}

/* This machine has little memory, which keeps runs fast. */
static bool is_refused(size_t len)
{
	return len > 1 << 20 || (machine.refused && !--machine.refused);
}

static void *fuzz_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p = is_refused(len) ? MAP_FAILED : heap_piece(len);

	(void)at, (void)prot, (void)off;
	machine.pieces += p != MAP_FAILED;
	if (p != MAP_FAILED && fd == FAKE_FD && flags & MAP_PRIVATE) /* a file; a map's memory is zero */
		memcpy(p, machine.at, len);
	return p;
}

static int fuzz_munmap(void *p, size_t len)
{
	(void)len;
	if (p == ring_memory)
		return 0;
	machine.pieces--;
	free(p);
	return 0;
}

static void *fuzz_mremap(void *p, size_t old, size_t len, int flags, ...)
{
	return is_refused(len) ? MAP_FAILED : heap_mremap(p, old, len, flags);
}

/* An empty file is not there, one whose first byte is 0xfe is not for us, and one with 0xff cannot be read. */
static int fuzz_open(const char *path, int flags, ...)
{
	touch(path, strlen(path) + 1);
	(void)flags;
	errno = machine.len ? EACCES : ENOENT;
	machine.off = 0;
	return machine.len && machine.at[0] != 0xfe ? FAKE_FD : -1;
}

static int fuzz_openat(int fd, const char *path, int flags, ...)
{
	(void)fd;
	return fuzz_open(path, flags);
}

/* One in eight does not know its length, as in /proc; the others do, as on a disk. */
static int fuzz_fstat(int fd, struct stat *st)
{
	(void)fd;
	*st = (struct stat){ .st_size = machine.len % 8 ? machine.len : 0 };
	return 0;
}

static ssize_t fuzz_read(int fd, void *to, size_t len)
{
	size_t rest = machine.len - machine.off, n = rest < len ? rest : len;

	(void)fd;
	n = n > 3000 ? 3000 : n; /* a short read */
	errno = EIO;
	if (machine.len && machine.at[0] == 0xff)
		return -1;
	memcpy(to, machine.at + machine.off, n);
	machine.off += n;
	return n;
}

static ssize_t fuzz_write(int fd, const void *from, size_t len)
{
	(void)fd;
	touch(from, len);
	return len;
}

static int fuzz_close(int fd)
{
	MUST(fd == FAKE_FD);
	return 0;
}

static long fuzz_syscall(long number, ...);

#undef mmap
#undef munmap
#undef mremap
#define mmap fuzz_mmap
#define munmap fuzz_munmap
#define mremap fuzz_mremap
#define open fuzz_open
#define openat fuzz_openat
#define fstat fuzz_fstat
#define read fuzz_read
#define write fuzz_write
#define close fuzz_close
#define syscall fuzz_syscall
#define main bpftrig_main
#include "../bpftrig.c"
#undef main

/* What would go to the kernel: whole instructions, and only numbers that it gave. */
static void check_loaded(const struct attr_prog_load *attr)
{
	const struct bpf_insn *insns = (const struct bpf_insn *)(uintptr_t)attr->insns;

	touch(insns, attr->insn_cnt * sizeof(*insns));
	touch((const char *)(uintptr_t)attr->license, strlen((const char *)(uintptr_t)attr->license) + 1);
	MUST(attr->insn_cnt && memchr(attr->prog_name, 0, sizeof(attr->prog_name)));
	for (uint32_t at = 0; at < attr->insn_cnt; at++) {
		const struct bpf_insn *insn = &insns[at];

		if (insn->code == OP_CALL && insn->src_reg == INSN_PSEUDO_CALL)
			MUST(at + 1 + (int64_t)insn->imm >= 0 && at + 1 + (int64_t)insn->imm < attr->insn_cnt);
		if (insn->code != OP_LD_IMM64)
			continue;
		MUST(++at < attr->insn_cnt);
		if (insn->src_reg)
			MUST(insn->src_reg == INSN_PSEUDO_MAP_VALUE && insn->imm == FAKE_FD && (uint32_t)insn[1].imm < machine.map_size_max);
	}
}

/* Every other program is refused, some with a log that the first buffer is too small for. */
static long fuzz_load(const struct attr_prog_load *attr)
{
	check_loaded(attr);
	if (attr->log_size)
		memset((void *)(uintptr_t)attr->log_buf, '\n', 40);
	errno = attr->log_size == LOG_FIRST && attr->insn_cnt % 16 == 0 ? ENOSPC : EACCES;
	return attr->insn_cnt % 2 ? FAKE_FD : -1;
}

static long fuzz_bpf(int cmd, void *attr)
{
	errno = EINVAL;
	switch (cmd) {
	case BPF_MAP_CREATE:
		machine.map_size = ((struct attr_map_create *)attr)->value_size;
		machine.map_size_max = machine.map_size > machine.map_size_max ? machine.map_size : machine.map_size_max;
		return FAKE_FD;
	case BPF_MAP_UPDATE_ELEM:
		touch((const void *)(uintptr_t)((struct attr_map_elem *)attr)->value, machine.map_size);
		return 0;
	case BPF_MAP_FREEZE:
		return 0;
	case BPF_PROG_LOAD:
		return fuzz_load(attr);
	}
	return -1;
}

static long fuzz_syscall(long number, ...)
{
	long result = -1;
	va_list args;

	va_start(args, number);
	errno = ENOSYS;
	if (number == SYS_bpf) {
		int cmd = va_arg(args, int);

		result = fuzz_bpf(cmd, va_arg(args, void *));
	} else if (number == SYS_sched_getaffinity) { /* four CPUs */
		size_t size = (va_arg(args, int), va_arg(args, size_t));

		*va_arg(args, unsigned char *) = 0x0f;
		result = size < 8 ? size : 8;
	}
	va_end(args);
	return result;
}

/* === The targets ===============================================================================================================
 * Each is given the input, which it may neither change nor read behind, and a text is the input with a NUL.
 */

static char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = 0;
	return text;
}

/* Linked code has only numbers of ours that there are. */
static void check_linked(const struct object *obj, const struct code *code)
{
	for (uint32_t at = 0; at < code->count; at++) {
		const struct bpf_insn *insn = &code->insns[at];
		bool found = false;

		for (unsigned i = 0; i < code->func_count && insn->code == OP_CALL && insn->src_reg == INSN_PSEUDO_CALL; i++)
			found |= code->funcs[i].at == at + 1 + (uint32_t)insn->imm;
		if (insn->code == OP_CALL && insn->src_reg == INSN_PSEUDO_CALL)
			MUST(found);
		else if (insn->code == OP_CALL && insn->src_reg)
			MUST(insn->src_reg == INSN_PSEUDO_KFUNC_CALL && (uint32_t)insn->imm < obj->elf.symbol_count);
		if (insn->code != OP_LD_IMM64)
			continue;
		MUST(++at < code->count);
		if (insn->src_reg)
			MUST(insn->src_reg == INSN_PSEUDO_MAP_VALUE && (uint32_t)insn->imm < obj->map_count &&
			     (uint32_t)insn[1].imm < obj->elf.sections[obj->maps[insn->imm].section].sh_size);
	}
}

/* Any object: opened, each of its programs linked, and the first few loaded. */
static void fuzz_object(const uint8_t *data, size_t size)
{
	struct load_as as = { .what = "row", .needs = "a kernel", .slot = size };
	long usec;
	struct object obj;
	static struct code code;
	unsigned loaded = 0;
	int fd;

	as.verified_usec = size % 4 ? NULL : &usec;
	machine.map_size_max = 0;
	if (!object_open(&obj, "object", (struct bytes){ data, size })) {
		object_set(&obj, "batch_iters", 7);
		for (unsigned i = 0; i < obj.elf.symbol_count && i < 64; i++) {
			Elf64_Sym sym = elf_symbol(&obj.elf, i);
			const char *name = elf_symbol_name(&obj.elf, &sym);

			if (!object_link(&obj, name, &code))
				check_linked(&obj, &code);
			mem_free(code.insns);
			if (object_has_prog(&obj, name) && loaded++ < 4)
				object_load(&obj, name, &as, &fd);
		}
		touch(object_shared(&obj, "hits", SLOTS * SLOT_SIZE), 0);
	}
	object_close(&obj);
}

/* The kernel's types, and a symbol of its own; the name looked for is the last of the file. */
static void fuzz_btf(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), name[64];
	size_t at = size ? size - 1 : 0;
	struct btf btf;
	uint32_t id;

	while (at && text[at - 1])
		at--;
	format_to(name, sizeof(name), "%s", text + at);
	if (!btf_open(&btf)) {
		btf_find(&btf, BTF_FUNC, "bpf_get_numa_node_id", &id);
		btf_find(&btf, BTF_TYPEDEF, name, &id);
		btf_find(&btf, 0, name, &id);
	}
	btf_close(&btf);
	if (*name)
		kernel_btf_id(size % 2 ? BTF_FUNC : BTF_TYPEDEF, name, "a kernel", &id); /* an answer is remembered, of 32 names */
	free(text);
}

/* Result files, read, compared, and shown: what is before a vertical tab, and behind it; the whole twice without one. */
static void fuzz_saved(const uint8_t *data, size_t size)
{
	static struct saved saved;
	const uint8_t *tab = memchr(data, '\v', size);
	size_t first = tab ? (size_t)(tab - data) : size;
	char *sides[2] = { text_of(data, first), tab ? text_of(tab + 1, size - first - 1) : text_of(data, size) };
	struct diff diff = { .fail_above = 1 };

	saved.v = NULL;
	saved.n = saved.room = saved.line_n = 0;
	memset(saved.sides, 0, sizeof(saved.sides));
	if (saved_read(&saved, "OLD", (struct bytes){ (uint8_t *)sides[0], first }, false) &&
	    saved_read(&saved, "NEW", (struct bytes){ (uint8_t *)sides[1], tab ? size - first - 1 : size }, true)) {
		diff_remarks(&saved);
		diff_tables(&diff, &saved);
	}
	mem_free(saved.v);
	free(sides[0]);
	free(sides[1]);
}

/* A list of symbols, with samples near those of its first lines. */
static void fuzz_kallsyms(const uint8_t *data, size_t size)
{
	struct profile profile = { .event = "cycles" };
	char *text = text_of(data, size), *line = text;

	profile.spots = malloc(32 * sizeof(*profile.spots));
	for (; profile.n < 32 && *line; line += strcspn(line, "\n"), line += *line == '\n') {
		unsigned i = profile.n;

		profile.spots[profile.n++] = (struct spot){ .ip = strtoull(line, NULL, 16) + i % 3, .count = 1, .is_user = i % 7 == 6, .symbol = "" };
	}
	profile_merge(&profile);
	if (profile_name(&profile) && profile.samples) {
		profile_fold(&profile);
		print_profile("row", &profile);
	}
	blame_missing_symbol("kprobe", -ENOENT, "bpf_get_numa_node_id", "a kernel");
	bytes_free(&profile.kallsyms);
	free(profile.spots);
	free(text);
}

/* A command line, process 1's or any: the words of a text. */
static void fuzz_words(const uint8_t *data, size_t size)
{
	static const struct settings start = { .producer_list = { 1, { 1 } }, .batch_list = { 1, { 100 } }, .precision = -1, .fail_above = -1 };
	static struct settings set;
	static struct names names;
	static struct choice choice;
	static struct side side;
	static struct named named;
	const char *wrong;
	char *text = text_of(data, size), *own = text_of(data, size), *argv[64];
	int argc = split_words(text, true, 0, argv, COUNT_OF(argv));

	if (!argc)
		argc = split_words(own, false, 0, argv, COUNT_OF(argv));
	set = start;
	set.as_bench = argc && !strcmp(argv[0], "bench");
	argc -= set.as_bench;
	names.n = 0;
	names.command = CMD_RUN;
	side.choice.n = choice.n = 0;
	if (parse_words(argc, argv + set.as_bench, &set, &names) == GO_ON) {
		if (names.command == CMD_COMPARE && names.n)
			parse_side(&side, names.v[0], &set);
		else
			choose_all(&set, &names, &choice);
		if (names.command == CMD_COST && names.n)
			named_find(&named, names.v[0], NULL, &wrong);
	}
	verbose = false;
	free(own);
	free(text);
}

/* Numbers, lists, patterns, formats. */
static void fuzz_numbers(const uint8_t *data, size_t size)
{
	static struct cpu_list cpus;
	struct number_list list;
	char *text = text_of(data, size), out[64];
	uint64_t count;
	double value;

	if (!parse_count(text, 1, UINT64_MAX, &count))
		MUST(count && strspn(text, "0123456789") == strlen(text));
	if (!parse_counts(text, 1, 1000, &list))
		MUST(list.n && list.v[list.n - 1] - 1 < 1000);
	if (!parse_decimal(text, 0, 1e6, &value))
		MUST(value >= 0 && value <= 1e6);
	if (!parse_cpus(text, &cpus))
		MUST(cpus.n && cpus.cpu[cpus.n - 1] < CPUS_MAX);
	number_behind(text, "a");
	matches(text, "kretprobe-multi");
	matches("k*-?*i", text);
	canonical_name(text, out, 16);
	if (size % 16 == 0)
		nearest_names(text);
	if (parse_value(text, &value))
		MUST(fabs(value) < 1e15);
	if (size >= sizeof(value)) {
		memcpy(&value, data, sizeof(value));
		format_to(out, sizeof(out), "%.*f %8.3f %g", data[0] % 19, value, value, value);
		decimals_for(value);
	}
	free(text);
}

static void fuzz_gunzip(const uint8_t *data, size_t size)
{
	static uint8_t out[4096];

	touch(out, gunzip((struct bytes){ data, size }, out, sizeof(out)) % 64);
}

/* A program or library of somebody else's, and what the kernel says of itself, with a target looked for in it. */
static void fuzz_binary(const uint8_t *data, size_t size)
{
	static const char *const words[] = {
		"uprobe:/f:main", "uprobe:/f:main@V1", "uprobe:/f:main@@V2+1", "uretprobe:/f:0x1000", "usdt:/f:bpftrig:usdt_nop", "kprobe:main+4",
		"uprobe:/f:main+0x10", "fentry:main", "rawtp:main", "tp:sched:main", "kprobe-multi:*main?", "uprobe:/f:176",
	};
	static struct named named;
	const char *wrong;

	(void)data;
	if (!named_find(&named, words[size % COUNT_OF(words)], NULL, &wrong)) {
		for (uint32_t i = 0; i < named.place.site.n; i++)
			MUST(named.place.site.off[i] < size && named.place.site.ref_ctr[i] < size);
		touch(named.like, strlen(named.like));
		is_hot(&named);
	}
}

/* A program's own file, and the notes in it that describe USDT probes. */
static void fuzz_notes(const uint8_t *data, size_t size)
{
	static struct site site = { .path = "FILE", .n = 1 };

	site.off[0] = size;
	usdt_address((struct bytes){ data, size }, "usdt_nop");
	check_usdt(&site, "usdt_nop");
}

/* What /proc, /sys and tracefs say of the machine, and the verifier of a program: by its length, an input is read as one of them. */
static void fuzz_facts(const uint8_t *data, size_t size)
{
	const struct fact *fact = &facts[size / 4 % COUNT_OF(facts)];
	char *text = text_of(data, size), value[FACT_MAX] = "";
	struct bytes list = { 0 };
	const char **names = NULL;
	uint32_t n;

	switch (size % 4) {
	case 0:
		fact->read(value, sizeof(value));
		if (size % 64 == 0)
			say_machine();
		break;
	case 1:
		fact->read(value, sizeof(value));
		find_pmu("kprobe", "a kernel", &n);
		break;
	case 2:
		list_traceable(size % 8 == 2 ? "*" : "s*", size % 16 < 8, "bpf_get_numa_node_id", &list, &names, &n);
		mem_free(names);
		bytes_free(&list);
		break;
	case 3:
		blame(STEP_LOAD, size % 8 == 3 ? -EPERM : -EINVAL, "BPF_PROG_LOAD", "a kernel", text);
		show_log(text, "row");
		number_behind(text, "verification time ");
	}
	free(text);
}

/* What the kernel writes while it samples, and the code that it made of a program. */
static void fuzz_records(const uint8_t *data, size_t size)
{
	struct perf_event_mmap_page *page;
	struct ring ring;
	struct profile profile = { .spots = malloc(size / 16 * sizeof(*profile.spots) + 1) };
	bool known;

	arch_has_private_stack(data, size, &known);
	if (!ring_memory)
		ring_memory = heap_piece(sizeof(*ring_memory));
	page = (struct perf_event_mmap_page *)ring_memory;
	ring.page = page;
	page->data_head = size < RING_SIZE ? size : RING_SIZE;
	memcpy(ring_memory->records, data, page->data_head);
	profile_read(&profile, &ring);
	memset(ring_memory->records, 0, page->data_head);
	free(profile.spots);
}

static const struct { const char *name; void (*run)(const uint8_t *data, size_t size); } targets[] = {
	{ "object", fuzz_object },   { "btf", fuzz_btf },	  { "binary", fuzz_binary }, { "saved", fuzz_saved }, { "kallsyms", fuzz_kallsyms },
	{ "words", fuzz_words },     { "numbers", fuzz_numbers }, { "gunzip", fuzz_gunzip }, { "notes", fuzz_notes },
	{ "facts", fuzz_facts },     { "records", fuzz_records },
};

/* === Running ================================================================================================================== */

static void (*target)(const uint8_t *data, size_t size);

/* The target of the program's name, or no program. */
static void find_target(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < COUNT_OF(targets); i++)
		if (!strcmp(targets[i].name, name))
			target = targets[i].run;
	if (target)
		return;
	fprintf(stderr, "%s: the program's name is none of a target:", name);
	for (size_t i = 0; i < COUNT_OF(targets); i++)
		fprintf(stderr, " %s", targets[i].name);
	fprintf(stderr, "\n");
	exit(2);
}

static void run_target(const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size);

	if (size)
		memcpy(exact, data, size);
	machine.at = exact;
	machine.len = size;
	machine.refused = size ? data[size - 1] : 0;
	machine.pieces = 0;
	target(exact, size);
	MUST(!machine.pieces);
	free(exact);
}

#ifdef LIBFUZZER

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	find_target((*argv)[0]);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_target(data, size);
	return 0;
}

#else

/* Each byte in turn becomes others, or the last. */
static unsigned long run_damaged(uint8_t *data, size_t size)
{
	static const uint8_t flips[] = { 0x01, 0x04, 0x80, 0xff };

	for (size_t i = 0; i < size; i++) {
		for (size_t j = 0; j < COUNT_OF(flips); j++) {
			data[i] ^= flips[j];
			run_target(data, size);
			data[i] ^= flips[j];
		}
		run_target(data, i);
	}
	return size * (COUNT_OF(flips) + 1);
}

int main(int argc, char **argv)
{
	static uint8_t data[1 << 20];
	unsigned long runs = 0;
	bool damaged = false;

	find_target(argv[0]);
	for (int i = 1; i < argc; i++) {
		FILE *file;
		size_t size;

		if (!strcmp(argv[i], "-d")) {
			damaged = true;
			continue;
		}
		file = fopen(argv[i], "rb");
		size = file ? fread(data, 1, sizeof(data), file) : 0;
		if (!file || ferror(file)) {
			perror(argv[i]);
			return 2;
		}
		fclose(file);
		run_target(data, size);
		runs += 1 + (damaged ? run_damaged(data, size) : 0);
	}
	printf("%s: %lu runs\n", argv[0], runs);
	return 0;
}

#endif
