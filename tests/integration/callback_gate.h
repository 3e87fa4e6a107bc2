/*
 * callback_gate.h - callbacks that do not return until they are let go, and flags
 * between them and the test.
 */
#ifndef TEST_CALLBACK_GATE_H
#define TEST_CALLBACK_GATE_H

#include <kustos/node.h>

/* Return how often that flag was raised, on any thread. */
int flag(const int *f);
void raise_flag(int *f);

/* A callback that stands still: how many are in it, and have left it.  All go once it
   is open. */
struct gate {
	int entered, open, left; /* flags */
};

/* Stand in it: to be called by the callback.  It fails the test if it is not opened. */
void stand(struct gate *g);

/* A kustos_done_fn that does just that; "arg" is a struct gate. */
void stand_done(void *arg, enum kustos_err err,
	const struct kustos_result *result);

#endif
