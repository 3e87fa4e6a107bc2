/*
 * queue_return.c - when the queue is over for the program, items that were
 * taken for calls that had given up are put back.
 *
 * They are put back by the receipt that they were taken with, which exists
 * already, and in the memory that was allocated to take them.  More memory is
 * needed if the queue's node or the receipt was deleted, or if an item does not
 * fit into one request with a change of the receipt.  Then it is tried again
 * until there is memory.
 */

#include "item.h"
#include "queue_impl.h"

#include <string.h>

/* The pause before the next try while memory is short. */
#define AGAIN_MS 100

/* Move all of "from" to the front of "to". */
static void put_before(struct ku_catches *from, struct ku_catches *to)
{
	while (to->count > 0)
		ku_catch_append(from, ku_catch_pop(to));
	while (from->count > 0)
		ku_catch_append(to, ku_catch_pop(from));
}

/* Log that items are lost. */
static void tell_lost(const struct ku_queue *q, size_t count,
	enum kustos_err err)
{
	if (count == 0 || err == KUSTOS_OK)
		return;
	ku_log(q->client, KUSTOS_LOG_ERROR,
		"%s: of what was taken too late %zu %s: %s", q->path, count,
		err == KUSTOS_EUNKNOWN ? "may not have been put back"
				       : "cannot be put back",
		kustos_strerror(err));
}

static void drop_all(struct ku_queue *q, struct ku_catches *list,
	enum kustos_err err)
{
	tell_lost(q, list->count, err);
	while (list->count > 0)
		ku_catch_drop(ku_catch_pop(list));
}

static void try_later(struct ku_queue *q)
{
	ku_set_timer_ms(q->client, &q->take.pause, AGAIN_MS);
}

static void return_over(struct ku_deed *deed, enum kustos_err err,
	const struct ku_zk_reply *reply)
{
	struct ku_queue *q = deed->owner;
	struct ku_take_side *take = &q->take;

	(void)reply;
	take->busy = false;
	if (take->root_err != KUSTOS_OK)
		err = take->root_err;
	if (err == KUSTOS_ENOMEM && !q->ended) {
		put_before(&take->taking, &take->taken);
		try_later(q);
	}
	drop_all(q, &take->taking, err);
	ku_queue_return(q);
	ku_queue_end_if_idle(q);
}

/* Another node, made by name, has the number that the item would get.  Then the
   item goes back under its former number, which is free.  Returns whether that
   can be tried. */
static bool keeps_number(struct ku_catch *c, int rc)
{
	if (rc != KU_ZK_NODEEXISTS || c->named)
		return false;
	c->named = true;
	return true;
}

/* One item was refused: the others go back to "taken", to be put without it.
   So does that one if it can be put under its former number. */
static bool return_refused(struct ku_deed *deed, int at, int rc)
{
	struct ku_queue *q = deed->owner;
	struct ku_take_side *take = &q->take;
	struct ku_catches others;
	int count = (int)take->taking.count;

	if (rc == KU_ZK_NONODE) {
		if (!q->ended)
			take->root_err = ku_root_make(q, deed->receipt,
				&take->root_asked);
		return !q->ended && take->root_err == KUSTOS_OK;
	}
	ku_catches_init(&others);
	for (int i = 1; i <= count; i++) { /* ops[0]: the receipt */
		struct ku_catch *c = ku_catch_pop(&take->taking);
		bool lost = i == at && !keeps_number(c, rc);

		ku_catch_append(lost ? &take->taking : &others, c);
	}
	put_before(&others, &take->taken);
	return false;
}

static const struct ku_deed_calls calls = {
	.over = return_over,
	.refused = return_refused,
};

/* Make the request that creates the same item with a new number.  What precedes
   the number in the name is kept as it was: others write keys that we would
   not. */
static struct ku_zk_request again(const struct ku_queue *q, struct ku_catch *c)
{
	struct ku_bytes data = ku_item_close(q->kind, c->got);
	char *number = c->path + strlen(q->path) + 1 + c->item.head;

	if (*number != '\0')
		c->digit = *number;
	*number = c->named ? c->digit : '\0';
	return ku_create_request(q->client, c->path, data.data, (int)data.len,
		c->named ? KU_ZK_PERSISTENT : KU_ZK_PERSISTENT_SEQUENTIAL);
}

/* Would a server take it in one frame with the change of a receipt? */
static bool goes_beside_receipt(const struct ku_queue *q,
	const struct ku_zk_request *create)
{
	return KU_RECEIPT_SIZE + strlen(q->client->config.prefix) +
		strlen(q->receipts) + ku_request_size(create) <=
		KU_FRAME_LIMIT;
}

static void alone_over(struct ku_op *op)
{
	struct ku_queue *q = op->owner;

	/* KUSTOS_ECLOSED: a close may have ended it when it was on its way. */
	tell_lost(q, 1, op->err == KUSTOS_ECLOSED ? KUSTOS_EUNKNOWN : op->err);
	ku_op_drop(op);
	ku_queue_drop(q);
}

/* Put an item back without a receipt, in a single try: if the answer is lost,
   nothing tells whether it was put. */
static enum kustos_err put_alone(struct ku_queue *q,
	const struct ku_zk_request *create)
{
	struct ku_op *op;
	int flags = KUSTOS_CREATE_PARENTS |
		(create->mode == KU_ZK_PERSISTENT ? 0
						  : KUSTOS_CREATE_SEQUENTIAL);
	enum kustos_err err = ku_create_new(q->client,
		ku_program_path(q->client, create->path), flags, create->data,
		(size_t)create->len, &op);

	if (err != KUSTOS_OK)
		return err;
	op->plain = q->kind == KU_ITEM_KAZOO;
	op->large = op->last = true;
	ku_queue_get(q);
	err = ku_op_start(&op, alone_over, q);
	if (err != KUSTOS_OK)
		ku_queue_drop(q);
	return err;
}

/* Put back items that are too large for a frame with a receipt, up to one that
   is not.  Returns false if one is to be tried again later. */
static bool put_large(struct ku_queue *q)
{
	struct ku_catches *taken = &q->take.taken;

	while (taken->count > 0) {
		const struct ku_zk_request create = again(q, taken->first);

		if (goes_beside_receipt(q, &create))
			return true;
		enum kustos_err err = put_alone(q, &create);
		if (err == KUSTOS_ENOMEM) {
			try_later(q);
			return false;
		}
		tell_lost(q, 1, err);
		ku_catch_drop(ku_catch_pop(taken));
	}
	return true;
}

/* Put back as many as a server takes at once. */
static void put_some(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;
	size_t whole = KU_RECEIPT_SIZE;

	take->deed.op_count = 1;
	while (take->taken.count > 0 && take->deed.op_count <= KU_TAKE_MAX) {
		const struct ku_zk_request create = again(q, take->taken.first);

		whole += ku_request_size(&create);
		if (take->deed.op_count > 1 && whole > KU_REQUEST_LIMIT)
			break;
		take->ops[take->deed.op_count++] = create;
		ku_catch_append(&take->taking, ku_catch_pop(&take->taken));
	}
	take->deed.calls = &calls;
	take->busy = true;
	take->root_asked = false;
	take->root_err = KUSTOS_OK;
	ku_receipt_do(&take->receipt, &take->deed);
}

void ku_queue_return(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;

	if (q->ended)
		drop_all(q, &take->taken, KUSTOS_ECLOSED);
	if (take->busy || ku_timer_is_set(&take->pause) || !put_large(q) ||
		take->taken.count == 0)
		return;
	put_some(q);
}
