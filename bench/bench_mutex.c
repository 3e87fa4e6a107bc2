/*
 * bench_mutex.c - Kustos' mutex under bench/compare, and its read/write lock.
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
 */
#include <kustos/cancel.h>
#include <kustos/client.h>
#include <kustos/mutex.h>
#include <kustos/node.h>
#include <kustos/rwlock.h>

#include "driver.h"
#include "support/process.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SESSION_MS 30000
#define PATIENCE_MS 30000
#define BATCH 1000

struct bench;

/* A mutex, or a side of a read/write lock. */
enum kind { MUTEX, READER, WRITER };

struct lock {
	struct kustos_mutex *mutex;
	struct kustos_rwlock *rw;
	enum kustos_side side;
};

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
	bool fifo;
	enum kind kind;
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
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_client *client = NULL;

	o.hosts = b->run->hosts;
	o.session_timeout_ms = SESSION_MS;
	if (failed(b, kustos_client_open(&o, &client)) == KUSTOS_OK)
		(void)failed(b,
			kustos_client_wait_connected(client,
				kustos_after_ms(PATIENCE_MS), NULL));
	return client;
}

/* --- Locks --------------------------------------------------------------- */

static struct lock lock_make(struct bench *b, struct kustos_client *client,
	enum kind kind)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct lock lock = { .side = kind == READER ? KUSTOS_READ
						    : KUSTOS_WRITE };

	if (b->style->fifo)
		o.local_handoffs = 0;
	(void)failed(b,
		kind == MUTEX ? kustos_mutex_create(client, b->run->path, &o,
					&lock.mutex)
			      : kustos_rwlock_create(client, b->run->path, NULL,
					&lock.rw));
	return lock;
}

static void lock_destroy(struct lock *lock)
{
	kustos_mutex_destroy(lock->mutex);
	kustos_rwlock_destroy(lock->rw);
	*lock = (struct lock){ 0 };
}

static enum kustos_err lock_take(const struct lock *lock,
	struct kustos_cancel *stop)
{
	if (lock->rw != NULL)
		return kustos_rwlock_lock(lock->rw, lock->side, KUSTOS_FOREVER,
			stop);
	return kustos_mutex_lock(lock->mutex, KUSTOS_FOREVER, stop);
}

static enum kustos_err lock_give(const struct lock *lock)
{
	return lock->rw != NULL ? kustos_rwlock_unlock(lock->rw, lock->side)
				: kustos_mutex_unlock(lock->mutex);
}

static enum kustos_err lock_ask(const struct lock *lock,
	struct kustos_cancel *stop, kustos_granted_fn *fn, void *arg)
{
	if (lock->rw != NULL)
		return kustos_rwlock_acquire_async(lock->rw, lock->side,
			KUSTOS_FOREVER, stop, fn, arg);
	return kustos_mutex_acquire_async(lock->mutex, KUSTOS_FOREVER, stop, fn,
		arg);
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
		: lock_make(b, b->clients[i % b->run->sessions],
			  b->style->kind);
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

static void await_line(struct bench *b, int length)
{
	kustos_deadline end = kustos_after_ms(PATIENCE_MS);
	struct kustos_stat stat = { 0 };

	while (b->err == KUSTOS_OK && stat.num_children < length) {
		if (failed(b,
			    kustos_exists(b->gate, b->run->path, end, NULL,
				    &stat)) == KUSTOS_OK &&
			stat.num_children < length)
			driver_pause_ms(1);
		if (driver_now_ns() > end)
			(void)failed(b, KUSTOS_ETIMEDOUT);
	}
}

/* Have a lock of ours before everyone else's. */
static void close_gate(struct bench *b)
{
	b->gate = open_client(b);
	if (b->err == KUSTOS_OK)
		b->gate_lock = lock_make(b, b->gate,
			b->style->kind == MUTEX ? MUTEX : WRITER);
	if (b->err == KUSTOS_OK)
		(void)failed(b, lock_take(&b->gate_lock, NULL));
}

static void open_gate(struct bench *b)
{
	lock_destroy(&b->gate_lock);
	(void)kustos_client_close(b->gate, kustos_after_ms(PATIENCE_MS), NULL);
	b->gate = NULL;
}

/* --- What is measured ---------------------------------------------------- */

static uint64_t sent(const struct bench *b)
{
	struct kustos_client_stats stats = KUSTOS_CLIENT_STATS_INIT;
	uint64_t sum = 0;

	for (int i = 0; i < b->run->sessions; i++)
		if (kustos_client_stats(b->clients[i], &stats) == KUSTOS_OK)
			sum += stats.sent;
	return sum;
}

static void turns(struct bench *b, struct driver_result *result)
{
	uint64_t requests;

	if (!b->style->one_object)
		close_gate(b);
	start_workers(b);
	if (!b->style->one_object)
		await_line(b, b->run->workers + 1);
	open_gate(b);
	driver_pause_ms(b->run->lead_ms);
	requests = sent(b);
	result->ns = driver_now_ns();
	result->ops = atomic_load(&b->count);
	driver_pause_ms(b->run->ms);
	result->ops = atomic_load(&b->count) - result->ops;
	result->ns = driver_now_ns() - result->ns;
	requests = sent(b) - requests;
	snprintf(result->more, sizeof(result->more), "requests=%.2f",
		(double)requests / (result->ops > 0 ? (double)result->ops : 1));
	stop_workers(b);
}

/* Nothing is waited for here, so what counts is the processor's time. */
static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void reenter(struct bench *b, struct driver_result *result)
{
	struct lock lock = lock_make(b, b->clients[0], b->style->kind);
	int64_t end = driver_now_ns() + b->run->ms * 1000000LL;
	int64_t start = cpu_ns();

	if (b->err == KUSTOS_OK)
		(void)failed(b, lock_take(&lock, NULL));
	while (b->err == KUSTOS_OK && driver_now_ns() < end) {
		for (int i = 0; i < BATCH && b->err == KUSTOS_OK; i++) {
			(void)failed(b, lock_take(&lock, NULL));
			(void)failed(b, lock_give(&lock));
		}
		result->ops += BATCH;
	}
	result->ns = cpu_ns() - start;
	lock_destroy(&lock);
}

static void memory(struct bench *b, struct driver_result *result)
{
	int threads = thread_count();
	long kb;

	close_gate(b);
	malloc_trim(0);
	kb = rss_kb();
	result->ns = driver_now_ns();
	start_workers(b);
	await_line(b, b->run->workers + 1);
	result->ns = driver_now_ns() - result->ns;
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
	{ "own", turns, true, false, false, MUTEX },
	{ "shared", turns, true, true, false, MUTEX },
	{ "fifo", turns, true, true, true, MUTEX },
	{ "async", turns, false, false, false, MUTEX },
	{ "reenter", reenter, false, true, false, MUTEX },
	{ "memory", memory, false, false, false, MUTEX },
	{ "crowd", memory, false, true, true, MUTEX },
	{ "read", turns, true, false, false, READER },
	{ "write", turns, true, false, false, WRITER },
};

static const struct style *find_style(const char *name)
{
	for (size_t i = 0; i < sizeof(styles) / sizeof(*styles); i++)
		if (strcmp(styles[i].name, name) == 0)
			return &styles[i];
	return NULL;
}

static void measure(const struct driver_run *run, struct driver_result *result)
{
	struct bench b = { .run = run, .style = find_style(run->style) };

	if (b.style == NULL) {
		result->error = "no such style";
		return;
	}
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
		(void)kustos_client_close(b.clients[i],
			kustos_after_ms(PATIENCE_MS), NULL);
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
