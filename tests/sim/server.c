/*
 * server.c - the servers: their answers to requests, and their watch events.
 *
 * The requests of one session are answered in order.  A write is decided by the
 * leader at once, and answered when the server that the client talks to has
 * applied it.  Until then the requests behind it wait.
 */
#include "model_impl.h"

#include <string.h>

static void serve(struct conn *conn, struct msg *msg);

bool server_serving(const struct mserver *server)
{
	const struct model *m = server->model;
	int up = 0;

	for (int i = 0; i < m->config.servers; i++)
		up += m->servers[i].up;
	return server->up && up > m->config.servers / 2;
}

/* Watches */

struct firing {
	struct model *m;
	const struct blob *path;
	enum ku_zk_event event;
};

static void send_event(struct model *m, struct conn *conn,
	const struct blob *path, enum ku_zk_event event)
{
	struct msg *msg = msg_new(m, MSG_EVENT);

	/* Paths have several owners here, and the caller's may be const. */
	msg->op.path = blob_ref((struct blob *)path);
	msg->event = event;
	msg->state = KU_ZK_STATE_CONNECTED;
	conn_down(conn, msg);
}

static void fire_one(void *arg, void *owner, int kinds)
{
	const struct firing *firing = arg;

	(void)kinds;
	send_event(firing->m, owner, firing->path, firing->event);
}

void server_fire(struct mserver *server, const struct blob *path, int kinds,
	enum ku_zk_event event)
{
	struct firing firing = { server->model, path, event };

	if (server->watches.count != 0)
		watch_fire(&server->watches, path, kinds, fire_one, &firing);
}

static void watch(struct conn *conn, struct blob *path, int kind)
{
	watch_add(&conn->server->watches, &conn->watching, conn, path, kind);
}

/* Set a watch again after a reconnect; or send its event, if the path has
   changed while its watcher was away. */
static void restore_watch(struct conn *conn, const struct watch_item *item,
	int kind, int64_t seen)
{
	struct mserver *server = conn->server;
	struct node *node = txn_find(server->tree, item->path);
	enum ku_zk_event event;
	int64_t changed;

	if (kind == WATCH_EXIST) {
		if (node == NULL)
			watch(conn, item->path, WATCH_DATA);
		else
			send_event(server->model, conn, item->path,
				KU_ZK_EVENT_CREATED);
		return;
	}
	event = kind == WATCH_DATA ? KU_ZK_EVENT_CHANGED : KU_ZK_EVENT_CHILDREN;
	changed = node == NULL	     ? 0
		: kind == WATCH_DATA ? node->mzxid
				     : node->pzxid;
	if (node == NULL)
		send_event(server->model, conn, item->path,
			KU_ZK_EVENT_DELETED);
	else if (changed > seen)
		send_event(server->model, conn, item->path, event);
	else
		watch(conn, item->path, kind);
}

static void serve_setwatches(struct conn *conn, struct msg *msg)
{
	static const int order[] = { WATCH_DATA, WATCH_EXIST, WATCH_CHILD };
	struct model *m = conn->server->model;
	int i;
	int k;

	if (m->bugs & MODEL_BUG_WATCH_LOST)
		return;
	if (sim_random_ppm(&m->odd, m->config.forget_ppm)) {
		model_note(m, NOTE_FAULT, conn->client, "forget", NULL, 0);
		return;
	}
	for (k = 0; k < 3; k++) {
		for (i = 0; i < msg->item_count; i++) {
			if (msg->items[i].kinds & order[k])
				restore_watch(conn, &msg->items[i], order[k],
					msg->zxid);
		}
	}
}

static int serve_unwatch(struct conn *conn, const struct op *op)
{
	struct watches *watches = &conn->server->watches;
	struct watch *found = watch_find(watches, conn, op->path);

	if (found == NULL || (found->kinds & op->unwatch) == 0)
		return KU_ZK_NOWATCHER;
	watch_drop(watches, found, op->unwatch);
	return KU_ZK_OK;
}

/* Requests */

static void serve_read(struct conn *conn, struct msg *msg)
{
	struct mserver *server = conn->server;
	struct op *op = &msg->op;
	struct node *node = txn_find(server->tree, op->path);

	if (op->kind == KU_ZK_UNWATCH) {
		op->rc = serve_unwatch(conn, op);
		return;
	}
	op->rc = node ? KU_ZK_OK : KU_ZK_NONODE;
	if (op->watch && (node != NULL || op->kind == KU_ZK_EXISTS))
		watch(conn, op->path,
			op->kind == KU_ZK_CHILDREN ? WATCH_CHILD : WATCH_DATA);
	if (node == NULL)
		return;
	node_stat(node, &op->stat);
	op->has_stat = true;
	if (op->kind == KU_ZK_GET)
		msg->data = blob_ref(node->data);
	if (op->kind == KU_ZK_CHILDREN)
		msg_names(msg, node,
			(unsigned)sim_random_next(&server->model->misc));
}

static void answer(struct conn *conn, struct msg *msg)
{
	struct model *m = conn->server->model;

	if (msg->kind == MSG_REQUEST) {
		m->figures.requests++;
		model_note(m, NOTE_SERVE, conn->client, "serve",
			msg->op.path ? msg->op.path->bytes : NULL, msg->op.rc);
	}
	msg->zxid = conn->server->zxid;
	conn_down(conn, msg);
}

/* Answer "msg" once the server has applied "zxid". */
static void answer_after(struct conn *conn, struct msg *msg, int64_t zxid)
{
	if (conn->server->zxid >= zxid) {
		answer(conn, msg);
		return;
	}
	conn->waiting = msg;
	conn->wait_zxid = zxid;
}

static void apply_due(void *arg, uint64_t tag);

/* A sync goes to the leader and back, even if nothing has changed. */
static void serve_sync(struct conn *conn, struct msg *msg)
{
	struct mserver *server = conn->server;
	struct model *m = server->model;

	if (!m->config.lag_holds_touches ||
		server->lag_until <= m->sched->now_ns) {
		answer_after(conn, msg, m->zxid);
		return;
	}
	conn->waiting = msg;
	conn->wait_zxid = m->zxid;
	if (!server->applying) {
		server->applying = true;
		sched_add(m->sched, SCHED_NOBODY, server->lag_until, apply_due,
			server, 0);
	}
}

static bool is_throttled(struct model *m)
{
	return m->config.throttle_ppm != 0 &&
		sim_random_ppm(&m->throttle, m->config.throttle_ppm);
}

static void serve_request(struct conn *conn, struct msg *msg)
{
	struct model *m = conn->server->model;
	struct op *op = &msg->op;

	if (is_throttled(m)) {
		op->rc = KU_ZK_THROTTLEDOP;
		answer(conn, msg);
		return;
	}
	if (late_keeps(conn, msg))
		return;
	switch (op->kind) {
	case KU_ZK_CREATE:
	case KU_ZK_DELETE:
	case KU_ZK_SET:
		answer_after(conn, msg,
			txn_run(m, conn->session->id, conn->authed, op, 1));
		break;
	case KU_ZK_MULTI:
		answer_after(conn, msg,
			txn_run(m, conn->session->id, conn->authed, msg->ops,
				msg->op_count));
		for (int i = 0; i < msg->op_count && op->rc == 0; i++)
			op->rc = msg->ops[i].rc;
		break;
	case KU_ZK_SYNC:
		serve_sync(conn, msg);
		break;
	default:
		serve_read(conn, msg);
		answer(conn, msg);
	}
}

static void attach(struct conn *conn, struct session *session)
{
	struct conn *old = session->conn;

	session->conn = conn;
	conn->session = session;
	if (old != NULL) {
		late_add(old);
		old->session = NULL;
		server_close(old, true);
	}
}

/* A session's first request on a connection.  A server that has seen less than
   the client closes the connection. */
static void serve_connect(struct conn *conn, struct msg *msg)
{
	struct model *m = conn->server->model;
	struct session *session = NULL;
	int64_t zxid = conn->server->zxid;

	if (msg->zxid > zxid) {
		msg_free(m, msg);
		server_close(conn, true);
		return;
	}
	if (msg->session != 0) {
		session = session_find(m, msg->session);
	} else {
		session = session_new(m, msg->timeout_ms);
		zxid = txn_empty(m);
		model_note(m, NOTE_SESSION_NEW, conn->client, "new", NULL,
			session->id);
	}
	msg->session = session ? session->id : 0;
	if (session != NULL) {
		msg->timeout_ms = session->timeout_ms;
		session_touch(m, session);
		if (late_is_silent(conn, msg))
			return;
		attach(conn, session);
		late_do(conn);
	}
	answer_after(conn, msg, zxid);
	if (session != NULL && m->config.relapse_ppm != 0 &&
		sim_random_ppm(&m->odd, m->config.relapse_ppm))
		conn_relapse(conn);
}

static void serve_auth(struct conn *conn, struct msg *msg)
{
	if (strcmp(msg->op.path->bytes, "digest") == 0) {
		conn->authed = true;
		msg->op.rc = KU_ZK_OK;
		answer(conn, msg);
		return;
	}
	msg->op.rc = strcmp(msg->op.path->bytes, "ip") == 0 ||
			strcmp(msg->op.path->bytes, "world") == 0
		? KU_ZK_OK
		: KU_ZK_AUTHFAILED;
	answer(conn, msg);
	if (msg->op.rc != KU_ZK_OK)
		server_close(conn, true);
}

static void serve(struct conn *conn, struct msg *msg)
{
	struct model *m = conn->server->model;

	if (msg->kind == MSG_CONNECT) {
		serve_connect(conn, msg);
	} else if (conn->session == NULL || msg->size > MODEL_FRAME_MAX) {
		msg_free(m, msg);
		server_close(conn, true);
	} else if (msg->kind == MSG_REQUEST) {
		serve_request(conn, msg);
	} else if (msg->kind == MSG_SETWATCHES) {
		serve_setwatches(conn, msg);
		answer(conn, msg);
	} else if (msg->kind == MSG_CLOSE) {
		session_end(m, conn->session);
		msg_free(m, msg);
		server_close(conn, true);
	} else if (msg->kind == MSG_AUTH) {
		serve_auth(conn, msg);
	} else {
		answer(conn, msg);
	}
}

static void hear(struct conn *conn)
{
	if (conn->session == NULL)
		return;
	if (conn->server->id == 0)
		session_touch(conn->server->model, conn->session);
	else
		conn->touched = true;
}

void server_arrive(void *arg, uint64_t tag)
{
	struct msg *msg = arg;
	struct conn *conn = msg->conn;

	(void)tag;
	if (!conn->server_open) {
		msg_free(conn->server->model, msg);
	} else if (msg->kind == MSG_EOF) {
		msg_free(conn->server->model, msg);
		server_close(conn, false);
	} else {
		hear(conn);
		if (conn->waiting != NULL) {
			msg->next = NULL;
			*conn->queue_end = msg;
			conn->queue_end = &msg->next;
		} else {
			serve(conn, msg);
		}
	}
	conn_unref(conn);
}

/* Close the server's end.  With "tell", the client will see it closed. */
void server_close(struct conn *conn, bool tell)
{
	struct mserver *server = conn->server;
	struct model *m = server->model;
	struct msg *msg;

	if (!conn->server_open)
		return;
	conn->server_open = false;
	*conn->link = conn->next;
	if (conn->next != NULL)
		conn->next->link = conn->link;
	while (conn->watching != NULL)
		watch_drop(&server->watches, conn->watching, ~0);
	late_add(conn);
	if (conn->session != NULL)
		conn->session->conn = NULL;
	conn->session = NULL;
	if (conn->waiting != NULL)
		msg_free(m, conn->waiting);
	conn->waiting = NULL;
	while ((msg = conn->queue) != NULL) {
		conn->queue = msg->next;
		msg_free(m, msg);
	}
	if (tell)
		conn_down(conn, msg_new(m, MSG_EOF));
	conn_unref(conn);
}

void server_close_all(struct mserver *server)
{
	while (server->conns != NULL)
		server_close(server->conns, true);
}

/* Applying what the leader committed */

static void go_on(struct conn *conn)
{
	struct msg *msg = conn->waiting;

	conn->refs++;
	conn->waiting = NULL;
	answer(conn, msg);
	while (conn->queue != NULL && conn->waiting == NULL) {
		msg = conn->queue;
		conn->queue = msg->next;
		if (conn->queue == NULL)
			conn->queue_end = &conn->queue;
		serve(conn, msg);
	}
	conn_unref(conn);
}

static void wake(struct mserver *server)
{
	struct conn *conn = server->conns;

	/* A connection that goes on may close any other, so begin again. */
	while (conn != NULL) {
		if (conn->waiting != NULL && conn->wait_zxid <= server->zxid) {
			go_on(conn);
			conn = server->conns;
		} else {
			conn = conn->next;
		}
	}
}

void server_apply(struct mserver *server)
{
	struct model *m = server->model;
	struct txn *txn;

	while ((txn = server->pending) != NULL) {
		server->pending = txn->next;
		txn_apply(server, txn);
		txn_unref(m, txn);
	}
	wake(server);
}

static void apply_due(void *arg, uint64_t tag)
{
	struct mserver *server = arg;

	(void)tag;
	if (server->lag_until > server->model->sched->now_ns) {
		sched_add(server->model->sched, SCHED_NOBODY, server->lag_until,
			apply_due, server, 0);
		return;
	}
	server->applying = false;
	if (!server->up)
		return;
	/* The leader's pings were delayed as well, and arrive before its
	   delayed answers.  So tell the leader of the sessions at once. */
	if (server->model->config.lag_holds_touches)
		sessions_tell(server);
	server_apply(server);
}

void server_commit(struct model *m, struct txn *txn)
{
	struct mserver *server;
	int i;

	if (m->last != NULL) {
		m->last->next = txn;
		txn_unref(m, m->last);
	}
	m->last = txn;
	txn->refs++;
	txn_apply(&m->servers[0], txn);
	for (i = 1; i < m->config.servers; i++) {
		server = &m->servers[i];
		txn->refs++;
		if (server->pending == NULL)
			server->pending = txn;
		if (server->applying)
			continue;
		server->applying = true;
		sched_add(m->sched, SCHED_NOBODY,
			m->sched->now_ns +
				sim_random_between(&m->net,
					m->config.latency_min_ns,
					m->config.replicate_max_ns),
			apply_due, server, 0);
	}
}
