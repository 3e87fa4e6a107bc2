/*
 * random.h - random numbers of our own, for jitter and for names.
 *
 * The process's generators (random, drand48) belong to the program; this one
 * is a field of its owner, seeded from the kernel, or by the simulator.
 */
#ifndef KU_RANDOM_H
#define KU_RANDOM_H

#include <stdint.h>

struct ku_random {
	uint64_t s[4]; /* xoshiro256**; never all zero */
};

/* Seed from the kernel's generator. */
void ku_random_init(struct ku_random *r);

/* Seed so that the sequence can be repeated. */
void ku_random_seed(struct ku_random *r, uint64_t seed);

uint64_t ku_random_next(struct ku_random *r);

/* Return a number in [0, bound), without bias; 0 if "bound" is 0. */
uint64_t ku_random_below(struct ku_random *r, uint64_t bound);

#endif
