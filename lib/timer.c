/*
 * timer.c - the timers as a binary heap: none is due before its parent.
 *
 * The heap is a complete tree.  The timer with the number n, which is from 1 to
 * "count", is child[n % 2] of the one with the number n / 2; the top has the
 * number 0.
 */
#include "timer.h"

static struct ku_timer *numbered(struct ku_timers *timers, size_t n)
{
	return n == 0 ? &timers->top : numbered(timers, n / 2)->child[n % 2];
}

static void join(struct ku_timer *parent, int side, struct ku_timer *child)
{
	parent->child[side] = child;
	if (child != NULL)
		child->parent = parent;
}

static int side_of(const struct ku_timer *timer)
{
	return timer->parent->child[1] == timer;
}

/* Put "timer" in the place of its parent, and that in its place. */
static void rise(struct ku_timer *timer)
{
	struct ku_timer *parent = timer->parent;
	struct ku_timer *left = timer->child[0], *right = timer->child[1];
	int side = side_of(timer);

	join(parent->parent, side_of(parent), timer);
	join(timer, !side, parent->child[!side]);
	join(timer, side, parent);
	join(parent, 0, left);
	join(parent, 1, right);
}

static struct ku_timer *earlier_child(const struct ku_timer *timer)
{
	struct ku_timer *left = timer->child[0], *right = timer->child[1];

	return right != NULL && right->at_ns < left->at_ns ? right : left;
}

static void settle(struct ku_timers *timers, struct ku_timer *timer)
{
	struct ku_timer *child;

	while (timer->parent != &timers->top &&
		timer->parent->at_ns > timer->at_ns)
		rise(timer);
	while ((child = earlier_child(timer)) != NULL &&
		child->at_ns < timer->at_ns)
		rise(child);
}

void ku_timer_set(struct ku_timers *timers, struct ku_timer *timer,
	int64_t at_ns)
{
	if (!ku_timer_is_set(timer)) {
		size_t n = ++timers->count;

		timer->child[0] = timer->child[1] = NULL;
		join(numbered(timers, n / 2), n % 2, timer);
	}
	timer->at_ns = at_ns;
	settle(timers, timer);
}

void ku_timer_unset(struct ku_timers *timers, struct ku_timer *timer)
{
	if (!ku_timer_is_set(timer))
		return;
	struct ku_timer *last = numbered(timers, timers->count--);
	join(last->parent, side_of(last), NULL);
	if (last != timer) {
		join(timer->parent, side_of(timer), last);
		join(last, 0, timer->child[0]);
		join(last, 1, timer->child[1]);
		settle(timers, last);
	}
	timer->parent = NULL;
}

int64_t ku_timers_next(const struct ku_timers *timers)
{
	return timers->count != 0 ? timers->top.child[1]->at_ns : INT64_MAX;
}

struct ku_timer *ku_timers_pop(struct ku_timers *timers, int64_t now_ns)
{
	struct ku_timer *first = timers->top.child[1];

	if (first == NULL || first->at_ns > now_ns)
		return NULL;
	ku_timer_unset(timers, first);
	return first;
}
