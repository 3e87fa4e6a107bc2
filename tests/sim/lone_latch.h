/*
 * lone_latch.h - the client and the line of lone_line.h, with a latch that
 * leads, and one that waits behind it.
 *
 * Anything that cannot be done fails the test.
 */
#ifndef SIM_LONE_LATCH_H
#define SIM_LONE_LATCH_H

#include "lone_line.h"

#include <kustos/election.h>

extern struct lone_latches {
	struct kustos_latch *leader, *heir; /* "me" and "you" */
	int ends[2];			    /* results of errands; -1: none */
} latches;

/* Set both up, and then cut the client off from all servers until
   model_heal(). */
void latches_setup(void);
void latches_teardown(void);

/* Make a latch, and start it; "lost" may be NULL. */
struct kustos_latch *latches_begin(const char *id, kustos_latch_fn *lost);

/* A callback: store "err" in the int at "arg", which must be -1. */
void latches_ended(void *arg, enum kustos_err err);

/* Ask the leader to hand over to "id".  The result goes to latches.ends[0], or
   to "*end". */
void latches_hand_over(const char *id);
void latches_say(kustos_deadline deadline, int *end);

#endif
