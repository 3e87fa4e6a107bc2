/*
 * mutex_pair.h - two clients, each with a mutex on LINE, as most tests of the
 * mutex need them.  The first client may be behind a proxy.
 *
 * A program that includes this uses these global variables.
 */
#ifndef TEST_MUTEX_PAIR_H
#define TEST_MUTEX_PAIR_H

#include "mutex_fixture.h"
#include "proxy.h"

extern struct proxy *proxy; /* on the way of "client" alone, or NULL */
extern struct kustos_client *client, *other;
extern struct kustos_mutex *mutex, *rivals; /* of "client" and of "other" */

/* Open both clients, "client" with these options; and create both mutexes with
   so many local hand-overs. */
void pair_open_with(const struct kustos_client_options *options, int handoffs);

/* The same with both clients connected to the fixture's server directly. */
void pair_open(int timeout_ms, int handoffs);

/* Start the proxy, and return options for a client behind it. */
struct kustos_client_options pair_proxy(int timeout_ms);

/* The same with "client" behind a proxy. */
void pair_open_behind_proxy(int timeout_ms, int handoffs);

/* Let the proxy pass everything, then destroy the mutexes and close both
   clients and the proxy. */
void pair_close(void);

/* Wait until everything that "client" has sent is answered. */
void pair_flush(void);

/* Wait until "owner" has received all events of what others have done so far:
   the answer to its request comes behind them. */
void pair_hear(struct kustos_client *owner);

/* Wait until both clients are at rest.  All that they have sent is answered, so
   that every waiter has looked and set its watch.  Then both have received all
   events so far, and the requests that these caused are answered, too. */
void pair_settle(void);

#endif
