/*
 * voters.h - processes that take part in one election, one after the other, and
 * agree at every step on who leads.
 *
 * What cannot be done fails the test.
 */
#ifndef TEST_VOTERS_H
#define TEST_VOTERS_H

#include "peer.h"

#define VOTERS_LINE "/election"
#define VOTERS_MAX 6

struct voters {
	struct peer peers[VOTERS_MAX];
	int count;
	const char *how;	       /* of "elect", in peer.h */
	int line[VOTERS_MAX], in_line; /* who takes part, in order, by number */
};

/* Start "count" processes and have each take part: of the kinds by turns, up to
   PEER_KINDS, beginning with number "first". */
void voters_enter(struct voters *v, const enum peer_kind *kinds, int first,
	int count, const char *how, int session_ms);

/* Number "i" takes part, behind all others. */
void voters_elect(struct voters *v, int i);

/* The leader resigns; or it has gone, and is only taken out of the line.  Return
   its number. */
int voters_resign(struct voters *v);
int voters_take_first(struct voters *v);

/* Find out in which order they stand in line by now, as number 0 sees it. */
void voters_look(struct voters *v);

/* The first of the line leads, the others do not, and every process, also one
   that takes no part, has the same leader and the same candidates. */
void voters_agree(struct voters *v);

/* Each in turn resigns and stands in line again, and then all resign; they agree
   at every step. */
void voters_take_turns(struct voters *v);

/* Kill the leader.  Return how long it took the next one to lead, in
   milliseconds, which is not before the dead one's session can be over. */
int64_t voters_kill(struct voters *v, int session_ms);

#endif
