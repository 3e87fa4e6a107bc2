/*
 * top_count.c - count who is there, in one recipe.
 */
#include "json.h"
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
	if (p->stat.czxid != 0) {
		fputs(", ", out);
		show_age(out, p->stat.ctime_ms);
	}
	return fclose(out) == 0 ? text : NULL;
}

/* Is its data a holder record, which nothing but Kustos writes? */
static bool is_record(const struct kustos_participant *p)
{
	static const char *const fields[] = { "host", "pid", "program",
		"since" };
	char text[16];

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (p->len == 0 ||
			!json_field(p->data, p->len, fields[i], text,
				sizeof(text)))
			return false;
	return true;
}

static void tell(struct top_row *row, const struct kustos_participants *list)
{
	const struct kustos_participant *first = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct kustos_participant *p = list->list[i];

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
	if (row->layout == LAYOUT_SIMPLE &&
		(first == NULL || !is_record(first))) {
		row->layout = LAYOUT_EPHEMERAL;
		row->is = "perhaps a simple lock";
	}
}

static char *join(const char *a, const char *b, const char *c)
{
	char *text = malloc(strlen(a) + strlen(b) + strlen(c) + 1);

	if (text != NULL)
		stpcpy(stpcpy(stpcpy(text, a), b), c);
	return text;
}

static char *child_path(const char *parent, const char *name)
{
	return join(parent, strcmp(parent, "/") == 0 ? "" : "/", name);
}

static enum kustos_err child_stat(struct kustos_client *client,
	kustos_deadline end, const char *parent, const char *name,
	struct kustos_stat *stat)
{
	char *path = child_path(parent, name);

	if (path == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = kustos_exists(client, path, end, NULL, stat);
	free(path);
	return err;
}

/* Set "who" of the row to what the node of one child says, unless that may not
   be read; "*service" is whether the child is an instance of a service.
   Returns KUSTOS_ENONODE if the child is not ephemeral, as all that are meant
   here are. */
static enum kustos_err tell_child(struct kustos_client *client,
	kustos_deadline end, const char *name, struct top_row *row,
	bool *service)
{
	char *path = child_path(row->path, name), *data = NULL, type[16];
	struct kustos_participant one = { .len = 0 };

	if (path == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = kustos_get(client, path, end, NULL, &data,
		&one.len, &one.stat);
	free(path);
	if (err != KUSTOS_OK)
		return err == KUSTOS_ENOAUTH ? KUSTOS_OK : err;
	one.data = data;
	*service = one.len > 0 &&
		json_field(data, one.len, "serviceType", type, sizeof(type));
	if (one.stat.ephemeral_owner == 0)
		err = KUSTOS_ENONODE;
	else
		row->who = words(&one);
	kustos_free(data);
	return err;
}

/* Count by the names alone. */
static enum kustos_err count_names(size_t parts, struct top_row *row)
{
	row->holds = 1;
	row->waits = parts - 1;
	row->is = "at least one holds";
	return KUSTOS_OK;
}

static enum kustos_err count_line(struct kustos_client *client,
	kustos_deadline end, size_t parts, struct top_row *row)
{
	struct standing standing;

	if (parts > NAMED_MAX)
		return count_names(parts, row);
	enum kustos_err err = standing_get(client, row->path, NULL, end,
		&standing);
	/* If "leases" has children but none is a lease, this is no
	   semaphore. */
	if (err == KUSTOS_OK && standing.leases != NULL &&
		standing.leases->count == 0 && standing.leases->foreign > 0)
		err = KUSTOS_ENONODE;
	if (err == KUSTOS_OK)
		tell(row, standing.list);
	standing_free(&standing);
	/* It is leases that come and go: the rates are those of that node. */
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

/* Return the first name that is a part of that layout, or NULL. */
static const char *first_part(const struct kustos_names *names,
	enum layout layout)
{
	const char *first = NULL;

	for (size_t i = 0; i < names->count; i++)
		if (layout_part(names->names[i]) == layout &&
			(first == NULL || strcmp(names->names[i], first) < 0))
			first = names->names[i];
	return first;
}

/* Count in kazoo's semaphore: its children hold, and those who wait are in line
   at a node beside it.  Without that node it is none. */
static enum kustos_err count_leased(struct kustos_client *client,
	kustos_deadline end, size_t parts, struct top_row *row)
{
	char *path = join(row->path, TOP_LOCK_OF_LEASED, "");
	struct kustos_stat line;

	if (path == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = kustos_exists(client, path, end, NULL, &line);
	free(path);
	if (err != KUSTOS_OK)
		return err;
	row->layout = LAYOUT_LEASED;
	row->holds = parts;
	row->waits = (size_t)line.num_children;
	return KUSTOS_OK;
}

/* Count the members of a double barrier: while there is no "ready" they wait to
   enter, or to leave.  It may also be something else with members of such
   names, which is found out first. */
static enum kustos_err count_members(struct kustos_client *client,
	kustos_deadline end, const struct kustos_names *names, size_t parts,
	struct top_row *row)
{
	const char *first = first_part(names, LAYOUT_BARRIER);
	bool ready = false, service = false;
	enum kustos_err err;

	for (size_t i = 0; i < names->count; i++)
		ready = ready || strcmp(names->names[i], "ready") == 0;
	row->holds = ready ? parts : 0;
	row->waits = ready ? 0 : parts;
	row->is = ready ? "ready" : "";
	if (ready || first == NULL)
		return KUSTOS_OK;
	err = count_leased(client, end, parts, row);
	if (err != KUSTOS_OK && err != KUSTOS_ENONODE)
		return err;
	err = tell_child(client, end, first, row, &service);
	if (service && row->layout == LAYOUT_BARRIER) {
		row->layout = LAYOUT_SERVICE;
		row->holds = parts;
		row->waits = 0;
	}
	if (row->layout == LAYOUT_BARRIER) { /* nobody is in */
		free(row->who);
		row->who = NULL;
	}
	return err == KUSTOS_ENONODE ? KUSTOS_OK : err;
}

/* Count offers, of which one leads and the others wait; or the members of a
   party, who are all in. */
static enum kustos_err count_flat(struct kustos_client *client,
	kustos_deadline end, const struct kustos_names *names, size_t parts,
	struct top_row *row)
{
	const char *first = first_part(names, row->layout);
	bool service;

	if (first == NULL) /* it is empty */
		return KUSTOS_OK;
	row->holds = row->layout == LAYOUT_OFFERS ? 1 : parts;
	row->waits = parts - row->holds;
	return tell_child(client, end, first, row, &service);
}

/* Count the items of a queue, or the claims of items: a consumer that claims an
   item makes an ephemeral node of the same name elsewhere. */
static enum kustos_err count_items(struct kustos_client *client,
	kustos_deadline end, const struct kustos_names *names, size_t parts,
	struct top_row *row)
{
	struct kustos_stat stat = { .ephemeral_owner = 0 };
	const char *item = first_part(names, LAYOUT_QUEUE);

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

/* Look at a plain barrier.  Who waits for it cannot be seen. */
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
	case LAYOUT_SERVICE:
		return count_members(client, end, names, parts, row);
	case LAYOUT_LEASED:
		return count_leased(client, end, parts, row);
	case LAYOUT_OFFERS:
	case LAYOUT_PARTY:
		return count_flat(client, end, names, parts, row);
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
