/*
 * turns.h - peers take turns at one lock, all at the same time; how many turns
 * each had, and when.
 */
#ifndef TEST_TURNS_H
#define TEST_TURNS_H

#include "peer.h"
#include "spans.h"

#define TURNS_LINE "/line"
#define TURNS_SECOND "/line-b" /* of the mutexes taken together */
#define TURNS_THIRD "/line-c"
#define TURNS_LINES TURNS_LINE "," TURNS_SECOND "," TURNS_THIRD
#define TURNS_COUNTER "/counter"
#define TURNS_MUTEX (-1)
#define TURNS_SELECTOR (-2)
#define TURNS_SOLE (-3)
#define TURNS_BARE (-4)
#define TURNS_ALL (-5)
#define TURNS_DRAW (-6)

/* What one peer does; see "count" in peer.h. */
struct turns {
	int turns;
	int patience_ms; /* for each turn; -1: without the lock */
	int percent;	 /* that read; or TURNS_MUTEX; or TURNS_SELECTOR: as a
			leader; or TURNS_SOLE: the mutex of a semaphore; or
			TURNS_BARE: the simple lock; or TURNS_ALL: TURNS_LINES
			together; or TURNS_DRAW: leases of a semaphore, and the
			counter stays */
	int done;	 /* out: turns it had */
	int max, leases; /* of TURNS_DRAW */
};

/* Let "count" peers take their turns.  Then add the time of each turn to
   "spans", with the number of the peer. */
void turns_take(struct peer *peers, struct turns *turns, int count,
	struct spans *spans);

/* The same, but a peer that is done takes as many turns again, until each peer
   has been done once.  So no peer gets its turns only because others have left.
   If one never gets them, it was starved, and the test fails. */
void turns_contend(struct peer *peers, struct turns *turns, int count,
	struct spans *spans);

/* Return the counter's value. */
int turns_counted(void);

#endif
