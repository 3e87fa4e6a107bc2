/*
 * zk_lib.c - requests, replies and events in the terms of ZooKeeper's own client
 * library.
 *
 * What its version 3.8.0 does, in both builds, and what is done about it here:
 *  - zookeeper_close() forgets queued completions (L1).  What a completion
 *    would free is therefore on a list, and close() frees the rest.
 *  - A session event goes to the function given at init and again to every
 *    distinct (function, context) that watches nodes, in time quadratic in
 *    their number (P1).  So one context serves all, and one function all
 *    nodes; it drops session events, which arrive once through the other.
 *  - It ends the process when a multi is refused after its first operation was
 *    looked at, and at the reply to one that creates a container (P4).  Both
 *    are refused here beforehand.
 *  - Its log callback has no argument, so that a message cannot be given to
 *    its client without global state.  All messages are dropped, and so do not
 *    go to stderr.
 *  - Names are resolved by a thread that should be sending heartbeats (S21),
 *    so only numeric addresses are passed, and later resolutions are off.
 *  - It has process-wide settings (P15).  Only its log level is touched: no
 *    messages (L23, P8).
 */
#include "zk_lib.h"
#include "resolve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The server appends "%010d" of a signed 32-bit number. */
#define SEQUENCE_SIZE sizeof("-2147483648")

/* The error of an operation that the library did not report about. */
#define RC_UNSET 1

#define SAME(name) ((int)KU_ZK_##name == (int)Z##name)
_Static_assert((int)KU_ZK_OK == (int)ZOK && SAME(SYSTEMERROR) &&
		SAME(RUNTIMEINCONSISTENCY) && SAME(DATAINCONSISTENCY) &&
		SAME(CONNECTIONLOSS) && SAME(MARSHALLINGERROR) &&
		SAME(UNIMPLEMENTED) && SAME(OPERATIONTIMEOUT) &&
		SAME(BADARGUMENTS) && SAME(INVALIDSTATE) && SAME(NONODE) &&
		SAME(NOAUTH) && SAME(BADVERSION) &&
		SAME(NOCHILDRENFOREPHEMERALS) && SAME(NODEEXISTS) &&
		SAME(NOTEMPTY) && SAME(SESSIONEXPIRED) && SAME(INVALIDACL) &&
		SAME(AUTHFAILED) && SAME(CLOSING) && SAME(SESSIONMOVED) &&
		SAME(NOTREADONLY) && SAME(NOWATCHER) && SAME(THROTTLEDOP),
	"return codes are numbered alike");
_Static_assert((int)KU_ZK_WATCH_DATA == (int)ZWATCHTYPE_DATA &&
		(int)KU_ZK_WATCH_CHILDREN == (int)ZWATCHTYPE_CHILD,
	"kinds of watches are numbered alike");
_Static_assert(sizeof(((struct ku_zk_session *)0)->server) == KU_ADDRESS_SIZE,
	"addresses are written alike");

/* Where the library puts the results of a multi, and ours. */
struct multi {
	int count;
	zoo_op_result_t *raw;
	struct Stat *stats;
	struct ku_zk_result *results;
	char *paths;
};

static void drop_message(const char *message)
{
	(void)message;
}

/* If no credentials were given, AUTH_FAILED cannot say that they were refused:
   it is the error of a request that has the number of an AUTH (P8). */
static enum ku_zk_state state_of(const struct ku_zk_lib *lib, int state)
{
	if (state == ZOO_CONNECTED_STATE)
		return KU_ZK_STATE_CONNECTED;
	if (state == ZOO_AUTH_FAILED_STATE && lib->authenticates)
		return KU_ZK_STATE_AUTH_FAILED;
	if (state == ZOO_AUTH_FAILED_STATE ||
		state == ZOO_EXPIRED_SESSION_STATE)
		return KU_ZK_STATE_EXPIRED;
	return KU_ZK_STATE_CONNECTING;
}

const struct sockaddr *ku_zk_lib_peer(zhandle_t *zh,
	struct sockaddr_storage *peer, socklen_t *len)
{
	*len = sizeof(*peer);
	return zookeeper_get_connected_host(zh, (struct sockaddr *)peer, len);
}

void ku_zk_lib_tell(struct ku_zk_lib *lib, int type, int state,
	const char *path)
{
	lib->event(lib->arg, (enum ku_zk_event)type, state_of(lib, state),
		path);
}

static void watch_node(zhandle_t *zh, int type, int state, const char *path,
	void *context)
{
	struct ku_zk_lib *lib = context;

	(void)zh;
	if (type == ZOO_SESSION_EVENT)
		return;
	lib->calls.enter(lib->calls.arg);
	ku_zk_lib_tell(lib, type, state, path);
	lib->calls.leave(lib->calls.arg);
}

static struct multi *multi_create(const struct ku_zk_request *request)
{
	size_t n = (size_t)request->op_count;
	size_t i, path_room = 0;
	struct multi *m;
	size_t each = sizeof(*m->raw) + sizeof(*m->stats) + sizeof(*m->results);

	for (i = 0; i < n; i++)
		if (request->ops[i].kind == KU_ZK_CREATE)
			path_room += strlen(request->ops[i].path) +
				SEQUENCE_SIZE;
	m = calloc(1, sizeof(*m) + n * each + path_room);
	if (!m)
		return NULL;
	m->count = request->op_count;
	m->raw = (zoo_op_result_t *)(m + 1);
	m->stats = (struct Stat *)(m->raw + n);
	m->results = (struct ku_zk_result *)(m->stats + n);
	m->paths = (char *)(m->results + n);
	for (i = 0; i < n; i++)
		m->raw[i].err = RC_UNSET;
	return m;
}

/* Completions */

static void copy_stat(struct kustos_stat *to, const struct Stat *from)
{
	to->czxid = from->czxid;
	to->mzxid = from->mzxid;
	to->pzxid = from->pzxid;
	to->ctime_ms = from->ctime;
	to->mtime_ms = from->mtime;
	to->ephemeral_owner = from->ephemeralOwner;
	to->version = from->version;
	to->cversion = from->cversion;
	to->aversion = from->aversion;
	to->data_length = from->dataLength;
	to->num_children = from->numChildren;
}

static void finish_with_stat(struct ku_zk_call *call, struct ku_zk_reply *reply,
	const struct Stat *stat)
{
	struct kustos_stat copy;

	if (reply->rc == ZOK && stat) {
		copy_stat(&copy, stat);
		reply->stat = &copy;
	}
	ku_zk_call_finish(call, reply);
}

static void done_void(int rc, const void *data)
{
	struct ku_zk_reply reply = { .rc = rc, .len = -1 };

	ku_zk_call_finish((struct ku_zk_call *)data, &reply);
}

static void done_stat(int rc, const struct Stat *stat, const void *data)
{
	struct ku_zk_reply reply = { .rc = rc, .len = -1 };

	finish_with_stat((struct ku_zk_call *)data, &reply, stat);
}

static void done_data(int rc, const char *value, int len,
	const struct Stat *stat, const void *data)
{
	struct ku_zk_reply reply = { .rc = rc, .len = -1 };

	if (rc == ZOK && len >= 0) {
		reply.data = value ? value : "";
		reply.len = len;
	}
	finish_with_stat((struct ku_zk_call *)data, &reply, stat);
}

static void done_create(int rc, const char *path, const struct Stat *stat,
	const void *data)
{
	struct ku_zk_reply reply = { .rc = rc, .len = -1 };

	if (rc == ZOK)
		reply.path = path;
	finish_with_stat((struct ku_zk_call *)data, &reply, stat);
}

static void done_children(int rc, const struct String_vector *names,
	const struct Stat *stat, const void *data)
{
	struct ku_zk_reply reply = { .rc = rc, .len = -1 };

	if (rc == ZOK && names) {
		reply.names = (const char *const *)names->data;
		reply.name_count = names->count;
	}
	finish_with_stat((struct ku_zk_call *)data, &reply, stat);
}

static void done_sync(int rc, const char *path, const void *data)
{
	(void)path;
	done_void(rc, data);
}

static void done_multi(int rc, const void *data)
{
	struct ku_zk_call *call = (struct ku_zk_call *)data;
	struct multi *m = call->extra;
	struct ku_zk_reply reply = { .rc = rc, .len = -1 };
	int i;

	for (i = 0; i < m->count; i++) {
		const zoo_op_result_t *raw = &m->raw[i];

		m->results[i].rc = raw->err == RC_UNSET ? rc : raw->err;
		if (m->results[i].rc != ZOK || rc != ZOK)
			continue;
		m->results[i].path = raw->value;
		if (raw->stat)
			copy_stat(&m->results[i].stat, raw->stat);
	}
	reply.results = m->results;
	reply.result_count = m->count;
	ku_zk_call_finish(call, &reply);
}

/* Not on the thread of completions (L29).  A session event follows a refusal. */
static void done_auth(int rc, const void *data)
{
	(void)rc;
	(void)data;
}

/* Sending */

/* Fill in "to", whose data is to be freed.  The library only reads it. */
static bool copy_acl(struct ACL_vector *to, const struct ku_zk_request *from)
{
	int i;

	to->count = 0;
	to->data = calloc((size_t)from->acl_count + 1, sizeof(*to->data));
	if (!to->data)
		return false;
	for (i = 0; i < from->acl_count; i++) {
		to->data[i].perms = from->acl[i].perms;
		to->data[i].id.scheme = (char *)from->acl[i].scheme;
		to->data[i].id.id = (char *)from->acl[i].id;
	}
	to->count = from->acl_count;
	return true;
}

static int send_create(struct ku_zk_lib *lib, const struct ku_zk_request *r,
	struct ku_zk_call *call)
{
	struct ACL_vector acl;
	int rc;

	if (!copy_acl(&acl, r))
		return KU_ZK_SYSTEMERROR;
	rc = zoo_acreate2(lib->zh, r->path, r->data, r->len, &acl, (int)r->mode,
		done_create, call);
	free(acl.data);
	return rc;
}

/* Returns KU_ZK_OK or why not. */
static int init_op(zoo_op_t *op, struct ACL_vector *acl,
	const struct ku_zk_request *r, struct multi *m, int i, char **room)
{
	size_t size;

	switch (r->kind) {
	case KU_ZK_CREATE:
		if (r->mode == KU_ZK_CONTAINER)
			return KU_ZK_UNIMPLEMENTED;
		if (!copy_acl(acl, r))
			return KU_ZK_SYSTEMERROR;
		size = strlen(r->path) + SEQUENCE_SIZE;
		zoo_create_op_init(op, r->path, r->data, r->len, acl,
			(int)r->mode, *room, (int)size);
		*room += size;
		return KU_ZK_OK;
	case KU_ZK_DELETE:
		zoo_delete_op_init(op, r->path, r->version);
		return KU_ZK_OK;
	case KU_ZK_SET:
		zoo_set_op_init(op, r->path, r->data, r->len, r->version,
			&m->stats[i]);
		return KU_ZK_OK;
	case KU_ZK_CHECK:
		zoo_check_op_init(op, r->path, r->version);
		return KU_ZK_OK;
	default:
		return KU_ZK_BADARGUMENTS;
	}
}

/* A session that ends, or a path that is refused, while zoo_amulti() looks at
   its second operation makes it free a pointer that it never set (P4).  Paths
   have been checked above this file.  A session can only end after the next
   handshake, so a multi is let through while connected only. */
static int send_multi(struct ku_zk_lib *lib, const struct ku_zk_request *r,
	struct ku_zk_call *call)
{
	struct multi *multi = call->extra;
	size_t n = (size_t)r->op_count;
	char *room = multi->paths;
	struct ACL_vector *acls = calloc(n + 1, sizeof(*acls));
	zoo_op_t *ops = calloc(n + 1, sizeof(*ops));
	int i, rc = acls && ops ? KU_ZK_OK : KU_ZK_SYSTEMERROR;

	for (i = 0; rc == KU_ZK_OK && i < r->op_count; i++)
		rc = init_op(&ops[i], &acls[i], &r->ops[i], multi, i, &room);
	if (rc != KU_ZK_OK)
		goto out;
	if (is_unrecoverable(lib->zh))
		rc = KU_ZK_INVALIDSTATE;
	else if (zoo_state(lib->zh) != ZOO_CONNECTED_STATE)
		rc = KU_ZK_CONNECTIONLOSS;
	else
		rc = zoo_amulti(lib->zh, r->op_count, ops, multi->raw,
			done_multi, call);
out:
	for (i = 0; acls && i < r->op_count; i++)
		free(acls[i].data);
	free(acls);
	free(ops);
	return rc;
}

static int send_request(struct ku_zk_lib *lib, const struct ku_zk_request *r,
	struct ku_zk_call *call)
{
	watcher_fn watcher = r->watch ? watch_node : NULL;

	switch (r->kind) {
	case KU_ZK_CREATE:
		return send_create(lib, r, call);
	case KU_ZK_DELETE:
		return zoo_adelete(lib->zh, r->path, r->version, done_void,
			call);
	case KU_ZK_GET:
		return zoo_awget(lib->zh, r->path, watcher, lib, done_data,
			call);
	case KU_ZK_SET:
		return zoo_aset(lib->zh, r->path, r->data, r->len, r->version,
			done_stat, call);
	case KU_ZK_EXISTS:
		return zoo_awexists(lib->zh, r->path, watcher, lib, done_stat,
			call);
	case KU_ZK_CHILDREN:
		return zoo_awget_children2(lib->zh, r->path, watcher, lib,
			done_children, call);
	case KU_ZK_SYNC:
		return zoo_async(lib->zh, r->path, done_sync, call);
	case KU_ZK_MULTI:
		return send_multi(lib, r, call);
	case KU_ZK_UNWATCH:
		/* The library declares the callback as a void_completion_t *,
		   but uses it as a void_completion_t. */
		return zoo_aremove_all_watches(lib->zh, r->path,
			(ZooWatcherType)r->unwatch, 0,
			(void_completion_t *)done_void, call);
	case KU_ZK_CHECK:
		break;
	}
	return KU_ZK_BADARGUMENTS;
}

int ku_zk_lib_submit(struct ku_zk_lib *lib, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	struct multi *multi = NULL;
	struct ku_zk_call *call;
	int rc;

	if (request->kind == KU_ZK_MULTI && !(multi = multi_create(request)))
		return KU_ZK_SYSTEMERROR;
	call = ku_zk_call_create(&lib->calls, done, arg, multi);
	if (!call)
		return KU_ZK_SYSTEMERROR;
	rc = send_request(lib, request, call);
	return rc == ZOK ? KU_ZK_OK : ku_zk_call_refuse(call, rc);
}

/* Opening and closing; a ticket is what the library calls a clientid_t. */
_Static_assert(sizeof(struct ku_zk_ticket) == sizeof(clientid_t), "ticket");

enum kustos_err ku_zk_lib_open(struct ku_zk_lib *lib,
	const struct ku_zk_open *params, watcher_fn watch)
{
	lib->event = params->event;
	lib->arg = params->arg;
	zoo_set_debug_level((ZooLogLevel)0);
	lib->zh = zookeeper_init2(params->addresses, watch, params->timeout_ms,
		(const clientid_t *)params->resume, lib, ZOO_NO_LOG_CLIENTENV,
		drop_message);
	if (!lib->zh) /* ENOENT: no such host */
		return errno == EINVAL || errno == ENOENT ? KUSTOS_EINVAL
							  : KUSTOS_ENOMEM;
	zoo_set_servers_resolution_delay(lib->zh, -1);
	return KUSTOS_OK;
}

void ku_zk_lib_close(struct ku_zk_lib *lib)
{
	zookeeper_close(lib->zh);
	ku_zk_calls_end(&lib->calls);
}

int ku_zk_lib_add_auth(struct ku_zk_lib *lib, const char *scheme,
	const char *credentials, int len)
{
	lib->authenticates = true;
	return zoo_add_auth(lib->zh, scheme, credentials, len, done_auth, NULL);
}

void ku_zk_lib_session(struct ku_zk_lib *lib, struct ku_zk_session *out)
{
	struct sockaddr_storage room;
	socklen_t len;
	const struct sockaddr *peer = ku_zk_lib_peer(lib->zh, &room, &len);

	*out = (struct ku_zk_session){
		.state = state_of(lib, zoo_state(lib->zh)),
		.id = zoo_client_id(lib->zh)->client_id,
		.timeout_ms = zoo_recv_timeout(lib->zh),
	};
	memcpy(out->password, zoo_client_id(lib->zh)->passwd, 16);
	if (peer)
		ku_address_format(peer, len, out->server);
}

/* The library closes its descriptor on this thread, without an event (L23). */
void ku_zk_lib_steer(struct ku_zk_lib *lib, const char *addresses)
{
	zoo_set_debug_level((ZooLogLevel)0);
	zoo_set_servers(lib->zh, addresses);
}
