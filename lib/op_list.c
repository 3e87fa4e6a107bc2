/* op_list.c - what happens to all operations at once: one that ends may take
   others with it. */

#include "client.h"

#include <string.h>

/* Call "fn" for each operation, the oldest first. */
static void each(struct kustos_client *client,
	void (*fn)(struct ku_op *op, int64_t arg), int64_t arg)
{
	struct ku_op_cursor cursor = { client->ops.oldest,
		client->ops.cursors };

	client->ops.cursors = &cursor;
	while (cursor.next != NULL) {
		struct ku_op *op = cursor.next;

		cursor.next = op->next;
		fn(op, arg);
	}
	client->ops.cursors = cursor.outer;
}

static bool is_unsent(const struct ku_op *op)
{
	return op->in_flight == (op->request.waiting ? 1 : 0);
}

static void op_fail(struct ku_op *op, int64_t err)
{
	ku_op_finish(op, (enum kustos_err)err);
}

void ku_ops_fail(struct kustos_client *client, enum kustos_err err)
{
	each(client, op_fail, err);
}

static void op_close_idle(struct ku_op *op, int64_t unused)
{
	(void)unused;
	if (!op->guaranteed && !op->last && is_unsent(op))
		ku_op_finish(op, KUSTOS_ECLOSED);
}

void ku_ops_close(struct kustos_client *client)
{
	each(client, op_close_idle, 0);
}

static void op_session_over(struct ku_op *op, int64_t session_id)
{
	if (op->guaranteed && !op->lasting && op->session_id == session_id)
		ku_op_finish(op, KUSTOS_ELOST);
}

void ku_ops_session_over(struct kustos_client *client, int64_t session_id)
{
	each(client, op_session_over, session_id);
}

static void op_connected(struct ku_op *op, int64_t unused)
{
	(void)unused;
	if (!ku_timer_is_set(&op->pause))
		return;
	ku_timer_unset(&op->client->timers, &op->pause);
	/* A queued request goes out with the queue.  An operation that was
	   tried before this one may have sent the queue already, and the
	   library may have refused this request. */
	if (op->request.refused_rc != 0)
		return;
	if (!op->request.waiting && op->request.slot == NULL)
		ku_op_try(op);
}

void ku_ops_connected(struct kustos_client *client)
{
	each(client, op_connected, 0);
}

static void op_suspended(struct ku_op *op, int64_t unused)
{
	(void)unused;
	if (ku_op_outlived(op) && is_unsent(op)) {
		ku_op_finish(op, KUSTOS_ELOST);
		return;
	}
	if (!op->request.waiting || ku_timer_is_set(&op->pause))
		return;
	/* By the time this delete goes out a newer node may be there. */
	if ((op->guaranteed || op->wary) &&
		ku_wire_withdraw(op->client, &op->request)) {
		op->in_flight--;
		ku_op_try(op);
	} else {
		ku_op_keep_waiting(op);
	}
}

void ku_ops_suspended(struct kustos_client *client)
{
	each(client, op_suspended, 0);
}

bool ku_ops_belated(const struct kustos_client *client, const char *path)
{
	const struct ku_op *op = client->ops.oldest;

	while (op != NULL && (!op->belated || strcmp(op->path, path) != 0))
		op = op->next;
	return op != NULL;
}
