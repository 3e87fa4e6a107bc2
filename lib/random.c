/*
 * random.c - xoshiro256** (Blackman and Vigna), seeded from the kernel.
 */
#include "random.h"

#include "clock.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

/* SplitMix64: turns any number into well mixed ones, each different from the
   last, so that four in a row are never all zero. */
static uint64_t mix(uint64_t *x)
{
	uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* getrandom() may be forbidden, for example in a sandbox.  But the kernel gave
   this process 16 random bytes when it began.  The time, the process id and the
   address of "r" make the seeds of two calls, or of a fork, differ. */
static void seed_without_kernel(struct ku_random *r)
{
	const void *bytes = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	uint64_t given[2] = { 0, 0 };

	if (bytes != NULL)
		memcpy(given, bytes, sizeof(given));
	ku_random_seed(r, given[0] ^ (uint64_t)ku_boot(&ku_clock_real));
	r->s[0] ^= given[1];
	r->s[1] ^= (uint64_t)getpid();
	r->s[2] ^= (uint64_t)(uintptr_t)r;
	r->s[3] |= 1;
}

void ku_random_init(struct ku_random *r)
{
	ssize_t got;

	do {
		got = getrandom(r->s, sizeof(r->s), 0);
	} while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(r->s))
		seed_without_kernel(r);
	else if ((r->s[0] | r->s[1] | r->s[2] | r->s[3]) == 0)
		ku_random_seed(r, 0);
}

void ku_random_seed(struct ku_random *r, uint64_t seed)
{
	size_t i;

	for (i = 0; i < 4; i++)
		r->s[i] = mix(&seed);
}

uint64_t ku_random_next(struct ku_random *r)
{
	uint64_t *s = r->s;
	uint64_t result = rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t ku_random_below(struct ku_random *r, uint64_t bound)
{
	uint64_t surplus, x;

	if (bound == 0)
		return 0;
	/* 2^64 mod "bound" numbers are too many for equal shares: skip them. */
	surplus = -bound % bound;
	do {
		x = ku_random_next(r);
	} while (x < surplus);
	return x % bound;
}
