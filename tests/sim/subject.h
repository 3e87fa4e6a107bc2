/*
 * subject.h - a real client whose world is the model: what the actor of a
 * scenario begins with.
 *
 *	struct actor {
 *		struct subject it;
 *		... what it uses, what it knows
 *	};
 *
 * Its init calls subject_init, and subject_open to have a client; its step does
 * something with that, unless it is closing or gone, or opens another once it is
 * gone.  What else a struct sim_actor needs is here, and so is what a scenario's
 * "drain" and "settled" do.  An actor without a client stays gone.
 */
#ifndef SIM_SUBJECT_H
#define SIM_SUBJECT_H

#include "client.h"
#include "sim.h"

struct subject {
	struct sim *sim;
	int index;
	struct kustos_client *client; /* while it is not gone */
	bool due;		      /* it has to be stepped */
	bool closing, gone;
	int64_t awake_since; /* INT64_MAX while it is paused */
	int64_t away_since;  /* INT64_MAX while it is connected */
	size_t in_flight; /* of the next client, at the most; 0: as in the world */
	struct kustos_ticket ticket; /* of the one that crashed last */

	/* May be NULL: take what is to run beside the client's steps, as env.h
	   has it. */
	void (*apart)(void *actor, struct ku_call *call);

	/* May be NULL: give up what the client was used for, as it is to be
	   closed; "closing" is set already. */
	void (*let_go)(void *actor);
};

void subject_init(struct subject *it, struct sim *sim, int index,
	void (*let_go)(void *actor));

/* Open a client.  Returns false, and fails the run, if that cannot be. */
bool subject_open(struct subject *it);

/* The same, in the session of the one before that crashed. */
bool subject_resume(struct subject *it);

/* Its process dies.  Its session lives on for a while. */
void subject_crash(struct subject *it);

/* Begin to close it, unless that has begun. */
void subject_close(struct subject *it, kustos_deadline budget);

/* Choose: at once, or within a session's timeout. */
kustos_deadline subject_some_budget(struct subject *it);

struct sim_random *subject_random(const struct subject *it);

/* Is its session alive for certain, by its own clock? */
bool subject_sure(const struct subject *it);

/* May its lease have ended in the middle of what it does, although it was sure as it
   began to: since it may have been stalled in there? */
bool subject_ran_out(const struct subject *it);

/* After each event, if "awake_since" and "away_since" are of interest. */
void subject_mind(struct subject *it);

/* As struct sim_actor says.  A run that failed stops anywhere: subject_fini
   closes the client in a hurry. */
int64_t subject_next_due(void *actor);
void subject_tick(void *actor, int64_t now_ns);
void subject_fini(void *actor);

/* For how long a client that is in touch may be told what is not so any more:
   "at_best", unless faults make messages, servers or clients late.  What it was
   told longer ago than its lease lasts it does not go by. */
int64_t subjects_known_ns(struct sim *sim, int64_t at_best);

/* For all subjects of a scenario.  Let nobody stand still any more: */
void subjects_drain(struct sim *sim);

/* Have all clients forgotten what they were asked? */
bool subjects_idle(struct sim *sim);

/* Return how many watches they and the servers have. */
int subjects_watches(struct sim *sim);

/* Close all that are open, with time.  Returns whether all are gone. */
bool subjects_close(struct sim *sim);

/* What is alike in each struct sim_actor that begins with a subject, and in most
   scenarios of such: whose file has "init", "step", "actor" and so on. */
#define SUBJECT_ACTOR                                             \
	.size = sizeof(struct actor), .init = init, .step = step, \
	.next_due = subject_next_due, .tick = subject_tick
#define SUBJECT_SCENARIO                                                     \
	.servers = 3, .timeout_ms = TIMEOUT_MS, .cut_off = true,             \
	.swarm = true, .actor = &actor, .state_size = sizeof(struct shared), \
	.drain = subjects_drain

/* The usual faults of a scenario, but SIM_DELETE: for ".faults.rate". */
#define SUBJECT_FAULTS                                                      \
	[SIM_LOSE_REPLY] = 6000, [SIM_DELAY_REPLY] = 500, [SIM_CUT] = 500,  \
	[SIM_HOLE] = 150, [SIM_EXPIRE] = 100, [SIM_PAUSE] = 1000,           \
	[SIM_REMOVE_PARENT] = 30, [SIM_STOP_SERVER] = 60, [SIM_LAG] = 4000, \
	[SIM_THROTTLE] = 2000

#endif
