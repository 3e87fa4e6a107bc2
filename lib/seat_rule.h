/*
 * seat_rule.h - what a place in a line of one makes of the outcome of a try, of
 * a look at the node, and of its own end; pure.
 */
#ifndef KU_SEAT_RULE_H
#define KU_SEAT_RULE_H

#include "random.h"

#include <kustos/node.h>
#include <stdbool.h>

/* What the outcome of a try says. */
enum ku_seat_try {
	KU_SEAT_MADE,	/* we have made the node */
	KU_SEAT_BEATEN, /* it is there, and perhaps another's */
	KU_SEAT_REFUSED /* trying again will not help */
};

enum ku_seat_try ku_seat_try(enum kustos_err err);

/* What the node that a look has found is to a place.  "made": the place has
   made a node, of this czxid. */
enum ku_seat_sight {
	KU_SEAT_OWN,
	KU_SEAT_REPLACED, /* our own is gone, and another has made one */
	KU_SEAT_TAKEN,	  /* by another */
	KU_SEAT_NO_LOCK	  /* it outlives its maker: its end may never come */
};

enum ku_seat_sight ku_seat_sight(bool made, int64_t czxid,
	const struct kustos_stat *node);

/* Count one more defeat, as far as that makes a difference. */
int ku_seat_beaten(int beaten);

/* How long after the end of the node to wait with the next try, in ms.  0: try
   now; if longer, look before the try.  "seen": a look has shown that the node
   is gone. */
int64_t ku_seat_pause_ms(int beaten, bool seen, struct ku_random *random);

/* A place that gives its node up. */
struct ku_seat_leaver {
	bool trying; /* its creation is under way */
	bool made;   /* it has a node */
	bool gone;   /* which is known to be gone */
	bool seen;   /* which was seen on this connection, with a watch on it
			that has not fired */
};

enum ku_seat_end {
	KU_SEAT_OVER,	  /* nothing is left of it */
	KU_SEAT_UNWANTED, /* delete what the creation makes */
	KU_SEAT_DELETE,
	KU_SEAT_LOOK_FIRST /* and delete the node only if it is still ours */
};

enum ku_seat_end ku_seat_end(const struct ku_seat_leaver *leaver);

#endif
