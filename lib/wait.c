/* wait.c - two fronts of a wait: a thread, and a callback. */

#include "client.h"

/* Each takes itself off. */
static void fail_all(struct ku_wait **list, enum kustos_err why)
{
	while (*list != NULL)
		(*list)->calls->give_up(*list, why);
}

void ku_waits_fail(struct kustos_client *client, enum kustos_err why)
{
	fail_all(&client->waits, why);
	fail_all(&client->connected_waits, why);
}

void ku_waits_away(struct kustos_client *client)
{
	fail_all(&client->connected_waits, KUSTOS_EDISCONNECTED);
}

static bool needs_connection(const struct ku_wait *wait)
{
	return wait->once && wait->calls->connected;
}

static struct ku_wait **list_of(const struct ku_wait *wait)
{
	return needs_connection(wait) ? &wait->client->connected_waits
				      : &wait->client->waits;
}

void ku_wait_end(struct ku_wait *wait, enum kustos_err err)
{
	struct kustos_client *client = wait->client;

	if (wait->over)
		return;
	wait->over = true;
	wait->err = err;
	if (!wait->started)
		return; /* start() ends it */
	if (!wait->unlisted)
		KU_LIST_REMOVE(*list_of(wait), wait);
	if (wait->waker != NULL) {
		ku_waker_wake(client, wait->waker);
		return;
	}
	ku_timer_unset(&client->timers, &wait->deadline);
	ku_dispatch_push(client, &wait->call, KU_ORDINARY);
}

static void cancel_fired(struct ku_cancel_link *link)
{
	struct ku_wait *wait = KU_OWNER(struct ku_wait, cancel, link);

	ku_lock(wait->client);
	wait->canceled = true;
	if (wait->started && !wait->over)
		wait->calls->give_up(wait, KUSTOS_ECANCELED);
	ku_unlock(wait->client);
}

static void set_deadline(struct ku_wait *wait)
{
	struct kustos_client *client = wait->client;

	ku_set_timer(client, &wait->deadline,
		ku_deadline_boot(&client->env.clock, wait->until));
}

static void deadline_passed(struct ku_timer *timer)
{
	struct ku_wait *wait = KU_OWNER(struct ku_wait, deadline, timer);

	/* The machine may have slept, which its monotonic clock has not
	   seen. */
	if (ku_monotonic(&wait->client->env.clock) < wait->until)
		set_deadline(wait);
	else
		wait->calls->give_up(wait, KUSTOS_ETIMEDOUT);
}

/* Begin; if it has ended by then, "wait->over" says so. */
static enum kustos_err start(struct ku_wait *wait)
{
	struct kustos_client *client = wait->client;

	if (client->closing != KU_OPEN)
		return KUSTOS_ECLOSED;
	if (client->session.auth_failed)
		return KUSTOS_EAUTH;
	if (wait->canceled)
		return KUSTOS_ECANCELED;
	if (needs_connection(wait) && !ku_session_ready(client))
		return KUSTOS_EDISCONNECTED;
	enum kustos_err err = wait->calls->start(wait);
	if (err != KUSTOS_OK)
		return err;
	wait->started = true;
	if (!wait->unlisted)
		KU_LIST_PUSH(*list_of(wait), wait);
	if (wait->over) {
		wait->over = false;
		ku_wait_end(wait, wait->err);
	}
	return KUSTOS_OK;
}

/* Wait for news, and return whether there is time left. */
static bool await(struct ku_wait *wait, kustos_deadline until)
{
	struct kustos_client *client = wait->client;

	if (ku_drive(wait, until))
		return ku_monotonic(&client->env.clock) < until;
	return ku_cond_wait(client, &wait->waker->cond, until);
}

enum kustos_err ku_wait_stay(struct ku_wait *wait, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	struct kustos_client *client = wait->client;
	kustos_deadline until = deadline == KUSTOS_NOW ? KUSTOS_FOREVER
						       : deadline;

	wait->once = deadline == KUSTOS_NOW;
	if (!client->env.threads)
		return KUSTOS_EINVAL;
	if (!ku_cancel_attach(cancel, &wait->cancel, cancel_fired))
		return ku_cancel_refusal(cancel);
	ku_begin(client);
	wait->waker = ku_waker_take(client);
	enum kustos_err err = wait->waker != NULL ? start(wait) : KUSTOS_ENOMEM;
	while (err == KUSTOS_OK && !wait->over)
		if (!await(wait, until) && !wait->over)
			wait->calls->give_up(wait, KUSTOS_ETIMEDOUT);
	if (err == KUSTOS_OK)
		err = wait->err;
	if (wait->waker == NULL) /* else ku_wait_leave() does this */
		ku_leave(client);
	ku_unlock(client);
	ku_cancel_detach(&wait->cancel);
	return err;
}

void ku_wait_leave(struct ku_wait *wait)
{
	if (wait->waker == NULL)
		return;
	ku_waker_put(wait->client, wait->waker);
	ku_leave(wait->client);
}

enum kustos_err ku_wait_block(struct ku_wait *wait, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	enum kustos_err err = ku_wait_stay(wait, deadline, cancel);

	ku_lock(wait->client);
	ku_wait_leave(wait);
	ku_unlock(wait->client);
	return err;
}

void ku_wait_tell(struct kustos_client *client, struct ku_call *call)
{
	struct ku_wait *wait = KU_OWNER(struct ku_wait, call, call);

	ku_unlock(client);
	ku_cancel_detach(&wait->cancel);
	wait->calls->tell(wait);
	ku_lock(client);
}

enum kustos_err ku_wait_async(struct ku_wait *wait, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	struct kustos_client *client = wait->client;

	wait->once = deadline == KUSTOS_NOW;
	if (!ku_cancel_attach(cancel, &wait->cancel, cancel_fired))
		return ku_cancel_refusal(cancel);
	if (wait->call.fn == NULL)
		wait->call.fn = ku_wait_tell;
	wait->deadline.fn = deadline_passed;
	wait->until = deadline;
	ku_lock(client);
	enum kustos_err err = start(wait);
	if (err == KUSTOS_OK && !wait->over && !wait->once &&
		deadline != KUSTOS_FOREVER)
		set_deadline(wait);
	ku_drive_decline(client);
	ku_unlock(client);
	if (err != KUSTOS_OK)
		ku_cancel_detach(&wait->cancel);
	return err;
}
