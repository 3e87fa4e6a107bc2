/* wire.c - requests on their way: queued, sent, answered. */

#include "client.h"
#include "name.h"

#include <stdlib.h>
#include <string.h>

struct ku_slot {
	struct ku_handle *handle;
	struct ku_request *request; /* NULL: ended before its answer */
	struct ku_slot *prev, *next;
	uint64_t serial;
	int64_t sent_ns;
	bool writes;
	int64_t connection; /* on which it was sent */
};

static const char *const kind_names[] = {
	[KU_ZK_CREATE] = "create",
	[KU_ZK_DELETE] = "delete",
	[KU_ZK_GET] = "get",
	[KU_ZK_SET] = "set",
	[KU_ZK_EXISTS] = "exists",
	[KU_ZK_CHILDREN] = "children",
	[KU_ZK_SYNC] = "sync",
	[KU_ZK_CHECK] = "check",
	[KU_ZK_MULTI] = "multi",
	[KU_ZK_UNWATCH] = "unwatch",
};

size_t ku_request_size(const struct ku_zk_request *request)
{
	size_t size = 64 + (request->path != NULL ? strlen(request->path) : 0);

	if (request->len > 0)
		size += (size_t)request->len;
	for (int i = 0; i < request->acl_count; i++)
		size += 12 + strlen(request->acl[i].scheme) +
			strlen(request->acl[i].id);
	for (int i = 0; i < request->op_count; i++)
		size += ku_request_size(&request->ops[i]);
	return size;
}

/* Did a server that knows our session say this? */
static bool is_answer(int rc)
{
	if (rc == KU_ZK_SESSIONEXPIRED || rc == KU_ZK_CLOSING ||
		rc == KU_ZK_SESSIONMOVED)
		return false;
	return rc == KU_ZK_OK || rc == KU_ZK_UNIMPLEMENTED || rc <= -100;
}

static bool is_write(const struct ku_zk_request *what)
{
	return what->kind == KU_ZK_CREATE || what->kind == KU_ZK_DELETE ||
		what->kind == KU_ZK_SET || what->kind == KU_ZK_MULTI;
}

/* Was it the leader who answered?  A follower that has lost its leader goes on
   answering reads for a while, during which the leader lets the sessions of
   its clients expire: such an answer says nothing about ours. */
static bool is_leaders(const struct ku_zk_request *what)
{
	return what->kind == KU_ZK_SYNC || is_write(what);
}

/* A write whose outcome is unknown may still be applied by the server to which
   it was sent.  That is session->server, as the library reports lost requests
   before it reports the next connection. */
static void shun(struct kustos_client *client, const struct ku_slot *slot)
{
	struct ku_session *session = &client->session;

	if (slot->writes && slot->handle == session->handle &&
		slot->connection == session->connection)
		ku_shun_add(&session->shun, session->server, ku_now(client));
}

bool ku_wire_owed(const struct kustos_client *client)
{
	const struct ku_session *session = &client->session;
	const struct ku_slot *slot = session->handle != NULL
		? session->handle->oldest
		: NULL;

	while (slot != NULL &&
		!(slot->writes && slot->connection == session->connection))
		slot = slot->next;
	return slot != NULL;
}

static void queue_append(struct ku_wire *wire, struct ku_request *request)
{
	request->waiting = true;
	KU_ROW_APPEND(wire->first, wire->last, request);
	wire->waiting++;
}

static void queue_remove(struct ku_wire *wire, struct ku_request *request)
{
	KU_ROW_REMOVE(wire->first, wire->last, request);
	request->prev = request->next = NULL;
	request->waiting = false;
	wire->waiting--;
}

static void slot_link(struct ku_handle *handle, struct ku_slot *slot)
{
	KU_ROW_APPEND(handle->oldest, handle->newest, slot);
	handle->in_flight++;
}

static void slot_unlink(struct ku_slot *slot)
{
	struct ku_handle *handle = slot->handle;

	KU_ROW_REMOVE(handle->oldest, handle->newest, slot);
	handle->in_flight--;
}

static struct ku_slot *slot_new(struct ku_wire *wire)
{
	struct ku_slot *slot = wire->spare;

	if (slot == NULL)
		return malloc(sizeof(*slot));
	wire->spare = slot->next;
	return slot;
}

static void slot_free(struct ku_wire *wire, struct ku_slot *slot)
{
	slot->next = wire->spare;
	wire->spare = slot;
}

/* Tell the counters and the program's hook of an answer, or of its loss. */
static void account(struct kustos_client *client, const struct ku_slot *slot,
	int rc)
{
	int64_t took = ku_now(client) - slot->sent_ns;
	const struct ku_zk_request *what = &slot->request->what;

	if (is_answer(rc)) {
		client->counters.answered++;
		ku_latency_add(&client->counters.latency, took);
	} else {
		client->counters.failed++;
	}
	if (client->config.on_request == NULL || slot->request->internal)
		return;
	/* Paths as the program knows them. */
	const char *path = what->path != NULL ? what->path : "";
	size_t prefix = strlen(client->config.prefix);
	if (what->path != NULL &&
		strncmp(path, client->config.prefix, prefix) == 0)
		path = ku_path_behind(path, prefix);
	client->config.on_request(client->config.on_request_arg,
		&(struct kustos_request){
			.operation = kind_names[what->kind],
			.path = path,
			.duration_ns = took,
			.result = ku_rc_err(rc),
		});
}

static void end_request(struct kustos_client *client, struct ku_slot *slot,
	const struct ku_zk_reply *reply)
{
	struct ku_request *request = slot->request;

	account(client, slot, reply->rc);
	slot->request = NULL;
	request->slot = NULL;
	request->done(request, reply);
}

/* The answer, or the library's word that there will be none.  Entered. */
static void wire_done(void *arg, const struct ku_zk_reply *reply)
{
	struct ku_slot *slot = arg;
	struct ku_handle *handle = slot->handle;
	struct kustos_client *client = handle->client;

	slot_unlink(slot);
	if (ku_outcome(reply->rc) == KU_OUTCOME_UNKNOWN)
		shun(client, slot);
	if (slot->request != NULL) {
		if (is_answer(reply->rc)) {
			ku_footprint_answered(&client->footprint,
				&slot->request->what, reply);
			if (handle == client->session.handle)
				ku_session_answered(client, slot->sent_ns,
					reply->rc == KU_ZK_OK &&
						is_leaders(
							&slot->request->what));
		}
		end_request(client, slot, reply);
	}
	slot_free(&client->wire, slot);
	ku_wire_pump(client);
	if (client->ops.flushing > 0)
		pthread_cond_broadcast(&client->ops.ended);
	if (client->closing != KU_OPEN)
		ku_wake(client);
}

/* Hand "request" to the library.  Returns its return code. */
static int submit(struct kustos_client *client, struct ku_request *request)
{
	struct ku_session *session = &client->session;
	struct ku_handle *handle = session->handle;
	struct ku_slot *slot = slot_new(&client->wire);

	if (slot == NULL)
		return KU_ZK_SYSTEMERROR;
	slot->request = request;
	slot->serial = client->wire.sent;
	slot->sent_ns = ku_now(client);
	slot->writes = is_write(&request->what);
	slot->connection = session->connection;
	slot->handle = handle;
	int rc = client->env.api->submit(handle->zk, &request->what, wire_done,
		slot);
	if (rc != KU_ZK_OK) {
		slot_free(&client->wire, slot);
		return rc;
	}
	client->wire.sent++;
	client->wire.kept = true;
	slot_link(handle, slot);
	request->slot = slot;
	request->session_id = session->id;
	request->connection = session->connection;
	return KU_ZK_OK;
}

void ku_wire_end_refused(struct kustos_client *client)
{
	struct ku_wire *wire = &client->wire;

	while (wire->refused != NULL) {
		struct ku_request *request = wire->refused;
		struct ku_zk_reply reply = { .rc = request->refused_rc };

		wire->refused = request->next;
		request->next = NULL;
		request->refused_rc = 0;
		request->done(request, &reply);
	}
}

/* Will the library never accept this request?  Any other code means that the
   handle is unusable or that memory is short, and the request may wait. */
static bool is_refusal(int rc)
{
	return rc == KU_ZK_BADARGUMENTS || rc == KU_ZK_UNIMPLEMENTED;
}

/* Refused requests are ended by a timer, so that "done" never runs inside the
   ku_wire_send() of its own request. */
static void refusal_due(struct ku_timer *timer)
{
	struct ku_wire *wire = KU_OWNER(struct ku_wire, refusal, timer);

	ku_wire_end_refused(KU_OWNER(struct kustos_client, wire, wire));
}

void ku_wire_pump(struct kustos_client *client)
{
	struct ku_wire *wire = &client->wire;
	size_t cap = client->env.in_flight > 0 ? client->env.in_flight
					       : KU_WIRE_CAP;

	while (wire->first != NULL && ku_session_ready(client) &&
		client->session.handle->in_flight < cap) {
		struct ku_request *request = wire->first;
		int rc = submit(client, request);

		if (rc == KU_ZK_OK) {
			queue_remove(wire, request);
		} else if (is_refusal(rc)) {
			queue_remove(wire, request);
			request->refused_rc = rc;
			request->next = wire->refused;
			wire->refused = request;
			ku_set_timer(client, &wire->refusal, ku_now(client));
		} else {
			return; /* the handle is ending: its event follows */
		}
	}
}

void ku_wire_send(struct kustos_client *client, struct ku_request *request)
{
	queue_append(&client->wire, request);
	ku_wire_pump(client);
}

void ku_wire_read(struct kustos_client *client, struct ku_request *request,
	enum ku_zk_kind kind, const char *path, bool watch)
{
	request->what = (struct ku_zk_request){
		.kind = kind,
		.path = path,
		.version = -1,
		.watch = watch,
	};
	ku_wire_send(client, request);
}

void ku_wire_multi(struct kustos_client *client, struct ku_request *request,
	const struct ku_zk_request *ops, int count)
{
	request->what = (struct ku_zk_request){
		.kind = KU_ZK_MULTI,
		.version = -1,
		.ops = ops,
		.op_count = count,
	};
	ku_wire_send(client, request);
}

bool ku_wire_send_now(struct kustos_client *client, struct ku_request *request)
{
	return submit(client, request) == KU_ZK_OK;
}

void ku_wire_forget(struct ku_request *request)
{
	if (request->slot == NULL)
		return;
	request->slot->request = NULL;
	request->slot = NULL;
}

bool ku_wire_withdraw(struct kustos_client *client, struct ku_request *request)
{
	if (!request->waiting)
		return false;
	queue_remove(&client->wire, request);
	return true;
}

void ku_wire_fail_sent(struct ku_handle *handle, int rc)
{
	struct kustos_client *client = handle->client;
	struct ku_zk_reply reply = { .rc = rc };
	struct ku_slot *slot = handle->oldest;

	while (slot != NULL) {
		if (slot->request != NULL)
			end_request(client, slot, &reply);
		slot = slot->next;
	}
}

void ku_wire_closed(struct ku_handle *handle)
{
	struct kustos_client *client = handle->client;

	ku_wire_fail_sent(handle, KU_ZK_CLOSING);
	while (handle->oldest != NULL) {
		struct ku_slot *slot = handle->oldest;

		slot_unlink(slot);
		slot_free(&client->wire, slot);
	}
}

int64_t ku_wire_oldest_ns(const struct ku_handle *handle)
{
	return handle->oldest != NULL ? handle->oldest->sent_ns : 0;
}

uint64_t ku_wire_oldest(const struct kustos_client *client)
{
	const struct ku_handle *handle = client->session.handle;

	if (handle != NULL && handle->oldest != NULL)
		return handle->oldest->serial;
	return client->wire.sent;
}

void ku_wire_init(struct kustos_client *client)
{
	client->wire.refusal.fn = refusal_due;
}

void ku_wire_free(struct ku_wire *wire)
{
	while (wire->spare != NULL) {
		struct ku_slot *slot = wire->spare;

		wire->spare = slot->next;
		free(slot);
	}
}
