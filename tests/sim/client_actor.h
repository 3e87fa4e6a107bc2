/*
 * client_actor.h - the scenario "client", in three parts: the operations
 * (client_ops.c), the actors that start them (scenario_client.c), and the rules
 * that must hold (client_rules.c).
 */
#ifndef SIM_CLIENT_ACTOR_H
#define SIM_CLIENT_ACTOR_H

#include "ledger.h"
#include "subject.h"

#define CLIENTS 3
#define SERVERS 3
#define TIMEOUT_MS 3000

enum op_kind {
	OP_PROTECTED,
	OP_EPHEMERAL,
	OP_PLAIN,
	OP_READ,
	OP_COUNT,
	OP_PAIR,
	OP_DELETE,
	OP_KINDS
};

struct op {
	struct actor *actor;
	enum op_kind kind;
	int number;
	int version; /* of the counter, as it was read */
	int ended;
	enum kustos_err err;
	int64_t zxid[2]; /* czxids of the nodes that it made last */
	int64_t owner[2];
	int live[2];	 /* how many of them there are */
	bool guaranteed; /* its node has a guaranteed delete */
	int given_up;	 /* number of the actor's client that gave it up */
	struct op *next;
};

struct shared {
	struct op **ops;
	int count, room;
	struct ledger ledger;
	int64_t made, perhaps; /* changes of the counter */
	bool closing;
};

struct actor {
	struct subject it;
	struct kustos_listener *listener;
	int opened; /* number of clients so far, one after the other */
	int64_t next;
	enum kustos_state told;
	int64_t told_epoch;
	int64_t session_since; /* when the present session was first seen */
	int64_t session;
	int64_t lost_since; /* when the lease ended, while LOST is not told */
	int pending;
	int64_t stepped;     /* when it last did something */
	int64_t reads_until; /* until then it only reads */
};

/* client_ops.c */

struct shared *shared_of(struct sim *sim);

/* Make an operation of an actor, and start it. */
struct op *op_new(struct actor *a, enum op_kind kind);
void op_start(struct op *op);

/* Create the counter's node. */
void op_start_counter(struct op *op);

/* client_rules.c */

void rules_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void rules_change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential);
bool rules_settled(struct sim *sim);

#define RULE_COUNT 6
extern const struct sim_invariant rules[RULE_COUNT];

#endif
