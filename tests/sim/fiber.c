/* fiber.c - threads of which one runs at a time, until it hands over. */
#include "fiber.h"

#include "sched.h"

#include <pthread.h>
#include <stdlib.h>

struct fiber {
	fiber_fn *fn;
	void *arg;
	pthread_t thread;
	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t turned;
	bool runs; /* if not, whoever resumed it runs */
	bool over;
};

static _Thread_local struct fiber *self;

static void hand_over(struct fiber *fiber, bool to_it)
{
	pthread_mutex_lock(&fiber->mutex);
	fiber->runs = to_it;
	pthread_cond_broadcast(&fiber->turned);
	pthread_mutex_unlock(&fiber->mutex);
}

static void await(struct fiber *fiber, bool runs)
{
	pthread_mutex_lock(&fiber->mutex);
	while (fiber->runs != runs)
		pthread_cond_wait(&fiber->turned, &fiber->mutex);
	pthread_mutex_unlock(&fiber->mutex);
}

static void *run(void *arg)
{
	struct fiber *fiber = arg;

	self = fiber;
	await(fiber, true);
	fiber->fn(fiber->arg);
	fiber->over = true;
	hand_over(fiber, false);
	return NULL;
}

struct fiber *fiber_start(fiber_fn *fn, void *arg)
{
	struct fiber *fiber = sim_calloc(1, sizeof(*fiber));

	fiber->fn = fn;
	fiber->arg = arg;
	pthread_mutex_init(&fiber->mutex, NULL);
	pthread_cond_init(&fiber->turned, NULL);
	if (pthread_create(&fiber->thread, NULL, run, fiber) != 0)
		abort(); /* the simulator cannot go on, as without memory */
	fiber_resume(fiber);
	return fiber;
}

void fiber_resume(struct fiber *fiber)
{
	hand_over(fiber, true);
	await(fiber, false);
}

void fiber_yield(void)
{
	hand_over(self, false);
	await(self, true);
}

bool fiber_over(const struct fiber *fiber)
{
	return fiber->over;
}

void fiber_free(struct fiber *fiber)
{
	pthread_join(fiber->thread, NULL);
	pthread_mutex_destroy(&fiber->mutex);
	pthread_cond_destroy(&fiber->turned);
	free(fiber);
}
