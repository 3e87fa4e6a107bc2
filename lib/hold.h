/*
 * hold.h - how a recipe makes holds of what it is granted: a place in a line,
 * or any other node of its own.
 *
 * A hold is made before it is needed, so that a grant cannot fail.  Later it is
 * given what was granted, and may pass that on to another hold.
 */
#ifndef KU_HOLD_H
#define KU_HOLD_H

#include "line.h"

#include <kustos/hold.h>
#include <stdbool.h>

/* The hold is released: give up what it holds, or pass that on.  Locked. */
typedef void ku_hold_release_fn(struct kustos_hold *hold, void *owner);

/* Beside a hold's own node: a node that nobody else writes while it is held. */
struct ku_hold_check {
	const char *path; /* as the program knows paths */
	int version;	  /* -1: any; it only has to be there */
};

/* What a hold holds. */
struct ku_grant {
	const char *path; /* of its node, as the program knows paths; lives
			     until the release */
	const struct ku_hold_check *check; /* the same, or NULL */
	int64_t token;
	ku_hold_release_fn *release;
	void *owner;
};

/* A hold of several others. */
struct ku_bundle {
	struct kustos_hold *whole;
	size_t count;
	struct kustos_hold *parts[];
};

/* Make a hold that holds nothing yet.  NULL if memory is short. */
struct kustos_hold *ku_hold_new(struct kustos_client *client);

/* Free a hold that holds nothing; NULL is allowed. */
void ku_hold_free(struct kustos_hold *hold);

/* "grant" was granted, or another hold has passed it on.  Locked. */
void ku_hold_grant(struct kustos_hold *hold, const struct ku_grant *grant);

/* The same with a place. */
void ku_hold_grant_place(struct kustos_hold *hold, const struct ku_place *place,
	ku_hold_release_fn *release, void *owner);

/* It is released by something else of ours, which uses ku_hold_release(): from
   now on kustos_hold_release() refuses it. */
void ku_hold_keep(struct kustos_hold *hold);

/* From now on the whole is lost as soon as one of its parts is.  Locked. */
void ku_hold_bundle(struct ku_bundle *bundle);

/* Return the owner with which it was granted; NULL if it was granted with
   another "release".  Locked. */
void *ku_hold_owner(const struct kustos_hold *hold,
	ku_hold_release_fn *release);

/* What it holds was lost.  Locked. */
void ku_hold_lose(struct kustos_hold *hold);

/* Somebody asks for its release: have "fn" called.  Locked. */
void ku_hold_ask(struct kustos_hold *hold, kustos_hold_fn *fn, void *arg);

/* Return whether this thread is inside one of its callbacks.  Locked. */
bool ku_hold_inside(const struct kustos_hold *hold);

/* Call no callback any more, neither of this hold nor of its parts, and wait
   for callbacks that run on other threads.  Locked; unlocks meanwhile. */
void ku_hold_hush(struct kustos_hold *hold);

/* Return the state.  Locked. */
enum kustos_hold_state ku_hold_state(struct kustos_hold *hold);

/* Return whether it is lost, as kustos_hold_state(), but only for a hold of a
   place.  This is called often, and takes no lock as long as the place is
   held. */
bool ku_hold_is_lost(struct kustos_hold *hold);

/* kustos_hold_release(), for a hold that is not NULL, and may be kept. */
enum kustos_err ku_hold_release(struct kustos_hold *hold);

#endif
