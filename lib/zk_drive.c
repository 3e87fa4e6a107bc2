/*
 * zk_drive.c - the threads that drive a handle of libzookeeper_st, one at a time:
 * they wait for the network, send, receive and call back.
 *
 * A thread that waits for an answer drives, so that an answer costs no change of
 * thread.  When it has what it waited for, nobody drives for a moment, as it may
 * soon be back.  Then the handle's own thread does, until it wakes a thread that
 * waited.
 */
#include "clock.h"
#include "thread.h"
#include "zk_st.h"

#include <limits.h>
#include <poll.h>
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
	struct ku_zk_flow *outer = ku_zk_begin_flow(zk);
	for (int i = 0; i < BATCH && events != 0 && !zk->left; i++) {
		if (zookeeper_process(zk->lib.zh, events) != ZOK)
			break;
		events = ku_zk_flow_has(&zk->flow) ? ZOOKEEPER_READ : 0;
	}
	ku_zk_end_flow(outer);
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
	} while (zk->driver == KU_ZK_CALLER);
	zk->driver = KU_ZK_OWN;
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
		zk->driver = KU_ZK_NOBODY;
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

	if (zk->driver != KU_ZK_NOBODY || !can_go(zk))
		return false;
	zk->driver = KU_ZK_CALLER;
	set_relief(zk, 0);
	while (!*over && can_go(zk) && (ms = time_left(until)) > 0)
		go(zk, ms);
	zk->driver = KU_ZK_NOBODY;
	set_relief(zk, can_go(zk) ? MOMENT_NS : 1);
	return true;
}

static void st_offer(struct ku_zk *zk)
{
	zk->offered = zoo_state(zk->lib.zh) == ZOO_CONNECTED_STATE;
}

static void st_decline(struct ku_zk *zk)
{
	if (zk->driver == KU_ZK_NOBODY)
		set_relief(zk, 1);
}

const struct ku_zk_driving ku_zk_driving = {
	.drive = st_drive,
	.nudge = ku_zk_wake,
	.offer = st_offer,
	.decline = st_decline,
};

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
	zk->enter(zk->arg);
	zk->ending = true;
	set_relief(zk, 1);
	zk->leave(zk->arg);
	ku_zk_wake(zk);
	pthread_join(zk->thread, NULL);
}

void ku_zk_drive_free(struct ku_zk *zk)
{
	close(zk->wake);
	close(zk->relief);
}
