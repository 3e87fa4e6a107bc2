/*
 * late.c - writes that are held on the way from a follower to the leader, and
 * are done only when their session has been at another server and comes back.
 *
 * While the session is elsewhere the leader would refuse these writes.  But
 * when the session comes back to this follower, the leader notes its new place
 * before it handles the writes that were held.  So they count as the session's
 * again, and are done before anything that it asks for on the new connection.
 *
 * The server may also not answer when the session comes straight back.  It has
 * asked the leader for the session all the same, behind those writes.  So they
 * are done, and the session is this server's again, wherever it is by then.  The
 * leader closes its connection; another follower does so at the next write, which
 * the leader refuses.  This happens to creations under a GUID only: a client has
 * no defence in other cases.
 *
 * The writes of a process that has died since are dropped instead: a process
 * that resumes its session does not know to which server the dead one was
 * connected.
 */
#include "model_impl.h"

#include <string.h>

/* The connection breaks within BREAK_NS.  There are BREAKS breaks in all, and
   each of the others comes within AGAIN_NS. */
#define BREAK_NS (8 * KU_NS_PER_MS)
#define BREAKS 4
#define AGAIN_NS (200 * KU_NS_PER_MS)
/* When a server has the session back that it did not answer. */
#define BACK_NS (1000 * KU_NS_PER_MS)
/* When to look again whether the session is anywhere. */
#define NOWHERE_NS (20 * KU_NS_PER_MS)

static bool is_write(const struct msg *msg)
{
	return msg->kind == MSG_REQUEST &&
		(msg->op.kind == KU_ZK_CREATE || msg->op.kind == KU_ZK_DELETE ||
			msg->op.kind == KU_ZK_SET ||
			msg->op.kind == KU_ZK_MULTI);
}

static void break_due(void *arg, uint64_t client)
{
	model_cut(arg, (int)client, true);
}

static void break_later(struct model *m, int client, int64_t within_ns)
{
	sched_add(m->sched, SCHED_NOBODY,
		m->sched->now_ns +
			sim_random_between(&m->odd, KU_NS_PER_MS, within_ns),
		break_due, m, (uint64_t)client);
}

bool late_keeps(struct conn *conn, struct msg *msg)
{
	struct model *m = conn->server->model;

	if (conn->moved && is_write(msg)) {
		msg_free(m, msg);
		server_close(conn, true);
		return true;
	}
	if (m->config.late_ppm == 0 || conn->server->id == 0 ||
		!is_write(msg) || !sim_random_ppm(&m->odd, m->config.late_ppm))
		return false;
	model_note(m, NOTE_FAULT, conn->client, "keep back",
		msg->op.path ? msg->op.path->bytes : NULL, conn->server->id);
	break_later(m, conn->client, BREAK_NS);
	for (int i = 1; i < BREAKS; i++)
		break_later(m, conn->client, AGAIN_NS);
	conn->waiting = msg;
	conn->wait_zxid = INT64_MAX;
	return true;
}

static void append(struct conn *conn, struct msg *msg)
{
	msg->server = conn->server->id;
	msg->from = conn->from;
	msg->next = NULL;
	*conn->session->late_end = msg;
	conn->session->late_end = &msg->next;
}

void late_add(struct conn *conn)
{
	struct model *m = conn->server->model;
	struct msg *msg;

	if (conn->waiting == NULL || conn->wait_zxid != INT64_MAX ||
		conn->session == NULL || !conn->server->up)
		return;
	append(conn, conn->waiting);
	conn->waiting = NULL;
	while ((msg = conn->queue) != NULL) {
		conn->queue = msg->next;
		if (is_write(msg))
			append(conn, msg);
		else
			msg_free(m, msg);
	}
	conn->queue_end = &conn->queue;
}

/* Take the writes that "server" holds, or any server (-1), out of the list. */
static struct msg *take(struct session *session, int server)
{
	struct msg **at = &session->late;
	struct msg *taken = NULL, **end = &taken;

	while (*at != NULL) {
		if (server >= 0 && (*at)->server != server) {
			at = &(*at)->next;
			continue;
		}
		*end = *at;
		*at = (*at)->next;
		end = &(*end)->next;
		*end = NULL;
	}
	session->late_end = at;
	return taken;
}

static void free_taken(struct model *m, struct msg *msg)
{
	while (msg != NULL) {
		struct msg *next = msg->next;

		msg_free(m, msg);
		msg = next;
	}
}

/* Do what "server" holds of the session that "conn" has now. */
static void do_held(struct conn *conn, int server)
{
	struct model *m = conn->server->model;
	struct msg *taken = take(conn->session, server);

	for (struct msg *msg = taken; msg != NULL; msg = msg->next) {
		bool many = msg->op.kind == KU_ZK_MULTI;

		if (msg->from != conn->from)
			continue;
		m->figures.late++;
		(void)txn_run(m, conn->session->id, conn->authed,
			many ? msg->ops : &msg->op, many ? msg->op_count : 1);
		model_note(m, NOTE_FAULT, conn->client, "late",
			msg->op.path ? msg->op.path->bytes : NULL, msg->op.rc);
	}
	free_taken(m, taken);
}

void late_do(struct conn *conn)
{
	do_held(conn, conn->server->id);
}

static bool holds(const struct session *session, int server)
{
	const struct msg *msg = session->late;

	while (msg != NULL && msg->server != server)
		msg = msg->next;
	return msg != NULL;
}

/* "tag" is the session and the server. */
static void back_due(void *arg, uint64_t tag)
{
	struct model *m = arg;
	int server = (int)(tag & 0xff);
	struct session *session = session_find(m,
		(int64_t)(tag & ~UINT64_C(0xff)));

	if (session == NULL || !holds(session, server))
		return;
	struct conn *conn = session->conn;
	if (conn == NULL) {
		sched_add(m->sched, SCHED_NOBODY, m->sched->now_ns + NOWHERE_NS,
			back_due, m, tag);
		return;
	}
	uint64_t before = m->figures.late;
	do_held(conn, server);
	m->figures.back += m->figures.late - before;
	conn->moved = conn->server->id != server;
	if (conn->server->id == 0)
		server_close(conn, true);
}

static bool is_under_guid(const struct msg *msg)
{
	return msg->op.kind == KU_ZK_CREATE &&
		strstr(msg->op.path->bytes, "/_c_") != NULL;
}

bool late_is_silent(struct conn *conn, struct msg *connect)
{
	struct model *m = conn->server->model;
	struct session *session = session_find(m, connect->session);
	int server = conn->server->id;

	for (const struct msg *msg = session->late; msg; msg = msg->next)
		if (msg->server == server && !is_under_guid(msg))
			return false;
	if (m->config.late_ppm == 0 || !holds(session, server) ||
		sim_random_below(&m->odd, 2) == 0)
		return false;
	model_note(m, NOTE_FAULT, conn->client, "no answer", NULL, server);
	break_later(m, conn->client, BREAK_NS);
	sched_add(m->sched, SCHED_NOBODY,
		m->sched->now_ns +
			sim_random_between(&m->odd, BREAK_NS, BACK_NS),
		back_due, m, (uint64_t)session->id | (unsigned)server);
	msg_free(m, connect);
	return true;
}

void late_drop(struct model *m, int server)
{
	for (struct session *s = m->sessions; s != NULL; s = s->next)
		free_taken(m, take(s, server));
}

void late_free(struct model *m, struct session *session)
{
	free_taken(m, take(session, -1));
}
