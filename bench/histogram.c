/*
 * histogram.c - buckets that are as fine as the number is small.
 */
#include "histogram.h"

#include <math.h>
#include <stddef.h>

/* Numbers below 64 have a bucket each; of those above, the six highest bits
   say which. */
static size_t bucket_of(int64_t value)
{
	unsigned shift = 0;

	while (value >> shift >= 2 * HISTOGRAM_PART)
		shift++;
	size_t at = shift * (size_t)HISTOGRAM_PART + (size_t)(value >> shift);
	return at < HISTOGRAM_BUCKETS ? at : HISTOGRAM_BUCKETS - 1;
}

/* Return the greatest number that belongs to the bucket. */
static int64_t top_of(size_t bucket)
{
	size_t shift = bucket < 2 * (size_t)HISTOGRAM_PART
		? 0
		: bucket / HISTOGRAM_PART - 1;
	int64_t first = (int64_t)(bucket - shift * HISTOGRAM_PART);

	return ((first + 1) << shift) - 1;
}

void histogram_add(struct histogram *h, int64_t value)
{
	if (value < 0)
		value = 0;
	h->buckets[bucket_of(value)]++;
	h->count++;
	h->sum += (double)value;
	if (value > h->max)
		h->max = value;
}

void histogram_merge(struct histogram *into, const struct histogram *h)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += h->buckets[i];
	into->count += h->count;
	into->sum += h->sum;
	if (h->max > into->max)
		into->max = h->max;
}

int64_t histogram_percentile(const struct histogram *h, double percent)
{
	/* There is no double of exactly 99.9, and the nearest may be greater:
	   that must not raise the rank by one. */
	double wanted = ceil((double)h->count * percent / 100 * (1 - 1e-12));
	uint64_t seen = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS && h->count > 0; i++) {
		seen += h->buckets[i];
		if (seen == 0 || (double)seen < wanted)
			continue;
		/* The last bucket is for all that is greater, too. */
		if (i == HISTOGRAM_BUCKETS - 1 || top_of(i) > h->max)
			return h->max;
		return top_of(i);
	}
	return h->max;
}

double histogram_mean(const struct histogram *h)
{
	return h->count > 0 ? h->sum / (double)h->count : 0;
}
