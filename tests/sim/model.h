/*
 * model.h - an ensemble of ZooKeeper servers, and the client library that talks
 * to them, in memory and in virtual time.
 *
 * ku_zk_sim implements lib/zk.h on top of it.  The servers behave like
 * ZooKeeper 3.8.0, and the client side behaves like libzookeeper_mt 3.8.0.
 * Whenever the order or the time of things is open, the seed decides.
 *
 *   actor -- ku_zk_sim --> client.c ~~ network ~~> server.c --> txn.c
 *                                                    |            |
 *                                               its own tree  leader's tree
 *
 * Server 0 leads; what it commits, the others apply a little later.  While it
 * is down another leads at once, and it catches up when it comes back.
 *
 * Two things are simpler than in reality.  ACLs are checked for form and then
 * ignored.  And a request that is still under way on a connection that its
 * session has left is dropped, even if the new connection is to the same
 * server.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "sched.h"
#include "zk.h"

struct model;
struct model_client; /* a machine on which a client runs */

extern const struct ku_zk_api ku_zk_sim; /* open()'s env: a model_client */

struct model_config {
	uint64_t seed;
	int servers; /* 1 to 9 */
	int clients; /* machines; each is a client of the scheduler */
	int tick_ms;
	int min_timeout_ms, max_timeout_ms; /* of a session */
	int container_ms; /* how often empty containers are looked for */
	int64_t latency_min_ns, latency_max_ns; /* one way */
	int64_t replicate_max_ns; /* until a follower has applied a change */
	bool lag_holds_touches;	  /* a lagging follower keeps nothing alive */
	unsigned lose_reply_ppm;  /* a reply is lost: the connection breaks */
	unsigned delay_reply_ppm; /* a reply, and all behind it, is late */
	int64_t delay_max_ns;
	unsigned throttle_ppm;
	unsigned forget_ppm;  /* a server sets no watches after a reconnect */
	unsigned slow_ppm;    /* a completion or event reaches a client late */
	unsigned relapse_ppm; /* a new connection breaks at once */
	unsigned late_ppm;    /* a follower's write is done later, or never */
};

/* Set the defaults: 1 server, ticks of 500 ms, sessions of 2 to 20 ticks,
   containers each second, 50 to 500 us one way, 2 ms to replicate, no
   faults. */
void model_config_init(struct model_config *config);

struct model *model_create(struct sched *sched,
	const struct model_config *config);
void model_free(struct model *model);

/* Return machine "index", the "env" of ku_zk_sim.open(). */
struct model_client *model_client(struct model *model, int index);

/* Return the address of a server, "10.0.0.1:2181" for server 0, and those of
   all, with commas between. */
const char *model_address(struct model *model, int server);
const char *model_addresses(struct model *model);

/* What the model reports about the run, for invariants and traces.  Each hook
   may be NULL. */
enum model_note {
	NOTE_SEND,  /* a client submits */
	NOTE_SERVE, /* a server has processed a request */
	NOTE_DONE,  /* a completion is called */
	NOTE_EVENT, /* a watch or session event is called */
	NOTE_CONNECT,
	NOTE_CONNECTED,
	NOTE_BREAK,
	NOTE_CLOSE,
	NOTE_SESSION_NEW,
	NOTE_SESSION_END,
	NOTE_COMMIT, /* one change of a transaction */
	NOTE_FAULT
};

enum model_change_kind { CHANGE_CREATE, CHANGE_DELETE, CHANGE_SET };

struct model_hooks {
	void *arg;

	/* "what" is a short word, "path" may be NULL. */
	void (*note)(void *arg, enum model_note note, int client,
		const char *what, const char *path, int64_t value);

	/* A change is committed; nobody can have seen it yet. */
	void (*change)(void *arg, enum model_change_kind kind, const char *path,
		int64_t zxid, int64_t owner, int64_t parent_czxid,
		bool sequential);

	/* A rule of lib/zk.h was broken, by the model or by its user. */
	void (*broken)(void *arg, const char *rule, const char *detail);
};

void model_set_hooks(struct model *model, const struct model_hooks *hooks);

/* Faults.  Each takes effect at once. */

/* Break the connection of a client's newest handle.  With "lost", requests that
   are under way to the server are lost as well. */
void model_cut(struct model *model, int client, bool lost);

/* At "at_ns", when a pause of the client ends, have it check for how long it
   has heard nothing before it sees what has arrived meanwhile. */
void model_look_at_time(struct model *model, int client, int64_t at_ns);

/* Let nothing through between a client and a server until "until_ns"; new
   connections to it hang. */
void model_hole(struct model *model, int client, int server, int64_t until_ns);

/* End a client's session on the server. */
bool model_expire(struct model *model, int client);

/* The client's process dies.  What it has sent may still arrive, and its
   session lives on for a while.  The client object sends nothing more, and is
   to be freed. */
void model_crash(struct model *model, int client);

/* Delete a node, with all below it, from outside.  False if it is not there. */
bool model_delete(struct model *model, const char *path);

/* Choose a node below "prefix" by a random number; NULL if there is none. */
const char *model_choose(struct model *model, const char *prefix,
	uint64_t random);

void model_server_stop(struct model *model, int server);
void model_server_start(struct model *model, int server);

/* Have a server (not 0) apply nothing until "until_ns". */
void model_lag(struct model *model, int server, int64_t until_ns);

/* A server forgets all its watches but keeps its connections.  No watch that
   was set there fires, until it is set again. */
void model_forget_watches(struct model *model, int server);

/* No more faults: all servers up, nothing held back. */
void model_heal(struct model *model);
void model_set_reply_faults(struct model *model, unsigned lose_ppm,
	unsigned delay_ppm);

/* Of a million requests, how many are refused because the server has too many
   (zookeeper.throttled_op_wait_time).  Each is refused or not by itself. */
void model_set_throttle(struct model *model, unsigned ppm);

/* "forget_ppm": of a million reconnects, after how many the server does not set
   the watches again.  A server with too many requests refuses to do so, and
   libzookeeper_mt ignores the refusal.  "slow_ppm": of a million completions
   and events, how many are called late, with all behind them; by then the
   connection may have been lost and made again. */
void model_set_odd_faults(struct model *model, unsigned forget_ppm,
	unsigned slow_ppm);

/* Of a million connections that a server accepts, how many break again within a
   few round trips.  Either everything under way is lost, or the replies
   only. */
void model_set_relapse(struct model *model, unsigned ppm);

/* Of a million writes at followers, how many are held on the way to the leader,
   with the writes behind them.  The connection then breaks soon, and several
   times again.  If the session comes back to that follower, the writes are done
   then, whatever the session has done elsewhere. */
void model_set_late(struct model *model, unsigned ppm);

/* Looking in from outside, at the leader's tree */

bool model_stat(struct model *model, const char *path,
	struct kustos_stat *stat);
/* Copy as much of a node's data as there is room for, and a zero byte. */
bool model_data(struct model *model, const char *path, char *data, size_t size);
/* Return a node's data, with a zero byte behind it; NULL if it has none. */
const char *model_bytes(struct model *model, const char *path, size_t *len);
int model_child_count(struct model *model, const char *path); /* -1: none */
bool model_session_alive(struct model *model, int64_t session);
/* Return how many ephemerals a session has, counted by looking at every
   node. */
int model_ephemerals(struct model *model, int64_t session);
int64_t model_zxid(struct model *model);
/* Which server a client's newest handle is connected to, or -1. */
int model_server_of(struct model *model, int client);
/* Set a node's counter of created children, as if "n" had been created. */
void model_set_created(struct model *model, const char *path, int32_t n);

struct model_figures {
	uint64_t requests;  /* processed by servers */
	uint64_t accepted;  /* by submit() */
	uint64_t completed; /* done was called */
	uint64_t overtaken; /* by close() */
	uint64_t events;    /* of watches */
	uint64_t expired;
	uint64_t late; /* requests that were done late */
	uint64_t back; /* of these: as the session was had back, unanswered */
};

const struct model_figures *model_figures(struct model *model);

/* Bugs that can be switched on in the model, to see that the rules find
   them. */
#define MODEL_BUG_SEQUENCE 1u	 /* a deleted node's number is used again */
#define MODEL_BUG_WATCH_TWICE 2u /* a watch stays after it fired */
#define MODEL_BUG_LOSE_DONE 4u	 /* now and then a completion is forgotten */
#define MODEL_BUG_REORDER 8u	 /* now and then a reply overtakes another */
#define MODEL_BUG_KEEP_EPHEMERAL 16u /* a session's end leaves its first node */
#define MODEL_BUG_WATCH_LOST 32u     /* a reconnect forgets what was watched */
void model_set_bugs(struct model *model, unsigned bugs);

#endif
