/*
 * raw_queue.c - queues on bare sockets, as one has to send who may lose nothing when an
 * answer is lost.  So what changes a queue is a transaction with a change of a second
 * node, a receipt, that tells later whether it was done; and an item is read before it
 * is deleted, which the next ones are in the flight of the deletion.
 *
 *	deeds	put one item, and take it: each is a call, and a transaction.  Whoever
 *		put it knows already what it is
 *	drain	list 1000 items, and take them, 64 in a transaction
 *	single	the same, each in one of its own
 *	framed	put 2000, 256 in a transaction, all in one flight; and drain them
 *	bulk	put 10,000 of 100 bytes in this way
 *	claim	list 200 items; each is claimed by a transaction that makes a marker
 *		and writes the item, and acknowledged by one that deletes both
 */
#include "raw_floor.h"

#include "clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIMS 200
#define AT_ONCE 64
#define IN_ONE 256 /* that are put by a transaction */

struct item {
	const char *name; /* but for the number */
	const char *data;
	size_t len;
};

struct queue {
	struct floor *floor;
	struct link *link;
	const char *path;
	char receipt[LINK_PATH_SIZE];
	int version;  /* of the receipt */
	char **names; /* of the items there, in order, while they are taken */
	int count;
};

static const char bytes[100];
static const struct item simple = { "qn-", bytes, 10 };
static const struct item large = { "qn-", bytes, 100 };
static const struct item framed = { "queue-",
	"\0\1\0\1\1\0\0\0\12"
	"0123456789\2",
	20 };

static void begin(struct queue *q)
{
	link_deed_begin(q->link);
	link_deed_set(q->link, q->receipt, "", 0, q->version++);
}

static int put(struct queue *q, const struct item *item, int count)
{
	char name[LINK_PATH_SIZE];

	snprintf(name, sizeof(name), "%s/%s", q->path, item->name);
	for (int i = 0; i < count; i++) {
		if (i % IN_ONE == 0)
			begin(q);
		link_deed_new(q->link, name, item->data, item->len,
			LINK_PERSISTENT | LINK_SEQUENTIAL);
		if (i % IN_ONE == IN_ONE - 1 || i == count - 1)
			link_deed_end(q->link);
	}
	return link_trip(q->link, NULL);
}

/* --- Taking -------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* List the items, of which there are so many. */
static int list(struct queue *q, int count)
{
	if (link_names(q->link, q->path, &q->names, &q->count) < 0 ||
		q->count != count)
		return -1;
	qsort(q->names, (size_t)count, sizeof(*q->names), by_name);
	return 0;
}

static void forget(struct queue *q)
{
	link_free_names(q->names, q->count);
	q->names = NULL;
	q->count = 0;
}

static int path_of(const struct queue *q, int i, char path[LINK_PATH_SIZE])
{
	return snprintf(path, LINK_PATH_SIZE, "%s/%s", q->path, q->names[i]);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

static void put_reads(struct queue *q, int from, int count)
{
	char path[LINK_PATH_SIZE];

	for (int i = from; i < least(from + count, q->count); i++) {
		path_of(q, i, path);
		link_put_look(q->link, path, false);
	}
}

/* By the version that was read. */
static void put_deletion(struct queue *q, int from, int count)
{
	char path[LINK_PATH_SIZE];

	begin(q);
	for (int i = from; i < least(from + count, q->count); i++) {
		path_of(q, i, path);
		link_deed_delete(q->link, path, 0);
	}
	link_deed_end(q->link);
}

/* Send what was put; what is read is there. */
static int trip(struct queue *q)
{
	struct link_answer answers[AT_ONCE + 1];
	int due = q->link->due;

	if (link_trip(q->link, answers) < 0)
		return -1;
	for (int i = 0; i < due; i++)
		if (!answers[i].there)
			return -1;
	return 0;
}

static int take_listed(struct queue *q, int at_once)
{
	put_reads(q, 0, at_once);
	if (trip(q) < 0)
		return -1;
	for (int i = 0; i < q->count; i += at_once) {
		put_deletion(q, i, at_once);
		put_reads(q, i + at_once, at_once);
		if (trip(q) < 0)
			return -1;
	}
	return 0;
}

/* Take all, of which there are so many. */
static int take(struct queue *q, int count, int at_once)
{
	int err = list(q, count);

	if (err == 0)
		err = take_listed(q, at_once);
	forget(q);
	return err;
}

/* --- Claims -------------------------------------------------------------- */

static void put_claim(struct queue *q, int i, const char *marker)
{
	char path[LINK_PATH_SIZE];

	path_of(q, i, path);
	link_deed_begin(q->link);
	link_deed_new(q->link, marker, "7b5ec9a211f34a7d9d0e000000000000", 32,
		LINK_EPHEMERAL);
	link_deed_set(q->link, path, framed.data, framed.len, 0);
	link_deed_end(q->link);
	put_reads(q, i + 1, 1);
}

static void put_ack(struct queue *q, int i, const char *marker)
{
	char path[LINK_PATH_SIZE];

	path_of(q, i, path);
	link_deed_begin(q->link);
	link_deed_delete(q->link, marker, -1);
	link_deed_delete(q->link, path, 1);
	link_deed_end(q->link);
}

static int claim_listed(struct queue *q)
{
	char marker[LINK_PATH_SIZE];

	put_reads(q, 0, 1);
	if (trip(q) < 0)
		return -1;
	for (int i = 0; i < q->count; i++) {
		snprintf(marker, sizeof(marker), "%s-locks/%s", q->path,
			q->names[i]);
		put_claim(q, i, marker);
		if (trip(q) < 0)
			return -1;
		put_ack(q, i, marker);
		if (trip(q) < 0)
			return -1;
	}
	return 0;
}

static int claim(struct queue *q, int count)
{
	int err = list(q, count);

	if (err == 0)
		err = claim_listed(q);
	forget(q);
	return err;
}

/* --- Styles -------------------------------------------------------------- */

static int deeds(void *arg)
{
	struct queue *q = arg;
	char path[LINK_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/qn-0000000000", q->path);
	begin(q);
	link_deed_new(q->link, path, "x", 1, LINK_PERSISTENT);
	link_deed_end(q->link);
	if (link_trip(q->link, NULL) < 0)
		return -1;
	begin(q);
	link_deed_delete(q->link, path, 0);
	link_deed_end(q->link);
	return link_trip(q->link, NULL);
}

static int counted(struct queue *q, int64_t since, int err, int items)
{
	q->floor->result->ns += clocks_now_ns() - since;
	q->floor->result->ops += items;
	return err;
}

static int drain_by(struct queue *q, int at_once)
{
	int err = put(q, &simple, 1000);
	int64_t since = clocks_now_ns();

	return err < 0 ? err : counted(q, since, take(q, 1000, at_once), 1000);
}

static int drain(struct queue *q)
{
	return drain_by(q, AT_ONCE);
}

static int single(struct queue *q)
{
	return drain_by(q, 1);
}

static int frames(struct queue *q)
{
	int64_t since = clocks_now_ns();
	int err = put(q, &framed, 2000);

	return err < 0 ? err : counted(q, since, take(q, 2000, AT_ONCE), 2000);
}

static int bulk(struct queue *q)
{
	int64_t since = clocks_now_ns();
	int err = counted(q, since, put(q, &large, 10000), 10000);

	return err < 0 ? err : take(q, 10000, AT_ONCE);
}

static int no_markers(struct queue *q)
{
	struct link_answer answers[1];
	char path[LINK_PATH_SIZE];

	snprintf(path, sizeof(path), "%s-locks", q->path);
	link_put_list(q->link, path);
	return link_trip(q->link, answers) < 0 || answers[0].children > 0 ? -1
									  : 0;
}

static int claims(struct queue *q)
{
	int err = put(q, &framed, CLAIMS);
	int64_t since = clocks_now_ns();

	if (err == 0)
		err = counted(q, since, claim(q, CLAIMS), CLAIMS);
	return err < 0 ? err : no_markers(q);
}

/* With its folders and its receipt, which goes with the session here. */
static int open_queue(struct floor *f, struct queue *q)
{
	static const char *const folders[] = { "", "-receipts", "-locks" };
	char path[LINK_PATH_SIZE];

	*q = (struct queue){ .floor = f,
		.link = f->links,
		.path = f->run->path };
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s%s", q->path, folders[i]);
		link_put_parent(q->link, path);
	}
	snprintf(q->receipt, sizeof(q->receipt),
		"%s-receipts/_c_7b5ec9a2-11f3-4a7d-9d0e-000000000000-receipt",
		q->path);
	link_put_new(q->link, q->receipt, "", LINK_EPHEMERAL);
	return link_trip(q->link, NULL);
}

int floor_deeds(struct floor *f)
{
	struct queue q;

	return open_queue(f, &q) < 0 ? -1 : floor_repeat(f, deeds, &q);
}

/* As many rounds as fit the time, and one at least. */
static int rounds(struct floor *f, int (*round)(struct queue *q))
{
	int64_t until = clocks_now_ns() + f->run->ms * INT64_C(1000000);
	struct queue q;

	if (open_queue(f, &q) < 0)
		return -1;
	do
		if (round(&q) < 0)
			return -1;
	while (clocks_now_ns() < until);
	return 0;
}

int floor_drain(struct floor *f)
{
	return rounds(f, drain);
}

int floor_single(struct floor *f)
{
	return rounds(f, single);
}

int floor_framed(struct floor *f)
{
	return rounds(f, frames);
}

int floor_bulk(struct floor *f)
{
	return rounds(f, bulk);
}

int floor_claim(struct floor *f)
{
	return rounds(f, claims);
}
