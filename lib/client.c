/* client.c - open, ask, wait and close. */

#include "client.h"
#include "cancel.h"
#include "manager.h"
#include "resolve.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct ku_env ku_env_real = {
	.api = &ku_zk_library,
	.clock = { 0 }, /* ku_clock_real: set when a client is opened */
	.threads = true,
};

bool ku_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	if (pthread_condattr_init(&attr) != 0)
		return false;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	int rc = pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
	return rc == 0;
}

bool ku_cond_wait(struct kustos_client *client, pthread_cond_t *cond,
	kustos_deadline deadline)
{
	ku_push(client);
	if (client->callers > 0) /* else it is no call that waits */
		ku_drive_decline(client);
	if (deadline == KUSTOS_FOREVER) {
		pthread_cond_wait(cond, &client->mutex);
		return true;
	}
	struct timespec until = ku_timespec(deadline);
	return pthread_cond_timedwait(cond, &client->mutex, &until) == 0;
}

void ku_enter(struct kustos_client *client)
{
	client->callers++;
}

void ku_leave(struct kustos_client *client)
{
	client->callers--;
	if (client->closing != KU_OPEN)
		pthread_cond_broadcast(&client->state_changed);
}

void ku_begin(struct kustos_client *client)
{
	ku_lock(client);
	ku_enter(client);
}

void ku_end(struct kustos_client *client)
{
	ku_leave(client);
	ku_unlock(client);
}

void ku_wake(struct kustos_client *client)
{
	if (client->manager != NULL)
		ku_manager_wake(client->manager);
	else if (client->env.wake != NULL)
		client->env.wake(client->env.wake_arg);
}

void ku_set_timer(struct kustos_client *client, struct ku_timer *timer,
	int64_t at_ns)
{
	bool sooner = at_ns < ku_timers_next(&client->timers);

	ku_timer_set(&client->timers, timer, at_ns);
	if (sooner && client->manager != NULL)
		ku_manager_wake_by(client->manager, at_ns);
	else if (sooner)
		ku_wake(client);
}

void ku_run_timers(struct kustos_client *client)
{
	int64_t now = ku_now(client);
	struct ku_timer *timer;

	while ((timer = ku_timers_pop(&client->timers, now)) != NULL)
		timer->fn(timer);
}

void ku_client_free(struct kustos_client *client)
{
	bool *gone = client->gone;

	ku_listeners_free(client);
	ku_observers_free(client);
	ku_lines_free(client);
	ku_footprint_clear(&client->footprint);
	ku_wire_free(&client->wire);
	ku_dispatch_free(&client->dispatch);
	ku_wakers_free(&client->wakers);
	pthread_cond_destroy(&client->ops.ended);
	pthread_cond_destroy(&client->state_changed);
	pthread_mutex_destroy(&client->mutex);
	ku_fork_guard_free(&client->fork);
	ku_config_free(&client->config);
	free(client->addresses);
	free(client);
	if (gone != NULL)
		*gone = true;
}

/* What every client needs before it may be locked. */
static enum kustos_err init_parts(struct kustos_client *client)
{
	if (ku_dispatch_init(&client->dispatch, client->config.dispatch) !=
		KUSTOS_OK)
		return KUSTOS_ENOMEM;
	if (!ku_cond_init(&client->ops.ended))
		goto fail_ended;
	if (!ku_cond_init(&client->state_changed))
		goto fail_state;
	if (pthread_mutex_init(&client->mutex, NULL) == 0)
		return KUSTOS_OK;
	pthread_cond_destroy(&client->state_changed);
fail_state:
	pthread_cond_destroy(&client->ops.ended);
fail_ended:
	ku_dispatch_free(&client->dispatch);
	return KUSTOS_ENOMEM;
}

/* Without a manager no names are looked up, so all hosts must be numeric. */
static enum kustos_err numeric_addresses(struct kustos_client *client)
{
	struct ku_addresses addresses = { 0 };

	if (!ku_resolve_numeric(&client->config.hosts, &addresses))
		return KUSTOS_EINVAL;
	client->addresses = ku_addresses_join(&addresses, &client->random);
	ku_addresses_free(&addresses);
	return client->addresses != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
}

static enum kustos_err start(struct kustos_client *client)
{
	ku_fork_guard_init(&client->fork);
	if (client->env.seed != 0)
		ku_random_seed(&client->random, client->env.seed);
	else
		ku_random_init(&client->random);
	ku_wire_init(client);
	ku_lines_init(client);
	ku_close_init(client);
	enum kustos_err err = client->env.threads ? ku_manager_start(client)
						  : numeric_addresses(client);
	if (err != KUSTOS_OK)
		return err;
	ku_lock(client);
	ku_session_init(client);
	ku_unlock(client);
	return KUSTOS_OK;
}

enum kustos_err ku_client_open(const struct kustos_client_options *options,
	const struct ku_env *env, struct kustos_client **out)
{
	char why[128] = "";

	if (options == NULL || out == NULL)
		return KUSTOS_EINVAL;
	struct kustos_client *client = calloc(1, sizeof(*client));
	if (client == NULL)
		return KUSTOS_ENOMEM;
	client->env = *env;
	enum kustos_err err = ku_config_init(&client->config, options, why);
	if (err == KUSTOS_EINVAL)
		ku_log(client, KUSTOS_LOG_ERROR, "invalid option: %s", why);
	if (err == KUSTOS_OK)
		err = init_parts(client);
	if (err != KUSTOS_OK) {
		ku_config_free(&client->config);
		free(client);
		return err;
	}
	err = start(client);
	if (err != KUSTOS_OK) {
		ku_client_free(client);
		return err;
	}
	*out = client;
	return KUSTOS_OK;
}

enum kustos_err kustos_client_open(const struct kustos_client_options *options,
	struct kustos_client **out)
{
	struct ku_env env = ku_env_real;

	env.clock = ku_clock_real;
	return ku_client_open(options, &env, out);
}

/* A thread that waits for something other than an operation. */
struct waiter {
	struct ku_cancel_link link;
	struct kustos_client *client;
	pthread_cond_t *cond;
	bool canceled;
};

static void waiter_cancel(struct ku_cancel_link *link)
{
	struct waiter *w = KU_OWNER(struct waiter, link, link);

	ku_lock(w->client);
	w->canceled = true;
	pthread_cond_broadcast(w->cond);
	ku_unlock(w->client);
}

/* Serial numbers: those that the next operation, request, and leaving place
   will have. */
struct marks {
	uint64_t op, request, place;
};

/* Wait until "over" returns anything but KUSTOS_ETIMEDOUT. */
static enum kustos_err wait_until(struct kustos_client *client,
	pthread_cond_t *cond, kustos_deadline deadline,
	struct kustos_cancel *cancel,
	enum kustos_err (*over)(struct kustos_client *, const struct marks *),
	const struct marks *arg)
{
	struct waiter w = { .client = client, .cond = cond };
	enum kustos_err err;

	if (!ku_cancel_attach(cancel, &w.link, waiter_cancel))
		return ku_cancel_refusal(cancel);
	ku_begin(client);
	bool in_time = true;
	while ((err = over(client, arg)) == KUSTOS_ETIMEDOUT && in_time) {
		if (w.canceled) {
			err = KUSTOS_ECANCELED;
			break;
		}
		in_time = ku_cond_wait(client, cond, deadline);
	}
	ku_unlock(client);
	ku_cancel_detach(&w.link);
	ku_lock(client);
	ku_end(client);
	return err;
}

static enum kustos_err connected(struct kustos_client *client,
	const struct marks *unused)
{
	(void)unused;
	if (client->session.auth_failed)
		return KUSTOS_EAUTH;
	if (client->closing != KU_OPEN)
		return KUSTOS_ECLOSED;
	return ku_session_state(client) == KUSTOS_STATE_CONNECTED
		? KUSTOS_OK
		: KUSTOS_ETIMEDOUT;
}

enum kustos_err kustos_client_wait_connected(struct kustos_client *client,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	if (client == NULL)
		return KUSTOS_EINVAL;
	if (ku_forked(&client->fork))
		return KUSTOS_EFORKED;
	return wait_until(client, &client->state_changed, deadline, cancel,
		connected, NULL);
}

/* Have all that came before "marks" ended, or gone? */
static enum kustos_err flushed(struct kustos_client *client,
	const struct marks *marks)
{
	const struct ku_op *oldest = client->ops.oldest;

	if (client->session.auth_failed) /* the nodes stay for a while */
		return KUSTOS_EAUTH;
	if (client->closing != KU_OPEN)
		return KUSTOS_ECLOSED;
	if (oldest != NULL && oldest->serial < marks->op)
		return KUSTOS_ETIMEDOUT;
	if (ku_lines_oldest_leaving(&client->lines) < marks->place)
		return KUSTOS_ETIMEDOUT;
	return ku_wire_oldest(client) < marks->request ? KUSTOS_ETIMEDOUT
						       : KUSTOS_OK;
}

enum kustos_err kustos_client_flush(struct kustos_client *client,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	if (client == NULL)
		return KUSTOS_EINVAL;
	if (ku_forked(&client->fork))
		return KUSTOS_EFORKED;
	ku_lock(client);
	struct marks marks = { client->ops.started, client->wire.sent,
		client->lines.left };
	client->ops.flushing++;
	ku_enter(client);
	ku_unlock(client);
	enum kustos_err err = wait_until(client, &client->ops.ended, deadline,
		cancel, flushed, &marks);
	ku_lock(client);
	client->ops.flushing--;
	ku_end(client);
	return err;
}

enum kustos_state kustos_client_state(struct kustos_client *client)
{
	if (client == NULL || ku_forked(&client->fork))
		return KUSTOS_STATE_CLOSED;
	ku_lock(client);
	enum kustos_state state = ku_session_state(client);
	ku_unlock(client);
	return state;
}

int64_t kustos_client_lease_ms(struct kustos_client *client)
{
	int64_t left = 0;

	if (client == NULL || ku_forked(&client->fork))
		return 0;
	ku_lock(client);
	enum kustos_state state = ku_session_state(client);
	if (state == KUSTOS_STATE_CONNECTED || state == KUSTOS_STATE_SUSPENDED)
		left = ku_lease_left(&client->session.lease, ku_now(client));
	ku_unlock(client);
	return left / KU_NS_PER_MS;
}

enum kustos_err kustos_client_session(struct kustos_client *client,
	struct kustos_session *out)
{
	struct kustos_session all;

	if (client == NULL || out == NULL || out->size < sizeof(out->size))
		return KUSTOS_EINVAL;
	if (ku_forked(&client->fork))
		return KUSTOS_EFORKED;
	ku_lock(client);
	ku_session_describe(client, &all);
	ku_unlock(client);
	all.size = out->size < sizeof(all) ? out->size : sizeof(all);
	memcpy(out, &all, all.size);
	return KUSTOS_OK;
}

enum kustos_err kustos_client_ticket(struct kustos_client *client,
	struct kustos_ticket *out)
{
	enum kustos_err err = KUSTOS_EDISCONNECTED;
	struct ku_zk_session now;

	if (client == NULL || out == NULL)
		return KUSTOS_EINVAL;
	if (ku_forked(&client->fork))
		return KUSTOS_EFORKED;
	ku_lock(client);
	if (client->session.handle != NULL && client->session.id != 0) {
		client->env.api->session(client->session.handle->zk, &now);
		out->session_id = client->session.id;
		memcpy(out->password, now.password, sizeof(out->password));
		err = KUSTOS_OK;
	}
	ku_unlock(client);
	return err;
}

enum kustos_err kustos_client_stats(struct kustos_client *client,
	struct kustos_client_stats *out)
{
	struct kustos_client_stats all = KUSTOS_CLIENT_STATS_INIT;

	if (client == NULL || out == NULL || out->size < sizeof(out->size))
		return KUSTOS_EINVAL;
	if (ku_forked(&client->fork))
		return KUSTOS_EFORKED;
	ku_lock(client);
	const struct ku_counters *c = &client->counters;
	const struct ku_latency *latency = &c->latency;
	all.sent = client->wire.sent;
	all.answered = c->answered;
	all.failed = c->failed;
	all.retried = c->retried;
	all.sessions = c->sessions;
	all.disconnects = c->disconnects;
	all.losses = c->losses;
	all.moves = c->moves;
	all.pending = client->session.handle != NULL
		? client->session.handle->in_flight
		: 0;
	all.waiting = client->wire.waiting;
	if (latency->count > 0)
		all.latency_mean_us = latency->sum_us / latency->count;
	all.latency_p50_us = ku_latency_percentile(latency, 50);
	all.latency_p99_us = ku_latency_percentile(latency, 99);
	all.latency_max_us = latency->max_us;
	ku_unlock(client);
	all.size = out->size < sizeof(all) ? out->size : sizeof(all);
	memcpy(out, &all, all.size);
	return KUSTOS_OK;
}
