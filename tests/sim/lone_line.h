/*
 * lone_line.h - a lone client that has a mutex, the line of that, and a rival on the
 * bench.
 *
 * What cannot be done fails the test.
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
	struct kustos_hold *hold; /* of "mutex", or of whatever was asked with
				     lone_line_granted() */
} lone;

/* The client is connected through "api", as in lone_open(); or with options, as in
   lone_connected_with(). */
void lone_line_open(const struct ku_zk_api *api);
void lone_line_open_with(const struct ku_zk_api *api,
	const struct kustos_client_options *options);

/* Nothing of anybody is left in the line, and nothing of the client refers to it. */
void lone_line_close(void);

/* Ask for the mutex; lone.hold is NULL until it is granted. */
void lone_line_ask(void);
void lone_line_granted(void *arg, enum kustos_err err, struct kustos_hold *got);

/* Ask for a simple lock, whose node LINE "/one" the rival has. */
struct kustos_simple *lone_line_ask_simple(kustos_granted_fn *granted,
	struct kustos_cancel *cancel);

/* It is granted, and its node is there, of the session of now, alone. */
void lone_line_check(void);

void lone_line_give(void);

/* The rival deletes the node of lone.hold. */
void lone_line_delete(void);

#endif
