/* session.c - open, follow and end one session after the other. */

#include "client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Timeouts without a connection before a handle counts as stuck. */
#define WATCHDOG_TIMEOUTS 2
/* The longest pause between handles: each costs the ensemble a session. */
#define REOPEN_MAX_MS 5000
static const struct kustos_retry reopening = KU_RETRY_EXPONENTIAL(50,
	REOPEN_MAX_MS);

/* After a reconnect the reads of a fleet are spread over this part of the
   timeout, and over this time at the most. */
#define SPREAD_PART 10
#define SPREAD_MAX_MS 1000

static int64_t timeout_ns(const struct ku_session *session)
{
	return session->timeout_ms * KU_NS_PER_MS;
}

const char *kustos_state_name(enum kustos_state state)
{
	static const char *const names[] = { "CONNECTING", "CONNECTED",
		"SUSPENDED", "LOST", "CLOSED" };

	if ((unsigned)state >= sizeof(names) / sizeof(names[0]))
		return "UNKNOWN";
	return names[state];
}

/* Announce a new state, which the session has already entered. */
static void enter(struct kustos_client *client, enum kustos_state state)
{
	struct ku_session *session = &client->session;

	switch (state) {
	case KUSTOS_STATE_CONNECTED:
		ku_timer_unset(&client->timers, &session->watchdog);
		ku_set_timer(client, &session->lease_timer,
			ku_lease_end(&session->lease));
		ku_retry_start(&session->reopen_retry, &reopening,
			ku_now(client));
		ku_watch_tidy(client);
		ku_ops_connected(client);
		ku_wire_pump(client);
		ku_lines_connected(client);
		ku_observers_connected(client);
		break;
	case KUSTOS_STATE_LOST:
		session->lost_epoch = session->epoch;
		session->lost_id = session->id;
		client->counters.losses++;
		ku_ops_suspended(client); /* if SUSPENDED was skipped */
		ku_lines_lost(client);
		ku_waits_away(client);
		ku_witnesses_tell(client, KU_WITNESS_LOST);
		break;
	case KUSTOS_STATE_SUSPENDED:
		ku_ops_suspended(client);
		ku_lines_suspended(client);
		ku_waits_away(client);
		ku_witnesses_tell(client, KU_WITNESS_AWAY);
		break;
	default:
		break;
	}
}

static bool is_sure(const struct ku_session *session)
{
	return session->state == KUSTOS_STATE_CONNECTED ||
		session->state == KUSTOS_STATE_SUSPENDED;
}

/* The state or the lease has changed: publish it for unlocked readers. */
static void publish(struct ku_session *session)
{
	atomic_store_explicit(&session->sure_ns,
		is_sure(session) ? ku_lease_end(&session->lease) : 0,
		memory_order_release);
}

#define TO(state) (1U << KUSTOS_STATE_##state)

/* Where each state may lead. */
static const unsigned legal[] = {
	[KUSTOS_STATE_CONNECTING] = TO(CONNECTED) | TO(CLOSED),
	[KUSTOS_STATE_CONNECTED] = TO(SUSPENDED) | TO(LOST) | TO(CLOSED),
	[KUSTOS_STATE_SUSPENDED] = TO(CONNECTED) | TO(LOST) | TO(CLOSED),
	[KUSTOS_STATE_LOST] = TO(CONNECTING) | TO(CONNECTED) | TO(CLOSED),
	[KUSTOS_STATE_CLOSED] = 0,
};

/* Return whether the lease has run out, and if so declare LOST.  But not while
   another state is being announced: those that had not heard of that state yet
   would never hear of the loss. */
static bool check_lease(struct kustos_client *client)
{
	const struct ku_session *session = &client->session;

	if (!is_sure(session) ||
		ku_lease_left(&session->lease, ku_now(client)) > 0)
		return false;
	if (session->rounds == 0)
		ku_session_set_state(client, KUSTOS_STATE_LOST);
	return true;
}

void ku_session_set_state(struct kustos_client *client, enum kustos_state state)
{
	struct ku_session *session = &client->session;
	enum kustos_state from = session->state;

	if (from == state)
		return;
	if ((legal[from] & (1U << state)) == 0) {
		ku_log(client, KUSTOS_LOG_ERROR, "%s cannot follow %s",
			kustos_state_name(state), kustos_state_name(from));
		return;
	}
	if (state == KUSTOS_STATE_CONNECTED && from != KUSTOS_STATE_SUSPENDED)
		session->epoch++;
	session->state = state;
	publish(session);
	ku_log(client, KUSTOS_LOG_INFO,
		"%s -> %s, session 0x%" PRIx64 ", epoch %" PRId64 ", %s",
		kustos_state_name(from), kustos_state_name(state), session->id,
		session->epoch, session->server);
	pthread_cond_broadcast(&client->state_changed);
	ku_listeners_notify(client);
	session->rounds++;
	enter(client, state);
	session->rounds--;
	(void)check_lease(client);
}

enum kustos_state ku_session_state(struct kustos_client *client)
{
	return check_lease(client) ? KUSTOS_STATE_LOST : client->session.state;
}

bool ku_session_ready(const struct kustos_client *client)
{
	const struct ku_session *session = &client->session;

	return session->linked && session->state == KUSTOS_STATE_CONNECTED;
}

bool ku_session_exists(const struct kustos_client *client)
{
	const struct ku_session *session = &client->session;
	bool first = session->handles == 0 ||
		(session->handles == 1 && session->handle != NULL);

	return session->id != 0 || (first && client->config.resume.id != 0);
}

int64_t ku_session_spread_ms(struct kustos_client *client)
{
	int64_t most = client->session.timeout_ms / SPREAD_PART;

	if (most > SPREAD_MAX_MS)
		most = SPREAD_MAX_MS;
	return (int64_t)ku_random_below(&client->random, (uint64_t)most + 1);
}

void ku_session_answered(struct kustos_client *client, int64_t sent_ns,
	bool leader)
{
	struct ku_session *session = &client->session;
	int64_t now = ku_now(client);

	/* After a pause of the process the answer may come before our timer: a
	   lease that ran out must be noticed before the answer extends it. */
	(void)check_lease(client);
	session->heard_ns = now;
	ku_lease_answered(&session->lease, sent_ns, now, leader);
	publish(session);
	ku_risks_prolonged(client);
	if (session->greeted && session->state != KUSTOS_STATE_CONNECTED &&
		ku_lease_left(&session->lease, now) > 0)
		ku_session_set_state(client, KUSTOS_STATE_CONNECTED);
}

void ku_session_not_before(struct kustos_client *client, int64_t at_ns)
{
	if (!client->session.linked)
		client->session.not_before_ns = at_ns;
}

void ku_session_link_down(struct kustos_client *client)
{
	struct ku_session *session = &client->session;

	if (!session->linked)
		return;
	session->linked = false;
	session->greeted = false;
	client->counters.disconnects++;
	ku_set_timer(client, &session->watchdog,
		ku_now(client) + WATCHDOG_TIMEOUTS * timeout_ns(session));
	(void)check_lease(client);
	if (session->state == KUSTOS_STATE_CONNECTED)
		ku_session_set_state(client, KUSTOS_STATE_SUSPENDED);
	ku_wake(client); /* another server may be better */
}

static void authenticate(struct kustos_client *client)
{
	struct ku_handle *handle = client->session.handle;
	const char *digest = client->config.digest;

	if (digest == NULL || handle->authenticated)
		return;
	int rc = client->env.api->add_auth(handle->zk, "digest", digest,
		(int)strlen(digest));
	handle->authenticated = rc == KU_ZK_OK;
}

static void link_up(struct kustos_client *client)
{
	struct ku_session *session = &client->session;
	struct ku_zk_session now;

	/* Connected twice in a row: no event told that the old connection was
	   gone. */
	ku_session_link_down(client);
	client->env.api->session(session->handle->zk, &now);
	session->timeout_ms = now.timeout_ms;
	if (now.id != session->id) {
		session->id = now.id;
		session->left = false;
		ku_lease_start(&session->lease, now.timeout_ms,
			session->not_before_ns);
		client->counters.sessions++;
	} else {
		ku_lease_linked(&session->lease, now.timeout_ms,
			session->not_before_ns);
		publish(session);
		(void)check_lease(client);
		if (is_sure(session))
			ku_set_timer(client, &session->lease_timer,
				ku_lease_end(&session->lease));
	}
	/* Until here "server" is that of the old connection.  The library may
	   not have reported all writes yet that were lost with it. */
	if (ku_wire_owed(client))
		ku_shun_add(&session->shun, session->server, ku_now(client));
	memcpy(session->server, now.server, sizeof(session->server));
	ku_session_stay_away(client);
	session->linked = true;
	session->greeted = false;
	session->heard_ns = ku_now(client);
	ku_risks_look(client);
	session->connection++;
	authenticate(client);
	ku_beat_greet(client);
	ku_set_timer(client, &session->beat.timer, ku_now(client));
	ku_wake(client);
}

void ku_session_end(struct kustos_client *client, int rc)
{
	struct ku_session *session = &client->session;
	struct ku_handle *handle = session->handle;
	int64_t id = session->id;

	if (handle == NULL)
		return;
	if (is_sure(session))
		ku_session_set_state(client, KUSTOS_STATE_LOST);
	ku_push(client); /* what it was given is tried, as ever */
	session->handle = NULL;
	session->linked = false;
	session->greeted = false;
	session->id = 0;
	session->server[0] = '\0';
	session->shun.count = 0;
	ku_strays_forget(client);
	ku_timer_unset(&client->timers, &session->beat.timer);
	ku_timer_unset(&client->timers, &session->lease_timer);
	ku_timer_unset(&client->timers, &session->watchdog);
	handle->next = client->reap;
	client->reap = handle;
	ku_wire_fail_sent(handle, rc);
	pthread_cond_broadcast(&client->ops.ended);
	ku_watch_clear(client);
	ku_footprint_clear(&client->footprint);
	if (id != 0)
		ku_ops_session_over(client, id);
	ku_lines_session_over(client);
	ku_wake(client);
}

static void reopen(struct kustos_client *client)
{
	struct ku_session *session = &client->session;
	int64_t pause = ku_retry_next(&session->reopen_retry,
		KUSTOS_EDISCONNECTED, ku_now(client), &client->random);

	/* The policy gives up after so many tries; we go on. */
	if (pause < 0)
		pause = REOPEN_MAX_MS * KU_NS_PER_MS;
	ku_set_timer(client, &session->reopen, ku_now(client) + pause);
}

static void expired(struct kustos_client *client)
{
	ku_session_end(client, KU_ZK_SESSIONEXPIRED);
	reopen(client);
}

static void auth_failed(struct kustos_client *client)
{
	ku_log(client, KUSTOS_LOG_ERROR, "the server refused the credentials");
	client->session.auth_failed = true;
	client->session.left = ku_session_exists(client);
	ku_session_end(client, KU_ZK_AUTHFAILED);
	ku_waits_fail(client, KUSTOS_EAUTH);
	ku_ops_fail(client, KUSTOS_EAUTH);
	ku_observers_refused(client);
	ku_session_set_state(client, KUSTOS_STATE_CLOSED);
}

void ku_session_event(struct kustos_client *client, enum ku_zk_state state)
{
	client->session.beat.odd_polls = 0;
	switch (state) {
	case KU_ZK_STATE_CONNECTED:
		link_up(client);
		break;
	case KU_ZK_STATE_CONNECTING:
		ku_session_link_down(client);
		break;
	case KU_ZK_STATE_EXPIRED:
		expired(client);
		break;
	case KU_ZK_STATE_AUTH_FAILED:
		auth_failed(client);
		break;
	}
}

static void on_event(void *arg, enum ku_zk_event event, enum ku_zk_state state,
	const char *path)
{
	struct ku_handle *handle = arg;
	struct kustos_client *client = handle->client;

	if (handle != client->session.handle)
		return;
	if (event == KU_ZK_EVENT_SESSION) {
		ku_session_event(client, state);
	} else {
		if (event == KU_ZK_EVENT_DELETED)
			ku_footprint_remove(&client->footprint, path);
		ku_watch_event(client, event, path);
	}
}

static void lease_due(struct ku_timer *timer)
{
	struct kustos_client *client = KU_OWNER(struct kustos_client,
		session.lease_timer, timer);
	struct ku_session *session = &client->session;

	(void)check_lease(client);
	if (is_sure(session))
		ku_set_timer(client, timer, ku_lease_end(&session->lease));
}

static void watchdog(struct ku_timer *timer)
{
	struct kustos_client *client = KU_OWNER(struct kustos_client,
		session.watchdog, timer);

	ku_log(client, KUSTOS_LOG_WARNING,
		"no connection for too long: opening a new handle");
	if (ku_session_exists(client))
		client->session.left = true;
	ku_session_end(client, KU_ZK_CONNECTIONLOSS);
	reopen(client);
}

static void reopen_due(struct ku_timer *timer)
{
	ku_session_open(KU_OWNER(struct kustos_client, session.reopen, timer));
}

void ku_session_open(struct kustos_client *client)
{
	struct ku_session *session = &client->session;

	if (session->handle != NULL || client->closing >= KU_CLOSING ||
		session->state == KUSTOS_STATE_CLOSED)
		return;
	if (session->state == KUSTOS_STATE_LOST)
		ku_session_set_state(client, KUSTOS_STATE_CONNECTING);
	session->want_open = client->addresses == NULL;
	if (session->want_open) {
		ku_wake(client);
		return;
	}
	if (!ku_session_open_handle(client, on_event)) {
		ku_log(client, KUSTOS_LOG_ERROR, "cannot open a handle: %m");
		reopen(client);
		return;
	}
	session->timeout_ms = client->config.timeout_ms;
	session->beat.odd_polls = 0;
	int64_t now = ku_now(client);
	ku_set_timer(client, &session->beat.timer, now);
	ku_set_timer(client, &session->watchdog,
		now + WATCHDOG_TIMEOUTS * timeout_ns(session));
}

void ku_session_init(struct kustos_client *client)
{
	struct ku_session *session = &client->session;

	session->state = KUSTOS_STATE_CONNECTING;
	session->timeout_ms = client->config.timeout_ms;
	ku_beat_init(client);
	session->lease_timer.fn = lease_due;
	session->watchdog.fn = watchdog;
	session->reopen.fn = reopen_due;
	ku_retry_start(&session->reopen_retry, &reopening, ku_now(client));
	ku_session_open(client);
}

void ku_session_describe(struct kustos_client *client,
	struct kustos_session *out)
{
	const struct ku_session *session = &client->session;

	out->size = sizeof(*out);
	out->state = ku_session_state(client);
	out->epoch = session->epoch;
	out->session_id = session->id;
	out->timeout_ms = session->id != 0 ? session->timeout_ms : 0;
	memcpy(out->server, session->server, sizeof(out->server));
	if (!session->linked)
		out->server[0] = '\0';
}
