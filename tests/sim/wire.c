/*
 * wire.c - connections: what is sent on one arrives in order, some time later,
 * or never.
 */
#include "model_impl.h"

#include <stdlib.h>
#include <string.h>

struct conn *conn_new(struct ku_zk *zk, int client, struct mserver *server)
{
	struct conn *conn = sim_calloc(1, sizeof(*conn));

	conn->refs = 2;
	conn->zk = zk;
	conn->from = zk;
	conn->client = client;
	conn->server = server;
	conn->server_open = true;
	conn->queue_end = &conn->queue;
	conn->next = server->conns;
	conn->link = &server->conns;
	if (conn->next != NULL)
		conn->next->link = &conn->next;
	server->conns = conn;
	return conn;
}

void conn_unref(struct conn *conn)
{
	if (--conn->refs == 0)
		free(conn);
}

static int64_t hole_end(const struct conn *conn)
{
	const struct model *m = conn->server->model;

	return m->clients[conn->client].hole_until[conn->server->id];
}

void conn_up(struct conn *conn, struct msg *msg, int64_t more_ns)
{
	struct model *m = conn->server->model;
	int64_t at = m->sched->now_ns + model_latency(m) + more_ns;

	if (at < hole_end(conn))
		at = hole_end(conn);
	if (at < conn->up_at)
		at = conn->up_at;
	conn->up_at = at;
	conn->refs++;
	msg->conn = conn;
	sched_add(m->sched, SCHED_NOBODY, at, server_arrive, msg, 0);
}

/* With MODEL_BUG_REORDER a reply may arrive before messages that were sent
   earlier. */
static int64_t down_time(struct model *m, struct conn *conn)
{
	int64_t at = m->sched->now_ns + model_latency(m);

	if (at < hole_end(conn))
		at = hole_end(conn);
	if ((m->bugs & MODEL_BUG_REORDER) && sim_random_ppm(&m->misc, 20000))
		return m->sched->now_ns + 1;
	if (at < conn->down_at)
		at = conn->down_at;
	conn->down_at = at;
	return at;
}

void conn_down(struct conn *conn, struct msg *msg)
{
	struct model *m = conn->server->model;
	int64_t late;

	if (conn->zk == NULL) {
		msg_free(m, msg);
		return;
	}
	if (msg->kind == MSG_REQUEST && m->config.lose_reply_ppm != 0 &&
		sim_random_ppm(&m->fault, m->config.lose_reply_ppm)) {
		model_note(m, NOTE_FAULT, conn->client, "lose reply", NULL, 0);
		msg_free(m, msg);
		server_close(conn, true);
		return;
	}
	if (msg->kind == MSG_REQUEST && m->config.delay_reply_ppm != 0 &&
		sim_random_ppm(&m->fault, m->config.delay_reply_ppm)) {
		model_note(m, NOTE_FAULT, conn->client, "delay reply", NULL, 0);
		late = m->sched->now_ns +
			sim_random_between(&m->fault, 0,
				m->config.delay_max_ns);
		if (conn->down_at < late)
			conn->down_at = late;
	}
	conn->refs++;
	msg->conn = conn;
	sched_add(m->sched, conn->client, down_time(m, conn), client_arrive,
		msg, 0);
}
