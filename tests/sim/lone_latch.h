/*
 * lone_latch.h - the client and the line of lone_line.h, with a latch that leads, and
 * one that waits behind it.
 *
 * What cannot be done fails the test.
 */
#ifndef SIM_LONE_LATCH_H
#define SIM_LONE_LATCH_H

#include "lone_line.h"

#include <kustos/election.h>

extern struct lone_latches {
	struct kustos_latch *leader, *heir; /* "me" and "you" */
	int ends[2];			    /* of errands; -1: not yet */
} latches;

/* And nothing reaches a server any more, until model_heal(). */
void latches_setup(void);
void latches_teardown(void);

/* Make one, and start it; "lost" may be NULL. */
struct kustos_latch *latches_begin(const char *id, kustos_latch_fn *lost);

/* Store "err" in the int at "arg", where -1 was. */
void latches_ended(void *arg, enum kustos_err err);

/* Ask the leader for it; its end is told by latches.ends[0], or "*end". */
void latches_hand_over(const char *id);
void latches_say(kustos_deadline deadline, int *end);

#endif
