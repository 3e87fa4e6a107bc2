/*
 * ask.h - ask for what a command is to be run under, wait for it, and run the
 * command: what kustos lock and kustos semaphore do alike.
 */
#ifndef KU_ASK_H
#define KU_ASK_H

#include "job.h"
#include "lock_options.h"

struct ask;

struct ask_calls {
	const char *verb;   /* "lock", for messages */
	const char *busy;   /* what is so when -n fails */
	const char *missed; /* what was not so when -w fails */

	/* Ask, with ask_granted() or ask_granted_many() and "ask". */
	enum kustos_err (*start)(struct ask *ask);

	/* Look around, now and then, until it returns false.  NULL: do not. */
	bool (*look)(struct ask *ask);

	/* Undo start(), also if that failed or was not called. */
	void (*end)(struct ask *ask);
};

struct ask {
	const struct ask_calls *calls;
	struct lock_options options;
	struct job job;
	struct kustos_cancel *cancel;
	const char *refused; /* by start(), of several paths; NULL: the job's */
	bool explained; /* look() has said why nobody gets it, and it is so */

	/* What was granted; the rest is told once "answered" is set. */
	atomic_bool answered;
	enum kustos_err err;
	struct kustos_hold **holds;
	int count; /* 0: nothing */
};

/* Do all of it, as "options" and "job" say.  Returns the exit code. */
int ask_and_run(struct ask *ask);

/* For the calls that ask. */
void ask_granted(void *ask, enum kustos_err err, struct kustos_hold *hold);
void ask_granted_many(void *ask, enum kustos_err err,
	struct kustos_hold *const *holds, int count);

#endif
