/*
 * hold_wait.h - a thread that waits for one hold, or several, or a callback
 * that receives them.
 */
#ifndef KU_HOLD_WAIT_H
#define KU_HOLD_WAIT_H

#include "hold.h"
#include "wait.h"

struct ku_hold_wait { /* the first field of what a recipe waits with; zero */
	struct ku_wait wait;	    /* first: cast back from it */
	int count;		    /* of holds; 0 means 1 */
	bool kept;		    /* from the grant on: ku_hold_keep() */
	struct kustos_hold **holds; /* made beforehand: a grant cannot fail */
	struct kustos_hold *hold;   /* the only one, if there is one */
	kustos_granted_fn *granted;
	kustos_granted_many_fn *granted_many; /* instead */
	void *arg;
};

/* The calls of a recipe have ku_hold_wait_tell() as "tell".  When a wait is
   granted, the recipe grants its hold something to hold, and ends the wait. */
void ku_hold_wait_tell(struct ku_wait *wait);

/* Start, and wait for the end.  "want" may be a variable of the caller's.
   "out" has room for want->count holds. */
enum kustos_err ku_hold_wait_block(struct ku_hold_wait *want,
	struct kustos_client *client, const struct ku_wait_calls *calls,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out);

/* Start.  want->granted is called at the end, and then "want", which was
   malloc'ed, is freed.  If this does not return KUSTOS_OK, "want" is freed at
   once. */
enum kustos_err ku_hold_wait_async(struct ku_hold_wait *want,
	struct kustos_client *client, const struct ku_wait_calls *calls,
	kustos_deadline deadline, struct kustos_cancel *cancel);

#endif
