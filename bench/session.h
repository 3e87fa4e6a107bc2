/*
 * session.h - what the drivers of Kustos have in common: clients, and what became
 * of a call.
 */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include "driver.h"

#include <kustos/client.h>

/* Return a deadline for calls that should take no time. */
kustos_deadline session_soon(void);

/* Open a client of the run's server, and wait until it is connected.  "*out"
   has to be closed even if that fails, unless it is NULL. */
enum kustos_err session_open(const struct driver_run *run,
	struct kustos_client **out);

/* Return whether "err" is KUSTOS_OK; if not, note it in "result", which keeps
   the first error.  May be called from any thread. */
bool session_ok(struct driver_result *result, enum kustos_err err);

/* Close the client, giving it time.  NULL is allowed. */
void session_close(struct kustos_client *client);

#endif
