/*
 * muster.h - a double barrier: so many go in together, and out together.
 *
 * Each member is an ephemeral node, named with a UUID, below the barrier's node;
 * beside them "ready" says that all are in.
 *
 * Not called with the client locked.
 */
#ifndef KU_MUSTER_H
#define KU_MUSTER_H

#include "payload.h"
#include "service.h"

#include <stdbool.h>

struct kustos_cancel;
struct ku_muster; /* one member, round after round */

typedef void ku_muster_fn(void *arg, enum kustos_err err);

/* Make one for the barrier at "path" and "count" members.  And end it: NULL is
   allowed; who waits is told KUSTOS_ECLOSED, and the node goes. */
KU_SERVICE enum kustos_err ku_muster_create(struct kustos_client *client,
	const char *path, int count, const struct ku_payload_wish *wish,
	struct ku_muster **out);
KU_SERVICE void ku_muster_destroy(struct ku_muster *muster);

/* Go in, or out, when all others do.  "done" NULL: wait for it.  Else it is told
   of the end. */
KU_SERVICE enum kustos_err ku_muster_enter(struct ku_muster *muster,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_muster_fn *done, void *arg);
KU_SERVICE enum kustos_err ku_muster_leave(struct ku_muster *muster,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_muster_fn *done, void *arg);

/* Return whether it is in, and in the session in which it came. */
KU_SERVICE bool ku_muster_inside(struct ku_muster *muster);

#endif
