/* fault.c - what can be done to the model from outside. */
#include "handle.h"

#include <string.h>

/* A connection that relapses breaks within this time: some round trips. */
#define RELAPSE_NS (8 * KU_NS_PER_MS)

void model_cut(struct model *m, int client, bool lost)
{
	struct ku_zk *zk = m->clients[client].newest;
	struct conn *conn = zk ? zk->conn : NULL;

	if (conn == NULL)
		return;
	model_note(m, NOTE_FAULT, client, lost ? "cut" : "reset", NULL, 0);
	if (lost || m->sched->lanes[client].paused) {
		server_close(conn, true);
	} else {
		/* What was sent still arrives; no reply comes back. */
		client_break(zk, KU_ZK_CONNECTIONLOSS);
	}
}

static void relapse_due(void *arg, uint64_t tag)
{
	struct model *m = arg;

	/* While a run drains there are no faults. */
	if (m->config.relapse_ppm != 0)
		model_cut(m, (int)(tag >> 1), (tag & 1) != 0);
}

void conn_relapse(struct conn *conn)
{
	struct model *m = conn->server->model;
	int64_t within = RELAPSE_NS >> sim_random_below(&m->odd, 4);

	sched_add(m->sched, SCHED_NOBODY,
		m->sched->now_ns + sim_random_between(&m->odd, 0, within),
		relapse_due, m,
		(uint64_t)conn->client << 1 | sim_random_below(&m->odd, 2));
}

void model_hole(struct model *m, int client, int server, int64_t until_ns)
{
	model_note(m, NOTE_FAULT, client, "hole", NULL, server);
	if (m->clients[client].hole_until[server] < until_ns)
		m->clients[client].hole_until[server] = until_ns;
}

bool model_expire(struct model *m, int client)
{
	struct ku_zk *zk = m->clients[client].newest;
	struct session *session = zk && zk->session
		? session_find(m, zk->session)
		: NULL;
	struct conn *conn;

	if (session == NULL)
		return false;
	model_note(m, NOTE_FAULT, client, "expire", NULL, session->id);
	conn = session->conn;
	m->figures.expired++;
	session_end(m, session);
	if (conn != NULL)
		server_close(conn, true);
	return true;
}

static struct node *find(struct model *m, const char *path)
{
	int len = (int)strlen(path);

	return tree_find(&m->tree, path, len, path_hash(path, len));
}

bool model_delete(struct model *m, const char *path)
{
	struct node *node = find(m, path);

	if (node == NULL)
		return false;
	model_note(m, NOTE_FAULT, -1, "delete", path, node->child_count);
	while (node->child_count > 0)
		(void)model_delete(m, node->children[0]->path->bytes);
	txn_delete(m, node->path->bytes);
	return true;
}

/* Walk down from "prefix"; the random number decides where to stop. */
const char *model_choose(struct model *m, const char *prefix, uint64_t random)
{
	struct node *node = find(m, prefix);
	struct sim_random r = { random };

	if (node == NULL || node->child_count == 0)
		return NULL;
	do {
		node = node->children[sim_random_below(&r,
			(uint64_t)node->child_count)];
	} while (node->child_count > 0 && sim_random_below(&r, 4) != 0);
	return node->path->bytes;
}

static bool quorum(const struct model *m)
{
	int up = 0;
	int i;

	for (i = 0; i < m->config.servers; i++)
		up += m->servers[i].up;
	return up > m->config.servers / 2;
}

void model_server_stop(struct model *m, int server)
{
	int i;

	if (!m->servers[server].up)
		return;
	model_note(m, NOTE_FAULT, -1, "stop server", NULL, server);
	m->servers[server].up = false;
	late_drop(m, server);
	server_close_all(&m->servers[server]);
	/* Without a leader or a quorum the others drop their clients.  A new
	   leader gives each session its full timeout again. */
	if (server != 0 && quorum(m))
		return;
	for (i = 0; i < m->config.servers; i++)
		server_close_all(&m->servers[i]);
	late_drop(m, -1);
	sessions_restart(m);
}

void model_server_start(struct model *m, int server)
{
	bool before = quorum(m);

	if (m->servers[server].up)
		return;
	model_note(m, NOTE_FAULT, -1, "start server", NULL, server);
	m->servers[server].up = true;
	server_apply(&m->servers[server]);
	if (!before && quorum(m))
		sessions_restart(m);
}

void model_lag(struct model *m, int server, int64_t until_ns)
{
	if (server < 1 || server >= m->config.servers ||
		server >= MODEL_SERVERS_MAX)
		return;
	model_note(m, NOTE_FAULT, -1, "lag", NULL, server);
	m->servers[server].lag_until = until_ns;
}

void model_forget_watches(struct model *m, int server)
{
	struct mserver *s = &m->servers[server];
	struct conn *conn;

	model_note(m, NOTE_FAULT, -1, "forget watches", NULL, server);
	for (conn = s->conns; conn != NULL; conn = conn->next) {
		while (conn->watching != NULL)
			watch_drop(&s->watches, conn->watching, ~0);
	}
}

void model_heal(struct model *m)
{
	int i;

	model_set_reply_faults(m, 0, 0);
	model_set_throttle(m, 0);
	model_set_odd_faults(m, 0, 0);
	model_set_relapse(m, 0);
	model_set_late(m, 0);
	for (i = 0; i < m->config.clients; i++) {
		memset(m->clients[i].hole_until, 0,
			sizeof(m->clients[i].hole_until));
		sched_resume(m->sched, i);
	}
	for (i = 0; i < m->config.servers; i++) {
		m->servers[i].lag_until = 0;
		model_server_start(m, i);
		server_apply(&m->servers[i]);
	}
}
