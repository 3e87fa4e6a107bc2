/*
 * top_count.c - who is there, in one recipe.
 */
#include "show.h"
#include "standing.h"
#include "top.h"

#include <kustos/countdown.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MAX 500 /* of more, only the number is told */

static char *words(const struct kustos_participant *p)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	show_who(out, p);
	fputs(", ", out);
	show_age(out, p->stat.ctime_ms);
	return fclose(out) == 0 ? text : NULL;
}

static void tell(struct top_row *row, const struct kustos_participants *list)
{
	const struct kustos_participant *first = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct kustos_participant *p = &list->list[i];

		row->holds += p->holds != 0;
		row->waits += p->holds == 0;
		if (p->holds && first == NULL)
			first = p;
	}
	if (first != NULL)
		row->who = words(first);
	if (first != NULL && row->layout == LAYOUT_RWLOCK)
		row->is = first->kind == KUSTOS_KIND_READ ? "read" : "written";
	if (list->mixed)
		row->is = "mixed dialects";
}

static enum kustos_err child_stat(struct kustos_client *client,
	kustos_deadline end, const char *parent, const char *name,
	struct kustos_stat *stat)
{
	const char *slash = strcmp(parent, "/") == 0 ? "" : "/";
	char *path = malloc(strlen(parent) + strlen(name) + 2);

	if (path == NULL)
		return KUSTOS_ENOMEM;
	stpcpy(stpcpy(stpcpy(path, parent), slash), name);
	enum kustos_err err = kustos_exists(client, path, end, NULL, stat);
	free(path);
	return err;
}

static enum kustos_err count_line(struct kustos_client *client,
	kustos_deadline end, size_t parts, struct top_row *row)
{
	struct standing standing;

	if (parts > NAMED_MAX) {
		row->holds = 1;
		row->waits = parts - 1;
		row->is = "at least one holds";
		return KUSTOS_OK;
	}
	enum kustos_err err = standing_get(client, row->path, NULL, end,
		&standing);
	/* What is called leases and has others only is a node like any. */
	if (err == KUSTOS_OK && standing.leases != NULL &&
		standing.leases->count == 0 && standing.leases->foreign > 0)
		err = KUSTOS_ENONODE;
	if (err == KUSTOS_OK)
		tell(row, standing.list);
	standing_free(&standing);
	/* What comes and goes are the leases. */
	if (err == KUSTOS_OK && row->layout == LAYOUT_SEMAPHORE)
		err = child_stat(client, end, row->path, "leases", &row->stat);
	return err;
}

static enum kustos_err count_latch(struct kustos_client *client,
	kustos_deadline end, struct top_row *row)
{
	struct kustos_countdown_status *status = NULL;
	struct kustos_countdown *latch = NULL;
	enum kustos_err err = kustos_countdown_create(client, row->path, 0,
		NULL, &latch);

	if (err == KUSTOS_OK)
		err = kustos_countdown_look(latch, end, NULL, &status);
	if (err == KUSTOS_OK) {
		row->holds = status->done;
		if ((size_t)status->count > status->done)
			row->waits = (size_t)status->count - status->done;
		row->is = status->disagree   ? "two numbers"
			: status->broken > 0 ? "broken"
			: status->count == 0 ? "of an unknown number"
			: row->waits == 0    ? "zero"
					     : "";
	}
	kustos_countdown_status_free(status);
	kustos_countdown_destroy(latch);
	return err;
}

/* Who is there before "ready" is there waits to go in, or to go out. */
static void count_members(const struct kustos_names *names, size_t parts,
	struct top_row *row)
{
	bool ready = false;

	for (size_t i = 0; i < names->count; i++)
		ready = ready || strcmp(names->names[i], "ready") == 0;
	row->holds = ready ? parts : 0;
	row->waits = ready ? 0 : parts;
	row->is = ready ? "ready" : "";
}

/* Who claims an item makes an ephemeral node of its name, elsewhere. */
static enum kustos_err count_items(struct kustos_client *client,
	kustos_deadline end, const struct kustos_names *names, size_t parts,
	struct top_row *row)
{
	struct kustos_stat stat = { .ephemeral_owner = 0 };
	const char *item = NULL;

	for (size_t i = 0; i < names->count && item == NULL; i++)
		if (layout_part(names->names[i]) == LAYOUT_QUEUE)
			item = names->names[i];
	if (item == NULL) /* it is empty */
		return KUSTOS_OK;
	enum kustos_err err = child_stat(client, end, row->path, item, &stat);
	if (err != KUSTOS_OK && err != KUSTOS_ENONODE)
		return err;
	if (stat.ephemeral_owner != 0) {
		row->layout = LAYOUT_CLAIMS;
		row->holds = parts;
	} else {
		row->layout = LAYOUT_QUEUE;
		row->waits = parts;
	}
	return KUSTOS_OK;
}

/* Nobody can see who waits for it. */
static enum kustos_err count_gate(struct kustos_client *client,
	kustos_deadline end, struct top_row *row)
{
	struct kustos_participant setter = { .stat = row->stat };
	char *data = NULL;
	enum kustos_err err = kustos_get(client, row->path, end, NULL, &data,
		&setter.len, NULL);

	if (err != KUSTOS_OK)
		return err;
	setter.data = data;
	row->is = setter.len > 0 ? "set" : "if it is one";
	row->who = words(&setter);
	kustos_free(data);
	return KUSTOS_OK;
}

enum kustos_err top_count(struct kustos_client *client, kustos_deadline end,
	const struct kustos_names *names, size_t parts, struct top_row *row)
{
	switch (row->layout) {
	case LAYOUT_BARRIER:
		count_members(names, parts, row);
		return KUSTOS_OK;
	case LAYOUT_QUEUE:
	case LAYOUT_CLAIMS:
		return count_items(client, end, names, parts, row);
	case LAYOUT_LATCH:
		return count_latch(client, end, row);
	case LAYOUT_GATE:
		return count_gate(client, end, row);
	default:
		return count_line(client, end, parts, row);
	}
}
