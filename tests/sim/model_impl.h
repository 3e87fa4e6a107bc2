/*
 * model_impl.h - what the parts of the model share.
 */
#ifndef SIM_MODEL_IMPL_H
#define SIM_MODEL_IMPL_H

#include "model.h"
#include "watches.h"

#define MODEL_FRAME_MAX 1048575 /* larger frame: the server disconnects */
#define MODEL_SERVERS_MAX 9

/* Is the ACL of a creation acceptable? */
enum acl_form { ACL_VALID, ACL_INVALID, ACL_NEEDS_AUTH };

/* One operation: a copy of the request, and the result. */
struct op {
	enum ku_zk_kind kind;
	enum ku_zk_mode mode;
	enum acl_form acl;
	struct blob *path;
	struct blob *data;
	int version;
	bool watch;
	int unwatch;

	int rc;
	struct blob *made; /* CREATE: the path it has */
	bool has_stat;
	struct kustos_stat stat;
};

enum msg_kind {
	MSG_REQUEST, /* both ways: the reply is the same message */
	MSG_CONNECT,
	MSG_PING,
	MSG_CLOSE,
	MSG_SETWATCHES,
	MSG_AUTH,
	MSG_EVENT, /* only to the client */
	MSG_EOF
};

struct watch_item {
	struct blob *path;
	int kinds;
};

struct msg {
	struct msg *next;
	enum msg_kind kind;
	struct conn *conn; /* the connection that it is sent on */
	struct call *call; /* the client's; means nothing to the server */
	size_t size;
	int64_t zxid;
	struct op op;	/* MSG_EVENT: the path */
	struct op *ops; /* MULTI */
	int op_count, op_room;
	struct blob *data;   /* GET's reply */
	struct blob **names; /* CHILDREN's reply: paths */
	int name_count, name_room, name_at;
	struct watch_item *items; /* MSG_SETWATCHES */
	int item_count;
	enum ku_zk_event event;
	enum ku_zk_state state;
	int64_t session; /* MSG_CONNECT */
	int server;	 /* of a late write: the server that holds it */
	const struct ku_zk *from;
	int timeout_ms;
};

/* A request that the user waits for. */
struct call {
	struct call *next;
	ku_zk_done_fn *done;
	void *arg;
	enum ku_zk_kind kind;
	struct msg *unsent;
	int op_count;
	uint64_t number;
};

struct conn {
	int refs;	  /* of the client, the server, and each message */
	struct ku_zk *zk; /* NULL once the client has given it up */
	const struct ku_zk *from;
	struct mserver *server;
	int client;
	bool server_open;
	struct session *session;
	bool authed;
	bool moved;		/* the session is at another server again */
	bool touched;		/* since the leader was last told */
	int64_t up_at, down_at; /* when the last message arrives */

	struct conn *next, **link; /* of the server */
	struct watch *watching;
	struct msg *waiting; /* until the server has applied "wait_zxid" */
	int64_t wait_zxid;   /* INT64_MAX: held on its way to the leader */
	struct msg *queue, **queue_end; /* behind it */
};

struct session {
	struct session *next, **link;
	int64_t id;
	int timeout_ms;
	int64_t expires_ns;
	struct conn *conn;
	struct node *ephemerals;
	struct msg *late, **late_end; /* writes that followers hold */
};

struct change {
	enum model_change_kind kind;
	struct blob *path;
	struct blob *data;
	int64_t owner;
	int32_t created; /* the parent's counter after this change */
	bool container;
	bool sequential;
};

struct txn {
	struct txn *next;
	int refs; /* of servers that have yet to apply it, and of its maker */
	int64_t zxid;
	int64_t wall_ms;
	struct change *changes;
	int count, room;
};

struct mserver {
	struct model *model;
	int id;
	bool up;
	struct tree own_tree;
	struct tree *tree;   /* server 0: the leader's */
	int64_t zxid;	     /* of the last transaction that it has applied */
	struct txn *pending; /* the first that it has not applied */
	bool applying;	     /* an event will call server_apply() */
	int64_t lag_until;
	struct watches watches;
	struct conn *conns;
	char address[24];
};

struct model_client {
	struct model *model;
	int index;
	struct ku_zk *newest;
	int64_t hole_until[MODEL_SERVERS_MAX];
};

struct undo {
	struct node *node;
	struct blob *data;
	int64_t mzxid, mtime_ms, parent_pzxid;
	int32_t version, parent_created;
};

struct model {
	struct sched *sched;
	struct model_config config;
	struct model_hooks hooks;
	struct model_figures figures;
	unsigned bugs;
	struct sim_random net, fault, misc, odd, throttle;

	struct tree tree; /* the leader's */
	int64_t zxid;
	int64_t zxids_past; /* how many zxids the next transaction skips */
	struct txn *last;   /* the newest in the log */
	struct txn *spare_txns;
	struct undo *undo;
	int undo_room;
	struct node *containers;
	struct session *sessions;
	uint64_t session_count;
	bool had_quorum;
	bool late; /* there may be late writes, even after the faults end */

	struct mserver servers[MODEL_SERVERS_MAX];
	struct model_client *clients;
	struct ku_zk *handles;
	struct msg *spare_msgs;
	struct call *spare_calls;
	const char **names; /* room for a reply's */
	int name_room;
	struct ku_zk_result *results;
	int result_room;
	char addresses[MODEL_SERVERS_MAX * 24];
};

void model_note(struct model *m, enum model_note note, int client,
	const char *what, const char *path, int64_t value);
void model_broken(struct model *m, const char *rule, const char *detail);
int64_t model_latency(struct model *m);

/* msg.c */
struct msg *msg_new(struct model *m, enum msg_kind kind);
void msg_free(struct model *m, struct msg *msg);
struct op *msg_ops(struct msg *msg, int count);
void msg_names(struct msg *msg, const struct node *node, unsigned start);
void op_clear(struct op *op);
/* Copy a request.  Returns the number of bytes that it takes on the wire. */
size_t op_copy(struct op *op, const struct ku_zk_request *request);
bool path_valid(const char *path, bool sequential);
struct blob *path_blob(const char *path, int len);

/* txn.c: decide and commit.  Each returns the zxid, which a failure has as
   well. */
int64_t txn_run(struct model *m, int64_t session, bool authed, struct op *ops,
	int count);
int64_t txn_empty(struct model *m);
int64_t txn_end_session(struct model *m, struct session *session);
int64_t txn_delete(struct model *m, const char *path);
void txn_unref(struct model *m, struct txn *txn);
void txn_free_all(struct model *m);

/* apply.c */
struct node *txn_find(const struct tree *tree, const struct blob *path);
struct node *txn_find_parent(const struct tree *tree, const struct blob *path);
struct node *apply_create(struct tree *tree, const struct change *change,
	const struct txn *txn);
void apply_set(struct node *node, const struct change *change,
	const struct txn *txn);
void apply_delete(struct model *m, struct tree *tree, struct node *node,
	const struct txn *txn);
void txn_apply(struct mserver *server, struct txn *txn);

/* sessions.c */
struct session *session_new(struct model *m, int timeout_ms);
struct session *session_find(struct model *m, int64_t id);
void session_touch(struct model *m, struct session *session);
void session_end(struct model *m, struct session *session);
void sessions_restart(struct model *m);
/* A follower tells the leader which sessions it has heard from. */
void sessions_tell(struct mserver *server);
void sessions_start_timers(struct model *m);

/* server.c */
void server_commit(struct model *m, struct txn *txn);
void server_apply(struct mserver *server);
void server_fire(struct mserver *server, const struct blob *path, int kinds,
	enum ku_zk_event event);
bool server_serving(const struct mserver *server);
void server_close(struct conn *conn, bool tell);

/* Have a new connection break again, while its client still recovers from the
   loss of the last one. */
void conn_relapse(struct conn *conn);
void server_close_all(struct mserver *server);

/* late.c */
/* Is this write held?  Then it waits, and its connection breaks soon.  Or is it
   refused, as the session is elsewhere?  Then its connection is closed. */
bool late_keeps(struct conn *conn, struct msg *msg);
/* The connection closes: its held write, and the writes behind it, may be done
   late. */
void late_add(struct conn *conn);
/* The session is back at this server: do the writes of it that the server
   holds. */
void late_do(struct conn *conn);
/* Does the server not answer a session that comes back?  Then the message, which
   asks for it, is freed. */
bool late_is_silent(struct conn *conn, struct msg *connect);
/* Drop the writes that a server holds, or any server (-1). */
void late_drop(struct model *m, int server);
void late_free(struct model *m, struct session *session);

/* wire.c */
struct conn *conn_new(struct ku_zk *zk, int client, struct mserver *server);
void conn_unref(struct conn *conn);
void conn_up(struct conn *conn, struct msg *msg, int64_t more_ns);
void conn_down(struct conn *conn, struct msg *msg);
void server_arrive(void *arg, uint64_t tag);
void client_arrive(void *arg, uint64_t tag);

/* client.c */
struct conn *client_conn(struct model *m, int client);
void client_break(struct ku_zk *zk, int rc);
void client_free_all(struct model *m);

#endif
