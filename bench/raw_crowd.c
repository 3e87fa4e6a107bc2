/*
 * raw_crowd.c - a queue's crowd on bare sockets: half of the clients put 20,000
 * items, 100 a call, and the other half take them, 64 at a time.  Each takes
 * the items whose numbers are in its own share, so that no two try for the same
 * item.  This leaves out what it costs to find out what others have taken, and
 * what it costs if the client of a share has died.
 */
#include "raw_floor.h"
#include "raw_queue.h"

#include "clocks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CROWD 20000
#define A_CALL 100

struct crowd {
	struct floor *floor;
	int sides; /* that put; as many take */
	atomic_int err;
};

struct side {
	struct crowd *crowd;
	int number;
	struct queue queue;
	pthread_t thread;
};

static void *put(void *arg)
{
	struct side *s = arg;
	int count = CROWD / s->crowd->sides / A_CALL;

	for (int i = 0; i < count && atomic_load(&s->crowd->err) == 0; i++)
		if (queue_put(&s->queue, &queue_simple, A_CALL) < 0)
			atomic_store(&s->crowd->err, -1);
	return NULL;
}

/* Is it in the share of this side? */
static bool is_ours(const struct side *s, const char *name)
{
	int number = atoi(strrchr(name, '-') + 1);

	return number % s->crowd->sides == s->number;
}

static int list_share(struct side *s)
{
	struct queue *q = &s->queue;
	int ours = 0;

	if (queue_list(q) < 0)
		return -1;
	for (int i = 0; i < q->count; i++)
		if (is_ours(s, q->names[i]))
			q->names[ours++] = q->names[i];
		else
			free(q->names[i]);
	q->count = ours;
	return 0;
}

static void *take(void *arg)
{
	struct side *s = arg;
	int left = CROWD / s->crowd->sides;

	while (left > 0 && atomic_load(&s->crowd->err) == 0) {
		if (list_share(s) < 0 ||
			queue_take(&s->queue, QUEUE_AT_ONCE) < 0)
			atomic_store(&s->crowd->err, -1);
		left -= s->queue.count;
	}
	queue_forget(&s->queue);
	return NULL;
}

static void run(struct crowd *c, struct side *sides)
{
	struct driver_result *result = c->floor->result;
	int64_t since = clocks_now_ns();

	for (int i = 0; i < 2 * c->sides; i++)
		if (pthread_create(&sides[i].thread, NULL,
			    i < c->sides ? put : take, &sides[i]) != 0)
			abort();
	for (int i = 0; i < 2 * c->sides; i++)
		pthread_join(sides[i].thread, NULL);
	result->ns += clocks_now_ns() - since;
	result->ops += CROWD;
}

int floor_crowd(struct floor *f)
{
	struct crowd c = { .floor = f, .sides = f->run->sessions / 2 };
	int64_t until = clocks_now_ns() + f->run->ms * INT64_C(1000000);
	struct side sides[FLOOR_LINKS];

	if (c.sides == 0 || CROWD / A_CALL % c.sides != 0)
		return -1;
	for (int i = 0; i < 2 * c.sides; i++) {
		sides[i].crowd = &c;
		sides[i].number = i % c.sides;
		if (queue_open(&sides[i].queue, &f->links[i], f->run->path, i) <
			0)
			return -1;
	}
	do
		run(&c, sides);
	while (atomic_load(&c.err) == 0 && clocks_now_ns() < until);
	return atomic_load(&c.err);
}
