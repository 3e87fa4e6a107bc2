/*
 * stats.h - counters and a latency histogram.
 *
 * Guarded by the owner's mutex.  The histogram has four buckets for each power
 * of two of microseconds, so a percentile is right to within 19 per cent.
 */
#ifndef KU_STATS_H
#define KU_STATS_H

#include <stdint.h>

#define KU_LATENCY_BUCKETS 128

struct ku_latency {
	uint64_t count;
	uint64_t sum_us;
	uint64_t max_us;
	uint32_t bucket[KU_LATENCY_BUCKETS];
};

void ku_latency_add(struct ku_latency *latency, int64_t duration_ns);

/* Return the upper bound of the bucket that holds the given share (0..100) of
   all durations, never above the maximum; 0 if there are none. */
uint64_t ku_latency_percentile(const struct ku_latency *latency, int percent);

#endif
