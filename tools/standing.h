/*
 * standing.h - who stands at a path: in a line, or at a semaphore, which is two
 * lines below one node.
 */
#ifndef KU_STANDING_H
#define KU_STANDING_H

#include <kustos/participant.h>

struct standing {
	const struct kustos_participants *list; /* what is to be shown */

	/* What it is made of. */
	struct kustos_participants *line, *leases, *locks;
	struct kustos_participants joined;
	int max; /* leases there may be, if the node says so; else 0 */
};

/* Find out who stands at "path".  "extra_marks" are those of a lock, or NULL.
   "out" must not move before standing_free(), which has to be called after a
   failure as well. */
enum kustos_err standing_get(struct kustos_client *client, const char *path,
	const char *extra_marks, kustos_deadline end, struct standing *out);
void standing_free(struct standing *s);

#endif
