/*
 * layout_table.h - read the tables of doc/layout.md and compare a server's
 * nodes with them.
 */
#ifndef TEST_LAYOUT_TABLE_H
#define TEST_LAYOUT_TABLE_H

#include <kustos/base.h>

#include <regex.h>
#include <stdbool.h>

/* What the tests give to the recipes: "data" and "id" in the tables. */
#define LAYOUT_DATA "test data"
#define LAYOUT_ID "test id"

#define LAYOUT_ROWS 8

struct layout_row {
	char node[128]; /* as the page has it */
	char mode[64];
	char data[128];
	bool stays;
	regex_t path;
	int seen;
};

struct layout_table {
	int count;
	struct layout_row rows[LAYOUT_ROWS];
};

/* Read the table below "heading"; "path" is the recipe's path, L in the
   table. */
void layout_read(struct layout_table *table, const char *heading,
	const char *path);
void layout_free(struct layout_table *table);

/* Return the row that describes the node, or NULL if none does. */
struct layout_row *layout_find(struct layout_table *table, const char *path);

/* Return whether the node's mode is the row's. */
bool layout_mode_fits(const struct layout_row *row,
	const struct kustos_stat *stat);
bool layout_data_fits(const struct layout_row *row, const char *data,
	size_t len);

/* Call "fn" for each heading that has a table of nodes. */
void layout_headings(void (*fn)(const char *heading));

#endif
