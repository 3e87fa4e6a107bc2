/* api.c - the table of lib/zk.h over the model. */
#include "handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void parse_addresses(struct ku_zk *zk, const char *addresses)
{
	struct model *m = zk->m;
	size_t len;
	int i;
	int n = 0;

	while (*addresses != '\0' && n < HANDLE_ADDRESSES_MAX) {
		len = strcspn(addresses, ",");
		zk->servers[n] = -1;
		for (i = 0; i < m->config.servers; i++) {
			if (strlen(m->servers[i].address) == len &&
				strncmp(m->servers[i].address, addresses,
					len) == 0)
				zk->servers[n] = i;
		}
		n++;
		addresses += len + (addresses[len] == ',');
	}
	zk->server_count = n;
	zk->cursor = 0;
}

/* The library tries the servers in an order of its own. */
static void shuffle(struct ku_zk *zk)
{
	int i;
	int j;
	int swap;

	for (i = zk->server_count - 1; i > 0; i--) {
		j = (int)sim_random_below(&zk->m->misc, (uint64_t)i + 1);
		swap = zk->servers[i];
		zk->servers[i] = zk->servers[j];
		zk->servers[j] = swap;
	}
}

static enum kustos_err sim_open(void *env, const struct ku_zk_open *params,
	struct ku_zk **out)
{
	struct model_client *machine = env;
	struct ku_zk *zk;

	if (params->addresses == NULL || params->addresses[0] == '\0')
		return KUSTOS_EINVAL;
	zk = sim_calloc(1, sizeof(*zk));
	zk->m = machine->model;
	zk->machine = machine;
	zk->enter = params->enter;
	zk->leave = params->leave;
	zk->event = params->event;
	zk->arg = params->arg;
	zk->timeout_ms = params->timeout_ms;
	if (params->resume != NULL) /* passwords are not looked at */
		zk->session = params->resume->id;
	zk->calls_end = &zk->calls;
	zk->deliveries_end = &zk->deliveries;
	watches_init(&zk->watches);
	parse_addresses(zk, params->addresses);
	shuffle(zk);
	zk->next = zk->m->handles;
	zk->m->handles = zk;
	machine->newest = zk;
	handle_try(zk, model_latency(zk->m));
	*out = zk;
	return KUSTOS_OK;
}

static void free_inside(struct ku_zk *zk)
{
	struct handle_auth *auth;

	while ((auth = zk->auth) != NULL) {
		zk->auth = auth->next;
		blob_unref(auth->scheme);
		free(auth);
	}
	watches_free(&zk->watches);
	zk->watching = NULL;
}

static bool is_closed(struct ku_zk *zk, const char *call)
{
	if (zk->state == HANDLE_CLOSED)
		model_broken(zk->m, "closed", call);
	return zk->state == HANDLE_CLOSED;
}

static void sim_close(struct ku_zk *zk)
{
	struct model *m = zk->m;

	if (is_closed(zk, "close"))
		return;
	model_note(m, NOTE_CLOSE, zk->machine->index, "close", NULL,
		zk->session);
	if (zk->state == HANDLE_CONNECTED)
		conn_up(zk->conn, msg_new(m, MSG_CLOSE), 0);
	handle_abandon(zk);
	zk->state = HANDLE_CLOSED;
	zk->generation++;
	zk->timer++;
	deliver_on_close(zk);
	free_inside(zk);
	if (zk->machine->newest == zk)
		zk->machine->newest = NULL;
}

/* Sending */

static bool paths_valid(const struct ku_zk_request *request)
{
	bool sequential = request->kind == KU_ZK_CREATE &&
		(request->mode == KU_ZK_PERSISTENT_SEQUENTIAL ||
			request->mode == KU_ZK_EPHEMERAL_SEQUENTIAL);
	int i;

	if (request->kind != KU_ZK_MULTI)
		return path_valid(request->path, sequential);
	for (i = 0; i < request->op_count; i++) {
		if (!paths_valid(&request->ops[i]))
			return false;
	}
	return true;
}

/* What libzookeeper_mt cannot send in a multi. */
static bool has_container(const struct ku_zk_request *request)
{
	int i;

	for (i = 0; i < request->op_count; i++) {
		if (request->ops[i].kind == KU_ZK_CREATE &&
			request->ops[i].mode == KU_ZK_CONTAINER)
			return true;
	}
	return false;
}

static int refusal(struct ku_zk *zk, const struct ku_zk_request *request)
{
	if (is_closed(zk, "submit") || zk->state == HANDLE_EXPIRED ||
		zk->state == HANDLE_AUTH_FAILED)
		return KU_ZK_INVALIDSTATE;
	if (request->kind == KU_ZK_CHECK || !paths_valid(request))
		return KU_ZK_BADARGUMENTS;
	if (request->kind == KU_ZK_MULTI && has_container(request))
		return KU_ZK_UNIMPLEMENTED;
	/* lib/zk_mt.c refuses this too, because of a bug in libzookeeper_mt
	   (P4). */
	if (request->kind == KU_ZK_MULTI && zk->state != HANDLE_CONNECTED)
		return KU_ZK_CONNECTIONLOSS;
	return KU_ZK_OK;
}

static struct msg *request_msg(struct model *m,
	const struct ku_zk_request *request)
{
	struct msg *msg = msg_new(m, MSG_REQUEST);
	struct op *ops;
	int i;

	if (request->kind != KU_ZK_MULTI) {
		msg->size = op_copy(&msg->op, request);
		return msg;
	}
	msg->op.kind = KU_ZK_MULTI;
	msg->op.watch = false;
	msg->size = 17;
	ops = msg_ops(msg, request->op_count);
	for (i = 0; i < request->op_count; i++)
		msg->size += op_copy(&ops[i], &request->ops[i]);
	return msg;
}

static struct call *call_new(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	struct model *m = zk->m;
	struct call *call = m->spare_calls;

	if (call != NULL)
		m->spare_calls = call->next;
	else
		call = sim_calloc(1, sizeof(*call));
	call->next = NULL;
	call->done = done;
	call->arg = arg;
	call->kind = request->kind;
	call->unsent = NULL;
	call->op_count = request->op_count;
	call->number = ++zk->call_number;
	*zk->calls_end = call;
	zk->calls_end = &call->next;
	return call;
}

static int sim_submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	struct model *m = zk->m;
	int rc = refusal(zk, request);
	struct call *call;
	struct msg *msg;

	if (rc != KU_ZK_OK)
		return rc;
	zk->unpushed = true;
	call = call_new(zk, request, done, arg);
	msg = request_msg(m, request);
	msg->call = call;
	m->figures.accepted++;
	model_note(m, NOTE_SEND, zk->machine->index, "send",
		msg->op.path ? msg->op.path->bytes : "(multi)",
		(int)request->kind);
	if (zk->state == HANDLE_CONNECTED) {
		zk->sent++;
		zk->last_send = m->sched->now_ns;
		conn_up(zk->conn, msg, 0);
		return KU_ZK_OK;
	}
	call->unsent = msg;
	if (zk->steered)
		handle_try(zk, 0);
	return KU_ZK_OK;
}

/* Requests were on their way already; deliver.c checks that this was called. */
static void sim_push(struct ku_zk *zk)
{
	zk->unpushed = false;
}

static int sim_add_auth(struct ku_zk *zk, const char *scheme,
	const char *credentials, int len)
{
	struct handle_auth *auth;
	struct handle_auth **at = &zk->auth;

	(void)credentials;
	(void)len;
	if (scheme == NULL)
		return KU_ZK_BADARGUMENTS;
	if (is_closed(zk, "add_auth") || zk->state == HANDLE_EXPIRED ||
		zk->state == HANDLE_AUTH_FAILED || zk->state == HANDLE_IDLE)
		return KU_ZK_INVALIDSTATE;
	auth = sim_calloc(1, sizeof(*auth));
	auth->scheme = blob_new(scheme, (int)strlen(scheme));
	while (*at != NULL)
		at = &(*at)->next;
	*at = auth;
	if (zk->state == HANDLE_CONNECTED)
		handle_send_auth(zk, auth->scheme);
	return KU_ZK_OK;
}

/* Looking and steering */

static void sim_session(struct ku_zk *zk, struct ku_zk_session *out)
{
	memset(out, 0, sizeof(*out));
	if (is_closed(zk, "session"))
		return;
	out->state = zk->state == HANDLE_CONNECTED ? KU_ZK_STATE_CONNECTED
		: zk->state == HANDLE_EXPIRED	   ? KU_ZK_STATE_EXPIRED
		: zk->state == HANDLE_AUTH_FAILED  ? KU_ZK_STATE_AUTH_FAILED
						   : KU_ZK_STATE_CONNECTING;
	out->id = zk->session;
	out->timeout_ms = zk->timeout_ms;
	if (zk->state == HANDLE_CONNECTED)
		snprintf(out->server, sizeof(out->server), "%s",
			zk->conn->server->address);
}

static void kicked(void *arg, uint64_t tag)
{
	struct ku_zk *zk = arg;

	if (tag == zk->generation && zk->state == HANDLE_CONNECTED)
		client_break(zk, KU_ZK_CONNECTIONLOSS);
}

/* Now and then the real boundary cannot tell which descriptor to shut down. */
static bool sim_kick(struct ku_zk *zk)
{
	struct model *m = zk->m;

	if (zk->state != HANDLE_CONNECTED ||
		sim_random_below(&m->misc, 20) == 0)
		return false;
	sched_add(m->sched, zk->machine->index, m->sched->now_ns + 50000,
		kicked, zk, zk->generation);
	return true;
}

/* The library changes its list and drops its connection without telling
   anybody.  Its own thread sleeps on until a request wakes it, or for half the
   timeout. */
static void sim_steer(struct ku_zk *zk, const char *addresses, bool move)
{
	(void)move;
	if (is_closed(zk, "steer"))
		return;
	if (zk->state == HANDLE_CONNECTED &&
		strstr(addresses, zk->conn->server->address) != NULL) {
		/* Leaving a server out of the list guards against late writes
		   only.  Where there are none, it would merely drive the
		   clients to the same servers. */
		if (zk->m->late)
			parse_addresses(zk, addresses);
		return;
	}
	parse_addresses(zk, addresses);
	zk->attempts = 0;
	if (zk->state == HANDLE_CONNECTED || zk->state == HANDLE_TRYING ||
		zk->state == HANDLE_IDLE) {
		handle_abandon(zk);
		handle_try(zk, zk->timeout_ms * KU_NS_PER_MS / 2);
		zk->steered = true;
	}
}

void model_crash(struct model *m, int client)
{
	struct ku_zk *zk = m->clients[client].newest;

	if (zk == NULL)
		return;
	model_note(m, NOTE_CLOSE, client, "crash", NULL, zk->session);
	handle_abandon(zk);
	zk->state = HANDLE_AUTH_FAILED; /* nothing more is sent */
	zk->generation++;
	zk->timer++;
}

const struct ku_zk_api ku_zk_sim = {
	.open = sim_open,
	.close = sim_close,
	.submit = sim_submit,
	.push = sim_push,
	.add_auth = sim_add_auth,
	.session = sim_session,
	.kick = sim_kick,
	.steer = sim_steer,
};

/* Free the calls that nobody will answer any more. */
void handle_drop(struct ku_zk *zk)
{
	struct model *m = zk->m;
	struct call *call;
	struct msg *msg;

	if (zk->conn != NULL) {
		zk->conn->zk = NULL;
		conn_unref(zk->conn);
		zk->conn = NULL;
	}
	while ((call = zk->calls) != NULL) {
		zk->calls = call->next;
		if (call->unsent != NULL)
			msg_free(m, call->unsent);
		call_free(m, call);
	}
	while ((msg = zk->deliveries) != NULL) {
		zk->deliveries = msg->next;
		if (msg->kind == MSG_REQUEST)
			call_free(m, msg->call);
		msg_free(m, msg);
	}
}

void client_free_all(struct model *m)
{
	struct ku_zk *zk;

	while ((zk = m->handles) != NULL) {
		m->handles = zk->next;
		if (zk->state != HANDLE_CLOSED)
			free_inside(zk);
		free(zk);
	}
}
