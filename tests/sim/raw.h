/*
 * raw.h - clients that use lib/zk.h directly, to check the model by its
 * contract.
 *
 * They run a naive lock (protected create, list, watch the node before), and
 * send a mixture of other requests on the side.  The lock is naive on purpose:
 * the rules demand only what ZooKeeper and the contract of lib/zk.h promise.
 */
#ifndef SIM_RAW_H
#define SIM_RAW_H

#include "sim.h"

#define RAW_LOCK "/raw/lock"
#define RAW_NODES 8 /* "/raw/0" to "/raw/7" */
#define RAW_ARMED_MAX 64
#define RAW_PENDING_MAX 32

enum raw_state {
	RAW_IDLE,
	RAW_CREATING,
	RAW_LISTING,
	RAW_WAITING, /* for the node before its own to go */
	RAW_HOLDING,
	RAW_RELEASING
};

struct raw_armed { /* a watch that may fire, as the client sees it */
	char path[72];
	int kinds;	      /* WATCH_* of watches.h */
	int64_t mzxid, pzxid; /* as last read; -1: not read */
};

struct raw_request { /* one accepted submit() */
	struct raw_actor *actor;
	struct ku_zk *zk;
	enum ku_zk_kind kind;
	bool lock; /* part of the lock, not of the mixture */
	bool watch;
	bool used;
	uint64_t life; /* of the handle */
	uint64_t number;
	char path[72];
};

struct raw_actor {
	struct sim *sim;
	struct sim_random *random;
	int index;
	struct ku_zk *zk;
	bool connected;
	bool ended;		 /* expired: close, and open a new one */
	uint64_t life;		 /* counts handles */
	uint64_t sent, answered; /* of this handle */
	enum raw_state state;
	char node[72];	 /* its own, in the line */
	char before[72]; /* the node before that, which it watches */
	uint64_t tries;
	uint64_t holds;
	struct raw_request requests[RAW_PENDING_MAX];
	struct raw_armed armed[RAW_ARMED_MAX];
	int armed_count;
};

struct raw_state_shared {
	/* The last number given below each incarnation of a parent. */
	struct {
		int64_t parent;
		int64_t last;
	} lines[64];
	int line_count;
	int64_t ended; /* session that ended: has it left a node? */
	bool stop;
	int64_t rest_at; /* when everything is at rest; 0: not yet known */
};

extern const struct sim_actor raw_actor_ops;

/* raw_watch.c: which watches are set */
void raw_arm(struct raw_actor *actor, const struct raw_request *request,
	const struct ku_zk_reply *reply);
void raw_fired(struct raw_actor *actor, enum ku_zk_event event,
	const char *path);
const char *raw_watches_final(struct sim *sim);

#endif
