/*
 * queue_ls.c - kustos queue ls: the items, in order, and who has one.
 */
#include "queue.h"

#include "show.h"

#include <kustos/node.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER 10 /* digits at the end of a name */

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

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What an id is does not matter. */
static int by_number(const void *a, const void *b)
{
	const char *one = *(const char *const *)a;
	const char *other = *(const char *const *)b;

	return strcmp(one + strlen(one) - NUMBER,
		other + strlen(other) - NUMBER);
}

/* Leave the items, in order; return how many. */
static size_t sort(const struct queue_job *q, struct kustos_names *names)
{
	const char *prefix = prefix_of(q);
	size_t count = 0;

	for (size_t i = 0; i < names->count; i++) {
		char *name = names->names[i];

		if (strncmp(name, prefix, strlen(prefix)) != 0 ||
			!queue_is_item(name))
			continue;
		names->names[i] = names->names[count];
		names->names[count++] = name;
	}
	qsort(names->names, count, sizeof(*names->names),
		q->kind == KUSTOS_QUEUE_ID ? by_number : by_name);
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

/* Show the item "name", if it is still there. */
static enum kustos_err show(const struct queue_job *q,
	struct kustos_client *client, const char *items, const char *markers,
	const char *name)
{
	kustos_deadline end = kustos_after_ms(q->tool.session_ms);
	struct kustos_stat stat, marker;
	char *path = malloc(strlen(items) + strlen(name) + 2);
	char *marked = malloc(strlen(markers) + strlen(name) + 2);
	enum kustos_err err = KUSTOS_ENOMEM;

	if (path != NULL && marked != NULL) {
		sprintf(path, "%s/%s", items, name);
		sprintf(marked, "%s/%s", markers, name);
		err = kustos_exists(client, path, end, NULL, &stat);
	}
	if (err == KUSTOS_OK) {
		err = kustos_exists(client, marked, end, NULL, &marker);
		if (err == KUSTOS_OK || err == KUSTOS_ENONODE)
			print(q, name, &stat,
				err == KUSTOS_OK ? marker.ephemeral_owner : 0);
	}
	free(path);
	free(marked);
	return err == KUSTOS_ENONODE ? KUSTOS_OK : err;
}

static enum kustos_err list_items(const struct queue_job *q,
	struct kustos_client *client, const char *items, const char *markers)
{
	struct kustos_names *names = NULL;
	enum kustos_err err = kustos_children(client, items,
		kustos_after_ms(q->tool.session_ms), NULL, &names, NULL);

	if (err != KUSTOS_OK)
		return err;
	size_t count = sort(q, names);
	if (q->count > 0 && (size_t)q->count < count)
		count = (size_t)q->count;
	for (size_t i = 0; i < count && err == KUSTOS_OK; i++)
		err = show(q, client, items, markers, names->names[i]);
	kustos_names_free(names);
	return err;
}

static enum kustos_err list(const struct queue_job *q,
	struct kustos_client *client)
{
	bool locking = q->kind == KUSTOS_QUEUE_KAZOO_LOCKING;
	char *items = join(q->job.path, locking ? "/entries" : "");
	char *markers = q->lock_path != NULL
		? join(q->lock_path, "")
		: join(q->job.path, locking ? "/taken" : "-locks");
	enum kustos_err err = KUSTOS_ENOMEM;

	if (items != NULL && markers != NULL)
		err = list_items(q, client, items, markers);
	free(items);
	free(markers);
	return err;
}

int queue_ls(struct queue_job *q)
{
	struct kustos_client *client;
	int code = tool_connect(&q->tool, &client);

	if (code != TOOL_OK)
		return code;
	/* Who says a kind sees what there is of it. */
	code = q->has_kind ? TOOL_OK : queue_recognise(q, client);
	enum kustos_err err = code == TOOL_OK ? list(q, client) : KUSTOS_OK;
	if (err != KUSTOS_OK)
		code = tool_failed(&q->tool, "cannot list", q->job.path, err);
	tool_close(client);
	return tool_flush(code);
}
