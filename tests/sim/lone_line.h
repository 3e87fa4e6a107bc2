/*
 * lone_line.h - a lone client with a mutex, the mutex's line, and a rival on
 * the bench.
 *
 * Anything that cannot be done fails the test.
 */
#ifndef SIM_LONE_LINE_H
#define SIM_LONE_LINE_H

#include "lone.h"

#include <kustos/mutex.h>
#include <kustos/simple.h>

#define LINE "/line"

extern struct lone_line {
	struct bench bench;
	struct ku_zk *raw; /* the rival */
	struct kustos_client *client;
	struct kustos_mutex *mutex;
	struct kustos_hold *hold; /* of "mutex", or of what was asked for with
				     the callback lone_line_granted() */
} lone;

/* Set up, with a client connected through "api", as by lone_open(); or with
   options, as by lone_connected_with(). */
void lone_line_open(const struct ku_zk_api *api);
void lone_line_open_with(const struct ku_zk_api *api,
	const struct kustos_client_options *options);

/* Tear down.  Check that the line is empty, and that nothing of the client
   refers to it any more. */
void lone_line_close(void);

/* Ask for the mutex; lone.hold is NULL until it is granted. */
void lone_line_ask(void);
void lone_line_granted(void *arg, enum kustos_err err, struct kustos_hold *got);

/* Ask for a simple lock whose node, LINE "/one", the rival has. */
struct kustos_simple *lone_line_ask_simple(kustos_granted_fn *granted,
	struct kustos_cancel *cancel);

/* Check that the lock is granted, and that its node is the only one in the line
   and belongs to the present session. */
void lone_line_check(void);

void lone_line_give(void);

/* The rival deletes the node of lone.hold. */
void lone_line_delete(void);

#endif
