/*
 * stats.c - the latency histogram.
 *
 * Bucket 4e + q holds the durations from 2^(e + q/4) microseconds to below
 * 2^(e + (q+1)/4).  The first takes 0 too, and the last whatever is longer.
 */
#include "stats.h"

/* 2^63 times the fourth roots of 1, 2, 4 and 8, rounded up. */
static const uint64_t bounds[4] = { UINT64_C(0x8000000000000000),
	UINT64_C(0x9837f0518db8a970), UINT64_C(0xb504f333f9de6485),
	UINT64_C(0xd744fccad69d6af5) };

static int bucket_of(uint64_t us)
{
	int power, quarter = 3;

	if (us == 0)
		return 0;
	power = 63 - __builtin_clzll(us);
	if (power >= KU_LATENCY_BUCKETS / 4)
		return KU_LATENCY_BUCKETS - 1;
	while (us << (63 - power) < bounds[quarter])
		quarter--;
	return 4 * power + quarter;
}

/* Return the longest duration that "bucket" holds. */
static uint64_t bucket_end(int bucket)
{
	int next = bucket + 1;

	if (next == KU_LATENCY_BUCKETS)
		return UINT64_MAX;
	return (bounds[next % 4] - 1) >> (63 - next / 4);
}

void ku_latency_add(struct ku_latency *latency, int64_t duration_ns)
{
	uint64_t us = duration_ns > 0 ? (uint64_t)duration_ns / 1000 : 0;
	uint32_t *bucket = &latency->bucket[bucket_of(us)];

	latency->count++;
	latency->sum_us += us;
	if (us > latency->max_us)
		latency->max_us = us;
	if (*bucket != UINT32_MAX)
		(*bucket)++;
}

uint64_t ku_latency_percentile(const struct ku_latency *latency, int percent)
{
	uint64_t total = 0, wanted, seen = 0, end;
	uint64_t share = percent < 0 ? 0 : percent > 100 ? 100 : percent;
	int i;

	/* Not "count": a full bucket stops counting. */
	for (i = 0; i < KU_LATENCY_BUCKETS; i++)
		total += latency->bucket[i];
	if (total == 0)
		return 0;
	wanted = (total * share + 99) / 100;
	if (wanted == 0)
		wanted = 1;
	for (i = 0; seen + latency->bucket[i] < wanted; i++)
		seen += latency->bucket[i];
	end = bucket_end(i);
	return end < latency->max_us ? end : latency->max_us;
}
