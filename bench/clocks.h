/*
 * clocks.h - what the system's clocks say.
 */
#ifndef BENCH_CLOCKS_H
#define BENCH_CLOCKS_H

#include <stdint.h>
#include <time.h>

/* Return nanoseconds of that clock: of CLOCK_MONOTONIC, by which everything here
   is timed, with the second. */
int64_t clocks_ns(clockid_t clock);
int64_t clocks_now_ns(void);

#endif
