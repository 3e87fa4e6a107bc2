/*
 * sem_actor.h - the scenario of the semaphore.  Its parts are the nodes that
 * exist (sem_nodes.c), the calls (sem_turns.c), two actors that do what other
 * programs do (sem_foreign.c), the rules that must hold (sem_rules.c), and the
 * actors (scenario_semaphore.c).
 */
#ifndef SIM_SEM_ACTOR_H
#define SIM_SEM_ACTOR_H

#include "ask.h"
#include "ending.h"
#include "ledger.h"
#include "stranger.h"
#include "subject.h"

#include <kustos/hold.h>
#include <kustos/semaphore.h>

#define OURS 5	     /* clients at the most; a seed may have fewer */
#define CURATOR OURS /* an actor that does as Curator's clients do */
#define ADMIN (OURS + 1)
#define MACHINES (OURS + 2)
#define SERVERS 3
#define SLOTS 4 /* of a client: how many turns it may have at a time */
#define MOST 4	/* leases that there may be */
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/sem"
#define SEM PREFIX "/s"
#define LEASES SEM "/leases"
#define LOCKS SEM "/locks"
#define NUMBER "/number" /* only the admin deletes it */

struct actor;

struct place { /* a lease's node, or a lock's */
	char path[96];
	bool lock;
	int client; /* its owner; MACHINES if it has none */
	int64_t token, owner;
	enum fate fate;
	int64_t gone_at;
	bool held; /* granted, and not given back */
	int64_t stray_since;
};

enum turn_state { TURN_WAITING, TURN_HOLDING, TURN_OVER };

struct turn { /* an acquisition */
	struct actor *actor;
	int number;
	int count; /* how many leases it asks for */
	enum turn_state state;
	struct ask ask;
	bool fickle; /* may be canceled */
	bool contended;
	int made; /* leases that its client has made since it began */
	struct kustos_hold *holds[MOST];
	struct place *places[MOST];
	int64_t epoch;
	int64_t until;
	bool stale; /* lost before the grant was told */
};

/* What the actor CURATOR is doing. */
enum step { STEP_IDLE, STEP_LOCKS, STEP_WAITS, STEP_HOLDS };

struct actor {
	struct subject it;
	bool active;

	/* A client of ours. */
	struct kustos_semaphore *sem;
	bool ending;
	int64_t epoch; /* of the client, after the last event */
	struct turn *turns[SLOTS];

	/* CURATOR, or the admin. */
	struct stranger he;
	bool broken;
	enum step step;
	char lock[96], lease[96];
	int room;
	int64_t until;
};

/* The counts of a run, for tests. */
struct sem_figures { /* of uint64_t only */
	uint64_t started, granted, many, tries, queued, lost, busy, theirs,
		changes, full, saturated, looks, together, passed;
};

struct sem_figures sem_last_figures(void);

struct number { /* its value from a time on */
	int64_t at;
	int room;
};

struct shared {
	struct sim_random random;
	int count;   /* of our clients */
	bool shared; /* the node NUMBER says how many leases there may be */
	int room;    /* otherwise this does */
	struct place **places;
	int place_count, place_room, first_there;
	struct number *changes;
	int change_count, change_room;
	struct turn **turns;
	int turn_count, turn_room;
	int asked, made; /* leases of ours */
	int excuses;	 /* nodes and leases of ours that were lost */
	struct sem_figures figures;
	struct ledger ledger;
	struct ending ending;
};

struct shared *sem_shared(struct sim *sim);
struct actor *sem_actor_of(struct sim *sim, int index);

/* sem_nodes.c */

void sem_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void sem_change(struct sim *sim, enum model_change_kind kind, const char *path,
	int64_t zxid, int64_t owner, int64_t parent_czxid, bool sequential);
struct place *sem_find(struct shared *s, const char *path);

/* Return a place that exists, of our clients or of others; or NULL. */
struct place *sem_some(struct shared *s, bool ours);

/* For how long a client may act on something that is no longer true. */
int64_t sem_known_ns(struct sim *sim);

/* How many leases there may be: the greatest number that any client may go by
   now. */
int sem_room(struct sim *sim);
int sem_room_now(const struct shared *s);

/* sem_turns.c */

void sem_start(struct actor *a, int slot);
void sem_step(struct turn *turn);
void sem_cancel(struct turn *turn);
void sem_release(struct turn *turn);
void sem_make(struct actor *a);
void sem_free(void *actor);

/* sem_foreign.c */

void sem_foreign_step(struct actor *a);
bool sem_foreign_done(struct actor *a);

/* sem_rules.c */

void sem_granted(struct turn *turn);
void sem_ended(struct turn *turn, enum kustos_err err);
bool sem_reason(const struct turn *turn);

/* A lease was just granted: fail the run if there are too many. */
void sem_check_count(struct sim *sim);
#define SEM_RULE_COUNT 2
extern const struct sim_invariant sem_rules[SEM_RULE_COUNT];

#endif
