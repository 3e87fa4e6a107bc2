/*
 * voters.h - processes that join one election, one after the other, and at
 * every step must agree on who leads.
 *
 * Whatever fails in here fails the test.
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
	int line[VOTERS_MAX], in_line; /* the candidates by number, in order */
};

/* Start "count" processes and let each join the election.  They take turns
   through the kinds, up to PEER_KINDS, beginning with number "first". */
void voters_enter(struct voters *v, const enum peer_kind *kinds, int first,
	int count, const char *how, int session_ms);

/* Number "i" joins behind all others. */
void voters_elect(struct voters *v, int i);

/* The leader resigns; or it is gone already, and is only removed from the list.
   Return its number. */
int voters_resign(struct voters *v);
int voters_take_first(struct voters *v);

/* Find out the present order of the line, as number 0 sees it. */
void voters_look(struct voters *v);

/* Check that the first of the line leads and the others do not, and that every
   process, even one that takes no part, sees the same leader and the same
   candidates. */
void voters_agree(struct voters *v);

/* Each in turn resigns and joins again, and then all resign; they must agree at
   every step. */
void voters_take_turns(struct voters *v);

/* Kill the leader.  Return how many milliseconds it took the next one to lead,
   which must not be before the dead one's session can be over. */
int64_t voters_kill(struct voters *v, int session_ms);

#endif
