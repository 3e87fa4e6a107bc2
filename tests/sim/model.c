/* model.c - the model as a whole: set up, end, and look in from outside. */
#include "handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_config_init(struct model_config *config)
{
	memset(config, 0, sizeof(*config));
	config->seed = 1;
	config->servers = 1;
	config->clients = 1;
	config->tick_ms = 500;
	config->container_ms = 1000;
	config->latency_min_ns = 50000;
	config->latency_max_ns = 500000;
	config->replicate_max_ns = 2 * KU_NS_PER_MS;
	config->delay_max_ns = 5 * KU_NS_PER_S;
}

static void add_server(struct model *m, int i)
{
	struct mserver *server = &m->servers[i];

	server->model = m;
	server->id = i;
	server->up = true;
	if (i > 0)
		tree_init(&server->own_tree);
	server->tree = i > 0 ? &server->own_tree : &m->tree;
	watches_init(&server->watches);
	snprintf(server->address, sizeof(server->address), "10.0.0.%d:2181",
		i + 1);
	if (i > 0)
		strcat(m->addresses, ",");
	strcat(m->addresses, server->address);
}

struct model *model_create(struct sched *sched,
	const struct model_config *config)
{
	struct model *m = sim_calloc(1, sizeof(*m));
	int i;

	m->sched = sched;
	m->config = *config;
	if (m->config.min_timeout_ms == 0)
		m->config.min_timeout_ms = 2 * m->config.tick_ms;
	if (m->config.max_timeout_ms == 0)
		m->config.max_timeout_ms = 20 * m->config.tick_ms;
	sim_random_seed(&m->net, config->seed, 1);
	sim_random_seed(&m->fault, config->seed, 2);
	sim_random_seed(&m->misc, config->seed, 3);
	sim_random_seed(&m->odd, config->seed, 4);
	sim_random_seed(&m->throttle, config->seed, 5);
	tree_init(&m->tree);
	for (i = 0; i < config->servers; i++)
		add_server(m, i);
	m->clients = sim_calloc((size_t)config->clients + 1,
		sizeof(*m->clients));
	for (i = 0; i < config->clients; i++) {
		m->clients[i].model = m;
		m->clients[i].index = i;
	}
	sessions_start_timers(m);
	return m;
}

static void free_pools(struct model *m)
{
	struct msg *msg;
	struct call *call;

	while ((msg = m->spare_msgs) != NULL) {
		m->spare_msgs = msg->next;
		free(msg->ops);
		free(msg->names);
		free(msg);
	}
	while ((call = m->spare_calls) != NULL) {
		m->spare_calls = call->next;
		free(call);
	}
	txn_free_all(m);
}

static void free_server(struct model *m, struct mserver *server)
{
	struct txn *txn;

	while ((txn = server->pending) != NULL) {
		server->pending = txn->next;
		txn_unref(m, txn);
	}
	while (server->conns != NULL)
		server_close(server->conns, false);
	watches_free(&server->watches);
	if (server->id > 0)
		tree_free(&server->own_tree);
}

/* Free the messages that are still under way: they are in the scheduler's
   queue. */
static void drop_messages(struct model *m)
{
	struct sched *sched = m->sched;
	struct sched_event *event;
	struct msg *msg;
	size_t i;
	size_t n;
	int lane;

	for (lane = -1; lane < sched->lane_count; lane++) {
		event = lane < 0 ? sched->heap : sched->lanes[lane].held;
		n = lane < 0 ? sched->count : sched->lanes[lane].held_count;
		for (i = 0; i < n; i++, event++) {
			if (event->fn != server_arrive &&
				event->fn != client_arrive)
				continue;
			msg = event->arg;
			conn_unref(msg->conn);
			msg_free(m, msg);
		}
		if (lane >= 0)
			sched->lanes[lane].held_count = 0;
	}
	sched->count = 0;
}

void model_free(struct model *m)
{
	struct session *session;
	struct ku_zk *zk;
	int i;

	if (m == NULL)
		return;
	memset(&m->hooks, 0, sizeof(m->hooks));
	drop_messages(m);
	for (zk = m->handles; zk != NULL; zk = zk->next)
		handle_drop(zk);
	for (i = 0; i < m->config.servers; i++)
		free_server(m, &m->servers[i]);
	client_free_all(m);
	while ((session = m->sessions) != NULL) {
		m->sessions = session->next;
		late_free(m, session);
		free(session);
	}
	if (m->last != NULL)
		txn_unref(m, m->last);
	tree_free(&m->tree);
	free_pools(m);
	free(m->undo);
	free(m->names);
	free(m->results);
	free(m->clients);
	free(m);
}

struct model_client *model_client(struct model *m, int index)
{
	return &m->clients[index];
}

const char *model_address(struct model *m, int server)
{
	return m->servers[server].address;
}

const char *model_addresses(struct model *m)
{
	return m->addresses;
}

void model_set_hooks(struct model *m, const struct model_hooks *hooks)
{
	m->hooks = *hooks;
}

void model_set_bugs(struct model *m, unsigned bugs)
{
	m->bugs = bugs;
}

void model_set_reply_faults(struct model *m, unsigned lose_ppm,
	unsigned delay_ppm)
{
	m->config.lose_reply_ppm = lose_ppm;
	m->config.delay_reply_ppm = delay_ppm;
}

void model_set_throttle(struct model *m, unsigned ppm)
{
	m->config.throttle_ppm = ppm;
}

void model_set_odd_faults(struct model *m, unsigned forget_ppm,
	unsigned slow_ppm)
{
	m->config.forget_ppm = forget_ppm;
	m->config.slow_ppm = slow_ppm;
}

void model_set_relapse(struct model *m, unsigned ppm)
{
	m->config.relapse_ppm = ppm;
}

void model_set_late(struct model *m, unsigned ppm)
{
	m->config.late_ppm = ppm;
	m->late = m->late || ppm != 0;
}

void model_note(struct model *m, enum model_note note, int client,
	const char *what, const char *path, int64_t value)
{
	if (m->hooks.note != NULL)
		m->hooks.note(m->hooks.arg, note, client, what, path, value);
}

void model_broken(struct model *m, const char *rule, const char *detail)
{
	if (m->hooks.broken != NULL)
		m->hooks.broken(m->hooks.arg, rule, detail);
}

int64_t model_latency(struct model *m)
{
	return sim_random_between(&m->net, m->config.latency_min_ns,
		m->config.latency_max_ns);
}

/* Looking in */

static struct node *look(struct model *m, const char *path)
{
	int len = (int)strlen(path);

	return tree_find(&m->tree, path, len, path_hash(path, len));
}

bool model_stat(struct model *m, const char *path, struct kustos_stat *stat)
{
	struct node *node = look(m, path);

	if (node != NULL && stat != NULL)
		node_stat(node, stat);
	return node != NULL;
}

bool model_data(struct model *m, const char *path, char *data, size_t size)
{
	struct node *node = look(m, path);

	if (node != NULL)
		snprintf(data, size, "%s",
			node->data != NULL ? node->data->bytes : "");
	return node != NULL;
}

const char *model_bytes(struct model *m, const char *path, size_t *len)
{
	struct node *node = look(m, path);

	if (node == NULL || node->data == NULL)
		return NULL;
	*len = (size_t)node->data->len;
	return node->data->bytes;
}

int model_child_count(struct model *m, const char *path)
{
	struct node *node = look(m, path);

	return node ? node->child_count : -1;
}

bool model_session_alive(struct model *m, int64_t session)
{
	return session_find(m, session) != NULL;
}

int model_ephemerals(struct model *m, int64_t session)
{
	struct node *node;
	uint32_t i;
	int n = 0;

	for (i = 0; i <= m->tree.mask; i++) {
		for (node = m->tree.buckets[i]; node; node = node->hash_next)
			n += node->owner == session && session != 0;
	}
	return n;
}

int64_t model_zxid(struct model *m)
{
	return m->zxid;
}

void model_set_created(struct model *m, const char *path, int32_t n)
{
	struct node *node;
	int len = (int)strlen(path);
	int i;

	for (i = 0; i < m->config.servers; i++) {
		node = tree_find(m->servers[i].tree, path, len,
			path_hash(path, len));
		if (node != NULL)
			node->created = n;
	}
	m->zxids_past += n;
}

const struct model_figures *model_figures(struct model *m)
{
	return &m->figures;
}

int model_server_of(struct model *m, int client)
{
	struct ku_zk *zk = m->clients[client].newest;

	return zk && zk->state == HANDLE_CONNECTED ? zk->conn->server->id : -1;
}
