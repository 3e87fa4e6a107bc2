/*
 * barrier_actor.h - the scenario of the barriers.  Its parts are the nodes that
 * exist and the rules that must hold (barrier_rules.c), and the actors
 * (scenario_barrier.c).
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
#define CROWD 6 /* members of a crowded run: more than MOST */
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
#define MISSED_NS (300000 * KU_NS_PER_MS) /* two of a client's rare looks */

enum phase { OUT, ENTERING, IN, LEAVING };

struct spot { /* a member's node */
	char path[80];
	int actor;
	bool there;
	int64_t czxid;
	int64_t full; /* transaction that completed its round; 0: none did */
	bool parting; /* its member leaves, or has given up */
};

struct actor {
	struct subject it;
	bool active;
	struct kustos_double_barrier *member;
	struct kustos_barrier *gate;
	enum phase phase;
	struct ask step, wait;
	int first_node; /* nodes before this index belong to earlier calls */
	int64_t round;	/* the round it is in: the "full" of its spot */
	int64_t told;	/* its round has members up to this; 0: not known */
	bool late;	/* this round began after the faults had ended */
	bool served;	/* such a round has ended */
};

struct shared {
	bool crowded;
	int count, members; /* how many a round needs; how many exist */
	struct spot *nodes;
	int node_count, node_room;
	bool gate_there;
	int64_t gate_made_at;
	bool ready_there;
	bool tampered; /* somebody deleted "ready" */
	bool missed;   /* a member that did not see "ready" is to come again */
	int64_t patience_ns;
	struct ledger ledger;
	struct ending ending;
	uint64_t figures[BARRIER_FIGURES];
};

struct shared *bar_shared(struct sim *sim);
struct actor *bar_actor_of(struct sim *sim, int index);

/* Track the nodes as the leader has them. */
void bar_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void bar_change(struct sim *sim, enum model_change_kind kind, const char *path,
	int64_t zxid, int64_t owner, int64_t parent_czxid, bool sequential);

/* The actor's nodes no longer count: it leaves, or has given up. */
void bar_part(struct actor *a);

/* A call has ended; the last three are callbacks. */
void bar_call_over(struct actor *a, struct ask *call, const char *what,
	enum kustos_err err);
void bar_entered(void *arg, enum kustos_err err);
void bar_left(void *arg, enum kustos_err err);
void bar_passed(void *arg, enum kustos_err err);

#endif
