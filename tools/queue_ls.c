/*
 * queue_ls.c - kustos queue ls: the items, in order, and who has claimed them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* qsort_r() */
#endif
#include "queue.h"

#include "flight.h"
#include "item_sort.h"
#include "show.h"

#include <kustos/node.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
	const struct queue_job *q;
	struct kustos_client *client;
	char *items, *markers; /* the nodes whose children they are */
	struct flight flight;
};

struct look { /* at one node */
	struct flight *flight;
	enum kustos_err err;
	struct kustos_stat stat;
};

static const char *prefix_of(const struct queue_job *q)
{
	switch (q->kind) {
	case KUSTOS_QUEUE_SIMPLE:
		return "qn-";
	case KUSTOS_QUEUE_KAZOO:
	case KUSTOS_QUEUE_KAZOO_LOCKING:
		return "entry-";
	default:
		return "queue-";
	}
}

static char *join(const char *path, const char *rest)
{
	char *joined = malloc(strlen(path) + strlen(rest) + 1);

	return joined == NULL ? NULL : strcat(strcpy(joined, path), rest);
}

static int in_order(const void *a, const void *b, void *kind)
{
	return item_compare(*(const enum kustos_queue_kind *)kind,
		*(const char *const *)a, *(const char *const *)b);
}

/* Bring the items to the front, in order; return how many there are. */
static size_t sort(const struct queue_job *q, struct kustos_names *names)
{
	const char *prefix = prefix_of(q);
	size_t count = 0;

	for (size_t i = 0; i < names->count; i++) {
		char *name = names->names[i];

		if (strncmp(name, prefix, strlen(prefix)) != 0 ||
			item_sort_of(name) == ITEM_OTHER)
			continue;
		names->names[i] = names->names[count];
		names->names[count++] = name;
	}
	enum kustos_queue_kind kind = q->kind;
	qsort_r(names->names, count, sizeof(*names->names), in_order, &kind);
	return count;
}

static void print(const struct queue_job *q, const char *name,
	const struct kustos_stat *stat, int64_t taker)
{
	if (q->tool.json) {
		fputs("{\"item\":", stdout);
		show_json(stdout, name);
		printf(",\"bytes\":%d,\"deliveries\":%d,\"since_ms\":%" PRId64,
			stat->data_length, stat->version, stat->ctime_ms);
		if (taker != 0)
			printf(",\"taken_by\":\"0x%" PRIx64 "\"",
				(uint64_t)taker);
		fputs("}\n", stdout);
		return;
	}
	show_text(stdout, name);
	printf("  %d bytes, for ", stat->data_length);
	show_age(stdout, stat->ctime_ms);
	if (taker != 0)
		printf(", taken by session 0x%" PRIx64, (uint64_t)taker);
	putchar('\n');
}

static void looked(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct look *look = arg;

	look->err = err;
	if (err == KUSTOS_OK)
		look->stat = *result->stat;
	flight_answered(look->flight);
}

/* Look whether "parent"/"name" is there. */
static void look_at(struct listing *l, const char *parent, const char *name,
	struct look *look)
{
	char *path = malloc(strlen(parent) + strlen(name) + 2);

	look->flight = &l->flight;
	look->err = KUSTOS_ENOMEM;
	if (path == NULL)
		return;
	stpcpy(stpcpy(stpcpy(path, parent), "/"), name);
	enum kustos_err err = flight_ask(&l->flight, kustos_exists_async,
		l->client, path, kustos_after_ms(l->q->tool.session_ms), looked,
		look);
	if (err != KUSTOS_OK)
		look->err = err;
	free(path);
}

static bool failed(enum kustos_err err)
{
	return err != KUSTOS_OK && err != KUSTOS_ENONODE;
}

/* Show those items that are still there, up to the first that cannot be looked
   at.  A marker is looked for only after its item was seen: so what is shown of
   the marker is never older than what is shown of the item. */
static enum kustos_err show(struct listing *l, char *const *names, size_t count)
{
	struct look items[FLIGHT_MAX], markers[FLIGHT_MAX];
	enum kustos_err err = KUSTOS_OK;
	size_t good = 0;

	for (size_t i = 0; i < count; i++)
		look_at(l, l->items, names[i], &items[i]);
	flight_wait(&l->flight);
	for (; good < count && !failed(items[good].err); good++)
		if (items[good].err == KUSTOS_OK)
			look_at(l, l->markers, names[good], &markers[good]);
	flight_wait(&l->flight);
	for (size_t i = 0; i < good && !failed(err); i++) {
		if (items[i].err == KUSTOS_ENONODE)
			continue;
		err = markers[i].err;
		if (!failed(err))
			print(l->q, names[i], &items[i].stat,
				err == KUSTOS_OK
					? markers[i].stat.ephemeral_owner
					: 0);
	}
	if (!failed(err) && good < count)
		err = items[good].err;
	return failed(err) ? err : KUSTOS_OK;
}

static enum kustos_err list_items(struct listing *l)
{
	struct kustos_names *names = NULL;
	enum kustos_err err = kustos_children(l->client, l->items,
		kustos_after_ms(l->q->tool.session_ms), NULL, &names, NULL);

	if (err != KUSTOS_OK)
		return err;
	size_t count = sort(l->q, names);
	if (l->q->count > 0 && (size_t)l->q->count < count)
		count = (size_t)l->q->count;
	for (size_t at = 0; at < count && err == KUSTOS_OK; at += FLIGHT_MAX)
		err = show(l, names->names + at,
			count - at < FLIGHT_MAX ? count - at : FLIGHT_MAX);
	kustos_names_free(names);
	return err;
}

static enum kustos_err list(const struct queue_job *q,
	struct kustos_client *client)
{
	bool locking = q->kind == KUSTOS_QUEUE_KAZOO_LOCKING;
	struct listing l = { .q = q, .client = client };
	enum kustos_err err = KUSTOS_ENOMEM;

	l.items = join(q->job.path, locking ? "/entries" : "");
	l.markers = q->lock_path != NULL
		? join(q->lock_path, "")
		: join(q->job.path, locking ? "/taken" : "-locks");
	flight_init(&l.flight);
	if (l.items != NULL && l.markers != NULL)
		err = list_items(&l);
	flight_free(&l.flight);
	free(l.items);
	free(l.markers);
	return err;
}

int queue_ls(struct queue_job *q)
{
	struct kustos_client *client;
	int code = tool_connect(&q->tool, &client);

	if (code != TOOL_OK)
		return code;
	/* With -k, the items of that kind are listed, whatever else is
	   there. */
	code = q->has_kind ? TOOL_OK : queue_recognise(q, client);
	enum kustos_err err = code == TOOL_OK ? list(q, client) : KUSTOS_OK;
	if (err != KUSTOS_OK)
		code = tool_failed(&q->tool, "cannot list", q->job.path, err);
	tool_close(client);
	return tool_flush(code);
}
