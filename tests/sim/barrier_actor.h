/*
 * barrier_actor.h - the scenario of the barriers: what is there and what must hold
 * (barrier_rules.c), and who acts (scenario_barrier.c).
 */
#ifndef SIM_BARRIER_ACTOR_H
#define SIM_BARRIER_ACTOR_H

#include "ask.h"
#include "barrier_figures.h"
#include "ending.h"
#include "ledger.h"
#include "subject.h"

#include <kustos/barrier.h>

#define MOST 4
#define CROWD 6 /* where there are more than that */
#define SERVERS 3
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/bar"
#define STEP PREFIX "/step"
#define READY STEP "/ready"
#define GATE PREFIX "/gate"
#define SERVED_NS (20 * TIMEOUT_NS)
#define KNOWN_NS (20 * KU_NS_PER_MS)
#define TIDY_NS (4 * TIMEOUT_NS)
#define MISSED_NS (300000 * KU_NS_PER_MS) /* two looks in a while, and some */

enum phase { OUT, ENTERING, IN, LEAVING };

struct spot { /* a member's */
	char path[80];
	int actor;
	bool there;
	int64_t czxid;
	int64_t full; /* transaction that completed the round; 0: none did */
	bool parting; /* its member leaves, or has given up */
};

struct actor {
	struct subject it;
	bool active;
	struct kustos_double_barrier *member;
	struct kustos_barrier *gate;
	enum phase phase;
	struct ask step, wait;
	int first_node; /* those before are of another call */
	int64_t round;	/* that it is in: spot's "full" */
	int64_t told; /* its members came up to this at the least; 0: not known */
	bool late;    /* this round began when faults were over */
	bool served; /* and ended */
};

struct shared {
	bool crowded;
	int count, members; /* that a round takes; that there are */
	struct spot *nodes;
	int node_count, node_room;
	bool gate_there;
	int64_t gate_made_at;
	bool ready_there;
	bool tampered; /* somebody deleted it */
	bool missed;   /* and one that did not see it is to come again */
	int64_t patience_ns;
	struct ledger ledger;
	struct ending ending;
	uint64_t figures[BARRIER_FIGURES];
};

struct shared *bar_shared(struct sim *sim);
struct actor *bar_actor_of(struct sim *sim, int index);

/* What is there, as the leader has it. */
void bar_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void bar_change(struct sim *sim, enum model_change_kind kind, const char *path,
	int64_t zxid, int64_t owner, int64_t parent_czxid, bool sequential);

/* Its nodes do not count any more. */
void bar_part(struct actor *a);

/* How it ends; the last three are callbacks. */
void bar_call_over(struct actor *a, struct ask *call, const char *what,
	enum kustos_err err);
void bar_entered(void *arg, enum kustos_err err);
void bar_left(void *arg, enum kustos_err err);
void bar_passed(void *arg, enum kustos_err err);

#endif
