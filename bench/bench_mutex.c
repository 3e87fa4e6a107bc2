/*
 * bench_mutex.c - Kustos' mutex under bench/compare, its read/write lock, its
 * semaphore, its latch, and its simple lock.
 *
 * Its styles, beside those of driver.h:
 *
 *	fifo	as "shared", with no hand-over inside the process
 *	async	as "own", but without a thread each: by callbacks
 *	reenter	one thread locks what it holds, and unlocks
 *	memory	as "async", but nobody is served: what a waiting lock costs
 *	crowd	as "memory", with one object for all
 *	read	as "own", of a read/write lock: readers
 *	write	the same: writers
 *	lease	as "own", of a semaphore
 *	lead	as "own", of an election: each turn is a latch
 *	simple	as "shared", of a simple lock: no line to stand in
 *	pair	as "shared", of two mutexes taken together
 */
#include <kustos/cancel.h>
#include <kustos/client.h>
#include <kustos/node.h>

#include "clocks.h"
#include "lock.h"
#include "session.h"
#include "support/process.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 1000

struct bench;

struct worker {
	struct bench *bench;
	struct lock lock;
	pthread_t thread;
	bool has_thread;
};

struct style {
	const char *name;
	void (*measure)(struct bench *b, struct driver_result *result);
	bool threads; /* one for each worker */
	bool one_object;
	struct lock_form form;
};

struct bench {
	const struct driver_run *run;
	const struct style *style;
	struct kustos_cancel *stop;
	struct kustos_client *gate;
	struct lock gate_lock;
	struct kustos_client **clients;
	struct worker *workers;
	atomic_llong count;
	atomic_int busy; /* workers that have not ended */
	atomic_int err;	 /* the first failure */
};

static enum kustos_err failed(struct bench *b, enum kustos_err err)
{
	int none = KUSTOS_OK;

	if (err != KUSTOS_OK && err != KUSTOS_ECANCELED)
		atomic_compare_exchange_strong(&b->err, &none, (int)err);
	return err;
}

static struct kustos_client *open_client(struct bench *b)
{
	struct kustos_client *client;

	(void)failed(b, session_open(b->run, &client));
	return client;
}

static struct lock make(struct bench *b, struct kustos_client *client)
{
	struct lock lock;

	(void)failed(b,
		lock_make(&lock, client, b->run->path, &b->style->form));
	return lock;
}

/* --- Workers ------------------------------------------------------------- */

static void *loop(void *arg)
{
	struct worker *w = arg;
	struct bench *b = w->bench;
	enum kustos_err err = KUSTOS_OK;

	while (err == KUSTOS_OK) {
		err = failed(b, lock_take(&w->lock, b->stop));
		if (err != KUSTOS_OK)
			break;
		atomic_fetch_add(&b->count, 1);
		err = failed(b, lock_give(&w->lock));
		if (kustos_cancel_fired(b->stop))
			break;
	}
	atomic_fetch_sub(&b->busy, 1);
	return NULL;
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold);

static void queue_up(struct worker *w)
{
	struct bench *b = w->bench;

	if (failed(b, lock_ask(&w->lock, b->stop, granted, w)) != KUSTOS_OK)
		atomic_fetch_sub(&b->busy, 1);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct worker *w = arg;
	struct bench *b = w->bench;

	if (failed(b, err) == KUSTOS_OK) {
		atomic_fetch_add(&b->count, 1);
		err = failed(b, kustos_hold_release(hold));
	}
	if (err == KUSTOS_OK && !kustos_cancel_fired(b->stop))
		queue_up(w);
	else
		atomic_fetch_sub(&b->busy, 1);
}

static void start_worker(struct bench *b, int i)
{
	struct worker *w = &b->workers[i];

	w->lock = b->style->one_object && i > 0
		? b->workers[0].lock
		: make(b, b->clients[i % b->run->sessions]);
	if (b->err != KUSTOS_OK)
		return;
	atomic_fetch_add(&b->busy, 1);
	if (!b->style->threads) {
		queue_up(w);
		return;
	}
	w->has_thread = pthread_create(&w->thread, NULL, loop, w) == 0;
	if (!w->has_thread) {
		atomic_fetch_sub(&b->busy, 1);
		(void)failed(b, KUSTOS_ENOMEM);
	}
}

static void start_workers(struct bench *b)
{
	for (int i = 0; i < b->run->workers && b->err == KUSTOS_OK; i++)
		start_worker(b, i);
}

static void stop_workers(struct bench *b)
{
	kustos_cancel_fire(b->stop);
	while (atomic_load(&b->busy) > 0)
		driver_pause_ms(1);
	for (int i = 0; i < b->run->workers; i++) {
		struct worker *w = &b->workers[i];

		if (w->has_thread)
			pthread_join(w->thread, NULL);
		if (i == 0 || !b->style->one_object)
			lock_destroy(&w->lock);
	}
}

/* --- The line ------------------------------------------------------------ */

/* Wait until all workers stand in line: behind a lock of ours, or, where they
   want leases, in a line for those who wait. */
static void await_line(struct bench *b)
{
	bool leases = b->style->form.kind == LOCK_SEMAPHORE;
	int length = b->run->workers + (leases ? 0 : 1);
	kustos_deadline end = session_soon();
	struct kustos_stat stat = { 0 };
	char path[160];

	snprintf(path, sizeof(path), "%s%s", b->run->path,
		leases ? "/locks" : "");
	while (b->err == KUSTOS_OK && stat.num_children < length) {
		enum kustos_err err = kustos_exists(b->gate, path, end, NULL,
			&stat);

		if (err != KUSTOS_OK && err != KUSTOS_ENONODE)
			(void)failed(b, err);
		if (stat.num_children < length)
			driver_pause_ms(1);
		if (clocks_now_ns() > end)
			(void)failed(b, KUSTOS_ETIMEDOUT);
	}
}

/* Take a lock of ours before everyone else does. */
static void close_gate(struct bench *b)
{
	b->gate = open_client(b);
	if (b->err == KUSTOS_OK)
		(void)failed(b,
			lock_close(&b->gate_lock, b->gate, b->run->path,
				&b->style->form));
}

static void open_gate(struct bench *b)
{
	lock_destroy(&b->gate_lock);
	session_close(b->gate);
	b->gate = NULL;
}

/* --- What is measured ---------------------------------------------------- */

static void turns(struct bench *b, struct driver_result *result)
{
	uint64_t requests;

	if (!b->style->one_object)
		close_gate(b);
	start_workers(b);
	if (!b->style->one_object)
		await_line(b);
	open_gate(b);
	driver_pause_ms(b->run->lead_ms);
	requests = lock_requests(b->clients, b->run->sessions);
	result->ns = clocks_now_ns();
	result->ops = atomic_load(&b->count);
	driver_pause_ms(b->run->ms);
	result->ops = atomic_load(&b->count) - result->ops;
	result->ns = clocks_now_ns() - result->ns;
	requests = lock_requests(b->clients, b->run->sessions) - requests;
	snprintf(result->more, sizeof(result->more), "requests=%.2f",
		(double)requests / (result->ops > 0 ? (double)result->ops : 1));
	stop_workers(b);
}

/* Nothing is waited for here, so what counts is the processor's time. */
static void reenter(struct bench *b, struct driver_result *result)
{
	struct lock lock = make(b, b->clients[0]);
	int64_t end = clocks_now_ns() + b->run->ms * 1000000LL;
	int64_t start = clocks_ns(CLOCK_THREAD_CPUTIME_ID);

	if (b->err == KUSTOS_OK)
		(void)failed(b, lock_take(&lock, NULL));
	while (b->err == KUSTOS_OK && clocks_now_ns() < end) {
		for (int i = 0; i < BATCH && b->err == KUSTOS_OK; i++) {
			(void)failed(b, lock_take(&lock, NULL));
			(void)failed(b, lock_give(&lock));
		}
		result->ops += BATCH;
	}
	result->ns = clocks_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	lock_destroy(&lock);
}

static void memory(struct bench *b, struct driver_result *result)
{
	int threads = thread_count();
	long kb;

	close_gate(b);
	malloc_trim(0);
	kb = rss_kb();
	result->ns = clocks_now_ns();
	start_workers(b);
	await_line(b);
	result->ns = clocks_now_ns() - result->ns;
	result->ops = b->run->workers;
	malloc_trim(0);
	kb = rss_kb() - kb;
	threads = thread_count() - threads;
	snprintf(result->more, sizeof(result->more), "bytes=%ld threads=%d",
		kb * 1024 / b->run->workers, threads);
	stop_workers(b);
	open_gate(b);
}

static const struct style styles[] = {
	{ "own", turns, true, false, { LOCK_MUTEX, false, 0 } },
	{ "shared", turns, true, true, { LOCK_MUTEX, false, 0 } },
	{ "fifo", turns, true, true, { LOCK_MUTEX, true, 0 } },
	{ "async", turns, false, false, { LOCK_MUTEX, false, 0 } },
	{ "reenter", reenter, false, true, { LOCK_MUTEX, false, 0 } },
	{ "memory", memory, false, false, { LOCK_MUTEX, false, 0 } },
	{ "crowd", memory, false, true, { LOCK_MUTEX, true, 0 } },
	{ "read", turns, true, false, { LOCK_READ, false, 0 } },
	{ "write", turns, true, false, { LOCK_WRITE, false, 0 } },
	{ "lease", turns, true, false, { LOCK_SEMAPHORE, false, LOCK_LEASES } },
	{ "lead", turns, true, false, { LOCK_ELECTION, false, 0 } },
	{ "simple", turns, true, true, { LOCK_SIMPLE, false, 0 } },
	{ "pair", turns, true, true, { LOCK_PAIR, false, 0 } },
};

static void measure(const struct driver_run *run, struct driver_result *result)
{
	struct bench b = { .run = run,
		.style = driver_style(run, styles,
			sizeof(styles) / sizeof(*styles), sizeof(*styles),
			result) };

	if (b.style == NULL)
		return;
	b.clients = calloc((size_t)run->sessions, sizeof(*b.clients));
	b.workers = calloc((size_t)run->workers, sizeof(*b.workers));
	if (b.clients == NULL || b.workers == NULL)
		(void)failed(&b, KUSTOS_ENOMEM);
	for (int i = 0; b.workers != NULL && i < run->workers; i++)
		b.workers[i].bench = &b;
	(void)failed(&b, kustos_cancel_create(&b.stop));
	for (int i = 0; i < run->sessions && b.err == KUSTOS_OK; i++)
		b.clients[i] = open_client(&b);
	if (b.err == KUSTOS_OK)
		b.style->measure(&b, result);
	for (int i = 0; b.clients != NULL && i < run->sessions; i++)
		session_close(b.clients[i]);
	kustos_cancel_destroy(b.stop);
	free(b.workers);
	free(b.clients);
	if (b.err != KUSTOS_OK)
		result->error = kustos_strerror((enum kustos_err)b.err);
}

int main(int argc, char **argv)
{
	return driver_main(argc, argv, measure);
}
