/*
 * mutex_pair.h - two clients and a mutex of each on LINE, which is what most
 * tests of the mutex need; the first may be behind a proxy.
 *
 * A program that includes this has these names.
 */
#ifndef TEST_MUTEX_PAIR_H
#define TEST_MUTEX_PAIR_H

#include "mutex_fixture.h"
#include "proxy.h"

extern struct proxy *proxy; /* before "client" alone, or NULL */
extern struct kustos_client *client, *other;
extern struct kustos_mutex *mutex, *rivals; /* of "client" and of "other" */

/* Open both as the options say for "client"; with so many local hand-overs. */
void pair_open_with(const struct kustos_client_options *options, int handoffs);

/* Both straight to the fixture's server. */
void pair_open(int timeout_ms, int handoffs);

/* Start the proxy, and return options for a client behind it. */
struct kustos_client_options pair_proxy(int timeout_ms);

/* "client" behind a proxy. */
void pair_open_behind_proxy(int timeout_ms, int handoffs);

/* Let the proxy pass everything, and close all there is. */
void pair_close(void);

/* Wait until everything that "client" has sent is answered. */
void pair_flush(void);

/* Wait until "owner" has taken in what the server told it of all that others have
   done so far: an answer comes behind that. */
void pair_hear(struct kustos_client *owner);

/* Wait until all that both have sent is answered, so that who waits has looked,
   with a watch; both have taken in all that has been done so far; and whatever
   they asked for thereupon is answered. */
void pair_settle(void);

#endif
