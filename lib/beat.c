/* beat.c - ask the server, and look at the handle. */

#include "client.h"

/* Parts of the session timeout.  A silent server is noticed and left after at
   most 1/8 (until the heartbeat goes out) + 1/8 (until steer.c decides); if no
   other is better, the state turns SUSPENDED 1/6 after the heartbeat. */
#define BEAT_PART 8
#define SILENCE_PART 6
/* The beat while there is a connection, but no lease that allows CONNECTED. */
#define QUICK_PART 32

static int64_t part_ns(const struct ku_session *session, int part)
{
	return session->timeout_ms * KU_NS_PER_MS / part;
}

static void ping(struct kustos_client *client, struct ku_request *request,
	enum ku_zk_kind kind, ku_request_fn *done)
{
	if (ku_request_busy(request))
		return;
	request->what = (struct ku_zk_request){ .kind = kind,
		.path = "/",
		.version = -1 };
	request->owner = client;
	request->done = done;
	request->internal = true;
	(void)ku_wire_send_now(client, request);
}

static void heartbeat_done(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct kustos_client *client = request->owner;

	if (reply->rc != KU_ZK_OK)
		return;
	ku_watch_insist(client);
	ku_strays_mind(client);
}

void ku_beat_now(struct kustos_client *client)
{
	ping(client, &client->session.beat.heartbeat, KU_ZK_SYNC,
		heartbeat_done);
}

static void greeting_done(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct kustos_client *client = request->owner;
	struct ku_session *session = &client->session;

	if (!session->linked || request->connection != session->connection)
		return;
	/* A read-only or throttling server has answered without a sync: reads
	   might be old.  The next look greets it again. */
	if (reply->rc != KU_ZK_OK)
		return;
	session->greeted = true;
	ku_shun_drop(&session->shun, session->server);
	/* Without a lease beat_due() sends heartbeats until there is one. */
	if (ku_lease_left(&session->lease, ku_now(client)) > 0)
		ku_session_set_state(client, KUSTOS_STATE_CONNECTED);
	ku_strays_look(client);
}

void ku_beat_greet(struct kustos_client *client)
{
	ping(client, &client->session.beat.greeting, KU_ZK_SYNC, greeting_done);
}

/* Nobody waits for its answer. */
static void nudge_done(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	(void)request;
	(void)reply;
}

void ku_beat_nudge(struct kustos_client *client)
{
	struct ku_session *session = &client->session;
	struct ku_request *nudge = &session->beat.nudge;

	ku_session_link_down(client);
	if (session->handle == NULL)
		return;
	/* The nudge of an earlier steering may still wait in the library, whose
	   thread only a new request wakes. */
	ku_wire_forget(nudge);
	ping(client, nudge, KU_ZK_EXISTS, nudge_done);
}

int64_t ku_beat_silent_since(const struct kustos_client *client)
{
	const struct ku_session *session = &client->session;
	int64_t since = session->linked ? ku_wire_oldest_ns(session->handle)
					: 0;

	if (since != 0 && since < session->heard_ns)
		return session->heard_ns;
	return since;
}

/* Events may be lost, or be out of date before they are seen.  So the handle's
   own state is polled, too.  A difference counts when it is seen twice, since
   an event may be on its way. */
static void poll_handle(struct kustos_client *client)
{
	struct ku_session *session = &client->session;
	struct ku_zk_session now;

	client->env.api->session(session->handle->zk, &now);
	bool agrees = session->linked
		? now.state == KU_ZK_STATE_CONNECTED && now.id == session->id
		: now.state == KU_ZK_STATE_CONNECTING;
	if (agrees) {
		session->beat.odd_polls = 0;
		return;
	}
	if (++session->beat.odd_polls < 2)
		return;
	ku_log(client, KUSTOS_LOG_WARNING,
		"the handle changed without an event");
	ku_session_event(client, now.state);
}

/* Poll the handle, send what is due, and suspend a session whose server is
   silent. */
static void beat_due(struct ku_timer *timer)
{
	struct kustos_client *client = KU_OWNER(struct kustos_client,
		session.beat.timer, timer);
	struct ku_session *session = &client->session;
	int64_t step = part_ns(session,
		session->state == KUSTOS_STATE_CONNECTED ? BEAT_PART
							 : QUICK_PART);

	poll_handle(client);
	if (session->handle == NULL)
		return;
	int64_t now = ku_now(client);
	int64_t next = now + step;
	if (session->linked && !session->greeted)
		ku_beat_greet(client);
	if (session->greeted && !ku_request_busy(&session->beat.heartbeat)) {
		if (session->lease.leader_ns + step <= now)
			ku_beat_now(client);
		else
			next = session->lease.leader_ns + step;
	}
	int64_t since = ku_beat_silent_since(client);
	if (since != 0 && session->state == KUSTOS_STATE_CONNECTED) {
		int64_t silent = since + part_ns(session, SILENCE_PART);
		if (silent <= now)
			ku_session_set_state(client, KUSTOS_STATE_SUSPENDED);
		else if (silent < next)
			next = silent;
	}
	ku_set_timer(client, timer, next);
}

void ku_beat_init(struct kustos_client *client)
{
	client->session.beat.timer.fn = beat_due;
}
