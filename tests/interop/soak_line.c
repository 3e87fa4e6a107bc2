/*
 * soak_line.c - look at a line, and judge who may hold what.
 */
#include "soak_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PROOF "/proof" /* is written to before each look */
#define EYE_MS 60000
#define EYE_PATIENCE_MS 500
#define NUMBER 10 /* digits at the end of a name */

static struct raw *eye;

void line_prepare(const char *server, const char *path)
{
	eye = NULL;
	ck_assert_int_eq(raw_create(server, path, ""), 0);
	ck_assert_int_eq(raw_create(server, PROOF, ""), 0);
}

static struct raw *open_eye(void)
{
	struct raw *raw = NULL;

	for (int i = soak_below(3), n = 0; raw == NULL && n < 3;
		i = (i + 1) % 3, n++)
		if (nemesis_runs(soak.nemesis, i))
			raw = raw_open(nemesis_server(soak.nemesis, i), EYE_MS);
	if (raw != NULL)
		raw_set_patience(raw, EYE_PATIENCE_MS);
	return raw;
}

static const char *number_of(const char *name)
{
	size_t len = strlen(name);

	ck_assert_uint_gt(len, NUMBER);
	return name + len - NUMBER;
}

/* Store the czxid of the first node, 0 if there is none.  Returns 0, or an
   error: the node may just have gone. */
static int see_first(struct contender *c, const char *path)
{
	const char *first = NULL;
	struct raw_stat stat;
	char node[512];
	int rc;

	for (int i = 0; i < c->line.count; i++)
		if (first == NULL ||
			strcmp(number_of(c->line.names[i]), number_of(first)) <
				0)
			first = c->line.names[i];
	c->first = 0;
	if (first == NULL)
		return 0;
	snprintf(node, sizeof(node), "%s/%s", path, first);
	rc = raw_do_exists(eye, node, &stat);
	if (rc == 0)
		c->first = stat.czxid;
	return rc;
}

bool line_look(struct contender *c, const char *path)
{
	int rc;

	raw_names_free(&c->line);
	if (eye == NULL)
		eye = open_eye();
	if (eye == NULL)
		return false;
	rc = raw_do_set(eye, PROOF, "", -1);
	if (rc == 0)
		rc = raw_do_children(eye, path, &c->line);
	if (rc == 0)
		rc = see_first(c, path);
	if (rc != 0 && rc != RAW_NONODE) {
		raw_abandon(eye);
		eye = NULL;
	}
	return rc == 0;
}

void line_judge(const struct contender *c, const char *name, int room,
	line_beside_fn *beside)
{
	bool there = false;
	int before = 0;

	for (int i = 0; i < c->line.count; i++) {
		const char *other = c->line.names[i];

		there = there || strcmp(other, name) == 0;
		if (strcmp(number_of(other), number_of(name)) >= 0 ||
			(beside != NULL && beside(name, other)))
			continue;
		before++;
		ck_assert_msg(before < room, "%s has it, and %s stood before",
			name, other);
	}
	ck_assert_msg(there, "%s has it, and was not in the line", name);
	soak.looks++;
}

void line_judge_first(const struct contender *c, int64_t czxid)
{
	ck_assert_msg(c->first == czxid,
		"%d leads with 0x%" PRIx64 ", and 0x%" PRIx64 " was the first",
		c->number, (uint64_t)czxid, (uint64_t)c->first);
	soak.looks++;
}

void line_end(void)
{
	if (eye != NULL)
		raw_abandon(eye);
	eye = NULL;
}
