/*
 * model.h - an ensemble of ZooKeeper servers, and the client library that
 * talks to them, in memory and in virtual time.
 *
 * ku_zk_sim implements lib/zk.h over it.  The servers behave as ZooKeeper
 * 3.8.0 does, the client side as libzookeeper_mt 3.8.0 does, and everything
 * that may happen at one time or another is chosen from the seed.
 *
 *   actor -- ku_zk_sim --> client.c ~~ network ~~> server.c --> txn.c
 *                                                    |            |
 *                                               its own tree  leader's tree
 *
 * Server 0 leads; what it commits, the others apply a little later.  While it
 * is down another leads at once, and it catches up when it comes back.
 *
 * What is simpler than in the world: ACLs are checked for form and then
 * ignored; a request that was under way on a connection which its session has
 * left is dropped also if both connections are to the same server.
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
	int clients; /* machines; each is a client of the sched */
	int tick_ms;
	int min_timeout_ms, max_timeout_ms; /* of a session */
	int container_ms; /* how often empty containers are looked for */
	int64_t latency_min_ns, latency_max_ns; /* one way */
	int64_t replicate_max_ns; /* until a follower has applied a change */
	bool lag_holds_touches;	  /* a lagging follower keeps nothing alive */
	unsigned lose_reply_ppm;  /* a reply is lost: the connection breaks */
	unsigned delay_reply_ppm; /* it, and what follows, is late */
	int64_t delay_max_ns;
	unsigned throttle_ppm;
	unsigned forget_ppm;  /* a server sets no watches of who reconnects */
	unsigned slow_ppm;    /* what is told to a client is late */
	unsigned relapse_ppm; /* a new connection breaks at once */
	unsigned late_ppm;    /* a follower's write is done later, or never */
};

/* 1 server, ticks of 500 ms, sessions of 2 to 20 ticks, containers each
   second, 50 to 500 us one way, 2 ms to replicate, no faults. */
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

/* What is told about the run, for invariants and traces.  Each may be NULL. */
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

	/* A committed change, before anybody can see it. */
	void (*change)(void *arg, enum model_change_kind kind, const char *path,
		int64_t zxid, int64_t owner, int64_t parent_czxid,
		bool sequential);

	/* A rule of lib/zk.h was broken, by the model or by its user. */
	void (*broken)(void *arg, const char *rule, const char *detail);
};

void model_set_hooks(struct model *model, const struct model_hooks *hooks);

/* Faults.  Each takes effect at once. */

/* Break the connection of a client's newest handle.  With "lost", what is
   under way to the server is lost, too. */
void model_cut(struct model *model, int client, bool lost);

/* At "at_ns", when it has stood still until then, a client sees for how long it has
   heard nothing before it sees what has come meanwhile. */
void model_look_at_time(struct model *model, int client, int64_t at_ns);

/* Let nothing through between a client and a server until "until_ns"; new
   connections to it hang. */
void model_hole(struct model *model, int client, int server, int64_t until_ns);

/* End a client's session on the server. */
bool model_expire(struct model *model, int client);

/* The client's process dies: what it has sent may arrive, and its session lives
   on for a while.  What is left of the client is to be freed, and says
   nothing. */
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

/* A server loses its watches, and no connection: what is watched there is told
   to nobody, until it is watched anew. */
void model_forget_watches(struct model *model, int server);

/* No more faults: all servers up, nothing held back. */
void model_heal(struct model *model);
void model_set_reply_faults(struct model *model, unsigned lose_ppm,
	unsigned delay_ppm);

/* How many of a million requests are refused, each by itself, because there were
   too many (zookeeper.throttled_op_wait_time). */
void model_set_throttle(struct model *model, unsigned ppm);

/* Of a million reconnects, how many find a server that sets no watches and does not say
   so, as if it had too many requests: libzookeeper_mt does not look.  And of a million
   completions and events, how many are late, with all behind them: until then the
   connection may have been lost and made again. */
void model_set_odd_faults(struct model *model, unsigned forget_ppm,
	unsigned slow_ppm);

/* Of a million connections that a server takes, how many break again within a few round
   trips, or soon: with what is under way, or with the replies only. */
void model_set_relapse(struct model *model, unsigned ppm);

/* Of a million writes at followers, how many stay on the way to the leader, with those
   behind them: the connection breaks soon, and again and again.  If the session comes
   back to that follower, they are done then, whatever it has done elsewhere. */
void model_set_late(struct model *model, unsigned ppm);

/* Looking in from outside, at the leader's tree. */

bool model_stat(struct model *model, const char *path,
	struct kustos_stat *stat);
/* Copy a node's data, as far as there is room, and a zero byte. */
bool model_data(struct model *model, const char *path, char *data, size_t size);
/* Return a node's data, with a zero byte behind it; NULL if it has none. */
const char *model_bytes(struct model *model, const char *path, size_t *len);
int model_child_count(struct model *model, const char *path); /* -1: none */
bool model_session_alive(struct model *model, int64_t session);
/* Return how many ephemerals a session has, looking at every node. */
int model_ephemerals(struct model *model, int64_t session);
int64_t model_zxid(struct model *model);
/* Which server a client's newest handle is connected to, or -1. */
int model_server_of(struct model *model, int client);
/* Set a node's counter of created children, as if each had been created. */
void model_set_created(struct model *model, const char *path, int32_t n);

struct model_figures {
	uint64_t requests;  /* processed by servers */
	uint64_t accepted;  /* by submit() */
	uint64_t completed; /* done was called */
	uint64_t overtaken; /* by close() */
	uint64_t events;    /* of watches */
	uint64_t expired;
	uint64_t late; /* requests that were done late */
};

const struct model_figures *model_figures(struct model *model);

/* Bugs that can be switched into the model, to see that they are found. */
#define MODEL_BUG_SEQUENCE 1u	 /* a delete gives its number back */
#define MODEL_BUG_WATCH_TWICE 2u /* a watch stays after it fired */
#define MODEL_BUG_LOSE_DONE 4u	 /* now and then a completion is forgotten */
#define MODEL_BUG_REORDER 8u	 /* now and then a reply overtakes another */
#define MODEL_BUG_KEEP_EPHEMERAL 16u /* a session's end leaves its first */
#define MODEL_BUG_WATCH_LOST 32u     /* a reconnect forgets what was watched */
void model_set_bugs(struct model *model, unsigned bugs);

#endif
