/*
 * fairness.c - how evenly something was given.
 */
#include "fairness.h"

double fairness_jain(const double *shares, size_t count)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		sum += shares[i];
		squares += shares[i] * shares[i];
	}
	return squares > 0 ? sum * sum / ((double)count * squares) : 1;
}

void fairness_turn(struct fairness_turns *turns, uint32_t who)
{
	uint64_t before = atomic_load(&turns->run), now;
	uint32_t longest = atomic_load(&turns->longest);

	do {
		now = before != 0 && before >> 32 == who
			? before + 1
			: (uint64_t)who << 32 | 1;
	} while (!atomic_compare_exchange_weak(&turns->run, &before, now));
	while ((uint32_t)now > longest &&
		!atomic_compare_exchange_weak(&turns->longest, &longest,
			(uint32_t)now))
		;
}
