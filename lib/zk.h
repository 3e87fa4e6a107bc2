/*
 * zk.h - the boundary: everything Kustos asks of a ZooKeeper client library.
 *
 * Two tables implement it: ku_zk_library, over ZooKeeper's own client library,
 * and the model in tests/sim.  Whatever lies above knows ZooKeeper only through
 * this file, so the same code runs against a real server and in the simulator.
 *
 * Contract of both tables
 *  - One thread at a time has entered a handle: it has called enter() of struct
 *    ku_zk_open, and not yet leave().  The table does so around "done" and
 *    "event", perhaps around several of them; whoever calls submit(),
 *    push(), add_auth(), session(), kick() or steer() has entered by the same
 *    lock.
 *  - Requests on one handle are sent in the order of submit(), and their
 *    replies and the watch events arrive in the server's order, one at a time.
 *  - "done" is called at most once for each accepted submit().  It is never
 *    called after close() has returned, and perhaps not at all for a request
 *    that close() overtakes.
 *  - Neither "done" nor "event" is called from inside open() or submit().
 *  - A node watch fires at most once; a session event consumes no watch.
 *  - submit() copies what it is given.  Pointers in a reply die with the call.
 */
#ifndef KU_ZK_H
#define KU_ZK_H

#include <kustos/base.h>
#include <stdbool.h>

/* Return codes, numbered as ZooKeeper numbers them. */
enum ku_zk_rc {
	KU_ZK_OK = 0,
	KU_ZK_SYSTEMERROR = -1,
	KU_ZK_RUNTIMEINCONSISTENCY = -2,
	KU_ZK_DATAINCONSISTENCY = -3,
	KU_ZK_CONNECTIONLOSS = -4,
	KU_ZK_MARSHALLINGERROR = -5,
	KU_ZK_UNIMPLEMENTED = -6,
	KU_ZK_OPERATIONTIMEOUT = -7,
	KU_ZK_BADARGUMENTS = -8,
	KU_ZK_INVALIDSTATE = -9,
	KU_ZK_NONODE = -101,
	KU_ZK_NOAUTH = -102,
	KU_ZK_BADVERSION = -103,
	KU_ZK_NOCHILDRENFOREPHEMERALS = -108,
	KU_ZK_NODEEXISTS = -110,
	KU_ZK_NOTEMPTY = -111,
	KU_ZK_SESSIONEXPIRED = -112,
	KU_ZK_INVALIDACL = -114,
	KU_ZK_AUTHFAILED = -115,
	KU_ZK_CLOSING = -116,
	KU_ZK_SESSIONMOVED = -118,
	KU_ZK_NOTREADONLY = -119,
	KU_ZK_NOWATCHER = -121,
	KU_ZK_QUOTAEXCEEDED = -125,
	KU_ZK_THROTTLEDOP = -127
};

enum ku_zk_kind {
	KU_ZK_CREATE, /* reply: path, stat */
	KU_ZK_DELETE,
	KU_ZK_GET,	/* reply: data, stat.  Watch kept only if rc is OK */
	KU_ZK_SET,	/* reply: stat */
	KU_ZK_EXISTS,	/* reply: stat.  Watch kept if rc is OK or NONODE */
	KU_ZK_CHILDREN, /* reply: names, stat.  Watch kept only if rc is OK */
	KU_ZK_SYNC,
	KU_ZK_CHECK,  /* inside KU_ZK_MULTI only */
	KU_ZK_MULTI,  /* reply: results */
	KU_ZK_UNWATCH /* drop all watches of kind "unwatch" on the path */
};

/* How a node is created; values are ZooKeeper's. */
enum ku_zk_mode {
	KU_ZK_PERSISTENT = 0,
	KU_ZK_EPHEMERAL = 1,
	KU_ZK_PERSISTENT_SEQUENTIAL = 2,
	KU_ZK_EPHEMERAL_SEQUENTIAL = 3,
	KU_ZK_CONTAINER = 4
};

/* What a watch waits for.  A GET or EXISTS leaves KU_ZK_WATCH_DATA, a CHILDREN
   leaves KU_ZK_WATCH_CHILDREN. */
enum ku_zk_watch_kind { KU_ZK_WATCH_DATA = 2, KU_ZK_WATCH_CHILDREN = 1 };

static inline enum ku_zk_watch_kind ku_zk_watch_of(enum ku_zk_kind read)
{
	return read == KU_ZK_CHILDREN ? KU_ZK_WATCH_CHILDREN : KU_ZK_WATCH_DATA;
}

struct ku_zk_request {
	enum ku_zk_kind kind;
	enum ku_zk_mode mode; /* CREATE */
	const char *path;     /* absolute, as the server sees it */
	const char *data;     /* CREATE, SET; NULL with len -1 is null data */
	int len;
	int version;		      /* DELETE, SET, CHECK; -1 = any */
	const struct kustos_acl *acl; /* CREATE */
	int acl_count;
	int op_count;
	const struct ku_zk_request *ops; /* MULTI: CREATE (but no container,
					    which the library cannot),
					    DELETE, SET, CHECK */
	enum ku_zk_watch_kind unwatch;
	bool watch; /* GET, EXISTS, CHILDREN */
};

struct ku_zk_result { /* of one operation of a MULTI */
	int rc;
	const char *path;	 /* CREATE */
	struct kustos_stat stat; /* SET */
};

struct ku_zk_reply {
	int rc;
	const struct kustos_stat *stat; /* NULL where there is none */
	const char *path;
	const char *data;
	int len; /* -1 = null data */
	const char *const *names;
	int name_count;
	const struct ku_zk_result *results;
	int result_count;
};

enum ku_zk_event {
	KU_ZK_EVENT_SESSION = -1,
	KU_ZK_EVENT_NOTWATCHING = -2,
	KU_ZK_EVENT_CREATED = 1,
	KU_ZK_EVENT_DELETED = 2,
	KU_ZK_EVENT_CHANGED = 3,
	KU_ZK_EVENT_CHILDREN = 4
};

enum ku_zk_state {
	KU_ZK_STATE_CONNECTING, /* not connected, and trying */
	KU_ZK_STATE_CONNECTED,
	KU_ZK_STATE_EXPIRED,	/* final: close the handle */
	KU_ZK_STATE_AUTH_FAILED /* final: close the handle */
};

typedef void ku_zk_done_fn(void *arg, const struct ku_zk_reply *reply);

/* "state" is the state as of this event, which for a node's event means
   nothing.  "path" is empty for a session event. */
typedef void ku_zk_event_fn(void *arg, enum ku_zk_event event,
	enum ku_zk_state state, const char *path);

struct ku_zk; /* a handle: one session's connection */

/* The identity of a session, with which another process can resume it.  The
   layout is that of the ZooKeeper library. */
struct ku_zk_ticket {
	int64_t id; /* 0: no session */
	char password[16];
};

typedef void ku_zk_turn_fn(void *arg);
struct ku_fork_guard;

struct ku_zk_open {
	const char *addresses; /* numeric, "10.0.0.1:2181,::1:2181" */
	int timeout_ms;	       /* asked for; the server decides */
	ku_zk_turn_fn *enter, *leave;
	ku_zk_event_fn *event;
	void *arg;			   /* of these three */
	const struct ku_zk_ticket *resume; /* NULL: a new session */
};

struct ku_zk_session {
	enum ku_zk_state state; /* polled, so perhaps newer than any event */
	int64_t id;		/* before the first connection 0, or that of the
				   session to be resumed */
	char password[16];
	int timeout_ms;	 /* as negotiated */
	char server[64]; /* numeric address, or empty */
};

/* A thread that is to drive a handle, and until when. */
struct ku_zk_drive {
	/* As those of the handle, which may be closed meanwhile. */
	ku_zk_turn_fn *enter, *leave;
	void *arg;
	kustos_deadline until;
	const bool *over; /* set by a callback; or nudge() tells of it */
	const struct ku_fork_guard *fork; /* a child does not drive */
};

/* Of a table whose handles are driven: one thread at a time waits for the
   network, sends, receives and calls back.  Each handle has a thread of its own
   for that, but another may do it while it waits for an answer.  For all of
   these the caller has entered. */
struct ku_zk_driving {
	/* Drive until "*over" or until the deadline, but not for long: the
	   program's thread may be held up.  Leaves and enters meanwhile.
	   Returns false, and has done nothing, if it is not its turn. */
	bool (*drive)(struct ku_zk *zk, const struct ku_zk_drive *who);

	/* Have a thread that is in drive() look at "*over". */
	void (*nudge)(struct ku_zk *zk);

	/* In a callback: somebody may soon drive.  The handle's own thread does
	   not do so for a moment, if it can. */
	void (*offer)(struct ku_zk *zk);

	/* Nobody will: it goes on at once. */
	void (*decline)(struct ku_zk *zk);
};

struct ku_zk_api {
	/* Start a session in the background.  The caller has entered, so that
	   the first event comes after this.  Returns KUSTOS_OK, KUSTOS_EINVAL
	   or KUSTOS_ENOMEM; then "errno" tells more.  "env" is what the client
	   was created with. */
	enum kustos_err (*open)(void *env, const struct ku_zk_open *params,
		struct ku_zk **out);

	/* End it.  May wait for the network and for callbacks, so the caller
	   has not entered; no other call on the handle may overlap or
	   follow. */
	void (*close)(struct ku_zk *zk);

	/* Queue one request, which need not be sent before push().  Returns
	   KU_ZK_OK, or why it was not accepted, in which case it is not sent
	   and "done" is never called: among others KU_ZK_SYSTEMERROR when
	   memory is short, and KU_ZK_CONNECTIONLOSS for a MULTI while
	   disconnected. */
	int (*submit)(struct ku_zk *zk, const struct ku_zk_request *request,
		ku_zk_done_fn *done, void *arg);

	/* Send what is queued.  Whoever has submitted calls this before it
	   leaves; after "done" and "event" the table sees to it itself. */
	void (*push)(struct ku_zk *zk);

	/* Present credentials, now and on each connection that follows.  Only
	   before the first connection, or when an event tells of one. */
	int (*add_auth)(struct ku_zk *zk, const char *scheme,
		const char *credentials, int len);

	void (*session)(struct ku_zk *zk, struct ku_zk_session *out);

	/* Break the connection, if its descriptor can be identified, so that
	   the handle turns to its next server at once.  Returns whether the
	   connection was broken. */
	bool (*kick)(struct ku_zk *zk);

	/* Replace the handle's list of servers by these numeric addresses.
	   Only two uses are allowed:
	    - To leave some servers out.  The list has the present server; the
	      connection stays, and when it ends the handle tries the list.
	    - To "move".  The list is one address, whose IP differs from that of
	      the present server.  A connection ends, perhaps without an event,
	      and perhaps nothing more happens until the next request. */
	void (*steer)(struct ku_zk *zk, const char *addresses, bool move);

	const struct ku_zk_driving *driving; /* or NULL */
};

extern const struct ku_zk_api ku_zk_library;

#endif
