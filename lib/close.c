/*
 * close.c - how a client ends.
 *
 *   OPEN --close()--> DRAINING --all answered, or the budget is spent-->
 *   CLOSING --handles are closed--> CLOSED --callbacks have run--> freed
 *
 * The thread that runs the client's timers takes these steps, so that close()
 * may be called from anywhere.  The ZooKeeper library forgets requests when it
 * is closed; ours are in our own table, and end here.
 */

#include "client.h"
#include "manager.h"

#include <stdlib.h>

/* How long a close goes on past its budget while it is connected, so that even
   a close without a budget can know what it reports. */
#define GRACE_MS 50

static bool is_overdue(struct kustos_client *client)
{
	int64_t late = ku_monotonic(&client->env.clock) - client->close_budget;

	return late >= 0 &&
		(!ku_session_ready(client) || late >= GRACE_MS * KU_NS_PER_MS);
}

/* Set the timer for the end of the budget, and after that for the end of the
   grace.  It is set again if it goes off early: the machine may have slept,
   which the monotonic clock does not count. */
static void set_close_timer(struct kustos_client *client)
{
	const struct ku_clock *clock = &client->env.clock;
	kustos_deadline at = client->close_budget;

	if (ku_monotonic(clock) >= at)
		at = ku_time_add(at, GRACE_MS * KU_NS_PER_MS);
	ku_set_timer(client, &client->close_timer, ku_deadline_boot(clock, at));
}

static void budget_spent(struct ku_timer *timer)
{
	struct kustos_client *client = KU_OWNER(struct kustos_client,
		close_timer, timer);

	/* If it is overdue, the step that follows sees it. */
	if (!is_overdue(client))
		set_close_timer(client);
}

void ku_close_init(struct kustos_client *client)
{
	client->close_timer.fn = budget_spent;
}

/* May the session be ended now? */
static bool drained(struct kustos_client *client)
{
	const struct ku_session *session = &client->session;
	bool idle = client->ops.oldest == NULL && client->wire.waiting == 0;

	if (is_overdue(client) || session->state == KUSTOS_STATE_CLOSED)
		return true;
	if (!ku_session_exists(client) ||
		(session->id == 0 && session->handle == NULL))
		return idle; /* nobody to tell, or no address to tell it */
	return ku_session_ready(client) && idle && client->unsettled == 0 &&
		session->handle->in_flight == 0;
}

static void end_session(struct kustos_client *client)
{
	struct ku_session *session = &client->session;
	bool silent = session->linked &&
		(!ku_session_ready(client) ||
			ku_request_busy(&session->beat.heartbeat));

	/* A server that does not answer may not hear of the end: then the
	   session stays for up to its timeout. */
	bool told = ku_session_exists(client)
		? ku_session_ready(client) && !silent
		: !session->left;
	client->linger_ms = told ? 0 : session->timeout_ms;
	/* The library would wait for an answer that does not come. */
	if (silent && session->handle != NULL)
		(void)client->env.api->kick(session->handle->zk);
	client->closing = KU_CLOSING;
	ku_session_set_state(client, KUSTOS_STATE_CLOSED);
	ku_session_end(client, KU_ZK_CLOSING);
	ku_witnesses_tell(client, KU_WITNESS_CLOSING);
	ku_timer_unset(&client->timers, &session->reopen);
	ku_timer_unset(&client->timers, &client->close_timer);
}

bool ku_close_step(struct kustos_client *client)
{
	ku_lock(client);
	if (client->closing == KU_DRAINING && drained(client))
		end_session(client);
	bool closing = client->closing == KU_CLOSING;
	ku_unlock(client);
	if (!closing)
		return true;
	ku_session_reap(client);
	ku_lock(client);
	ku_wire_end_refused(client);
	ku_ops_fail(client, KUSTOS_ECLOSED);
	pthread_cond_broadcast(&client->ops.ended);
	while (client->callers > 0)
		ku_cond_wait(client, &client->state_changed, KUSTOS_FOREVER);
	ku_unlock(client);
	ku_dispatch_stop(client);
	ku_lock(client);
	client->closing = KU_CLOSED;
	pthread_cond_broadcast(&client->state_changed);
	if (client->self_free) /* perhaps kustos_client_dispatch() frees it */
		ku_dispatch_beckon(client);
	ku_unlock(client);
	return false;
}

/* Refuse new calls, and let what is under way come to its end. */
static void start_close(struct kustos_client *client, kustos_deadline budget)
{
	client->closing = KU_DRAINING;
	int64_t now = ku_monotonic(&client->env.clock);
	client->close_budget = budget > now ? budget : now;
	if (budget != KUSTOS_FOREVER)
		set_close_timer(client);
	ku_waits_fail(client, KUSTOS_ECLOSED);
	ku_lines_close(client);
	ku_witnesses_tell(client, KU_WITNESS_CLOSING);
	ku_ops_close(client);
	/* Its answer proves that the server will hear of the end. */
	if (ku_session_ready(client))
		ku_beat_now(client);
	pthread_cond_broadcast(&client->state_changed);
	pthread_cond_broadcast(&client->ops.ended);
	ku_wake(client);
}

/* In a child the threads are gone, and the locks may be held for ever. */
static enum kustos_err free_forked(struct kustos_client *client)
{
	ku_config_free(&client->config);
	ku_fork_guard_free(&client->fork);
	free(client->addresses);
	free(client);
	return KUSTOS_EFORKED;
}

/* The close has come to its end: run what is left, and free. */
static enum kustos_err finish(struct kustos_client *client, int64_t *linger_ms)
{
	enum kustos_err err = client->linger_ms == 0 ? KUSTOS_OK
						     : KUSTOS_ELINGERING;

	if (linger_ms != NULL)
		*linger_ms = client->linger_ms;
	ku_manager_join(client);
	ku_dispatch_run(client);
	ku_client_free(client);
	return err;
}

static void wait_closed(struct kustos_client *client)
{
	ku_lock(client);
	while (client->closing != KU_CLOSED)
		ku_cond_wait(client, &client->state_changed, KUSTOS_FOREVER);
	ku_unlock(client);
}

enum kustos_err kustos_client_close(struct kustos_client *client,
	kustos_deadline budget, int64_t *linger_ms)
{
	if (linger_ms != NULL)
		*linger_ms = 0;
	if (client == NULL)
		return KUSTOS_OK;
	if (ku_forked(&client->fork))
		return free_forked(client);
	ku_lock(client);
	client->self_free = ku_dispatch_inside(client);
	bool inside = client->self_free;
	start_close(client, budget);
	ku_unlock(client);
	if (inside)
		return KUSTOS_OK;
	wait_closed(client);
	return finish(client, linger_ms);
}

int kustos_client_fd(struct kustos_client *client)
{
	if (client == NULL || ku_forked(&client->fork))
		return -1;
	return client->dispatch.fd;
}

int kustos_client_dispatch(struct kustos_client *client)
{
	if (client == NULL || client->dispatch.mode != KUSTOS_DISPATCH_FD ||
		ku_forked(&client->fork))
		return 0;
	ku_begin(client);
	ku_unlock(client);
	int ran = ku_dispatch_run(client);
	ku_lock(client);
	ku_leave(client);
	bool last = client->self_free && !client->dispatch.run;
	ku_unlock(client);
	if (last) {
		wait_closed(client);
		(void)finish(client, NULL);
	}
	return ran;
}

void ku_client_close_start(struct kustos_client *client, kustos_deadline budget,
	bool *gone)
{
	ku_lock(client);
	client->gone = gone;
	start_close(client, budget);
	ku_unlock(client);
}

int64_t ku_client_step(struct kustos_client *client)
{
	ku_lock(client);
	ku_run_timers(client);
	ku_unlock(client);
	ku_session_reap(client);
	if (client->config.dispatch == KUSTOS_DISPATCH_THREAD)
		ku_dispatch_run(client);
	if (!ku_close_step(client)) {
		ku_client_free(client);
		return INT64_MAX;
	}
	ku_lock(client);
	int64_t next = ku_timers_next(&client->timers);
	ku_unlock(client);
	return next;
}
