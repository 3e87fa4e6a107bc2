/*
 * histogram.h - how often each duration was measured, in a fixed 5 KB.
 *
 * A bucket is as wide as a 32nd of what it counts, so that a percentile is too
 * high by 3.2 in 100 at the most, and never too low; small numbers and the
 * greatest are exact.  It has no pointers: it may lie in shared memory.  Pure.
 */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_PART 32   /* buckets for each power of two */
#define HISTOGRAM_POWERS 38 /* up to 2^42 ns, which is more than an hour */
#define HISTOGRAM_BUCKETS (HISTOGRAM_PART * HISTOGRAM_POWERS)

struct histogram {
	uint64_t count;
	int64_t max;
	double sum;
	uint32_t buckets[HISTOGRAM_BUCKETS];
};

/* Count one; less than 0 counts as 0. */
void histogram_add(struct histogram *h, int64_t value);

void histogram_merge(struct histogram *into, const struct histogram *h);

/* Return what "percent" in a hundred did not exceed; 0 if there are none. */
int64_t histogram_percentile(const struct histogram *h, double percent);

double histogram_mean(const struct histogram *h);

#endif
