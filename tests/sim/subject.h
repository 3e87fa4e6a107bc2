/*
 * subject.h - a real Kustos client that runs on the model: the first member of
 * a scenario's actor.
 *
 *	struct actor {
 *		struct subject it;
 *		... what it uses, what it knows
 *	};
 *
 * The actor's "init" calls subject_init(), and subject_open() to have a client.
 * Its "step" uses the client unless that is closing or gone, and opens another
 * when it is gone.  The other functions of a struct sim_actor are here, and so
 * are functions for a scenario's "drain" and "settled".  An actor that never
 * opens a client stays gone.
 */
#ifndef SIM_SUBJECT_H
#define SIM_SUBJECT_H

#include "client.h"
#include "sim.h"

struct subject {
	struct sim *sim;
	int index;
	struct kustos_client *client; /* while it is not gone */
	bool due;		      /* the client has to be stepped */
	bool closing, gone;
	int64_t awake_since; /* INT64_MAX while it is paused */
	int64_t away_since;  /* INT64_MAX while it is connected */
	size_t in_flight; /* limit for the next client; 0: as in production */
	struct kustos_ticket ticket; /* of the client that crashed last */

	/* May be NULL: take a call that is to run beside the client's steps
	   (see env.h). */
	void (*apart)(void *actor, struct ku_call *call);

	/* May be NULL: the client is to be closed, so give up what it was used
	   for.  "closing" is set already. */
	void (*let_go)(void *actor);
};

void subject_init(struct subject *it, struct sim *sim, int index,
	void (*let_go)(void *actor));

/* Open a client.  If that fails, fail the run and return false. */
bool subject_open(struct subject *it);

/* The same, in the session of the client that crashed before. */
bool subject_resume(struct subject *it);

/* The client's process dies.  Its session lives on for a while. */
void subject_crash(struct subject *it);

/* Begin to close the client, unless that has begun. */
void subject_close(struct subject *it, kustos_deadline budget);

/* Choose a budget for closing: none, or a session's timeout. */
kustos_deadline subject_some_budget(struct subject *it);

struct sim_random *subject_random(const struct subject *it);

/* Is the client's session certainly alive, by its own clock? */
bool subject_sure(const struct subject *it);

/* May the lease have ended in the middle of this step, although the client was
   sure when the step began?  It may have stalled meanwhile. */
bool subject_ran_out(const struct subject *it);

/* Update "awake_since" and "away_since": to be called after each event if they
   are used. */
void subject_mind(struct subject *it);

/* For struct sim_actor.  A failed run may stop anywhere, so subject_fini()
   closes the client in a hurry. */
int64_t subject_next_due(void *actor);
void subject_tick(void *actor, int64_t now_ns);
void subject_fini(void *actor);

/* For how long a connected client may act on something that is no longer true:
   "at_best", or a session's timeout if faults make messages, servers or clients
   late.  A client does not act on what it was told longer ago than its lease
   lasts. */
int64_t subjects_known_ns(struct sim *sim, int64_t at_best);

/* The rest is for all subjects of a scenario. */

/* End all pauses. */
void subjects_drain(struct sim *sim);

/* Have all clients finished everything that they were asked to do? */
bool subjects_idle(struct sim *sim);

/* Return how many watches the servers have, plus the clients that have any. */
int subjects_watches(struct sim *sim);

/* Close all clients that are open, with time.  Returns whether all are gone. */
bool subjects_close(struct sim *sim);

/* Members that are the same in each struct sim_actor whose state begins with a
   subject, and in most scenarios with such actors.  The file must have "init",
   "step", "actor" and so on. */
#define SUBJECT_ACTOR                                             \
	.size = sizeof(struct actor), .init = init, .step = step, \
	.next_due = subject_next_due, .tick = subject_tick
#define SUBJECT_SCENARIO                                                     \
	.servers = 3, .timeout_ms = TIMEOUT_MS, .cut_off = true,             \
	.swarm = true, .actor = &actor, .state_size = sizeof(struct shared), \
	.drain = subjects_drain

/* The usual rates of faults, without SIM_DELETE: for ".faults.rate". */
#define SUBJECT_FAULTS                                                      \
	[SIM_LOSE_REPLY] = 6000, [SIM_DELAY_REPLY] = 500, [SIM_CUT] = 500,  \
	[SIM_HOLE] = 150, [SIM_EXPIRE] = 100, [SIM_PAUSE] = 1000,           \
	[SIM_REMOVE_PARENT] = 30, [SIM_STOP_SERVER] = 60, [SIM_LAG] = 4000, \
	[SIM_THROTTLE] = 2000

#endif
