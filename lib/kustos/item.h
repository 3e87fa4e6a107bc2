/*
 * kustos/item.h - what goes into a queue, and what comes out.
 * Link with -lkustos (pkg-config kustos); the calls are in <kustos/queue.h>
 * and <kustos/claim.h>.
 *
 * Threads: an item belongs to its owner.
 */
#ifndef KUSTOS_ITEM_H
#define KUSTOS_ITEM_H

#include <kustos/base.h>

KUSTOS_BEGIN

/* The form of the items, and so which other libraries may use the queue. */
enum kustos_queue_kind {
	/* "qn-" and a number; any bytes.  Curator's SimpleDistributedQueue and
	   the recipes that come with ZooKeeper. */
	KUSTOS_QUEUE_SIMPLE = 0,

	/* "queue-" and a number; frames of several parts.  Curator's
	   DistributedQueue; with a priority, a due time or an id in the name,
	   its DistributedPriorityQueue, -DelayQueue and -IdQueue. */
	KUSTOS_QUEUE_FRAMED = 1,
	KUSTOS_QUEUE_PRIORITY = 2,
	KUSTOS_QUEUE_DELAY = 3,
	KUSTOS_QUEUE_ID = 4,

	/* "entry-", a priority from 0 to 999, and a number; any bytes.  kazoo's
	   Queue; and its LockingQueue, whose items are below "entries". */
	KUSTOS_QUEUE_KAZOO = 5,
	KUSTOS_QUEUE_KAZOO_LOCKING = 6
};

struct kustos_part {
	const void *data;
	size_t len;
};

/* An ordinary priority: 0, or 100 in kazoo's kinds.  (So the lowest number
   itself cannot be asked for, although a peer's item may have it.) */
#define KUSTOS_PRIORITY_DEFAULT INT32_MIN

/* An item to be put; begin with KUSTOS_NEW_ITEM_INIT.  Fields that a kind of
   queue does not have are ignored, but "parts" must be NULL unless the items
   are framed. */
struct kustos_new_item {
	const void *data;
	size_t len;

	/* Not NULL: "count" parts together in one item, instead of "data". */
	const struct kustos_part *parts;
	size_t count;

	int32_t priority; /* the lowest is first */
	int64_t due_ms;	  /* since 1970; not handed out before */
	const char *id;	  /* NULL: an empty one; '/' and '|' become '_' */
};

#define KUSTOS_NEW_ITEM_INIT                              \
	{                                                 \
		0, 0, 0, 0, KUSTOS_PRIORITY_DEFAULT, 0, 0 \
	}

/* An item that was taken, or looked at.  Read only.  May grow at its end. */
struct kustos_item {
	const char *name; /* of its node */

	/* The bytes; for an item of several parts, the first part.  Followed by
	   a zero byte that "len" does not count. */
	const void *data;
	size_t len;

	/* All parts. */
	const struct kustos_part *parts;
	size_t count;

	int32_t priority;
	int64_t due_ms;
	const char *id;	    /* NULL: it has none */
	int64_t created_ms; /* since 1970, by the server's clock */
};

/* Free an item that a call has returned.  NULL is allowed. */
KUSTOS_API void kustos_item_free(struct kustos_item *item);

KUSTOS_END
#endif
