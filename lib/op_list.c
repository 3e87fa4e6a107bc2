/* op_list.c - what happens to all operations at once: one that ends may take
   others with it. */

#include "client.h"

static void begin(struct ku_op_cursor *cursor, struct kustos_client *client)
{
	cursor->next = client->ops.oldest;
	cursor->outer = client->ops.cursors;
	client->ops.cursors = cursor;
}

static struct ku_op *take(struct ku_op_cursor *cursor)
{
	struct ku_op *op = cursor->next;

	if (op != NULL)
		cursor->next = op->next;
	return op;
}

static void end(struct ku_op_cursor *cursor, struct kustos_client *client)
{
	client->ops.cursors = cursor->outer;
}

static bool is_unsent(const struct ku_op *op)
{
	return op->in_flight == (op->request.waiting ? 1 : 0);
}

/* Is it not sent, and not one that a close lets go on? */
static bool is_idle(const struct ku_op *op)
{
	return !op->guaranteed && !op->last && is_unsent(op);
}

void ku_ops_fail(struct kustos_client *client, enum kustos_err err, bool all)
{
	struct ku_op_cursor cursor;
	struct ku_op *op;

	begin(&cursor, client);
	while ((op = take(&cursor)) != NULL) {
		if (all || is_idle(op))
			ku_op_finish(op, err);
	}
	end(&cursor, client);
}

void ku_ops_session_over(struct kustos_client *client, int64_t session_id)
{
	struct ku_op_cursor cursor;
	struct ku_op *op;

	begin(&cursor, client);
	while ((op = take(&cursor)) != NULL) {
		if (op->guaranteed && !op->lasting &&
			op->session_id == session_id)
			ku_op_finish(op, KUSTOS_ELOST);
	}
	end(&cursor, client);
}

void ku_ops_connected(struct kustos_client *client)
{
	struct ku_op_cursor cursor;
	struct ku_op *op;

	begin(&cursor, client);
	while ((op = take(&cursor)) != NULL) {
		if (!ku_timer_is_set(&op->pause))
			continue;
		ku_timer_unset(&client->timers, &op->pause);
		/* A queued request goes out with the queue.  An operation that
		   was tried before this one may have sent the queue already,
		   and the library may have refused this request. */
		if (op->request.refused_rc != 0)
			continue;
		if (!op->request.waiting && op->request.slot == NULL)
			ku_op_try(op);
	}
	end(&cursor, client);
}

void ku_ops_suspended(struct kustos_client *client)
{
	struct ku_op_cursor cursor;
	struct ku_op *op;

	begin(&cursor, client);
	while ((op = take(&cursor)) != NULL) {
		if (ku_op_outlived(op) && is_unsent(op)) {
			ku_op_finish(op, KUSTOS_ELOST);
			continue;
		}
		if (!op->request.waiting || ku_timer_is_set(&op->pause))
			continue;
		/* By the time this delete goes out a newer node may be
		   there. */
		if ((op->guaranteed || op->wary) &&
			ku_wire_withdraw(client, &op->request)) {
			op->in_flight--;
			ku_op_try(op);
		} else {
			ku_op_keep_waiting(op);
		}
	}
	end(&cursor, client);
}
