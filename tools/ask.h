/*
 * ask.h - acquire what a command runs under, wait for the grant, and run the
 * command: the part that kustos lock and kustos semaphore have in common.
 */
#ifndef KU_ASK_H
#define KU_ASK_H

#include "job.h"
#include "lock_options.h"

struct ask;

struct ask_calls {
	const char *verb;   /* "lock", for messages */
	const char *busy;   /* what a message says when -n fails */
	const char *missed; /* what a message says when -w fails */

	/* Begin to acquire, with ask_granted() or ask_granted_many() as the
	   callback and "ask" as its argument. */
	enum kustos_err (*start)(struct ask *ask);

	/* Called now and then during the wait, until it returns false.  NULL:
	   nothing is called. */
	bool (*look)(struct ask *ask);

	/* Undo start(), also if that failed or was not called. */
	void (*end)(struct ask *ask);
};

struct ask {
	const struct ask_calls *calls;
	struct lock_options options;
	struct job job;
	struct kustos_cancel *cancel;
	const char *refused; /* path that start() failed for; NULL: the job's */
	bool explained; /* look() has said why nobody gets it; still true */

	/* The outcome; the other fields are valid once "answered" is set. */
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
