/*
 * callback_gate.h - callbacks that block until the test lets them return, and
 * flags with which callbacks and the test signal each other.
 */
#ifndef TEST_CALLBACK_GATE_H
#define TEST_CALLBACK_GATE_H

#include <kustos/node.h>

/* flag() returns how often raise_flag() was called for "f", on any thread. */
int flag(const int *f);
void raise_flag(int *f);

/* A callback that blocks: how many calls have entered it, and how many have
   left it.  All of them return once "open" is raised. */
struct gate {
	int entered, open, left; /* flags */
};

/* Block here; called by the callback.  The test fails if the gate is not opened
   in time. */
void stand(struct gate *g);

/* A kustos_done_fn that calls stand(); "arg" is a struct gate. */
void stand_done(void *arg, enum kustos_err err,
	const struct kustos_result *result);

#endif
