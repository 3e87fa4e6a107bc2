/*
 * sim.h - many clients in one thread, under seeded faults, with invariants.
 *
 * A scenario defines an actor, of which each client machine runs one, how often
 * each fault happens, and the invariants.  A run is a scenario and a seed: it
 * repeats exactly, event for event.  One event is one step.
 *
 * After its steps a run drains: faults end, the actors are told to finish, and
 * the final invariants are checked.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "model.h"

struct sim;

enum sim_fault {
	SIM_LOSE_REPLY, /* rates of this and the next: per million replies */
	SIM_DELAY_REPLY,
	SIM_CUT,  /* rates from here on: per 1000 s of virtual time */
	SIM_HOLE, /* client and server do not reach each other */
	SIM_EXPIRE,
	SIM_PAUSE,	   /* a client stands still, but not its clock */
	SIM_DELETE,	   /* of one node, from outside */
	SIM_REMOVE_PARENT, /* of the scenario's whole directory */
	SIM_STOP_SERVER,
	SIM_LAG,
	SIM_THROTTLE, /* per million requests: refused, as there are too many */

	/* The rest happen only if asked for. */

	/* A client stands still within a step, as it reads its clock, and reads
	   the time after that. */
	SIM_STALL,
	/* After a reconnect a server does not set the client's watches again,
	   and nobody is told. */
	SIM_FORGET,
	/* A client's completions and events come late, while its timers run and
	   it connects anew. */
	SIM_SLOW,
	/* A new connection breaks again, while the client still recovers from
	   the loss of the one before. */
	SIM_RELAPSE,
	/* A follower's write is held on its way to the leader, and is done when
	   the session has been at another server and is back. */
	SIM_LATE,
	SIM_FAULT_COUNT
};

struct sim_faults {
	unsigned rate[SIM_FAULT_COUNT]; /* 0 = never */
};

/* What each client machine runs.  Only "size", "init" and "step" are needed. */
struct sim_actor {
	size_t size; /* of its state, which is zeroed */
	void (*init)(struct sim *sim, int index, void *self);

	/* Do something; called now and then. */
	void (*step)(void *self);

	/* For an actor with timers.  "next_due" returns when the next one is
	   due, INT64_MAX for none; it is called after each event of the actor.
	   "tick" is called when a timer is due. */
	int64_t (*next_due)(void *self);
	void (*tick)(void *self, int64_t now_ns);
	void (*fini)(void *self);
};

struct sim_invariant {
	const char *name;
	/* Return NULL, or what is wrong.  "check" is called after each event,
	   "final" at the end. */
	const char *(*check)(struct sim *sim);
	const char *(*final)(struct sim *sim);
};

struct sim_scenario {
	const char *name;
	const char *about;
	int clients, servers;
	int timeout_ms; /* of sessions; faults last up to 1.5 of it */
	int step_ms;	/* between two steps of an actor, on average */
	struct sim_faults faults;
	bool cut_off; /* a follower that lags has lost its leader, which hears
			   nothing of its clients */
	bool swarm;   /* each seed leaves out some kinds of faults */
	const char *prefix; /* faults delete nodes below this one */
	const struct sim_actor *actor;
	size_t state_size; /* of what the actors share, zeroed */
	void (*begin)(struct sim *sim);
	void (*end)(struct sim *sim);

	/* Tell the actors to finish; called once, when the faults are over. */
	void (*drain)(struct sim *sim);
	bool (*settled)(struct sim *sim);
	int settle_ms;

	/* The hooks of the model; may be NULL. */
	void (*note)(struct sim *sim, enum model_note note, int client,
		const char *path, int64_t value);
	void (*change)(struct sim *sim, enum model_change_kind kind,
		const char *path, int64_t zxid, int64_t owner,
		int64_t parent_czxid, bool sequential);

	const struct sim_invariant *invariants;
	int invariant_count;
};

extern const struct sim_scenario *const sim_scenarios[]; /* NULL at the end */
const struct sim_scenario *sim_find_scenario(const char *name);

struct sim_options {
	uint64_t seed;
	uint64_t steps;
	unsigned without; /* faults left out: 1u << enum sim_fault, or-ed */
	bool stalls;	  /* with SIM_STALL */
	unsigned with;	  /* with these of the faults after SIM_STALL, or-ed */
	bool no_drain;
	bool as_found; /* report a failure as it is, without minimising it */
	bool trace;    /* keep the last events ... */
	bool print;    /* ... or print all of them as they come */
};

#define SIM_TRACE_LINES 60

struct sim_result {
	bool failed;
	bool draining; /* it failed after its steps */
	uint64_t step; /* the step at which it ended */
	char invariant[40];
	char message[200];
	uint64_t hash; /* of all that happened */
	uint64_t requests, late;
	int64_t ns;	 /* of virtual time */
	unsigned faults; /* kinds that were on: 1u << enum sim_fault */
	char *trace;	 /* lines, if asked for; to be freed */
};

void sim_run(const struct sim_scenario *scenario,
	const struct sim_options *options, struct sim_result *result);

/* Make a failed run smaller.  "options" then has the smallest set of faults
   found and the shortest prefix that fail in the same way.  If the run failed
   after its steps, the prefix is one that halving found. */
void sim_minimise(const struct sim_scenario *scenario,
	struct sim_options *options, struct sim_result *result);

/* sim_report() writes about a failure: seed, prefix, faults, trace, and the
   command that repeats it. */
struct sim_text {
	char *bytes;
	size_t len, room;
};

void sim_text_add(struct sim_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void sim_report(const struct sim_scenario *scenario,
	const struct sim_options *options, const struct sim_result *result,
	struct sim_text *out);

/* Run "count" seeds from options->seed on.  Stop at the first that fails,
   minimise it, and report it.  Returns whether none failed. */
bool sim_hunt(const struct sim_scenario *scenario,
	const struct sim_options *options, uint64_t count,
	struct sim_result *result, struct sim_text *report);

/* For scenarios */

struct sched *sim_sched(struct sim *sim);
struct model *sim_model(struct sim *sim);
const struct sim_scenario *sim_scenario_of(struct sim *sim);
const struct ku_clock *sim_clock(struct sim *sim);
int64_t sim_now(struct sim *sim);

/* Return the time at which the present step began.  It is earlier than
   sim_now() if the client has stalled in this step: nothing that fell due since
   can have been done. */
int64_t sim_began(struct sim *sim);
bool sim_stalls(const struct sim *sim); /* can clients stall in this run? */
void *sim_state(struct sim *sim);	/* what the actors share */
void *sim_actor_state(struct sim *sim, int index);
struct sim_random *sim_actor_random(struct sim *sim, int index);
bool sim_draining(struct sim *sim);
/* How much later a wait may end, because watches may be lost without notice. */
int64_t sim_unheard_ns(const struct sim *sim);

int64_t sim_drain_since(struct sim *sim); /* when draining began */
bool sim_paused(struct sim *sim, int index);

/* The run has failed; the first such call counts. */
void sim_fail(struct sim *sim, const char *invariant, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Write into the trace and into the hash. */
void sim_say(struct sim *sim, int client, const char *what, const char *path,
	int64_t value);

/* Bugs of the past that can be switched on by name. */
bool sim_mutation(const char *name);
void sim_mutate(const char *name); /* add one; NULL: none */
bool sim_mutation_known(const char *name);
const char *sim_fault_name(enum sim_fault fault);

#endif
