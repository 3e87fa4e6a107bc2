/*
 * lone_selector.h - the client and the line of lone_line.h, with selectors
 * whose function runs on the test's own thread, when the test calls
 * selector_run().
 *
 * Anything that cannot be done fails the test.
 */
#ifndef SIM_LONE_SELECTOR_H
#define SIM_LONE_SELECTOR_H

#include "lone_line.h"

#include <kustos/election.h>

/* The call that the client would run on a thread of its own, or NULL. */
extern struct ku_call *selector_call;

/* Make a selector; and start it, until it leads or stands in line. */
struct kustos_selector *selector_make(const char *id, kustos_selector_fn *lead,
	void *arg);
struct kustos_selector *selector_begin(const char *id, kustos_selector_fn *lead,
	void *arg);

/* Run selector_call. */
void selector_run(void);

#endif
