/*
 * muster.h - a double barrier: a given number of members go in together, and
 * come out together.
 *
 * Each member has an ephemeral node, named with a UUID, below the barrier's
 * node.  The node "ready" beside them says that all are in.
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

/* Make a member of the barrier at "path" for "count" members.  And destroy it:
   a call that waits ends with KUSTOS_ECLOSED, and the node goes; NULL is
   allowed. */
KU_SERVICE enum kustos_err ku_muster_create(struct kustos_client *client,
	const char *path, int count, const struct ku_payload_wish *wish,
	struct ku_muster **out);
KU_SERVICE void ku_muster_destroy(struct ku_muster *muster);

/* Go in, or out, when all others do.  With a "done" of NULL, wait until then;
   otherwise return at once, and "done" is called at the end. */
KU_SERVICE enum kustos_err ku_muster_enter(struct ku_muster *muster,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_muster_fn *done, void *arg);
KU_SERVICE enum kustos_err ku_muster_leave(struct ku_muster *muster,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_muster_fn *done, void *arg);

/* Return whether the member is in, and still in the session in which it
   came. */
KU_SERVICE bool ku_muster_inside(struct ku_muster *muster);

#endif
