/*
 * fairness.h - how evenly something was given.
 */
#ifndef BENCH_FAIRNESS_H
#define BENCH_FAIRNESS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Return Jain's index of "count" shares: 1 if they are equal, 1/count if one has
   all; 1 also if there is nothing to share. */
double fairness_jain(const double *shares, size_t count);

/* How many times in a row the same one had its turn.  All zero at first; may lie
   in memory that processes share. */
struct fairness_turns {
	_Atomic uint64_t run; /* who, and how often; 0: nobody yet */
	_Atomic uint32_t longest;
};

/* "who" has a turn.  From any thread. */
void fairness_turn(struct fairness_turns *turns, uint32_t who);

#endif
