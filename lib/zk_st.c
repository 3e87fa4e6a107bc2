/*
 * zk_st.c - the boundary over libzookeeper_st, which has no threads: ours drive
 * each handle, one at a time, and call back from there.
 *
 * Whoever has entered sends requests, and a thread that waits for an answer may
 * drive, so that an answer costs no change of thread.  In libzookeeper_mt a
 * request goes through its thread for the connection, and an answer through both
 * of its threads.  Each handle has a thread of its own, too, for when nobody
 * waits.
 *
 * It is linked into one object with our files that call it, in which all names
 * but one are hidden, since they are those of libzookeeper_mt, which the program
 * may use as well (lib/embed).  Some of its calls go to zk_st_calls.c.
 */
#define _GNU_SOURCE
#include "clock.h"
#include "thread.h"
#include "zk_flow.h"
#include "zk_lib.h"
#include "zk_st_calls.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* So many answers are handed on before others may enter. */
#define BATCH 64

/* How long to wait when there is no descriptor to be had. */
#define LACK_MS 100

/* How long the handle's own thread waits for another to drive.  Nothing is read
   meanwhile. */
#define MOMENT_NS 1000000

/* Who drives: the handle's own thread; another one; nobody, for a moment. */
enum driver { OWN, CALLER, NOBODY };

struct ku_zk {
	struct ku_zk_lib lib; /* first: the context of its events */
	ku_zk_turn_fn *enter, *leave;
	void *arg;
	pthread_t thread;
	int wake;   /* an eventfd that ends the wait of whoever drives */
	int relief; /* a timer that ends that of the own thread for its turn */
	/* For those that have entered. */
	struct ku_zk_flow flow;
	int fd;	   /* of the connection, if there is one */
	bool left; /* the connection was given up since somebody waits for it */
	char *next; /* servers to be tried when the connection has ended */
	bool ending;
	enum driver driver;
	bool offered; /* a thread that is woken now may drive */
};

static void wake(struct ku_zk *zk)
{
	uint64_t one = 1;

	(void)!write(zk->wake, &one, sizeof(one));
}

/* Have the library send and receive by way of the flow of "zk".  Returns what is
   to be given back to end_flow(): requests are also made in answers. */
static struct ku_zk_flow *begin_flow(struct ku_zk *zk)
{
	struct ku_zk_flow *outer = ku_zk_flow;

	ku_zk_flow = &zk->flow;
	return outer;
}

static void end_flow(struct ku_zk_flow *outer)
{
	ku_zk_flow = outer;
}

/* Driving */

/* Connect, or keep the connection up.  Returns for how many milliseconds to
   wait for what is put into "p". */
static int prepare(struct ku_zk *zk, struct pollfd *p)
{
	struct timeval wait = { 0 };
	int interest = 0;
	struct ku_zk_flow *outer = begin_flow(zk);
	int rc = zookeeper_interest(zk->lib.zh, &zk->fd, &interest, &wait);
	end_flow(outer);
	zk->flow.stuck = false;

	p->fd = rc == ZOK ? zk->fd : -1;
	p->events = 0;
	if (p->fd < 0)
		ku_zk_flow_reset(&zk->flow);
	if (interest & ZOOKEEPER_READ)
		p->events |= POLLIN;
	if (!ku_zk_flow_push(&zk->flow) || (interest & ZOOKEEPER_WRITE))
		p->events |= POLLOUT;
	zk->left = false;
	if (rc == ZSYSTEMERROR)
		return LACK_MS;
	if (ku_zk_flow_has(&zk->flow))
		return 0;
	return (int)(wait.tv_sec * 1000 + (wait.tv_usec + 999) / 1000);
}

/* Send and receive what can be. */
static void proceed(struct ku_zk *zk, short seen)
{
	int events = 0;

	if (seen & (POLLOUT | POLLHUP | POLLERR))
		events |= ZOOKEEPER_WRITE;
	if ((seen & (POLLIN | POLLHUP | POLLERR)) || ku_zk_flow_has(&zk->flow))
		events |= ZOOKEEPER_READ;
	struct ku_zk_flow *outer = begin_flow(zk);
	for (int i = 0; i < BATCH && events != 0 && !zk->left; i++) {
		if (zookeeper_process(zk->lib.zh, events) != ZOK)
			break;
		events = ku_zk_flow_has(&zk->flow) ? ZOOKEEPER_READ : 0;
	}
	end_flow(outer);
}

/* When the connection has ended: the next is made to one of "next". */
static void turn(struct ku_zk *zk)
{
	if (zk->next == NULL || zoo_state(zk->lib.zh) == ZOO_CONNECTED_STATE)
		return;
	ku_zk_lib_steer(&zk->lib, zk->next);
	free(zk->next);
	zk->next = NULL;
}

/* Wait until something can be done, at most for "most_ms", and do it. */
static void go(struct ku_zk *zk, int most_ms)
{
	struct pollfd p[2] = { { .fd = zk->wake, .events = POLLIN } };
	int ms = prepare(zk, &p[1]);
	uint64_t count;

	zk->leave(zk->arg);
	if (poll(p, 2, ms < most_ms ? ms : most_ms) < 0)
		p[0].revents = p[1].revents = 0;
	if (p[0].revents != 0)
		(void)!read(zk->wake, &count, sizeof(count));
	zk->enter(zk->arg);
	if (zk->ending)
		return;
	proceed(zk, p[1].revents);
	turn(zk);
}

static bool can_go(struct ku_zk *zk)
{
	return !zk->ending && !is_unrecoverable(zk->lib.zh);
}

/* Have the handle's own thread go on in "ns"; 0: not before the next such
   call. */
static void set_relief(struct ku_zk *zk, long ns)
{
	struct itimerspec when = { .it_value = { .tv_nsec = ns } };

	timerfd_settime(zk->relief, 0, &when, NULL);
}

static void stand_by(struct ku_zk *zk)
{
	uint64_t count;

	do {
		zk->leave(zk->arg);
		(void)!read(zk->relief, &count, sizeof(count));
		zk->enter(zk->arg);
	} while (zk->driver == CALLER);
	zk->driver = OWN;
}

/* The handle's own thread. */
static void *drive(void *arg)
{
	struct ku_zk *zk = arg;

	zk->enter(zk->arg);
	while (can_go(zk)) {
		zk->offered = false;
		go(zk, INT_MAX);
		if (!zk->offered || zk->ending)
			continue;
		zk->driver = NOBODY;
		set_relief(zk, MOMENT_NS);
		stand_by(zk);
	}
	zk->leave(zk->arg);
	return NULL;
}

/* Other threads that drive */

/* Return the milliseconds until then. */
static int time_left(kustos_deadline until)
{
	int64_t ns = until == KUSTOS_FOREVER
		? INT64_MAX
		: until - ku_monotonic(&ku_clock_real);

	if (ns <= 0)
		return 0;
	ns = ns / KU_NS_PER_MS + 1;
	return ns < INT_MAX ? (int)ns : INT_MAX;
}

static bool st_drive(struct ku_zk *zk, kustos_deadline until, const bool *over)
{
	int ms;

	if (zk->driver != NOBODY || !can_go(zk))
		return false;
	zk->driver = CALLER;
	set_relief(zk, 0);
	while (!*over && can_go(zk) && (ms = time_left(until)) > 0)
		go(zk, ms);
	zk->driver = NOBODY;
	set_relief(zk, can_go(zk) ? MOMENT_NS : 1);
	return true;
}

static void st_offer(struct ku_zk *zk)
{
	zk->offered = zoo_state(zk->lib.zh) == ZOO_CONNECTED_STATE;
}

static void st_decline(struct ku_zk *zk)
{
	if (zk->driver == NOBODY)
		set_relief(zk, 1);
}

static const struct ku_zk_driving driving = {
	.drive = st_drive,
	.nudge = wake,
	.offer = st_offer,
	.decline = st_decline,
};

/* When the library tells that its connection has ended, it has closed the
   descriptor, but its state is still that of before. */
static void watch_session(zhandle_t *zh, int type, int state, const char *path,
	void *context)
{
	struct ku_zk *zk = context;

	(void)zh;
	if (type != ZOO_SESSION_EVENT)
		return;
	if (state != ZOO_CONNECTED_STATE)
		zk->fd = -1;
	ku_zk_lib_tell(&zk->lib, type, state, path);
}

/* Whoever drives has entered when the library calls back. */
static void is_entered(void *arg)
{
	(void)arg;
}

/* Opening and closing */

static void discard(struct ku_zk *zk)
{
	int why = errno;

	close(zk->wake);
	close(zk->relief);
	free(zk->next);
	free(zk);
	errno = why;
}

static enum kustos_err st_open(void *env, const struct ku_zk_open *params,
	struct ku_zk **out)
{
	struct ku_zk *zk = calloc(1, sizeof(*zk));

	(void)env;
	if (!zk)
		return KUSTOS_ENOMEM;
	zk->enter = params->enter;
	zk->leave = params->leave;
	zk->arg = params->arg;
	zk->fd = -1;
	zk->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	zk->relief = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	ku_zk_calls_init(&zk->lib.calls, is_entered, is_entered, NULL);
	enum kustos_err err = zk->wake < 0 || zk->relief < 0
		? KUSTOS_ENOMEM
		: ku_zk_lib_open(&zk->lib, params, watch_session);
	if (err == KUSTOS_OK && !ku_thread_start(&zk->thread, drive, zk)) {
		int why = errno;

		ku_zk_lib_close(&zk->lib);
		errno = why;
		err = KUSTOS_ENOMEM;
	}
	if (err != KUSTOS_OK)
		discard(zk);
	else
		*out = zk;
	return err;
}

static void drop_event(void *arg, enum ku_zk_event event,
	enum ku_zk_state state, const char *path)
{
	(void)arg;
	(void)event;
	(void)state;
	(void)path;
}

static void st_close(struct ku_zk *zk)
{
	zk->enter(zk->arg);
	zk->ending = true;
	zk->lib.event = drop_event;
	ku_zk_calls_silence(&zk->lib.calls);
	set_relief(zk, 1);
	zk->leave(zk->arg);
	wake(zk);
	pthread_join(zk->thread, NULL);
	zk->flow.at_once = true; /* the end of the session waits for room */
	struct ku_zk_flow *outer = begin_flow(zk);
	ku_zk_lib_close(&zk->lib);
	end_flow(outer);
	discard(zk);
}

/* Asking */

static int st_submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	struct ku_zk_flow *outer = begin_flow(zk);
	int rc = ku_zk_lib_submit(&zk->lib, request, done, arg);
	end_flow(outer);
	return rc;
}

static void st_push(struct ku_zk *zk)
{
	(void)ku_zk_flow_push(&zk->flow);
	if (zk->flow.stuck)
		wake(zk);
}

/* The library only queues them. */
static int st_add_auth(struct ku_zk *zk, const char *scheme,
	const char *credentials, int len)
{
	int rc = ku_zk_lib_add_auth(&zk->lib, scheme, credentials, len);

	wake(zk);
	return rc;
}

static void st_session(struct ku_zk *zk, struct ku_zk_session *out)
{
	ku_zk_lib_session(&zk->lib, out);
}

static bool st_kick(struct ku_zk *zk)
{
	return zoo_state(zk->lib.zh) == ZOO_CONNECTED_STATE &&
		shutdown(zk->fd, SHUT_RDWR) == 0;
}

/* If the library gave up a connection that is in use, it would say nothing to
   those who wait for answers, and send the rest of a half-sent request to the
   next server.  So the connection is broken, which is seen by whoever drives,
   and then it turns.  One that is just being made the library may give up; then
   somebody waits for a descriptor that is closed, and whose number may soon be another
   file's. */
static void st_steer(struct ku_zk *zk, const char *addresses, bool move)
{
	free(zk->next);
	zk->next = NULL;
	if (move && zoo_state(zk->lib.zh) == ZOO_CONNECTED_STATE) {
		zk->next = strdup(addresses); /* or any other server */
		(void)shutdown(zk->fd, SHUT_RDWR);
		return;
	}
	ku_zk_lib_steer(&zk->lib, addresses);
	if (zoo_state(zk->lib.zh) != ZOO_NOTCONNECTED_STATE)
		return;
	zk->left = true;
	wake(zk);
}

const struct ku_zk_api ku_zk_library = {
	.open = st_open,
	.close = st_close,
	.submit = st_submit,
	.push = st_push,
	.add_auth = st_add_auth,
	.session = st_session,
	.kick = st_kick,
	.steer = st_steer,
	.driving = &driving,
};
