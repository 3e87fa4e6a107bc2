/* dispatch.c - the lanes of callbacks, and the threads that run them. */

#include "client.h"
#include "thread.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* How many losses can be announced at once while callbacks sleep. */
#define URGENT_THREADS 8
/* When to try again if no thread can be started. */
#define AGAIN_MS 100
/* How long a thread waits for more before it ends. */
#define IDLE_MS 1000

struct ku_lane_thread {
	struct kustos_client *client;
	struct ku_lane *lane;
	struct ku_lane_thread *next;
	pthread_t id;
	bool in_call;
	bool ended;
};

static void lane_append(struct ku_lane *lane, struct ku_call *call)
{
	call->next = NULL;
	if (lane->last != NULL)
		lane->last->next = call;
	else
		lane->first = call;
	lane->last = call;
	lane->queued++;
}

static void lane_prepend(struct ku_lane *lane, struct ku_call *call)
{
	call->next = lane->first;
	lane->first = call;
	if (lane->last == NULL)
		lane->last = call;
	lane->queued++;
}

static bool lane_remove(struct ku_lane *lane, struct ku_call *call)
{
	struct ku_call **at = &lane->first, *before = NULL;

	while (*at != NULL && *at != call) {
		before = *at;
		at = &before->next;
	}
	if (*at == NULL)
		return false;
	*at = call->next;
	if (lane->last == call)
		lane->last = before;
	lane->queued--;
	call->queued = false;
	return true;
}

static struct ku_call *lane_pop(struct ku_lane *lane)
{
	struct ku_call *call = lane->first;

	(void)lane_remove(lane, call);
	return call;
}

/* Wait for work.  Returns false when the thread has waited long enough. */
static bool lane_wait(struct kustos_client *client, struct ku_lane *lane)
{
	kustos_deadline until = kustos_after_ms(IDLE_MS);
	bool in_time = true;

	while (lane->first == NULL && in_time) {
		if (client->dispatch.stopping)
			return false;
		lane->idle++;
		in_time = ku_cond_wait(client, &lane->work, until);
		lane->idle--;
	}
	return lane->first != NULL;
}

static void *lane_main(void *arg)
{
	struct ku_lane_thread *self = arg;
	struct kustos_client *client = self->client;
	struct ku_lane *lane = self->lane;

	ku_lock(client);
	while (lane_wait(client, lane)) {
		struct ku_call *call = lane_pop(lane);

		lane->running++;
		self->in_call = true;
		call->fn(client, call);
		self->in_call = false;
		lane->running--;
	}
	lane->count--;
	self->ended = true;
	ku_wake(client); /* to be joined */
	ku_unlock(client);
	return NULL;
}

static bool lane_start_thread(struct kustos_client *client,
	struct ku_lane *lane)
{
	struct ku_lane_thread *thread = calloc(1, sizeof(*thread));

	if (thread == NULL)
		return false;
	thread->client = client;
	thread->lane = lane;
	if (!ku_thread_start(&thread->id, lane_main, thread)) {
		free(thread);
		return false;
	}
	thread->next = lane->threads;
	lane->threads = thread;
	lane->count++;
	return true;
}

/* Have a thread run what is queued.  Returns false if none can be started. */
static bool lane_serve(struct kustos_client *client, struct ku_lane *lane)
{
	if (lane->queued <= lane->idle || lane->count >= lane->max) {
		pthread_cond_signal(&lane->work);
		return true;
	}
	if (lane_start_thread(client, lane))
		return true;
	ku_set_timer_ms(client, &client->dispatch.again, AGAIN_MS);
	return false;
}

/* Have each queued call run on a thread of its own, as far as possible: it
   should not wait for another, which may take long. */
static void lane_serve_all(struct kustos_client *client, struct ku_lane *lane)
{
	int some = lane->queued - lane->idle;

	while (some-- > 0 && lane_serve(client, lane))
		;
}

/* A moment ago no thread could be started. */
static void serve_again(struct ku_timer *timer)
{
	struct ku_dispatch *d = KU_OWNER(struct ku_dispatch, again, timer);
	struct kustos_client *client = KU_OWNER(struct kustos_client, dispatch,
		d);

	for (int i = 0; i < KU_LANES; i++)
		lane_serve_all(client, &d->lanes[i]);
}

void ku_dispatch_beckon(struct kustos_client *client)
{
	if (client->dispatch.fd >= 0)
		(void)eventfd_write(client->dispatch.fd, 1);
	else
		ku_wake(client);
}

void ku_dispatch_push(struct kustos_client *client, struct ku_call *call,
	enum ku_lane_kind kind)
{
	struct ku_dispatch *d = &client->dispatch;
	struct ku_lane *ordinary = &d->lanes[KU_ORDINARY];
	bool threads = client->env.threads &&
		(kind == KU_LENGTHY || d->mode == KUSTOS_DISPATCH_THREAD);

	if (kind == KU_LENGTHY && client->env.apart != NULL) {
		client->env.apart(client->env.wake_arg, call);
		return;
	}
	/* News of a loss does not stay queued behind ordinary calls. */
	if (call->queued && !(kind == KU_URGENT && lane_remove(ordinary, call)))
		return;
	if (kind == KU_URGENT && ordinary->running == 0 &&
		ordinary->queued == 0)
		kind = KU_ORDINARY;
	call->queued = true;
	if (threads) {
		lane_append(&d->lanes[kind], call);
		(void)lane_serve(client, &d->lanes[kind]);
		return;
	}
	if (kind == KU_URGENT)
		lane_prepend(ordinary, call);
	else
		lane_append(ordinary, call);
	ku_dispatch_beckon(client);
}

bool ku_dispatch_pull(struct kustos_client *client, struct ku_call *call)
{
	for (int i = 0; call->queued && i < KU_LANES; i++)
		if (lane_remove(&client->dispatch.lanes[i], call))
			return true;
	return false;
}

int ku_dispatch_run(struct kustos_client *client)
{
	struct ku_dispatch *d = &client->dispatch;
	struct ku_call *call;
	eventfd_t value;
	int ran = 0;

	ku_lock(client);
	if (d->fd >= 0)
		(void)eventfd_read(d->fd, &value);
	bool outer = !d->run;
	d->run = true;
	d->runner = pthread_self();
	while ((call = lane_pop(&d->lanes[KU_URGENT])) != NULL ||
		(call = lane_pop(&d->lanes[KU_ORDINARY])) != NULL) {
		call->fn(client, call);
		ran++;
	}
	if (outer)
		d->run = false;
	ku_unlock(client);
	return ran;
}

/* Take a thread to be joined off its lane. */
static struct ku_lane_thread *take_thread(struct ku_dispatch *d)
{
	for (int i = 0; i < KU_LANES; i++)
		for (struct ku_lane_thread **t = &d->lanes[i].threads;
			*t != NULL; t = &(*t)->next) {
			struct ku_lane_thread *thread = *t;

			if (!thread->ended && !d->stopping)
				continue;
			*t = thread->next;
			return thread;
		}
	return NULL;
}

void ku_dispatch_tend(struct kustos_client *client)
{
	struct ku_lane_thread *thread;

	ku_lock(client);
	while ((thread = take_thread(&client->dispatch)) != NULL) {
		ku_unlock(client);
		pthread_join(thread->id, NULL);
		free(thread);
		ku_lock(client);
	}
	ku_unlock(client);
}

/* A callback on one lane may queue a call on any lane, so the threads that have
   been joined may not be the last. */
void ku_dispatch_stop(struct kustos_client *client)
{
	struct ku_dispatch *d = &client->dispatch;

	ku_lock(client);
	d->stopping = true;
	for (int i = 0; i < KU_LANES; i++)
		pthread_cond_broadcast(&d->lanes[i].work);
	ku_unlock(client);
	do
		ku_dispatch_tend(client);
	while (d->mode == KUSTOS_DISPATCH_THREAD &&
		ku_dispatch_run(client) > 0); /* no thread could be started */
}

static bool lane_has(const struct ku_lane *lane, pthread_t id)
{
	for (const struct ku_lane_thread *t = lane->threads; t; t = t->next)
		if (t->in_call && pthread_equal(t->id, id))
			return true;
	return false;
}

bool ku_dispatch_inside(const struct kustos_client *client)
{
	const struct ku_dispatch *d = &client->dispatch;
	pthread_t self = pthread_self();

	if (d->run && pthread_equal(d->runner, self))
		return true;
	for (int i = 0; i < KU_LANES; i++)
		if (lane_has(&d->lanes[i], self))
			return true;
	return false;
}

static bool make_conditions(struct ku_dispatch *d)
{
	for (int i = 0; i < KU_LANES; i++) {
		if (ku_cond_init(&d->lanes[i].work))
			continue;
		while (i-- > 0)
			pthread_cond_destroy(&d->lanes[i].work);
		return false;
	}
	return true;
}

enum kustos_err ku_dispatch_init(struct ku_dispatch *d,
	enum kustos_dispatch mode)
{
	d->mode = mode;
	d->fd = -1;
	d->again.fn = serve_again;
	d->lanes[KU_ORDINARY].max = 1;
	d->lanes[KU_URGENT].max = URGENT_THREADS;
	d->lanes[KU_LENGTHY].max = INT_MAX;
	if (!make_conditions(d))
		return KUSTOS_ENOMEM;
	if (mode == KUSTOS_DISPATCH_FD) {
		d->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (d->fd < 0) {
			ku_dispatch_free(d);
			return KUSTOS_ENOMEM;
		}
	}
	return KUSTOS_OK;
}

void ku_dispatch_free(struct ku_dispatch *d)
{
	for (int i = 0; i < KU_LANES; i++)
		pthread_cond_destroy(&d->lanes[i].work);
	if (d->fd >= 0)
		close(d->fd);
}
