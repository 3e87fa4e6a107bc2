/* muster.c - a member of a double barrier: made, ended, and its calls. */

#include "muster_impl.h"
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

void ku_muster_get(struct ku_muster *m)
{
	m->refs++;
}

void ku_muster_put(struct ku_muster *m)
{
	if (--m->refs > 0)
		return;
	ku_timer_unset(&m->client->timers, &m->timer);
	kustos_names_free(m->names);
	ku_payload_free(&m->payload);
	free(m->awaited);
	free(m->own.stuck);
	free(m->ready_path);
	free(m->path);
	free(m);
}

void ku_muster_finish(struct ku_muster *m, enum kustos_err err)
{
	struct ku_muster_call *call = m->call;
	bool in = m->state == KU_MUSTER_ENTERING && err == KUSTOS_OK;

	m->call = NULL;
	if (call->wait.once)
		ku_witness_remove(m->client, &m->away);
	m->state = in ? KU_MUSTER_IN : KU_MUSTER_OUT;
	m->telling = false;
	ku_muster_rest(m);
	if (!in)
		ku_muster_undo(m);
	else
		ku_muster_set_safety(m);
	ku_wait_end(&call->wait, err);
}

static struct ku_muster *muster_of(struct ku_wait *wait)
{
	return ((struct ku_muster_call *)wait)->muster;
}

/* Begin to enter, or to leave. */
static void begin(struct ku_muster *m, struct ku_wait *wait,
	enum ku_muster_state state)
{
	m->call = (struct ku_muster_call *)wait;
	m->state = state;
	m->tidied = m->blind = m->missed = false;
	m->lost = 0;
	m->reads = state == KU_MUSTER_LEAVING;
	if (m->call->wait.once)
		ku_witness_add(m->client, &m->away);
	ku_muster_step(m);
}

/* Is there a connection, or does the call wait for one? */
static bool can_ask(const struct ku_muster *m, const struct ku_wait *wait)
{
	return !wait->once || ku_session_ready(m->client);
}

static bool is_inside(const struct ku_muster *m)
{
	return m->state == KU_MUSTER_IN && m->own.there &&
		m->own.session_id == m->client->session.id;
}

/* The member is out, and nobody waits for it. */
static void step_out(struct ku_muster *m)
{
	m->state = KU_MUSTER_OUT;
	ku_timer_unset(&m->client->timers, &m->timer);
	ku_muster_undo(m);
}

static enum kustos_err start_enter(struct ku_wait *wait)
{
	struct ku_muster *m = muster_of(wait);

	if (is_inside(m)) {
		ku_wait_end(wait, KUSTOS_OK);
		return KUSTOS_OK;
	}
	if (m->state == KU_MUSTER_IN)
		step_out(m); /* its node is lost: to the others it died */
	if (m->state != KU_MUSTER_OUT)
		return KUSTOS_EBUSY;
	if (!can_ask(m, wait))
		return KUSTOS_EDISCONNECTED;
	begin(m, wait, KU_MUSTER_ENTERING);
	return KUSTOS_OK;
}

static enum kustos_err start_leave(struct ku_wait *wait)
{
	struct ku_muster *m = muster_of(wait);

	((struct ku_muster_call *)wait)->heard = true;
	if (m->state != KU_MUSTER_IN)
		return m->state == KU_MUSTER_OUT ? KUSTOS_ENOTHELD
						 : KUSTOS_EBUSY;
	bool inside = is_inside(m);
	if (!inside || !can_ask(m, wait)) {
		step_out(m);
		return inside ? KUSTOS_EDISCONNECTED : KUSTOS_ELOST;
	}
	begin(m, wait, KU_MUSTER_LEAVING);
	return KUSTOS_OK;
}

/* Once all are in, a deadline or a cancel comes too late: the others are being
   told. */
static void give_up(struct ku_wait *wait, enum kustos_err why)
{
	struct ku_muster *m = muster_of(wait);
	bool late = m->telling &&
		(why == KUSTOS_ETIMEDOUT || why == KUSTOS_ECANCELED ||
			why == KUSTOS_EDISCONNECTED);

	ku_muster_finish(m, late ? KUSTOS_OK : why);
}

/* The connection was lost: end a call that does not want to wait for one. */
static void away(struct ku_witness *witness)
{
	struct ku_muster *m = KU_OWNER(struct ku_muster, away, witness);

	give_up(&m->call->wait, KUSTOS_EDISCONNECTED);
}

static void tell_program(struct ku_wait *wait)
{
	struct ku_muster_call *call = (struct ku_muster_call *)wait;

	call->done(call->arg, wait->err);
	free(call);
}

/* A member that leaves is out, whatever keeps it from waiting for the
   others. */
static void leave_alone(struct ku_muster *m)
{
	ku_lock(m->client);
	if (m->state == KU_MUSTER_IN && m->client->closing == KU_OPEN)
		step_out(m);
	ku_unlock(m->client);
}

static enum kustos_err ask(struct ku_muster *m,
	const struct ku_wait_calls *calls, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_muster_fn *done, void *arg)
{
	struct ku_muster_call *call = calloc(1, sizeof(*call));
	enum kustos_err err = KUSTOS_ENOMEM;

	if (call != NULL) {
		call->wait.client = m->client;
		call->wait.calls = calls;
		call->muster = m;
		call->done = done;
		call->arg = arg;
		err = done != NULL
			? ku_wait_async(&call->wait, deadline, cancel)
			: ku_wait_block(&call->wait, deadline, cancel);
	}
	if (err != KUSTOS_OK && calls->start == start_leave &&
		(call == NULL || !call->heard))
		leave_alone(m);
	if (done == NULL || err != KUSTOS_OK)
		free(call);
	return err;
}

enum kustos_err ku_muster_enter(struct ku_muster *m, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_muster_fn *done, void *arg)
{
	static const struct ku_wait_calls calls = { .start = start_enter,
		.give_up = give_up,
		.tell = tell_program };

	return ask(m, &calls, deadline, cancel, done, arg);
}

enum kustos_err ku_muster_leave(struct ku_muster *m, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_muster_fn *done, void *arg)
{
	static const struct ku_wait_calls calls = { .start = start_leave,
		.give_up = give_up,
		.tell = tell_program };

	return ask(m, &calls, deadline, cancel, done, arg);
}

bool ku_muster_inside(struct ku_muster *m)
{
	ku_lock(m->client);
	bool inside = is_inside(m);
	ku_unlock(m->client);
	return inside;
}

static enum kustos_err init(struct ku_muster *m, const char *path,
	const struct ku_payload_wish *wish)
{
	enum kustos_err err = ku_payload_init(&m->payload, m->client, wish);

	if (err != KUSTOS_OK)
		return err;
	m->path = ku_path_join(m->client->config.prefix, path);
	if (m->path != NULL)
		m->ready_path = ku_path_child(m->path, "ready");
	return m->ready_path != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
}

enum kustos_err ku_muster_create(struct kustos_client *client, const char *path,
	int count, const struct ku_payload_wish *wish, struct ku_muster **out)
{
	if (!ku_path_valid(path, false) || count < 1)
		return KUSTOS_EINVAL;
	struct ku_muster *m = calloc(1, sizeof(*m));
	if (m == NULL)
		return KUSTOS_ENOMEM;
	m->client = client;
	m->count = count;
	m->refs = 1;
	m->away.away = away;
	ku_muster_init_look(m);
	ku_muster_init_guard(m);
	enum kustos_err err = init(m, path, wish);
	if (err == KUSTOS_OK) {
		*out = m;
		return KUSTOS_OK;
	}
	ku_lock(client);
	ku_muster_put(m);
	ku_unlock(client);
	return err;
}

void ku_muster_destroy(struct ku_muster *m)
{
	if (m == NULL)
		return;
	struct kustos_client *client = m->client;
	ku_lock(client);
	if (m->call != NULL)
		ku_muster_finish(m, KUSTOS_ECLOSED);
	m->state = KU_MUSTER_OUT;
	ku_muster_undo(m);
	ku_muster_put(m);
	ku_unlock(client);
}
