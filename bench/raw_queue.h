/*
 * raw_queue.h - a queue on a bare socket, with the requests of a client that
 * must lose nothing when an answer is lost.  So each change is a transaction
 * that also changes a second node, a receipt, which tells later whether the
 * transaction was done.  And an item is read before it is deleted: the next
 * items are read in the flight of the deletion.
 *
 * Functions that return an int return 0, or -1 on failure.
 */
#ifndef BENCH_RAW_QUEUE_H
#define BENCH_RAW_QUEUE_H

#include "raw_link.h"

#define QUEUE_AT_ONCE 64 /* that are taken by a transaction, at most */

struct queue_item {
	const char *name; /* but for the number */
	const char *data;
	size_t len;
};

/* Of ten bytes each, in Curator's frame or not. */
extern const struct queue_item queue_simple, queue_framed;

struct queue {
	struct link *link;
	const char *path;
	char receipt[LINK_PATH_SIZE];
	int version;  /* of the receipt */
	char **names; /* of the items to be taken, in their order */
	int count;
};

/* Open a queue with its folders and a receipt; each "number" has a receipt of
   its own. */
int queue_open(struct queue *q, struct link *link, const char *path,
	int number);

/* Put "count" items in one call: up to 256 in a transaction, all in one
   flight. */
int queue_put(struct queue *q, const struct queue_item *item, int count);

/* List the items; and forget them. */
int queue_list(struct queue *q);
void queue_forget(struct queue *q);

/* Take all that were listed, "at_once" at a time. */
int queue_take(struct queue *q, int at_once);

/* Parts of that.  A transaction that begins with the change of the receipt; */
void queue_begin(struct queue *q);

/* the path of an item that was listed; */
void queue_path(const struct queue *q, int i, char path[LINK_PATH_SIZE]);

/* reads of "count" of those, or of as many as there are; */
void queue_put_reads(struct queue *q, int from, int count);

/* and a round trip, which fails unless all that is read is there. */
int queue_trip(struct queue *q);

#endif
