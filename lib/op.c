/* op.c - try, try again, end. */

#include "client.h"
#include "name.h"

#include <stdlib.h>
#include <string.h>

/* Between two tries of anything. */
#define MIN_PAUSE_NS KU_NS_PER_MS

/* The error of an operation that ends without an answer. */
static enum kustos_err unanswered(const struct ku_op *op, enum kustos_err err)
{
	return op->ambiguous && err == KUSTOS_EDISCONNECTED ? KUSTOS_EUNKNOWN
							    : err;
}

static void ops_unlink(struct kustos_client *client, struct ku_op *op)
{
	struct ku_ops *ops = &client->ops;

	for (struct ku_op_cursor *c = ops->cursors; c != NULL; c = c->outer)
		if (c->next == op)
			c->next = op->next;
	KU_ROW_REMOVE(ops->oldest, ops->newest, op);
	ops->count--;
}

static void destroy(struct ku_op *op)
{
	ku_create_free(op);
	for (int i = 0; i < op->op_count; i++) {
		free((char *)op->ops[i].path);
		free((char *)op->ops[i].data);
	}
	if (op->out_results != NULL)
		for (int i = 0; i < op->op_count; i++)
			free(op->out_results[i].path);
	free(op->ops);
	free(op->out_results);
	free(op->path);
	free(op->data);
	free(op->out_path);
	free(op->out_data);
	kustos_names_free(op->out_names);
	free(op);
}

void ku_op_drop(struct ku_op *op)
{
	op->orphan = true;
	if (op->in_flight == 0)
		destroy(op);
}

static void withdraw(struct ku_op *op)
{
	if (ku_wire_withdraw(op->client, &op->request))
		op->in_flight--;
	if (op->create != NULL)
		ku_create_withdraw(op);
}

bool ku_delete_refused(enum kustos_err err)
{
	return err == KUSTOS_ENOAUTH || err == KUSTOS_ENOTEMPTY ||
		err == KUSTOS_EUNSUPPORTED || err == KUSTOS_ESERVER;
}

/* Return a hash of the folder of "path"; never 0. */
static uint64_t folder_of(const char *path)
{
	const char *end = path + ku_path_parent_len(path);
	uint64_t hash = UINT64_C(14695981039346656037);

	while (path < end)
		hash = (hash ^ (unsigned char)*path++) *
			UINT64_C(1099511628211);
	return hash | 1;
}

/* Log it, but of the nodes in one folder only for the first. */
static void tell(const struct ku_op *op, const char *what, enum kustos_err why)
{
	struct ku_ops *ops = &op->client->ops;
	uint64_t folder = folder_of(op->path);

	if (ops->stuck == folder)
		return;
	ops->stuck = folder;
	ku_log(op->client, KUSTOS_LOG_ERROR, "%s %s: %s", op->path, what,
		kustos_strerror(why));
}

void ku_op_tell_stuck(const struct ku_op *op)
{
	struct ku_ops *ops = &op->client->ops;

	if (op->err == KUSTOS_OK && ops->stuck == folder_of(op->path))
		ops->stuck = 0;
	if (ku_delete_refused(op->err))
		tell(op, "cannot be deleted, and stays", op->err);
}

void ku_op_tell_unseen(const struct ku_op *op, enum kustos_err why)
{
	tell(op, "may have been made, and stay", why);
}

/* An error that ended the whole transaction is that of each part that has none
   of its own.  No part is known to have made a node. */
static void spoil_results(struct ku_op *op, enum kustos_err err)
{
	for (int i = 0; i < op->op_count; i++) {
		struct kustos_op_result *result = &op->out_results[i];

		if (result->err == KUSTOS_OK)
			result->err = err;
		free(result->path);
		result->path = NULL;
	}
}

void ku_op_finish(struct ku_op *op, enum kustos_err err)
{
	struct kustos_client *client = op->client;

	if (op->done)
		return;
	op->done = true;
	op->err = err;
	ku_timer_unset(&client->timers, &op->pause);
	client->footprint.asked_bytes -= op->asked;
	op->asked = 0;
	if (err != KUSTOS_OK)
		spoil_results(op, err);
	withdraw(op);
	ops_unlink(client, op);
	if (client->ops.flushing > 0)
		pthread_cond_broadcast(&client->ops.ended);
	if (client->closing != KU_OPEN)
		ku_wake(client);
	if (op->ended != NULL) {
		op->ended(op);
		return;
	}
	if (op->kind == KU_ZK_DELETE && op->guaranteed)
		ku_op_tell_stuck(op);
	ku_op_drop(op);
}

/* However short the policy's pause is, others must have their turn. */
static void set_pause(struct ku_op *op, int64_t now, int64_t pause)
{
	if (pause < MIN_PAUSE_NS)
		pause = MIN_PAUSE_NS;
	ku_set_timer(op->client, &op->pause, ku_time_add(now, pause));
}

void ku_op_keep_waiting(struct ku_op *op)
{
	struct kustos_client *client = op->client;
	int64_t now = ku_now(client);
	int64_t pause = ku_retry_next(&op->retry, KUSTOS_EDISCONNECTED, now,
		&client->random);

	if (pause < 0)
		ku_op_finish(op, unanswered(op, KUSTOS_EDISCONNECTED));
	else
		set_pause(op, now, pause);
}

static void pause_over(struct ku_timer *timer)
{
	struct ku_op *op = KU_OWNER(struct ku_op, pause, timer);

	if (op->request.waiting)
		ku_op_keep_waiting(op);
	else if (op->request.slot == NULL) /* else it went out meanwhile */
		ku_op_try(op);
}

static void request_done(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_op *op = (struct ku_op *)request;

	if (op->done) {
		ku_op_request_over(op);
		return;
	}
	op->in_flight--;
	ku_timer_unset(&op->client->timers, &op->pause);
	op->answer(op, reply);
}

void ku_op_request_over(struct ku_op *op)
{
	op->in_flight--;
	if (op->orphan && op->in_flight == 0)
		destroy(op);
}

void ku_op_send_also(struct ku_op *op, struct ku_request *request)
{
	op->in_flight++;
	ku_wire_send(op->client, request);
}

void ku_op_send(struct ku_op *op, ku_op_answer_fn *answer)
{
	op->answer = answer;
	op->request.done = request_done;
	ku_op_send_also(op, &op->request);
	if (op->request.waiting && !ku_session_ready(op->client))
		ku_op_keep_waiting(op);
}

void ku_op_ask(struct ku_op *op, enum ku_zk_kind kind, const char *path,
	ku_op_answer_fn *answer)
{
	op->request.what = (struct ku_zk_request){ .kind = kind,
		.path = path,
		.version = -1 };
	ku_op_send(op, answer);
}

bool ku_op_unanswered(struct ku_op *op, const struct ku_zk_reply *reply)
{
	enum ku_outcome outcome = ku_outcome(reply->rc);

	if (outcome == KU_OUTCOME_DONE || outcome == KU_OUTCOME_REFUSED)
		return false;
	ku_op_again(op, KUSTOS_EDISCONNECTED);
	return true;
}

bool ku_op_outlived(const struct ku_op *op)
{
	const struct ku_session *session = &op->client->session;

	return op->epoch != 0 &&
		(op->epoch != session->epoch ||
			(session->state != KUSTOS_STATE_CONNECTED &&
				session->state != KUSTOS_STATE_SUSPENDED));
}

void ku_op_try(struct ku_op *op)
{
	if (ku_op_outlived(op)) {
		ku_op_finish(op, KUSTOS_ELOST);
		return;
	}
	if (op->kind == KU_ZK_CREATE) {
		ku_create_try(op);
		return;
	}
	/* After any delay another client may have put a newer node there. */
	if ((op->guaranteed || op->wary) && op->czxid != 0 &&
		(op->ambiguous || op->doubtful ||
			!ku_session_ready(op->client))) {
		ku_op_look(op);
		return;
	}
	op->request.what = (struct ku_zk_request){
		.kind = op->kind,
		.path = op->path,
		.data = op->data,
		.len = op->len,
		.version = op->version,
		.ops = op->ops,
		.op_count = op->op_count,
	};
	ku_op_send(op, ku_op_answered);
}

void ku_op_again(struct ku_op *op, enum kustos_err err)
{
	struct kustos_client *client = op->client;
	int64_t now = ku_now(client);
	int64_t pause = ku_retry_next(&op->retry, err, now, &client->random);

	if (client->closing != KU_OPEN && !op->guaranteed &&
		(client->closing != KU_DRAINING || !op->last)) {
		ku_op_finish(op, KUSTOS_ECLOSED);
		return;
	}
	if (pause < 0) {
		ku_op_finish(op, unanswered(op, err));
		return;
	}
	client->counters.retried++;
	if (op->kind == KU_ZK_DELETE)
		op->doubtful = true; /* a pause is a delay, too */
	set_pause(op, now, pause);
}

/* Keep what an answer brought.  Returns false if memory is short, which happens
   to reads only: room for the results of a write was made beforehand. */
static bool keep_reply(struct ku_op *op, const struct ku_zk_reply *reply)
{
	if (reply->stat != NULL)
		op->out_stat = *reply->stat;
	if (op->kind == KU_ZK_CREATE && reply->path != NULL)
		strcpy(op->out_path, reply->path);
	if (op->kind == KU_ZK_GET) {
		op->out_len = reply->len;
		if (reply->len < 0)
			return true;
		op->out_data = malloc((size_t)reply->len + 1);
		if (op->out_data == NULL)
			return false;
		if (reply->len > 0)
			memcpy(op->out_data, reply->data, (size_t)reply->len);
		op->out_data[reply->len] = '\0';
	}
	if (op->kind == KU_ZK_CHILDREN) {
		op->out_names = ku_names_copy(reply->names, reply->name_count);
		return op->out_names != NULL;
	}
	return true;
}

/* Keep the results of a multi, of which each has its own code. */
static void keep_results(struct ku_op *op, const struct ku_zk_reply *reply)
{
	for (int i = 0; i < op->op_count && i < reply->result_count; i++) {
		const struct ku_zk_result *from = &reply->results[i];
		struct kustos_op_result *to = &op->out_results[i];

		to->stat = from->stat;
		to->err = KUSTOS_OK;
		if (reply->rc != KU_ZK_OK)
			to->err = from->rc == KU_ZK_OK ||
					from->rc == KU_ZK_RUNTIMEINCONSISTENCY
				? KUSTOS_EROLLEDBACK
				: ku_rc_err(from->rc);
		if (from->path != NULL && to->path != NULL)
			strcpy(to->path,
				ku_program_path(op->client, from->path));
	}
}

void ku_op_answered(struct ku_op *op, const struct ku_zk_reply *reply)
{
	enum ku_outcome outcome = ku_outcome(reply->rc);

	if (outcome == KU_OUTCOME_DONE || outcome == KU_OUTCOME_REFUSED)
		keep_results(op, reply);
	if (reply->rc == KU_ZK_CLOSING) {
		ku_op_finish(op, KUSTOS_ECLOSED);
		return;
	}
	switch (outcome) {
	case KU_OUTCOME_DONE:
		ku_op_finish(op,
			keep_reply(op, reply) ? KUSTOS_OK : KUSTOS_ENOMEM);
		break;
	case KU_OUTCOME_REFUSED:
		if (op->ambiguous && ku_op_resolve_refusal(op, reply))
			break;
		if (op->kind == KU_ZK_CREATE && reply->rc == KU_ZK_NONODE &&
			ku_create_parents(op))
			break;
		ku_op_finish(op, ku_rc_err(reply->rc));
		break;
	case KU_OUTCOME_AGAIN:
		ku_op_again(op, ku_rc_err(reply->rc));
		break;
	case KU_OUTCOME_UNKNOWN:
	case KU_OUTCOME_EXPIRED:
		ku_op_resolve(op);
		break;
	}
}

void ku_op_init_timer(struct ku_op *op)
{
	op->pause.fn = pause_over;
}

void ku_op_let_go(struct ku_op **at)
{
	struct ku_op *op = *at;

	*at = NULL;
	if (op == NULL)
		return;
	op->ended = NULL;
	if (op->started && !op->done)
		ku_op_finish(op, KUSTOS_ECANCELED); /* which drops it */
	else
		ku_op_drop(op);
}
