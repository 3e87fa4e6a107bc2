/*
 * client.c - the client library: connecting, heartbeats, and what it tells
 * its user when the connection breaks.
 */
#include "handle.h"

#include <stdlib.h>
#include <string.h>

static int index_of(const struct ku_zk *zk)
{
	return zk->machine->index;
}

static int64_t timeout_ns(const struct ku_zk *zk)
{
	return zk->timeout_ms * KU_NS_PER_MS;
}

/* Timer: ping after 1/3 of the timeout in which nothing was sent.  After 2/3 of
   it in which nothing was received, the connection is dead. */

static void timer_due(void *arg, uint64_t tag)
{
	struct ku_zk *zk = arg;
	int64_t now = zk->m->sched->now_ns;

	if (tag != zk->timer ||
		(zk->state != HANDLE_TRYING && zk->state != HANDLE_CONNECTED))
		return;
	if (now >= zk->last_recv + timeout_ns(zk) * 2 / 3) {
		client_break(zk, KU_ZK_OPERATIONTIMEOUT);
		return;
	}
	if (zk->state == HANDLE_CONNECTED && zk->sent == 0 &&
		now >= zk->last_send + timeout_ns(zk) / 3) {
		zk->last_send = now;
		conn_up(zk->conn, msg_new(zk->m, MSG_PING), 0);
	}
	handle_start_timer(zk);
}

/* After a pause the thread of the real library may check for a timeout before
   it reads what has arrived meanwhile. */
static void look_at_time(void *arg, uint64_t tag)
{
	struct model_client *client = arg;
	struct ku_zk *zk = client->newest;

	(void)tag;
	if (zk != NULL && zk->state == HANDLE_CONNECTED &&
		zk->m->sched->now_ns >= zk->last_recv + timeout_ns(zk) * 2 / 3)
		client_break(zk, KU_ZK_OPERATIONTIMEOUT);
}

void model_look_at_time(struct model *m, int client, int64_t at_ns)
{
	sched_add(m->sched, client, at_ns, look_at_time, &m->clients[client],
		0);
}

void handle_start_timer(struct ku_zk *zk)
{
	struct sched *sched = zk->m->sched;
	int64_t dead = zk->last_recv + timeout_ns(zk) * 2 / 3;
	int64_t ping = zk->last_send + timeout_ns(zk) / 3;
	int64_t at = dead;

	if (zk->state == HANDLE_CONNECTED && ping < dead)
		at = ping > sched->now_ns ? ping
					  : sched->now_ns + timeout_ns(zk) / 3;
	if (at > dead)
		at = dead;
	sched_add(sched, index_of(zk), at, timer_due, zk, ++zk->timer);
}

/* Connecting */

static void refused(void *arg, uint64_t tag)
{
	struct ku_zk *zk = arg;

	if (tag == zk->generation && zk->state == HANDLE_TRYING)
		client_break(zk, KU_ZK_CONNECTIONLOSS);
}

static void try_now(void *arg, uint64_t tag)
{
	struct ku_zk *zk = arg;
	struct model *m = zk->m;
	int server = zk->servers[zk->cursor];
	struct msg *msg;

	if (tag != zk->generation || zk->state != HANDLE_IDLE)
		return;
	zk->state = HANDLE_TRYING;
	zk->steered = false;
	zk->last_recv = m->sched->now_ns;
	zk->last_send = m->sched->now_ns;
	handle_start_timer(zk);
	model_note(m, NOTE_CONNECT, index_of(zk), "connect", NULL, server);
	if (server < 0 || !server_serving(&m->servers[server])) {
		sched_add(m->sched, index_of(zk),
			m->sched->now_ns +
				sim_random_between(&m->net, KU_NS_PER_MS,
					3 * KU_NS_PER_MS),
			refused, zk, zk->generation);
		return;
	}
	zk->conn = conn_new(zk, index_of(zk), &m->servers[server]);
	msg = msg_new(m, MSG_CONNECT);
	msg->session = zk->session;
	msg->timeout_ms = zk->timeout_ms;
	msg->zxid = zk->last_zxid;
	conn_up(zk->conn, msg, 2 * model_latency(m));
}

void handle_try(struct ku_zk *zk, int64_t pause_ns)
{
	zk->state = HANDLE_IDLE;
	zk->generation++;
	sched_add(zk->m->sched, index_of(zk), zk->m->sched->now_ns + pause_ns,
		try_now, zk, zk->generation);
}

/* The first round visits each address.  Later the library advances by two, and
   pauses only when it passes the end of its list (L3). */
static int64_t advance(struct ku_zk *zk)
{
	int step = ++zk->attempts <= zk->server_count ? 1 : 2;
	int64_t pause = 0;

	zk->cursor += step;
	if (zk->cursor >= zk->server_count) {
		zk->cursor %= zk->server_count;
		pause = timeout_ns(zk) / 60;
	}
	return pause;
}

/* Give the connection up; what was sent on it still arrives. */
void handle_abandon(struct ku_zk *zk)
{
	struct conn *conn = zk->conn;

	if (conn == NULL)
		return;
	zk->conn = NULL;
	conn->zk = NULL;
	if (conn->server_open)
		conn_up(conn, msg_new(zk->m, MSG_EOF), 0);
	conn_unref(conn);
}

void client_break(struct ku_zk *zk, int rc)
{
	model_note(zk->m, NOTE_BREAK, index_of(zk), "break", NULL, rc);
	if (zk->state == HANDLE_CONNECTED)
		deliver_state(zk, KU_ZK_STATE_CONNECTING);
	handle_abandon(zk);
	deliver_failures(zk, rc);
	handle_try(zk, advance(zk));
}

static void end(struct ku_zk *zk, enum handle_state state, int rc)
{
	zk->state = state;
	zk->generation++;
	deliver_state(zk,
		state == HANDLE_EXPIRED ? KU_ZK_STATE_EXPIRED
					: KU_ZK_STATE_AUTH_FAILED);
	handle_abandon(zk);
	deliver_failures(zk, rc);
}

/* Watches */

static void send_watches(struct ku_zk *zk)
{
	struct msg *msg;
	struct watch *watch;
	int n = 0;

	if (zk->watching == NULL)
		return;
	msg = msg_new(zk->m, MSG_SETWATCHES);
	msg->items = sim_calloc(zk->watches.count, sizeof(*msg->items));
	for (watch = zk->watching; watch != NULL; watch = watch->next) {
		msg->items[n].path = blob_ref(watch->path);
		msg->items[n++].kinds = watch->kinds;
		msg->size += 4 + (size_t)watch->path->len;
	}
	msg->item_count = n;
	msg->zxid = zk->last_zxid;
	conn_up(zk->conn, msg, 0);
}

static void keep_watch(struct ku_zk *zk, const struct op *op)
{
	struct watch *found;
	int kind = op->kind == KU_ZK_CHILDREN ? WATCH_CHILD : WATCH_DATA;

	if (op->kind == KU_ZK_UNWATCH && op->rc == KU_ZK_OK) {
		found = watch_find(&zk->watches, zk, op->path);
		kind = op->unwatch & WATCH_DATA ? op->unwatch | WATCH_EXIST
						: op->unwatch;
		if (found != NULL)
			watch_drop(&zk->watches, found, kind);
		return;
	}
	if (!op->watch)
		return;
	if (op->rc == KU_ZK_NONODE && op->kind == KU_ZK_EXISTS)
		kind = WATCH_EXIST;
	else if (op->rc != KU_ZK_OK)
		return;
	watch_add(&zk->watches, &zk->watching, zk, op->path, kind);
}

static struct msg *copy_event(struct model *m, const struct msg *msg)
{
	struct msg *copy = msg_new(m, MSG_EVENT);

	copy->op.path = blob_ref(msg->op.path);
	copy->event = msg->event;
	copy->state = msg->state;
	return copy;
}

static void receive_event(struct ku_zk *zk, struct msg *msg)
{
	struct watch *found = watch_find(&zk->watches, zk, msg->op.path);
	int kinds = WATCH_DATA | WATCH_EXIST;

	if (msg->event == KU_ZK_EVENT_CHILDREN)
		kinds = WATCH_CHILD;
	if (msg->event == KU_ZK_EVENT_DELETED)
		kinds |= WATCH_CHILD;
	if (found == NULL || (found->kinds & kinds) == 0) {
		msg_free(zk->m, msg);
		return;
	}
	if (zk->m->bugs & MODEL_BUG_WATCH_TWICE)
		deliver(zk, copy_event(zk->m, msg));
	watch_drop(&zk->watches, found, kinds);
	deliver(zk, msg);
}

/* What arrives */

static void send_waiting(struct ku_zk *zk)
{
	struct call *call;

	for (call = zk->calls; call != NULL; call = call->next) {
		conn_up(zk->conn, call->unsent, 0);
		call->unsent = NULL;
		zk->sent++;
	}
}

void handle_send_auth(struct ku_zk *zk, struct blob *scheme)
{
	struct msg *msg = msg_new(zk->m, MSG_AUTH);

	msg->op.path = blob_ref(scheme);
	conn_up(zk->conn, msg, 0);
}

static void receive_connect(struct ku_zk *zk, struct msg *msg)
{
	struct handle_auth *auth;

	if (msg->session == 0) {
		end(zk, HANDLE_EXPIRED, KU_ZK_SESSIONEXPIRED);
		return;
	}
	zk->session = msg->session;
	zk->timeout_ms = msg->timeout_ms;
	zk->state = HANDLE_CONNECTED;
	zk->last_send = zk->m->sched->now_ns;
	model_note(zk->m, NOTE_CONNECTED, index_of(zk), "connected", NULL,
		zk->conn->server->id);
	deliver_state(zk, KU_ZK_STATE_CONNECTED);
	for (auth = zk->auth; auth != NULL; auth = auth->next)
		handle_send_auth(zk, auth->scheme);
	send_watches(zk);
	send_waiting(zk);
	handle_start_timer(zk);
}

static void receive_reply(struct ku_zk *zk, struct msg *msg)
{
	if (call_take(zk, msg->call) == NULL) {
		model_broken(zk->m, "client", "a reply without a request");
		msg_free(zk->m, msg);
		return;
	}
	if (msg->zxid > zk->last_zxid)
		zk->last_zxid = msg->zxid;
	keep_watch(zk, &msg->op);
	deliver(zk, msg);
}

static void receive(struct ku_zk *zk, struct msg *msg)
{
	if (msg->kind != MSG_EOF)
		zk->last_recv = zk->m->sched->now_ns;
	switch (msg->kind) {
	case MSG_REQUEST:
		receive_reply(zk, msg);
		return;
	case MSG_EVENT:
		receive_event(zk, msg);
		return;
	case MSG_CONNECT:
		receive_connect(zk, msg);
		break;
	case MSG_EOF:
		client_break(zk, KU_ZK_CONNECTIONLOSS);
		break;
	case MSG_AUTH:
		if (msg->op.rc != KU_ZK_OK)
			end(zk, HANDLE_AUTH_FAILED, KU_ZK_AUTHFAILED);
		break;
	default:
		break;
	}
	msg_free(zk->m, msg);
}

void client_arrive(void *arg, uint64_t tag)
{
	struct msg *msg = arg;
	struct conn *conn = msg->conn;
	struct ku_zk *zk = conn->zk;

	(void)tag;
	if (zk == NULL)
		msg_free(conn->server->model, msg);
	else
		receive(zk, msg);
	conn_unref(conn);
}
