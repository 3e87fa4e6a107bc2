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
	bool revoked;	   /* and it was heeded */
	int passed; /* the last signal that was passed on, of those that end
		       processes; or 0 */
};

/* Take over the signals, unless "signals" has them already, and fork the other
   two processes.  "input" is the command's standard input; 0 is ours.  Returns
   false, having printed why, if that fails. */
bool under_prepare(struct under *u, struct signals *signals, char *const *argv,
	int input);

/* Have under_wait() return, if it is waiting.  May be called from any thread,
   at any time after under_prepare(). */
void under_wake(void);

/* Somebody wants the hold back: have under_run() ask the command to end, or not
   start it.  May be called from any thread, at any time after
   under_prepare(). */
void under_ask(struct under *u);

/* Wait "ms" milliseconds (-1: as long as it takes) for under_wake(), or for a
   signal that ends processes.  Returns that signal, or 0. */
int under_wait(struct under *u, int ms);

/* If this is process 1 it is the parent of all orphans: reap those that have
   ended, but not the command and the guard, whose ends under_run() has to see.
   under_wait() and under_run() do this; code that waits in another way has to
   call it, also when there is no command. */
void under_reap_orphans(const struct under *u);

/* End the other two processes: nothing is to be run. */
void under_abandon(struct under *u);

/* Run the command with "environment" added, and return when it has ended, with
   its exit code.  With holds, it is ended if one of the "count" holds is lost,
   and asked to end when no more than "grace_ms" of one are left; "lost" tells
   of either.  "tick_ms" is how often to look. */
int under_run(struct under *u, struct kustos_hold *const *holds, int count,
	const char *const *environment, int64_t grace_ms, int tick_ms);

#endif
