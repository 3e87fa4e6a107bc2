/*
 * raw_queue.c - a queue on a bare socket.
 */
#include "raw_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IN_ONE 256 /* items that are put by a transaction */

const struct queue_item queue_simple = { "qn-", "0123456789", 10 };
const struct queue_item queue_framed = { "queue-",
	"\0\1\0\1\1\0\0\0\12"
	"0123456789\2",
	20 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* Here the receipt is ephemeral, and goes with the session. */
int queue_open(struct queue *q, struct link *link, const char *path, int number)
{
	static const char *const folders[] = { "", "-receipts", "-locks" };
	char folder[LINK_PATH_SIZE];

	*q = (struct queue){ .link = link, .path = path };
	/* One keeper in each folder is enough: the first client makes them. */
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(folder, sizeof(folder), "%s%s", path, folders[i]);
		if (number == 0)
			link_put_folder(link, folder);
		else
			link_put_parent(link, folder);
	}
	snprintf(q->receipt, sizeof(q->receipt),
		"%s-receipts/_c_7b5ec9a2-11f3-4a7d-9d0e-%012d-receipt", path,
		number);
	link_put_new(link, q->receipt, "", LINK_EPHEMERAL);
	return link_trip(link, NULL);
}

void queue_begin(struct queue *q)
{
	link_deed_begin(q->link);
	link_deed_set(q->link, q->receipt, "", 0, q->version++);
}

/* Each transaction is sent at once, so that the server works at it while the
   next is put together. */
int queue_put(struct queue *q, const struct queue_item *item, int count)
{
	char name[LINK_PATH_SIZE];

	snprintf(name, sizeof(name), "%s/%s", q->path, item->name);
	for (int i = 0; i < count; i += IN_ONE) {
		queue_begin(q);
		for (int n = least(IN_ONE, count - i); n > 0; n--)
			link_deed_new(q->link, name, item->data, item->len,
				LINK_PERSISTENT | LINK_SEQUENTIAL);
		link_deed_end(q->link);
		if (link_flight(q->link) < 0)
			return -1;
	}
	return link_trip(q->link, NULL);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int queue_list(struct queue *q)
{
	queue_forget(q);
	if (link_names(q->link, q->path, &q->names, &q->count) < 0)
		return -1;
	qsort(q->names, (size_t)q->count, sizeof(*q->names), by_name);
	if (q->count == 0 || strcmp(q->names[0], LINK_KEEPER) != 0)
		return -1;
	free(q->names[0]);
	memmove(q->names, q->names + 1, (size_t)--q->count * sizeof(*q->names));
	return 0;
}

void queue_forget(struct queue *q)
{
	link_free_names(q->names, q->count);
	q->names = NULL;
	q->count = 0;
}

void queue_path(const struct queue *q, int i, char path[LINK_PATH_SIZE])
{
	snprintf(path, LINK_PATH_SIZE, "%s/%s", q->path, q->names[i]);
}

void queue_put_reads(struct queue *q, int from, int count)
{
	char path[LINK_PATH_SIZE];

	for (int i = from; i < least(from + count, q->count); i++) {
		queue_path(q, i, path);
		link_put_look(q->link, path, false);
	}
}

/* Put the deletion of items, by the version that was read. */
static void put_deletion(struct queue *q, int from, int count)
{
	char path[LINK_PATH_SIZE];

	queue_begin(q);
	for (int i = from; i < least(from + count, q->count); i++) {
		queue_path(q, i, path);
		link_deed_delete(q->link, path, 0);
	}
	link_deed_end(q->link);
}

int queue_trip(struct queue *q)
{
	struct link_answer answers[QUEUE_AT_ONCE + 1];
	int due = q->link->due;

	if (link_trip(q->link, answers) < 0)
		return -1;
	for (int i = 0; i < due; i++)
		if (!answers[i].there)
			return -1;
	return 0;
}

int queue_take(struct queue *q, int at_once)
{
	queue_put_reads(q, 0, at_once);
	if (queue_trip(q) < 0)
		return -1;
	for (int i = 0; i < q->count; i += at_once) {
		put_deletion(q, i, at_once);
		queue_put_reads(q, i + at_once, at_once);
		if (queue_trip(q) < 0)
			return -1;
	}
	return 0;
}
