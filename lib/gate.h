/*
 * gate.h - how the threads and callbacks of one object come into a line.
 *
 * A gate has what all exclusive locks do, whatever their names and marks are: a
 * caller waits, gets a hold, and gives it back.  Threads may also lock and
 * unlock it, nested, as pthread users expect.  A recipe makes a gate from a
 * line, a rule and some wishes, and passes its calls on to the gate.
 *
 * A turn is a place in the line and what has become of it: waiting, held, lost.
 * With local hand-overs a gate has at most one turn that is not lost, and the
 * longest waiter gets it; without, each waiter has its own turn.
 *
 * Nothing here is called with the client locked.  A program's calls are passed
 * on as they are: these functions return KUSTOS_EINVAL if "gate" is NULL or
 * nothing takes the result, and KUSTOS_EFORKED in a fork of the client's
 * process.
 */
#ifndef KU_GATE_H
#define KU_GATE_H

#include "hold_wait.h"
#include "line.h"
#include "payload.h"
#include "service.h"

#include <kustos/lockable.h>
#include <pthread.h>

struct ku_gate;

/* What a recipe wishes.  Strings, data, and a rule with extra marks are copied;
   everything else lives as long as the gate. */
struct ku_gate_wish {
	const struct ku_rule *rule;
	const char *leaf; /* of its nodes, as in struct ku_place_kind */
	bool bare;
	bool shares;
	int local_handoffs;
	bool unlock_waits; /* ku_gate_unlock() waits until the node is gone */

	struct ku_payload_wish payload;

	/* May be NULL. */
	kustos_hold_fn *on_revoke;
	void *on_revoke_arg;
	kustos_queued_fn *on_queued;
	void *on_queued_arg;
};

KU_SERVICE enum kustos_err ku_gate_create(struct kustos_client *client,
	const char *path, const struct ku_gate_wish *wish,
	struct ku_gate **out);

/* Returns false if the program has to leave the memory of all that uses the
   gate as it is: see ku_recipe_check(). */
KU_SERVICE bool ku_gate_destroy(struct ku_gate *gate);

/* Wait for a hold: at the end of the line if "writer" is NULL; else beside
   "writer", which is the hold of another gate of the same line. */
KU_SERVICE enum kustos_err ku_gate_acquire(struct ku_gate *gate,
	struct kustos_hold *writer, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);
KU_SERVICE enum kustos_err ku_gate_acquire_async(struct ku_gate *gate,
	struct kustos_hold *writer, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg);

/* Describe it for kustos_acquire_all().  NULL is allowed here, but
   kustos_acquire_all() rejects the result. */
KU_SERVICE struct kustos_lockable ku_gate_lockable(struct ku_gate *gate);

/* A part is about to be taken: if it is a gate's, have its hold kept from its
   grant on (ku_hold_keep()).  Its on_revoke may be told of a request as soon as
   it is granted. */
void ku_gate_keep_part(struct kustos_lockable *lockable);

/* Acquire it for this thread; calls may be nested. */
KU_SERVICE enum kustos_err ku_gate_lock(struct ku_gate *gate,
	struct kustos_hold *writer, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Undo one lock of this thread.  If the wish was to wait, and that was the last
   lock, and was not lost, return only when its node is known to be gone; or
   cannot be deleted, or serves another by now, or the session is over
   (KUSTOS_ELOST), or the client is closed. */
KU_SERVICE enum kustos_err ku_gate_unlock(struct ku_gate *gate);

/* Return the hold of this thread's lock, or NULL. */
KU_SERVICE struct kustos_hold *ku_gate_hold(struct ku_gate *gate);

/* Return the token of that hold; 0 if there is none, or it is lost. */
KU_SERVICE int64_t ku_gate_token(struct ku_gate *gate);

/* Return whether the line, when last seen, had contenders that do not see our
   nodes. */
KU_SERVICE bool ku_gate_mixed(struct ku_gate *gate);

#endif
