/*
 * queue.h - put items into a queue, and take them out of it, once each.
 *
 * Not called with the client locked.
 */
#ifndef KU_QUEUE_H
#define KU_QUEUE_H

#include "service.h"

#include "item_name.h"

#include <kustos/item.h>

struct ku_queue;

/* The node of this name is no item, or cannot be taken. */
typedef void ku_unfit_fn(void *arg, const char *name);

struct ku_queue_wish {
	enum ku_item_kind kind;
	const char *receipts; /* the node below which they are */
	int64_t max_items;    /* 0: any number */
	size_t max_bytes;     /* of what is put in the background */
	int stale; /* where keys decide the order: how many items a listing may
		      serve after its first, though it may be out of date */
	ku_unfit_fn *unfit; /* may be NULL */
	void *unfit_arg;
};

/* Make one for the queue at "path"; and destroy it: all calls that wait end
   with KUSTOS_ECLOSED.  NULL is allowed. */
KU_SERVICE enum kustos_err ku_queue_create(struct kustos_client *client,
	const char *path, const struct ku_queue_wish *wish,
	struct ku_queue **out);
KU_SERVICE void ku_queue_destroy(struct ku_queue *queue);

/* These do what <kustos/queue.h> says of put, flush, poll and peek. */
KU_SERVICE enum kustos_err ku_queue_put(struct ku_queue *queue,
	const struct kustos_new_item *items, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel, size_t *put);

typedef void ku_put_fn(void *arg, enum kustos_err err);

KU_SERVICE enum kustos_err ku_queue_put_async(struct ku_queue *queue,
	const struct kustos_new_item *item, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_put_fn *done, void *arg);

enum ku_flushed { KU_FLUSH_ALL, KU_FLUSH_TAKES };
KU_SERVICE enum kustos_err ku_queue_flush(struct ku_queue *queue,
	enum ku_flushed what, kustos_deadline deadline,
	struct kustos_cancel *cancel);

KU_SERVICE enum kustos_err ku_queue_remove_id(struct ku_queue *queue,
	const char *id, kustos_deadline deadline, struct kustos_cancel *cancel,
	size_t *removed);

struct ku_poll_wish {
	size_t max;
	bool peek; /* show the item, and leave it there */
	kustos_deadline deadline;
	struct kustos_cancel *cancel;
};

typedef void ku_poll_fn(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count);

KU_SERVICE enum kustos_err ku_queue_poll(struct ku_queue *queue,
	const struct ku_poll_wish *wish, struct kustos_item **items,
	size_t *count);

/* Return how many items were taken for calls that had given up, and are kept
   for the next call. */
KU_SERVICE size_t ku_queue_kept(struct ku_queue *queue);

KU_SERVICE enum kustos_err ku_queue_poll_async(struct ku_queue *queue,
	const struct ku_poll_wish *wish, ku_poll_fn *done, void *arg);

#endif
