/*
 * gate.h - how the threads and callbacks of one object come into a line.
 *
 * What an exclusive lock does, whatever its names and marks are: whoever wants
 * it waits, gets a hold, and gives it back; threads that want it as pthread
 * users expect lock and unlock, and nest.  A recipe makes a gate of a line, a
 * rule and some wishes, and has its calls by passing them on.
 *
 * A turn is a place in the line and what has become of it: waiting, held,
 * lost.  With local hand-overs a gate has one turn at a time that is not lost,
 * and whoever waits longest gets it; without, each that waits has its own.
 *
 * Nothing here is called with the client locked, unless it says so.
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
   the rest lives as long as the gate. */
struct ku_gate_wish {
	const struct ku_rule *rule;
	const char *leaf; /* of its nodes, as in struct ku_place_kind */
	bool bare;
	bool shares;
	int local_handoffs;

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
KU_SERVICE void ku_gate_destroy(struct ku_gate *gate); /* NULL is allowed */

/* Wait for a hold: at the end of the line; or beside "writer", the hold of
   another gate of the same line, unless that is NULL. */
KU_SERVICE enum kustos_err ku_gate_acquire(struct ku_gate *gate,
	struct kustos_hold *writer, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);
KU_SERVICE enum kustos_err ku_gate_acquire_async(struct ku_gate *gate,
	struct kustos_hold *writer, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg);

/* Describe it for kustos_acquire_all(); NULL is allowed, and not good enough. */
KU_SERVICE struct kustos_lockable ku_gate_lockable(struct ku_gate *gate);

/* The same for this thread, nested. */
KU_SERVICE enum kustos_err ku_gate_lock(struct ku_gate *gate,
	struct kustos_hold *writer, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Undo one lock of this thread.  "waits": until its node is gone. */
KU_SERVICE enum kustos_err ku_gate_unlock(struct ku_gate *gate, bool waits);

/* Return the hold of what this thread has locked, or NULL. */
KU_SERVICE struct kustos_hold *ku_gate_hold(struct ku_gate *gate);

/* Return the token of that hold; 0 if there is none, or it is lost. */
KU_SERVICE int64_t ku_gate_fence(struct ku_gate *gate);

/* Return whether the line was last seen with contenders that are blind to
   ours. */
KU_SERVICE bool ku_gate_mixed(struct ku_gate *gate);

#endif
