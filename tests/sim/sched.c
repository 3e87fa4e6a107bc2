/* sched.c - the event queue: a four-way heap by time, then by order. */
#include "sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAYS 4

static int64_t read_now(void *arg)
{
	struct sched *sched = arg;

	if (sched->running && sched->stall != NULL)
		sched->now_ns += sched->stall(sched->stall_arg);
	return sched->now_ns;
}

void sched_init(struct sched *sched, int clients)
{
	memset(sched, 0, sizeof(*sched));
	/* A deadline of zero is special to Kustos, so time starts later. */
	sched->now_ns = 1000 * KU_NS_PER_S;
	sched->lanes = sim_calloc((size_t)clients + 1, sizeof(*sched->lanes));
	sched->lane_count = clients;
	sched->ran = SCHED_NOBODY;
	sched->clock.monotonic = read_now;
	sched->clock.boot = read_now;
	sched->clock.wall = read_now;
	sched->clock.arg = sched;
}

void sched_free(struct sched *sched)
{
	int i;

	for (i = 0; i < sched->lane_count; i++)
		free(sched->lanes[i].held);
	free(sched->lanes);
	free(sched->heap);
	memset(sched, 0, sizeof(*sched));
}

static bool earlier(const struct sched_event *a, const struct sched_event *b)
{
	return a->at_ns < b->at_ns ||
		(a->at_ns == b->at_ns && a->order < b->order);
}

static void push(struct sched *sched, const struct sched_event *event)
{
	struct sched_event *heap;
	size_t i;
	size_t up;

	if (sched->count == sched->room) {
		sched->room = sched->room ? sched->room * 2 : 256;
		sched->heap = sim_realloc(sched->heap,
			sched->room * sizeof(*sched->heap));
	}
	heap = sched->heap;
	for (i = sched->count++; i > 0; i = up) {
		up = (i - 1) / WAYS;
		if (!earlier(event, &heap[up]))
			break;
		heap[i] = heap[up];
	}
	heap[i] = *event;
}

static void pop(struct sched *sched, struct sched_event *out)
{
	struct sched_event *heap = sched->heap;
	struct sched_event last;
	size_t i = 0;
	size_t child;
	size_t best;
	size_t end;

	*out = heap[0];
	last = heap[--sched->count];
	while ((child = i * WAYS + 1) < sched->count) {
		end = child + WAYS;
		if (end > sched->count)
			end = sched->count;
		for (best = child++; child < end; child++) {
			if (earlier(&heap[child], &heap[best]))
				best = child;
		}
		if (!earlier(&heap[best], &last))
			break;
		heap[i] = heap[best];
		i = best;
	}
	heap[i] = last;
}

void sched_add(struct sched *sched, int client, int64_t at_ns, sched_fn *fn,
	void *arg, uint64_t tag)
{
	struct sched_event event;

	event.at_ns = at_ns > sched->now_ns ? at_ns : sched->now_ns;
	event.order = sched->order++;
	event.fn = fn;
	event.arg = arg;
	event.tag = tag;
	event.client = client;
	push(sched, &event);
}

static void hold(struct sched_lane *lane, const struct sched_event *event)
{
	if (lane->held_count == lane->held_room) {
		lane->held_room = lane->held_room ? lane->held_room * 2 : 16;
		lane->held = sim_realloc(lane->held,
			lane->held_room * sizeof(*lane->held));
	}
	lane->held[lane->held_count++] = *event;
}

/* Run a client's event.  If the client has stalled in it, pause the client
   until the others have caught up. */
static void run(struct sched *sched, const struct sched_event *event)
{
	int64_t end;

	sched->running = true;
	event->fn(event->arg, event->tag);
	sched->running = false;
	end = sched->now_ns;
	if (end == sched->began_ns)
		return;
	sched->now_ns = sched->began_ns;
	sched->lanes[event->client].ahead = end;
	sched_pause(sched, event->client, end);
}

bool sched_run(struct sched *sched)
{
	struct sched_event event;

	for (;;) {
		if (sched->count == 0)
			return false;
		pop(sched, &event);
		if (event.at_ns > sched->now_ns)
			sched->now_ns = event.at_ns;
		if (event.client == SCHED_NOBODY ||
			!sched->lanes[event.client].paused)
			break;
		hold(&sched->lanes[event.client], &event);
	}
	sched->ran = event.client;
	sched->began_ns = sched->now_ns;
	if (event.client == SCHED_NOBODY)
		event.fn(event.arg, event.tag);
	else
		run(sched, &event);
	return true;
}

/* The tag holds the client's index, and which of its pauses it is. */
static void resume_due(void *arg, uint64_t tag)
{
	struct sched *sched = arg;
	int client = (int)(tag & 0xffff);

	if (sched->lanes[client].pause == tag >> 16)
		sched_resume(sched, client);
}

void sched_pause(struct sched *sched, int client, int64_t until_ns)
{
	struct sched_lane *lane = &sched->lanes[client];

	if (until_ns < lane->ahead)
		until_ns = lane->ahead;
	lane->paused = true;
	lane->pause++;
	sched_add(sched, SCHED_NOBODY, until_ns, resume_due, sched,
		lane->pause << 16 | (uint64_t)client);
}

void sched_resume(struct sched *sched, int client)
{
	struct sched_lane *lane = &sched->lanes[client];
	size_t i;

	if (lane->ahead > sched->now_ns) {
		sched_pause(sched, client, lane->ahead);
		return;
	}
	lane->paused = false;
	lane->pause++;
	/* Keep the order of the held events, as if there had been no pause. */
	for (i = 0; i < lane->held_count; i++) {
		lane->held[i].at_ns = sched->now_ns;
		push(sched, &lane->held[i]);
	}
	lane->held_count = 0;
}

void sched_set_stall(struct sched *sched, int64_t (*stall)(void *arg),
	void *arg)
{
	sched->stall = stall;
	sched->stall_arg = arg;
}

void sim_random_seed(struct sim_random *r, uint64_t seed, uint64_t stream)
{
	struct sim_random mix;

	mix.state = seed;
	r->state = sim_random_next(&mix) ^
		(stream * UINT64_C(0xd1342543de82ef95));
	(void)sim_random_next(r);
}

void *sim_calloc(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (memory == NULL) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

void *sim_realloc(void *memory, size_t size)
{
	memory = realloc(memory, size);
	if (memory == NULL) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

void *sim_room(void *items, int index, int *room, size_t size)
{
	if (index < *room)
		return items;
	*room = index < 32 ? 64 : 2 * index;
	return sim_realloc(items, (size_t)*room * size);
}
