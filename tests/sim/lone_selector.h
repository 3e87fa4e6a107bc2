/*
 * lone_selector.h - the client and the line of lone_line.h, with selectors that lead on
 * the thread of the test, when it says so.
 *
 * What cannot be done fails the test.
 */
#ifndef SIM_LONE_SELECTOR_H
#define SIM_LONE_SELECTOR_H

#include "lone_line.h"

#include <kustos/election.h>

/* What the client would run on a thread of its own; NULL: nothing. */
extern struct ku_call *selector_call;

/* Make one; and start it, and let it lead or stand in line. */
struct kustos_selector *selector_make(const char *id, kustos_selector_fn *lead,
	void *arg);
struct kustos_selector *selector_begin(const char *id, kustos_selector_fn *lead,
	void *arg);

/* Run that. */
void selector_run(void);

#endif
