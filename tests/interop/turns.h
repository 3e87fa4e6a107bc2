/*
 * turns.h - peers take turns at one lock, all at once: what each had, and when.
 */
#ifndef TEST_TURNS_H
#define TEST_TURNS_H

#include "peer.h"
#include "spans.h"

#define TURNS_LINE "/line"
#define TURNS_COUNTER "/counter"
#define TURNS_MUTEX (-1)

/* What one peer is to do, as peer.h has it for "count". */
struct turns {
	int turns;
	int patience_ms; /* for each; -1: without the lock */
	int percent;	 /* that read; or TURNS_MUTEX */
	int done;	 /* out: how many it had */
};

/* Have "count" of them take their turns; then add to "spans" when that was, with
   the number of the peer. */
void turns_take(struct peer *peers, struct turns *turns, int count,
	struct spans *spans);

/* Return what the counter has. */
int turns_counted(void);

#endif
