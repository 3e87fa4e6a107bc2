/*
 * mutex_actor.h - the scenarios of locks.  Their parts are:
 *
 *   the nodes in the lines         mutex_line.c, mutex_order.c
 *   calls to a lock                mutex_actor.c
 *   contenders of other libraries  mutex_foreign.c
 *   rules that must hold           mutex_rules.c, mutex_waits.c, mutex_holds.c
 *   the end of a run               mutex_end.c
 *   the actors                     scenario_mutex.c
 *   what only one lock has         mutex_recipe.c, rw_recipe.c, simple_recipe.c
 */
#ifndef SIM_MUTEX_ACTOR_H
#define SIM_MUTEX_ACTOR_H

#include "ask.h"
#include "ending.h"
#include "ledger.h"
#include "stranger.h"
#include "subject.h"

#include <kustos/hold.h>

#define OURS 6 /* clients at the most; a seed may have fewer */
#define FOREIGNER OURS
#define MACHINES (OURS + 1)
#define SERVERS 3
#define LINES 2
#define OBJECTS 3 /* of a client */
#define SLOTS 16  /* of a client: how many turns it may have at a time */
#define CROWD 3	  /* clients that together make a long line */
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/locks"

struct actor;

struct place { /* a contender's node */
	char path[128];
	int line;
	int client;	      /* its owner; FOREIGNER also if it has none */
	int64_t token, owner; /* a copy has the token of the writer */
	uint64_t serial;      /* counts in the order of creation */
	int32_t number;
	bool shares;
	bool copies;	    /* a reader's, with the number of a writer */
	struct place *twin; /* that writer's; NULL: there never was one */
	bool late;	    /* made when that writer's was gone already */
	uint64_t order;	    /* in the line: its serial, or its twin's */
	enum fate fate;
	int64_t gone_at, gone_zxid;
	bool released; /* its holder has given it back */
	bool kept;     /* a server had too many requests to handle it */
	bool asked;    /* somebody has changed its data */
	int grants;
};

/* One acquisition. */
enum turn_state { TURN_WAITING, TURN_HOLDING, TURN_OVER };

struct turn {
	struct actor *actor;
	int object; /* the number of its object */
	bool kazoo;
	bool shares;
	int local_handoffs;
	int line, number;
	enum turn_state state;
	struct ask ask;
	bool fickle;	     /* may be canceled */
	bool contended;	     /* there was somebody else meanwhile */
	int64_t alone_since; /* since when it has had nobody to wait for */
	int made; /* nodes that its client has made in the line since */

	/* A writer that becomes a reader. */
	struct turn *from;
	bool wrong; /* "from" is no writer, or not in this line, or has other names */
	bool doomed;	/* "from" was lost before */
	int had_excuse; /* "excuses" of its client when it began */

	struct kustos_hold *hold;
	struct place *place;
	int64_t epoch;
	int64_t until;			   /* when to release it */
	bool minds_risk, warned, was_safe; /* safe again since the warning */
	int64_t risk_ns;
	int64_t risk_since, safe_since, warned_at;
	bool stale; /* was lost before the grant was told */
	int told;
	int64_t lost_since; /* seen to be lost, and not told */
};

struct object {
	void *lock;
	int number;
	int line;
	int local_handoffs;
	bool kazoo; /* has the names of kazoo */
};

struct actor {
	struct subject it;
	bool active;

	/* A client of ours. */
	bool ending; /* gives everything up, to be closed */
	bool loner;  /* has one turn at a time, in a crowded run */
	struct object objects[OBJECTS];
	struct turn *turns[SLOTS];
	int started, made; /* acquisitions; nodes made for them */
	int excuses;	   /* reasons for more than one node each */

	/* The foreigner. */
	struct stranger he;
};

/* The counts of a run, for tests. */
struct mutex_figures { /* of uint64_t only */
	uint64_t started, granted, handed_over, lost, busy, saturated, revoked,
		proofs;
	uint64_t looks; /* listings and other reads of a line's node */
	uint64_t shared, downgraded, refused, copies;
	uint64_t together; /* events at which two held a line */
};

/* Return the counts of the run that ended last. */
struct mutex_figures mutex_last_figures(void);

/* The text before the number in a contender's name.  NULL stands for "x-", a
   session's id, and "-". */
struct mark {
	const char *text;
	bool shares;
};

struct recipe {
	bool seat; /* the line itself is the only node; the rest is NULL */
	const struct mark *marks;
	int mark_count;
	const char *const *names; /* of the nodes that the foreigner makes */
	int name_count;

	/* Make the lock of an object; free it; acquire it.  They return what
	   the library returns. */
	enum kustos_err (*make)(struct actor *a, struct object *object);
	void (*free)(struct object *object);
	enum kustos_err (*ask)(struct turn *turn, const struct object *object,
		kustos_granted_fn *granted);

	/* May be NULL: choose a side; do more while it is held; do something
	   as the foreigner. */
	void (*choose)(struct turn *turn);
	void (*holds)(struct turn *turn);
	void (*meddle)(struct actor *foreigner);
};

extern const struct recipe mutex_recipe;
extern const struct recipe rw_recipe;

struct shared {
	const struct recipe *recipe;
	struct sim_random random;
	int count;  /* of our clients */
	int slots;  /* of each client */
	bool crowd; /* many wait in one line, and do not give up */
	bool hush;  /* no new acquisitions are started */
	struct place **places;
	int place_count, place_room;
	int first_there; /* no place before this index exists any more */
	struct turn **turns;
	int turn_count, turn_room;
	int object_count; /* number of objects ever made */
	struct ledger ledger;
	struct mutex_figures figures;
	/* The greatest token granted so far, to writers and to readers. */
	int64_t granted[LINES][2];
	int64_t sound[LINES]; /* since when numbers are not near their end */
	bool private_data[LINES]; /* the line's node has a program's data */
	int64_t applied[SERVERS], applying[SERVERS]; /* zxids a while ago */
	int64_t next_look;
	struct ending ending;
};

struct shared *mutex_shared(struct sim *sim);
struct actor *mutex_actor_of(struct sim *sim, int index);
const struct recipe *mutex_recipe_of(struct sim *sim);
extern const char *const mutex_lines[LINES];

/* mutex_line.c */

void line_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void line_change(struct sim *sim, enum model_change_kind kind, const char *path,
	int64_t zxid, int64_t owner, int64_t parent_czxid, bool sequential);

/* Delete a node from outside, at some time within "within_ns". */
void line_remove_soon(struct sim *sim, const struct place *place,
	int64_t within_ns);
#define REMOVED_NS (5 * KU_NS_PER_MS)

/* mutex_order.c */

struct place *line_find(struct shared *s, const char *path);

/* The same, when several nodes had this path one after the other. */
struct place *line_find_token(struct shared *s, const char *path,
	int64_t token);

/* Does a contender that shares, or one that does not, wait for "place"? */
bool line_blocks(const struct place *place, bool shares);

/* Return a contender of another session for which "place" has to wait, and
   whose holder has not given it back; or NULL. */
struct place *line_before(struct shared *s, const struct place *place);

/* Return whether "place" has to wait for no contender at all, not even for one
   of its own session or one that was given back. */
bool line_is_first(struct shared *s, const struct place *place);

/* Delete, from outside, the node that stands "count" behind "place", if it is
   one of ours. */
void line_remove_behind(struct sim *sim, const struct place *place, int count);

/* Is there anybody in the line for whom a contender that shares, or one that
   does not, has to wait?  Nodes that "session" has given back do not count:
   they go before anything that this session makes afterwards. */
bool line_busy(struct shared *s, int line, bool shares, int64_t session);

/* Return an existing contender, of the foreigner or of ours, chosen by a random
   number; or NULL. */
struct place *line_some(struct shared *s, bool foreign, uint64_t random);

/* mutex_actor.c */

void turn_start(struct actor *a, int slot, bool once);

/* Downgrade: acquire a reader's hold beside "from", through "object". */
void turn_beside(struct actor *a, int slot, struct turn *from,
	struct object *object);
void turn_step(struct turn *turn);
void turn_cancel(struct turn *turn);
void turn_release(struct turn *turn);

/* Somebody wants a hold of the actor "arg" back: release it, or do not. */
void turn_asked(void *arg, struct kustos_hold *hold);

/* Make the locks of a client; destroy one and make another; destroy them all.
   Acquisitions that wait for a destroyed lock end. */
void objects_make(struct actor *a);
void object_replace(struct actor *a);
void objects_free(void *actor);

/* mutex_foreign.c */

void foreign_step(struct actor *a);
void foreign_submit(struct actor *a, const struct ku_zk_request *request);
void foreign_set(struct actor *a, const char *path, const char *data);
bool foreign_done(struct actor *a);

/* mutex_rules.c */

/* Was the node deleted from outside, or its session ended from there?  The
   holder's clock cannot know that. */
bool rules_excused(const struct place *place);

/* Return "at_ns", or the later time from which "a" is awake: a paused client
   cannot act in time. */
int64_t rules_by(const struct actor *a, int64_t at_ns);

/* How old a client's knowledge may be. */
int64_t rules_known_ns(const struct sim *sim);

/* Is there a reason for the loss of "turn"? */
bool rules_reason(const struct turn *turn);

/* Was more of the lease left at some time since the warning, even if no event
   could show it? */
bool rules_was_safe(const struct turn *turn);

/* Check a grant; check what a holder sees when it looks. */
void rules_granted(struct turn *turn);
void rules_held(struct turn *turn);

/* mutex_waits.c */

/* Check a turn that waits; how it ended; and that no turn waits too long. */
void rules_waiting(struct turn *turn);
void rules_ended(struct turn *turn, enum kustos_err err);
const char *rules_waits(struct sim *sim);

/* mutex_holds.c */
#define MUTEX_RULE_COUNT 2
extern const struct sim_invariant mutex_rules[MUTEX_RULE_COUNT];

/* mutex_end.c */

bool mutex_settled(struct sim *sim);

/* scenario_mutex.c */

void mutex_end(struct sim *sim);
extern const struct sim_actor mutex_client;

/* Everything of a scenario but its name and its recipe. */
#define LOCK_SCENARIO \
	.clients = MACHINES, .servers = SERVERS, .timeout_ms = TIMEOUT_MS, \
	.step_ms = 20, \
	.faults.rate = { \
		SUBJECT_FAULTS, \
		[SIM_DELETE] = 1000, \
	}, \
	.cut_off = true, .swarm = true, .prefix = PREFIX, \
	.actor = &mutex_client, .state_size = sizeof(struct shared), \
	.end = mutex_end, .drain = subjects_drain, .settled = mutex_settled, \
	.settle_ms = 60000, .note = line_note, .change = line_change, \
	.invariants = mutex_rules, .invariant_count = MUTEX_RULE_COUNT

#endif
