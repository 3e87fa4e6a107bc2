/* queue_batch.c - items that are put into a queue, many in one transaction. */

#include "queue_impl.h"

#include <stdlib.h>
#include <string.h>

struct batch {
	struct ku_deed deed; /* first */
	struct ku_queue *queue;
	uint64_t serial;      /* 1 or more */
	enum kustos_err err;  /* known better than from the server's answer */
	bool root_asked;      /* see ku_root_make() */
	struct ku_put **puts; /* of each operation; the first has none */
	struct ku_zk_request ops[];
};

static void batch_free(struct batch *b)
{
	for (int i = 1; i < b->deed.op_count; i++) {
		ku_form_free_path(b->queue, b->ops[i].path);
		free((char *)b->ops[i].data);
	}
	free(b->puts);
	free(b);
}

/* One item of "put" has ended with "err". */
static void decide(const struct batch *b, struct ku_put *put,
	enum kustos_err err)
{
	if (err != KUSTOS_OK && put->failed == 0)
		put->failed = b->serial;
	ku_put_decided(put, 1, err);
}

static void batch_over(struct ku_deed *deed, enum kustos_err err,
	const struct ku_zk_reply *reply)
{
	struct batch *b = (struct batch *)deed;
	struct ku_queue *q = b->queue;

	if (err == KUSTOS_OK)
		ku_own_put(q, deed, reply);
	if (b->err != KUSTOS_OK)
		err = b->err;
	q->put.batches--;
	q->put.sent -= deed->op_count - 1;
	if (q->put.sent == 0)
		q->put.room = 0; /* others may use it up meanwhile */
	for (int i = 1; i < deed->op_count; i++)
		decide(b, b->puts[i], err);
	batch_free(b);
	ku_take_step(q);
	ku_put_pump(q);
	ku_queue_end_if_idle(q);
}

/* Take one operation out. */
static void leave_out(struct batch *b, int at, enum kustos_err err)
{
	size_t rest = (size_t)(b->deed.op_count - at - 1);
	struct ku_put *put = b->puts[at];

	ku_form_free_path(b->queue, b->ops[at].path);
	free((char *)b->ops[at].data);
	memmove(&b->ops[at], &b->ops[at + 1], rest * sizeof(*b->ops));
	memmove(&b->puts[at], &b->puts[at + 1], rest * sizeof(*b->puts));
	b->deed.op_count--;
	b->queue->put.sent--;
	decide(b, put, err);
}

/* The server refused one item: take it out, and those behind it of the same
   call. */
static void leave_out_from(struct batch *b, int at, enum kustos_err err)
{
	const struct ku_put *put = b->puts[at];

	for (int i = b->deed.op_count - 1; i >= at; i--)
		if (b->puts[i] == put)
			leave_out(b, i, err);
}

/* Put nothing more of calls that have failed in a batch before this one. */
static void leave_out_failed(struct batch *b)
{
	for (int i = b->deed.op_count - 1; i > 0; i--) {
		const struct ku_put *put = b->puts[i];

		if (put->failed != 0 && put->failed < b->serial)
			leave_out(b, i, put->err);
	}
}

static bool batch_refused(struct ku_deed *deed, int at, int rc)
{
	struct batch *b = (struct batch *)deed;
	struct ku_queue *q = b->queue;

	if (rc == KU_ZK_NONODE) {
		b->err = q->ended
			? KUSTOS_ECLOSED
			: ku_root_make(q, deed->receipt, &b->root_asked);
		return b->err == KUSTOS_OK;
	}
	if (deed->op_count == 2)
		return false;
	leave_out_from(b, at, ku_rc_err(rc));
	return true;
}

/* Tell the calls that do not want to wait for a connection. */
static void batch_lost(struct ku_deed *deed)
{
	struct batch *b = (struct batch *)deed;

	for (int i = 1; i < deed->op_count; i++)
		if (b->puts[i]->wait.once)
			ku_put_give_up(b->puts[i], KUSTOS_EDISCONNECTED);
}

/* Nothing more is sent once the program has destroyed the queue.  Nor are items
   of a call that has failed before. */
static bool batch_fit(struct ku_deed *deed)
{
	struct batch *b = (struct batch *)deed;

	leave_out_failed(b);
	return !b->queue->over && deed->op_count > 1;
}

static const struct ku_deed_calls calls = {
	.over = batch_over,
	.refused = batch_refused,
	.fit = batch_fit,
	.lost = batch_lost,
};

/* The bytes that item "at", with so many bytes of data, takes in a frame, or a
   few more. */
static size_t whole_size(const struct ku_put *put, size_t at, size_t data)
{
	const struct ku_queue *q = put->queue;
	const struct ku_config *config = &q->client->config;
	const struct ku_zk_request rest = {
		.path = put->path != NULL ? put->path : q->plain,
		.acl = config->acl,
		.acl_count = config->acl_count,
	};
	const char *id = put->data == NULL && q->kind == KU_ITEM_ID
		? put->items[at].id
		: NULL;

	return ku_request_size(&rest) + data + (id != NULL ? strlen(id) : 0);
}

/* How many of the items that wait go into one batch?  It has bounds for the
   items, for their bytes, and for the whole request, with names and all, that a
   server takes. */
static size_t count_them(const struct ku_queue *q)
{
	size_t most = KU_BATCH_MAX;
	size_t count = 0, bytes = 0, whole = KU_RECEIPT_SIZE;

	if (q->put.max_items > 0 && q->put.room < KU_BATCH_MAX)
		most = (size_t)q->put.room;
	for (const struct ku_put *put = q->put.first; put != NULL;
		put = put->next) {
		for (size_t i = put->gathered; i < put->count; i++) {
			size_t data = put->data != NULL
				? put->len
				: ku_form_size(q, &put->items[i]);

			bytes += strlen(q->plain) + data;
			whole += whole_size(put, i, data);
			if (count > 0 &&
				(count == most || bytes > KU_BATCH_BYTES ||
					whole > KU_REQUEST_LIMIT))
				return count;
			count++;
		}
	}
	return count;
}

/* Make the path and the data of the next item.  Returns false if memory is
   short. */
static bool form(struct ku_put *put, char **path, char **data, size_t *len)
{
	if (put->data != NULL) {
		*path = put->path;
		*data = put->data;
		*len = put->len;
		put->path = put->data = NULL;
		return true;
	}
	const struct kustos_new_item *item = &put->items[put->gathered];
	if (ku_form_path(put->queue, item, path) != KUSTOS_OK)
		return false;
	*len = ku_form_size(put->queue, item);
	*data = ku_form_data(put->queue, item);
	if (*data != NULL)
		return true;
	ku_form_free_path(put->queue, *path);
	return false;
}

static bool add(struct batch *b, struct ku_put *put)
{
	char *path, *data;
	size_t len;

	if (!form(put, &path, &data, &len))
		return false;
	b->puts[b->deed.op_count] = put;
	b->ops[b->deed.op_count++] = ku_create_request(b->queue->client, path,
		data, (int)len, KU_ZK_PERSISTENT_SEQUENTIAL);
	put->gathered++;
	put->open++;
	return true;
}

/* Gather up to so many items.  NULL: memory is short even for one. */
static struct batch *gather(struct ku_queue *q, size_t count)
{
	struct batch *b = calloc(1, sizeof(*b) + (count + 1) * sizeof(*b->ops));

	if (b == NULL)
		return NULL;
	b->queue = q;
	b->serial = ++q->put.gathered;
	b->deed.ops = b->ops;
	b->deed.op_count = 1;
	b->deed.calls = &calls;
	b->puts = calloc(count + 1, sizeof(struct ku_put *));
	struct ku_put *put = b->puts != NULL ? q->put.first : NULL;
	while (put != NULL && (size_t)b->deed.op_count <= count) {
		if (put->gathered == put->count)
			put = put->next;
		else if (!add(b, put))
			break;
	}
	if (b->deed.op_count > 1)
		return b;
	batch_free(b);
	return NULL;
}

static struct ku_put *first_unsent(struct ku_queue *q)
{
	struct ku_put *put = q->put.first;

	while (put != NULL && put->gathered == put->count)
		put = put->next;
	return put;
}

void ku_put_pump(struct ku_queue *q)
{
	struct ku_put *put;

	while (q->put.batches < KU_BATCHES && (put = first_unsent(q)) != NULL) {
		if (q->put.max_items > 0 && q->put.room <= 0) {
			ku_room_count(q);
			return;
		}
		struct batch *b = gather(q, count_them(q));

		if (b == NULL) {
			ku_put_decided(put, 0, KUSTOS_ENOMEM);
			continue;
		}
		q->put.batches++;
		q->put.sent += b->deed.op_count - 1;
		q->put.room -= b->deed.op_count - 1;
		ku_receipt_do(&q->put.receipt, &b->deed);
	}
}
