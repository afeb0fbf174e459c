// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills in the parts of the documentation that are made from bpftrig's own tables: `make docs` runs it over README.md, bpftrig.1 and
 * bpftrig.bash, and a test of group `docs` does so too and wants no change.
 *
 *	docs <FILE >NEW
 *
 * A part begins with a line that holds "docs: NAME" in a comment of the file's language and ends with one that holds "docs: end". What
 * is between is replaced. To add a part: a function that prints it, a row in parts[].
 */
#define main bpftrig_main
#include "../bpftrig.c"
#undef main
#include <stdio.h>

/* === Words for what the tables hold ============================================================================================ */

static bool is_shown(const struct option *o)
{
	return o->help != NULL;
}

/* What calls the target, over and over. */
static const char *loop_of(const struct row *row)
{
	return row->produce == produce_test_run ? "BPF loop" : row->produce == produce_getpgid ? "`getpgid()`"
		: row->produce == produce_rename ? "write to `comm`" : "call";
}

/* What the program is attached to, the same on every architecture. */
static void print_target(const struct row *row)
{
	if (!row->target)
		printf("-");
	else if (row->user)
		printf("own %s", row->flags & USDT ? "USDT probe" : "function");
	else if (!strcmp(row->target, GETPGID))
		printf("entry of `getpgid`");
	else
		printf("`%s`", row->target);
}

static const char *step_words(enum step step)
{
	static const char *const words[] = {
		[STEP_ANY] = "any", [STEP_MAP] = "maps", [STEP_LOAD] = "load", [STEP_ATTACH] = "attach", [STEP_PERF_OPEN] = "perf event",
		[STEP_UPROBE] = "uprobe", [STEP_TRACEFS] = "tracefs", [STEP_PRODUCE] = "loop", [STEP_TEST_RUN] = "test run",
	};

	return words[step];
}

/* The values of an option that takes one of some words, with blanks between them; NULL for the others. */
static const char *words_of(const struct option *o)
{
	static char known[256];

	if (!strcmp(o->name, "on-exit"))
		return "poweroff reboot halt";
	if (strcmp(o->name, "format"))
		return NULL;
	known[0] = 0;
	for (size_t i = 0; i < COUNT_OF(formats); i++)
		format_to(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? " " : "", formats[i].name);
	return known;
}

/* === README.md ================================================================================================================= */

static void part_rows_markdown(void)
{
	printf("| row | what triggers the program | attached to | loop | needs |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		printf("| %s%s | %s | ", rows[i].name, rows[i].flags & BY_NAME_ONLY ? " \\*" : "", rows[i].help);
		print_target(&rows[i]);
		printf(" | %s | %s |\n", loop_of(&rows[i]), rows[i].needs);
	}
}

static void part_suites_markdown(void)
{
	for (size_t i = 0; i < COUNT_OF(suites); i++)
		printf("- `%s`: %s\n", suites[i].name, suites[i].help);
}

/* A text that stands in several rows of the table comes once, with the errno and the step of the first. */
static bool is_said_before(size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(hints[i].text, hints[n].text) && hints[i].outcome == hints[n].outcome)
			return true;
	return false;
}

static void part_hints_markdown(void)
{
	printf("| error | at | what the line says | the row is |\n|---|---|---|---|\n");
	for (size_t i = 0; i < COUNT_OF(hints); i++) {
		const struct hint *h = &hints[i];

		if (is_said_before(i))
			continue;
		printf("| %s | %s | %s | %s |\n", h->err ? errno_name(h->err) : "any", step_words(h->step), h->text,
		       h->outcome == SKIPPED ? "skipped" : "failed");
	}
}

static void part_warnings_markdown(void)
{
	printf("| warning | unless | what it means |\n|---|---|---|\n");
	for (size_t i = 0; i < COUNT_OF(warnings); i++)
		printf("| %s | %s | %s |\n", warnings[i].key, warnings[i].good, warnings[i].text);
}

static void part_targets_markdown(void)
{
	for (size_t i = 0; i < COUNT_OF(target_kinds); i++)
		printf("- `%s:` %s\n", target_kinds[i].name, target_kinds[i].where);
}

/* === bpftrig.1 ================================================================================================================= */

#define MAN_WIDTH 78 /* of a line of the source: mandoc wants 80 at most */

/* One word into mdoc: what roff would take for its own is escaped. Returns how many characters that made. */
static unsigned print_mdoc_word(const char *word, size_t len, bool begins_line)
{
	unsigned printed = begins_line && (*word == '.' || *word == '\'') ? printf("\\&") : 0;

	for (const char *c = word; c < word + len; c++)
		printed += *c == '\\' ? printf("\\e") : *c == '-' && c[1] == '-' ? printf("\\-") : printf("%c", *c);
	return printed;
}

/* Text into mdoc, filled into lines, and what stands behind it: the period of a sentence, or nothing. */
static void print_mdoc(const char *text, const char *behind)
{
	unsigned column = 0;

	while (*text) {
		size_t len = strcspn(text, " ");
		bool begins_line = !column || column + 1 + len > MAN_WIDTH;

		if (column)
			putchar(begins_line ? '\n' : ' ');
		column = (begins_line ? 0 : column + 1) + print_mdoc_word(text, len, begins_line);
		text += len + (text[len] == ' ');
	}
	printf("%s\n", behind);
}

/* A line for each command's usage: its words as they are, brackets and bars included. */
static void part_synopsis_mdoc(void)
{
	printf(".Nm\n.Op Ar options\n.Op Ar name | glob | suite ...\n");
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		printf(".Nm\n.Cm %s\n", commands[i].name);
		print_mdoc(commands[i].usage, "");
	}
}

static void print_commands_of(unsigned where)
{
	bool any = false;

	if (where & CMD_RUN)
		any = printf("a run");
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		if (where & commands[i].bit)
			any = printf("%s%s", any ? ", " : "", commands[i].name);
	if (where & CMD_SIDE)
		printf(", one side of compare");
}

static void part_options_mdoc(void)
{
	for (size_t i = 0; i < COUNT_OF(options); i++) {
		const struct option *o = &options[i];

		if (!is_shown(o))
			continue;
		printf(".It ");
		if (o->letter)
			printf("Fl %c , ", o->letter);
		printf("Fl \\-%s", o->name);
		if (o->arg)
			printf(" Ar %s", o->arg);
		printf("\n");
		print_mdoc(o->help, ".");
		if (o->kind == OPTION_NUMBER || (o->kind == OPTION_COUNTS && o->max))
			printf("From %g to %g.\n", o->min, o->max);
		if (o->where == ANY)
			continue;
		printf(".Pq ");
		print_commands_of(o->where);
		printf("\n");
	}
}

static void part_spellings_mdoc(void)
{
	for (size_t i = 0; i < COUNT_OF(options); i++)
		if (!is_shown(&options[i]))
			printf(".Fl \\-%s ,\n", options[i].name);
}

static void part_suites_mdoc(void)
{
	for (size_t i = 0; i < COUNT_OF(suites); i++) {
		printf(".It Cm %s\n", suites[i].name);
		print_mdoc(suites[i].help, ".");
	}
}

static void part_rows_mdoc(void)
{
	char needs[256];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		printf(".It Cm %s%s\n", rows[i].name, rows[i].flags & BY_NAME_ONLY ? " *" : "");
		print_mdoc(rows[i].help, ".");
		snprintf(needs, sizeof(needs), "Needs %s", rows[i].needs);
		print_mdoc(needs, ".");
	}
}

static void part_aliases_mdoc(void)
{
	for (size_t i = 0; i < COUNT_OF(aliases); i++)
		printf(".It Cm %s\n.Cm %s\n", aliases[i].old, aliases[i].name);
}

static void part_targets_mdoc(void)
{
	for (size_t i = 0; i < COUNT_OF(target_kinds); i++) {
		printf(".It Li %s:\\&\n", target_kinds[i].name);
		print_mdoc(target_kinds[i].where, "");
	}
}

static void part_facts_mdoc(void)
{
	for (size_t i = 0; i < COUNT_OF(facts); i++)
		printf(".Li %s%s\n", facts[i].key, i + 1 < COUNT_OF(facts) ? " ," : " .");
}

/* === bpftrig.bash ============================================================================================================== */

static void print_options_of(unsigned where, bool with_value)
{
	for (size_t i = 0; i < COUNT_OF(options); i++) {
		const struct option *o = &options[i];

		if (!is_shown(o) || !(o->where & where) || (with_value && !o->arg))
			continue;
		if (o->letter)
			printf(" -%c", o->letter);
		printf(" --%s", o->name);
	}
}

/* A case for each command, then one for what stands behind an option, by what it wants: words, a file, or what nobody can guess. */
static void part_tables_bash(void)
{
	printf("_bpftrig_commands='");
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		printf("%s%s", i ? " " : "", commands[i].name);
	printf("'\n_bpftrig_suites='");
	for (size_t i = 0; i < COUNT_OF(suites); i++)
		printf("%s%s", i ? " " : "", suites[i].name);
	printf("'\n_bpftrig_rows='");
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		printf("%s%s", i ? " " : "", rows[i].name);
	printf("'\n_bpftrig_kinds='");
	for (size_t i = 0; i < COUNT_OF(target_kinds); i++)
		printf("%s%s:", i ? " " : "", target_kinds[i].name);
	printf("'\n\n_bpftrig_options() {\n\tcase $1 in\n");
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		printf("\t%s) echo", commands[i].name);
		print_options_of(commands[i].bit, false);
		printf(" ;;\n");
	}
	printf("\t*) echo");
	print_options_of(CMD_RUN, false);
	printf(" ;;\n\tesac\n}\n\n_bpftrig_value() {\n\tcase $1 in\n");
	for (size_t i = 0; i < COUNT_OF(options); i++) {
		const struct option *o = &options[i];

		if (!is_shown(o) || !o->arg)
			continue;
		printf("\t");
		if (o->letter)
			printf("-%c | ", o->letter);
		printf("--%s) echo %s ;;\n", o->name, words_of(o) ? words_of(o) : !strcmp(o->arg, "FILE") ? "FILE" : "ANY");
	}
	printf("\tesac\n}\n");
}

/* === Parts ===================================================================================================================== */

static const struct { const char *name; void (*fill)(void); } parts[] = {
	{ "rows", part_rows_markdown },
	{ "suites", part_suites_markdown },
	{ "targets", part_targets_markdown },
	{ "hints", part_hints_markdown },
	{ "warnings", part_warnings_markdown },
	{ "man synopsis", part_synopsis_mdoc },
	{ "man options", part_options_mdoc },
	{ "man spellings", part_spellings_mdoc },
	{ "man suites", part_suites_mdoc },
	{ "man rows", part_rows_mdoc },
	{ "man aliases", part_aliases_mdoc },
	{ "man targets", part_targets_mdoc },
	{ "man facts", part_facts_mdoc },
	{ "bash tables", part_tables_bash },
};

/* The name of the part that a line begins, or "end"; NULL where it does neither. Such a line is nothing but a comment. */
static const char *mark_in(char *line)
{
	static const char *const comments[] = { "# docs: ", ".\\\" docs: ", "<!-- docs: " };

	for (size_t i = 0; i < COUNT_OF(comments); i++)
		if (!strncmp(line, comments[i], strlen(comments[i]))) {
			char *name = line + strlen(comments[i]), *end = strstr(name, " -->");

			*(end ? end : name + strcspn(name, "\n")) = 0;
			return name;
		}
	return NULL;
}

static bool print_part(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (!strcmp(parts[i].name, name)) {
			parts[i].fill();
			return true;
		}
	fprintf(stderr, "docs: no part is called '%s'\n", name);
	return false;
}

int main(void)
{
	static char line[4096], copy[4096];
	bool in_part = false;

	while (fgets(line, sizeof(line), stdin)) {
		const char *name = mark_in(strcpy(copy, line));
		bool ends = name && !strcmp(name, "end");

		if (!in_part || ends)
			fputs(line, stdout);
		if (name && ends != in_part) {
			fprintf(stderr, "docs: '%s' where that cannot be\n", name);
			return 1;
		}
		if (name && !ends && !print_part(name))
			return 1;
		in_part = name ? !ends : in_part;
	}
	return in_part || ferror(stdout);
}
