/*
 * mt_floor.c - the least that libzookeeper_mt costs: a program that calls that
 * library directly, makes the same requests as raw_floor.c and no more, and
 * whose threads sleep until these are done.  It is no lock, as it checks
 * nothing: not whether its own node is still there, nor who else is in the
 * line, nor what became of a request whose answer was lost.  But everything
 * that is built on that library has at least these costs.
 *
 * Its styles, beside those of driver.h:
 *
 *	bare	the node of the last time is deleted and a new one made, in one flight
 *	line	as "own": the same when the place before one's own is gone, which is
 *		found by its number, since all nodes have the same name
 *	careful	the same with the requests that Kustos takes for a turn (raw_line.c)
 *	deeds	an item is put, and taken, by a transaction each
 */
#include "driver.h"
#include "raw_queue.h"

#include "clocks.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define SESSION_MS 30000
#define PATIENCE_MS 10000
#define PARTS 2 /* of a transaction */

struct client {
	const struct driver_run *run;
	const struct queue *queue; /* of "deeds" */
	int (*once)(void *arg);
	zhandle_t *zh;
	pthread_t thread;
	struct driver_result result;

	/* What was waited for is done, or failed.  Guarded by the mutex. */
	pthread_mutex_t mutex;
	pthread_cond_t woken;
	bool done, failed;

	/* Written before that. */
	char node[LINK_PATH_SIZE];

	/* Of "careful", used on the library's thread only: the nearest place is
	   gone; a listing said that only that one was before ours. */
	bool gone, alone;

	int version; /* of the receipt */
	zoo_op_result_t results[PARTS];
};

/* --- Sleeping and waking ------------------------------------------------- */

static void wake(struct client *c, bool well)
{
	pthread_mutex_lock(&c->mutex);
	c->done = true;
	c->failed |= !well;
	pthread_mutex_unlock(&c->mutex);
	pthread_cond_signal(&c->woken);
}

/* Sleep until what was asked for is done.  Returns 0, or -1 if it failed, or
   was not done in time. */
static int sleep_till_done(struct client *c)
{
	int64_t end = clocks_now_ns() + PATIENCE_MS * INT64_C(1000000);
	struct timespec until = { end / 1000000000, end % 1000000000 };
	bool well;

	pthread_mutex_lock(&c->mutex);
	while (!c->done && !c->failed)
		if (pthread_cond_timedwait(&c->woken, &c->mutex, &until) ==
			ETIMEDOUT)
			c->failed = true;
	c->done = false;
	well = !c->failed;
	pthread_mutex_unlock(&c->mutex);
	return well ? 0 : -1;
}

/* --- Answers and events, on libzookeeper_mt's thread ---------------------- */

static void on_session(zhandle_t *zh, int type, int state, const char *path,
	void *arg)
{
	(void)zh, (void)path;
	if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE)
		wake(arg, true);
}

/* Nobody waits for the deletion of a node, but it must not fail. */
static void on_deleted(int rc, const void *arg)
{
	struct client *c = (struct client *)(uintptr_t)arg;

	if (rc != ZOK)
		wake(c, false);
}

static void on_done(int rc, const void *arg)
{
	wake((struct client *)(uintptr_t)arg, rc == ZOK);
}

static void on_made(int rc, const char *node, const struct Stat *stat,
	const void *arg)
{
	struct client *c = (struct client *)(uintptr_t)arg;

	(void)stat;
	if (rc == ZOK)
		snprintf(c->node, sizeof(c->node), "%s", node);
	wake(c, rc == ZOK);
}

static void on_gone(zhandle_t *zh, int type, int state, const char *path,
	void *arg)
{
	(void)zh, (void)state, (void)path;
	if (type == ZOO_DELETED_EVENT)
		wake(arg, true);
}

static void on_looked(int rc, const char *data, int len,
	const struct Stat *stat, const void *arg)
{
	(void)data, (void)len, (void)stat;
	if (rc != ZOK) /* else an event will tell its end */
		wake((struct client *)(uintptr_t)arg, rc == ZNONODE);
}

static void name_of(const struct client *c, char name[LINK_PATH_SIZE])
{
	snprintf(name, LINK_PATH_SIZE,
		"%s/_c_7b5ec9a2-11f3-4a7d-9d0e-000000000000-lock-",
		c->run->path);
}

/* Watch the place that is "far" places before ours. */
static int look(struct client *c, int far, watcher_fn told,
	data_completion_t looked)
{
	char name[LINK_PATH_SIZE];
	char before[LINK_PATH_SIZE + 16];

	name_of(c, name);
	snprintf(before, sizeof(before), "%s%010d", name,
		atoi(c->node + strlen(name)) - far);
	return zoo_awget(c->zh, before, told, c, looked, c);
}

/* Our node is made: watch the place before ours from here, without waking our
   own thread. */
static void on_placed(int rc, const char *node, const struct Stat *stat,
	const void *arg)
{
	struct client *c = (struct client *)(uintptr_t)arg;

	(void)stat;
	if (rc == ZOK) {
		snprintf(c->node, sizeof(c->node), "%s", node);
		rc = look(c, 1, on_gone, on_looked);
	}
	if (rc != ZOK)
		wake(c, false);
}

/* --- The same for "careful" ----------------------------------------------- */

static void on_alone(int rc, const struct String_vector *names,
	const struct Stat *stat, const void *arg)
{
	struct client *c = (struct client *)(uintptr_t)arg;

	(void)names, (void)stat;
	c->alone = true;
	if (rc != ZOK || c->gone)
		wake(c, rc == ZOK);
}

static void on_nearest_gone(zhandle_t *zh, int type, int state,
	const char *path, void *arg)
{
	struct client *c = arg;

	(void)zh, (void)state, (void)path;
	c->gone |= type == ZOO_DELETED_EVENT;
	if (c->gone && c->alone)
		wake(c, true);
}

static void on_second_gone(zhandle_t *zh, int type, int state, const char *path,
	void *arg)
{
	struct client *c = arg;

	(void)zh, (void)state, (void)path;
	if (type == ZOO_DELETED_EVENT &&
		zoo_aget_children2(c->zh, c->run->path, 0, on_alone, c) != ZOK)
		wake(c, false);
}

/* Nobody waits for the end of the own node. */
static void on_own_gone(zhandle_t *zh, int type, int state, const char *path,
	void *arg)
{
	(void)zh, (void)type, (void)state, (void)path, (void)arg;
}

static void on_own_looked(int rc, const char *data, int len,
	const struct Stat *stat, const void *arg)
{
	(void)data, (void)len, (void)stat;
	if (rc != ZOK)
		wake((struct client *)(uintptr_t)arg, false);
}

static void on_nearest_looked(int rc, const char *data, int len,
	const struct Stat *stat, const void *arg)
{
	(void)data, (void)len, (void)stat;
	if (rc != ZOK) /* it was gone before */
		on_nearest_gone(NULL, ZOO_DELETED_EVENT, 0, NULL,
			(void *)(uintptr_t)arg);
}

static void on_second_looked(int rc, const char *data, int len,
	const struct Stat *stat, const void *arg)
{
	(void)data, (void)len, (void)stat;
	if (rc != ZOK)
		on_second_gone(NULL, ZOO_DELETED_EVENT, 0, NULL,
			(void *)(uintptr_t)arg);
}

static void on_joined(int rc, const char *node, const struct Stat *stat,
	const void *arg)
{
	struct client *c = (struct client *)(uintptr_t)arg;

	(void)stat;
	c->gone = c->alone = false;
	if (rc == ZOK)
		snprintf(c->node, sizeof(c->node), "%s", node);
	else
		wake(c, false);
}

static void on_listed(int rc, const struct String_vector *names,
	const struct Stat *stat, const void *arg)
{
	struct client *c = (struct client *)(uintptr_t)arg;

	(void)names, (void)stat;
	if (rc != ZOK || look(c, 0, on_own_gone, on_own_looked) != ZOK ||
		look(c, 1, on_nearest_gone, on_nearest_looked) != ZOK ||
		look(c, 2, on_second_gone, on_second_looked) != ZOK)
		wake(c, false);
}

/* --- Styles -------------------------------------------------------------- */

static int leave(struct client *c)
{
	return *c->node == '\0' ||
			zoo_adelete(c->zh, c->node, -1, on_deleted, c) == ZOK
		? 0
		: -1;
}

static int line_up(struct client *c, string_stat_completion_t answered)
{
	char name[LINK_PATH_SIZE];

	name_of(c, name);
	return zoo_acreate2(c->zh, name, "127.0.0.1", 9, &ZOO_OPEN_ACL_UNSAFE,
		       ZOO_EPHEMERAL | ZOO_SEQUENCE, answered, c) == ZOK
		? 0
		: -1;
}

static int bare(void *arg)
{
	struct client *c = arg;

	if (leave(c) < 0 || line_up(c, on_made) < 0)
		return -1;
	return sleep_till_done(c);
}

static int turn(void *arg)
{
	struct client *c = arg;

	if (sleep_till_done(c) < 0 || leave(c) < 0)
		return -1;
	return line_up(c, on_placed);
}

static int join(struct client *c)
{
	if (line_up(c, on_joined) < 0)
		return -1;
	return zoo_aget_children2(c->zh, c->run->path, 0, on_listed, c) == ZOK
		? 0
		: -1;
}

static int careful(void *arg)
{
	struct client *c = arg;

	if (sleep_till_done(c) < 0 || leave(c) < 0)
		return -1;
	return join(c);
}

static int commit(struct client *c, zoo_op_t parts[PARTS])
{
	zoo_set_op_init(&parts[0], c->queue->receipt, "", 0, c->version++,
		NULL);
	if (zoo_amulti(c->zh, PARTS, parts, c->results, on_done, c) != ZOK)
		return -1;
	return sleep_till_done(c);
}

static int deeds(void *arg)
{
	struct client *c = arg;
	char path[LINK_PATH_SIZE];
	zoo_op_t parts[PARTS];

	snprintf(path, sizeof(path), "%s/qn-0000000000", c->run->path);
	zoo_create_op_init(&parts[1], path, "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0,
		NULL, 0);
	if (commit(c, parts) < 0)
		return -1;
	zoo_delete_op_init(&parts[1], path, 0);
	return commit(c, parts);
}

/* A client that has done its turns still stands in the line, in the way of the
   others: so it waits for a last turn, and leaves. */
static int line(struct client *c)
{
	int err = c->once == careful ? join(c) : line_up(c, on_placed);

	if (err < 0 || driver_repeat(c->run, c->once, c, &c->result) < 0 ||
		sleep_till_done(c) < 0)
		return -1;
	return leave(c);
}

static void *work(void *arg)
{
	struct client *c = arg;
	int err = c->once == turn || c->once == careful
		? line(c)
		: driver_repeat(c->run, c->once, c, &c->result);

	if (err < 0)
		wake(c, false);
	return NULL;
}

/* --- Clients ------------------------------------------------------------- */

static int begin(struct client *c, const struct driver_run *run,
	const struct queue *queue, int (*once)(void *arg))
{
	pthread_condattr_t attr;

	*c = (struct client){ .run = run, .queue = queue, .once = once };
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&c->mutex, NULL);
	pthread_cond_init(&c->woken, &attr);
	pthread_condattr_destroy(&attr);
	c->zh = zookeeper_init(run->hosts, on_session, SESSION_MS, NULL, c, 0);
	if (c->zh == NULL)
		return -1;
	/* Otherwise the library looks the server's name up again whenever it
	   has slept. */
	zoo_set_servers_resolution_delay(c->zh, -1);
	return sleep_till_done(c);
}

static void end(struct client *c)
{
	if (c->zh != NULL)
		zookeeper_close(c->zh);
	pthread_cond_destroy(&c->woken);
	pthread_mutex_destroy(&c->mutex);
}

/* Have all of them work at the same time.  Returns -1 if any failed. */
static int work_all(struct client *clients, int count,
	struct driver_result *result)
{
	bool failed = false;
	int started = 0;

	while (started < count &&
		pthread_create(&clients[started].thread, NULL, work,
			&clients[started]) == 0)
		started++;
	for (int i = 0; i < started; i++) {
		struct client *c = &clients[i];

		pthread_join(c->thread, NULL);
		pthread_mutex_lock(&c->mutex);
		failed |= c->failed;
		pthread_mutex_unlock(&c->mutex);
		result->ops += c->result.ops;
		result->ns += c->result.ns / count; /* side by side */
	}
	return failed || started < count ? -1 : 0;
}

static int open_and_work(const struct driver_run *run,
	const struct queue *queue, int (*once)(void *arg),
	struct driver_result *result)
{
	struct client *clients = calloc((size_t)run->sessions,
		sizeof(*clients));
	int open = 0, err = clients == NULL ? -1 : 0;

	while (err == 0 && open < run->sessions)
		err = begin(&clients[open++], run, queue, once);
	if (err == 0)
		err = work_all(clients, run->sessions, result);
	for (int i = 0; i < open; i++)
		end(&clients[i]);
	free(clients);
	return err;
}

struct style {
	const char *name;
	int (*once)(void *arg);
};

static const struct style styles[] = {
	{ "bare", bare },
	{ "line", turn },
	{ "careful", careful },
	{ "deeds", deeds },
};

/* The folders are made on a bare socket, and last as long as its session. */
static void measure(const struct driver_run *run, struct driver_result *result)
{
	const struct style *style = driver_style(run, styles,
		sizeof(styles) / sizeof(*styles), sizeof(*styles), result);
	struct link link = { .fd = -1 };
	struct queue queue;

	if (style == NULL)
		return;
	zoo_set_debug_level(0);
	if (link_open(&link, run->hosts) < 0 ||
		queue_open(&queue, &link, run->path, 0) < 0 ||
		open_and_work(run, &queue, style->once, result) < 0)
		result->error = "libzookeeper_mt did not do as it was asked";
	link_close(&link);
}

int main(int argc, char **argv)
{
	return driver_main(argc, argv, measure);
}
