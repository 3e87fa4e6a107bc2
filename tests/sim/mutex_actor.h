/*
 * mutex_actor.h - the scenario "mutex", in six parts: what the leader has in
 * the lines (mutex_line.c), what is asked of a mutex (mutex_actor.c), contenders
 * that are not ours (mutex_foreign.c), what must hold (mutex_rules.c), how it
 * ends (mutex_end.c), and who acts (scenario_mutex.c).
 */
#ifndef SIM_MUTEX_ACTOR_H
#define SIM_MUTEX_ACTOR_H

#include "sim.h"

#include "client.h"

#include <kustos/mutex.h>

#define OURS 6 /* clients at the most; a seed may have fewer */
#define FOREIGNER OURS
#define MACHINES (OURS + 1)
#define SERVERS 3
#define LINES 2
#define OBJECTS 3 /* of a client */
#define SLOTS 16  /* of a client: what it may ask for at a time */
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/locks"

struct actor;

/* What became of a contender's node. */
enum fate {
	FATE_THERE,
	FATE_DELETED, /* somebody asked for it: its owner, it is to be hoped */
	FATE_REMOVED, /* from outside */
	FATE_KILLED,  /* its session was ended from outside */
	FATE_EXPIRED  /* its session ended */
};

struct place { /* a contender's node */
	char path[128];
	int line;
	int client; /* whose; FOREIGNER also if it is nobody's */
	int64_t czxid, owner;
	uint64_t serial; /* the order in which they were made */
	int32_t number;
	enum fate fate;
	int64_t gone_at, gone_zxid;
	bool released; /* its holder has given it back */
	bool asked;    /* somebody has changed its data */
	int grants;
};

/* One acquisition. */
enum turn_state { TURN_WAITING, TURN_HOLDING, TURN_OVER };

struct turn {
	struct actor *actor;
	struct kustos_mutex *mutex; /* only to compare */
	int local_handoffs;
	int line, number;
	enum turn_state state;
	kustos_deadline deadline;
	struct kustos_cancel *cancel;
	bool fickle; /* may be canceled */
	bool fired;
	bool closed;	/* its mutex was destroyed */
	int64_t began;	/* or was canceled, or closed */
	bool contended; /* there was somebody else meanwhile */
	int made;	/* nodes that its client has made in its line since */

	struct kustos_hold *hold;
	struct place *place;
	int64_t epoch;
	int64_t until;			   /* to be released then */
	bool minds_risk, warned, was_safe; /* since the warning */
	int64_t risk_ns;
	int64_t risk_since, safe_since;
	bool stale; /* was lost before the grant was told */
	int told;
	int64_t lost_since; /* seen to be lost, and not told */
};

struct object {
	struct kustos_mutex *mutex;
	int line;
	int local_handoffs;
};

struct actor {
	struct sim *sim;
	int index;
	bool active;

	/* Of ours. */
	struct kustos_client *client;
	bool due, gone, closing;
	bool ending; /* gives up, to be closed */
	struct object objects[OBJECTS];
	struct turn *turns[SLOTS];
	int64_t awake_since; /* INT64_MAX while it is paused */
	int started, made;   /* acquisitions, nodes */
	int excuses;	     /* for nodes beyond one each */

	/* The foreigner. */
	struct ku_zk *zk;
	bool connected, ended;
	int pending;
};

/* What came of a run, for tests. */
struct mutex_figures {
	uint64_t started, granted, handed_over, lost, busy, saturated, revoked,
		proofs;
	uint64_t looks; /* listings, and other reads of a line's node */
};

/* Return those of the run that ended last. */
struct mutex_figures mutex_last_figures(void);

struct shared {
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
	int *session_client; /* by the number of the session */
	int session_room;
	struct mutex_figures figures;
	int64_t token[LINES]; /* last one granted */
	int64_t sound[LINES]; /* since when the counter is not near its end */
	bool private_data[LINES]; /* a program's, in the line's node */
	int64_t ended;		  /* session that ended last */
	int64_t killed[MACHINES];
	char removing[128]; /* node that is deleted from outside */
	int64_t applied[SERVERS], applying[SERVERS]; /* zxids, a while ago */
	int64_t next_look;
	int64_t drain_since, idle_since, empty_since;
};

struct shared *mutex_shared(struct sim *sim);
struct actor *mutex_actor_of(struct sim *sim, int index);
extern const char *const mutex_lines[LINES];

/* mutex_line.c */

void line_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void line_change(struct sim *sim, enum model_change_kind kind, const char *path,
	int64_t zxid, int64_t owner, int64_t parent_czxid, bool sequential);
struct place *line_find(struct shared *s, const char *path, int64_t czxid);

/* Return a contender of another session that stands before "place" and has not
   been given back, or NULL. */
struct place *line_before(struct shared *s, const struct place *place);

/* Delete a node from outside, in a few milliseconds. */
void line_remove_soon(struct sim *sim, const struct place *place);

/* Delete, from outside, the node that stands "count" behind "place", if it is
   one of ours. */
void line_remove_behind(struct sim *sim, const struct place *place, int count);

/* Is anybody in the line, but for what "session" has given back? */
bool line_busy(struct shared *s, int line, int64_t session);

/* Return one that is there, of the foreigner or of ours, by a random number. */
struct place *line_some(struct shared *s, bool foreign, uint64_t random);

/* mutex_actor.c */

void turn_start(struct actor *a, int slot);
void turn_step(struct turn *turn);
void turn_cancel(struct turn *turn);
void turn_release(struct turn *turn);

/* Make the mutexes of a client; destroy one and make another; destroy them.
   Who waits for one then is told. */
void objects_make(struct actor *a);
void object_replace(struct actor *a);
void objects_free(struct actor *a);

/* mutex_foreign.c */

void foreign_step(struct actor *a);
bool foreign_done(struct actor *a);

/* mutex_rules.c */

/* Is a client certain of its session, by its own clock? */
bool rules_sure(struct actor *a);
void rules_granted(struct turn *turn);
/* What a holder sees when it looks. */
void rules_held(struct turn *turn);
void rules_ended(struct turn *turn, enum kustos_err err);
/* Was "turn" lost for a reason? */
bool rules_reason(struct turn *turn);

#define MUTEX_RULE_COUNT 2
extern const struct sim_invariant mutex_rules[MUTEX_RULE_COUNT];

/* mutex_end.c */

void mutex_drain(struct sim *sim);
bool mutex_settled(struct sim *sim);

/* scenario_mutex.c */

void mutex_close(struct actor *a, kustos_deadline budget);

#endif
