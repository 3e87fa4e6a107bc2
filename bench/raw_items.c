/*
 * raw_items.c - what is done with queues, on a bare socket:
 *
 *	deeds	put one item, and take it: each is a call, and a transaction.  The
 *		item is not read, as the client that has put it knows it already
 *	drain	list 1000 items, and take them, 64 in a transaction
 *	single	the same, each in one of its own
 *	framed	put 2000, 256 in a transaction, all in one flight; and drain them
 *	bulk	put 10,000 of 100 bytes in this way
 *	claim	list 200 items; each is claimed by a transaction that makes a marker
 *		and writes the item, and acknowledged by one that deletes both
 */
#include "raw_floor.h"
#include "raw_queue.h"

#include "clocks.h"

#include <stdio.h>

#define CLAIMS 200

/* --- Claims -------------------------------------------------------------- */

static void put_claim(struct queue *q, int i, const char *marker)
{
	char path[LINK_PATH_SIZE];

	queue_path(q, i, path);
	link_deed_begin(q->link);
	link_deed_new(q->link, marker, "7b5ec9a211f34a7d9d0e000000000000", 32,
		LINK_EPHEMERAL);
	link_deed_set(q->link, path, queue_framed.data, queue_framed.len, 0);
	link_deed_end(q->link);
	queue_put_reads(q, i + 1, 1);
}

static void put_ack(struct queue *q, int i, const char *marker)
{
	char path[LINK_PATH_SIZE];

	queue_path(q, i, path);
	link_deed_begin(q->link);
	link_deed_delete(q->link, marker, -1);
	link_deed_delete(q->link, path, 1);
	link_deed_end(q->link);
}

/* Claim and acknowledge the items that were listed, one after the other. */
static int claim(struct queue *q)
{
	char marker[LINK_PATH_SIZE];

	queue_put_reads(q, 0, 1);
	if (queue_trip(q) < 0)
		return -1;
	for (int i = 0; i < q->count; i++) {
		snprintf(marker, sizeof(marker), "%s-locks/%s", q->path,
			q->names[i]);
		put_claim(q, i, marker);
		if (queue_trip(q) < 0)
			return -1;
		put_ack(q, i, marker);
		if (queue_trip(q) < 0)
			return -1;
	}
	return 0;
}

static int no_markers(struct queue *q)
{
	struct link_answer answers[1];
	char path[LINK_PATH_SIZE];

	snprintf(path, sizeof(path), "%s-locks", q->path);
	link_put_list(q->link, path);
	if (link_trip(q->link, answers) < 0)
		return -1;
	return answers[0].children == 1 ? 0 : -1; /* the keeper */
}

/* --- Styles -------------------------------------------------------------- */

static int deeds(void *arg)
{
	struct queue *q = arg;
	char path[LINK_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/qn-0000000000", q->path);
	queue_begin(q);
	link_deed_new(q->link, path, "x", 1, LINK_PERSISTENT);
	link_deed_end(q->link);
	if (link_trip(q->link, NULL) < 0)
		return -1;
	queue_begin(q);
	link_deed_delete(q->link, path, 0);
	link_deed_end(q->link);
	return link_trip(q->link, NULL);
}

int floor_deeds(struct floor *f)
{
	struct queue q;

	if (queue_open(&q, f->links, f->run->path, 0) < 0)
		return -1;
	return floor_repeat(f, deeds, &q);
}

/* List the items, of which there must be "count", and take them all. */
static int take(struct queue *q, int count, int at_once)
{
	if (queue_list(q) < 0 || q->count != count)
		return -1;
	return queue_take(q, at_once);
}

static int counted(struct floor *f, int64_t since, int err, int items)
{
	f->result->ns += clocks_now_ns() - since;
	f->result->ops += items;
	return err;
}

static int drain_by(struct floor *f, struct queue *q, int at_once)
{
	int err = queue_put(q, &queue_simple, 1000);
	int64_t since = clocks_now_ns();

	return err < 0 ? err : counted(f, since, take(q, 1000, at_once), 1000);
}

static int drain(struct floor *f, struct queue *q)
{
	return drain_by(f, q, QUEUE_AT_ONCE);
}

static int single(struct floor *f, struct queue *q)
{
	return drain_by(f, q, 1);
}

static int framed(struct floor *f, struct queue *q)
{
	int64_t since = clocks_now_ns();
	int err = queue_put(q, &queue_framed, 2000);

	if (err < 0)
		return err;
	return counted(f, since, take(q, 2000, QUEUE_AT_ONCE), 2000);
}

static int bulk(struct floor *f, struct queue *q)
{
	static const char data[100];
	static const struct queue_item large = { "qn-", data, sizeof(data) };
	int64_t since = clocks_now_ns();
	int err = counted(f, since, queue_put(q, &large, 10000), 10000);

	return err < 0 ? err : take(q, 10000, QUEUE_AT_ONCE);
}

static int claims(struct floor *f, struct queue *q)
{
	int err = queue_put(q, &queue_framed, CLAIMS);
	int64_t since = clocks_now_ns();

	if (err == 0)
		err = queue_list(q);
	if (err < 0 || q->count != CLAIMS)
		return -1;
	err = counted(f, since, claim(q), CLAIMS);
	return err < 0 ? err : no_markers(q);
}

/* As many rounds as fit the time, and one at least. */
static int rounds(struct floor *f,
	int (*round)(struct floor *f, struct queue *q))
{
	int64_t until = clocks_now_ns() + f->run->ms * INT64_C(1000000);
	struct queue q;
	int err = queue_open(&q, f->links, f->run->path, 0);

	if (err < 0)
		return err;
	do
		err = round(f, &q);
	while (err == 0 && clocks_now_ns() < until);
	queue_forget(&q);
	return err;
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
	return rounds(f, framed);
}

int floor_bulk(struct floor *f)
{
	return rounds(f, bulk);
}

int floor_claim(struct floor *f)
{
	return rounds(f, claims);
}
