/*
 * zk_drive.c - the threads that drive a handle of libzookeeper_st, one at a time:
 * they wait for the network, send, receive and call back.
 *
 * A thread that waits for an answer drives, so that an answer costs no change of
 * thread.  When it has what it waited for, nobody drives for a moment, as it may
 * soon be back.  Then the handle's own thread does, until it wakes a thread that
 * waited.
 */
#define _GNU_SOURCE /* ppoll() */
#include "clock.h"
#include "fork.h"
#include "thread.h"
#include "zk_st.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* So many answers are handed on before others may enter. */
#define BATCH 64

/* How long to wait when there is no descriptor to be had. */
#define LACK_MS 100

/* How long the handle's own thread waits for another to drive.  Nothing is read
   meanwhile. */
#define MOMENT_NS 1000000

/* For how long another drives at most. */
#define LONGEST_MS 100

void ku_zk_wake(struct ku_zk *zk)
{
	uint64_t one = 1;

	(void)!write(zk->wake, &one, sizeof(one));
}

/* Connect, or keep the connection up.  Returns for how many milliseconds to
   wait for what is put into "p". */
static int prepare(struct ku_zk *zk, struct pollfd *p)
{
	struct timeval wait = { 0 };
	int interest = 0;
	struct ku_zk_flow *outer = ku_zk_begin_flow(zk);
	int rc = zookeeper_interest(zk->lib.zh, &zk->fd, &interest, &wait);
	ku_zk_end_flow(outer);

	p->fd = rc == ZOK ? zk->fd : -1;
	p->events = 0;
	if (p->fd < 0)
		ku_zk_flow_reset(&zk->flow);
	if (interest & ZOOKEEPER_READ)
		p->events |= POLLIN;
	if (!ku_zk_flow_push(&zk->flow) || (interest & ZOOKEEPER_WRITE))
		p->events |= POLLOUT;
	zk->flow.stuck = false; /* there is somebody who sends the rest */
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
	struct ku_zk_flow *outer = ku_zk_begin_flow(zk);
	for (int i = 0; i < BATCH && events != 0 && !zk->left; i++) {
		if (zookeeper_process(zk->lib.zh, events) != ZOK)
			break;
		events = ku_zk_flow_has(&zk->flow) ? ZOOKEEPER_READ : 0;
	}
	ku_zk_end_flow(outer);
}

void ku_zk_steer(struct ku_zk *zk, const char *addresses)
{
	ku_zk_lib_steer(&zk->lib, addresses);
	if (zoo_state(zk->lib.zh) != ZOO_CONNECTED_STATE)
		ku_zk_flow_reset(&zk->flow);
}

/* When the connection has ended: the next is made to one of "next". */
static void turn(struct ku_zk *zk)
{
	if (zk->next == NULL || zoo_state(zk->lib.zh) == ZOO_CONNECTED_STATE)
		return;
	ku_zk_steer(zk, zk->next);
	free(zk->next);
	zk->next = NULL;
}

static bool connected(const struct ku_zk *zk)
{
	return !zk->ending && zoo_state(zk->lib.zh) == ZOO_CONNECTED_STATE;
}

/* Wait for news.  A handler of the program may have forked meanwhile: the
   connection is the parent's, so the child sleeps, as it would in any wait. */
static void await(const struct ku_zk_drive *who, struct pollfd *p, int ms,
	const sigset_t *signals)
{
	struct timespec time = ku_timespec(ms * KU_NS_PER_MS);

	if (ppoll(p, 2, &time, signals) < 0)
		p[0].revents = p[1].revents = 0;
	while (who->fork != NULL && ku_forked(who->fork))
		pause();
}

/* Wait until something can be done, at most for "most_ms", and do it, unless
   another thread drives by then.  Only while it waits are signals let in. */
static void go(struct ku_zk *zk, const struct ku_zk_drive *who, int most_ms,
	const sigset_t *signals)
{
	struct pollfd p[2] = { { .fd = zk->wake, .events = POLLIN } };
	int ms = prepare(zk, &p[1]);
	uint64_t shift = zk->shift, count;

	who->leave(who->arg);
	await(who, p, ms < most_ms ? ms : most_ms, signals);
	who->enter(who->arg);
	if (zk->shift != shift)
		return;
	if (p[0].revents != 0)
		(void)!read(zk->wake, &count, sizeof(count));
	if (zk->ending)
		return;
	proceed(zk, p[1].revents);
	turn(zk);
	(void)ku_zk_flow_push(&zk->flow);
}

/* The handle's own thread */

static void set_driver(struct ku_zk *zk, enum ku_zk_driver driver)
{
	zk->driver = driver;
	zk->shift++;
}

/* Have the own thread look at who drives in "ns". */
static void set_relief(struct ku_zk *zk, int64_t ns)
{
	struct itimerspec when = { .it_value = ku_timespec(ns) };

	timerfd_settime(zk->relief, 0, &when, NULL);
}

/* Let others drive; but not for longer than one that is not held up would. */
static void stand_by(struct ku_zk *zk)
{
	uint64_t count;

	do {
		zk->own.leave(zk->own.arg);
		(void)!read(zk->relief, &count, sizeof(count));
		zk->own.enter(zk->own.arg);
	} while (zk->driver == KU_ZK_CALLER && !zk->ending &&
		ku_monotonic(&ku_clock_real) < zk->patience_ns);
	set_driver(zk, KU_ZK_OWN);
}

static void *drive(void *arg)
{
	struct ku_zk *zk = arg;

	zk->own.enter(zk->own.arg);
	while (!zk->ending && !is_unrecoverable(zk->lib.zh)) {
		zk->offered = false;
		go(zk, &zk->own, INT_MAX, NULL);
		if (!zk->offered || !connected(zk) || ku_zk_flow_has(&zk->flow))
			continue;
		set_driver(zk, KU_ZK_NOBODY);
		set_relief(zk, MOMENT_NS);
		stand_by(zk);
	}
	zk->own.leave(zk->own.arg);
	return NULL;
}

/* Other threads */

/* Return for how many milliseconds one may drive.  Twice that is little beside
   the time after which a client suspects its server. */
static int longest(const struct ku_zk *zk)
{
	int ms = zoo_recv_timeout(zk->lib.zh) / 20;

	return ms > LONGEST_MS ? LONGEST_MS : ms;
}

/* Return the milliseconds until then. */
static int time_left(kustos_deadline until)
{
	int64_t ns = until - ku_monotonic(&ku_clock_real);

	return ns > 0 ? (int)(ns / KU_NS_PER_MS) + 1 : 0;
}

/* It has driven, and may be back soon if it has got what it waited for. */
static void hand_on(struct ku_zk *zk, bool over)
{
	if (over && connected(zk) && !ku_zk_flow_has(&zk->flow)) {
		set_driver(zk, KU_ZK_NOBODY);
		set_relief(zk, MOMENT_NS);
	} else {
		set_driver(zk, KU_ZK_OWN);
		set_relief(zk, 1);
	}
}

static void leave_for_good(struct ku_zk *zk)
{
	if (--zk->inside == 0 && zk->closed)
		ku_zk_discard(zk);
}

static bool st_drive(struct ku_zk *zk, const struct ku_zk_drive *who)
{
	int64_t begin = ku_monotonic(&ku_clock_real);
	int64_t most = longest(zk) * KU_NS_PER_MS;
	sigset_t all, signals;
	int ms;

	if (zk->driver != KU_ZK_NOBODY || !connected(zk) || who->until <= begin)
		return false;
	kustos_deadline until = who->until - begin < most ? who->until
							  : begin + most;
	set_driver(zk, KU_ZK_CALLER);
	uint64_t shift = zk->shift;
	zk->inside++;
	zk->patience_ns = begin + 2 * most;
	set_relief(zk, 2 * most);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &signals);
	while (zk->shift == shift && !*who->over && connected(zk) &&
		(ms = time_left(until)) > 0)
		go(zk, who, ms, &signals);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	if (zk->shift == shift)
		hand_on(zk, *who->over);
	leave_for_good(zk);
	return true;
}

static void st_offer(struct ku_zk *zk)
{
	zk->offered = true;
}

static void st_decline(struct ku_zk *zk)
{
	zk->offered = false;
	if (zk->driver == KU_ZK_NOBODY)
		set_relief(zk, 1);
}

const struct ku_zk_driving ku_zk_driving = {
	.drive = st_drive,
	.nudge = ku_zk_wake,
	.offer = st_offer,
	.decline = st_decline,
};

/* Beginning and end */

bool ku_zk_drive_init(struct ku_zk *zk)
{
	zk->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	zk->relief = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	return zk->wake >= 0 && zk->relief >= 0;
}

bool ku_zk_drive_start(struct ku_zk *zk)
{
	return ku_thread_start(&zk->thread, drive, zk);
}

void ku_zk_drive_end(struct ku_zk *zk)
{
	zk->own.enter(zk->own.arg);
	zk->ending = true;
	set_relief(zk, 1);
	zk->own.leave(zk->own.arg);
	ku_zk_wake(zk);
	pthread_join(zk->thread, NULL);
}

void ku_zk_discard(struct ku_zk *zk)
{
	int why = errno;

	close(zk->wake);
	close(zk->relief);
	free(zk->next);
	free(zk);
	errno = why;
}

void ku_zk_drive_free(struct ku_zk *zk)
{
	zk->own.enter(zk->own.arg);
	zk->closed = true;
	bool last = zk->inside == 0;
	zk->own.leave(zk->own.arg);
	if (last)
		ku_zk_discard(zk);
}
