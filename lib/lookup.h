/*
 * lookup.h - ask the resolver on a thread of its own.
 *
 * A resolver may take minutes.  Nothing here waits for it: a lookup that
 * nobody wants any more is left to end by itself.
 */
#ifndef KU_LOOKUP_H
#define KU_LOOKUP_H

#include "resolve.h"

struct ku_lookup;

/* Called when the result is there, on the lookup's thread. */
typedef void ku_lookup_fn(void *arg);

/* Start one.  NULL: no memory, or no thread. */
struct ku_lookup *ku_lookup_start(const struct ku_hosts *hosts,
	ku_lookup_fn *done, void *arg);

/* If the result is there, move it to "*out", "*err" and "*why" (as ku_resolve()
   has them), free the lookup, and return true. */
bool ku_lookup_take(struct ku_lookup *lookup, struct ku_addresses *out,
	enum kustos_err *err, const char **why);

/* Forget it.  On return "done" is not running and will not run.  NULL is
   allowed. */
void ku_lookup_abandon(struct ku_lookup *lookup);

#endif
