/*
 * pace.c - when a worker asks, and how long it keeps what it gets.
 */
#include "pace.h"

#include <math.h>
#include <stdlib.h>

#define LONGEST_NS 1e18 /* what a clock can add: longer than any run */

static void step(struct pace *p)
{
	double ns = -log(1 - erand48(p->state)) * p->mean_ns;

	p->next_ns += (int64_t)(ns < LONGEST_NS ? ns : LONGEST_NS);
}

/* Make each bit depend on all (splitmix64), so that sequences of similar seeds
   begin far apart. */
static uint64_t mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15U;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
	z = (z ^ z >> 27) * 0x94d049bb133111ebU;
	return z ^ z >> 31;
}

void pace_init(struct pace *p, uint64_t seed, uint32_t worker, int64_t now_ns,
	double per_second, struct pace_span think)
{
	uint64_t mixed = mix(seed + mix(worker + 1));

	for (int i = 0; i < 3; i++)
		p->state[i] = (unsigned short)(mixed >> 16 * i);
	p->mean_ns = per_second > 0 ? 1e9 / per_second : 0;
	p->think = think;
	p->next_ns = now_ns;
	if (p->mean_ns > 0)
		step(p);
}

int64_t pace_next(struct pace *p, int64_t now_ns)
{
	int64_t at = p->next_ns;

	if (p->mean_ns <= 0)
		return now_ns + pace_draw(p, p->think);
	step(p);
	return at;
}

uint64_t pace_missed(struct pace *p, int64_t end_ns)
{
	uint64_t count = 0;

	while (p->mean_ns > 0 && p->next_ns < end_ns) {
		step(p);
		count++;
	}
	return count;
}

int64_t pace_draw(struct pace *p, struct pace_span span)
{
	double width = (double)(span.most_ns - span.least_ns);

	if (width <= 0)
		return span.least_ns;
	return span.least_ns + (int64_t)(erand48(p->state) * width);
}
