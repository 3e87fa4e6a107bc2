/*
 * under.h - run a command under a hold: a lock, or whatever else a recipe
 * grants.  Three processes take part: this one, which has the session; the
 * command; and a guard (guard.h), which ends the command in time.
 *
 *	under_prepare()		before any client is opened
 *	under_wait() ...	while there is nothing to run under yet
 *	under_run()		with the hold; or under_abandon()
 */
#ifndef KU_UNDER_H
#define KU_UNDER_H

#include "command.h"
#include "guard.h"
#include "signals.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct kustos_hold;

struct under {
	struct signals *signals;
	struct command command;
	struct guard guard;
	struct kustos_hold *const *holds; /* while the command runs */
	int count;
	bool started;
	bool lost; /* before or while the command ran; or given up for others */
	atomic_bool asked; /* by under_ask() */
	bool revoked;	   /* that was heeded */
	int passed; /* the last signal that was passed on, of those that end
		       processes; or 0 */
};

/* Take the signals over, unless "signals" has them, and fork the other two.
   "input" is the command's standard input, 0 ours.  Returns false, having said
   why, if that cannot be. */
bool under_prepare(struct under *u, struct signals *signals, char *const *argv,
	int input);

/* Have under_wait() return, if anybody is there.  From any thread, at any time after
   under_prepare(). */
void under_wake(void);

/* Somebody wants the hold back: have under_run() ask the command to end, or not
   start it.  From any thread, at any time after under_prepare(). */
void under_ask(struct under *u);

/* Wait for under_wake(), for so many milliseconds (-1: as long as it takes), or
   for a signal that ends processes, which is returned; else 0 is. */
int under_wait(struct under *u, int ms);

/* Process 1 is given what others have left: reap what has ended, but for the command
   and the guard, which is for under_run() to see.  It is done by under_wait() and by
   under_run(); and is for whoever waits in another way, also when there is no
   command. */
void under_reap_orphans(const struct under *u);

/* Nothing is to be run. */
void under_abandon(struct under *u);

/* Run the command with "environment" added, and return when it has ended, with
   its exit code.  With holds, it is ended if one of the "count" holds is lost, and asked to
   end when no more than "grace_ms" of one are left; "lost" tells of either.
   "tick_ms" is how often to look. */
int under_run(struct under *u, struct kustos_hold *const *holds, int count,
	const char *const *environment, int64_t grace_ms, int tick_ms);

#endif
