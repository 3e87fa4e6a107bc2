/* queue_root.c - the queue's node, which is made when something is put into
   it. */

#include "queue_impl.h"

#include <string.h>

static void made(struct ku_op *op)
{
	struct ku_queue *q = op->owner;
	bool there = op->err == KUSTOS_OK || op->err == KUSTOS_EEXISTS;

	q->put.root = NULL;
	q->put.root_err = there ? KUSTOS_OK : op->err;
	if (there)
		ku_own_anew(q);
	ku_op_drop(op);
	ku_queue_get(q); /* the first call may end it */
	ku_receipt_let_go(&q->put.receipt);
	if (!q->ended)
		ku_receipt_let_go(&q->take.receipt);
	ku_queue_drop(q);
}

/* Make the node and its parents.  "receipt" is held, so nothing is sent
   meanwhile. */
static enum kustos_err make(struct ku_queue *q, struct ku_receipt *receipt)
{
	/* kazoo ensures this node only once, so it must not go when it is
	   empty. */
	bool stays = q->kind == KU_ITEM_KAZOO;
	struct ku_op *op;
	enum kustos_err err = ku_create_new(q->client,
		ku_program_path(q->client, q->path),
		KUSTOS_CREATE_PARENTS | (stays ? 0 : KUSTOS_CREATE_CONTAINER),
		"", 0, &op);

	if (err != KUSTOS_OK)
		return err;
	op->any = true;
	op->plain = stays;
	op->last = q->over; /* items are being put back */
	q->put.root = op;
	ku_receipt_hold(receipt);
	err = ku_op_start(&q->put.root, made, q);
	if (err != KUSTOS_OK)
		receipt->held = false;
	return err;
}

enum kustos_err ku_root_make(struct ku_queue *q, struct ku_receipt *receipt,
	bool *asked)
{
	if (*asked && q->put.root_err != KUSTOS_OK)
		return q->put.root_err;
	*asked = true;
	q->put.root_err = KUSTOS_OK;
	if (q->put.root == NULL)
		return make(q, receipt);
	q->put.root->last = q->put.root->last || q->over; /* see make() */
	ku_receipt_hold(receipt);
	return KUSTOS_OK;
}
