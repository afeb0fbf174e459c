// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of what in bpftrig is pure: no root, no BPF in the kernel, nothing of this machine.
 *
 * bpftrig.c is one file of static functions, so this one includes it and calls them. It is built with the address sanitizer:
 * the bytes handed to the parsers are allocated to their exact length, and a read of one byte too many ends the run.
 *
 *	cc -g -O1 -Wall -Wextra -Wno-unused-function -fsanitize=address,undefined -fno-sanitize-recover=all -pthread -I. \
 *		tests/unit.c -o unit -lm
 *
 * One line a test, "ok - NAME" or "not ok - NAME: what was wanted, what came"; the exit status is 1 if any failed. A name
 * is a group, a colon and a sentence without another colon.
 *
 *	Reporting		one line a test
 *	Images			bytes of exact length, and a reader of ELF that trusts them
 *	Object builder		ELF objects made in memory
 *	Corrupt objects		one thing wrong in a good object: tables
 *	Linking			good objects, and where their calls and addresses lead
 *	BTF			made in memory, good and corrupt
 *	Text			formats, against libc's
 *	Numbers			arguments, files, distances
 *	Names			globs, choices of rows, the table itself
 *	Options			argument vectors
 *	Saved results		good and foreign files
 *	Statistics		against numbers computed elsewhere
 *	Configuration		gzip's output unpacked
 *	Profile			symbols, the ring of samples
 *	Errors			reasons, hints, hits
 *	Running			one batch with producers of our own
 *	Other programs' files	libraries made in memory, and this file
 *	Targets by name		words of the command line, the kernel's symbols
 *	cost			what is printed
 */
#define _GNU_SOURCE
#include "heap.h"
#define main bpftrig_main
#include "../bpftrig.c"
#undef main
#include <stdio.h>
#include <sys/wait.h>

/* === Reporting ============================================================================================================ */

static unsigned failures;

__attribute__((format(printf, 3, 4))) static void check(bool ok, const char *name, const char *format, ...)
{
	va_list args;

	printf("%s - %s", ok ? "ok" : "not ok", name);
	if (!ok) {
		failures++;
		printf(": ");
		va_start(args, format);
		vprintf(format, args);
		va_end(args);
	}
	putchar('\n');
}

/* Whether a text has all of the parts that | separates. */
static bool says_all(const char *text, const char *parts)
{
	char part[256];

	for (;;) {
		size_t len = strcspn(parts, "|");

		snprintf(part, sizeof(part), "%.*s", (int)len, parts);
		if (!strstr(text, part))
			return false;
		if (!parts[len])
			return true;
		parts += len + 1;
	}
}

static const char *outcome_name(enum outcome o)
{
	return o == DONE ? "done" : o == SKIPPED ? "skipped" : "failed";
}

/* The outcome, and where it is not DONE a reason that has all parts of `says`. */
static void check_outcome(const char *name, enum outcome wanted, const char *says, enum outcome came)
{
	bool ok = came == wanted && (came == DONE || says_all(reason, says));

	check(ok, name, "wanted %s '%s', came %s '%s'", outcome_name(wanted), says ? says : "", outcome_name(came),
	      came ? reason : "");
}

static void check_number(const char *name, uint64_t wanted, uint64_t came)
{
	check(came == wanted, name, "wanted %" PRIu64 ", came %" PRIu64, wanted, came);
}

/* A mistake in this file. */
__attribute__((format(printf, 1, 2))) static _Noreturn void die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

/* === Images ==================================================================================================================
 * Bytes that can be changed, in an allocation that ends where they end.
 */

struct image {
	uint8_t *at;
	size_t len;
};

/* Returns the offset of what was appended. */
static size_t image_append(struct image *image, const void *bytes, size_t len)
{
	size_t off = image->len;

	if (!len)
		return off;
	image->at = realloc(image->at, off + len);
	if (!image->at)
		die("out of memory");
	if (bytes)
		memcpy(image->at + off, bytes, len);
	else
		memset(image->at + off, 0, len);
	image->len += len;
	return off;
}

static size_t image_append_string(struct image *image, const char *text)
{
	return image_append(image, text, strlen(text) + 1);
}

static struct image image_copy(const void *bytes, size_t len)
{
	struct image copy = { malloc(len), len };

	if (!copy.at)
		die("out of memory");
	memcpy(copy.at, bytes, len);
	return copy;
}

static void image_free(struct image *image)
{
	free(image->at);
	*image = (struct image){ 0 };
}

static struct bytes image_bytes(struct image image)
{
	return (struct bytes){ image.at, image.len };
}

static const bool little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

/* A field of 1, 2, 4 or 8 bytes in this machine's order. */
static void poke(uint8_t *at, size_t width, uint64_t value)
{
	memcpy(at, (const uint8_t *)&value + (little_endian ? 0 : sizeof(value) - width), width);
}

/* --- a reader of good objects, none of the code under test ---------------------------------------------------------------- */

static Elf64_Ehdr *elf_header(struct image image)
{
	return (Elf64_Ehdr *)image.at;
}

static Elf64_Shdr *section_at(struct image image, unsigned number)
{
	return (Elf64_Shdr *)(image.at + elf_header(image)->e_shoff) + number;
}

static unsigned section_number(struct image image, const char *name)
{
	const char *names = (const char *)image.at + section_at(image, elf_header(image)->e_shstrndx)->sh_offset;

	for (unsigned i = 1; i < elf_header(image)->e_shnum; i++)
		if (!strcmp(names + section_at(image, i)->sh_name, name))
			return i;
	die("no section %s", name);
}

static Elf64_Shdr *section_named(struct image image, const char *name)
{
	return section_at(image, section_number(image, name));
}

static Elf64_Sym *symbol_at(struct image image, unsigned number)
{
	return (Elf64_Sym *)(image.at + section_named(image, ".symtab")->sh_offset) + number;
}

static unsigned symbol_count(struct image image)
{
	return section_named(image, ".symtab")->sh_size / sizeof(Elf64_Sym);
}

static const char *symbol_name(struct image image, unsigned number)
{
	const Elf64_Shdr *strings = section_at(image, section_named(image, ".symtab")->sh_link);

	return (const char *)image.at + strings->sh_offset + symbol_at(image, number)->st_name;
}

static unsigned symbol_number(struct image image, const char *name)
{
	for (unsigned i = 1; i < symbol_count(image); i++)
		if (!strcmp(symbol_name(image, i), name))
			return i;
	die("no symbol %s", name);
}

static Elf64_Sym *symbol_named(struct image image, const char *name)
{
	return symbol_at(image, symbol_number(image, name));
}

static struct bpf_insn *function_insn(struct image image, const char *function, unsigned index)
{
	const Elf64_Sym *sym = symbol_named(image, function);

	return (struct bpf_insn *)(image.at + section_at(image, sym->st_shndx)->sh_offset + sym->st_value) + index;
}

/* The nth relocation inside a function. */
static Elf64_Rel *function_relocation(struct image image, const char *function, unsigned index)
{
	const Elf64_Sym *sym = symbol_named(image, function);

	for (unsigned i = 1; i < elf_header(image)->e_shnum; i++) {
		const Elf64_Shdr *sh = section_at(image, i);
		Elf64_Rel *rel = (Elf64_Rel *)(image.at + sh->sh_offset);

		if (sh->sh_type != SHT_REL || sh->sh_info != sym->st_shndx)
			continue;
		for (size_t n = 0; n < sh->sh_size / sizeof(*rel); n++)
			if (rel[n].r_offset - sym->st_value < sym->st_size && !index--)
				return &rel[n];
	}
	die("no such relocation in %s", function);
}

/* === Object builder ==========================================================================================================
 * Sections, symbols and relocations go in, an ELF object comes out. The names of sections and those of symbols are in two
 * string tables, as the headers may have it; .bss is placed far outside the file, where nobody has any business.
 */

#define BUILD_SECTIONS 40
#define BUILD_SYMBOLS 320
#define BUILD_RELOCATIONS 32

struct builder {
	struct { const char *name; const void *bytes; Elf64_Shdr header; } sections[BUILD_SECTIONS];
	unsigned section_count;
	Elf64_Sym symbols[BUILD_SYMBOLS];
	unsigned symbol_count;
	struct { unsigned section; uint32_t type; Elf64_Rel rel; } relocations[BUILD_RELOCATIONS];
	unsigned relocation_count;
	struct image symbol_names;
};

static void build_start(struct builder *b)
{
	memset(b, 0, sizeof(*b));
	b->section_count = b->symbol_count = 1; /* both lists start with an empty one */
	image_append_string(&b->symbol_names, "");
}

/* `bytes` must stay until build_end(). */
static unsigned build_section(struct builder *b, const char *name, uint32_t type, uint64_t flags, const void *bytes,
			      uint64_t size)
{
	if (b->section_count == BUILD_SECTIONS)
		die("too many sections");
	b->sections[b->section_count].name = name;
	b->sections[b->section_count].bytes = bytes;
	b->sections[b->section_count].header = (Elf64_Shdr){ .sh_type = type, .sh_flags = flags, .sh_size = size };
	return b->section_count++;
}

#define CODE SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR
#define DATA SHT_PROGBITS, SHF_ALLOC | SHF_WRITE
#define BSS SHT_NOBITS, SHF_ALLOC | SHF_WRITE

static unsigned build_symbol(struct builder *b, const char *name, unsigned type, unsigned section, uint64_t value,
			     uint64_t size)
{
	if (b->symbol_count == BUILD_SYMBOLS)
		die("too many symbols");
	b->symbols[b->symbol_count] = (Elf64_Sym){
		.st_name = *name ? image_append_string(&b->symbol_names, name) : 0,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = section,
		.st_value = value,
		.st_size = size,
	};
	return b->symbol_count++;
}

static void build_relocation_of(struct builder *b, uint32_t table, unsigned section, uint64_t off, unsigned type,
				unsigned symbol)
{
	if (b->relocation_count == BUILD_RELOCATIONS)
		die("too many relocations");
	b->relocations[b->relocation_count].section = section;
	b->relocations[b->relocation_count].type = table;
	b->relocations[b->relocation_count++].rel = (Elf64_Rel){ off, ELF64_R_INFO((uint64_t)symbol, type) };
}

static void build_relocation(struct builder *b, unsigned section, uint64_t off, unsigned type, unsigned symbol)
{
	build_relocation_of(b, SHT_REL, section, off, type, symbol);
}

/* Appends a section's bytes and fills in where they are. */
static void build_place(struct image *out, Elf64_Shdr *header, const void *bytes)
{
	image_append(out, NULL, -out->len % 8);
	header->sh_offset = header->sh_type == SHT_NOBITS ? 1ULL << 40 : out->len;
	if (header->sh_type != SHT_NOBITS)
		image_append(out, bytes, header->sh_size);
}

/* The table of the relocations of one kind for one section, as a section of its own. */
static void build_relocation_table(struct builder *b, unsigned section, uint32_t type, struct image *table, char *name,
				   size_t size)
{
	static const Elf64_Sxword addend;
	unsigned number;

	for (unsigned i = 0; i < b->relocation_count; i++)
		if (b->relocations[i].section == section && b->relocations[i].type == type) {
			image_append(table, &b->relocations[i].rel, sizeof(Elf64_Rel));
			if (type == SHT_RELA)
				image_append(table, &addend, sizeof(addend));
		}
	if (!table->len)
		return;
	snprintf(name, size, "%s%s", type == SHT_RELA ? ".rela" : ".rel", b->sections[section].name);
	number = build_section(b, name, type, SHF_INFO_LINK, table->at, table->len);
	b->sections[number].header.sh_info = section;
	b->sections[number].header.sh_entsize = type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
}

static void build_section_table(struct builder *b, struct image *out)
{
	Elf64_Ehdr *eh = elf_header(*out);

	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = little_endian ? ELFDATA2LSB : ELFDATA2MSB;
	eh->e_ident[EI_VERSION] = EV_CURRENT;
	eh->e_type = ET_REL;
	eh->e_machine = EM_BPF;
	eh->e_version = EV_CURRENT;
	eh->e_ehsize = sizeof(*eh);
	eh->e_shentsize = sizeof(Elf64_Shdr);
	eh->e_shnum = b->section_count;
	eh->e_shstrndx = b->section_count - 1;
	eh->e_shoff = out->len;
	for (unsigned i = 0; i < b->section_count; i++)
		image_append(out, &b->sections[i].header, sizeof(Elf64_Shdr));
}

static struct image build_end(struct builder *b)
{
	static char rel_names[2 * BUILD_SECTIONS][32];
	struct image tables[2 * BUILD_SECTIONS] = { 0 }, names = { 0 }, out = { 0 };
	unsigned own = b->section_count, symtab, strtab;

	for (unsigned i = 1; i < own; i++) {
		build_relocation_table(b, i, SHT_REL, &tables[2 * i], rel_names[2 * i], sizeof(rel_names[0]));
		build_relocation_table(b, i, SHT_RELA, &tables[2 * i + 1], rel_names[2 * i + 1], sizeof(rel_names[0]));
	}
	symtab = build_section(b, ".symtab", SHT_SYMTAB, 0, b->symbols, b->symbol_count * sizeof(Elf64_Sym));
	strtab = build_section(b, ".strtab", SHT_STRTAB, 0, b->symbol_names.at, b->symbol_names.len);
	b->sections[symtab].header.sh_entsize = sizeof(Elf64_Sym);
	b->sections[symtab].header.sh_link = strtab;
	build_section(b, ".shstrtab", SHT_STRTAB, 0, NULL, 0);
	image_append_string(&names, "");
	for (unsigned i = 1; i < b->section_count; i++)
		b->sections[i].header.sh_name = image_append_string(&names, b->sections[i].name);
	b->sections[b->section_count - 1].header.sh_size = names.len;
	b->sections[b->section_count - 1].bytes = names.at;

	image_append(&out, NULL, sizeof(Elf64_Ehdr));
	for (unsigned i = 1; i < b->section_count; i++)
		build_place(&out, &b->sections[i].header, b->sections[i].bytes);
	image_append(&out, NULL, -out.len % 8);
	build_section_table(b, &out);
	for (unsigned i = 0; i < COUNT_OF(tables); i++)
		image_free(&tables[i]);
	image_free(&names);
	image_free(&b->symbol_names);
	return out;
}

/* Instructions. */
#define INSN(op, dst, src, immediate) { .code = (op), .dst_reg = (dst), .src_reg = (src), .imm = (immediate) }
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0)
#define MOV(value) INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, value)
#undef CALL
#define CALL(src, imm) INSN(BPF_JMP | BPF_CALL, 0, src, imm)
#define LD64(src, imm) INSN(BPF_LD | BPF_IMM | BPF_DW, 1, src, imm), INSN(0, 0, 0, 0)
#define PC_CALL(imm) CALL(1, imm)

/* The byte of an instruction that holds both registers. */
#define REGS(dst, src) (little_endian ? (src) << 4 | (dst) : (dst) << 4 | (src))

/*
 * An object with everything that linking knows. The offsets are those of the instructions below.
 *
 *	entry	prog	0x00 loads first, 0x10 loads second, 0x20 calls sub, 0x28 calls sub by .text + imm, 0x30 calls a kfunc,
 *			0x38 calls local
 *		local	0x48, in the same section; called without a relocation
 *		sums	0x58 second by .data + 8, 0x68 second - 4 by second + imm, 0x78 zeros by .bss + 8
 *		plain	0x90 nothing to relocate
 *	.text	leaf	0x00
 *		sub	0x10 calls leaf without a relocation
 */
enum { SYM_NULL, SYM_PROG, SYM_LOCAL, SYM_SUMS, SYM_PLAIN, SYM_TEXT, SYM_LEAF, SYM_SUB, SYM_DATA, SYM_FIRST, SYM_SECOND,
       SYM_BSS, SYM_ZEROS, SYM_KFUNC, SYM_MAP, SYM_OTHER, SYM_BATCH };

static struct image build_sample(void)
{
	static const struct bpf_insn entry_code[] = {
		LD64(0, 0), LD64(0, 0), CALL(1, -1), CALL(0, 1), CALL(1, -1), PC_CALL(1), EXIT, /* prog */
		MOV(7), EXIT, /* local */
		LD64(0, 8), LD64(0, -4), LD64(0, 8), EXIT, /* sums */
		LD64(0, 42), CALL(0, 8), EXIT, /* plain */
	};
	static const struct bpf_insn text_code[] = { MOV(5), EXIT, PC_CALL(-3), EXIT };
	static const uint64_t data[] = { 0x1111111111111111, 0x2222222222222222 };
	static const uint32_t batch = 100;
	struct builder b;
	unsigned text, entry, data_section, bss, rodata, maps, other;

	build_start(&b);
	text = build_section(&b, ".text", CODE, text_code, sizeof(text_code));
	entry = build_section(&b, "entry", CODE, entry_code, sizeof(entry_code));
	build_section(&b, "license", DATA, "GPL", 4);
	data_section = build_section(&b, ".data", DATA, data, sizeof(data));
	bss = build_section(&b, ".bss", BSS, NULL, 64);
	rodata = build_section(&b, ".rodata", SHT_PROGBITS, SHF_ALLOC, &batch, sizeof(batch));
	maps = build_section(&b, ".maps", DATA, data, sizeof(data));
	other = build_section(&b, "other", DATA, data, sizeof(data));

	build_symbol(&b, "prog", STT_FUNC, entry, 0x00, 0x48);
	build_symbol(&b, "local", STT_FUNC, entry, 0x48, 0x10);
	build_symbol(&b, "sums", STT_FUNC, entry, 0x58, 0x38);
	build_symbol(&b, "plain", STT_FUNC, entry, 0x90, 0x20);
	build_symbol(&b, "", STT_SECTION, text, 0, 0);
	build_symbol(&b, "leaf", STT_FUNC, text, 0x00, 0x10);
	build_symbol(&b, "sub", STT_FUNC, text, 0x10, 0x10);
	build_symbol(&b, "", STT_SECTION, data_section, 0, 0);
	build_symbol(&b, "first", STT_OBJECT, data_section, 0, 8);
	build_symbol(&b, "second", STT_OBJECT, data_section, 8, 8);
	build_symbol(&b, "", STT_SECTION, bss, 0, 0);
	build_symbol(&b, "zeros", STT_OBJECT, bss, 8, 8);
	build_symbol(&b, "kfunc", STT_NOTYPE, SHN_UNDEF, 0, 0);
	build_symbol(&b, "map", STT_OBJECT, maps, 0, 16);
	build_symbol(&b, "elsewhere", STT_OBJECT, other, 0, 16);
	if (build_symbol(&b, "batch_iters", STT_OBJECT, rodata, 0, 4) != SYM_BATCH)
		die("the sample's symbols are not numbered as they are listed");

	build_relocation(&b, entry, 0x00, R_BPF_64_64, SYM_FIRST);
	build_relocation(&b, entry, 0x10, R_BPF_64_64, SYM_SECOND);
	build_relocation(&b, entry, 0x20, R_BPF_64_32, SYM_SUB);
	build_relocation(&b, entry, 0x28, R_BPF_64_32, SYM_TEXT);
	build_relocation(&b, entry, 0x30, R_BPF_64_32, SYM_KFUNC);
	build_relocation(&b, entry, 0x58, R_BPF_64_64, SYM_DATA);
	build_relocation(&b, entry, 0x68, R_BPF_64_64, SYM_SECOND);
	build_relocation(&b, entry, 0x78, R_BPF_64_64, SYM_BSS);
	return build_end(&b);
}

static struct image copy_embedded(void)
{
	return image_copy(embedded_object, sizeof(embedded_object));
}

static enum outcome open_image(struct object *obj, struct image image)
{
	reason[0] = 0;
	return object_open(obj, "test.o", image_bytes(image));
}

/* Opens and links; `code` is valid until link_end(). */
static enum outcome link_image(struct object *obj, struct image image, const char *prog, struct code *code)
{
	enum outcome o = open_image(obj, image);

	code->insns = NULL;
	return o ? o : object_link(obj, prog, code);
}

static void link_end(struct object *obj, struct code *code)
{
	mem_free(code->insns);
	object_close(obj);
}

/* === Corrupt objects =========================================================================================================
 * A row is one field of a good object, the value put there, and what the refusal must say (parts separated by |). The field
 * is one of the header, of a section, of a symbol, of the index-th relocation or instruction of a function, or it is the last
 * byte of a section.
 */

enum poke_place { HEADER, SECTION, SYMBOL, RELOCATION, INSTRUCTION, LAST_BYTE };

struct corruption {
	const char *name;
	enum poke_place place;
	const char *of;
	unsigned index;
	size_t field, width;
	uint64_t value;
	const char *says;
};

#define FIELD(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define EH(member) HEADER, NULL, 0, FIELD(Elf64_Ehdr, member)
#define EH_IDENT(index) HEADER, NULL, 0, index, 1
#define SH(section, member) SECTION, section, 0, FIELD(Elf64_Shdr, member)
#define SYM(symbol, member) SYMBOL, symbol, 0, FIELD(Elf64_Sym, member)
#define REL(function, index, member) RELOCATION, function, index, FIELD(Elf64_Rel, member)
#define REL_TYPE(function, index) RELOCATION, function, index, offsetof(Elf64_Rel, r_info) + (little_endian ? 0 : 4), 4
#define REL_SYM(function, index) RELOCATION, function, index, offsetof(Elf64_Rel, r_info) + (little_endian ? 4 : 0), 4
#define INSN_AT(function, index, member) INSTRUCTION, function, index, FIELD(struct bpf_insn, member)
#define INSN_REGS(function, index) INSTRUCTION, function, index, 1, 1
#define END_OF(section) LAST_BYTE, section, 0, 0, 1

static const uint64_t minus_8 = -8ULL;

static uint8_t *find_place(struct image image, const struct corruption *c)
{
	const Elf64_Shdr *sh;

	switch (c->place) {
	case HEADER:
		return image.at;
	case SECTION:
		return (uint8_t *)section_named(image, c->of);
	case SYMBOL:
		return (uint8_t *)symbol_named(image, c->of);
	case RELOCATION:
		return (uint8_t *)function_relocation(image, c->of, c->index);
	case INSTRUCTION:
		return (uint8_t *)function_insn(image, c->of, c->index);
	case LAST_BYTE:
		sh = section_named(image, c->of);
		return image.at + sh->sh_offset + sh->sh_size - 1;
	}
	die("no such place");
}

static void corrupt(struct image image, const struct corruption *c)
{
	poke(find_place(image, c) + c->field, c->width, c->value);
}

/* Any BPF object: tried on the embedded one. All of these must be seen when the object is opened. */
static void test_corrupt_embedded(void)
{
	const struct image whole = { (uint8_t *)embedded_object, sizeof(embedded_object) };
	const uint64_t len = whole.len, table = elf_header(whole)->e_shoff;
	const uint64_t order = little_endian ? ELFDATA2MSB : ELFDATA2LSB;
	const unsigned code = section_number(whole, "entry"), symbols = symbol_count(whole);
	const struct corruption rows[] = {
		{ "elf: a wrong magic is no ELF file", EH_IDENT(0), 0x7e, "not an ELF file" },
		{ "elf: a wrong last letter of the magic is no ELF file", EH_IDENT(3), 'f', "not an ELF file" },
		{ "elf: a 32-bit file is refused", EH_IDENT(EI_CLASS), ELFCLASS32, "not a 64-bit ELF file" },
		{ "elf: the other byte order is named as such", EH_IDENT(EI_DATA), order, "byte order" },
		{ "elf: no byte order at all is refused", EH_IDENT(EI_DATA), 0, "byte order" },
		{ "elf: another machine is named by its number", EH(e_machine), EM_X86_64, "for machine 62" },
		{ "elf: an executable is no object", EH(e_type), ET_EXEC, "not a relocatable object" },
		{ "elf: a shared library is no object", EH(e_type), ET_DYN, "not a relocatable object" },
		{ "elf: section headers of 0 bytes are refused", EH(e_shentsize), 0, "section headers of 0 bytes" },
		{ "elf: section headers of 40 bytes are refused", EH(e_shentsize), 40, "section headers of 40 bytes" },
		{ "elf: section headers of 65 bytes are refused", EH(e_shentsize), 65, "section headers of 65 bytes" },
		{ "elf: no sections at all is refused", EH(e_shnum), 0, "section table" },
		{ "elf: more sections than the file holds are refused", EH(e_shnum), 0xfeff,
		  "truncated|section table (65279" },
		{ "elf: a section table behind the end is refused", EH(e_shoff), len, "section table" },
		{ "elf: a section table one byte too far is refused", EH(e_shoff), table + 1, "section table" },
		{ "elf: a section table at 2^64 - 1 is refused", EH(e_shoff), ~0ULL, "section table" },
		{ "elf: a section table that wraps to 0 is refused", EH(e_shoff), minus_8, "section table" },
		{ "elf: section names in section 65535 are refused", EH(e_shstrndx), 0xffff, "section 65535" },
		{ "elf: section names in the empty section 0 are refused", EH(e_shstrndx), 0, "section 0|no string table" },
		{ "elf: section names in a code section are refused", EH(e_shstrndx), code, "no string table" },
		{ "elf: a section outside the file is refused", SH("entry", sh_offset), len, "reaches outside the file" },
		{ "elf: a section that reaches one byte over the end is refused", SH("license", sh_offset), len - 3,
		  "reaches outside the file" },
		{ "elf: a section at 2^64 - 8 is refused", SH("entry", sh_offset), minus_8, "reaches outside the file" },
		{ "elf: a section of 2^64 - 8 bytes is refused", SH("entry", sh_size), minus_8,
		  "reaches outside the file" },
		{ "elf: a symbol table outside the file is refused", SH(".symtab", sh_offset), len,
		  "reaches outside the file" },
		{ "elf: a section name outside the string table is refused", SH("entry", sh_name), 0xffffffff,
		  "name of section" },
		{ "elf: no symbol table is refused", SH(".symtab", sh_type), SHT_PROGBITS, "no symbol table" },
		{ "elf: a symbol table with entry size 0 is refused", SH(".symtab", sh_entsize), 0,
		  "symbol table .symtab|entries of 0 bytes" },
		{ "elf: a symbol table with entry size 16 is refused", SH(".symtab", sh_entsize), 16,
		  "symbol table .symtab|entries of 16" },
		{ "elf: a symbol table with half an entry is refused", SH(".symtab", sh_size), 36, "symbol table .symtab" },
		{ "elf: symbol names in no section are refused", SH(".symtab", sh_link), 0xffffffff,
		  ".symtab|no string table" },
		{ "elf: symbol names in section 0 are refused", SH(".symtab", sh_link), 0, ".symtab|no string table" },
		{ "elf: a symbol name outside the string table is refused", SYM("count", st_name), 0xffffffff,
		  "the name of symbol" },
		{ "elf: a symbol value near 2^64 is outside its section", SYM("count", st_value), minus_8,
		  "(count) is outside its section entry" },
		{ "elf: a symbol behind its section is outside it", SYM("count", st_value), 1 << 20,
		  "(count) is outside its section entry" },
		{ "elf: a symbol value + size over 2^64 is outside", SYM("drive_kfunc", st_size), minus_8,
		  "(drive_kfunc) is outside its section" },
		{ "elf: a symbol size past its section is outside", SYM("count", st_size), 1 << 20,
		  "(count) is outside its section entry" },
		{ "elf: a variable past .bss is outside", SYM("hits", st_size), 256 * 128 + 1,
		  "(hits) is outside its section .bss" },
		{ "elf: a symbol in a section that is not there is refused", SYM("count", st_shndx), 0x7000,
		  "(count) is in section 28672" },
		{ "elf: relocations with entry size 0 are refused", SH(".relentry", sh_entsize), 0,
		  ".relentry|entries of 0 bytes" },
		{ "elf: relocations with entry size 24 are refused", SH(".relentry", sh_entsize), 24,
		  ".relentry|entries of 24 bytes" },
		{ "elf: relocations with half an entry are refused", SH(".relentry", sh_size), 24, ".relentry|in 24" },
		{ "elf: relocations for a section that is not there are refused", SH(".relentry", sh_info), ~0u,
		  ".relentry|for section 4294967295" },
		{ "elf: relocations with addends are refused", SH(".relentry", sh_type), SHT_RELA, ".relentry|RELA" },
		{ "elf: a relocation behind its section is refused", REL("count", 0, r_offset), 1 << 20,
		  ".relentry|offset 0x100000" },
		{ "elf: a relocation near 2^64 is refused", REL("count", 0, r_offset), minus_8,
		  ".relentry|offset 0xfffffffffffffff8" },
		{ "elf: a misaligned relocation is refused", REL("count", 0, r_offset), 4, ".relentry|offset 0x4" },
		{ "elf: a relocation with a symbol that is not there is refused", REL_SYM("count", 0), 0xffffffff,
		  ".relentry|symbol 4294967295" },
		{ "elf: a relocation with the symbol behind the last is refused", REL_SYM("count", 0), symbols,
		  ".relentry|names symbol" },
		{ "elf: a license without its end is refused", END_OF("license"), '!', "license" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct image image = copy_embedded();
		struct object obj;

		corrupt(image, &rows[i]);
		check_outcome(rows[i].name, FAILED, rows[i].says, open_image(&obj, image));
		object_close(&obj);
		image_free(&image);
	}
}

/* What is seen when the sample is opened: here the size of each part is known. */
static void test_corrupt_sample(void)
{
	static const struct corruption rows[] = {
		{ "elf: section names without their end are refused", END_OF(".shstrtab"), 'x',
		  "name of section|outside the string table" },
		{ "elf: symbol names without their end are refused", END_OF(".strtab"), 'x',
		  "name of symbol|outside the string table" },
		{ "elf: a symbol that ends one byte behind its section is outside", SYM("second", st_size), 9,
		  "(second) is outside" },
		{ "elf: a symbol that starts one byte behind its section is outside", SYM("second", st_value), 17,
		  "(second) is outside" },
		{ "elf: a symbol in the section behind the last is refused", SYM("first", st_shndx), 13,
		  "(first) is in section 13 of 13" },
		{ "elf: a relocation at the end of its section is refused", REL("prog", 0, r_offset), 0xb0, "offset 0xb0" },
		{ "elf: relocations for the section behind the last are refused", SH(".relentry", sh_info), 13,
		  "for section 13 of 13" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct image image = build_sample();
		struct object obj;

		corrupt(image, &rows[i]);
		check_outcome(rows[i].name, FAILED, rows[i].says, open_image(&obj, image));
		object_close(&obj);
		image_free(&image);
	}
}

/* What is seen when a program is linked. The names of the programs are those of build_sample(). */
static void test_corrupt_link(void)
{
	const struct { const char *prog; struct corruption c; } rows[] = {
		{ "prog", { "link: an unknown relocation type is refused with number and place", REL_TYPE("prog", 1), 99,
			    "type 99|prog|offset 0x10|section entry" } },
		{ "prog", { "link: relocation type 0 is refused", REL_TYPE("prog", 0), 0,
			    "type 0|offset 0 |section entry" } },
		{ "prog", { "link: a relocation for calls on a load is refused", REL_TYPE("prog", 0), R_BPF_64_32,
			    "type 10|code 0x18" } },
		{ "prog", { "link: a relocation for loads on a call is refused", REL_TYPE("prog", 2), R_BPF_64_64,
			    "type 1 |code 0x85" } },
		{ "prog", { "link: a relocation on another instruction is refused", REL("prog", 0, r_offset), 0x40,
			    "type 1 |code 0x95" } },
		{ "prog", { "link: a relocation in the middle of a load is refused", REL("prog", 0, r_offset), 0x08,
			    "0x8" } },
		{ "prog", { "link: a second relocation of one instruction is refused", REL("prog", 1, r_offset), 0x00,
			    "prog" } },
		{ "prog", { "link: the address of a variable of the kernel is refused", REL_SYM("prog", 0), SYM_KFUNC,
			    "variable kfunc" } },
		{ "prog", { "link: the address of a function is refused", REL_SYM("prog", 0), SYM_SUB,
			    "address of a function" } },
		{ "prog", { "link: a call of a variable is refused", REL_SYM("prog", 2), SYM_FIRST,
			    "calls first|no function" } },
		{ "prog", { "link: a call of a kfunc without a name is refused", REL_SYM("prog", 2), 0, "calls , which is no function" } },
		{ "prog", { "link: a map definition is refused", REL_SYM("prog", 0), SYM_MAP,
			    "section .maps defines a map" } },
		{ "prog", { "link: a variable in another section is refused", REL_SYM("prog", 0), SYM_OTHER,
			    "section other is not data" } },
		{ "prog", { "link: a common symbol is refused", SYM("first", st_shndx), SHN_COMMON,
			    "symbol first|common" } },
		{ "prog", { "link: an absolute symbol is refused", SYM("first", st_shndx), SHN_ABS,
			    "symbol first|absolute" } },
		{ "prog", { "link: a call of a common symbol is refused", SYM("sub", st_shndx), SHN_COMMON,
			    "calls sub|no function" } },
		{ "prog", { "link: an address behind its section is refused", INSN_AT("prog", 0, imm), 16,
			    "outside section .data|offset 16" } },
		{ "prog", { "link: an address before its section is refused", INSN_AT("prog", 0, imm), (uint32_t)-1,
			    "outside section .data|-1" } },
		{ "prog", { "link: a function of 12 bytes is refused", SYM("sub", st_size), 12, "function sub|size 12" } },
		{ "prog", { "link: a function of no bytes is refused", SYM("sub", st_size), 0, "function sub|size 0" } },
		{ "prog", { "link: a function that starts inside an instruction is refused", SYM("sub", st_value), 12,
			    "function sub|offset 12" } },
		{ "prog", { "link: a program of 4 bytes is refused", SYM("prog", st_size), 4, "function prog|size 4" } },
		{ "prog", { "link: a program of no bytes is refused", SYM("prog", st_size), 0, "function prog|size 0" } },
		{ "prog", { "link: a program that starts inside an instruction is refused", SYM("prog", st_value), 4,
			    "function prog|offset 4" } },
		{ "prog", { "link: a load at the end of a function is refused", SYM("prog", st_size), 8,
			    "prog|middle of an instruction" } },
		{ "prog", { "link: a call into the middle of a function is refused", INSN_AT("prog", 5, imm), 0,
			    "offset 0x8 of section .text|no function starts" } },
		{ "prog", { "link: a call behind the section is refused", INSN_AT("prog", 5, imm), 0x7fffffff,
			    "section .text|no function starts" } },
		{ "prog", { "link: a call before the section is refused", INSN_AT("prog", 7, imm), (uint32_t)-100,
			    "section entry|no function starts" } },
		{ "prog", { "link: a near call into the middle of nowhere is refused", INSN_AT("prog", 7, imm), 0,
			    "offset 0x40 of section entry|no function starts" } },
		{ "prog", { "link: a bad call in a called function is refused", INSN_AT("sub", 0, imm), (uint32_t)-2,
			    "sub|offset 0x8 of section .text" } },
		{ "plain", { "link: a map's load without a relocation is refused", INSN_REGS("plain", 0), REGS(1, 1),
			     "offset 0x90 of section entry|kind 1|no relocation" } },
		{ "plain", { "link: a kfunc call without a relocation is refused", INSN_REGS("plain", 2), REGS(0, 2),
			     "offset 0xa0 of section entry|kind 2|no relocation" } },
		{ "plain", { "link: a call of an unknown kind is refused", INSN_REGS("plain", 2), REGS(0, 7),
			     "kind 7|no relocation" } },
		{ "sums", { "link: a .bss of 17 MB is refused", SH(".bss", sh_size), 17 << 20, "section .bss" } },
		{ "sums", { "link: a .bss near 2^64 is refused", SH(".bss", sh_size), minus_8, "section .bss" } },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct image image = build_sample();
		struct object obj;
		struct code code;

		corrupt(image, &rows[i].c);
		check_outcome(rows[i].c.name, FAILED, rows[i].c.says, link_image(&obj, image, rows[i].prog, &code));
		link_end(&obj, &code);
		image_free(&image);
	}
}

static void test_no_object(void)
{
	static const char text[] = "#include <linux/bpf.h>\n";
	struct image image = { malloc(0), 0 };
	struct object obj;

	check_outcome("elf: an empty file is called empty", FAILED, "test.o|is empty", open_image(&obj, image));
	object_close(&obj);
	image_free(&image);
	image = image_copy(text, strlen(text));
	check_outcome("elf: a text file is no ELF file", FAILED, "test.o|not an ELF file", open_image(&obj, image));
	object_close(&obj);
	image_free(&image);
	image = image_copy(embedded_object, sizeof(Elf64_Ehdr));
	check_outcome("elf: a header and nothing else is called truncated", FAILED, "truncated|section table",
		      open_image(&obj, image));
	object_close(&obj);
	image_free(&image);
}

/* The end of the last byte that the object's tables refer to. */
static size_t needed_bytes(struct image image)
{
	const Elf64_Ehdr *eh = elf_header(image);
	size_t needed = eh->e_shoff + (size_t)eh->e_shnum * sizeof(Elf64_Shdr);

	for (unsigned i = 1; i < eh->e_shnum; i++) {
		const Elf64_Shdr *sh = section_at(image, i);

		if (sh->sh_type != SHT_NOBITS && sh->sh_offset + sh->sh_size > needed)
			needed = sh->sh_offset + sh->sh_size;
	}
	return needed;
}

static void check_truncations(const char *name, struct image whole)
{
	size_t needed = needed_bytes(whole), wrong = 0, wrong_count = 0;

	for (size_t len = 0; len <= whole.len; len++) {
		struct image part = image_copy(whole.at, len);
		struct object obj;
		enum outcome o = open_image(&obj, part);

		if (o != (len < needed ? FAILED : DONE) || (o && !reason[0])) {
			wrong = len;
			wrong_count++;
		}
		object_close(&obj);
		image_free(&part);
	}
	check(!wrong_count, name,
	      "wanted a refusal up to %zu bytes, came another outcome for %zu lengths, the last %zu", needed,
	      wrong_count, wrong);
}

static void test_truncated_objects(void)
{
	struct image image = copy_embedded();
	struct object obj;

	check_truncations("elf: the embedded object is refused when cut at any length", image);
	image_append(&image, "trailing", 8);
	check_outcome("elf: bytes behind the end that nobody needs do no harm", DONE, NULL, open_image(&obj, image));
	object_close(&obj);
	image_free(&image);
	image = build_sample();
	check_truncations("elf: an object with two string tables is refused when cut at any length", image);
	image_free(&image);
}

/* Opens, links everything, touches the variables; false where the outcome is none or a refusal has no reason. */
static bool survives(struct image image, const char *const *progs, unsigned prog_count)
{
	enum outcome o;
	struct object obj;
	struct code code;
	unsigned map;
	uint64_t off;
	bool ok;

	o = open_image(&obj, image);
	ok = o == DONE || (o == FAILED && reason[0]);
	for (unsigned i = 0; ok && !o && i < prog_count; i++) {
		enum outcome linked = (reason[0] = 0, object_link(&obj, progs[i], &code));

		ok = linked == DONE || (linked == FAILED && reason[0]);
		mem_free(code.insns);
	}
	if (ok && !o) {
		object_set(&obj, "batch_iters", 0xffffffff);
		object_find_variable(&obj, "hits", SLOTS * SLOT_SIZE, &map, &off);
	}
	object_close(&obj);
	return ok;
}

/* Every byte, and every aligned field of 2, 4 and 8 bytes, set to values at the edges. The sanitizer is what looks. */
static void check_survives(const char *name, struct image whole, const char *const *progs, unsigned prog_count)
{
	static const uint64_t values[] = { 0, 1, 4, 0x7f, 0x80, 0xff, 0xfff1, 0x7fffffff, 0x80000000, 0xfffffff8, ~0ULL,
					   -8ULL, 1ULL << 63 };
	static const size_t widths[] = { 1, 2, 4, 8 };
	size_t wrong = 0, wrong_count = 0;

	for (size_t w = 0; w < COUNT_OF(widths); w++)
		for (size_t off = 0; off + widths[w] <= whole.len; off += widths[w])
			for (size_t v = 0; v < COUNT_OF(values); v++) {
				struct image image;

				if (widths[w] < 8 && values[v] >> 8 * widths[w] && values[v] < ~0ULL - 8)
					continue;
				image = image_copy(whole.at, whole.len);
				poke(image.at + off, widths[w], values[v]);
				if (!survives(image, progs, prog_count)) {
					wrong = off;
					wrong_count++;
				}
				image_free(&image);
			}
	check(!wrong_count, name,
	      "wanted DONE, or FAILED with a reason; %zu bytes changed to something else, the last at offset %zu",
	      wrong_count, wrong);
}

static void test_survives(void)
{
	static const char *const sample_progs[] = { "prog", "sums", "plain" };
	struct image image = copy_embedded();
	const char *progs[64];
	unsigned count = 0;

	for (unsigned i = 1; i < symbol_count(image) && count < COUNT_OF(progs); i++)
		if (ELF64_ST_TYPE(symbol_at(image, i)->st_info) == STT_FUNC)
			progs[count++] = symbol_name(image, i);
	check_survives("elf: the embedded object with any field at any edge is linked or refused", image, progs, count);
	image_free(&image);
	image = build_sample();
	check_survives("elf: the sample object with any field at any edge is linked or refused", image, sample_progs,
		       COUNT_OF(sample_progs));
	image_free(&image);
}

/* --- what a changed field does not make ----------------------------------------------------------------------------------- */

static void test_two_symbol_tables(void)
{
	struct builder b;
	struct image image;
	struct object obj;
	static const Elf64_Sym empty[2];
	unsigned other;

	build_start(&b);
	other = build_section(&b, "again", SHT_SYMTAB, 0, empty, sizeof(empty));
	b.sections[other].header.sh_entsize = sizeof(Elf64_Sym);
	b.sections[other].header.sh_link = other + 2; /* .strtab comes behind .symtab */
	image = build_end(&b);
	check_outcome("elf: two symbol tables are refused", FAILED, "section .symtab is a second symbol table",
		      open_image(&obj, image));
	object_close(&obj);
	image_free(&image);
}

static void test_half_instruction(void)
{
	static const struct bpf_insn code[] = { MOV(0), EXIT };
	struct builder b;
	struct image image;
	struct object obj;

	build_start(&b);
	build_symbol(&b, "prog", STT_FUNC, build_section(&b, "entry", CODE, code, 12), 0, 8);
	image = build_end(&b);
	check_outcome("elf: a code section of one and a half instructions is refused", FAILED, "section entry|12 bytes",
		      open_image(&obj, image));
	object_close(&obj);
	image_free(&image);
}

/*
 * From 0xff00 on, the numbers of sections have a meaning of their own in symbols, and no symbol is checked against such a
 * section. No header may count so many (gABI, e_shnum); one that does must not get a variable past the check of its bounds.
 */
static void test_too_many_sections(void)
{
	struct image image = build_sample();
	const unsigned section = 0xff05, count = 0xff10;
	size_t old_table = elf_header(image)->e_shoff, old_count = elf_header(image)->e_shnum, table;
	Elf64_Sym *variable = symbol_named(image, "batch_iters");
	Elf64_Shdr *headers;
	struct object obj;

	variable->st_shndx = section;
	variable->st_value = 1ULL << 40;
	table = image_append(&image, NULL, count * sizeof(Elf64_Shdr));
	memcpy(image.at + table, image.at + old_table, old_count * sizeof(Elf64_Shdr));
	headers = (Elf64_Shdr *)(image.at + table);
	headers[section] = headers[section_number(image, ".rodata")];
	elf_header(image)->e_shoff = table;
	elf_header(image)->e_shnum = count;
	check_outcome("elf: more sections than a symbol can name are refused", FAILED, "section", open_image(&obj, image));
	object_close(&obj);
	image_free(&image);
}

/* One program that loads the address of the symbol, which is in a section of this name. */
static enum outcome link_load_of(const char *section_name, uint32_t relocations_on_data, struct object *obj,
				 struct image *image)
{
	static const struct bpf_insn code[] = { LD64(0, 0), EXIT };
	static const uint64_t data[2];
	struct builder b;
	struct code linked;
	enum outcome o;
	unsigned entry, section, symbol;

	build_start(&b);
	entry = build_section(&b, "entry", CODE, code, sizeof(code));
	section = build_section(&b, section_name, DATA, data, sizeof(data));
	build_symbol(&b, "prog", STT_FUNC, entry, 0, sizeof(code));
	symbol = build_symbol(&b, "variable", STT_OBJECT, section, 0, sizeof(data));
	build_relocation(&b, entry, 0, R_BPF_64_64, symbol);
	if (relocations_on_data)
		build_relocation_of(&b, relocations_on_data, section, 8, 2 /* R_BPF_64_ABS64 */, symbol);
	*image = build_end(&b);
	o = link_image(obj, *image, "prog", &linked);
	mem_free(linked.insns);
	return o;
}

static void test_data_sections(void)
{
	static const struct {
		const char *name, *section;
		uint32_t relocations;
		enum outcome outcome;
		const char *says;
	} rows[] = {
		{ "link: a variable in .data is taken", ".data", 0, DONE, NULL },
		{ "link: a variable in .data.name is taken", ".data.name", 0, DONE, NULL },
		{ "link: a variable in .rodata.str1.1 is taken", ".rodata.str1.1", 0, DONE, NULL },
		{ "link: a map in the old section maps is refused", "maps", 0, FAILED, "section maps defines a map" },
		{ "link: .data with addresses in it is refused", ".data", SHT_REL, FAILED,
		  "section .data holds addresses" },
		{ "link: .data with addresses by RELA in it is refused", ".data", SHT_RELA, FAILED, ".data" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct object obj;
		struct image image;
		enum outcome o = link_load_of(rows[i].section, rows[i].relocations, &obj, &image);

		check_outcome(rows[i].name, rows[i].outcome, rows[i].says, o);
		object_close(&obj);
		image_free(&image);
	}
}

/* As many data sections as there is room for, and one more. */
static void test_many_data_sections(void)
{
	static const struct bpf_insn load[] = { LD64(0, 0) }, end[] = { EXIT };
	static char names[DATA_MAPS_MAX + 1][16];
	static const uint64_t zero;

	for (unsigned count = DATA_MAPS_MAX; count <= DATA_MAPS_MAX + 1; count++) {
		struct image program = { 0 }, image;
		struct builder b;
		struct object obj;
		struct code code;
		unsigned entry;
		enum outcome o;

		for (unsigned i = 0; i < count; i++)
			image_append(&program, load, sizeof(load));
		image_append(&program, end, sizeof(end));
		build_start(&b);
		entry = build_section(&b, "entry", CODE, program.at, program.len);
		build_symbol(&b, "prog", STT_FUNC, entry, 0, program.len);
		for (unsigned i = 0; i < count; i++) {
			unsigned section;

			snprintf(names[i], sizeof(names[i]), ".data.%u", i);
			section = build_section(&b, names[i], DATA, &zero, sizeof(zero));
			build_relocation(&b, entry, i * sizeof(load), R_BPF_64_64,
					 build_symbol(&b, names[i], STT_OBJECT, section, 0, 8));
		}
		image = build_end(&b);
		o = link_image(&obj, image, "prog", &code);
		if (count <= DATA_MAPS_MAX)
			check_outcome("link: 16 data sections are taken", DONE, NULL, o);
		else
			check_outcome("link: 17 data sections are refused", FAILED, "section .data.16", o);
		link_end(&obj, &code);
		image_free(&image);
		image_free(&program);
	}
}

/* One program that calls functions of one instruction each: with itself as many as are allowed, and one more. */
static void test_many_functions(void)
{
	for (unsigned callees = FUNCS_MAX - 1; callees <= FUNCS_MAX; callees++) {
		struct image program = { 0 }, image;
		struct builder b;
		struct object obj;
		struct code code;
		unsigned entry;
		enum outcome o;

		for (unsigned i = 0; i < callees; i++) {
			struct bpf_insn call = PC_CALL(callees);

			image_append(&program, &call, sizeof(call));
		}
		for (unsigned i = 0; i < callees + 1; i++) {
			struct bpf_insn end = EXIT;

			image_append(&program, &end, sizeof(end));
		}
		build_start(&b);
		entry = build_section(&b, "entry", CODE, program.at, program.len);
		build_symbol(&b, "prog", STT_FUNC, entry, 0, (callees + 1) * INSN_SIZE);
		for (unsigned i = 0; i < callees; i++)
			build_symbol(&b, "callee", STT_FUNC, entry, (callees + 1 + i) * INSN_SIZE, INSN_SIZE);
		image = build_end(&b);
		o = link_image(&obj, image, "prog", &code);
		if (callees < FUNCS_MAX)
			check_outcome("link: a program of 256 functions is taken", DONE, NULL, o);
		else
			check_outcome("link: a program of 257 functions is refused", FAILED, "256 functions", o);
		link_end(&obj, &code);
		image_free(&image);
		image_free(&program);
	}
}

/* === Linking ============================================================================================================== */

/* The function that a linked call leads to, found by following it; NULL where that is no function's start. */
static const struct func *called(const struct code *code, unsigned at)
{
	const struct bpf_insn *insn = &code->insns[at];

	if (insn->code != OP_CALL || insn->src_reg != INSN_PSEUDO_CALL)
		return NULL;
	for (unsigned i = 0; i < code->func_count; i++)
		if (code->funcs[i].at == (int64_t)at + 1 + insn->imm)
			return &code->funcs[i];
	return NULL;
}

static void check_called(const char *name, const struct code *code, unsigned at, const char *wanted, int first_imm)
{
	const struct func *f = called(code, at);

	check(f && !strcmp(f->name, wanted) && code->insns[f->at].imm == first_imm, name, "wanted %s, came %s (imm %d)",
	      wanted, f ? f->name : "no function", code->insns[at].imm);
}

/* A load of an address: the number of a map, which is that of this section, and an offset there. */
static void check_address(const char *name, const struct object *obj, const struct code *code, unsigned at,
			  const char *section, int off)
{
	const struct bpf_insn *insn = &code->insns[at];
	bool is_map = insn->src_reg == INSN_PSEUDO_MAP_VALUE && (unsigned)insn->imm < obj->map_count;
	const char *came = is_map ? elf_section_name(&obj->elf, obj->maps[insn->imm].section) : "no map";

	check(!strcmp(came, section) && insn[1].imm == off, name, "wanted %s + %d, came %s + %d", section, off, came,
	      insn[1].imm);
}

static void test_link_program(void)
{
	struct image image = build_sample();
	struct object obj;
	struct code code;
	enum outcome o = link_image(&obj, image, "prog", &code);
	const int to_leaf = 13 - 9 - 1; /* prog takes 9 instructions, sub and local 2 each */

	check_outcome("link: a program with variables, calls and a kfunc is linked", DONE, NULL, o);
	if (!o) {
		check_number("link: functions are linked once each", 4, code.func_count);
		check_number("link: the instructions are those of the program and all that it calls", 9 + 2 + 2 + 2,
			     code.count);
		check_address("link: the first global is at offset 0", &obj, &code, 0, ".data", 0);
		check_address("link: the second global is at offset 8", &obj, &code, 2, ".data", 8);
		check_called("link: a call by a function's symbol arrives", &code, 4, "sub", to_leaf);
		check_called("link: a call by section symbol and imm arrives", &code, 5, "sub", to_leaf);
		check(called(&code, 4) == called(&code, 5), "link: a function called twice is linked once",
		      "wanted one place, came two");
		check_called("link: a call without relocation in one section arrives", &code, 7, "local", 7);
		check_called("link: a subprogram that calls another arrives", &code, code.funcs[1].at, "leaf", 5);
		check(code.insns[6].src_reg == INSN_PSEUDO_KFUNC_CALL && code.insns[6].imm == SYM_KFUNC,
		      "link: a call of a kfunc keeps the number of its symbol",
		      "wanted kind 2 and symbol %d, came kind %d and %d", SYM_KFUNC,
		      code.insns[6].src_reg, code.insns[6].imm);
		check(code.insns[8].code == (BPF_JMP | BPF_EXIT) && !code.insns[8].imm,
		      "link: other instructions stay as they are", "wanted exit, came code %#x", code.insns[8].code);
		check_number("link: one map for one data section", 1, obj.map_count);
		check(!memcmp(obj.maps[0].initial, "\x11\x11\x11\x11\x11\x11\x11\x11\x22\x22\x22\x22\x22\x22\x22\x22", 16),
		      "link: a map starts with its section's bytes", "wanted 0x11 and 0x22, came other bytes");
	}
	link_end(&obj, &code);
	image_free(&image);
}

static void test_link_addends(void)
{
	static const uint8_t zeros[64];
	struct image image = build_sample();
	struct object obj;
	struct code code;
	enum outcome o = link_image(&obj, image, "sums", &code);

	check_outcome("link: a program with addends is linked", DONE, NULL, o);
	if (!o) {
		check_address("link: section symbol + imm is the second global", &obj, &code, 0, ".data", 8);
		check_address("link: a symbol's value and a negative imm add up", &obj, &code, 2, ".data", 4);
		check_address("link: .bss is data with a size and no bytes", &obj, &code, 4, ".bss", 8);
		check_number("link: two maps for two data sections", 2, obj.map_count);
		check(!memcmp(obj.maps[1].initial, zeros, sizeof(zeros)), "link: .bss starts as zeros",
		      "wanted zeros, came other bytes");
	}
	link_end(&obj, &code);
	section_named(image, ".bss")->sh_offset = 0; /* compilers put some offset there: nobody's bytes */
	o = link_image(&obj, image, "sums", &code);
	check(!o && obj.map_count == 2 && !memcmp(obj.maps[1].initial, zeros, sizeof(zeros)),
	      "link: .bss starts as zeros, whatever is at its offset in the file", "wanted zeros, came other bytes");
	link_end(&obj, &code);
	o = link_image(&obj, image, "plain", &code);
	check(!o && code.count == 4 && !memcmp(code.insns, function_insn(image, "plain", 0), 4 * INSN_SIZE),
	      "link: constants and helper calls stay as they are", "wanted 4 unchanged instructions, came %u", code.count);
	link_end(&obj, &code);
	image_free(&image);
}

/* The callee stands before the caller, so that linking turns their order round; and a function that calls itself. */
static void test_link_backwards(void)
{
	static const struct bpf_insn program[] = { MOV(3), EXIT, MOV(0), PC_CALL(-4), PC_CALL(-3), EXIT };
	struct builder b;
	struct image image;
	struct object obj;
	struct code code;
	unsigned entry;

	build_start(&b);
	entry = build_section(&b, "entry", CODE, program, sizeof(program));
	build_symbol(&b, "callee", STT_FUNC, entry, 0, 16);
	build_symbol(&b, "prog", STT_FUNC, entry, 16, 32);
	image = build_end(&b);
	if (link_image(&obj, image, "prog", &code)) {
		check_outcome("link: a call of a function before the caller arrives", DONE, NULL, FAILED);
	} else {
		check_called("link: a call of a function before the caller arrives", &code, 1, "callee", 3);
		check_called("link: a function that calls itself is linked once", &code, 2, "prog", 0);
		check_number("link: a backward and a recursive call make two functions", 2, code.func_count);
	}
	link_end(&obj, &code);
	image_free(&image);
}

static void test_entries(void)
{
	struct image image = build_sample();
	struct object obj;
	struct code code;

	open_image(&obj, image);
	check(object_has_prog(&obj, "prog"), "link: a function in a section of its own is an entry",
	      "wanted prog, came none");
	check(!object_has_prog(&obj, "sub"), "link: a function in .text is no entry", "wanted none, came sub");
	check(!object_has_prog(&obj, "kfunc"), "link: an undefined function is no entry", "wanted none, came kfunc");
	check(!object_has_prog(&obj, "first"), "link: a variable is no entry", "wanted none, came first");
	check(!object_has_prog(&obj, ""), "link: a symbol without a name is no entry", "wanted none, came one");
	check(!strcmp(obj.license, "GPL"), "link: the license is read", "wanted GPL, came %s", obj.license);
	check_outcome("link: a function in .text is not linked as a program", FAILED, "test.o|no program sub",
		      object_link(&obj, "sub", &code));
	link_end(&obj, &code);
	image_free(&image);
}

static void test_variables(void)
{
	static const uint32_t wanted = 12345;
	struct image image = build_sample();
	struct object obj;
	unsigned map = 99;
	uint64_t off = 99;

	open_image(&obj, image);
	check_outcome("link: a variable that is not there is named", FAILED, "no global variable nobody",
		      object_set(&obj, "nobody", 1));
	check_outcome("link: a variable of another size is refused", FAILED, "first has 8 bytes, not 4",
		      object_set(&obj, "first", 1));
	check_outcome("link: a program is no variable", FAILED, "no global variable prog", object_set(&obj, "prog", 1));
	check_outcome("link: a variable of .rodata is set", DONE, NULL, object_set(&obj, "batch_iters", wanted));
	check(obj.map_count == 1 && !memcmp(obj.maps[0].initial, &wanted, 4),
	      "link: the value is in what the map starts with", "wanted 12345, came something else");
	check_outcome("link: a variable is found at its offset", DONE, NULL,
		      object_find_variable(&obj, "second", 8, &map, &off));
	check(map == 1 && off == 8, "link: the second global is in the second map at offset 8",
	      "came map %u, offset %" PRIu64, map, off);
	check(!object_shared(&obj, "zeros", 8), "link: a variable of a map that was not created has no memory",
	      "wanted none");
	object_close(&obj);
	image_free(&image);
}

/* --- the embedded object, whatever compiler made it ----------------------------------------------------------------------- */

static void test_embedded_count(void)
{
	struct image image = copy_embedded();
	unsigned calls = 0, loads = 0, adds = 0, size = symbol_named(image, "count")->st_size / INSN_SIZE;
	struct object obj;
	struct code code;
	bool ok = !link_image(&obj, image, "count", &code) && code.func_count == 1 && code.count == size;

	for (unsigned i = 0; ok && i < code.count; i++) {
		const struct bpf_insn *insn = &code.insns[i], *before = function_insn(image, "count", i);

		calls += insn->code == OP_CALL && !insn->src_reg && insn->imm == 8; /* bpf_get_smp_processor_id */
		adds += insn->code == (BPF_STX | 0xc0 /* BPF_ATOMIC */ | BPF_DW) && insn->imm == BPF_ADD;
		if (insn->code != OP_LD_IMM64) {
			ok = !memcmp(insn, before, INSN_SIZE);
			continue;
		}
		loads++;
		check_address("embedded: count loads the address of hits, the start of .bss", &obj, &code, i++, ".bss", 0);
	}
	ok = ok && calls == 1 && loads == 1 && adds == 1 && code.insns[code.count - 1].code == (BPF_JMP | BPF_EXIT);
	check(ok, "embedded: count is one helper call, one address, one atomic add",
	      "came %u calls, %u addresses, %u adds", calls, loads, adds);
	link_end(&obj, &code);
	image_free(&image);
}

static void test_embedded_drive_kfunc(void)
{
	struct image image = copy_embedded();
	unsigned kfunc = symbol_number(image, "bpf_modify_return_test_tp"), kfuncs = 0, calls = 0;
	struct object obj;
	struct code code;
	bool ok = !link_image(&obj, image, "drive_kfunc", &code) && code.func_count == 1;

	for (unsigned i = 0; ok && i < code.count; i++) {
		const struct bpf_insn *insn = &code.insns[i];

		calls += insn->code == OP_CALL;
		kfuncs += insn->code == OP_CALL && insn->src_reg == INSN_PSEUDO_KFUNC_CALL && insn->imm == (int)kfunc;
		if (insn->code == OP_LD_IMM64)
			check_address("embedded: drive_kfunc loads the address of batch_iters", &obj, &code, i++,
				      ".rodata", 0);
	}
	check(ok && calls == 1 && kfuncs == 1, "embedded: drive_kfunc has one call, of the kfunc's symbol",
	      "came %u calls, %u of the kfunc", calls, kfuncs);
	link_end(&obj, &code);
	image_free(&image);
}

/* What bpftrig.c takes for granted of bpf_progs.c. */
static void test_embedded_variables(void)
{
	static const uint32_t hundred = BATCH_DEFAULT;
	struct image image = copy_embedded();
	struct object obj;
	unsigned map;
	uint64_t off;

	check_outcome("embedded: the object is opened", DONE, NULL, open_image(&obj, image));
	check_outcome("embedded: hits has all its slots", DONE, NULL,
		      object_find_variable(&obj, "hits", SLOTS * SLOT_SIZE, &map, &off));
	check_outcome("embedded: batch_iters is there", DONE, NULL,
		      object_find_variable(&obj, "batch_iters", 4, &map, &off));
	check(!memcmp(obj.maps[map].initial + off, &hundred, 4), "embedded: batch_iters is the default batch",
	      "wanted %d", BATCH_DEFAULT);
	check(!strcmp(obj.license, "GPL"), "embedded: the license is GPL", "came '%s'", obj.license);
	for (unsigned i = 1; i < symbol_count(image); i++) {
		struct code code;
		enum outcome o;
		char name[96];

		if (ELF64_ST_TYPE(symbol_at(image, i)->st_info) != STT_FUNC || !object_has_prog(&obj,
												symbol_name(image, i)))
			continue;
		o = object_link(&obj, symbol_name(image, i), &code);
		snprintf(name, sizeof(name), "embedded: %.60s is linked", symbol_name(image, i));
		check_outcome(name, DONE, NULL, o);
		mem_free(code.insns);
	}
	object_close(&obj);
	image_free(&image);
}

/* === BTF =====================================================================================================================
 * The kinds and what follows them, from Documentation/bpf/btf.rst; the vlen is one that the kernel's own BTF might have.
 */

static const struct { unsigned kind; const char *name; uint32_t vlen, once, each; } btf_kinds[] = {
	{ 1, "INT", 0, 4, 0 },
	{ 2, "PTR", 0, 0, 0 },
	{ 3, "ARRAY", 0, 12, 0 }, /* struct btf_array */
	{ 4, "STRUCT", 3, 0, 12 }, /* struct btf_member */
	{ 5, "UNION", 2, 0, 12 },
	{ 6, "ENUM", 5, 0, 8 }, /* struct btf_enum */
	{ 7, "FWD", 0, 0, 0 },
	{ 8, "TYPEDEF", 0, 0, 0 },
	{ 9, "VOLATILE", 0, 0, 0 },
	{ 10, "CONST", 0, 0, 0 },
	{ 11, "RESTRICT", 0, 0, 0 },
	{ 12, "FUNC", 1, 0, 0 }, /* the vlen is the linkage */
	{ 13, "FUNC_PROTO", 4, 0, 8 }, /* struct btf_param */
	{ 14, "VAR", 0, 4, 0 },
	{ 15, "DATASEC", 2, 0, 12 }, /* struct btf_var_secinfo */
	{ 16, "FLOAT", 0, 0, 0 },
	{ 17, "DECL_TAG", 0, 4, 0 },
	{ 18, "TYPE_TAG", 0, 0, 0 },
	{ 19, "ENUM64", 3, 0, 12 }, /* struct btf_enum64 */
};

struct btf_builder {
	struct image types, strings, layout;
	uint32_t header_len;
};

/* Far from any name, kind or small number: where bytes behind a type are taken for a type, this is noticed. */
#define GARBAGE 0xa5

static void btf_garbage(struct image *image, size_t len)
{
	size_t off = image_append(image, NULL, len);

	memset(image->at + off, GARBAGE, len);
}

static void btf_start(struct btf_builder *b)
{
	*b = (struct btf_builder){ .header_len = 24 };
	image_append_string(&b->strings, "");
}

static void btf_type(struct btf_builder *b, unsigned kind, uint32_t vlen, const char *name, size_t behind)
{
	uint32_t type[3] = { 0, kind << 24 | vlen, 0 };

	type[0] = *name ? image_append_string(&b->strings, name) : 0;
	image_append(&b->types, type, sizeof(type));
	if (behind)
		btf_garbage(&b->types, behind);
}

/* Types, strings, layout, in this order behind the header; what a long header holds behind the known fields is garbage. */
static struct image btf_end(struct btf_builder *b)
{
	struct { uint16_t magic; uint8_t version, flags; uint32_t hdr_len, part[6]; } head = {
		.magic = 0xeb9f,
		.version = 1,
		.hdr_len = b->header_len,
		.part = { 0, b->types.len, b->types.len, b->strings.len, b->types.len + b->strings.len, b->layout.len },
	};
	size_t known = b->header_len >= 32 ? 32 : 24;
	struct image out = { 0 };

	image_append(&out, &head, known);
	if (b->header_len > known)
		btf_garbage(&out, b->header_len - known);
	image_append(&out, b->types.at, b->types.len);
	image_append(&out, b->strings.at, b->strings.len);
	image_append(&out, b->layout.at, b->layout.len);
	image_free(&b->types);
	image_free(&b->strings);
	image_free(&b->layout);
	return out;
}

static enum outcome btf_look_up(struct image image, unsigned kind, const char *name, uint32_t *id)
{
	struct btf btf = { 0 };
	enum outcome o;

	reason[0] = 0;
	*id = 0xdead;
	o = btf_parse(&btf, image_bytes(image));
	return o ? o : btf_find(&btf, kind, name, id);
}

/* Looks for FUNC target; takes the builder's bytes. */
static void check_found(const char *name, struct btf_builder *b, unsigned kind, uint32_t wanted)
{
	struct image image = btf_end(b);
	uint32_t id;
	enum outcome o = btf_look_up(image, kind, "target", &id);

	check(!o && id == wanted, name, "wanted id %u, came %s %u '%s'", wanted, outcome_name(o), id, reason);
	image_free(&image);
}

static void check_btf_skipped(const char *name, struct image *image, const char *says)
{
	uint32_t id;

	check_outcome(name, SKIPPED, says, btf_look_up(*image, BTF_FUNC, "target", &id));
	image_free(image);
}

static void btf_all_kinds(struct btf_builder *b)
{
	for (size_t i = 0; i < COUNT_OF(btf_kinds); i++)
		btf_type(b, btf_kinds[i].kind, btf_kinds[i].vlen, btf_kinds[i].name,
			 btf_kinds[i].once + (size_t)btf_kinds[i].vlen * btf_kinds[i].each);
}

static void test_btf_kinds(void)
{
	struct btf_builder b;
	char name[96];

	for (size_t i = 0; i < COUNT_OF(btf_kinds); i++) {
		btf_start(&b);
		btf_type(&b, btf_kinds[i].kind, btf_kinds[i].vlen, "other",
			 btf_kinds[i].once + (size_t)btf_kinds[i].vlen * btf_kinds[i].each);
		btf_type(&b, BTF_FUNC, 1, "target", 0);
		snprintf(name, sizeof(name), "btf: a function behind a type of kind %u (%s) has id 2",
			 btf_kinds[i].kind, btf_kinds[i].name);
		check_found(name, &b, BTF_FUNC, 2);
	}
	btf_start(&b);
	btf_all_kinds(&b);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	check_found("btf: a function behind one type of every kind has id 20", &b, BTF_FUNC, 20);
	btf_start(&b);
	btf_all_kinds(&b);
	btf_type(&b, BTF_TYPEDEF, 0, "target", 0);
	btf_all_kinds(&b);
	check_found("btf: a typedef in the middle is found", &b, BTF_TYPEDEF, 20);
	btf_start(&b);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	check_found("btf: the first type has id 1", &b, BTF_FUNC, 1);
}

static void test_btf_names(void)
{
	struct btf_builder b;

	btf_start(&b);
	btf_all_kinds(&b);
	check_found("btf: a name that is not there gives id 0", &b, BTF_FUNC, 0);
	btf_start(&b);
	check_found("btf: no types at all give id 0", &b, BTF_FUNC, 0);
	btf_start(&b);
	btf_type(&b, BTF_TYPEDEF, 0, "target", 0);
	btf_type(&b, 14, 0, "target", 4);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	check_found("btf: the same name with another kind is not taken", &b, BTF_FUNC, 3);
	btf_start(&b);
	btf_type(&b, BTF_FUNC, 1, "target_2", 0);
	btf_type(&b, BTF_FUNC, 1, "targe", 0);
	btf_type(&b, BTF_FUNC, 1, "a_target", 0);
	check_found("btf: a name that only begins or ends alike is not taken", &b, BTF_FUNC, 0);
	btf_start(&b);
	btf_type(&b, 0x80 | 4, 2, "other", 2 * 12); /* kind_flag */
	btf_type(&b, 0x80 | BTF_FUNC, 1, "target", 0);
	check_found("btf: the kind_flag is no part of the kind", &b, BTF_FUNC, 2);
}

static void test_btf_vlen(void)
{
	struct btf_builder b;

	btf_start(&b);
	btf_type(&b, 6, 65535, "other", 65535 * 8);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	check_found("btf: a vlen of 65535", &b, BTF_FUNC, 2);
	btf_start(&b);
	btf_type(&b, 6, 70000, "other", 70000 * 8);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	check_found("btf: a vlen over 65535 has 24 bits", &b, BTF_FUNC, 2);
}

static void test_btf_headers(void)
{
	static const uint32_t lengths[] = { 24, 28, 31, 32, 40, 64, 4096 };

	for (size_t i = 0; i < COUNT_OF(lengths); i++) {
		struct btf_builder b;
		char name[64];

		btf_start(&b);
		b.header_len = lengths[i];
		btf_all_kinds(&b);
		btf_type(&b, BTF_FUNC, 1, "target", 0);
		snprintf(name, sizeof(name), "btf: a header of %u bytes", lengths[i]);
		check_found(name, &b, BTF_FUNC, 20);
	}
}

static struct image btf_small(uint32_t header_len)
{
	struct btf_builder b;

	btf_start(&b);
	b.header_len = header_len;
	btf_type(&b, 1, 0, "int", 4);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	return btf_end(&b);
}

/* One field of a good header. The numbers of the parts are type_off, type_len, str_off, str_len, layout_off, layout_len. */
static void test_btf_corrupt_headers(void)
{
	static const struct { const char *name; size_t off, width; uint32_t value; const char *says; } rows[] = {
		{ "btf: a wrong magic is refused", 0, 2, 0xeb9e, "magic 0xeb9e" },
		{ "btf: the other byte order is refused", 0, 2, 0x9feb, "magic 0x9feb" },
		{ "btf: version 2 is refused", 2, 1, 2, "version 2" },
		{ "btf: a header of 0 bytes is refused", 4, 4, 0, "header of 0 bytes" },
		{ "btf: a header of 23 bytes is refused", 4, 4, 23, "header of 23 bytes" },
		{ "btf: a header of 4 GB is refused", 4, 4, 0xffffffff, "header of 4294967295 bytes" },
		{ "btf: a header longer than the file by one is refused", 4, 4, 0, "header of" },
		{ "btf: types that start behind the end are refused", 8, 4, 1 << 20, "offset 1048576" },
		{ "btf: a type offset that wraps in 32 bits is refused", 8, 4, 0xfffffff0, "offset 4294967280" },
		{ "btf: a type length that wraps in 32 bits is refused", 12, 4, 0xffffffff, "length 4294967295" },
		{ "btf: a string offset that wraps in 32 bits is refused", 16, 4, 0xffffffe8, "offset 4294967272" },
		{ "btf: a string length that wraps in 32 bits is refused", 20, 4, 0xffffffe0, "length 4294967264" },
		{ "btf: a layout offset that wraps in 32 bits is refused", 24, 4, 0xffffffe0, "offset 4294967264" },
		{ "btf: a layout longer than the file is refused", 28, 4, 0xffffffff, "length 4294967295" },
		{ "btf: no strings are refused", 20, 4, 0, "strings|NUL" },
		{ "btf: strings without a final NUL are refused", 20, 4, 2, "strings|NUL" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct image image = btf_small(32);
		bool by_one = !!strstr(rows[i].name, "by one");

		poke(image.at + rows[i].off, rows[i].width, by_one ? image.len + 1 : rows[i].value);
		check_btf_skipped(rows[i].name, &image, rows[i].says);
	}
}

static void test_btf_corrupt_types(void)
{
	struct btf_builder b;
	struct image image;
	uint32_t id;

	image = btf_small(24);
	poke(image.at + 24 + 16, 4, 0xffffffff);
	check_btf_skipped("btf: a name near 2^32 is refused with the type's number", &image, "name of type 2");
	image = btf_small(24);
	poke(image.at + 24 + 16, 4, 1 + sizeof("int") + sizeof("target"));
	check_btf_skipped("btf: a name one byte behind the strings is refused", &image, "name of type 2");
	image = btf_small(24);
	poke(image.at + 24 + 16, 4, sizeof("int") + sizeof("target"));
	check(!btf_look_up(image, BTF_FUNC, "target", &id) && id == 0, "btf: a name at the last NUL is an empty one",
	      "came '%s'", reason);
	image_free(&image);

	btf_start(&b);
	btf_type(&b, 40, 3, "strange", 6);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	image = btf_end(&b);
	check_btf_skipped("btf: an unknown kind without a layout is named by its number", &image,
			  "type 1 at offset 0|kind 40");
	btf_start(&b);
	btf_type(&b, 1, 0, "int", 4);
	btf_type(&b, 0, 0, "void", 0);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	image = btf_end(&b);
	check_btf_skipped("btf: kind 0 is no type", &image, "type 2 at offset 16|kind 0");
	btf_start(&b);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	btf_type(&b, 99, 0, "strange", 0);
	check_found("btf: an unknown kind behind what is looked for does no harm", &b, BTF_FUNC, 1);
}

/* A layout section that knows kinds up to `kinds`, all of the same size. */
static void btf_layout(struct btf_builder *b, unsigned kinds, uint8_t once, uint8_t each)
{
	const uint8_t entry[4] = { once, each, 0, 0 };

	b->header_len = 32;
	for (unsigned i = 0; i <= kinds; i++)
		image_append(&b->layout, entry, sizeof(entry));
}

static void test_btf_layout(void)
{
	static const unsigned kinds[] = { 20, 31, 32, 77, 127 };
	struct btf_builder b;
	struct image image;
	char name[80];

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		btf_start(&b);
		btf_layout(&b, kinds[i], 6, 10);
		btf_type(&b, kinds[i], 3, "strange", 6 + 3 * 10);
		btf_type(&b, BTF_FUNC, 1, "target", 0);
		snprintf(name, sizeof(name), "btf: the scan goes on behind kind %u, whose layout the file gives", kinds[i]);
		check_found(name, &b, BTF_FUNC, 2);
	}
	btf_start(&b);
	btf_layout(&b, 20, 0, 1);
	btf_type(&b, 20, 0xffffff, "strange", 0xffffff);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	check_found("btf: the largest vlen has all 24 bits", &b, BTF_FUNC, 2);
	btf_start(&b);
	btf_layout(&b, 39, 6, 10);
	btf_type(&b, 40, 3, "strange", 36);
	btf_type(&b, BTF_FUNC, 1, "target", 0);
	image = btf_end(&b);
	check_btf_skipped("btf: a kind behind the end of the layout is unknown", &image, "kind 40");
}

static void check_btf_truncations(const char *name, uint32_t header_len)
{
	struct image whole = btf_small(header_len);
	size_t wrong = 0;

	for (size_t len = 0; len < whole.len; len++) {
		struct image part = image_copy(whole.at, len);
		uint32_t id;

		wrong += btf_look_up(part, BTF_FUNC, "target", &id) != SKIPPED || !reason[0];
		image_free(&part);
	}
	check(!wrong, name, "wanted skipped for all, came another outcome for %zu lengths", wrong);
	image_free(&whole);
}

/* The file stays whole, and the header makes the types shorter: only between two types is that no cut. */
static void test_btf_truncations(void)
{
	struct btf_builder b;
	struct image image;
	bool between[1024] = { true };
	size_t types_len, wrong = 0, cut = 0;
	uint32_t id;

	check_btf_truncations("btf: a file with a header of 24 bytes is refused when cut at any length", 24);
	check_btf_truncations("btf: a file with a header of 32 bytes is refused when cut at any length", 32);
	btf_start(&b);
	for (size_t i = 0; i < COUNT_OF(btf_kinds); i++) {
		btf_type(&b, btf_kinds[i].kind, btf_kinds[i].vlen, "other",
			 btf_kinds[i].once + btf_kinds[i].vlen * btf_kinds[i].each);
		between[b.types.len] = true;
	}
	types_len = b.types.len;
	image = btf_end(&b);
	for (size_t len = 0; len <= types_len; len++) {
		enum outcome o;

		poke(image.at + 12, 4, len);
		o = btf_look_up(image, BTF_FUNC, "target", &id);
		if (o != (between[len] ? DONE : SKIPPED) || id) {
			wrong++;
			cut = len;
		}
	}
	check(!wrong, "btf: types that end inside a type are cut off",
	      "wanted skipped, came done for %zu lengths, the last %zu", wrong, cut);
	image_free(&image);
}

static void test_btf_survives(void)
{
	static const uint32_t values[] = { 0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffe0, 0xffffffff };
	struct image whole = btf_small(32);
	size_t wrong = 0;

	for (size_t off = 0; off + 4 <= whole.len; off++)
		for (size_t v = 0; v < COUNT_OF(values); v++) {
			struct image image = image_copy(whole.at, whole.len);
			uint32_t id;
			enum outcome o;

			poke(image.at + off, 4, values[v]);
			o = btf_look_up(image, BTF_FUNC, "target", &id);
			wrong += o == FAILED || (o == SKIPPED && !reason[0]) || (o == DONE && id > 4);
			image_free(&image);
		}
	check(!wrong, "btf: a file with any field at any edge is read or refused", "came something else %zu times", wrong);
	image_free(&whole);
}

/* The real thing, where this machine shows it: 100,000 types and more, walked to the end for a name that is not there. */
static void test_btf_of_this_machine(void)
{
	uint32_t func = 0, typedef_id = 0, none = 99;
	struct btf btf;
	enum outcome o;

	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		printf("skip - btf: this machine's BTF is walked to its end: it has none that can be read\n");
		return;
	}
	o = btf_open(&btf);
	o = o ? o : btf_find(&btf, BTF_FUNC, "vfs_read", &func);
	o = o ? o : btf_find(&btf, BTF_TYPEDEF, "__u32", &typedef_id);
	o = o ? o : btf_find(&btf, BTF_FUNC, "no such function", &none);
	check(!o && func && typedef_id && func != typedef_id && !none, "btf: this machine's BTF is walked to its end",
	      "came %s, vfs_read %u, __u32 %u, none %u", outcome_name(o), func, typedef_id, none);
	btf_close(&btf);
}

/* === Text ================================================================================================================== */

/* One format and its arguments by ours and by libc's printf. */
#define SAME_TEXT(format, ...) \
	do { \
		char ours_[512], libcs_[512]; \
		int ours_len_ = (int)format_to(ours_, sizeof(ours_), format, __VA_ARGS__); \
		int libcs_len_ = snprintf(libcs_, sizeof(libcs_), format, __VA_ARGS__); \
\
		if ((ours_len_ != libcs_len_ || strcmp(ours_, libcs_)) && !*wrong) \
			snprintf(wrong, sizeof(wrong), "\"%s\": \"%.150s\" of %d characters, not \"%.150s\" of %d", format, ours_, ours_len_, libcs_, \
				 libcs_len_); \
	} while (0)

static void test_format_fields(void)
{
	char wrong[512] = "";

	SAME_TEXT("%d|%d|%d|%5d|%-5d|%05d", 0, -1, INT_MIN, -42, -42, -42);
	SAME_TEXT("%ld|%lld|%zd|%ld", LONG_MIN, LLONG_MAX, (ssize_t)-7, 1L);
	SAME_TEXT("%u|%lu|%llu|%zu", UINT_MAX, ULONG_MAX, ULLONG_MAX, SIZE_MAX);
	SAME_TEXT("%x|%X|%#x|%#x|%08X|%02x|%#10x", 0xbeefu, 0xbeefu, 0xbeefu, 0u, 0xbeefu, 7u, 0xbeefu);
	SAME_TEXT("%" PRIu64 "|%" PRIx64 "|%#" PRIx64 "|%08zX", UINT64_MAX, UINT64_MAX, (uint64_t)1 << 40, (size_t)0xabc);
	SAME_TEXT("%s|%5s|%-5s|%.2s|%-6.2s|%.*s|%*s|%s", "abc", "abc", "abc", "abc", "abc", 1, "abc", 7, "abc", "");
	SAME_TEXT("%c%c%%%c", 'a', 'b', 'c');
	SAME_TEXT("%-15s: %8.3f ± %5.3fM/s", "rawtp", 31.0024, 0.0146);
	check(!*wrong, "text: fields are as libc's", "%s", wrong);
}

static void test_format_numbers(void)
{
	static const double values[] = { 0, 0.5, 1.5, 2.5, 0.125, 0.375, 0.0005, 0.0015, 2.675, 1.005, 0.1, 0.3, 9.9995, 9.9999, 99.95, 999999.5, 1e9,
					 123456789.123456789, 4503599627370497.5, 1e17, 999999999999999872., -0.25, -31.0015, 1e-5, 5e-324 };
	static const double general[] = { 0, 0.01, 0.5, 1, 2, 4096, 65536, 86400, 0.3, 99999.5, 0.001 };
	uint64_t seed = 1;
	char wrong[512] = "";

	for (size_t i = 0; i < COUNT_OF(values); i++) {
		SAME_TEXT("%f %.0f %.1f %.2f %.3f", values[i], values[i], values[i], values[i], values[i]);
		SAME_TEXT("%8.3f|%-9.2f|%09.1f|%.9f", values[i], values[i], values[i], values[i]);
	}
	for (size_t i = 0; i < COUNT_OF(general); i++)
		SAME_TEXT("%g", general[i]);
	SAME_TEXT("%f %5.1f %-5.1f| %f", (double)INFINITY, (double)INFINITY, (double)-INFINITY, (double)NAN);
	check(!*wrong, "text: chosen floating point numbers are as libc's", "%s", wrong);
	for (int i = 0; i < 200000; i++) {
		double value;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		value = (double)(seed >> 11) / (double)(1ULL << (10 + seed % 53)) * (seed & 1 << 10 ? 1e-3 : 1);
		SAME_TEXT("%.*f", (int)(seed >> 8 & 7), value);
		SAME_TEXT("%.2f", (double)(seed >> 40) / 1000); /* near ties */
	}
	check(!*wrong, "text: 400000 others are as libc's", "%s", wrong);
}

static void test_format_bounds(void)
{
	char buf[8] = "1234567";
	size_t len = format_to(buf, 4, "%s", "abcdef");

	check(len == 6 && !strcmp(buf, "abc") && buf[4] == '5', "text: what does not fit is counted and cut off", "%zu, %s", len, buf);
	len = format_to(buf, 0, "x");
	check(len == 1 && buf[0] == 'a', "text: no room at all is left alone", "%zu, %c", len, buf[0]);
	len = format_to(NULL, 0, "%.1f", 1.7976931348623157e308);
	check(len == 311, "text: the largest numbers have all their digits", "%zu characters", len);
}

static void test_sink(void)
{
	char small[7], text[64] = "", wanted[] = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ";
	struct sink s = { .buf = small, .size = sizeof(small), .fd = memfd_create("sink", 0) };

	for (int i = 0; i < 20; i++)
		sink_print(&s, "%d ", i);
	sink_flush(&s);
	check(pread(s.fd, text, sizeof(text) - 1, 0) == (ssize_t)strlen(wanted) && !strcmp(text, wanted) && !s.err,
	      "text: a buffer of 7 bytes writes all that is put into it", "%s (%d)", text, s.err);
	close(s.fd);
	s.fd = open("/dev/full", O_WRONLY);
	sink_print(&s, "%s", "more than seven bytes");
	sink_flush(&s);
	check(s.err == ENOSPC, "text: a full device is noticed", "%d", s.err);
	close(s.fd);
}

/* === Numbers ============================================================================================================== */

static void check_parsed(const char *what, const char *text, const char *wrong, const char *wanted_wrong, double value,
			 double wanted)
{
	char name[128];
	bool ok = wanted_wrong ? wrong && strstr(wrong, wanted_wrong) : !wrong && value == wanted;

	snprintf(name, sizeof(name), "%s: '%.40s' %s", what, text, wanted_wrong ? wanted_wrong : "is taken");
	check(ok, name, "wanted %s %.17g, came %s %.17g", wanted_wrong ? wanted_wrong : "", wanted, wrong ? wrong : "",
	      value);
}

static void test_parse_count(void)
{
	static const char not_whole[] = "is not a whole number", small[] = "is too small", large[] = "is too large";
	static const struct { const char *text, *wrong; uint64_t min, max, value; } rows[] = {
		{ "0", NULL, 0, 10, 0 },
		{ "1", NULL, 1, 4096, 1 },
		{ "10", NULL, 0, 10, 10 },
		{ "007", NULL, 0, 10, 7 },
		{ "65536", NULL, 1, 65536, 65536 },
		{ "9007199254740992", NULL, 0, UINT64_MAX, 9007199254740992 },
		{ "11", large, 0, 10, 0 },
		{ "0", small, 1, 10, 0 },
		{ "4", small, 5, 10, 0 },
		{ "", "is empty", 0, 10, 0 },
		{ "5x", not_whole, 0, 10, 0 },
		{ "x5", not_whole, 0, 10, 0 },
		{ "-1", not_whole, 0, 10, 0 },
		{ "-0", not_whole, 0, 10, 0 },
		{ "+1", not_whole, 0, 10, 0 },
		{ " 1", not_whole, 0, 10, 0 },
		{ "1 ", not_whole, 0, 10, 0 },
		{ "1e3", not_whole, 0, 10000, 0 },
		{ "0x10", not_whole, 0, 100, 0 },
		{ "1.0", not_whole, 0, 10, 0 },
		{ "1,000", not_whole, 0, 10000, 0 },
		{ "4294967297", large, 0, 10, 0 },
		{ "18446744073709551616", large, 0, 10, 0 },
		{ "18446744073709551617", large, 0, UINT64_MAX, 0 },
		{ "184467440737095516160", large, 0, UINT64_MAX, 0 },
		{ "99999999999999999999999999999999999999999999", large, 0, UINT64_MAX, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t value = 0;
		const char *wrong = parse_count(rows[i].text, rows[i].min, rows[i].max, &value);

		check_parsed("count", rows[i].text, wrong, rows[i].wrong, value, rows[i].value);
	}
}

static void test_parse_decimal(void)
{
	static const char not_seconds[] = "is not a number", small[] = "is too small", large[] = "is too large";
	static const struct { const char *text, *wrong; double value; } rows[] = {
		{ "5", NULL, 5 },
		{ "2.0", NULL, 2 },
		{ "1.", NULL, 1 },
		{ ".5", NULL, 0.5 },
		{ "0.25", NULL, 0.25 },
		{ "00012.125", NULL, 12.125 },
		{ "0.01", NULL, 0.01 },
		{ "86400", NULL, 86400 },
		{ "86400.1", large, 0 },
		{ "0.001", small, 0 },
		{ "0", small, 0 },
		{ "", "is empty", 0 },
		{ ".", not_seconds, 0 },
		{ "..5", not_seconds, 0 },
		{ "1.2.3", not_seconds, 0 },
		{ "5x", not_seconds, 0 },
		{ "5s", not_seconds, 0 },
		{ "-1", not_seconds, 0 },
		{ "+1", not_seconds, 0 },
		{ " 1", not_seconds, 0 },
		{ "1 ", not_seconds, 0 },
		{ "1e3", not_seconds, 0 },
		{ "0x10", not_seconds, 0 },
		{ "1,5", not_seconds, 0 },
		{ "inf", not_seconds, 0 },
		{ "nan", not_seconds, 0 },
		{ "18446744073709551616", large, 0 },
		{ "1000000000000000000000000000000000000000000000000000", large, 0 },
	};
	char text[1024];
	double value = 0;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *wrong = parse_decimal(rows[i].text, 0.01, SECONDS_MAX, &value);

		check_parsed("seconds", rows[i].text, wrong, rows[i].wrong, wrong ? 0 : value, rows[i].value);
	}
	memset(text, '9', sizeof(text) - 1); /* more than a double holds */
	text[sizeof(text) - 1] = 0;
	check_parsed("seconds", text, parse_decimal(text, 0, SECONDS_MAX, &value), large, 0, 0);
}

static void test_parse_cpus(void)
{
	static const struct { const char *text; unsigned n, first, last; } rows[] = {
		{ "0", 1, 0, 0 },	 { "0,2-5", 5, 0, 5 },	   { "2-5", 4, 2, 5 },	       { "3-3", 1, 3, 3 },
		{ "7,1", 2, 7, 1 },	 { "8191", 1, 8191, 8191 }, { "0-8191", 8192, 0, 8191 },
		  { "8190-8191,0", 3, 8190, 0 },
	};
	static const char *const wrong[] = {
		"",	"5-2",	"1-",  "-1", "-",	",",	    "0,",	"0,,1",	     ",0",	 "8192",
		"0-8192",
		"a",	"0-a",	"1-2-3", " 0", "0, 1", "0x1",	    "+1",	"1.5",	     "4294967296",
		"18446744073709551617",
		"0000000000000000",
	};
	static struct cpu_list cpus;
	char name[64];
	bool ok;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *why = parse_cpus(rows[i].text, &cpus);

		snprintf(name, sizeof(name), "cpus: '%s' is taken", rows[i].text);
		check(!why && cpus.n == rows[i].n && cpus.cpu[0] == rows[i].first &&
		      cpus.cpu[cpus.n - 1] == rows[i].last, name,
		      "wanted %u from %u to %u, came %s %u from %u", rows[i].n, rows[i].first, rows[i].last,
		      why ? why : "", cpus.n, cpus.cpu[0]);
	}
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		const char *why = parse_cpus(wrong[i], &cpus);

		snprintf(name, sizeof(name), "cpus: '%s' is no list", wrong[i]);
		check(why && strstr(why, "is not a list of CPUs"), name, "wanted a refusal, came %s", why ? why : "a list");
	}
	ok = !!parse_cpus("0-8191,5", &cpus);
	check(ok && cpus.n <= CPUS_MAX, "cpus: one more than there is room for is refused", "came %u", cpus.n);
	parse_cpus("0,2-5", &cpus);
	ok = cpus.cpu[0] == 0 && cpus.cpu[1] == 2 && cpus.cpu[2] == 3 && cpus.cpu[3] == 4 && cpus.cpu[4] == 5;
	check(ok, "cpus: '0,2-5' is 0, 2, 3, 4 and 5", "came others");
}

static void test_edit_distance(void)
{
	static const struct { const char *a, *b; unsigned distance; } rows[] = {
		{ "kitten", "sitting", 3 }, { "saturday", "sunday", 3 },
		  { "flaw", "lawn", 2 },	{ "intention", "execution", 5 },
		{ "", "", 0 },		    { "", "abc", 3 },		   { "fentry", "fentry", 0 },
		  { "fentry", "fexit", 4 },
		{ "ab", "ba", 2 },	    { "gumbo", "gambol", 2 },	   { "a", "b", 1 },	{ "book", "back", 2 },
	};
	char a[65], b[65], name[80];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		unsigned there = edit_distance(rows[i].a, rows[i].b), back = edit_distance(rows[i].b, rows[i].a);

		snprintf(name, sizeof(name), "distance: %s and %s, both ways", rows[i].a, rows[i].b);
		check(there == rows[i].distance && back == there, name, "wanted %u, came %u and %u", rows[i].distance,
		      there, back);
	}
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	a[63] = b[63] = 0;
	check_number("distance: names of 63 characters", 63, edit_distance(a, b));
	a[63] = 'a';
	a[64] = 0;
	check(edit_distance(a, b) == UINT_MAX && edit_distance(b, a) == UINT_MAX,
	      "distance: a name of 64 characters is infinitely far", "came %u", edit_distance(a, b));
}

/* A pipe gives short reads and has no size; a child fills it in pieces of 997 bytes. */
static int read_through_pipe(size_t len, size_t max, struct bytes *out)
{
	int fds[2], result;
	pid_t child;

	fflush(stdout);
	if (pipe(fds) || (child = fork()) < 0)
		die("pipe or fork");
	if (!child) {
		uint8_t piece[997];

		signal(SIGPIPE, SIG_DFL);
		close(fds[0]);
		for (size_t at = 0; at < len; at += sizeof(piece)) {
			size_t n = len - at < sizeof(piece) ? len - at : sizeof(piece);

			for (size_t i = 0; i < n; i++)
				piece[i] = (at + i) * 31 >> 3;
			if (write(fds[1], piece, n) != (ssize_t)n)
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	result = read_whole(fds[0], max, out);
	close(fds[0]);
	waitpid(child, NULL, 0);
	return result;
}

static void test_read_whole(void)
{
	const size_t len = 300000;
	struct bytes b = { 0 };
	int err = read_through_pipe(len, 1 << 20, &b);
	bool same = !err && b.len == len && !b.at[len];

	for (size_t i = 0; same && i < len; i++)
		same = b.at[i] == (uint8_t)(i * 31 >> 3);
	check(same, "bytes: a file without a size is read to its end, a NUL behind it", "came %d, %" PRIu64 " bytes",
	      err, b.len);
	bytes_free(&b);
	err = read_through_pipe(1000, 1000, &b);
	check(!err && b.len == 1000, "bytes: a file of the largest size is read", "came %d, %" PRIu64 " bytes", err, b.len);
	bytes_free(&b);
	err = read_through_pipe(1001, 1000, &b);
	check(err == -EFBIG, "bytes: a file one byte larger is too large", "wanted %d, came %d", -EFBIG, err);
	err = read_through_pipe(0, 1000, &b);
	check(!err && !b.len, "bytes: an empty file has no bytes", "came %d, %" PRIu64 " bytes", err, b.len);
	bytes_free(&b);
	err = read_whole(-1, 1000, &b);
	check(err == -EBADF, "bytes: a file that cannot be read gives its errno", "wanted %d, came %d", -EBADF, err);
}

/* === Names ================================================================================================================ */

static void test_matches(void)
{
	static const struct { const char *pattern, *text; bool fits; } rows[] = {
		{ "", "", true },	      { "", "a", false },	       { "*", "", true },
		{ "*", "fentry", true },      { "**", "fentry", true },	       { "?", "", false },
		{ "?", "a", true },	      { "??", "a", false },	       { "fentry", "fentry", true },
		{ "fentry", "fentry2", false }, { "fentry2", "fentry", false }, { "f?ntry", "fentry", true },
		{ "f*y", "fentry", true },    { "f*x", "fentry", false },      { "*probe", "kretprobe", true },
		{ "*probe", "kprobe-multi", false }, { "kprobe*", "kprobe", true },
		  { "*-multi", "kprobe-multi-multi", true },
		{ "a*b*c", "aXbXbXc", true }, { "a*b*c", "aXcXb", false },     { "*a?", "aab", true },
		{ "*?", "", false },	      { "?*", "x", true },	       { "a**", "a", true },
		{ "[ab]", "a", false },	      { "[ab]", "[ab]", true },	       { "Fentry", "fentry", false },
		{ "\\*", "*", false },	      { "a*", "b", false },	       { "*ab", "aab", true },
	};
	static char text[50001];
	uint64_t start;
	bool fits;
	char name[96];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		snprintf(name, sizeof(name), "glob: '%s' %s '%s'", rows[i].pattern,
			 rows[i].fits ? "fits" : "does not fit", rows[i].text);
		check(matches(rows[i].pattern, rows[i].text) == rows[i].fits, name, "came the opposite");
	}
	memset(text, 'a', sizeof(text) - 1);
	start = now_ns();
	fits = matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text);
	check(!fits && now_ns() - start < 5 * NS, "glob: many stars on a long name end at once",
	      "came %d after %" PRIu64 " ns", fits, now_ns() - start);
}

/* The names of a choice, a space between them. */
static void choice_text(const struct choice *choice, char *out, size_t size)
{
	out[0] = 0;
	for (unsigned i = 0; i < choice->n; i++) {
		size_t len = strlen(out);

		snprintf(out + len, size - len, "%s%s", i ? " " : "", choice->rows[i]->name);
	}
}

static void test_choose(void)
{
	static const struct { const char *given, *wanted; } rows[] = {
		{ "fentry", "fentry" },
		{ "trig-fentry", "fentry" },
		{ "fentry-batch", "fentry" },
		{ "trig-fentry-batch", "fentry" },
		{ "trig-kprobe-multi-all", "kprobe-multi-all" },
		{ "base", "syscall-count" },
		{ "trig-base", "syscall-count" },
		{ "uprobe-base", "usermode-count" },
		{ "trig-uprobe-base", "usermode-count" },
		{ "kretprobe-mult?", "kretprobe-multi" },
		{ "trig-f?ntry", "fentry" },
		{ "kprobe-multi*", "kprobe-multi kprobe-multi-all kprobe-multi-legacy" },
		{ "f[ae]ntry", "" },
		{ "Fentry", "" },
		{ "fentry ", "" },
		{ "fentry-batch-batch", "" },
		{ "trig-trig-fentry", "" },
		{ "trig-", "" },
		{ "-batch", "" },
		{ "", "" },
		{ "nothing", "" },
		{ "fentryfentryfentryfentryfentryfentryfentryfentryfentryfentryfentryfentry", "" },
		/* 63 stars and more: whatever is cut off must not make it fit */
		{ "***************************************************************nothing", "" },
	};
	char name[128], text[1024];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct choice choice = { 0 };
		bool found = choose(&choice, rows[i].given, false);

		choice_text(&choice, text, sizeof(text));
		snprintf(name, sizeof(name), "names: '%.80s' is %s", rows[i].given,
			 *rows[i].wanted ? rows[i].wanted : "nothing");
		check(found == !!*rows[i].wanted && !strcmp(text, rows[i].wanted), name, "came %.200s",
		      *text ? text : "nothing");
	}
}

static bool choice_has(const struct choice *choice, const char *name)
{
	for (unsigned i = 0; i < choice->n; i++)
		if (!strcmp(choice->rows[i]->name, name))
			return true;
	return false;
}

static void test_suites(void)
{
	/* What tools/testing/selftests/bpf/benchs/run_bench_trigger.sh runs. */
	static const char *const script[] = { "usermode-count", "kernel-count", "syscall-count", "fentry", "fexit",
					      "fmodret", "rawtp", "tp",
					      "kprobe", "kprobe-multi", "kprobe-multi-all", "kretprobe", "kretprobe-multi",
					      "kretprobe-multi-all" };
	struct choice all = { 0 }, trig = { 0 }, many = { 0 }, nearly = { 0 };
	unsigned times = 0, wrong = 0;
	const char *missing = NULL;

	choose(&all, "all", false);
	for (unsigned i = 0; i < all.n; i++)
		wrong += all.rows[i] != &rows[i];
	check(all.n == COUNT_OF(rows) && !wrong, "names: the suite all is every row in the table's order",
	      "wanted %zu, came %u", COUNT_OF(rows), all.n);
	choose(&trig, "trig", false);
	for (size_t i = 0; i < COUNT_OF(script); i++)
		missing = choice_has(&trig, script[i]) ? missing : script[i];
	check(!missing, "names: the suite trig has all that the kernel's script runs", "wanted %s as well", missing);
	while (times < 100 && choose(&many, "all", false))
		times++;
	check(times == COUNT_OF(many.rows) / COUNT_OF(rows) && many.n <= COUNT_OF(many.rows),
	      "names: more rows than there is room for are refused", "came %u times all, %u rows", times, many.n);
	while (nearly.n < COUNT_OF(nearly.rows) - 1)
		choose(&nearly, "fentry", false);
	check(!choose(&nearly, "all", false), "names: a suite of which only a part has room is refused", "came %u rows", nearly.n);
	check(choose(&all, "fentry", false) && all.n == COUNT_OF(rows) + 1 && !strcmp(all.rows[all.n - 1]->name, "fentry"),
	      "names: a name given again is run again, behind the others", "came %u rows", all.n);
}

static void test_nearest_names(void)
{
	static const struct { const char *given, *first; } rows[] = {
		{ "fentri", "fentry" }, { "fenty", "fentry" }, { "fentry2", "fentry" },		{ "ftnery", "fentry" },
		{ "kprob", "kprobe" },	{ "fmod-ret", "fmodret" },
		  { "trig-fexitt", "fexit" },	{ "syscal-count", "syscall-count" },
		{ "tp-btf", "tpbtf" },
	};
	static const char *const many[] = { "abcdefgX", "abcdefYX", "abcdefgh1", "abcdefg", "1abcdefgh", "xyz" };
	struct near some = { .wanted = "abcdefgh" };
	char name[80], wanted[128], long_name[65];
	const char *near;
	unsigned commas = 0;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		near = nearest_names(rows[i].given);
		snprintf(name, sizeof(name), "names: near '%s' is %s", rows[i].given, rows[i].first);
		snprintf(wanted, sizeof(wanted), "; did you mean %s", rows[i].first);
		check(!strncmp(near, wanted, strlen(wanted)), name, "came '%s'", near);
	}
	near = nearest_names("xyzzyxyzzyxyzzy");
	check(!*near, "names: nothing is near a name unlike all", "came '%s'", near);
	near = nearest_names("probe");
	for (const char *c = near; *c; c++)
		commas += *c == ',';
	check(commas == 2 && strstr(near, ", "), "names: no more than three near names, commas between them", "came '%s'", near);
	for (size_t i = 0; i < COUNT_OF(many); i++)
		near_look(&some, many[i]);
	check(!strcmp(near_text(&some), "; did you mean abcdefgX, abcdefgh1, abcdefg"),
	      "names: the nearest first, equally near ones in the order in which they came", "came '%s'", near_text(&some));
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	some = (struct near){ .wanted = "aaa" };
	near_look(&some, long_name);
	check(!some.n, "names: a name of 64 characters is near nothing", "came '%s'", near_text(&some));
}

/* --- the table itself ----------------------------------------------------------------------------------------------------- */

static bool is_suite_or_alias(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(suites); i++)
		if (!strcmp(suites[i].name, name))
			return true;
	for (size_t i = 0; i < COUNT_OF(aliases); i++)
		if (!strcmp(aliases[i].old, name))
			return true;
	return false;
}

static bool is_row(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (!strcmp(rows[i].name, name))
			return true;
	return false;
}

/* What is wrong with a row, or NULL. */
static const char *row_fault(const struct row *row, const struct object *embedded)
{
	for (const struct row *other = rows; other < row; other++)
		if (!strcmp(other->name, row->name))
			return "has the name of another row";
	if (!row->name[0] || strpbrk(row->name, " \t*?,=") || strlen(row->name) > 60 || row->name[0] == '-')
		return "has a name that cannot be given";
	if ((is_suite_or_alias(row->name) && strcmp(row->name, "private-stack")) || !strcmp(row->name, "list"))
		return "has the name of a suite, an alias or a command";
	if (!strncmp(row->name, "trig-", 5) || strstr(row->name, "-batch"))
		return "has a name that is taken apart";
	if (!row->needs || !*row->needs || !row->help || !*row->help)
		return "lacks its needs or its help";
	if (!row->produce)
		return "has no producer";
	if (!row->prog != (row->method == NO_METHOD))
		return "has a program without a method, or a method without a program";
	if (row->prog && !row->target)
		return "has a program and no target";
	if (row->prog && (row->method >= COUNT_OF(methods) || !methods[row->method].name || !methods[row->method].attach))
		return "has a method that is not in the table of methods";
	if (row->prog && !object_has_prog(embedded, row->prog))
		return "has a program that is not in the object";
	if (row->driver && !object_has_prog(embedded, row->driver))
		return "has a driver that is not in the object";
	return NULL;
}

static void test_rows(void)
{
	struct image image = copy_embedded();
	const char *wrong = NULL;
	struct object obj;
	char name[96];

	open_image(&obj, image);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *fault = row_fault(&rows[i], &obj);

		snprintf(name, sizeof(name), "rows: %s is whole", rows[i].name);
		check(!fault, name, "it %s", fault);
	}
	for (size_t i = 0; i < COUNT_OF(aliases); i++)
		wrong = is_row(aliases[i].name) ? wrong : aliases[i].old;
	check(!wrong, "rows: every alias stands for a row", "%s does not", wrong);
	check(object_has_prog(&obj, "empty"), "rows: the program for all other functions is there", "empty is not");
	object_close(&obj);
	image_free(&image);
}

/* === Options ============================================================================================================== */

/* Standard output and standard error go into a file in memory, until capture_end() gives back its text. */
static int capture_begin(int saved[2])
{
	int file = memfd_create("output", 0);

	fflush(stdout);
	saved[0] = dup(STDOUT_FILENO);
	saved[1] = dup(STDERR_FILENO);
	if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0)
		die("cannot capture the output");
	return file;
}

static void capture_end(int file, const int saved[2], char *text, size_t size)
{
	ssize_t n;

	fflush(stdout);
	dup2(saved[0], STDOUT_FILENO);
	dup2(saved[1], STDERR_FILENO);
	close(saved[0]);
	close(saved[1]);
	n = pread(file, text, size - 1, 0);
	text[n > 0 ? n : 0] = 0;
	close(file);
}

/* The options and names of an argument vector, and for commands that have them the rows. */
static int parse_vector(int argc, char **argv, struct settings *set, struct names *names, struct choice *choice)
{
	int code;

	*names = (struct names){ .command = CMD_RUN };
	code = parse_words(argc ? argc - 1 : 0, argv + 1, set, names);
	return code == GO_ON && names->command & (CMD_RUN | CMD_LIST | CMD_JIT) ? choose_all(set, names, choice) : code;
}

/* Parses words that spaces separate. `text` is what was said, or for GO_ON the settings, a space behind each. */
static int parse_text(const char *words, bool as_bench, char *text, size_t size)
{
	static struct settings set;
	struct choice choice = { 0 };
	static struct names names;
	char *copy = strdup(words), *argv[16] = { "bpftrig" }, *save = NULL;
	int argc = 1, file, code, saved[2];

	for (char *word = strtok_r(copy, " ", &save); word && argc < 15; word = strtok_r(NULL, " ", &save))
		argv[argc++] = strcmp(word, "''") ? word : "";
	set = (struct settings){ .producer_list = { 1, { 1 } }, .batch_list = { 1, { BATCH_DEFAULT } }, .as_bench = as_bench,
				 .duration = 2, .warmup = 0.3, .precision = -1, .fail_above = -1 };
	file = capture_begin(saved);
	code = parse_vector(argc, argv, &set, &names, &choice);
	capture_end(file, saved, text, size);
	if (code == GO_ON)
		snprintf(text, size,
			 "duration=%g warmup=%g producers=%d batch=%d affinity=%d quiet=%d verbose=%d list=%d cpus=%u obj=%s "
			 "rows=%u first=%s every=%d command=%s names=%u precision=%g fail=%g format=%s save=%s svg=%s chart=%d ",
			 set.duration, set.warmup, (int)set.producer_list.v[0], (int)set.batch_list.v[0], set.affinity, set.quiet,
			 set.verbose, set.list,
			 set.prod_cpus.n, set.obj_path ? set.obj_path : "none", choice.n,
			 choice.n ? choice.rows[0]->name : "none",
			 choice.n == COUNT_OF(rows), command_name(names.command), names.n, set.precision, set.fail_above,
			 set.format ? set.format : "none", set.save ? set.save : "none", set.svg ? set.svg : "none", set.chart);
	free(copy);
	return code;
}

static void check_options(const char *words, bool as_bench, int wanted, const char *says)
{
	char name[128], text[8192];
	int code = parse_text(words, as_bench, text, sizeof(text));

	snprintf(name, sizeof(name), "options: %s%.70s %s", as_bench ? "bench " : "", *words ? words : "(none)",
		 wanted == GO_ON ? "is taken" : wanted == EXIT_MISUSE ? "is misuse" : "ends well");
	check(code == wanted && says_all(text, says), name, "wanted %d '%s', came %d '%.200s'", wanted, says, code, text);
}

static void test_options(void)
{
	static const struct { const char *words; int code; const char *says; } rows[] = {
		{ "", GO_ON,
		  "duration=2 |producers=1 |batch=100 |quiet=0 |verbose=0 |list=0 |cpus=0 |obj=none |"
		  "first=usermode-count |every=0 " },
		{ "-d5 fentry", GO_ON, "duration=5 |rows=1 |first=fentry " },
		{ "-d 5 fentry", GO_ON, "duration=5 |rows=1 |first=fentry " },
		{ "--duration=5", GO_ON, "duration=5 " },
		{ "--duration=5 fentry", GO_ON, "duration=5 |rows=1 |first=fentry " },
		{ "--duration 5 fentry", GO_ON, "duration=5 |rows=1 " },
		{ "-d.5", GO_ON, "duration=0.5 " },
		{ "fentry -d 5", GO_ON, "duration=5 |rows=1 |first=fentry " },
		{ "-d 1 -d 3", GO_ON, "duration=3 " },
		{ "-w0", GO_ON, "warmup=0 " },
		{ "--warmup=1.5", GO_ON, "warmup=1.5 " },
		{ "-p 4", GO_ON, "producers=4 " },
		{ "-p4096", GO_ON, "producers=4096 " },
		{ "--producers=2", GO_ON, "producers=2 " },
		{ "-c 0", GO_ON, "producers=1 " },
		{ "-c0", GO_ON, "producers=1 " },
		{ "-a", GO_ON, "affinity=1 |quiet=0 " },
		{ "-aq", GO_ON, "affinity=1 |quiet=1 " },
		{ "-qa fentry", GO_ON, "affinity=1 |quiet=1 |rows=1 " },
		{ "-aqd5 fentry", GO_ON, "affinity=1 |quiet=1 |duration=5 |rows=1 " },
		{ "-aqd 5 fentry", GO_ON, "affinity=1 |quiet=1 |duration=5 |rows=1 " },
		{ "--quiet", GO_ON, "quiet=1 " },
		{ "-v", GO_ON, "verbose=1 " },
		{ "--batch 65536", GO_ON, "batch=65536 " },
		{ "--batch=1", GO_ON, "batch=1 " },
		{ "--trig-batch-iters=1000", GO_ON, "batch=1000 " },
		{ "--nr-batch-iters 7", GO_ON, "batch=7 " },
		{ "--obj some.o", GO_ON, "obj=some.o " },
		{ "--obj=a=b.o", GO_ON, "obj=a=b.o " },
		{ "-l", GO_ON, "list=1 |every=1 " },
		{ "list", GO_ON, "list=1 |first=usermode-count |every=1 " },
		{ "list fentry", GO_ON, "list=1 |rows=1 |first=fentry " },
		{ "-q list fentry", GO_ON, "list=1 |quiet=1 |rows=1 " },
		{ "-- fentry", GO_ON, "rows=1 |first=fentry " },
		{ "-q -- fentry", GO_ON, "quiet=1 |rows=1 " },
		{ "fentry fexit", GO_ON, "rows=2 |first=fentry " },
		{ "fexit fentry", GO_ON, "rows=2 |first=fexit " },
		{ "--precision 0.1", GO_ON, "precision=0.1 |command=a run of rows " },
		{ "--precision=0", GO_ON, "precision=0 " },
		{ "--format json --save a.txt --svg b.svg", GO_ON, "format=json |save=a.txt |svg=b.svg |chart=0 " },
		{ "--save a --svg a", EXIT_MISUSE, "--save and --svg: both are a" },
		{ "--format bench --chart --profile", GO_ON, "chart=1 " },
		{ "--format csv --chart", EXIT_MISUSE, "--chart and --profile: only with --format bench" },
		{ "--format ktap --profile", EXIT_MISUSE, "--chart and --profile: only with --format bench" },
		{ "jit fentry --raw", GO_ON, "command=jit |rows=1 " },
		{ "jit", EXIT_MISUSE, "jit: of which row?" },
		{ "--raw fentry", EXIT_MISUSE, "--raw: not for a run of rows" },
		{ "compare fentry fexit", GO_ON, "command=compare |names=2 |precision=-1 |fail=-1 " },
		{ "compare -d 1 a b --fail-above 2.5 -q", GO_ON, "command=compare |names=2 |fail=2.5 |duration=1 |quiet=1 " },
		{ "diff a b", GO_ON, "command=diff |names=2 " },
		{ "diff --fail-above=0 a,b c", GO_ON, "command=diff |names=2 |fail=0 " },
		{ "-- compare", EXIT_MISUSE, "compare: no such benchmark" },
		{ "fentry compare", EXIT_MISUSE, "compare: no such benchmark" },
		{ "diff compare list", GO_ON, "command=diff |names=2 " },
		{ "--precision 101", EXIT_MISUSE, "--precision: '101' is too large (0 to 100)" },
		{ "--precision=-1", EXIT_MISUSE, "--precision: '-1' is not a number" },
		{ "--format xml", EXIT_MISUSE, "'xml' is none of bench, overhead, gobench, json, csv, ktap" },
		{ "--fail-above 1", EXIT_MISUSE, "--fail-above: not for a run of rows" },
		{ "list --save x", EXIT_MISUSE, "--save: not for list" },
		{ "compare --svg x a b", EXIT_MISUSE, "--svg: not for compare" },
		{ "compare -w 1 a b", EXIT_MISUSE, "--warmup: not for compare" },
		{ "diff -d 1 a b", EXIT_MISUSE, "--duration: not for diff" },
		{ "diff --obj x a b", EXIT_MISUSE, "--obj: not for diff" },
		{ "--args x", EXIT_MISUSE, "--args: not for a run of rows" },
		{ "initramfs --on-exit halt", EXIT_MISUSE, "--on-exit: not for initramfs" },
		{ "-h", EXIT_FINE, "Usage: bpftrig|--duration SEC|fentry" },
		{ "--help", EXIT_FINE, "Usage: bpftrig" },
		{ "-V", EXIT_FINE, "bpftrig " VERSION },
		{ "--version", EXIT_FINE, EMBEDDED_SOURCE },
		{ "-d", EXIT_MISUSE, "-d: wants a value" },
		{ "-qd", EXIT_MISUSE, "-d: wants a value" },
		{ "--duration", EXIT_MISUSE, "--duration: wants a value" },
		{ "--duration=", EXIT_MISUSE, "--duration|is empty" },
		{ "--obj", EXIT_MISUSE, "--obj: wants a value" },
		{ "--obj=", EXIT_MISUSE, "--obj: is empty" },
		{ "--obj ''", EXIT_MISUSE, "--obj: is empty" },
		{ "-d 5x", EXIT_MISUSE, "-d: '5x' is not a number" },
		{ "-d=5", EXIT_MISUSE, "-d: '=5'" },
		{ "-d 0", EXIT_MISUSE, "-d: '0' is too small" },
		{ "-d -1", EXIT_MISUSE, "-d: '-1'" },
		{ "-d inf", EXIT_MISUSE, "-d: 'inf'" },
		{ "-d 1e9", EXIT_MISUSE, "-d: '1e9'" },
		{ "-d 86401", EXIT_MISUSE, "-d: '86401' is too large" },
		{ "-p 0", EXIT_MISUSE, "-p: '0' is too small" },
		{ "-p -1", EXIT_MISUSE, "-p: '-1'" },
		{ "-p 4097", EXIT_MISUSE, "-p: '4097' is too large" },
		{ "-p 1.5", EXIT_MISUSE, "-p: '1.5'" },
		{ "--batch 0", EXIT_MISUSE, "--batch: '0' is too small" },
		{ "--batch 65537", EXIT_MISUSE, "--batch: '65537' is too large" },
		{ "--batch=18446744073709551716", EXIT_MISUSE, "--batch|is too large" },
		{ "-c 1", EXIT_MISUSE, "-c: '1'|no consumers" },
		{ "--consumers=2", EXIT_MISUSE, "--consumers: '2'|no consumers" },
		{ "--quiet=1", EXIT_MISUSE, "--quiet: takes no value" },
		{ "--help=1", EXIT_MISUSE, "--help: takes no value" },
		{ "-x", EXIT_MISUSE, "-x: no such option" },
		{ "-qx", EXIT_MISUSE, "-x: no such option" },
		{ "--nope", EXIT_MISUSE, "--nope: no such option" },
		{ "--nope=5", EXIT_MISUSE, "--nope: no such option" },
		{ "--dur=5", EXIT_MISUSE, "--dur: no such option" },
		{ "--=5", EXIT_MISUSE, "no such option" },
		{ "---", EXIT_MISUSE, "---: no such option" },
		{ "-", EXIT_MISUSE, "-: no such benchmark" },
		{ "-- -q", EXIT_MISUSE, "-q: no such benchmark" },
		{ "''", EXIT_MISUSE, "no such benchmark" },
		{ "fentri", EXIT_MISUSE, "fentri: no such benchmark; did you mean fentry" },
		{ "fentry list", EXIT_MISUSE, "list: no such benchmark" },
		{ "-q -v", EXIT_MISUSE, "-q and -v" },
		{ "-qv", EXIT_MISUSE, "-q and -v" },
		{ "all all all all all", EXIT_MISUSE, "too many rows" },
		{ "--prod-affinity 0,", EXIT_MISUSE, "--prod-affinity: '0,' is not a list" },
		{ "--prod-affinity=5-2", EXIT_MISUSE, "--prod-affinity: '5-2' is not a list" },
		{ "--prod-affinity=", EXIT_MISUSE, "--prod-affinity: '' is not a list" },
		{ "--prod-affinity", EXIT_MISUSE, "--prod-affinity: wants a value" },
		{ "-p 3 --prod-affinity 0-1", EXIT_MISUSE, "2 CPUs for 3 producers" },
		{ "--prod-affinity 0-1 -p 3", EXIT_MISUSE, "2 CPUs for 3 producers" },
		{ "--prod-affinity 8191", EXIT_MISUSE, "CPU 8191 is not online" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_options(rows[i].words, false, rows[i].code, rows[i].says);
}

static void test_options_as_bench(void)
{
	check_options("trig-fentry", true, GO_ON, "rows=1 |first=fentry |affinity=0 ");
	check_options("-w3 -d5 -a -p2 trig-kprobe", true, GO_ON,
		      "duration=5 |warmup=3 |producers=2 |affinity=1 |first=kprobe ");
	check_options("-l", true, GO_ON, "list=1 ");
	check_options("trig-fentry trig-fexit", true, GO_ON, "rows=2 |first=fentry ");
	check_options("", true, EXIT_MISUSE, "which benchmark?");
	check_options("-d5", true, EXIT_MISUSE, "which benchmark?");
	check_options("--chart trig-fentry", true, EXIT_MISUSE, "--chart, --profile and --format: not as bench");
	check_options("--format csv trig-fentry", true, EXIT_MISUSE, "--chart, --profile and --format: not as bench");
	check_options("--save x trig-fentry", true, GO_ON, "save=x |first=fentry ");
}

/* One CPU that this process may use, found by the C library. */
static void test_options_with_cpus(void)
{
	cpu_set_t may;
	char words[64];
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(may), &may))
		return; /* more than 1024 CPUs */
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &may))
		cpu++;
	snprintf(words, sizeof(words), "--prod-affinity %d", cpu);
	check_options(words, false, GO_ON, "affinity=1 |cpus=1 ");
	snprintf(words, sizeof(words), "-p2 --prod-affinity=%d,%d", cpu, cpu);
	check_options(words, false, GO_ON, "affinity=1 |cpus=2 |producers=2 ");
	snprintf(words, sizeof(words), "-p2 --prod-affinity=%d", cpu);
	check_options(words, false, EXIT_MISUSE, "1 CPUs for 2 producers");
	snprintf(words, sizeof(words), "--prod-affinity=%d,8191", cpu);
	check_options(words, false, EXIT_MISUSE, "CPU 8191");
}

/* A vector without even a program's name, as some callers of execve() make it. */
static void test_options_empty_vector(void)
{
	static struct settings set;
	static struct names names;
	struct choice choice = { 0 };
	char *argv[] = { NULL, NULL };

	set = (struct settings){ .producer_list = { 1, { 1 } }, .batch_list = { 1, { 1 } } };
	check(parse_vector(0, argv, &set, &names, &choice) == GO_ON && choice.n,
	      "options: an empty vector is taken as no arguments", "came %u rows", choice.n);
}

static void test_split_words(void)
{
	static const struct { const char *text; bool behind; const char *words; } rows[] = {
		{ "", false, "" }, { "  \n ", false, "" }, { "a b", false, "a|b|" }, { " a  b\n", false, "a|b|" },
		{ "quiet -- -d1 fentry", true, "-d1|fentry|" }, { "quiet", true, "" }, { "a -- b -- c", true, "b|--|c|" },
		{ "compare 'fentry -p2' \"kprobe -s\"", false, "compare|fentry -p2|kprobe -s|" }, { "'' x", false, "|x|" },
		{ "it's 'open end", false, "it's|'open|end|" }, { "'a' 'b'c", false, "a|b|c|" }, { "'-- '", true, "" },
	};
	char text[128], joined[128], name[160], *argv[16];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int argc = split_words(strcpy(text, rows[i].text), rows[i].behind, 0, argv, 16);

		joined[0] = 0;
		snprintf(name, sizeof(name), "words: %.*s", (int)strcspn(rows[i].text, "\n"), rows[i].text);
		for (int j = 0; j < argc; j++)
			strcat(strcat(joined, argv[j]), "|");
		check(!strcmp(joined, rows[i].words) && !argv[argc], name, "'%s', not '%s'", joined, rows[i].words);
	}
	check(split_words(strcpy(text, "1 2 3 4 5"), false, 0, argv, 4) == 3 && !argv[3], "words: no more than there is room for", "%s", argv[0]);
}

/* One side of compare. */
static void test_sides(void)
{
	static const struct { const char *text; int code; const char *says; } rows[] = {
		{ "fentry", GO_ON, "fentry p=1 batch=100" },
		{ "trig-fentry", GO_ON, "fentry p=1 batch=100" },
		{ " fentry  -p2 ", GO_ON, "fentry p=2 batch=100" },
		{ "-s --batch=64 rawtp", GO_ON, "rawtp p=1 batch=64" },
		{ "private-stack", EXIT_MISUSE, "'private-stack' is more than one row" },
		{ "", EXIT_MISUSE, "'' names no row" },
		{ "-p2", EXIT_MISUSE, "'-p2' names no row" },
		{ "fentry fexit", EXIT_MISUSE, "more than one row" },
		{ "trig", EXIT_MISUSE, "more than one row" },
		{ "fentry -p1,2", EXIT_MISUSE, "more than one row" },
		{ "nothing", EXIT_MISUSE, "nothing: no such benchmark" },
		{ "fentry -d5", EXIT_MISUSE, "--duration: not for one side of compare" },
		{ "list", EXIT_MISUSE, "list: no such benchmark" },
		{ "fentry -p0", EXIT_MISUSE, "-p: '0' is too small" },
	};
	static struct side side;
	static struct settings set;
	char long_text[600], text[512], name[80];

	memset(long_text, 'a', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	set = (struct settings){ .producer_list = { 1, { 1 } }, .batch_list = { 1, { BATCH_DEFAULT } }, .precision = -1, .fail_above = -1 };
	for (size_t i = 0; i <= COUNT_OF(rows); i++) {
		bool is_long = i == COUNT_OF(rows);
		int saved[2], file = capture_begin(saved), code;

		memset(&side, 0, sizeof(side));
		code = parse_side(&side, is_long ? long_text : rows[i].text, &set);
		capture_end(file, saved, text, sizeof(text));
		if (code == GO_ON)
			snprintf(text, sizeof(text), "%s p=%u batch=%u", side.choice.rows[0]->name, side.set.producers, side.set.batch);
		snprintf(name, sizeof(name), "sides: '%.40s'", is_long ? long_text : rows[i].text);
		check(code == (is_long ? EXIT_MISUSE : rows[i].code) && says_all(text, is_long ? "is too long" : rows[i].says), name, "came %d '%s'", code, text);
	}
}

static void test_options_table(void)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < COUNT_OF(options); i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(options[i].name, options[j].name) || (options[i].letter &&
									  options[i].letter == options[j].letter))
				wrong = options[i].name;
	check(!wrong, "options: every name and letter is there once", "%s is not", wrong);
}

/* === Statistics ==============================================================================================================
 * The numbers wanted were computed apart from this program: means and deviations by Python's statistics module, rates in
 * exact fractions, all else by numpy and scipy (tests/reference.py prints them).
 */

static bool near(double came, double wanted, double relative)
{
	return wanted ? fabs(came / wanted - 1) <= relative : came == 0;
}

static void check_near(const char *name, double wanted, double came, double relative)
{
	check(near(came, wanted, relative), name, "wanted %.12g, came %.12g", wanted, came);
}

static void test_means(void)
{
	static const double one[] = { 3.5 }, two[] = { 1, 2 }, eight[] = { 2, 4, 4, 4, 5, 5, 7, 9 },
	far[] = { 1e9, 1e9 + 1, 1e9 + 2 };
	double twenty[20], many[200];

	for (int i = 0; i < 20; i++)
		twenty[i] = i * 37 % 101 / 7.0;
	for (int i = 0; i < 200; i++)
		many[i] = 62.5 + i * 7919 % 1000 / 1e4;
	check_near("statistics: the mean of nothing is 0", 0, mean_of(one, 0), 0);
	check_near("statistics: the mean of one", 3.5, mean_of(one, 1), 0);
	check_near("statistics: the mean of two", 1.5, mean_of(two, 2), 0);
	check_near("statistics: the mean of 20", 6.92857142857143, mean_of(twenty, 20), 1e-13);
	check_near("statistics: the mean of 200", 62.54955, mean_of(many, 200), 1e-13);
	check_near("statistics: the deviation of nothing is 0", 0, deviation_of(one, 0), 0);
	check_near("statistics: the deviation of one is 0", 0, deviation_of(one, 1), 0);
	check_near("statistics: the deviation of two", 0.707106781186548, deviation_of(two, 2), 1e-13);
	check_near("statistics: the deviation of eight is that of a sample", 2.1380899352994, deviation_of(eight, 8),
		   1e-13);
	check_near("statistics: the deviation of large numbers keeps its digits", 1, deviation_of(far, 3), 1e-13);
	check_near("statistics: the deviation of 20", 4.43995626109421, deviation_of(twenty, 20), 1e-13);
	check_near("statistics: the deviation of 200", 0.02916824355632, deviation_of(many, 200), 1e-11);
}

static void test_student(void)
{
	static const struct { double level; unsigned degrees; double t; } rows[] = {
		{ 0.95, 1, 12.70620474 }, { 0.95, 2, 4.30265273 }, { 0.95, 3, 3.182446305 }, { 0.95, 4, 2.776445105 },
		{ 0.95, 7, 2.364624251 }, { 0.95, 10, 2.228138852 }, { 0.95, 19, 2.093024054 }, { 0.95, 30, 2.042272456 },
		{ 0.95, 100, 1.983971518 }, { 0.95, 999, 1.962341461 }, { 0.99, 1, 63.65674116 }, { 0.99, 2, 9.924843201 },
		{ 0.99, 3, 5.8409093 }, { 0.99, 4, 4.604094871 }, { 0.99, 7, 3.499483297 }, { 0.99, 10, 3.169272667 },
		{ 0.99, 19, 2.860934606 }, { 0.99, 30, 2.749995654 }, { 0.99, 100, 2.625890521 }, { 0.99, 999, 2.580759637 },
	};
	static const struct { double t; unsigned degrees; double within; } inside[] = {
		{ 0.5, 1, 0.2951672353 }, { 1.7, 2, 0.7687665738 }, { 2.5, 5, 0.9455099007 }, { 3.1, 40, 0.9964630916 },
		{ 12, 3, 0.9987549842 }, { 0, 4, 0 },
	};
	char name[80];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		snprintf(name, sizeof(name), "statistics: Student's t of %u degrees at %.2f", rows[i].degrees, rows[i].level);
		check_near(name, rows[i].t, student(rows[i].level, rows[i].degrees), 1e-8);
	}
	for (size_t i = 0; i < COUNT_OF(inside); i++) {
		snprintf(name, sizeof(name), "statistics: so much is within %g of %u degrees", inside[i].t, inside[i].degrees);
		check_near(name, inside[i].within, student_within(inside[i].t, inside[i].degrees), 1e-9);
	}
	check(isinf(student(0.95, 0)), "statistics: no degree of freedom, no interval", "came %g", student(0.95, 0));
}

static double twenty[20], slow[20], noisy[20], speeds[20], spiked[32];

static void make_samples(void)
{
	for (int i = 0; i < 20; i++) {
		twenty[i] = i * 37 % 101 / 7.0;
		slow[i] = 100 + i / 4 + i * 37 % 11 / 10.0;
		noisy[i] = 62.5 + i * 7919 % 1000 / 1e4;
		speeds[i] = i < 12 ? 30 + i * 37 % 11 / 100.0 : 33 + (i - 12) * 37 % 11 / 100.0;
	}
	for (int i = 0; i < 30; i++)
		spiked[i] = 50 + i * 37 % 20 / 10.0;
	spiked[30] = 70;
	spiked[31] = 20.5;
}

static void test_estimates(void)
{
	static const double two[] = { 1, 2 }, three[] = { 1, 2, 4 };
	static const struct { const char *name; const double *x; unsigned n; double level, correlation, mean, half; } rows[] = {
		{ "twenty", twenty, 20, 0.95, 0, 6.928571429, 2.077963494 },
		{ "twenty at 0.99", twenty, 20, 0.99, 0, 6.928571429, 2.84034847 },
		{ "twenty that grow slowly", slow, 20, 0.95, 0.8970588235, 102.5, 2.500537031 },
		{ "twenty that are a little alike", noisy, 20, 0.95, 0.4740886096, 62.55305, 0.02701948069 },
		{ "the same at 0.99", noisy, 20, 0.99, 0.4740886096, 62.55305, 0.0409384506 },
		{ "two", two, 2, 0.95, 0, 1.5, 6.353102368 },
		{ "three", three, 3, 0.95, 0.2857142857, 2.333333333, 3.794583034 },
	};
	static const double equal[] = { 7, 7, 7, 7 };
	char name[80];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct estimate e = estimate_mean(rows[i].x, rows[i].n, rows[i].level);

		snprintf(name, sizeof(name), "statistics: the correlation of %s", rows[i].name);
		check_near(name, rows[i].correlation, correlation_of(rows[i].x, rows[i].n), 1e-9);
		snprintf(name, sizeof(name), "statistics: the mean and the interval of %s", rows[i].name);
		check(near(e.mean, rows[i].mean, 1e-9) && near(e.half, rows[i].half, 1e-8), name, "wanted %.10g ± %.10g, came %.10g ± %.10g",
		      rows[i].mean, rows[i].half, e.mean, e.half);
	}
	check(isinf(estimate_mean(two, 1, 0.95).half) && isinf(estimate_mean(two, 0, 0.95).half),
	      "statistics: one value has no interval, none neither", "it has");
	check_near("statistics: equal values have an interval of none", 0, estimate_mean(equal, 4, 0.95).half, 0);
}

static void test_shapes(void)
{
	static const struct { const char *name; double *x; unsigned n; double quartiles[3]; unsigned outliers, cut; double explained; } rows[] = {
		{ "twenty", twenty, 20, { 3.178571429, 6.928571429, 10.67857143 }, 0, 10, 0.7480411922 },
		{ "two far out", spiked, 32, { 50.475, 51.05, 51.525 }, 2, 4, 0.2241160212 },
		{ "two speeds", speeds, 20, { 30.0375, 30.085, 33.025 }, 0, 12, 0.9995208797 },
	};
	static const double equal[] = { 7, 7, 7, 7 };
	double explained;
	char name[80];

	check_near("statistics: no trend", 1.45999279, trend_of(twenty, 20), 1e-8);
	check_near("statistics: a trend upwards", 5.158641192, trend_of(slow, 20), 1e-8);
	check_near("statistics: hardly one downwards", -0.8111071057, trend_of(noisy, 20), 1e-8);
	check_near("statistics: equal values have no trend", 0, trend_of(equal, 4), 0);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		unsigned cut;

		sort_numbers(rows[i].x, rows[i].n);
		for (int q = 0; q < 3; q++) {
			snprintf(name, sizeof(name), "statistics: quartile %d of %s", q + 1, rows[i].name);
			check_near(name, rows[i].quartiles[q], quantile_of(rows[i].x, rows[i].n, (q + 1) / 4.0), 1e-9);
		}
		snprintf(name, sizeof(name), "statistics: outliers of %s", rows[i].name);
		check_number(name, rows[i].outliers, count_outliers(rows[i].x, rows[i].n));
		cut = best_cut(rows[i].x, rows[i].n, &explained);
		snprintf(name, sizeof(name), "statistics: the best cut of %s", rows[i].name);
		check(cut == rows[i].cut && near(explained, rows[i].explained, 1e-9), name, "wanted %u %.10g, came %u %.10g", rows[i].cut,
		      rows[i].explained, cut, explained);
	}
	check(best_cut(equal, 4, &explained) == 0 && explained == 0, "statistics: equal values are not cut", "%g", explained);
	check(count_outliers(equal, 4) == 0, "statistics: equal values have no outliers", "they have");
}

static void test_trimmed(void)
{
	static const struct { const char *name; const double *x; unsigned n; double mean, half; } rows[] = {
		{ "twenty", twenty, 20, 6.928571429, 3.891005261 },
		{ "twenty that grow slowly", slow, 20, 102.5, 7.927531463 },
		{ "twenty that are a little alike", noisy, 20, 62.55594167, 0.07557543782 },
		{ "two far out", spiked, 32, 51, 0.4390540746 },
	};
	double copy[32], four[] = { 1, 2, 4, 8 };
	char name[80];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct estimate e = estimate_trimmed(memcpy(copy, rows[i].x, rows[i].n * sizeof(*copy)), rows[i].n, 0.99);

		snprintf(name, sizeof(name), "statistics: the trimmed mean of %s", rows[i].name);
		check(near(e.mean, rows[i].mean, 1e-9) && near(e.half, rows[i].half, 1e-8), name, "wanted %.10g ± %.10g, came %.10g ± %.10g", rows[i].mean,
		      rows[i].half, e.mean, e.half);
	}
	check(estimate_trimmed(four, 4, 0.99).mean == 3.75, "statistics: four values are too few to trim", "%g", estimate_trimmed(four, 4, 0.99).mean);
}

static void test_mann_whitney(void)
{
	double alike[20], shifted[20];
	const struct { const char *name; const double *x; unsigned n; const double *y; unsigned m; double p; } rows[] = {
		{ "five and five", (double[]){ 1, 2, 3, 4, 5 }, 5, (double[]){ 3.5, 6, 7, 8, 9 }, 5, 0.03174603175 },
		{ "four and four apart", (double[]){ 1, 2, 3, 4 }, 4, (double[]){ 5, 6, 7, 8 }, 4, 0.02857142857 },
		{ "three and seven", (double[]){ 10, 20, 30 }, 3, (double[]){ 1, 2, 3, 11, 12, 13, 31 }, 7, 0.3833333333 },
		{ "one and one", (double[]){ 1 }, 1, (double[]){ 2 }, 1, 1 },
		{ "twenty and twenty alike", noisy, 20, alike, 20, 0.5517566612 },
		{ "twenty and twenty apart", twenty, 20, slow, 20, 1.45088891e-11 },
		{ "ties", (double[]){ 1, 1, 2, 2, 3 }, 5, (double[]){ 2, 2, 3, 3, 4, 4 }, 6, 0.07167312914 },
		{ "all equal", (double[]){ 7, 7, 7 }, 3, (double[]){ 7, 7, 7 }, 3, 1 },
		{ "equal on each side", (double[]){ 7, 7, 7, 7 }, 4, (double[]){ 8, 8, 8, 8 }, 4, 0.01312380678 },
		{ "thirty-two and twenty", spiked, 32, shifted, 20, 0.828716352 },
	};
	double x[32], y[32];
	char name[80];

	for (int i = 0; i < 20; i++) {
		alike[i] = 62.5 + i * 104729 % 1000 / 1e4;
		shifted[i] = twenty[i] + 43.7;
	}
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		memcpy(x, rows[i].x, rows[i].n * sizeof(*x));
		memcpy(y, rows[i].y, rows[i].m * sizeof(*y));
		sort_numbers(x, rows[i].n);
		sort_numbers(y, rows[i].m);
		snprintf(name, sizeof(name), "statistics: Mann and Whitney's p of %s", rows[i].name);
		check(fabs(mann_whitney(x, rows[i].n, y, rows[i].m) - rows[i].p) < 1e-5 &&
			      fabs(mann_whitney(y, rows[i].m, x, rows[i].n) - rows[i].p) < 1e-5,
		      name, "wanted %.9g, came %.9g and %.9g", rows[i].p, mann_whitney(x, rows[i].n, y, rows[i].m),
		      mann_whitney(y, rows[i].m, x, rows[i].n));
	}
	check_near("statistics: Mann and Whitney's least p keeps its digits", 1.45088891e-11,
		   (memcpy(x, twenty, sizeof(twenty)), memcpy(y, slow, sizeof(slow)), sort_numbers(x, 20), sort_numbers(y, 20), mann_whitney(x, 20, y, 20)),
		   1e-8);
}

static double random_number(void);
static double random_normal(void);

/* The ratio's interval: two sides alike but for noise of either kind, and one three hundredths slower. */
static void test_ratio(void)
{
	double d[160]; /* rounds in ten seconds */
	unsigned differ = 0, found = 0;
	struct ratio r;

	for (int run = 0; run < 2000; run++)
		for (int slower = 0; slower < 2; slower++) {
			for (int i = 0; i < 160; i++) {
				double a = 50 * (1 + 0.01 * random_normal()) * (random_number() < 0.2 ? 1.2 : 1);
				double b = 50 * (slower ? 1.03 : 1) * (1 + 0.01 * random_normal()) * (random_number() < 0.2 ? 1.2 : 1);

				d[i] = (b - a) / (b + a);
			}
			r = ratio_of(d, 160);
			differ += !slower && (r.low > 1 || r.high < 1);
			found += slower && r.low > 1;
		}
	check(differ <= 40, "compare: at most 2 of 100 comparisons of equals find a difference", "%.2f", differ / 20.0);
	check(found >= 1900, "compare: three hundredths are found in at least 95 of 100, a fifth of the rounds disturbed", "%.2f", found / 20.0);
	for (int i = 0; i < 100; i++)
		d[i] = (1.5 - 1) / (1.5 + 1);
	r = ratio_of(d, 100);
	check(near(r.value, 1.5, 1e-12) && near(r.low, 1.5, 1e-12) && near(r.high, 1.5, 1e-12), "compare: without noise, the ratio is exact", "%g %g %g",
	      r.value, r.low, r.high);
}

/* A random number between 0 and 1 (Marsaglia's xorshift), and a normal one from two of them (Box and Muller). */
static double random_number(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) / 9007199254740992.0;
}

static double random_normal(void)
{
	return sqrt(-2 * log(1 - random_number())) * cos(2 * M_PI * random_number());
}

/*
 * The whole way to an interval: 20 rounds of five windows, each as much like the one before as `like` says, with five that nobody looks at
 * between two rounds; ended early at `precision` times the interval that 20 rounds would have. How many of 2000 hold the truth?
 */
static unsigned simulate(double like, double precision, double *rounds)
{
	const double truth = 31, deviation = 0.01, whole = 2.09 * deviation * sqrt((1 + like) / (1 - like) / 100);
	const struct plan plan = { .precision = precision * whole };
	static struct window w[WINDOWS_MAX];
	unsigned holds = 0;

	*rounds = 0;
	for (int run = 0; run < 2000; run++) {
		struct result res = { .with = { w, 0, 5 } };
		double x = random_normal();
		struct estimate e;

		while (series_rounds(&res.with) < ROUNDS && !is_precise(&res, &plan))
			for (int i = 0; i < PARTS; i++) {
				x = like * x + sqrt(1 - like * like) * random_normal();
				if (i < 5)
					w[res.with.n++] = (struct window){ truth * (1 + deviation * x) * 1e7, 10000000000 };
			}
		e = series_rate(&res.with);
		holds += fabs(e.mean - truth) <= e.half;
		*rounds += series_rounds(&res.with) / 2000.0;
	}
	return holds;
}

static void test_coverage(void)
{
	static const double likes[] = { 0, 0.15, 0.3, 0.6, 0.75 }, precisions[] = { 0, 1.3, 1.8 };
	char name[120];

	for (size_t i = 0; i < COUNT_OF(likes); i++)
		for (size_t j = 0; j < COUNT_OF(precisions); j++) {
			double rounds;
			unsigned holds = simulate(likes[i], precisions[j], &rounds);

			snprintf(name, sizeof(name), "statistics: 93 to 97 %% of 2000 intervals hold the truth (correlation %.2f, %s)", likes[i],
				 j ? j > 1 ? "ended early" : "some ended early" : "whole");
			check(holds >= 1860 && holds <= 1940 && (rounds < ROUNDS) == (j > 0), name, "%.2f %%, after %.1f rounds", holds / 20.0, rounds);
		}
}

/* Windows of unequal length, around 62.7 million hits a second. */
static void make_windows(struct window *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		w[i].ns = 10000000 + i * 7919 % 1000 * 1000;
		w[i].hits = w[i].ns / 16 + i * 104729 % 5000;
	}
}

static void test_rates(void)
{
	static const struct { unsigned n, per_round; double rate, half; } rows[] = {
		{ 0, 10, 0, INFINITY },
		{ 1, 10, 62.5, INFINITY },
		{ 2, 10, 62.72603853, 2.751226719 },
		{ 19, 10, 62.71811001, 0.2241044914 },
		{ 20, 10, 62.7303072, 1.030262176 },
		{ 37, 5, 62.73065089, 0.09580560262 },
		{ 200, 10, 62.73917393, 0.02983682236 },
		{ 104, 5, 62.74584037, 0.04512072817 },
		{ 60, 1, 62.74667662, 0.1386711437 },
	};
	struct window w[200], zero = { 5, 0 }, none = { 0, 5 }, large[] = { { 1ULL << 62, NS }, { 1ULL << 62, NS } };
	char name[80];

	make_windows(w, COUNT_OF(w));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct series s = { w, rows[i].n, rows[i].per_round };
		struct estimate e = series_rate(&s);

		snprintf(name, sizeof(name), "statistics: the rate of %u windows, %u a round", rows[i].n, rows[i].per_round);
		check((isinf(rows[i].half) ? isinf(e.half) : near(e.half, rows[i].half, 1e-7)) && near(e.mean, rows[i].rate, 1e-8), name,
		      "wanted %.10g ± %.10g, came %.10g ± %.10g", rows[i].rate, rows[i].half, e.mean, e.half);
	}
	check_near("statistics: the rate of a part", windows_rate(w + 5, 0, 4), windows_rate(w, 5, 9), 1e-15);
	check_near("statistics: a window without time has no rate", 0, windows_rate(&zero, 0, 1), 0);
	check_near("statistics: a window without hits has none", 0, windows_rate(&none, 0, 1), 0);
	check(isinf(windows_cost(&none, 0, 1)), "statistics: what never happened costs infinitely much", "%g", windows_cost(&none, 0, 1));
	check_near("statistics: 2^63 hits do not overflow", (1ULL << 62) / 1e6, windows_rate(large, 0, 2), 1e-9);
}

/* Equal windows: whatever is computed, the spread is none. */
static void test_equal_windows(void)
{
	struct window w[200], bare[200];
	struct series with = { w, 200, 10 }, without = { bare, 200, 10 };
	struct estimate e;

	for (unsigned i = 0; i < COUNT_OF(w); i++) {
		w[i] = (struct window){ 500000, 10000000 };
		bare[i] = (struct window){ 2000000, 10000000 };
	}
	e = series_rate(&with);
	check(near(e.mean, 50, 1e-15) && e.half == 0, "statistics: equal windows have their rate and no interval", "%g ± %g", e.mean, e.half);
	e = net_cost(&with, &without, 1);
	check(near(e.mean, 15, 1e-15) && e.half == 0, "statistics: the net cost of 20 ns against 5", "%g ± %g", e.mean, e.half);
	e = net_cost(&with, &without, 2);
	check(near(e.mean, 35, 1e-15) && e.half == 0, "statistics: two hits a pass cost twice as much a pass", "%g ± %g", e.mean, e.half);
	without.n = 19;
	e = net_cost(&with, &without, 1);
	check(isinf(e.half), "statistics: one round of a side is no net cost", "%g ± %g", e.mean, e.half);
	without.n = 0;
	e = net_cost(&with, &without, 1);
	check(isinf(e.half), "statistics: no other side, no net cost", "%g ± %g", e.mean, e.half);
	without.n = 200;
	w[15].hits = 0;
	for (int i = 10; i < 20; i++)
		w[i].hits = 0;
	e = net_cost(&with, &without, 1);
	check(near(e.mean, 200e7 / (190 * 5e5) - 5, 1e-12) && e.half == 0, "statistics: a round without a hit is in the mean, and not in the interval", "%g ± %g", e.mean, e.half);
}

/* The remarks behind a figure. `rate` gives the windows' rates. */
static void check_remarks(const char *name, double (*rate)(unsigned i), double share, double precision, const char *wanted)
{
	static struct window w[WINDOWS_MAX];
	struct result res = { .with = { w, 100, 5 }, .share = share };
	struct settings set = { .precision = precision, .producers = 1 };

	for (unsigned i = 0; i < 100; i++)
		w[i] = (struct window){ rate(i) * 1e4, 10000000 };
	note_irregularities(&set, &res);
	check(*wanted ? says_all(res.note, wanted) : !*res.note, name, "wanted '%s', came '%s'", wanted, res.note);
}

static double rate_even(unsigned i)
{
	return 31 + i * 37 % 11 / 1000.0;
}

static double rate_spikes(unsigned i)
{
	return i == 20 || i == 70 ? 25 : rate_even(i);
}

static double rate_two(unsigned i)
{
	return rate_even(i) - (i * 7 % 10 < 4 ? 2 : 0);
}

static double rate_drift(unsigned i)
{
	return rate_even(i) + i / 100.0;
}

static double rate_wild(unsigned i)
{
	return 31 + i / 5 * 37 % 11 / 4.0;
}

static void test_remarks(void)
{
	check_remarks("remarks: an even run has none", rate_even, 1, 0.5, "");
	check_remarks("remarks: outliers are counted", rate_spikes, 1, 5, "2 of 100 windows far out");
	check_remarks("remarks: two speeds are named", rate_two, 1, 5, "two speeds, 29.005 and 31.005M/s");
	check_remarks("remarks: a drift has its size", rate_drift, 1, 5, "drift of +1.6 %");
	check_remarks("remarks: a noisy run", rate_wild, 1, 0.5, "too noisy for 0.5 %");
	check_remarks("remarks: noise is none where no precision is asked for", rate_wild, 1, 0, "");
	check_remarks("remarks: a shared CPU", rate_even, 0.71, 0.5, "CPU shared with others: a producer had 71 % of it");
}

/* === Saved results ======================================================================================================== */

static void test_values(void)
{
	static const struct { const char *text; bool good; double value; } rows[] = {
		{ "0", true, 0 }, { "12.5", true, 12.5 }, { "-3.25", true, -3.25 }, { "+7", true, 7 }, { "1e3", true, 1000 },
		{ "1.5E+2", true, 150 }, { "25e-1", true, 2.5 }, { "0.0001", true, 0.0001 }, { ".5", true, 0.5 },
		{ "", false, 0 }, { "-", false, 0 }, { "e3", false, 0 }, { "1e", false, 0 }, { "1e+", false, 0 }, { "1e-", false, 0 },
		{ "nan", false, 0 }, { "inf", false, 0 }, { "1,5", false, 0 }, { "0x10", false, 0 }, { "1e301", false, 0 },
		{ "9e300", false, 0 }, { "1 ", false, 0 }, { "--1", false, 0 }, { "1e5e5", false, 0 },
	};
	char name[80], copy[32];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		double value = 0;
		bool good = parse_value(strcpy(copy, rows[i].text), &value);

		snprintf(name, sizeof(name), "saved: '%s' is %s", rows[i].text, rows[i].good ? "a value" : "none");
		check(good == rows[i].good && (!good || near(value, rows[i].value, 1e-12)), name, "came %d %g", good, value);
	}
}

/* What saved_read() makes of a text: "NAME UNIT VALUE kernel=...; " for each value, or what it says. */
static bool read_saved(const char *bytes, size_t len, char *text, size_t size)
{
	static struct saved saved;
	char *exact = malloc(len + 1); /* the address sanitizer sees each byte too many */
	int files[2], file = capture_begin(files);
	bool good;

	memcpy(exact, bytes, len);
	exact[len] = 0;
	memset(&saved, 0, sizeof(saved));
	good = saved_read(&saved, "FILE", (struct bytes){ (uint8_t *)exact, len }, true);
	capture_end(file, files, text, size);
	for (unsigned i = 0; good && i < saved.n; i++) {
		const struct sample *s = &saved.v[i];
		size_t used = strlen(text);

		snprintf(text + used, size - used, "%s %s %g kernel=%s%s%s; ", saved.lines[s->line].name, saved.lines[s->line].unit, s->value,
			 saved.sides[1].origins[s->origin].kernel, *saved.sides[1].origins[s->origin].host ? " host=" : "",
			 saved.sides[1].origins[s->origin].host);
	}
	mem_free(saved.v);
	free(exact);
	return good;
}

static void test_saved(void)
{
	static const struct { const char *name, *bytes; bool good; const char *says; } rows[] = {
		{ "saved: one line", "BenchmarkA 1 2.5 ns/op\n", true, "A ns/op 2.5 kernel=; " },
		{ "saved: a last line without its end", "BenchmarkA 1 2.5 ns/op", true, "A ns/op 2.5 kernel=; " },
		{ "saved: lines that end as on Windows", "kernel: 7\r\nBenchmarkA 1 2.5 ns/op\r\n", true, "A ns/op 2.5 kernel=7; " },
		{ "saved: two units, tabs", "BenchmarkA-8\t1\t2.5 ns/op\t3 B/op\n", true, "A-8 ns/op 2.5 kernel=; |A-8 B/op 3 kernel=; " },
		{ "saved: two kernels, and the first again", "kernel: 5\nBenchmarkA 1 1 ns/op\nkernel: 6\nBenchmarkA 1 2 ns/op\nkernel:5\nBenchmarkA 1 3 ns/op\n",
		  true, "A ns/op 1 kernel=5; A ns/op 2 kernel=6; A ns/op 3 kernel=5; " },
		{ "saved: two hosts, and a header without one",
		  "pkg: a\nkernel: 5\nhost: x\nBenchmarkA 1 1 ns/op\npkg: a\nhost: y\nkernel: 5\nBenchmarkA 1 2 ns/op\npkg: a\nkernel: 5\nBenchmarkA 1 3 ns/op\n",
		  true, "A ns/op 1 kernel=5 host=x; A ns/op 2 kernel=5 host=y; A ns/op 3 kernel=5; " },
		{ "saved: what Go's tools write beside", "goos: linux\n# remark\nPASS\nok  \tx 1.2s\n\nUnit ns/op better=lower\nBenchmarkA\nBenchmarkA 1 2 ns/op\n",
		  true, "A ns/op 2 kernel=; " },
		{ "saved: nothing", "", false, "FILE: holds no results" },
		{ "saved: only a header", "kernel: 7\n", false, "FILE: holds no results" },
		{ "saved: JSON", "{\n  \"context\"", false, "FILE:1: this is no line of a result file" },
		{ "saved: another table", "kernel: 7\nrawtp          :   31.002 ± 0.015M/s\n", false, "FILE:2: this is no line" },
		{ "saved: no value", "BenchmarkA 1\n", false, "FILE:1: it has no value" },
		{ "saved: no unit", "x: y\nBenchmarkA 1 2\n", false, "FILE:2: a value has no unit" },
		{ "saved: no unit for the second", "BenchmarkA 1 2 ns/op 3\n", false, "FILE:1: a value has no unit" },
		{ "saved: iterations of no kind", "BenchmarkA x 2 ns/op\n", false, "FILE:1: the number of iterations" },
		{ "saved: a value of no kind", "\n\nBenchmarkA 1 2,5 ns/op\n", false, "FILE:3: a value is no number" },
		{ "saved: an ELF file", "\177ELF\2\1\1", false, "FILE:1: this is no line" },
	};
	static const char zero[] = "BenchmarkA 1 2 ns/op\n\0BenchmarkA 1 2 ns/op\n";
	static char many[64 * 1100], text[4096];
	size_t len = 0;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		bool good = read_saved(rows[i].bytes, strlen(rows[i].bytes), text, sizeof(text));

		check(good == rows[i].good && says_all(text, rows[i].says), rows[i].name, "wanted '%s', came '%s'", rows[i].says, text);
	}
	check(!read_saved(zero, sizeof(zero) - 1, text, sizeof(text)) && says_all(text, "has a zero byte"), "saved: a zero byte", "%s", text);
	for (int i = 0; i < 1100; i++)
		len += snprintf(many + len, sizeof(many) - len, "Benchmark%d 1 2 ns/op\n", i);
	check(!read_saved(many, len, text, sizeof(text)) && says_all(text, "FILE:1025: there are too many different results"),
	      "saved: more different results than there is room for", "%.80s", text);
	for (int i = 0, at = len = 0; i < DIFF_ORIGINS + 1; i++, at = len)
		len += snprintf(many + at, sizeof(many) - at, "kernel: %d\nBenchmarkA 1 2 ns/op\n", i);
	check(!read_saved(many, len, text, sizeof(text)) && says_all(text, "there are too many different kernels and hosts"),
	      "saved: more kernels than there is room for", "%.80s", text);
}

/* A result written and read again has the same values, and diff finds nothing between it and itself. */
static void test_saved_again(void)
{
	static struct window w[100], bare[60];
	static struct settings set;
	static char text[1 << 16], wanted[64];
	static struct saved saved;
	struct result res = { .with = { w, 100, 5 }, .without = { bare, 60, 3 }, .hits_per_pass = 1 };
	struct sink s = { .buf = text, .size = sizeof(text), .fd = -1 };
	struct report r;
	const char *wrong = NULL;
	char *copies[2];

	set = (struct settings){ .producers = 2, .batch = 64, .producer_list.n = 1, .batch_list.n = 1 };
	make_windows(w, 100);
	make_windows(bare, 60);
	for (int i = 0; i < 60; i++)
		bare[i].hits *= 3;
	res.net = net_cost(&res.with, &res.without, 1);
	make_report(&r, &set, &rows[3], &res);
	put_gobench_row(&s, &r);
	for (int side = 0; side < 2; side++) {
		copies[side] = memcpy(calloc(1, s.len + 1), text, s.len);
		if (!saved_read(&saved, "FILE", (struct bytes){ (uint8_t *)copies[side], s.len }, side))
			wrong = "it cannot be read";
	}
	check(!wrong && saved.n == 80 && saved.line_n == 2 && !strcmp(saved.lines[0].name, "Trigger/fentry/batch=64-2"),
	      "saved: twenty rounds of two units on each side come back", "%u values, %u lines, %s", saved.n, saved.line_n,
	      saved.line_n ? saved.lines[0].name : "none");
	for (unsigned i = 0; i < saved.n; i++) {
		double value = saved.v[i].line ? round_net_ns(&r, i % 40 / 2) : round_ns(&r, i % 40 / 2);

		snprintf(wanted, sizeof(wanted), "%.4f", value);
		if (fabs(saved.v[i].value - strtod(wanted, NULL)) > 1e-9)
			wrong = "a value is another";
	}
	check(!wrong, "saved: every value comes back to its last digit", "%s", wrong);
	free(copies[0]);
	free(copies[1]);
}

/* === Configuration ======================================================================================================== */

/* What gzip makes of a text; the bytes to their exact length. */
static struct bytes gzip_of(const char *text, size_t len, const char *how)
{
	char command[80], path[] = "/tmp/bpftrig-unit-XXXXXX";
	int fd = mkstemp(path);
	struct bytes packed = { 0 };
	uint8_t *exact;
	FILE *gzip;

	snprintf(command, sizeof(command), "gzip %s >%s", how, path);
	gzip = popen(command, "w");
	if (fd < 0 || !gzip || fwrite(text, 1, len, gzip) != len || pclose(gzip) || read_path(path, 1 << 24, &packed))
		die("gzip: no");
	unlink(path);
	close(fd);
	exact = memcpy(malloc(packed.len), packed.at, packed.len);
	len = packed.len;
	bytes_free(&packed);
	return (struct bytes){ exact, len };
}

static void test_gunzip(void)
{
	static char text[400000];
	static uint8_t out[sizeof(text) + 1];
	static const char *const how[] = { "-1c", "-6c", "-9c" };
	const char *wrong = NULL;
	size_t len = 0, tried = 0;
	struct bytes packed;

	for (int i = 0; len + 64 < sizeof(text); i++)
		len += i % 7 ? (size_t)snprintf(text + len, 64, "CONFIG_%d=%s\n", i * 7919 % 5000, i % 3 ? "y" : "m")
			     : (size_t)snprintf(text + len, 64, "# CONFIG_%c%d is not set\n", 'A' + i % 26, i);
	for (size_t i = 0; i < COUNT_OF(how); i++) {
		static const size_t lengths[] = { 1, 10, 300, 5000, 70000, 399000 };

		for (size_t j = 0; j < COUNT_OF(lengths); j++, tried++) {
			packed = gzip_of(text, lengths[j], how[i]);
			if (gunzip(packed, out, sizeof(out)) != lengths[j] || memcmp(out, text, lengths[j]))
				wrong = how[i];
			free((void *)packed.at);
		}
	}
	check(!wrong, "config: what gzip packed is unpacked", "with %s it is not", wrong);
	packed = gzip_of(text, 70000, "-9c");
	check(!gunzip(packed, out, 69999), "config: more than there is room for", "is taken");
	for (size_t n = 0; n < packed.len - 8; n += n < 300 ? 1 : 997) { /* the last 8 bytes are the checksum and the length */
		struct bytes cut = { memcpy(malloc(n), packed.at, n), n };

		if (gunzip(cut, out, sizeof(out)))
			wrong = "cut";
		free((void *)cut.at);
	}
	check(!wrong, "config: a file that is cut off", "is taken");
	for (unsigned i = 0; i < 20000; i++) { /* any one byte changed: whatever comes, nothing is read or written outside */
		uint8_t *bytes = (uint8_t *)packed.at, old = bytes[i % packed.len];

		bytes[i % packed.len] = i * 31 + i / packed.len;
		gunzip(packed, out, sizeof(out) - 1);
		bytes[i % packed.len] = old;
	}
	check(gunzip(packed, out, sizeof(out)) == 70000, "config: 20000 damaged files are survived", "no");
	free((void *)packed.at);
}

/* === Profile ============================================================================================================== */

static void test_profile(void)
{
	static const char symbols[] = "ffffffff81000000 T first\nffffffff81000010 t second\nffffffff81000010 T same\nffffffff81000018 d data\n"
				      "ffffffff81000020 T third\t[module]\n0000000000000000 T zero\nffffffffc0000000 t bpf_prog_0123456789abcdef_count\t[bpf]\n"
				      "ffffffffc0001000 t bpf_trampoline_1\t[bpf]\nshort\nffffffff8100 T\n";
	static const struct { uint64_t ip; bool user; const char *symbol; enum area area; } wanted[] = {
		{ 0x400000, true, "", AREA_USER },
		{ 0xffffffff80ffffff, false, "", AREA_KERNEL },
		{ 0xffffffff81000000, false, "first", AREA_KERNEL },
		{ 0xffffffff8100000f, false, "first", AREA_KERNEL },
		{ 0xffffffff8100001c, false, "same", AREA_KERNEL },
		{ 0xffffffff81000025, false, "third", AREA_KERNEL },
		{ 0xffffffff82000000, false, "third", AREA_KERNEL },
		{ 0xffffffffc0000123, false, "bpf_prog_0123456789abcdef_count", AREA_PROGRAM },
		{ 0xffffffffc0001004, false, "bpf_trampoline_1", AREA_TRAMPOLINE },
	};
	const struct spot prefix[] = { { .count = 1, .symbol = "sys\n", .len = 3 }, { .count = 1, .symbol = "sys_open\n", .len = 8 } };
	struct profile profile = { .spots = calloc(64, sizeof(struct spot)) };
	char name[96];

	for (size_t i = COUNT_OF(wanted); i-- > 0;)
		for (size_t j = 0; j <= i % 3; j++)
			profile.spots[profile.n++] = (struct spot){ .ip = wanted[i].ip, .count = 1, .is_user = wanted[i].user, .symbol = "" };
	profile_merge(&profile);
	check(profile.n == COUNT_OF(wanted) && profile.samples == 18, "profile: equal addresses are one", "%u of %u", profile.n, profile.samples);
	for (const char *line = symbols; *line; line += strcspn(line, "\n") + 1)
		profile_symbol(&profile, line, strcspn(line, "\n"));
	profile_spread(&profile);
	for (size_t i = 0; i < COUNT_OF(wanted); i++) {
		const struct spot *spot = &profile.spots[i];

		snprintf(name, sizeof(name), "profile: %#" PRIx64 " is in %s", wanted[i].ip, *wanted[i].symbol ? wanted[i].symbol : "no symbol");
		check(spot->ip == wanted[i].ip && spot->count == 1 + i % 3 && (size_t)spot->len == strlen(wanted[i].symbol) &&
			      !strncmp(spot->symbol, wanted[i].symbol, spot->len) && area_of_spot(spot) == wanted[i].area,
		      name, "%.*s %d, %u times", spot->len, spot->symbol, area_of_spot(spot), spot->count);
	}
	check(compare_counts(&prefix[0], &prefix[1]) < 0 && compare_counts(&prefix[1], &prefix[0]) > 0,
	      "profile: of equal counts, a name is before one that goes on", "%d, %d", compare_counts(&prefix[0], &prefix[1]),
	      compare_counts(&prefix[1], &prefix[0]));
	profile_fold(&profile);
	check(profile.n == 7 && profile.spots[0].count == 4 && !strncmp(profile.spots[0].symbol, "first", 5),
	      "profile: one line for each symbol, the most first", "%u, %u times %.5s", profile.n, profile.spots[0].count, profile.spots[0].symbol);
	free(profile.spots);
}

/* A ring of samples that has gone around its end. */
static void test_ring(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *at = mmap(NULL, page + RING_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ring ring = { .page = at };
	struct profile profile = { .spots = calloc(64, sizeof(struct spot)) };
	char *data = (char *)at + page;
	struct { struct perf_event_header h; uint64_t ip; } record = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(record) }, 0x1234 };

	memcpy(data, &record, sizeof(record));
	record.h.type = PERF_RECORD_LOST;
	record.h.size = 24;
	memcpy(data + 16, &record, sizeof(record));
	record.h = (struct perf_event_header){ PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, sizeof(record) };
	record.ip = 0xffffffff81234567;
	memcpy(data + 40, &record, sizeof(record));
	at->data_head = 56;
	profile_read(&profile, &ring);
	check(profile.n == 2 && profile.lost == 1 && profile.spots[0].is_user && profile.spots[0].ip == 0x1234 && !profile.spots[1].is_user &&
		      profile.spots[1].ip == 0xffffffff81234567 && !ring.page,
	      "profile: samples, lost ones and the mode come out of the ring", "%u %u", profile.n, profile.lost);
	free(profile.spots);
}

/* Records smaller than a sample would be more than there is room for; the last here is cut off, too. */
static void test_ring_small(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *at = mmap(NULL, page + RING_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ring ring = { .page = at };
	struct profile profile = { .spots = malloc(sizeof(struct spot)) }; /* as profile_run() has it, for 16 bytes of records */
	const struct perf_event_header small = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(small) };

	for (int i = 0; i < 3; i++)
		memcpy((char *)at + page + i * sizeof(small), &small, sizeof(small));
	at->data_head = 3 * sizeof(small);
	profile_read(&profile, &ring);
	check(!profile.n, "profile: records smaller than a sample end the reading", "%u", profile.n);
	free(profile.spots);
}

/* === Errors =============================================================================================================== */

static void test_errno_names(void)
{
	const char *wrong = NULL;

	check(!strcmp(errno_name(524), "ENOTSUPP"), "errors: 524 is ENOTSUPP", "came %s", errno_name(524));
	check(!strcmp(errno_name(-EPERM), "EPERM"), "errors: a negative errno has its name", "came %s", errno_name(-EPERM));
	check(!strcmp(errno_name(99999), "errno"), "errors: an unknown errno has no name", "came %s", errno_name(99999));
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 32)
	for (size_t i = 0; i < COUNT_OF(errno_names); i++) {
		const char *libc = strerrorname_np(errno_names[i].number);

		if (errno_names[i].number != 524 && (!libc || strcmp(libc, errno_names[i].name)))
			wrong = errno_names[i].name;
	}
#endif
#endif
	check(!wrong, "errors: every errno has the name that the C library gives it", "%s has not", wrong);
}

static bool ends_in_dots(const char *text)
{
	size_t len = strlen(text);

	return len == REASON_MAX - 1 && !strcmp(text + len - 3, "...");
}

static void test_reasons(void)
{
	char longest[REASON_MAX], text[3 * REASON_MAX];
	enum outcome o;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;

	o = skip("%s %d", "one", 2);
	check(o == SKIPPED && !strcmp(reason, "one 2"), "errors: skip() says it and gives SKIPPED", "came %s '%s'",
	      outcome_name(o), reason);
	reason_add("; %s", "three");
	check(!strcmp(reason, "one 2; three"), "errors: reason_add() adds", "came '%s'", reason);
	o = fail("%s %d", "four", 5);
	check(o == FAILED && !strcmp(reason, "four 5"), "errors: fail() says it and gives FAILED", "came %s '%s'",
	      outcome_name(o), reason);

	fail("%s", longest);
	check(!strcmp(reason, longest), "errors: a reason that just fits stays whole", "came %zu characters",
	      strlen(reason));
	reason_add("%s", "");
	check(!strcmp(reason, longest), "errors: nothing added changes nothing", "came '...%s'", reason + REASON_MAX - 8);
	reason_add("z");
	check(ends_in_dots(reason), "errors: one character too many ends in ...", "came '...%s'", reason + REASON_MAX - 8);
	reason_add("%s", text);
	check(ends_in_dots(reason), "errors: adding to a full reason leaves it so", "came '...%s'",
	      reason + REASON_MAX - 8);
	fail("short");
	reason_add("%s", text);
	check(ends_in_dots(reason) && !strncmp(reason, "shorty", 6), "errors: a long addition ends in ...",
	      "came %zu characters", strlen(reason));
	fail("%s", text);
	check(ends_in_dots(reason), "errors: fail() with a text too long ends in ...", "came '...%s'",
	      reason + REASON_MAX - 8);
	skip("%s", text);
	check(ends_in_dots(reason), "errors: skip() with a text too long ends in ...", "came '...%s'",
	      reason + REASON_MAX - 8);
}

static void test_missing_symbol(void)
{
	static const int errs[] = { EINVAL, ENOENT, ESRCH };
	bool ok = true;

	for (size_t i = 0; i < COUNT_OF(errs); i++) {
		char wanted[128];

		snprintf(wanted, sizeof(wanted), "call: %s (%d): |the kernel has no function no_such_function|; needs a kernel", errno_name(errs[i]), errs[i]);
		ok &= blame_missing_symbol("call", -errs[i], "no_such_function", "a kernel") == SKIPPED && says_all(reason, wanted);
	}
	check(ok, "errors: a missing function has one text, whatever the errno", "came '%s'", reason);
}

/* Only what does not depend on the rights of this process or on the settings of this machine. */
static void test_blame(void)
{
	static const struct { enum step step; int err; const char *log; enum outcome outcome; const char *says; } rows[] = {
		{ STEP_MAP, ENOSYS, NULL, SKIPPED, "ENOSYS (38)|CONFIG_BPF_SYSCALL|seccomp" },
		{ STEP_LOAD, ENOSYS, NULL, SKIPPED, "ENOSYS (38)|CONFIG_BPF_SYSCALL" },
		{ STEP_PERF_OPEN, ENOSYS, NULL, SKIPPED, "ENOSYS (38)|CONFIG_PERF_EVENTS" },
		{ STEP_LOAD, EINVAL, "bpf_x() is not modifiable\nprocessed 0 insns\n", SKIPPED,
		  "EINVAL (22)|may not be modified" },
		{ STEP_LOAD, EINVAL, "bpf_x is not sleepable\n", SKIPPED, "EINVAL (22)|sleepable program" },
		{ STEP_LOAD, EINVAL, "calling kernel function bpf_x is not allowed\n", SKIPPED, "EINVAL (22)|kfunc" },
		{ STEP_LOAD, E2BIG, "BPF program is too large. Processed 1000001 insn\n", FAILED, "E2BIG (7)|--batch" },
		{ STEP_ATTACH, 524, NULL, SKIPPED, "ENOTSUPP (524)|no BPF trampoline" },
		{ STEP_ATTACH, EOPNOTSUPP, NULL, SKIPPED, "EOPNOTSUPP (95)|built without" },
		{ STEP_ATTACH, EINVAL, NULL, SKIPPED, "EINVAL (22)|does not know this way" },
		{ STEP_ATTACH, EBUSY, NULL, SKIPPED, "EBUSY (16)|something else holds the target" },
		{ STEP_PERF_OPEN, EBUSY, NULL, SKIPPED, "EBUSY (16)|something else holds the target" },
		{ STEP_TRACEFS, ENOENT, NULL, SKIPPED, "ENOENT (2)|tracepoint" },
		{ STEP_MAP, ENOMEM, NULL, FAILED, "ENOMEM (12)|out of memory" },
		{ STEP_LOAD, ENOMEM, "", FAILED, "ENOMEM (12)|out of memory" },
		{ STEP_PERF_OPEN, EMFILE, NULL, FAILED, "EMFILE (24)|ulimit -n" },
	};
	static const char *const steps[] = { "any call", "a map", "a load", "an attachment", "a perf event", "tracefs", "a test run" };
	/* At another step, or with another log, the same errno is a fault of this program, and no hint is given. */
	static const struct { enum step step; int err; const char *log, *what; } plain[] = {
		{ STEP_LOAD, EINVAL, "R1 invalid mem access 'scalar'\n", "EINVAL while loading" },
		{ STEP_LOAD, EINVAL, NULL, "EINVAL without a log" },
		{ STEP_LOAD, E2BIG, NULL, "E2BIG without a log" },
		{ STEP_ATTACH, EINVAL + 1000, "is not modifiable", "an unknown errno" },
		{ STEP_LOAD, EBUSY, NULL, "EBUSY while loading" },
		{ STEP_TEST_RUN, 524, NULL, "524 of a test run" },
		{ STEP_TEST_RUN, EINVAL, NULL, "EINVAL of a test run" },
		{ STEP_PERF_OPEN, ENOENT, NULL, "ENOENT of a perf event" },
	};
	char name[96];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *log = rows[i].log;
		enum outcome o = (reason[0] = 0, blame(rows[i].step, -rows[i].err, "the call", "a thing", log));

		snprintf(name, sizeof(name), "errors: %s of %s%s%.*s has its hint", errno_name(rows[i].err), steps[rows[i].step],
			 log ? ", log " : "", (int)strcspn(log ? log : "", "\n"), log ? log : "");
		check(o == rows[i].outcome && says_all(reason, rows[i].says) && !strncmp(reason, "the call: ", 10) &&
		      !!strstr(reason, "; needs a thing") == (o == SKIPPED), name, "wanted %s '%s', came %s '%s'",
		      outcome_name(rows[i].outcome), rows[i].says, outcome_name(o), reason);
	}
	for (size_t i = 0; i < COUNT_OF(plain); i++) {
		char wanted[64];
		enum outcome o = blame(plain[i].step, -plain[i].err, "the call", "a thing", plain[i].log);

		snprintf(wanted, sizeof(wanted), "the call: %s (%d)", errno_name(plain[i].err), plain[i].err);
		snprintf(name, sizeof(name), "errors: %s has no hint", plain[i].what);
		check(o == FAILED && !strcmp(reason, wanted), name, "wanted failed '%s', came %s '%s'", wanted,
		      outcome_name(o), reason);
	}
	blame(STEP_ATTACH, -EBUSY, "the call", NULL, NULL);
	check(!strstr(reason, "needs"), "errors: a row without needs names none", "came '%s'", reason);
	check(blame(STEP_LOAD, -EPERM, "the call", "a thing", NULL) != DONE && says_all(reason, "the call: EPERM (1): ") &&
	      !strstr(reason, "needs a thing"), "errors: EPERM is not blamed on what the kernel lacks", "came '%s'",
	      reason);
}

static void test_check_hits(void)
{
	static const struct { const char *name; uint64_t hits,
			      passes; enum outcome outcome; uint64_t excess; const char *says; } rows[] = {
		{ "hits: as many as triggers", 100, 100, DONE, 0, NULL },
		{ "hits: none of none", 0, 0, DONE, 0, NULL },
		{ "hits: one fewer than triggers", 99, 100, FAILED, 0, "1 of 100 triggers did not run" },
		{ "hits: one fewer in a million is no tolerance", 999999, 1000000, FAILED, 0, "1 of 1000000 triggers" },
		{ "hits: a probe that was never hit", 0, 100, FAILED, 0, "100 of 100 triggers did not run" },
		{ "hits: one more in a thousand is tolerated", 1001, 1000, DONE, 1, NULL },
		{ "hits: two more in a thousand are not", 1002, 1000, FAILED, 2, "1002 hits for 1000 triggers" },
		{ "hits: one more in a hundred is not", 101, 100, FAILED, 1, "101 hits for 100 triggers" },
		{ "hits: twice as many as triggers", 200, 100, FAILED, 100, "200 hits for 100 triggers" },
		{ "hits: one of no triggers", 1, 0, FAILED, 1, "1 hits for 0 triggers" },
		{ "hits: very many", 1ULL << 63, 1ULL << 63, DONE, 0, NULL },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t excess = 99;
		enum outcome o = (reason[0] = 0, check_hits(rows[i].hits, rows[i].passes, &excess));

		check(o == rows[i].outcome && excess == rows[i].excess && (!o || says_all(reason, rows[i].says)),
		      rows[i].name,
		      "wanted %s and %" PRIu64 " too many, came %s and %" PRIu64 " '%s'", outcome_name(rows[i].outcome),
		      rows[i].excess,
		      outcome_name(o), excess, reason);
	}
}

/* === Running =================================================================================================================
 * One batch as row_verify() runs it, with producers that do it right and wrong.
 */

static unsigned produced; /* how often a producer below was called */

static void produce_right(struct producer *p)
{
	produced++;
	p->passes += p->batch;
	p->hits += p->batch;
}

static void produce_one_missing(struct producer *p)
{
	produce_right(p);
	p->hits--;
}

static void produce_double(struct producer *p)
{
	produce_right(p);
	p->hits += p->batch;
}

static void produce_disturbed_once(struct producer *p)
{
	produce_right(p);
	p->hits += produced == 1 ? p->batch : 0;
}

static void produce_error(struct producer *p)
{
	produced++;
	p->err = -ENOTCONN;
}

static enum outcome verify_with(void (*produce)(struct producer *p), uint64_t *hits)
{
	static struct settings set;
	static struct run run;
	const struct row row = { .name = "test", .produce = produce };
	struct producer *p = aligned_alloc(_Alignof(struct producer), sizeof(*p));
	enum outcome o;

	if (!p)
		die("out of memory");
	set = (struct settings){ .producers = 1, .batch = 100 };
	memset(p, 0, sizeof(*p));
	memset(&run, 0, sizeof(run));
	run.row = &row;
	run.set = &set;
	run.producers = p;
	run.producer_count = 1;
	reason[0] = 0;
	produced = 0;
	o = row_verify(&run);
	*hits = p->hits;
	free(p);
	return o;
}

static void test_verify(void)
{
	static const struct {
		const char *name;
		void (*produce)(struct producer *p);
		enum outcome outcome;
		unsigned calls;
		const char *says;
	} rows[] = {
		{ "verify: as many hits as passes", produce_right, DONE, 1, NULL },
		{ "verify: a trigger that missed fails at once", produce_one_missing, FAILED, 1,
		  "1 of 100 triggers did not run" },
		{ "verify: hits from elsewhere fail after three tries", produce_double, FAILED, VERIFY_TRIES,
		  "200 hits for 100 triggers" },
		{ "verify: hits from elsewhere that end are forgiven", produce_disturbed_once, DONE, 2, NULL },
		{ "verify: the first failing call ends the row with its errno", produce_error, FAILED, 1,
		  "write /proc/thread-self/comm: errno (107)" },
	};
	uint64_t hits;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		enum outcome o = verify_with(rows[i].produce, &hits);

		check(o == rows[i].outcome && produced == rows[i].calls && (!o || says_all(reason, rows[i].says)),
		      rows[i].name,
		      "wanted %s after %u, came %s after %u '%s'", outcome_name(rows[i].outcome), rows[i].calls,
		      outcome_name(o), produced,
		      reason);
	}
	check_outcome("verify: the user loop counts what it passes", DONE, NULL, verify_with(produce_user_count, &hits));
	check_number("verify: the user loop runs one batch", 100, hits);
	check_outcome("verify: the system call loop counts what it passes", DONE, NULL,
		      verify_with(produce_getpgid, &hits));
}

/* A published figure: 119974 million a second on a CPU of 1.6 GHz. */
static void test_possible(void)
{
	static const struct { const char *name; uint64_t hits; unsigned producers; enum outcome outcome; } rows[] = {
		{ "possible: 119974 million a second are not", 119974000000, 1, FAILED },
		{ "possible: 119974 million a second are not for two producers either", 119974000000, 2, FAILED },
		{ "possible: 5000 million a second are", 5000000000, 1, DONE },
		{ "possible: 119974 million a second are for a hundred producers", 119974000000, 100, DONE },
		{ "possible: no hits at all are not measured", 0, 1, FAILED },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		static struct run run;
		struct window w[2] = { { rows[i].hits / 2, NS / 2 }, { rows[i].hits - rows[i].hits / 2, NS / 2 } };
		struct result res = { .with = { w, 2, 1 } };

		run.producer_count = rows[i].producers;
		check_outcome(rows[i].name, rows[i].outcome, rows[i].hits ? "no machine is that fast" : "not one trigger",
			      (reason[0] = 0, check_possible(&run, &res)));
	}
}

/* === lists, memory, sorting ================================================================================================ */

static void test_parse_counts(void)
{
	static const struct { const char *text; bool good; unsigned n; uint32_t last; } rows[] = {
		{ "1", true, 1, 1 },	 { "1,8,64", true, 3, 64 },  { "4096,1", true, 2, 1 }, { "7,7", true, 2, 7 },
		{ "", false, 0, 0 },	 { ",", false, 0, 0 },	     { "1,", false, 0, 0 },    { ",1", false, 0, 0 },
		{ "1,,2", false, 0, 0 }, { "1, 2", false, 0, 0 },    { "1-3", false, 0, 0 },   { "1,2x", false, 0, 0 },
		{ "0", false, 0, 0 },	 { "1,4097", false, 0, 0 },  { "1;2", false, 0, 0 },
		{ "1,00000000000000000000000000000000000000002", false, 0, 0 },
	};
	struct number_list list;
	char text[LIST_MAX * 2 + 3], name[96];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *wrong = parse_counts(rows[i].text, 1, 4096, &list);

		snprintf(name, sizeof(name), "numbers: '%.40s' is %s", rows[i].text, rows[i].good ? "a list" : "refused");
		check(!wrong == rows[i].good && (wrong || (list.n == rows[i].n && list.v[list.n - 1] == rows[i].last)), name,
		      "came %s, %u numbers", wrong ? wrong : "good", list.n);
	}
	for (size_t i = 0; i <= LIST_MAX; i++)
		strcpy(text + 2 * i, "1,");
	text[2 * LIST_MAX - 1] = 0;
	check(!parse_counts(text, 1, 4096, &list) && list.n == LIST_MAX, "numbers: as many as there is room for are a list", "came %u",
	      list.n);
	text[2 * LIST_MAX - 1] = ',';
	text[2 * LIST_MAX + 1] = 0;
	check(!!parse_counts(text, 1, 4096, &list), "numbers: one more than there is room for is refused", "it was taken");
}

static void test_memory(void)
{
	uint8_t *p = mem_new(100), *grown;
	bool zero = p, kept = true;

	for (unsigned i = 0; p && i < 100; i++) {
		zero &= !p[i];
		p[i] = i;
	}
	check(zero && !((uintptr_t)p % SLOT_SIZE), "memory: it is zero, and aligned for the counters", "%p", (void *)p);
	grown = mem_grow(p, 1 << 20);
	for (unsigned i = 0; grown && i < 100; i++)
		kept &= grown[i] == i;
	check(grown && kept && !grown[(1 << 20) - 1], "memory: it grows, and keeps what is in it", "came %p", (void *)grown);
	mem_free(grown);
	mem_free(NULL);
	check(!mem_new(SIZE_MAX) && !mem_new(SIZE_MAX - SLOT_SIZE + 1), "memory: a size that wraps gives none", "it gave some");
	p = mem_grow(NULL, 1);
	check(p && !mem_grow(p, SIZE_MAX - 4096), "memory: what cannot grow stays", "it grew");
	mem_free(p);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* qsort() is the judge. */
static void test_sort_names(void)
{
	static char texts[257][8];
	const char *ours[257], *theirs[257];
	bool same = true;

	for (unsigned n = 0; n <= 257 && same; n++) {
		for (unsigned i = 0; i < n; i++) {
			snprintf(texts[i], sizeof(texts[i]), "%u", (i * 7919 + n) % 101); /* with equal ones */
			ours[i] = theirs[i] = texts[i];
		}
		qsort(ours, n, sizeof(*ours), compare_names);
		qsort(theirs, n, sizeof(*theirs), compare_texts);
		for (unsigned i = 0; i < n; i++)
			same &= !strcmp(ours[i], theirs[i]);
	}
	check(same, "sort: lists of every length up to 257 come as qsort() sorts them", "one does not");
}

/* === this program's own file ================================================================================================ */

/* A note as systemtap's header makes it; returns its length. */
static size_t put_note(uint8_t *at, uint32_t type, const char *owner, uint64_t pc, const char *provider, const char *probe)
{
	uint32_t head[3] = { strlen(owner) + 1, 24 + strlen(provider) + 1 + strlen(probe) + 1 + 1, type };
	uint64_t addresses[3] = { pc, 0, 0 };
	size_t len = sizeof(head);

	memcpy(at, head, sizeof(head));
	memcpy(at + len, owner, head[0]);
	len += (head[0] + 3) / 4 * 4;
	memcpy(at + len, addresses, sizeof(addresses));
	memcpy(at + len + 24, provider, strlen(provider) + 1);
	memcpy(at + len + 24 + strlen(provider) + 1, probe, strlen(probe) + 1);
	return len + (head[1] + 3) / 4 * 4;
}

static void test_usdt_notes(void)
{
	static uint8_t notes[512];
	size_t len = 0, target;
	unsigned found = 0;

	len += put_note(notes + len, 3, "stapsdt", 1, "other", "usdt_nop");
	len += put_note(notes + len, 3, "GNU", 2, "bpftrig", "usdt_nop");
	len += put_note(notes + len, 4, "stapsdt", 3, "bpftrig", "usdt_nop");
	len += put_note(notes + len, 3, "stapsdt", 4, "bpftrig", "usdt_nop5");
	target = len += put_note(notes + len, 3, "stapsdt", 0x401234, "bpftrig", "usdt_nop");
	len += put_note(notes + len, 3, "stapsdt", 5, "bpftrig", "usdt_nop");
	check_number("usdt: the note is the one of type, owner, provider and name", 0x401234,
		     usdt_address((struct bytes){ notes, len }, "usdt_nop"));
	check_number("usdt: a name that is longer is another", 4, usdt_address((struct bytes){ notes, len }, "usdt_nop5"));
	check_number("usdt: a name that is not there has no address", 0, usdt_address((struct bytes){ notes, len }, "usdt"));
	for (size_t cut = 0; cut < target; cut++) { /* exactly sized, for the sanitizer */
		uint8_t *copy = malloc(cut + !cut);

		memcpy(copy, notes, cut);
		found += usdt_address((struct bytes){ copy, cut }, "usdt_nop") != 0;
		free(copy);
	}
	check(found <= 4, "usdt: notes cut off at any length are read no further", "found in %u cuts", found);
	memset(notes, 0xff, sizeof(notes));
	check_number("usdt: sizes near 2^32 end the search", 0, usdt_address((struct bytes){ notes, sizeof(notes) }, "usdt_nop"));
}

static void test_own_site(void)
{
	struct site site = { 0 };
	uint8_t there[16];
	int fd;

	check_outcome("site: a target is found in this file", DONE, NULL, own_site(&target_push, &site));
	fd = open(site.path ? site.path : "", O_RDONLY);
	check(fd >= 0 && pread(fd, there, 3, site.off[0]) == 3 && !memcmp(there, target_push.bytes, 3),
	      "site: its bytes are at the offset", "at %s %#" PRIx64, site.path, site.off[0]);
	close(fd);
	check_outcome("site: an address outside every segment is refused", FAILED, "no segment",
		      own_site(&(struct target){ (void (*)(void))(uintptr_t)16, target_push.bytes, target_push.end }, &site));
	check_outcome("site: other bytes at the offset are refused", FAILED, "does not have the probed function",
		      own_site(&(struct target){ target_nop.call, target_push.bytes, target_push.end }, &site));
}

#ifdef __x86_64__
static void test_private_stack_code(void)
{
	/* As read from released kernels: the three encodings of the address, and a frame on the kernel's stack. */
	static const uint8_t with[][40] = {
		{ 0x0f, 0x1f, 0x44, 0, 0, 0x0f, 0x1f, 0, 0x55, 0x48, 0x89, 0xe5, 0x49, 0xb9, 0xb8, 0xf5, 0xaf, 0x5b, 0x79, 0x60, 0, 0, 0x65,
		  0x4c, 3, 0x0c, 0x25, 0x28, 0xe0, 0xb0, 0x83 },
		{ 0x55, 0x48, 0x89, 0xe5, 0x49, 0xc7, 0xc1, 0x40, 0, 0, 0x90, 0x65, 0x4c, 3, 0x0c, 0x25, 0x28, 0xe0, 0xb0, 0x83 },
		{ 0x55, 0x48, 0x89, 0xe5, 0x41, 0xb9, 0x40, 0, 0, 0, 0x65, 0x4c, 3, 0x0c, 0x25, 0x28, 0xe0, 0xb0, 0x83 },
	};
	static const uint8_t without[40] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec, 0x30, 0,	  0,	0,    0x48, 0xc7, 0xc0,
					     0x34, 0xe0, 0xb0, 0x83, 0x65, 0x48, 3,    4,    0x25, 0x28, 0xe0, 0xb0, 0x83 };
	bool known;

	for (size_t i = 0; i < COUNT_OF(with); i++)
		check(arch_has_private_stack(with[i], sizeof(with[i]), &known) && known,
		      "jited: a private stack is seen, however its address is encoded", "encoding %zu is not", i);
	check(!arch_has_private_stack(without, sizeof(without), &known) && known, "jited: a per-CPU load into rax is no private stack",
	      "it is taken for one");
	check(!arch_has_private_stack(with[0], 26, &known), "jited: code that ends in the middle is not read further", "it is");
}
#endif

/* === Other programs' files ==================================================================================================
 * A library made in memory, with its code at 0x1000 and its data at 0x3000.
 *
 *	.symtab		plain 0x1000 (16 bytes), twice 0x1010 and 0x1020 (both local), both 0x1030 (local) and 0x1040 (global), chosen 0x1050
 *			(an ifunc), stray 0x9000, old@V_1 0x1060, old@V_2 0x1070, several@@V_2 0x1080, several@V_1 0x1090, empty 0x10f0
 *	.dynsym		imported, several 0x1080 (V_2), several 0x1090 (V_1), exported 0x10a0, exported 0x10a0 again, late 0x10b0 (V_1 alone)
 *	.note.stapsdt	lib:one at 0x1000 and, with a semaphore, at 0x1008; lib:lost at 0x9000; lib:many at as many places as there may be
 *			and one; written for a base of 0x2000
 */

#define LIB_TEXT 0x1000
#define LIB_DATA 0x3000

struct lib {
	struct image image;
	unsigned text, data, symtab, dynsym, dynstr, versym, verdef, notes, base;
	uint64_t text_off, data_off;
	size_t phdrs;
	struct binary b;
};

static const uint8_t lib_text[0x100] = { 0x90 };

/* One version's definition, with its name. */
struct lib_verdef {
	Elf64_Verdef def;
	Elf64_Verdaux aux;
};

static struct lib_verdef lib_version(unsigned number, unsigned flags, uint32_t name, bool last)
{
	return (struct lib_verdef){
		.def = { .vd_version = 1, .vd_flags = flags, .vd_ndx = number, .vd_cnt = 1, .vd_aux = sizeof(Elf64_Verdef),
			 .vd_next = last ? 0 : sizeof(struct lib_verdef) },
		.aux = { .vda_name = name },
	};
}

static void lib_notes(struct image *notes)
{
	static const struct { const char *name; uint64_t pc, semaphore; unsigned times; } probes[] = {
		{ "one", 0, 0, 1 }, { "one", 8, LIB_DATA + 2, 1 }, { "lost", 0x8000, 0, 1 }, { "nowhere", 0, 0x9000, 1 }, { "many", 16, 0, SITES_MAX + 1 },
	};
	uint8_t note[128];

	for (size_t i = 0; i < COUNT_OF(probes); i++)
		for (unsigned n = 0; n < probes[i].times; n++) {
			uint64_t addresses[3] = { LIB_TEXT + probes[i].pc - 0x100, 0x2000 - 0x100,
						  probes[i].semaphore ? probes[i].semaphore - 0x100 : 0 };
			size_t len = (memset(note, 0, sizeof(note)), put_note(note, 3, "stapsdt", 0, "lib", probes[i].name));

			memcpy(note + 12 + 8, addresses, sizeof(addresses));
			image_append(notes, note, len);
		}
}

static void lib_symbols(struct builder *b, unsigned text)
{
	static const struct { const char *name; unsigned bind, type; uint64_t value, size; } symbols[] = {
		{ "plain", STB_GLOBAL, STT_FUNC, 0x1000, 16 },	     { "twice", STB_LOCAL, STT_FUNC, 0x1010, 16 },
		{ "twice", STB_LOCAL, STT_FUNC, 0x1020, 16 },	     { "both", STB_LOCAL, STT_FUNC, 0x1030, 16 },
		{ "both", STB_GLOBAL, STT_FUNC, 0x1040, 16 },	     { "chosen", STB_GLOBAL, STT_GNU_IFUNC, 0x1050, 16 },
		{ "stray", STB_GLOBAL, STT_FUNC, 0x9000, 16 },	     { "old@V_1", STB_GLOBAL, STT_FUNC, 0x1060, 16 },
		{ "old@V_2", STB_GLOBAL, STT_FUNC, 0x1070, 16 },     { "several@@V_2", STB_GLOBAL, STT_FUNC, 0x1080, 16 },
		{ "several@V_1", STB_GLOBAL, STT_FUNC, 0x1090, 16 }, { "variable", STB_GLOBAL, STT_OBJECT, 0x3000, 8 },
		{ "empty", STB_GLOBAL, STT_FUNC, 0x10f0, 0 },	     { "long", STB_GLOBAL, STT_FUNC, 0x10f8, UINT64_MAX },
	};

	for (size_t i = 0; i < COUNT_OF(symbols); i++) {
		unsigned n = build_symbol(b, symbols[i].name, symbols[i].type, text, symbols[i].value, symbols[i].size);

		b->symbols[n].st_info = ELF64_ST_INFO(symbols[i].bind, symbols[i].type);
	}
}

/* The header of a library, and program headers behind all else. */
static void lib_finish(struct lib *lib)
{
	Elf64_Phdr phdrs[3] = { { .p_type = PT_NOTE, .p_vaddr = LIB_TEXT, .p_filesz = 1 << 20, .p_flags = PF_X } };
	Elf64_Ehdr *eh;

	lib->text_off = section_at(lib->image, lib->text)->sh_offset;
	lib->data_off = section_at(lib->image, lib->data)->sh_offset;
	phdrs[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = LIB_TEXT, .p_offset = lib->text_off, .p_filesz = sizeof(lib_text) };
	phdrs[2] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = LIB_DATA, .p_offset = lib->data_off, .p_filesz = 16, .p_memsz = 4096 };
	section_at(lib->image, lib->base)->sh_addr = 0x2000;
	lib->phdrs = image_append(&lib->image, phdrs, sizeof(phdrs));
	eh = elf_header(lib->image);
	eh->e_type = ET_DYN;
	eh->e_machine = ARCH_MACHINE;
	eh->e_phoff = lib->phdrs;
	eh->e_phnum = COUNT_OF(phdrs);
	eh->e_phentsize = sizeof(Elf64_Phdr);
}

static void lib_build(struct lib *lib)
{
	static const uint16_t versions[] = { 0, 1, 3, 2 | 0x8000, 1, 1, 2 | 0x8000 };
	Elf64_Sym dynsym[7] = { 0 };
	struct lib_verdef verdef[3];
	struct image names = { 0 }, notes = { 0 };
	struct builder b;

	memset(lib, 0, sizeof(*lib));
	build_start(&b);
	lib->text = build_section(&b, ".text", CODE, lib_text, sizeof(lib_text));
	lib->data = build_section(&b, ".probes", DATA, lib_text, 16);
	image_append_string(&names, "");
	dynsym[1] = (Elf64_Sym){ .st_name = image_append_string(&names, "imported"), .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
	for (unsigned i = 2; i < COUNT_OF(dynsym); i++)
		dynsym[i] = (Elf64_Sym){
			.st_name = image_append_string(&names, i < 4 ? "several" : i < 6 ? "exported" : "late"),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = lib->text,
			.st_value = i < 4 ? 0x1060 + 0x10 * i + (i == 2 ? 0 : 0) : i < 6 ? 0x10a0 : 0x10b0,
			.st_size = 16,
		};
	dynsym[2].st_value = 0x1080;
	dynsym[3].st_value = 0x1090;
	verdef[0] = lib_version(1, VER_FLG_BASE, image_append_string(&names, "liblib.so"), false);
	verdef[1] = lib_version(2, 0, image_append_string(&names, "V_1"), false);
	verdef[2] = lib_version(3, 0, image_append_string(&names, "V_2"), true);
	lib_notes(&notes);
	lib->dynsym = build_section(&b, ".dynsym", SHT_DYNSYM, SHF_ALLOC, dynsym, sizeof(dynsym));
	lib->dynstr = build_section(&b, ".dynstr", SHT_STRTAB, SHF_ALLOC, names.at, names.len);
	lib->versym = build_section(&b, ".gnu.version", SHT_GNU_versym, SHF_ALLOC, versions, sizeof(versions));
	lib->verdef = build_section(&b, ".gnu.version_d", SHT_GNU_verdef, SHF_ALLOC, verdef, sizeof(verdef));
	lib->notes = build_section(&b, ".note.stapsdt", SHT_NOTE, 0, notes.at, notes.len);
	lib->base = build_section(&b, ".stapsdt.base", SHT_PROGBITS, SHF_ALLOC, "", 1);
	b.sections[lib->dynsym].header.sh_link = b.sections[lib->verdef].header.sh_link = lib->dynstr;
	lib_symbols(&b, lib->text);
	lib->symtab = b.section_count;
	lib->image = build_end(&b);
	lib_finish(lib);
	image_free(&names);
	image_free(&notes);
}

/* Ready for what is behind binary_open(). */
static enum outcome lib_open(struct lib *lib)
{
	memset(&lib->b, 0, sizeof(lib->b));
	lib->b.elf.name = "lib.so";
	lib->b.elf.file = image_bytes(lib->image);
	return binary_check(&lib->b);
}

static void lib_close(struct lib *lib)
{
	elf_close(&lib->b.elf);
	image_free(&lib->image);
}

static void test_binary_check(void)
{
	static const struct { const char *name; size_t field, width; uint64_t value; const char *says; } rows[] = {
		{ "binary: a script is named with its interpreter", 0, 2, 0, "lib.so: a script; the code is its interpreter's, " },
		{ "binary: no ELF file", 0, 1, 'x', "not an ELF file" },
		{ "binary: of 32 bits", EI_CLASS, 1, ELFCLASS32, "a 32-bit binary" },
		{ "binary: of the other byte order", EI_DATA, 1, 0, "another machine" },
		{ "binary: of another machine", offsetof(Elf64_Ehdr, e_machine), 2, EM_BPF, "for another machine than " ARCH " (machine 247)" },
		{ "binary: an object", offsetof(Elf64_Ehdr, e_type), 2, ET_REL, "neither a program nor a shared library (ELF type 1)" },
		{ "binary: a core", offsetof(Elf64_Ehdr, e_type), 2, ET_CORE, "(ELF type 4)" },
		{ "binary: program headers of another size", offsetof(Elf64_Ehdr, e_phentsize), 2, 32, "program headers of 32 bytes, not 56" },
	};
	struct lib lib;

	lib_build(&lib);
	check_outcome("binary: a library is taken", DONE, NULL, lib_open(&lib));
	elf_header(lib.image)->e_type = ET_EXEC;
	check_outcome("binary: a program without PIE is taken", DONE, NULL, lib_open(&lib));
	lib_close(&lib);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		lib_build(&lib);
		if (i)
			poke(lib.image.at + rows[i].field, rows[i].width, rows[i].value);
		else
			memcpy(lib.image.at, "#! /bin/sh\n", 11);
		check_outcome(rows[i].name, FAILED, rows[i].says, lib_open(&lib));
		lib_close(&lib);
	}
	for (size_t len = 0; len <= sizeof(Elf64_Ehdr); len++) { /* exactly sized, for the sanitizer */
		lib_build(&lib);
		lib.image.at = realloc(lib.image.at, len + !len);
		lib.image.len = len;
		if (len == 0 || len == EI_NIDENT || len == sizeof(Elf64_Ehdr) - 1)
			check_outcome("binary: truncated in its header", FAILED, len < EI_NIDENT ? "not an ELF file" : "truncated", lib_open(&lib));
		else
			lib_open(&lib);
		lib_close(&lib);
	}
	lib_build(&lib);
	elf_header(lib.image)->e_shnum = 0;
	lib_open(&lib);
	check_outcome("binary: without a section table there are no names", FAILED, "has no section table", binary_read_sections(&lib.b));
	lib_close(&lib);
}

static void test_binary_segments(void)
{
	static const struct { const char *name; uint32_t rights; uint64_t address; int64_t behind; } rows[] = {
		{ "segment: its first byte", PF_X, LIB_TEXT, 0 },
		{ "segment: its last byte", PF_X, LIB_TEXT + 0xff, 0xff },
		{ "segment: the byte behind it", PF_X, LIB_TEXT + 0x100, -1 },
		{ "segment: the byte before it", PF_X, LIB_TEXT - 1, -1 },
		{ "segment: data is no code", PF_X, LIB_DATA, -1 },
		{ "segment: code is not to be written", PF_W, LIB_TEXT, -1 },
		{ "segment: what is in memory alone is in no file", PF_W, LIB_DATA + 16, -1 },
		{ "segment: the last of all addresses", PF_X, UINT64_MAX, -1 },
	};
	struct lib lib;
	uint64_t off;
	Elf64_Phdr ph;

	lib_build(&lib);
	lib_open(&lib);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		bool found = binary_offset(&lib.b, rows[i].rights, rows[i].address, &off);

		check(found == (rows[i].behind >= 0) && (!found || off == lib.text_off + rows[i].behind), rows[i].name, "found %d, %#" PRIx64, found, off);
	}
	check(binary_segment(&lib.b, PF_X, true, lib.text_off, &ph) && !binary_segment(&lib.b, PF_X, true, lib.text_off + 0x100, &ph),
	      "segment: a place in the file", "not as far as it goes");
	lib.b.head.e_phoff = UINT64_MAX - 8;
	check(!binary_segment(&lib.b, PF_X, false, LIB_TEXT, &ph), "segment: headers at the end of all offsets", "there are some");
	lib.b.head.e_phoff = lib.phdrs;
	lib.b.head.e_phnum = 0xffff;
	check(!binary_segment(&lib.b, PF_X, false, 1, &ph), "segment: more headers than the file has", "one of them fits");
	for (unsigned i = 0; i < 2; i++) { /* the file ends in the segment, and before it */
		((Elf64_Phdr *)(lib.image.at + lib.phdrs))[1].p_filesz = UINT64_MAX;
		((Elf64_Phdr *)(lib.image.at + lib.phdrs))[1].p_offset = i ? UINT64_MAX - 4 : lib.image.len - 4;
		check(!binary_offset(&lib.b, PF_X, LIB_TEXT + 4, &off), "segment: what is not in the file is nowhere", "it is at %#" PRIx64, off);
	}
	lib_close(&lib);
}

static void test_functions(void)
{
	static const struct { const char *name; uint64_t value; const char *says; } rows[] = {
		{ "plain", 0x1000, NULL },
		{ "both", 0x1040, NULL },
		{ "several", 0x1080, NULL },
		{ "several@V_1", 0x1090, NULL },
		{ "several@V_2", 0x1080, NULL },
		{ "several@@V_2", 0x1080, NULL },
		{ "exported", 0x10a0, NULL },
		{ "late", 0x10b0, NULL },
		{ "late@V_1", 0x10b0, NULL },
		{ "old@V_2", 0x1070, NULL },
		{ "twice", 0, "lib.so: has several functions twice (at 0x1010 and 0x1020, say): give the offset of one" },
		{ "old", 0, "has several functions old (at 0x1060 and 0x1070, say)" },
		{ "chosen", 0, "chosen is an ifunc" },
		{ "imported", 0, "takes imported from a library" },
		{ "imported@V_1", 0, "takes imported from a library" },
		{ "variable", 0, "has no function variable" },
		{ "late@V_2", 0, "has no function late@V_2; did you mean late" },
		{ "late@V_3", 0, "has no function late@V_3" },
		{ "exported@liblib.so", 0, "has no function exported@liblib.so" },
		{ "several@V", 0, "has no function several@V" },
		{ "plane", 0, "has no function plane; did you mean plain" },
		{ "", 0, "has no function " },
		{ "@", 0, "has no function @" },
	};
	char name[128], long_name[300];
	struct lib lib;
	Elf64_Sym sym;

	lib_build(&lib);
	lib_open(&lib);
	check_outcome("function: the sections are read", DONE, NULL, binary_read_sections(&lib.b));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		enum outcome o = (sym.st_value = 0, binary_find_function(&lib.b, rows[i].name, &sym));

		snprintf(name, sizeof(name), "function: '%s'", rows[i].name);
		check(rows[i].says ? o == FAILED && says_all(reason, rows[i].says) : !o && sym.st_value == rows[i].value, name, "came %#" PRIx64 " '%s'",
		      (uint64_t)sym.st_value, o ? reason : "");
	}
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	check_outcome("function: a name of 299 bytes is too long", FAILED, "is too long", binary_find_function(&lib.b, long_name, &sym));
	lib.b.elf.sections[lib.symtab].sh_type = SHT_PROGBITS;
	check_outcome("function: of a stripped library, the version by its number", DONE, NULL, binary_find_function(&lib.b, "several@V_1", &sym));
	check_number("function: which is that one", 0x1090, sym.st_value);
	check_outcome("function: of a stripped library, the default version", DONE, NULL, binary_find_function(&lib.b, "several", &sym));
	check_number("function: which is the other", 0x1080, sym.st_value);
	check_outcome("function: of a stripped library, one that it does not export", FAILED, "it is stripped|an offset works",
		      binary_find_function(&lib.b, "plain", &sym));
	lib_close(&lib);
}

static void test_function_sites(void)
{
	static const struct { const char *name; uint64_t behind; int64_t place; const char *says; } rows[] = {
		{ "plain", 0, 0, NULL },
		{ "plain", 15, 15, NULL },
		{ "plain", 16, -1, "offset 16 is past the end of plain, which has 16 bytes" },
		{ "plain", UINT64_MAX, -1, "is past the end of plain" },
		{ "empty", 0, 0xf0, NULL },
		{ "empty", 1, -1, "past the end of empty, which has 0 bytes" },
		{ "long", 7, 0xff, NULL },
		{ "long", 8, -1, "where no code is loaded" },
		{ "long", UINT64_MAX - 0x10f8 + 1, -1, "where no code is loaded" },
		{ "stray", 0, -1, "stray is at 0x9000, where no code is loaded" },
	};
	char name[64];
	struct lib lib;
	struct site site;

	lib_build(&lib);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		enum outcome o;

		memset(&site, 0, sizeof(site));
		lib_open(&lib);
		o = binary_function_site(&lib.b, rows[i].name, rows[i].behind, &site);
		elf_close(&lib.b.elf);
		snprintf(name, sizeof(name), "site: %s and %" PRIu64 " bytes", rows[i].name, rows[i].behind);
		check(rows[i].says ? o == FAILED && says_all(reason, rows[i].says) : !o && site.n == 1 && site.off[0] == lib.text_off + rows[i].place, name,
		      "came %#" PRIx64 " '%s'", site.off[0], o ? reason : "");
	}
	lib_open(&lib);
	check_outcome("site: an offset in the code", DONE, NULL, binary_plain_site(&lib.b, lib.text_off + 3, &site));
	check(site.n == 1 && site.off[0] == lib.text_off + 3, "site: is the place itself", "came %#" PRIx64, site.off[0]);
	check_outcome("site: an offset in no code", FAILED, "there is no code at offset 0x3", binary_plain_site(&lib.b, 3, &site));
	check_outcome("site: the last byte's offset", FAILED, "there is no code", binary_plain_site(&lib.b, lib.image.len - 1, &site));
	check_outcome("site: the offset behind it", FAILED, "is past the end of the file", binary_plain_site(&lib.b, lib.image.len, &site));
	lib_close(&lib);
}

/* The library's base has moved by 0x100 since its notes were written. */
static void test_usdt_sites(void)
{
	struct lib lib;
	struct site site = { 0 };

	lib_build(&lib);
	lib_open(&lib);
	check_outcome("usdt: a probe in two places", DONE, NULL, binary_usdt_site(&lib.b, "lib", "one", &site));
	check(site.n == 2 && site.off[0] == lib.text_off && site.off[1] == lib.text_off + 8 && !site.ref_ctr[0] && site.ref_ctr[1] == lib.data_off + 2,
	      "usdt: both are where the base has moved them, and so is the semaphore", "%u places, %#" PRIx64 " %#" PRIx64 ", %#" PRIx64, site.n, site.off[0],
	      site.off[1], site.ref_ctr[1]);
	elf_close(&lib.b.elf);
	site = (struct site){ 0 };
	check_outcome("usdt: a name near another", FAILED, "has no USDT probe lib:ones; did you mean one", binary_usdt_site(&lib.b, "lib", "ones", &site));
	elf_close(&lib.b.elf);
	check_outcome("usdt: of another provider", FAILED, "has no USDT probe bil:one", binary_usdt_site(&lib.b, "bil", "one", &site));
	elf_close(&lib.b.elf);
	check_outcome("usdt: at an address that is not loaded", FAILED, "lib:lost names an address that is not loaded",
		      binary_usdt_site(&lib.b, "lib", "lost", &site));
	elf_close(&lib.b.elf);
	check_outcome("usdt: with a semaphore that is not loaded", FAILED, "lib:nowhere names an address that is not loaded",
		      binary_usdt_site(&lib.b, "lib", "nowhere", &site));
	elf_close(&lib.b.elf);
	check_outcome("usdt: in too many places", FAILED, "lib:many has more than 64 places", binary_usdt_site(&lib.b, "lib", "many", &site));
	lib_close(&lib);
}

/* All that is looked for, in an image that may be anything. */
static void lib_use(struct image image)
{
	static const char *const names[] = { "plain", "several@V_1", "imported", "nothing" };
	struct lib lib = { .image = image };
	struct site site;

	for (size_t i = 0; i < COUNT_OF(names) && !lib_open(&lib); i++) {
		memset(&site, 0, sizeof(site));
		binary_function_site(&lib.b, names[i], 0, &site);
		elf_close(&lib.b.elf);
	}
	memset(&site, 0, sizeof(site));
	if (!lib_open(&lib)) {
		binary_usdt_site(&lib.b, "lib", "one", &site);
		binary_plain_site(&lib.b, 0x100, &site);
	}
	elf_close(&lib.b.elf);
}

/* Each field of the headers, symbols and versions at each edge, and a file that ends anywhere. */
static void test_binary_survives(void)
{
	static const uint64_t edges[] = { 0, 0x7fff, 0x80000000, 0xffffffff, UINT64_MAX - 7, UINT64_MAX };
	struct lib lib;
	size_t len;

	lib_build(&lib);
	len = lib.image.len;
	for (size_t width = 2; width <= 8; width *= 2)
		for (size_t at = 0; at + width <= len; at += width)
			for (size_t i = width / 4; i < COUNT_OF(edges) - (width < 8); i++) {
				uint8_t saved[8];

				memcpy(saved, lib.image.at + at, width);
				poke(lib.image.at + at, width, edges[i]);
				lib_use(lib.image);
				memcpy(lib.image.at + at, saved, width);
			}
	check(true, "binary: any field at any edge is found or refused", " ");
	for (size_t cut = 0; cut < len; cut += cut < 128 ? 1 : 7) {
		struct image part = image_copy(lib.image.at, cut + !cut);

		part.len = cut;
		lib_use(part);
		image_free(&part);
	}
	check(true, "binary: a file that ends anywhere is read no further", " ");
	lib_close(&lib);
}

/*
 * What is looked through for each symbol must be short whatever the file says: a chain of definitions, the string of a name. The time of
 * these two files would be hours, and ends with alarm().
 */
static void test_binary_time(void)
{
	const size_t count = 200000, chain = 1 << 20;
	Elf64_Sym *symbols = calloc(count, sizeof(*symbols));
	uint16_t *versions = malloc(count * sizeof(*versions));
	struct image names = { 0 };
	struct elf elf = { .name = "slow.so" };
	Elf64_Shdr sections[5] = { 0 };
	struct binary b;
	Elf64_Sym found;

	for (size_t i = 0; i < count; i++) {
		symbols[i] = (Elf64_Sym){ .st_name = i % 3, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_value = 0x1000 };
		versions[i] = 0x7ffe;
	}
	image_append(&names, symbols, count * sizeof(*symbols));
	image_append(&names, versions, count * sizeof(*versions));
	image_append(&names, NULL, chain);	   /* definitions with a next one a byte on */
	memset(names.at + names.len - chain, 1, chain);
	for (size_t i = 0; i + sizeof(Elf64_Verdef) < chain; i += 4)
		poke(names.at + names.len - chain + i, 4, 0x00000004);
	image_append(&names, NULL, 16 << 20);
	memset(names.at + names.len - (16 << 20), 'x', (16 << 20) - 1);
	elf.file = image_bytes(names);
	sections[1] = (Elf64_Shdr){ .sh_type = SHT_DYNSYM, .sh_size = count * sizeof(*symbols), .sh_link = 4 };
	sections[2] = (Elf64_Shdr){ .sh_type = SHT_GNU_versym, .sh_offset = count * sizeof(*symbols), .sh_size = count * sizeof(*versions) };
	sections[3] = (Elf64_Shdr){ .sh_type = SHT_GNU_verdef, .sh_offset = names.len - (16 << 20) - chain, .sh_size = chain, .sh_link = 4 };
	sections[4] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = names.len - (16 << 20), .sh_size = 16 << 20 };
	elf.sections = sections;
	elf.section_count = COUNT_OF(sections);
	b = (struct binary){ .elf = elf };
	check_outcome("binary: one endless name for all", FAILED, "has no function f", binary_find_function(&b, "f@V_1", &found));
	sections[4].sh_offset += (16 << 20) - 3; /* "xx" */
	sections[4].sh_size = 3;
	check_outcome("binary: a chain of versions for all", FAILED, "has no function xx@V_1", binary_find_function(&b, "xx@V_1", &found));
	image_free(&names);
	free(symbols);
	free(versions);
}

int main(void);

/* This file's own main(), which the linker has placed. */
static void test_binary_of_this_machine(void)
{
	struct named *named = calloc(1, sizeof(*named));
	const char *wrong;
	uint64_t off = 0;
	char word[64];

	own_file_offset((const void *)main, &off);
	check_outcome("targets: a function of this program, by its file", DONE, NULL, named_find(named, "uprobe:/proc/self/exe:main", NULL, &wrong));
	check_number("targets: is where it runs", off, named->place.site.off[0]);
	check(named->place.site.n == 1 && !strcmp(named->place.site.path, "/proc/self/exe") && !strcmp(named->row.prog, "count") &&
	      named->row.method == UPROBE && !strcmp(named->row.name, "uprobe:/proc/self/exe:main") && !strncmp(named->like, "uprobe-", 7),
	      "targets: its row", "%s of %s at %s, like %s", named->row.name, named->row.prog, named->place.site.path, named->like);
	snprintf(word, sizeof(word), "uretprobe:/proc/self/exe:0x%" PRIX64, off);
	check_outcome("targets: the same place, by its offset", DONE, NULL, named_find(named, word, "mine", &wrong));
	check(named->place.site.off[0] == off && !strcmp(named->row.prog, "mine") && named->row.method == URETPROBE && !strncmp(named->like, "uretprobe-", 10),
	      "targets: is that, with the program that was named", "%s at %#" PRIx64, named->row.prog, named->place.site.off[0]);
	check_outcome("targets: a function and some bytes", DONE, NULL, named_find(named, "uprobe-multi:/proc/self/exe:main+0x1", NULL, &wrong));
	check_number("targets: is so many bytes behind", off + 1, named->place.site.off[0]);
	check_outcome("targets: a probe of this program", DONE, NULL, named_find(named, "usdt:/proc/self/exe:bpftrig:usdt_nop", NULL, &wrong));
	own_file_offset((const void *)usdt_nop.call, &off);
	check(named->place.site.n == 1 && named->place.site.off[0] == off && !strcmp(named->like, "usdt-nop") && named->row.flags & USDT,
	      "targets: is where its function begins", "%u places, at %#" PRIx64 ", like %s", named->place.site.n, named->place.site.off[0], named->like);
	free(named);
}

/* === Targets by name ======================================================================================================== */

static void test_parse_offset(void)
{
	static const struct { const char *text; bool good; uint64_t value; } rows[] = {
		{ "0", true, 0 },		   { "17", true, 17 },			{ "0x0", true, 0 },
		{ "0x10", true, 16 },		   { "0xfF", true, 255 },		{ "0xffffffffffffffff", true, UINT64_MAX },
		{ "0x0000000000000000001", true, 1 }, { "010", true, 10 },		{ "", false, 0 },
		{ "0x", false, 0 },		   { "0xg", false, 0 },			{ "0x1g", false, 0 },
		{ "0X10", false, 0 },		   { "x10", false, 0 },			{ "-1", false, 0 },
		{ "+1", false, 0 },		   { "1a", false, 0 },			{ "0x10000000000000000", false, 0 },
		{ "0x@", false, 0 },		   { "0x1 ", false, 0 },		{ "0x:", false, 0 },
		{ "0x/", false, 0 },		   { "99999999999999999999999", false, 0 },
	};
	char name[64];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t value = 0;
		const char *wrong = parse_offset(rows[i].text, &value);

		snprintf(name, sizeof(name), "offset: '%s' is %s", rows[i].text, rows[i].good ? "one" : "refused");
		check(!wrong == rows[i].good && (wrong || value == rows[i].value), name, "came %s, %#" PRIx64, wrong ? wrong : "good", value);
	}
}

static void test_kallsyms_line(void)
{
	static const struct { const char *line; bool good; uint64_t ip; const char *name; bool is_code; } rows[] = {
		{ "ffffffff81000000 T _text\n", true, 0xffffffff81000000, "_text", true },
		{ "ffffffffC0000010 t inside\t[module]\n", true, 0xffffffffc0000010, "inside", true },
		{ "0000000000000000 t hidden\n", true, 0, "hidden", true },
		{ "c0008000 W weak", true, 0xc0008000, "weak", true },
		{ "ffffffff82000000 D data\n", true, 0xffffffff82000000, "data", false },
		{ "ffffffff82000000 b bss\n", true, 0xffffffff82000000, "bss", false },
		{ "ffffffff82000000 r constant\n", true, 0xffffffff82000000, "constant", false },
		{ "ffffffff81000000 T x\n", true, 0xffffffff81000000, "x", true },
		{ "ffffffff81000000 T \n", false, 0, "", false },
		{ "ffffffff81000000 T", false, 0, "", false },
		{ "ffffffff81000000", false, 0, "", false },
		{ "", false, 0, "", false },
	};
	char name[80];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		size_t len = strcspn(rows[i].line, "\n");
		struct ksym sym;
		bool good = kallsyms_line(rows[i].line, len, &sym);

		snprintf(name, sizeof(name), "kallsyms: '%.*s' is %s", (int)len, rows[i].line, rows[i].good ? "a symbol" : "none");
		check(good == rows[i].good && (!good || (sym.ip == rows[i].ip && sym.len == (int)strlen(rows[i].name) && sym.is_code == rows[i].is_code &&
							 !strncmp(sym.name, rows[i].name, sym.len))),
		      name, "came %d, %#" PRIx64 " '%.*s'", good, sym.ip, good ? sym.len : 0, good ? sym.name : "");
	}
}

static void test_kernel_functions(void)
{
	char text[] = "1000 T first\n1010 d variable\n1020 t second\t[mod]\n1020 t alias\n1050 T __traceiter_point\n1058 T last\n0 T hidden\nnot a line\n1060 T cut";
	struct bytes all = { (const uint8_t *)text, sizeof(text) - 1 };
	struct near near = { .wanted = "secnd" };
	struct ksym sym = { 0 };

	check(scan_kallsyms(all, "", "second", &sym, NULL) && sym.ip == 0x1020, "kallsyms: a function of a module", "at %#" PRIx64, sym.ip);
	check_number("kallsyms: it goes as far as the next one, data and aliases aside", 0x30, kernel_function_size(all, &sym));
	check(scan_kallsyms(all, "", "first", &sym, NULL), "kallsyms: the first line", "not found");
	check_number("kallsyms: what lies between is data", 0x20, kernel_function_size(all, &sym));
	check(scan_kallsyms(all, "", "cut", &sym, NULL), "kallsyms: the last line, without its end", "not found");
	check_number("kallsyms: the last one's size is not known", 0, kernel_function_size(all, &sym));
	check(scan_kallsyms(all, "", "hidden", &sym, NULL), "kallsyms: an address that is hidden", "not found");
	check_number("kallsyms: nor is the size of what is hidden", 0, kernel_function_size(all, &sym));
	check(scan_kallsyms(all, "__traceiter_", "point", &sym, NULL), "kallsyms: a tracepoint", "not found");
	check(!scan_kallsyms(all, "", "variable", &sym, NULL) && !scan_kallsyms(all, "", "firs", &sym, NULL) && !scan_kallsyms(all, "", "", &sym, NULL) &&
	      !scan_kallsyms(all, "__traceiter_", "first", &sym, NULL), "kallsyms: data, a part of a name, and no name are no function", "one is found");
	check(!scan_kallsyms(all, "", "secnd", &sym, &near) && !strcmp(near_text(&near), "; did you mean second"), "kallsyms: what is near a wrong name",
	      "came '%s'", near_text(&near));
}

/* The end of a command line's word that is wrong, and not what the machine has. */
static void test_malformed_targets(void)
{
	static const struct { const char *word, *says; } rows[] = {
		{ "", "is no target" },
		{ "kprobe", "is no target" },
		{ ":x", "is no target" },
		{ "kprob:x", "is no target" },
		{ "kprobes:x", "is no target" },
		{ "kprobe:", "names nothing" },
		{ "kprobe:+1", "names no function" },
		{ "kprobe:x+", "an offset that is not a number" },
		{ "kprobe:x+y", "an offset that is not a number" },
		{ "kretprobe:x+1", "wants no offset" },
		{ "tp:x", "wants CATEGORY:NAME" },
		{ "tp::x", "wants CATEGORY:NAME" },
		{ "tp:x:", "wants CATEGORY:NAME" },
		{ "tp:../x:y", "wants CATEGORY:NAME" },
		{ "tp:x:../y", "wants CATEGORY:NAME" },
		{ "uprobe:x", "wants BINARY:FUNC" },
		{ "uprobe::x", "wants BINARY:FUNC" },
		{ "uprobe:x:", "wants BINARY:FUNC" },
		{ "uprobe:x:+1", "names no function" },
		{ "uprobe:x:y+", "an offset that is not a number" },
		{ "uprobe:x:0x", "an offset that is not a number" },
		{ "uprobe:x:1y", "an offset that is not a number" },
		{ "uretprobe:x:y+1", "wants no offset" },
		{ "usdt:x", "wants BINARY:PROVIDER:NAME" },
		{ "usdt:x:y", "wants BINARY:PROVIDER:NAME" },
		{ "usdt::y:z", "wants BINARY:PROVIDER:NAME" },
		{ "usdt:x::z", "wants BINARY:PROVIDER:NAME" },
		{ "usdt:x:y:", "wants BINARY:PROVIDER:NAME" },
	};
	struct named *named = calloc(1, sizeof(*named));
	char name[80], *word = malloc(2 * PATH_MAX);
	const char *wrong;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		enum outcome o = named_find(named, rows[i].word, NULL, &wrong);

		snprintf(name, sizeof(name), "targets: '%s' is malformed", rows[i].word);
		for (char *c = strchr(name, ':') + 1; (c = strchr(c, ':'));)
			*c = ';'; /* a name has one colon */
		check(o == FAILED && wrong && says_all(wrong, rows[i].says), name, "came '%s'", wrong ? wrong : o ? reason : "good");
	}
	for (size_t len = PATH_MAX + 16; len < PATH_MAX + 600; len += 300) { /* longer than a path, and than a target */
		memset(word, 'x', len);
		memcpy(word, "uprobe:/", 8);
		memcpy(word + len - 3, ":y", 3);
		named_find(named, word, NULL, &wrong);
		check(wrong ? says_all(wrong, "is too long") : says_all(reason, "is too long"), "targets: a path that is too long is refused", "'%s'",
		      wrong ? wrong : reason);
	}
	memset(word, 'x', 300);
	memcpy(word, "kprobe-multi:*", 14);
	word[300] = 0;
	check(named_find(named, word, NULL, &wrong) == FAILED && wrong, "targets: a pattern that is too long is refused", "it is taken");
	free(word);
	free(named);
}

static void test_hot_names(void)
{
	static const struct { const char *where; bool hot; } rows[] = {
		{ "malloc", true }, { "schedule", true }, { "_raw_spin_lock", true }, { "sys_enter", true }, { "sched/sched_switch", true },
		{ "raw_syscalls/sys_enter", true }, { "memcpy", true }, { "tcp_sendmsg", false }, { "main", false }, { "syscalls/sys_enter_getpgid", false },
	};
	struct named *named = calloc(1, sizeof(*named));
	char name[64];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		strcpy(named->where, rows[i].where);
		snprintf(name, sizeof(name), "targets: %s is %s", rows[i].where, rows[i].hot ? "hot" : "not");
		check(is_hot(named) == rows[i].hot, name, "it is not so");
	}
	free(named);
}

#ifdef __x86_64__
static void test_like(void)
{
	static const struct { const char *name; uint8_t code[16]; size_t len; const char *like; } rows[] = {
		{ "like: nop", { 0x90, 0x55 }, 16, "nop" },
		{ "like: nop of 5 bytes", { 0x0f, 0x1f, 0x44, 0, 0, 0x55 }, 16, "nop5" },
		{ "like: nop of 10 bytes", { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 }, 16, "nop10" },
		{ "like: push rbp", { 0x55 }, 16, "push" },
		{ "like: push r12", { 0x41, 0x54 }, 16, "push" },
		{ "like: call", { 0xe8 }, 16, "push" },
		{ "like: jmp", { 0xe9 }, 16, "nop" },
		{ "like: jmp short", { 0xeb }, 16, "nop" },
		{ "like: je", { 0x74 }, 16, "nop" },
		{ "like: je near", { 0x0f, 0x84 }, 16, "nop" },
		{ "like: ret is stepped", { 0xc3 }, 16, "ret" },
		{ "like: mov is stepped", { 0xb8, 0x27 }, 16, "ret" },
		{ "like: endbr64 is stepped", { 0xf3, 0x0f, 0x1e, 0xfa }, 16, "ret" },
		{ "like: pop r12 is stepped", { 0x41, 0x5c }, 16, "ret" },
		{ "like: a prefix at the end of the file", { 0x41, 0x54 }, 1, "ret" },
		{ "like: a part of a nop at the end of the file", { 0x0f, 0x1f, 0x44, 0, 0 }, 4, "ret" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint8_t *code = malloc(rows[i].len); /* exactly sized, for the sanitizer */
		const char *like;

		memcpy(code, rows[i].code, rows[i].len);
		like = arch_like(code, rows[i].len);
		check(!strcmp(like, rows[i].like), rows[i].name, "came %s", like);
		free(code);
	}
}
#endif

/* === cost ================================================================================================================= */

/* Five rounds; what is printed of them is computed by hand: the three in the middle count. */
static void test_print_cost(void)
{
	static const struct { const char *name; double wall[5], user[5], system[5], hits[5]; const char *says; } rows[] = {
		{ "cost: more time, and as many hits in each run", { 12, 12, 12, 12, 12 }, { 2, 2, 2, 2, 2 }, { 3, 3, 3, 3, 3 }, { 100, 100, 100, 100, 100 },
		  "T               :     12.000 ± 0.000 ms (user 2.000, system 3.000); +2.000 ± 0.000 ms (+20.0 %); 100 hits a run, 30000.0 ± 0.0 ns a hit\n" },
		{ "cost: one run far out is none of the means", { 12, 12, 99, 12, 12 }, { 2, 2, 50, 2, 2 }, { 3, 3, 3, 3, 3 }, { 100, 100, 100, 100, 100 },
		  "; +2.000 ± 0.000 ms (+20.0 %); 100 hits a run, 30000.0 ± 0.0 ns a hit\n" },
		{ "cost: other hits in each run", { 12, 12, 12, 12, 12 }, { 2, 2, 2, 2, 2 }, { 3, 3, 3, 3, 3 }, { 98, 99, 100, 101, 107 },
		  "; 101.0 hits a run (98 to 107), 29703.0 ± 0.0 ns a hit\n" },
		{ "cost: not one hit", { 9, 9, 9, 9, 9 }, { 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 1 }, { 0 },
		  "; -1.000 ± 0.000 ms (-10.0 %); not one hit: the command never came there\n" },
		{ "cost: no more time than without", { 10, 10, 10, 10, 10 }, { 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 1 }, { 100, 100, 100, 100, 100 },
		  "; +0.000 ± 0.000 ms (+0.0 %); 100 hits a run, lost in the noise: at most 0.0 ns a hit\n" },
	};
	static double base_wall[5] = { 10, 10, 10, 10, 10 }, base_part[5] = { 1, 1, 1, 1, 1 };
	static struct cost cost;
	struct named *named = calloc(1, sizeof(*named));
	char text[1024];
	int saved[2], file;

	named->text = "T";
	cost.named = named;
	cost.n = 1;
	cost.usable[0] = true;
	cost.width = 16;
	cost.spent[1] = (struct spent){ { base_wall, base_part, base_part, base_part } };
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cost.rounds = 5;
		cost.spent[0] = (struct spent){ { (double *)rows[i].wall, (double *)rows[i].user, (double *)rows[i].system, (double *)rows[i].hits } };
		file = capture_begin(saved);
		print_cost(&cost, false);
		flush_output();
		capture_end(file, saved, text, sizeof(text));
		check(!strncmp(text, "nothing attached:     10.000 ± 0.000 ms (user 1.000, system 1.000); 5 rounds\n", 77) && strstr(text, rows[i].says),
		      rows[i].name, "came '%s'", text);
	}
	for (unsigned n = 0; n < 3; n++) {
		cost.rounds = n;
		file = capture_begin(saved);
		print_cost(&cost, true);
		flush_output();
		capture_end(file, saved, text, sizeof(text));
		check(n < 2 ? !strcmp(text, "interrupted before there was a figure\n") : strstr(text, "; 2 rounds, interrupted\n") != NULL,
		      "cost: interrupted early", "%u rounds, '%s'", n, text);
	}
	free(named);
}

/* Windows of 100 and 102 hits a second, at 50 ns each. */
static void test_print_live(void)
{
	static uint8_t slots[SLOTS * SLOT_SIZE];
	static struct row row = { .name = "kprobe" };
	static struct cost cost;
	struct live *live = calloc(1, sizeof(*live));
	struct named *named = calloc(1, sizeof(*named));
	char text[1024];
	int saved[2];

	static const struct { const char *name; unsigned windows; bool hits, row; const char *says; } rows[] = {
		{ "live: a rate, its CPUs and its share", 4, true, true,
		  "T       :      101.0 ± 1.8 hits/s (CPU 1: 40.0, CPU 255: 60.5); at 50.00 ± 0.50 ns, which is what kprobe adds, 0.0005 ± 0.0000 % of a CPU\n" },
		{ "live: what one costs is not known", 4, true, false, "; what one costs is not known: no row of that kind can be run here\n" },
		{ "live: not one hit", 4, false, true, "T       :        0.0 ± 0.0 hits/s; not one hit in 2.0 s\n" },
		{ "live: interrupted early", 1, true, true, "T       :  interrupted before there was a figure\n" },
	};

	named->text = "T";
	cost.named = named;
	cost.n = 1;
	cost.width = 8;
	live->net = (struct estimate){ 50, 0.5 };
	live->run.slots = slots;
	live->before[1] = 20;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int file;

		live->row = rows[i].row ? &row : NULL;
		for (unsigned w = 0; w < 4; w++)
			live->rates[w] = !rows[i].hits ? 0 : w % 2 ? 102 : 100;
		*(uint64_t *)(slots + 1 * SLOT_SIZE) = rows[i].hits ? 100 : 20;
		*(uint64_t *)(slots + 255 * SLOT_SIZE) = rows[i].hits ? 121 : 0;
		file = capture_begin(saved);
		print_live(&cost, 0, live, rows[i].windows, 2.0);
		flush_output();
		capture_end(file, saved, text, sizeof(text));
		check(strstr(text, rows[i].says) != NULL, rows[i].name, "came '%s'", text);
	}
	free(live);
	free(named);
}

/* === main ================================================================================================================= */

static void test_objects(void)
{
	test_no_object();
	test_corrupt_embedded();
	test_corrupt_sample();
	test_two_symbol_tables();
	test_half_instruction();
	test_too_many_sections();
	test_truncated_objects();
	test_corrupt_link();
	test_data_sections();
	test_many_data_sections();
	test_many_functions();
	test_survives();
	test_link_program();
	test_link_addends();
	test_link_backwards();
	test_entries();
	test_variables();
	test_embedded_count();
	test_embedded_drive_kfunc();
	test_embedded_variables();
}

static void test_btf(void)
{
	test_btf_kinds();
	test_btf_names();
	test_btf_vlen();
	test_btf_headers();
	test_btf_corrupt_headers();
	test_btf_corrupt_types();
	test_btf_layout();
	test_btf_truncations();
	test_btf_survives();
	test_btf_of_this_machine();
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0); /* whatever ends the run, the lines before it are out */
	alarm(300); /* nothing here takes long: a loop without end is a failure */
	test_objects();
	test_btf();
	test_format_fields();
	test_format_numbers();
	test_format_bounds();
	test_sink();
	test_parse_count();
	test_parse_decimal();
	test_parse_cpus();
	test_edit_distance();
	test_read_whole();
	test_matches();
	test_choose();
	test_suites();
	test_nearest_names();
	test_rows();
	test_options();
	test_options_as_bench();
	test_options_with_cpus();
	test_options_empty_vector();
	test_options_table();
	test_split_words();
	test_sides();
	test_values();
	test_saved();
	test_saved_again();
	make_samples();
	test_means();
	test_student();
	test_estimates();
	test_trimmed();
	test_mann_whitney();
	test_ratio();
	test_shapes();
	test_coverage();
	test_remarks();
	test_rates();
	test_equal_windows();
	test_gunzip();
	test_profile();
	test_ring();
	test_ring_small();
	test_errno_names();
	test_reasons();
	test_blame();
	test_missing_symbol();
	test_check_hits();
	test_verify();
	test_possible();
	test_parse_counts();
	test_memory();
	test_sort_names();
	test_usdt_notes();
	test_own_site();
	test_binary_check();
	test_binary_segments();
	test_functions();
	test_function_sites();
	test_usdt_sites();
	test_binary_survives();
	test_binary_time();
	test_binary_of_this_machine();
	test_parse_offset();
	test_kallsyms_line();
	test_kernel_functions();
	test_malformed_targets();
	test_hot_names();
	test_print_cost();
	test_print_live();
#ifdef __x86_64__
	test_private_stack_code();
	test_like();
#endif
	return failures ? 1 : 0;
}
