/*
 * test_layout.c - the nodes on a server are those of doc/layout.md: each recipe
 * is made to create all its nodes, and then to end.
 *
 * The server checks for empty containers ten times a second, so what is left at
 * the end shows which nodes were containers and which were persistent.
 */
#include "layout_shows.h"
#include "layout_table.h"
#include "mutex_pair.h"

#include <kustos/node.h>
#include <stdio.h>
#include <string.h>

#define T_MS 9000
#define CANARY LAYOUT_ROOT "-canary"

struct sight {
	struct layout_table *table;
	bool all_right; /* so far */
	bool quiet;	/* print what is wrong instead of failing */
};

static void walk(struct sight *sight, const char *path,
	void (*see)(struct sight *, const char *, const char *, size_t,
		const struct kustos_stat *))
{
	struct kustos_names *names = NULL;
	struct kustos_stat stat;
	char *data = NULL, child[512];
	size_t len = 0;

	/* A node that was deleted meanwhile does not matter. */
	if (kustos_get(client, path, SOON, NULL, &data, &len, &stat) !=
		KUSTOS_OK)
		return;
	if (strcmp(path, LAYOUT_ROOT) != 0)
		see(sight, path, data, len, &stat);
	kustos_free(data);
	if (kustos_children(client, path, SOON, NULL, &names, NULL) !=
		KUSTOS_OK)
		return;
	for (size_t i = 0; i < names->count; i++) {
		snprintf(child, sizeof(child), "%s/%s", path, names->names[i]);
		walk(sight, child, see);
	}
	kustos_names_free(names);
}

static void compare(struct sight *sight, const char *path, const char *data,
	size_t len, const struct kustos_stat *stat)
{
	struct layout_row *row = layout_find(sight->table, path);

	if (sight->quiet) {
		sight->all_right = sight->all_right && row != NULL;
	} else {
		ck_assert_msg(row != NULL, "%s is in no row", path);
		ck_assert_msg(layout_mode_fits(row, stat), "%s is not %s", path,
			row->mode);
		ck_assert_msg(layout_data_fits(row, data, len),
			"%s says \"%.*s\", not %s", path, (int)len, data,
			row->data);
	}
	if (row != NULL)
		row->seen++;
}

/* Return whether the server has a node for each row. */
static bool shows_all(struct layout_table *table)
{
	struct sight sight = { table, true, true };

	for (int i = 0; i < table->count; i++)
		table->rows[i].seen = 0;
	walk(&sight, LAYOUT_ROOT, compare);
	for (int i = 0; i < table->count; i++)
		if (table->rows[i].seen == 0)
			sight.all_right = false;
	return sight.all_right;
}

static void remains(struct sight *sight, const char *path, const char *data,
	size_t len, const struct kustos_stat *stat)
{
	struct layout_row *row = layout_find(sight->table, path);

	(void)data;
	(void)len;
	if (row != NULL && row->stays)
		row->seen++;
	else if (stat->num_children == 0)
		sight->all_right = false;
}

/* Return whether the nodes that stay are there, and nothing else but their
   parents. */
static bool only_what_stays(struct layout_table *table)
{
	struct sight sight = { table, true, true };

	for (int i = 0; i < table->count; i++)
		table->rows[i].seen = 0;
	walk(&sight, LAYOUT_ROOT, remains);
	for (int i = 0; i < table->count; i++)
		if (table->rows[i].stays && table->rows[i].seen == 0)
			sight.all_right = false;
	return sight.all_right;
}

/* Wait until the server has checked all empty containers: a second check cannot
   begin before one is complete. */
static void await_sweep(void)
{
	for (int i = 0; i < 2; i++) {
		client_create(client, CANARY "/child", KUSTOS_CREATE_PARENTS);
		check_err(
			kustos_delete(client, CANARY "/child", -1, SOON, NULL),
			KUSTOS_OK);
		test_eventually(kustos_exists(client, CANARY, SOON, NULL,
					NULL) == KUSTOS_ENONODE,
			5000);
	}
}

START_TEST(the_nodes_are_those_of_the_page)
{
	struct layout_table table;
	struct sight sight = { &table, true, false };

	client = client_connected(fixture_address(), T_MS);
	layout_read(&table, layout_heading(_i), LAYOUT_PATH);
	layout_show(_i);
	test_eventually(shows_all(&table), 5000);
	walk(&sight, LAYOUT_ROOT, compare);
	layout_end(_i);
	await_sweep();
	test_eventually(only_what_stays(&table), 5000);
	layout_free(&table);
	client_close(client);
}
END_TEST

static void is_tested(const char *heading)
{
	int i = 0;

	while (i < LAYOUT_RECIPES && strcmp(layout_heading(i), heading) != 0)
		i++;
	ck_assert_msg(i < LAYOUT_RECIPES, "nothing shows \"%s\"", heading);
}

START_TEST(each_table_of_the_page_is_compared)
{
	layout_headings(is_tested);
}
END_TEST

int main(void)
{
	static const struct server_options options = {
		.jvm = "-Dznode.container.checkIntervalMs=100"
	};
	Suite *s = suite_create("layout");
	TCase *t;

	fixture_options(&options);
	t = fixture_case(s, "layout", 30);
	tcase_add_loop_test(t, the_nodes_are_those_of_the_page, 0,
		LAYOUT_RECIPES);
	tcase_add_test(t, each_table_of_the_page_is_compared);
	return fixture_main(s);
}
