/*
 * sessions.c - the leader's sessions: when they expire, and what ends with
 * them.
 *
 * As in ZooKeeper, expiry is counted in whole ticks and rounded up.  A follower
 * tells the leader only every half tick which sessions it has heard from.
 */
#include "model_impl.h"

#include <stdlib.h>

struct session *session_find(struct model *m, int64_t id)
{
	struct session *session = m->sessions;

	while (session != NULL && session->id != id)
		session = session->next;
	return session;
}

void session_touch(struct model *m, struct session *session)
{
	int64_t tick = m->config.tick_ms * KU_NS_PER_MS;
	int64_t end = m->sched->now_ns + session->timeout_ms * KU_NS_PER_MS;

	session->expires_ns = (end / tick + 1) * tick;
}

struct session *session_new(struct model *m, int timeout_ms)
{
	struct session *session = sim_calloc(1, sizeof(*session));

	session->id = INT64_C(0x100000000000000) +
		(int64_t)(++m->session_count << 8);
	if (timeout_ms < m->config.min_timeout_ms)
		timeout_ms = m->config.min_timeout_ms;
	if (timeout_ms > m->config.max_timeout_ms)
		timeout_ms = m->config.max_timeout_ms;
	session->timeout_ms = timeout_ms;
	session->late_end = &session->late;
	session->next = m->sessions;
	session->link = &m->sessions;
	if (session->next != NULL)
		session->next->link = &session->next;
	m->sessions = session;
	session_touch(m, session);
	return session;
}

void session_end(struct model *m, struct session *session)
{
	struct conn *conn = session->conn;
	struct node *node;

	model_note(m, NOTE_SESSION_END, conn ? conn->client : -1, "end", NULL,
		session->id);
	txn_end_session(m, session);
	for (; (node = session->ephemerals) != NULL; node->list_link = NULL)
		session->ephemerals = node->list_next;
	late_free(m, session);
	*session->link = session->next;
	if (session->next != NULL)
		session->next->link = session->link;
	if (conn != NULL)
		conn->session = NULL;
	free(session);
}

void sessions_restart(struct model *m)
{
	struct session *session;

	for (session = m->sessions; session; session = session->next)
		session_touch(m, session);
}

static void expire(struct model *m)
{
	struct session *session;
	struct session *next;
	struct conn *conn;

	for (session = m->sessions; session != NULL; session = next) {
		next = session->next;
		if (session->expires_ns > m->sched->now_ns)
			continue;
		conn = session->conn;
		m->figures.expired++;
		session_end(m, session);
		if (conn != NULL)
			server_close(conn, true);
	}
}

/* Does a follower tell the leader now?  One that lags hears late from the
   leader, and would also be late to tell it.  The latter is optional, because
   no lease survives it. */
static bool tells(const struct mserver *server)
{
	const struct model *m = server->model;

	return !m->config.lag_holds_touches ||
		server->lag_until <= m->sched->now_ns;
}

void sessions_tell(struct mserver *server)
{
	struct conn *conn;

	for (conn = server->conns; conn; conn = conn->next) {
		if (conn->touched && conn->session != NULL)
			session_touch(server->model, conn->session);
		conn->touched = false;
	}
}

static void tell_leader(struct model *m)
{
	int i;

	for (i = 1; i < m->config.servers; i++) {
		if (tells(&m->servers[i]))
			sessions_tell(&m->servers[i]);
	}
}

static bool any_serving(const struct model *m)
{
	int i;

	for (i = 0; i < m->config.servers; i++) {
		if (server_serving(&m->servers[i]))
			return true;
	}
	return false;
}

static void half_tick(void *arg, uint64_t count)
{
	struct model *m = arg;

	if (any_serving(m)) {
		tell_leader(m);
		if (count % 2 == 0)
			expire(m);
	}
	sched_add(m->sched, SCHED_NOBODY,
		m->sched->now_ns + m->config.tick_ms * KU_NS_PER_MS / 2,
		half_tick, m, count + 1);
}

static void reap_containers(void *arg, uint64_t tag)
{
	struct model *m = arg;
	struct node *node;
	struct node *next;

	(void)tag;
	for (node = any_serving(m) ? m->containers : NULL; node; node = next) {
		next = node->list_next;
		if (node->created > 0 && node->child_count == 0)
			txn_delete(m, node->path->bytes);
	}
	sched_add(m->sched, SCHED_NOBODY,
		m->sched->now_ns + m->config.container_ms * KU_NS_PER_MS,
		reap_containers, m, 0);
}

/* Sessions expire at whole ticks since the beginning of time. */
void sessions_start_timers(struct model *m)
{
	int64_t tick = m->config.tick_ms * KU_NS_PER_MS;
	int64_t first = (m->sched->now_ns / tick + 1) * tick;

	sched_add(m->sched, SCHED_NOBODY, first, half_tick, m, 0);
	sched_add(m->sched, SCHED_NOBODY,
		m->sched->now_ns + m->config.container_ms * KU_NS_PER_MS,
		reap_containers, m, 0);
}
