/* op_start.c - start an operation, for a thread that waits, a callback, or
   nobody. */

#include "client.h"

#include <stdlib.h>
#include <string.h>

/* Between two tries of what goes on until it succeeds, while connected. */
#define GUARANTEED_PAUSE_MS 500
#define PATIENT_PAUSE_MS 200

static void run_callback(struct kustos_client *client, struct ku_call *call)
{
	struct ku_op *op = (struct ku_op *)((char *)call -
		offsetof(struct ku_op, call));
	size_t prefix = strlen(client->config.prefix);
	struct kustos_result result = { 0 };

	ku_unlock(client);
	ku_cancel_detach(&op->cancel);
	if (op->err == KUSTOS_OK) {
		if (op->out_path != NULL)
			result.path = op->out_path + prefix;
		result.stat = &op->out_stat;
		result.data = op->out_data;
		result.len = op->out_len > 0 ? (size_t)op->out_len : 0;
		result.names = op->out_names;
	}
	result.results = op->out_results;
	result.result_count = (size_t)op->op_count;
	op->callback(op->arg, op->err, &result);
	ku_lock(client);
	ku_op_drop(op);
}

/* Count what "op" asks for, if it is within the limits. */
static enum kustos_err check_limits(struct ku_op *op)
{
	struct kustos_client *client = op->client;
	struct ku_zk_request whole = {
		.path = op->path,
		.len = op->len,
		.kind = op->kind,
		.mode = (op->flags & KUSTOS_EPHEMERAL) != 0 ? KU_ZK_EPHEMERAL
							    : KU_ZK_PERSISTENT,
		.ops = op->ops,
		.op_count = op->op_count,
	};

	if (op->kind == KU_ZK_CREATE) {
		whole.acl = client->config.acl;
		whole.acl_count = client->config.acl_count;
	}
	if (ku_request_size(&whole) > KU_REQUEST_LIMIT)
		return KUSTOS_ETOOBIG;
	if (!ku_footprint_ask(&client->footprint, &whole, &op->asked))
		return KUSTOS_ELIMIT;
	return KUSTOS_OK;
}

static void ops_link(struct kustos_client *client, struct ku_op *op)
{
	struct ku_ops *ops = &client->ops;

	op->serial = ops->started++;
	op->next = NULL;
	op->prev = ops->newest;
	if (ops->newest != NULL)
		ops->newest->next = op;
	else
		ops->oldest = op;
	ops->newest = op;
	ops->count++;
}

static enum kustos_err start(struct ku_op *op)
{
	struct kustos_client *client = op->client;

	if (client->closing != KU_OPEN)
		return KUSTOS_ECLOSED;
	if (client->session.auth_failed)
		return KUSTOS_EAUTH;
	if (op->canceled)
		return KUSTOS_ECANCELED;
	enum kustos_err err = check_limits(op);
	if (err != KUSTOS_OK)
		return err;
	if (!ku_timers_reserve(&client->timers, KU_OP_TIMERS)) {
		client->footprint.asked_bytes -= op->asked;
		op->asked = 0;
		return KUSTOS_ENOMEM;
	}
	ku_op_init_timers(op);
	op->call.fn = run_callback;
	ops_link(client, op);
	op->started = true;
	return KUSTOS_OK;
}

static void cancel_fired(struct ku_cancel_link *link)
{
	struct ku_op *op = (struct ku_op *)((char *)link -
		offsetof(struct ku_op, cancel));

	ku_lock(op->client);
	op->canceled = true;
	if (op->started)
		ku_op_finish(op, KUSTOS_ECANCELED);
	ku_unlock(op->client);
}

/* Begin the tries.  May end the operation at once. */
static void begin(struct ku_op *op, kustos_deadline deadline)
{
	struct kustos_client *client = op->client;
	struct kustos_retry policy = client->config.retry;

	if (op->guaranteed)
		policy = kustos_retry_forever(GUARANTEED_PAUSE_MS);
	else if (op->patient)
		policy = kustos_retry_forever(PATIENT_PAUSE_MS);
	if (deadline == KUSTOS_NOW)
		policy = kustos_retry_none();
	ku_retry_start(&op->retry, &policy, ku_now(client));
	ku_op_try(op);
}

enum kustos_err ku_op_wait(struct ku_op *op, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	struct kustos_client *client = op->client;
	kustos_deadline until = deadline == KUSTOS_NOW ? KUSTOS_FOREVER
						       : deadline;
	pthread_cond_t wake;

	if (!client->env.threads)
		return KUSTOS_EINVAL;
	if (!ku_cond_init(&wake))
		return KUSTOS_ENOMEM;
	if (!ku_cancel_attach(cancel, &op->cancel, cancel_fired)) {
		pthread_cond_destroy(&wake);
		return KUSTOS_ECANCELED;
	}
	op->wake = &wake;
	ku_lock(client);
	op->waited = true;
	ku_enter(client);
	enum kustos_err err = start(op);
	if (err == KUSTOS_OK) {
		begin(op, deadline);
		while (!op->done)
			if (!ku_cond_wait(client, &wake, until))
				ku_op_finish(op, KUSTOS_ETIMEDOUT);
		err = op->err;
	}
	ku_unlock(client);
	ku_cancel_detach(&op->cancel);
	pthread_cond_destroy(&wake);
	return err;
}

enum kustos_err ku_op_async(struct ku_op *op, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	struct kustos_client *client = op->client;

	if (done == NULL) {
		ku_op_free(op);
		return KUSTOS_EINVAL;
	}
	op->callback = done;
	op->arg = arg;
	if (!ku_cancel_attach(cancel, &op->cancel, cancel_fired)) {
		ku_op_free(op);
		return KUSTOS_ECANCELED;
	}
	ku_lock(client);
	enum kustos_err err = start(op);
	if (err == KUSTOS_OK) {
		op->until = deadline;
		if (deadline != KUSTOS_NOW && deadline != KUSTOS_FOREVER)
			ku_op_set_deadline(op);
		begin(op, deadline);
	}
	ku_unlock(client);
	if (err != KUSTOS_OK) {
		ku_cancel_detach(&op->cancel);
		ku_op_free(op);
	}
	return err;
}

enum kustos_err ku_op_detached(struct ku_op *op)
{
	enum kustos_err err = start(op);

	if (err == KUSTOS_OK)
		begin(op, KUSTOS_FOREVER);
	else
		ku_op_drop(op);
	return err;
}

enum kustos_err ku_op_owned(struct ku_op *op)
{
	enum kustos_err err = start(op);

	if (err != KUSTOS_OK)
		return err;
	op->patient = true;
	begin(op, KUSTOS_FOREVER);
	return KUSTOS_OK;
}

void ku_op_unwant(struct ku_op *op)
{
	bool untried = op->in_flight == (op->request.waiting ? 1 : 0) &&
		!op->ambiguous;
	struct kustos_retry forever = kustos_retry_forever(GUARANTEED_PAUSE_MS);

	if (op->unwanted)
		return;
	op->unwanted = true;
	op->guaranteed = true; /* a close waits for it */
	if (op->request.slot != NULL)
		op->session_id = op->request.session_id;
	ku_retry_start(&op->retry, &forever, ku_now(op->client));
	if (untried)
		ku_op_finish(op, KUSTOS_ECANCELED);
}

void ku_op_slim(struct ku_op *op)
{
	free(op->data);
	op->data = NULL;
	if (op->in_flight > 0)
		return; /* parents that nobody waits for */
	ku_create_free(op);
	op->create = NULL;
}

void ku_op_undo(struct ku_op *op)
{
	ku_op_slim(op);
	free(op->path);
	op->path = op->out_path;
	op->out_path = NULL;
	op->kind = KU_ZK_DELETE;
	op->flags = 0;
	op->ambiguous = op->moved = op->done = op->unwanted = false;
	op->guaranteed = true;
	op->czxid = op->out_stat.czxid;
	op->session_id = op->out_stat.ephemeral_owner;
	ops_link(op->client, op);
	begin(op, KUSTOS_FOREVER);
}
