/*
 * hold.h - how a recipe makes holds of places.
 *
 * A hold is made before it is needed, so that a grant cannot fail; is given a
 * place when that is granted; and may pass it on to another hold.
 */
#ifndef KU_HOLD_H
#define KU_HOLD_H

#include "line.h"

#include <kustos/hold.h>
#include <stdbool.h>

/* The hold is released: give its place up, or pass it on.  Locked. */
typedef void ku_hold_release_fn(struct kustos_hold *hold, void *owner);

/* Make a hold of nothing.  NULL if memory is short. */
struct kustos_hold *ku_hold_new(struct kustos_client *client);

/* Free one that is of nothing; NULL is allowed. */
void ku_hold_free(struct kustos_hold *hold);

/* "place" is granted, or another hold has passed it on.  Locked. */
void ku_hold_grant(struct kustos_hold *hold, struct ku_place *place,
	ku_hold_release_fn *release, void *owner);

/* Return the owner that it was granted with; NULL if that was with another
   "release".  Locked. */
void *ku_hold_owner(const struct kustos_hold *hold,
	ku_hold_release_fn *release);

/* Its place was lost.  Locked. */
void ku_hold_lose(struct kustos_hold *hold);

/* Have "fn" called: somebody asks for it.  Locked. */
void ku_hold_ask(struct kustos_hold *hold, kustos_hold_fn *fn, void *arg);

/* Return the state.  Locked. */
enum kustos_hold_state ku_hold_state(struct kustos_hold *hold);

/* kustos_hold_release(), for a hold that is not NULL. */
enum kustos_err ku_hold_release(struct kustos_hold *hold);

#endif
