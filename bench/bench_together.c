/*
 * bench_together.c - Kustos' barriers, its count-down latch and its selector under
 * bench/compare.  Its styles, each with as many rounds as fit the time:
 *
 *	gate	set a barrier, look at it, remove it and pass, with one client
 *	step	all workers, each a client, enter a double barrier and leave it, a
 *		new one each time; none leaves before all have come back from
 *		entering, which is what Curator's and kazoo's need: a member of
 *		theirs hangs if another leaves after it has made its node and before
 *		it lists the members
 *	count	a latch of 8: it is set, all are done, it is waited for and removed
 *	select	a selector leads, returns, and stands in line again
 */
#include <kustos/barrier.h>
#include <kustos/client.h>
#include <kustos/countdown.h>
#include <kustos/election.h>

#include "clocks.h"
#include "session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define AT_ONCE \
	10 /* rounds of a double barrier between two looks at the clock */
#define COUNT 8

struct bench {
	const struct driver_run *run;
	struct driver_result *result;
	struct kustos_client **clients; /* one for each worker of a step */
	pthread_barrier_t all_in;
	int64_t until;
	atomic_llong led;
};

struct style {
	const char *name;
	void (*measure)(struct bench *b);
};

static bool is_ok(struct bench *b, enum kustos_err err)
{
	return session_ok(b->result, err);
}

static bool goes_on(const struct bench *b)
{
	return b->result->error == NULL && clocks_now_ns() < b->until;
}

static void gate(struct bench *b)
{
	struct kustos_barrier *barrier = NULL;

	if (!is_ok(b,
		    kustos_barrier_create(b->clients[0], b->run->path, NULL,
			    &barrier)))
		return;
	for (; goes_on(b); b->result->ops++) {
		(void)is_ok(b,
			kustos_barrier_set(barrier, session_soon(), NULL));
		if (kustos_barrier_wait(barrier, KUSTOS_NOW, NULL) !=
			KUSTOS_EBUSY)
			b->result->error = "the barrier is open";
		(void)is_ok(b,
			kustos_barrier_remove(barrier, session_soon(), NULL));
		(void)is_ok(b,
			kustos_barrier_wait(barrier, session_soon(), NULL));
	}
	kustos_barrier_destroy(barrier);
}

/* --- Steps --------------------------------------------------------------- */

struct member {
	struct bench *bench;
	struct kustos_client *client;
	pthread_t thread;
	enum kustos_err err;
};

/* Enter and leave in round number "round", which has a barrier of its own:
   Curator's cannot be used again at once.  A member that has failed still comes
   to the meeting of the threads, or the others would wait for it in vain. */
static void step_once(struct member *m, long long round)
{
	const struct driver_run *run = m->bench->run;
	struct kustos_double_barrier *barrier = NULL;
	char path[160];

	snprintf(path, sizeof(path), "%s/%lld", run->path, round);
	if (m->err == KUSTOS_OK)
		m->err = kustos_double_barrier_create(m->client, path,
			run->workers, NULL, &barrier);
	if (m->err == KUSTOS_OK)
		m->err = kustos_double_barrier_enter(barrier, session_soon(),
			NULL);
	pthread_barrier_wait(&m->bench->all_in);
	if (m->err == KUSTOS_OK)
		m->err = kustos_double_barrier_leave(barrier, session_soon(),
			NULL);
	kustos_double_barrier_destroy(barrier);
}

static void *step_on(void *arg)
{
	struct member *m = arg;
	long long first = m->bench->result->ops;

	for (int i = 0; i < AT_ONCE; i++)
		step_once(m, first + i);
	return NULL;
}

static void steps(struct bench *b, struct member *members)
{
	for (int i = 0; i < b->run->workers; i++)
		if (pthread_create(&members[i].thread, NULL, step_on,
			    &members[i]) != 0)
			abort();
	for (int i = 0; i < b->run->workers; i++) {
		pthread_join(members[i].thread, NULL);
		(void)is_ok(b, members[i].err);
	}
	b->result->ops += AT_ONCE;
}

static void step(struct bench *b)
{
	struct member *members = calloc((size_t)b->run->workers,
		sizeof(*members));

	if (members == NULL ||
		pthread_barrier_init(&b->all_in, NULL,
			(unsigned)b->run->workers) != 0) {
		(void)is_ok(b, KUSTOS_ENOMEM);
		free(members);
		return;
	}
	for (int i = 0; i < b->run->workers; i++)
		members[i] = (struct member){ .bench = b,
			.client = b->clients[i] };
	while (goes_on(b))
		steps(b, members);
	pthread_barrier_destroy(&b->all_in);
	free(members);
}

/* --- The others ---------------------------------------------------------- */

static void count_down(struct bench *b)
{
	struct kustos_countdown *latch = NULL;
	char path[160];

	snprintf(path, sizeof(path), "%s/%lld", b->run->path, b->result->ops);
	if (!is_ok(b,
		    kustos_countdown_create(b->clients[0], path, COUNT, NULL,
			    &latch)))
		return;
	(void)is_ok(b, kustos_countdown_set(latch, session_soon(), NULL));
	for (int i = 0; i < COUNT; i++) {
		const char id[] = { (char)('a' + i), 0 };

		(void)is_ok(b,
			kustos_countdown_done(latch, id, session_soon(), NULL));
	}
	(void)is_ok(b, kustos_countdown_wait(latch, session_soon(), NULL));
	(void)is_ok(b, kustos_countdown_remove(latch, session_soon(), NULL));
	kustos_countdown_destroy(latch);
	b->result->ops++;
}

static void count(struct bench *b)
{
	while (goes_on(b))
		count_down(b);
}

static void lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	struct bench *b = arg;

	(void)selector;
	(void)hold;
	(void)cancel;
	atomic_fetch_add(&b->led, 1);
}

static void choose(struct bench *b)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct kustos_selector *selector = NULL;

	o.lead = lead;
	o.arg = b;
	o.requeues = 1;
	if (!is_ok(b,
		    kustos_selector_create(b->clients[0], b->run->path, &o,
			    &selector)) ||
		!is_ok(b, kustos_selector_start(selector)))
		return;
	driver_pause_ms(b->run->ms);
	b->result->ops = atomic_load(&b->led);
	kustos_selector_destroy(selector);
}

static const struct style styles[] = {
	{ "gate", gate },
	{ "step", step },
	{ "count", count },
	{ "select", choose },
};

static void open_clients(struct bench *b)
{
	for (int i = 0; i < b->run->workers && b->result->error == NULL; i++)
		(void)is_ok(b, session_open(b->run, &b->clients[i]));
}

static void measure(const struct driver_run *run, struct driver_result *result)
{
	struct bench b = { .run = run, .result = result };
	const struct style *style = driver_style(run, styles,
		sizeof(styles) / sizeof(*styles), sizeof(*styles), result);

	if (style == NULL)
		return;
	b.clients = calloc((size_t)run->workers, sizeof(*b.clients));
	if (b.clients == NULL) {
		(void)is_ok(&b, KUSTOS_ENOMEM);
		return;
	}
	open_clients(&b);
	int64_t begin = clocks_now_ns();
	b.until = begin + run->ms * INT64_C(1000000);
	if (result->error == NULL)
		style->measure(&b);
	result->ns = clocks_now_ns() - begin;
	for (int i = 0; i < run->workers; i++)
		session_close(b.clients[i]);
	free(b.clients);
}

int main(int argc, char **argv)
{
	return driver_main(argc, argv, measure);
}
