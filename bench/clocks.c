/*
 * clocks.c - what the system's clocks say.
 */
#include "clocks.h"

int64_t clocks_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clocks_now_ns(void)
{
	return clocks_ns(CLOCK_MONOTONIC);
}
