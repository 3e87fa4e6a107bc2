/* layout_table.c - read the tables of doc/layout.md. */
#include "layout_table.h"

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "| node | mode | data | goes |"

#define UUID                                          \
	"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]" \
	"[0-9a-f]{3}-[0-9a-f]{12}"

/* Regular expressions for the words that the tables use: in a node's name, and
   as data. */
static const struct {
	const char *word, *pattern;
} words[] = {
	{ "<n>", "[0-9]{10}" },
	{ "<uuid>", UUID },
	{ "<hex32>", "[0-9a-f]{32}" },
	{ "<id>", "[^/]+" },
	{ "<item>", "(qn-|entry-[0-9]{3}-)[0-9]{10}" },
	{ "<digits3>", "[0-9]{3}" },
	{ "<sign>", "[01]" },
	{ "<hex8>", "[0-9A-F]{8}" },
	{ "<hex>", "[0-9A-F]+" },
	{ "<bar>", "[|]" },
	{ "<number>", "[1-9][0-9]*" },
}, kinds[] = {
	{ "empty", "" },
	{ "address", "[0-9a-f.:]{3,}" },
	{ "record", "\\{\"host\":\"[^\"]*\",\"pid\":[0-9]+,\"program\":"
		    "\"[^\"]*\",\"since\":\"[-0-9T:]{19}Z\""
		    "(,\"reason\":\"[^\"]*\")?\\}" },
	{ "data", LAYOUT_DATA },
	{ "id", LAYOUT_ID },
	{ "name", "[_a-z0-9-]+[0-9]{10}" },
	{ "number", "[1-9][0-9]*" },
	{ "round", "round 0x[0-9a-f]{16}" },
	{ "claimant", "[0-9a-f]{32}-[0-9]+" },
};

#ifndef LAYOUT_PAGE
#define LAYOUT_PAGE "doc/layout.md" /* the Makefile sets the real path */
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static FILE *open_page(void)
{
	FILE *page = fopen(LAYOUT_PAGE, "r");

	ck_assert_msg(page != NULL, "no %s", LAYOUT_PAGE);
	return page;
}

static void compile(regex_t *out, const char *text)
{
	ck_assert_msg(regcomp(out, text, REG_EXTENDED | REG_NOSUB) == 0,
		"not a pattern: %s", text);
}

/* Append the regular expression for a name or path of the page. */
static void append(char *end, const char *text)
{
	while (*text != '\0') {
		size_t i = 0;

		while (i < COUNT(words) &&
			strncmp(text, words[i].word, strlen(words[i].word)) !=
				0)
			i++;
		if (i < COUNT(words)) {
			end = stpcpy(end, words[i].pattern);
			text += strlen(words[i].word);
		} else {
			ck_assert_msg(*text != '<', "no such word: %s", text);
			*end++ = *text++;
		}
	}
	strcpy(end, "$");
}

/* Copy the next cell without blanks and quotes.  Returns what follows the
   cell. */
static const char *cell(const char *line, char *out, size_t size)
{
	size_t len;

	ck_assert_msg(line[0] == '|', "not a row: %s", line);
	line += 1 + strspn(line + 1, " `");
	len = strcspn(line, "|");
	const char *rest = line + len;
	while (len > 0 && strchr(" `", line[len - 1]) != NULL)
		len--;
	ck_assert_uint_lt(len, size);
	memcpy(out, line, len);
	out[len] = '\0';
	return rest;
}

static void read_row(struct layout_row *row, const char *line, const char *path)
{
	char goes[128], pattern[512];

	line = cell(line, row->node, sizeof(row->node));
	line = cell(line, row->mode, sizeof(row->mode));
	line = cell(line, row->data, sizeof(row->data));
	(void)cell(line, goes, sizeof(goes));
	row->stays = strcmp(goes, "stays") == 0;
	row->seen = 0;
	ck_assert_int_eq(row->node[0], 'L');
	append(pattern + sprintf(pattern, "^%s", path), row->node + 1);
	compile(&row->path, pattern);
}

void layout_read(struct layout_table *table, const char *heading,
	const char *path)
{
	FILE *page = open_page();
	char line[512];
	bool here = false, inside = false;

	table->count = 0;
	while (fgets(line, sizeof(line), page) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "## ", 3) == 0)
			here = strcmp(line + 3, heading) == 0;
		inside = (inside && line[0] == '|') || strcmp(line, HEAD) == 0;
		if (!here || !inside || line[2] == '-' || line[2] == 'n' ||
			line[1] == '-')
			continue;
		ck_assert_int_lt(table->count, LAYOUT_ROWS);
		read_row(&table->rows[table->count++], line, path);
	}
	fclose(page);
	ck_assert_msg(table->count > 0, "no table of \"%s\"", heading);
}

void layout_free(struct layout_table *table)
{
	for (int i = 0; i < table->count; i++)
		regfree(&table->rows[i].path);
}

struct layout_row *layout_find(struct layout_table *table, const char *path)
{
	for (int i = 0; i < table->count; i++)
		if (regexec(&table->rows[i].path, path, 0, NULL, 0) == 0)
			return &table->rows[i];
	return NULL;
}

bool layout_mode_fits(const struct layout_row *row,
	const struct kustos_stat *stat)
{
	bool ephemeral = strncmp(row->mode, "ephemeral", 9) == 0;

	/* A container cannot be told from a persistent node here; what is left
	   in the end shows the difference. */
	return ephemeral == (stat->ephemeral_owner != 0);
}

static bool is(const char *kind, const char *data, size_t len)
{
	char pattern[256];
	regex_t compiled;

	if (strcmp(kind, "int4") == 0)
		return len == 4;
	if (strcmp(kind, "frame") == 0)
		return len > 5 && memcmp(data, "\0\1\0\1\1", 5) == 0 &&
			data[len - 1] == 2;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (strcmp(kind, kinds[i].word) != 0)
			continue;
		snprintf(pattern, sizeof(pattern), "^%s$", kinds[i].pattern);
		compile(&compiled, pattern);
		bool fits = strlen(data) == len &&
			regexec(&compiled, data, 0, NULL, 0) == 0;
		regfree(&compiled);
		return fits;
	}
	ck_abort_msg("no such data: %s", kind);
}

bool layout_data_fits(const struct layout_row *row, const char *data,
	size_t len)
{
	char all[sizeof(row->data)];
	char *rest = strcpy(all, row->data);
	bool fits = false;

	while (rest != NULL && !fits) {
		char *kind = rest;

		rest = strstr(kind, " or ");
		if (rest != NULL) {
			*rest = '\0';
			rest += 4;
		}
		fits = is(kind, data, len);
	}
	return fits;
}

void layout_headings(void (*fn)(const char *heading))
{
	FILE *page = open_page();
	char line[512], heading[512] = "";

	while (fgets(line, sizeof(line), page) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "## ", 3) == 0)
			strcpy(heading, line + 3);
		if (strcmp(line, HEAD) == 0)
			fn(heading);
	}
	fclose(page);
}
