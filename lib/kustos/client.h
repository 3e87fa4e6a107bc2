/*
 * kustos/client.h - one ZooKeeper session at a time, kept alive for you.
 * Link with -lkustos (pkg-config kustos).
 *
 *               first answer                 silence or disconnect
 *   CONNECTING ------------> CONNECTED <------------------------> SUSPENDED
 *       ^                     |    ^           first answer           |
 *       |                     |    | the same session answers         |
 *       |                     v    | after all: a new epoch           |
 *       +-- new session --- LOST --+                                  |
 *                             ^                                       |
 *                             +------ the lease ran out, or expired --+
 *
 * CLOSED follows any of them.  CONNECTED and SUSPENDED both mean that the
 * session is certainly alive; kustos_client_lease_ms() returns for how long.  A
 * clock of ours decides that, not the network: the lease ends before the
 * servers can expire the session, at the latest 2/3 of its timeout after the
 * last request that they answered was sent.  When the lease ends the state is
 * LOST, at once and without asking any server.
 *
 * The epoch grows each time the client is CONNECTED after it was not certain of
 * its session.  Nothing granted in one epoch is valid in another.  Ephemeral
 * nodes may outlive an epoch: they do if the session id is the same.
 *
 * Threads: every call is safe from any thread and from any callback.  But no
 * call may begin, or be about to wait, once kustos_client_close() has been
 * called, except the release of a hold in a callback of its own.  Calls that
 * wait already end with KUSTOS_ECLOSED.
 *
 * After fork() all calls on the child's copy of a client return KUSTOS_EFORKED;
 * kustos_client_close() there frees what it safely can, and does nothing else.
 * Destroying an object of the client there does nothing, and frees nothing.
 */
#ifndef KUSTOS_CLIENT_H
#define KUSTOS_CLIENT_H

#include <kustos/base.h>
#include <kustos/retry.h>

KUSTOS_BEGIN

struct kustos_client; /* opaque; lives from _open() to _close() */
struct kustos_cancel; /* <kustos/cancel.h> */

enum kustos_state {
	KUSTOS_STATE_CONNECTING = 0, /* no session yet, and trying */
	KUSTOS_STATE_CONNECTED = 1,  /* in touch with a server */
	KUSTOS_STATE_SUSPENDED = 2, /* out of touch; the session is still ours */
	KUSTOS_STATE_LOST = 3, /* all that was held may be another's by now */
	KUSTOS_STATE_CLOSED = 4
};

/* Return "CONNECTED" and so on; never NULL, never freed. */
KUSTOS_API const char *kustos_state_name(enum kustos_state state);

enum kustos_log_level {
	KUSTOS_LOG_NONE = 0,
	KUSTOS_LOG_ERROR = 1,
	KUSTOS_LOG_WARNING = 2,
	KUSTOS_LOG_INFO = 3,
	KUSTOS_LOG_DEBUG = 4
};

/* Take one line of log, without a newline.  Called on any thread, perhaps with
   a lock of the library held: it must not block or call Kustos. */
typedef void kustos_log_fn(void *arg, enum kustos_log_level level,
	const char *line);

/* A request that was sent and has ended.  May grow at its end. */
struct kustos_request {
	const char *operation; /* "create", "get" and so on */
	const char *path;      /* "": a transaction */
	int64_t duration_ns;   /* from sending to the answer */
	enum kustos_err result;
};

/* Called for each request that was sent and has ended: the program's own, and
   those that operations need besides, but not heartbeats.  Like kustos_log_fn,
   it must be quick. */
typedef void kustos_request_fn(void *arg, const struct kustos_request *request);

/* What another process needs to go on with a session.  Whoever has it can do
   all that the session can. */
struct kustos_ticket {
	int64_t session_id;
	unsigned char password[16];
};

/* Where callbacks run. */
enum kustos_dispatch {
	/* On threads of Kustos, started when there is something to run.  One
	   callback runs at a time, except that a callback for a loss does not
	   wait for another that takes long: it runs beside it. */
	KUSTOS_DISPATCH_THREAD = 0,
	/* Where the program calls kustos_client_dispatch().  A callback for a
	   loss then runs as soon as the program calls that, and no sooner. */
	KUSTOS_DISPATCH_FD = 1
};

/* Set by KUSTOS_CLIENT_OPTIONS_INIT, then changed at will.  All strings and
   arrays are copied by kustos_client_open(). */
struct kustos_client_options {
	size_t size; /* of this struct, as the program knows it */

	/* "host:port,host:port/chroot".  The port may be left out (2181); an
	   IPv6 address is in brackets.  The chroot must exist: it is not made,
	   and if it is missing nothing can be made (KUSTOS_ENONODE), and no
	   node is found, so that a barrier lets everybody pass.  Names are
	   looked up again whenever the connection is lost.  Each server must
	   have an address of its own; kustos(7) says why. */
	const char *hosts;

	/* A path, such as "/billing", put before every path; its nodes are made
	   as containers when first needed.  NULL or "" for none. */
	const char *name_space;

	/* The session timeout to ask for, from 100 to 86400000 (a day); the
	   server may negotiate another.  Default 10000.  The lease is right
	   only if the timeout is at least two ticks of the server.  Servers
	   ensure that unless minSessionTimeout tells them not to. */
	int session_timeout_ms;

	/* The retry policy of operations; <kustos/retry.h> says of which.
	   Default: kustos_retry_exponential(100, 5000, 29). */
	struct kustos_retry retry;

	/* The ACL of every node that is made.  Default: all to everyone. */
	const struct kustos_acl *acl;
	size_t acl_count;

	/* "user:password", for ZooKeeper's digest scheme; or NULL.  If a server
	   refuses it, that is final: the state becomes CLOSED, and calls return
	   KUSTOS_EAUTH. */
	const char *digest;

	/* Stored in nodes that are made without data, but not in parents that
	   are made besides.  NULL: nothing. */
	const void *node_data;
	size_t node_data_len;

	kustos_log_fn *log; /* NULL: no log */
	void *log_arg;
	enum kustos_log_level log_level; /* default KUSTOS_LOG_WARNING */

	enum kustos_dispatch dispatch;

	kustos_request_fn *on_request; /* NULL: none */
	void *on_request_arg;

	/* Go on with this session, of a process that has ended without closing
	   its client, if the session is still there.  If it is not, or this is
	   NULL, begin a new session.  All ephemeral nodes of the session stay,
	   so what is held by them stays taken until somebody who knows of them
	   takes them over, as a latch does with its option "resume".  Nothing
	   takes over the nodes of other recipes: who waits for such a node
	   waits for as long as this client lives, even if it is of this client
	   itself.  So delete those nodes, or do not resume the session.  The
	   other process must have ended: two processes that use one session cut
	   each other off, and both may think that it is theirs. */
	const struct kustos_ticket *resume;
};

#define KUSTOS_CLIENT_OPTIONS_INIT                                            \
	{                                                                     \
		sizeof(struct kustos_client_options), 0, 0, 10000,            \
			{ KUSTOS_RETRY_EXPONENTIAL, 29, 100, 5000, INT64_MAX, \
				0, 0 },                                       \
			0, 0, 0, 0, 0, 0, 0, KUSTOS_LOG_WARNING,              \
			KUSTOS_DISPATCH_THREAD, 0, 0, 0                       \
	}

/* Make a client and store it in "*out".  Returns at once and connects in the
   background, however long it takes until a server is up.  The client never
   uses a server in read-only mode.  On failure "*out" is left alone.  Returns
   KUSTOS_OK; KUSTOS_EINVAL if an option is malformed (the log says which); or
   KUSTOS_ENOMEM if memory, threads or descriptors are short. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_client_open(
	const struct kustos_client_options *options,
	struct kustos_client **out);

/* End the session and free "client", which may be NULL.  Every request still
   pending ends exactly once, with KUSTOS_ECLOSED at the latest, and every
   guaranteed delete is retried until "budget".  Waits no longer than a moment
   past "budget", and for callbacks that are running or due, however long they
   take.  With KUSTOS_DISPATCH_FD it runs those that are due itself.

   In a callback of this client the call does not wait, and returns KUSTOS_OK
   whatever the outcome: the rest happens when the callback has returned.  With
   KUSTOS_DISPATCH_FD the rest happens in kustos_client_dispatch(): in the call
   that ran the callback; or, if the callback had a thread of its own, as the
   functions of selectors and consumers have, in the next call, for which the
   descriptor is readable.  That call of kustos_client_dispatch() then waits as
   this one would, and calls listeners with KUSTOS_STATE_CLOSED last; when it
   has returned, neither the client nor the descriptor exists any more.

   What is still held is given back, as its nodes go with the session.  Each
   such hold is lost, which kustos_hold_on_lost() reports.  When the close has
   ended, nothing of this client may be touched any more, not even to free it:
   the memory of holds that were not released, and of recipes that were not
   destroyed, is then leaked.

   Returns KUSTOS_OK if the server knows that the session is over;
   KUSTOS_ELINGERING if it could not be told in time, so that ephemeral nodes
   stay for up to "*linger_ms" milliseconds more ("linger_ms" may be NULL); or
   KUSTOS_EFORKED. */
KUSTOS_API enum kustos_err kustos_client_close(struct kustos_client *client,
	kustos_deadline budget, int64_t *linger_ms);

/* Wait until the client is CONNECTED.  Returns KUSTOS_OK, KUSTOS_ETIMEDOUT,
   KUSTOS_ECANCELED, KUSTOS_EAUTH if the credentials were refused,
   KUSTOS_ECLOSED, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_client_wait_connected(
	struct kustos_client *client, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Wait until everything sent so far has been answered, including releases and
   guaranteed deletes.  What was lost with a connection is sent again, and
   waited for, unless its call has ended meanwhile.  Releases and guaranteed
   deletes are over with their session, too: when that has ended, or was given
   up after two timeouts without a connection.  (If no server was running all
   that time, the nodes may stay for up to the timeout once the servers run
   again.)  Returns as kustos_client_wait_connected(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_client_flush(
	struct kustos_client *client, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Return the state at this instant, as the clock decides it. */
KUSTOS_API enum kustos_state kustos_client_state(struct kustos_client *client);

/* Return for how many milliseconds the session is certainly alive; 0 if that
   is not certain. */
KUSTOS_API int64_t kustos_client_lease_ms(struct kustos_client *client);

struct kustos_session {
	size_t size; /* of this struct, as the program knows it */
	enum kustos_state state;
	int64_t epoch;	    /* 0 before the first CONNECTED */
	int64_t session_id; /* 0 if there is none */
	int timeout_ms;	    /* as negotiated; 0 if there is none */
	char server[64];    /* numeric address and port, or empty */
	int reserved;	    /* 0 */
};

#define KUSTOS_SESSION_INIT                                                   \
	{                                                                     \
		sizeof(struct kustos_session), KUSTOS_STATE_CONNECTING, 0, 0, \
			0, "", 0                                              \
	}

/* Describe the session at this instant: fill in "*out", whose "size" the caller
   has set.  Returns KUSTOS_OK, KUSTOS_EINVAL or KUSTOS_EFORKED. */
KUSTOS_API enum kustos_err kustos_client_session(struct kustos_client *client,
	struct kustos_session *out);

/* Store what another process needs to go on with the session.  Returns
   KUSTOS_OK; KUSTOS_EDISCONNECTED if there is no session; KUSTOS_EINVAL or
   KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_client_ticket(
	struct kustos_client *client, struct kustos_ticket *out);

/* Called with the current state.  States that came and went before the call
   could be made are left out, but never LOST: each loss is reported. */
typedef void kustos_state_fn(void *arg, const struct kustos_session *now);

struct kustos_listener; /* opaque; lives from _listen() to _unlisten() */

/* Have "fn" called for each change of state, and once for the current state.
   Returns KUSTOS_OK, KUSTOS_EINVAL if "fn" is NULL, KUSTOS_ENOMEM or
   KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_client_listen(
	struct kustos_client *client, kustos_state_fn *fn, void *arg,
	struct kustos_listener **out);

/* Stop the calls of "listener", and free it.  NULL is allowed.  On return its
   function is not running and will not run again, unless it is itself the
   caller.  Closing the client frees the listeners that are left. */
KUSTOS_API void kustos_client_unlisten(struct kustos_client *client,
	struct kustos_listener *listener);

/* Return a descriptor that is readable when a callback waits for
   kustos_client_dispatch().  It belongs to the client.  -1 unless the client
   was opened with KUSTOS_DISPATCH_FD. */
KUSTOS_API int kustos_client_fd(struct kustos_client *client);

/* Run the callbacks that wait, and return how many there were.  Does nothing
   unless the client was opened with KUSTOS_DISPATCH_FD.  Only one thread at a
   time may call it. */
KUSTOS_API int kustos_client_dispatch(struct kustos_client *client);

/* Figures since the client was opened. */
struct kustos_client_stats {
	size_t size;	      /* of this struct, as the program knows it */
	uint64_t sent;	      /* requests sent */
	uint64_t answered;    /* requests that a server answered */
	uint64_t failed;      /* requests whose answer never came */
	uint64_t retried;     /* tries after the first */
	uint64_t sessions;    /* sessions begun */
	uint64_t disconnects; /* connections lost */
	uint64_t losses;      /* times the state became LOST */
	uint64_t moves;	      /* times the client chose another server */
	uint64_t pending;     /* requests now waiting for an answer */
	uint64_t waiting;     /* requests now waiting to be sent */
	/* Of answered requests, in microseconds. */
	uint64_t latency_mean_us;
	uint64_t latency_p50_us; /* these two to within 19 per cent */
	uint64_t latency_p99_us;
	uint64_t latency_max_us;
};

#define KUSTOS_CLIENT_STATS_INIT                                               \
	{                                                                      \
		sizeof(struct kustos_client_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, \
			0, 0, 0, 0, 0                                          \
	}

/* Fill in "*out", whose size the caller has set.  Returns KUSTOS_OK,
   KUSTOS_EINVAL or KUSTOS_EFORKED. */
KUSTOS_API enum kustos_err kustos_client_stats(struct kustos_client *client,
	struct kustos_client_stats *out);

KUSTOS_END
#endif
