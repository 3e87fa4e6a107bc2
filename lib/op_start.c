/* op_start.c - start an operation, for the program or for an owner inside the
   core; and unmake what one has made. */

#include "client.h"
#include "name.h"

#include <stdlib.h>
#include <string.h>

/* Pauses between tries of what goes on until it succeeds, while connected. */
static const struct kustos_retry guaranteed = KU_RETRY_FOREVER(500);
static const struct kustos_retry patient = KU_RETRY_FOREVER(200);
static const struct kustos_retry once = { .kind = KUSTOS_RETRY_NONE };

/* Count what "op" asks for, if it is within the limits. */
static enum kustos_err check_limits(struct ku_op *op)
{
	struct kustos_client *client = op->client;
	struct ku_zk_request whole = {
		.path = op->path,
		.len = op->len,
		.kind = op->kind,
		.mode = ku_op_mode(op->flags),
		.ops = op->ops,
		.op_count = op->op_count,
	};

	if (op->kind == KU_ZK_CREATE) {
		whole.acl = client->config.acl;
		whole.acl_count = client->config.acl_count;
	}
	if (!op->large && ku_request_size(&whole) > KU_REQUEST_LIMIT)
		return KUSTOS_ETOOBIG;
	size_t guid = (op->flags & KUSTOS_CREATE_PROTECTED) != 0
		? KU_PROTECTION_LEN
		: 0;
	if (!ku_footprint_reserve(client, &whole, guid, &op->asked))
		return KUSTOS_ELIMIT;
	return KUSTOS_OK;
}

/* Link "op" by its serial number: nearly always at the end. */
static void ops_link(struct ku_ops *ops, struct ku_op *op)
{
	op->prev = ops->newest;
	while (op->prev != NULL && op->prev->serial > op->serial)
		op->prev = op->prev->prev;
	op->next = op->prev != NULL ? op->prev->next : ops->oldest;
	if (op->prev != NULL)
		op->prev->next = op;
	else
		ops->oldest = op;
	if (op->next != NULL)
		op->next->prev = op;
	else
		ops->newest = op;
	ops->count++;
}

static enum kustos_err start(struct ku_op *op)
{
	struct kustos_client *client = op->client;

	if (client->closing != KU_OPEN &&
		(client->closing != KU_DRAINING || !op->last))
		return KUSTOS_ECLOSED;
	if (client->session.auth_failed)
		return KUSTOS_EAUTH;
	enum kustos_err err = check_limits(op);
	if (err != KUSTOS_OK)
		return err;
	ku_op_init_timer(op);
	op->serial = client->ops.started++;
	ops_link(&client->ops, op);
	op->started = true;
	return KUSTOS_OK;
}

/* Begin the tries.  May end the operation at once. */
static void begin(struct ku_op *op)
{
	struct kustos_client *client = op->client;
	const struct kustos_retry *policy = &client->config.retry;

	if (op->once)
		policy = &once;
	else if (op->guaranteed)
		policy = &guaranteed;
	else if (op->patient)
		policy = &patient;
	ku_retry_start(&op->retry, policy, ku_now(client));
	ku_op_try(op);
}

/* Start "op", and begin.  If it has ended by then, op->ended was called. */
static enum kustos_err launch(struct ku_op *op)
{
	enum kustos_err err = start(op);

	if (err == KUSTOS_OK)
		begin(op);
	return err;
}

enum kustos_err ku_op_start_unowned(struct ku_op *op)
{
	enum kustos_err err = launch(op);

	if (err != KUSTOS_OK)
		ku_op_drop(op);
	return err;
}

enum kustos_err ku_op_start(struct ku_op **at, ku_op_ended_fn *ended,
	void *owner)
{
	struct ku_op *op = *at;

	op->patient = true;
	op->ended = ended;
	op->owner = owner;
	enum kustos_err err = launch(op);
	if (err != KUSTOS_OK)
		ku_op_let_go(at);
	return err;
}

static struct ku_task *task_of(struct ku_wait *wait)
{
	return KU_OWNER(struct ku_task, wait, wait);
}

static enum kustos_err task_start(struct ku_wait *wait)
{
	return launch(&task_of(wait)->op);
}

static void task_give_up(struct ku_wait *wait, enum kustos_err why)
{
	ku_op_finish(&task_of(wait)->op, why);
}

/* Was the transaction refused by a check of its guard? */
static bool is_unproved(const struct ku_task *task)
{
	for (int i = 0; i < task->checks; i++) {
		enum kustos_err err = task->op.out_results[i].err;

		if (err == KUSTOS_ENONODE || err == KUSTOS_EBADVERSION)
			return true;
	}
	return false;
}

/* Was this a creation that was given up and may have been done, under a name
   that nobody knows? */
static bool is_nameless(const struct ku_op *op)
{
	bool given_up = op->err == KUSTOS_ETIMEDOUT ||
		op->err == KUSTOS_ECANCELED || op->err == KUSTOS_EUNKNOWN ||
		op->err == KUSTOS_ECLOSED;

	return op->kind == KU_ZK_CREATE &&
		(op->flags & KUSTOS_CREATE_PROTECTED) != 0 && given_up &&
		(op->ambiguous || op->request.slot != NULL) &&
		op->client->closing <= KU_DRAINING;
}

static void retracted(struct ku_op *op)
{
	struct ku_task *task = (struct ku_task *)op;

	if (op->kind == KU_ZK_CREATE && op->err == KUSTOS_OK) {
		ku_op_undo(op);
		return;
	}
	if (op->kind == KU_ZK_DELETE)
		ku_op_tell_stuck(op);
	if (task->left)
		ku_op_drop(op);
}

/* Have the operation that was given up go on, to delete what it has made. */
static void retract(struct ku_op *op)
{
	op->ended = retracted;
	op->done = op->once = false;
	ops_link(&op->client->ops, op);
	ku_op_unwant(op);
	if (op->request.slot == NULL)
		begin(op);
}

static void task_ended(struct ku_op *op)
{
	struct ku_task *task = (struct ku_task *)op;
	enum kustos_err err = op->err != task->fine ? op->err : KUSTOS_OK;

	if (is_unproved(task))
		err = KUSTOS_ELOST;
	ku_wait_end(&task->wait, err);
	if (is_nameless(op))
		retract(op);
}

static void task_tell(struct ku_wait *wait)
{
	struct ku_task *task = task_of(wait);
	struct ku_op *op = &task->op;
	struct kustos_result result = { 0 };

	if (wait->err == KUSTOS_OK && op->err == KUSTOS_OK) {
		if (op->out_path != NULL)
			result.path = ku_program_path(op->client, op->out_path);
		result.stat = &op->out_stat;
		result.data = op->out_data;
		result.len = op->out_len > 0 ? (size_t)op->out_len : 0;
		result.names = op->out_names;
	}
	result.result_count = (size_t)(op->op_count - task->checks);
	if (result.result_count > 0)
		result.results = op->out_results + task->checks;
	task->callback(task->arg, wait->err, &result);
}

/* Free it, unless it goes on by itself. */
static void leave(struct ku_task *task)
{
	task->left = true;
	if (!task->op.started || task->op.done)
		ku_op_drop(&task->op);
}

static void task_call(struct kustos_client *client, struct ku_call *call)
{
	struct ku_task *task = KU_OWNER(struct ku_task, wait.call, call);

	ku_wait_tell(client, call);
	leave(task);
}

/* The wait is not listed, as an operation handles a close, and refused
   credentials, itself: one that was sent may still succeed. */
static void task_prepare(struct ku_task *task, kustos_deadline deadline)
{
	static const struct ku_wait_calls calls = { .start = task_start,
		.give_up = task_give_up,
		.tell = task_tell };

	task->op.ended = task_ended;
	task->op.once = deadline == KUSTOS_NOW;
	task->wait.client = task->op.client;
	task->wait.calls = &calls;
	task->wait.unlisted = true;
}

enum kustos_err ku_task_wait(struct ku_task *task, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	task_prepare(task, deadline);
	return ku_wait_stay(&task->wait, deadline, cancel);
}

enum kustos_err ku_task_async(struct ku_task *task, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	enum kustos_err err = KUSTOS_EINVAL;

	if (done != NULL) {
		task_prepare(task, deadline);
		task->callback = done;
		task->arg = arg;
		task->wait.call.fn = task_call;
		err = ku_wait_async(&task->wait, deadline, cancel);
	}
	if (err != KUSTOS_OK)
		ku_task_free(task);
	return err;
}

void ku_task_free(struct ku_task *task)
{
	if (task == NULL)
		return;
	struct kustos_client *client = task->op.client;
	ku_lock(client);
	ku_wait_leave(&task->wait);
	leave(task);
	ku_unlock(client);
}

void ku_op_unwant(struct ku_op *op)
{
	bool untried = op->in_flight == (op->request.waiting ? 1 : 0) &&
		!op->ambiguous;

	if (op->unwanted)
		return;
	op->unwanted = true;
	op->guaranteed = true; /* a close waits for it */
	op->lasting = (op->flags & KUSTOS_CREATE_EPHEMERAL) == 0;
	ku_retry_start(&op->retry, &guaranteed, ku_now(op->client));
	if (untried)
		ku_op_finish(op, KUSTOS_ECANCELED);
}

void ku_op_slim(struct ku_op *op)
{
	free(op->path);
	free(op->data);
	op->path = op->data = NULL;
	if (op->in_flight > 0)
		return; /* parents that nobody waits for */
	ku_create_free(op);
	op->create = NULL;
}

enum kustos_err ku_op_adopt(struct ku_op *op, const char *path,
	const struct kustos_stat *stat)
{
	struct kustos_client *client = op->client;
	char *copy = strdup(path);

	if (copy == NULL)
		return KUSTOS_ENOMEM;
	ku_op_init_timer(op);
	free(op->out_path);
	op->out_path = copy;
	op->out_stat = *stat;
	op->started = op->done = true;
	ku_footprint_add(&client->footprint, path, stat->czxid);
	return KUSTOS_OK;
}

void ku_op_undo(struct ku_op *op)
{
	struct ku_ops *ops = &op->client->ops;
	bool unique = (op->flags & KUSTOS_CREATE_PROTECTED) != 0;

	/* An unwanted creation keeps its number: a flush that waits for it must
	   wait for this deletion as well. */
	if (!op->unwanted)
		op->serial = ops->started++;
	ku_op_slim(op);
	op->path = op->out_path;
	op->out_path = NULL;
	op->kind = KU_ZK_DELETE;
	op->flags = 0;
	op->ambiguous = op->moved = op->done = op->unwanted = false;
	op->guaranteed = true;
	/* With a GUID in its name it cannot be another's. */
	op->czxid = unique ? 0 : op->out_stat.czxid;
	op->session_id = op->out_stat.ephemeral_owner;
	op->lasting = op->session_id == 0;
	ops_link(ops, op);
	begin(op);
}
