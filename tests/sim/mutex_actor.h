/*
 * mutex_actor.h - the scenarios of locks: what the leader has in the lines
 * (mutex_line.c, mutex_order.c), what is asked of a lock (mutex_actor.c),
 * contenders that are not ours (mutex_foreign.c), what must hold (mutex_rules.c,
 * mutex_waits.c, mutex_holds.c), how it ends (mutex_end.c), and who acts
 * (scenario_mutex.c).  What lock it is, and what only that one does, says a
 * recipe: mutex_recipe.c, rw_recipe.c, simple_recipe.c.
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
#define SLOTS 16  /* of a client: what it may ask for at a time */
#define CROWD 3	  /* clients that make a long line between them */
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/locks"

struct actor;

struct place { /* a contender's node */
	char path[128];
	int line;
	int client;	      /* whose; FOREIGNER also if it is nobody's */
	int64_t token, owner; /* a copy has that of the writer */
	uint64_t serial;      /* the order in which they were made */
	int32_t number;
	bool shares;
	bool copies;	    /* the number of a writer, not one of its own */
	struct place *twin; /* that writer's; NULL: there never was one */
	bool late;	    /* it was gone already */
	uint64_t order;	    /* in the line: its serial, or its twin's */
	enum fate fate;
	int64_t gone_at, gone_zxid;
	bool released; /* its holder has given it back */
	bool kept;     /* and the server had too many requests to delete it */
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
	int64_t alone_since; /* nobody for it to wait for, as it was seen */
	int made; /* nodes that its client has made in its line since */

	/* A writer that becomes a reader. */
	struct turn *from;
	bool wrong; /* "from" is no writer, or not in this line, or has other names */
	bool doomed;	/* "from" was lost before */
	int had_excuse; /* its client, when it began */

	struct kustos_hold *hold;
	struct place *place;
	int64_t epoch;
	int64_t until;			   /* to be released then */
	bool minds_risk, warned, was_safe; /* since the warning */
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
	bool kazoo; /* has its names */
};

struct actor {
	struct subject it;
	bool active;

	/* Of ours. */
	bool ending; /* gives up, to be closed */
	bool loner;  /* asks for one at a time, in a crowd */
	struct object objects[OBJECTS];
	struct turn *turns[SLOTS];
	int started, made; /* acquisitions, nodes */
	int excuses;	   /* for nodes beyond one each */

	/* The foreigner. */
	struct stranger he;
};

/* What came of a run, for tests. */
struct mutex_figures { /* of uint64_t only */
	uint64_t started, granted, handed_over, lost, busy, saturated, revoked,
		proofs;
	uint64_t looks; /* listings, and other reads of a line's node */
	uint64_t shared, downgraded, refused, copies;
	uint64_t together; /* events at which two held a line */
};

/* Return those of the run that ended last. */
struct mutex_figures mutex_last_figures(void);

/* What must stand before the number of a contender's name; NULL: "x-", a
   session's id, and "-". */
struct mark {
	const char *text;
	bool shares;
};

struct recipe {
	bool seat; /* the line itself is the only node; the rest is NULL */
	const struct mark *marks;
	int mark_count;
	const char *const *names; /* which the foreigner makes */
	int name_count;

	/* Make the lock of an object, and free it; ask for it.  They return
	   what the library does. */
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
	int slots;  /* of each */
	bool crowd; /* many wait in one line, patiently */
	bool hush;  /* nothing new is asked for */
	struct place **places;
	int place_count, place_room;
	int first_there; /* none before this one is there */
	struct turn **turns;
	int turn_count, turn_room;
	int object_count; /* that ever were */
	struct ledger ledger;
	struct mutex_figures figures;
	/* How far it was granted, to writers and to readers. */
	int64_t granted[LINES][2];
	int64_t sound[LINES]; /* since when the counter is not near its end */
	bool private_data[LINES]; /* a program's, in the line's node */
	int64_t applied[SERVERS], applying[SERVERS]; /* zxids, a while ago */
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

/* Delete a node from outside, within some time. */
void line_remove_soon(struct sim *sim, const struct place *place,
	int64_t within_ns);
#define REMOVED_NS (5 * KU_NS_PER_MS)

/* mutex_order.c */

struct place *line_find(struct shared *s, const char *path);

/* The same for one of several that had the path one after the other. */
struct place *line_find_token(struct shared *s, const char *path,
	int64_t token);

/* Does one that shares, or does not, wait for "place"? */
bool line_blocks(const struct place *place, bool shares);

/* Return a contender of another session that "place" has to wait for and that
   has not been given back, or NULL. */
struct place *line_before(struct shared *s, const struct place *place);

/* Return whether there is none at all, whosever. */
bool line_is_first(struct shared *s, const struct place *place);

/* Delete, from outside, the node that stands "count" behind "place", if it is
   one of ours. */
void line_remove_behind(struct sim *sim, const struct place *place, int count);

/* Is anybody in the line whom one that shares, or does not, waits for?  But for
   what "session" has given back, which goes before anything that it makes then. */
bool line_busy(struct shared *s, int line, bool shares, int64_t session);

/* Return one that is there, of the foreigner or of ours, by a random number. */
struct place *line_some(struct shared *s, bool foreign, uint64_t random);

/* mutex_actor.c */

void turn_start(struct actor *a, int slot, bool once);

/* Ask for a reader's beside "from", by way of "object". */
void turn_beside(struct actor *a, int slot, struct turn *from,
	struct object *object);
void turn_step(struct turn *turn);
void turn_cancel(struct turn *turn);
void turn_release(struct turn *turn);

/* Somebody asks for a hold of the actor "arg": do as he asks, or not. */
void turn_asked(void *arg, struct kustos_hold *hold);

/* Make the locks of a client; destroy one and make another; destroy them.
   Who waits for one then is told. */
void objects_make(struct actor *a);
void object_replace(struct actor *a);
void objects_free(void *actor);

/* mutex_foreign.c */

void foreign_step(struct actor *a);
void foreign_submit(struct actor *a, const struct ku_zk_request *request);
void foreign_set(struct actor *a, const char *path, const char *data);
bool foreign_done(struct actor *a);

/* mutex_rules.c */

/* Did a node go in a way of which no clock knows? */
bool rules_excused(const struct place *place);

/* Return "at_ns", or when "a" could do something after it: a paused client
   cannot do anything in time. */
int64_t rules_by(const struct actor *a, int64_t at_ns);

/* How long ago a client has been told of what it knows. */
int64_t rules_known_ns(const struct sim *sim);

/* Was "turn" lost for a reason? */
bool rules_reason(const struct turn *turn);

/* Has more been left since the warning, though nobody could see it? */
bool rules_was_safe(const struct turn *turn);

/* What comes with a grant; what a holder sees when it looks. */
void rules_granted(struct turn *turn);
void rules_held(struct turn *turn);

/* mutex_waits.c */

/* What one who waits sees; how it ended; and those who should not wait any
   more. */
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

/* All but the name of a scenario, and its recipe. */
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
