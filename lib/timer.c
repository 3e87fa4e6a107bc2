/*
 * timer.c - the timers as a binary heap: none is due before its parent.
 */
#include "timer.h"

#include <stdlib.h>

#define FIRST_ROOM ((size_t)16)

static void put(struct ku_timers *timers, size_t i, struct ku_timer *timer)
{
	timers->heap[i] = timer;
	timer->slot = i + 1;
}

/* Find the place for a timer that is due at "at_ns", from the free place "i"
   upwards, by moving later parents down. */
static size_t rise(struct ku_timers *timers, size_t i, int64_t at_ns)
{
	while (i > 0 && timers->heap[(i - 1) / 2]->at_ns > at_ns) {
		put(timers, i, timers->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	return i;
}

/* The same downwards: move earlier children up. */
static size_t sink(struct ku_timers *timers, size_t i, int64_t at_ns)
{
	size_t child;

	while ((child = 2 * i + 1) < timers->count) {
		if (child + 1 < timers->count &&
			timers->heap[child + 1]->at_ns <
				timers->heap[child]->at_ns)
			child++;
		if (timers->heap[child]->at_ns >= at_ns)
			break;
		put(timers, i, timers->heap[child]);
		i = child;
	}
	return i;
}

static void settle(struct ku_timers *timers, size_t i, struct ku_timer *timer)
{
	i = rise(timers, i, timer->at_ns);
	i = sink(timers, i, timer->at_ns);
	put(timers, i, timer);
}

/* Make room for "need" timers. */
static bool make_room(struct ku_timers *timers, size_t need)
{
	struct ku_timer **heap;
	size_t room = timers->room < FIRST_ROOM ? FIRST_ROOM : timers->room * 2;

	if (need <= timers->room)
		return true;
	if (room < need)
		room = need;
	heap = realloc(timers->heap, room * sizeof(heap[0]));
	if (heap == NULL)
		return false;
	timers->heap = heap;
	timers->room = room;
	return true;
}

bool ku_timers_reserve(struct ku_timers *timers, size_t more)
{
	size_t taken = timers->count + timers->reserved;

	if (more > SIZE_MAX / sizeof(timers->heap[0]) / 2 - taken ||
		!make_room(timers, taken + more))
		return false;
	timers->reserved += more;
	return true;
}

void ku_timers_release(struct ku_timers *timers, size_t fewer)
{
	timers->reserved -= fewer;
}

bool ku_timer_set(struct ku_timers *timers, struct ku_timer *timer,
	int64_t at_ns)
{
	if (timer->slot == 0) {
		if (!make_room(timers, timers->count + 1))
			return false;
		timer->slot = ++timers->count;
	}
	timer->at_ns = at_ns;
	settle(timers, timer->slot - 1, timer);
	return true;
}

void ku_timer_unset(struct ku_timers *timers, struct ku_timer *timer)
{
	struct ku_timer *last;
	size_t hole;

	if (timer->slot == 0)
		return;
	hole = timer->slot - 1;
	timer->slot = 0;
	last = timers->heap[--timers->count];
	if (last != timer)
		settle(timers, hole, last);
}

int64_t ku_timers_next(const struct ku_timers *timers)
{
	return timers->count != 0 ? timers->heap[0]->at_ns : INT64_MAX;
}

struct ku_timer *ku_timers_pop(struct ku_timers *timers, int64_t now_ns)
{
	struct ku_timer *first;

	if (timers->count == 0 || timers->heap[0]->at_ns > now_ns)
		return NULL;
	first = timers->heap[0];
	ku_timer_unset(timers, first);
	return first;
}

/* Touches no timer: their owners may have been freed first. */
void ku_timers_free(struct ku_timers *timers)
{
	free(timers->heap);
	timers->heap = NULL;
	timers->count = 0;
	timers->room = 0;
}
