/*
 * session.h - what the drivers of Kustos have in common: clients, and what became
 * of a call.
 */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include "driver.h"

#include <kustos/client.h>

/* Return the deadline of whatever takes no time. */
kustos_deadline session_soon(void);

/* Open a client of the run's server, and wait until it is connected.  "*out" is to
   be closed also if that fails, unless it is NULL. */
enum kustos_err session_open(const struct driver_run *run,
	struct kustos_client **out);

/* Return whether it went well; if not, "result" has the first error.  From any
   thread. */
bool session_ok(struct driver_result *result, enum kustos_err err);

/* Close it, giving it time.  NULL is allowed. */
void session_close(struct kustos_client *client);

#endif
