/*
 * zk_st.c - the boundary over libzookeeper_st, which has no threads: one of ours
 * drives each handle, and calls back from there.
 *
 * Whoever has entered sends requests, so an answer costs one change of thread:
 * to the driver, which hands it on.  In libzookeeper_mt a request goes through
 * its thread for the connection, and an answer through both of its threads.
 *
 * It is linked into one object with our files that call it, in which all names
 * but one are hidden, since they are those of libzookeeper_mt, which the program
 * may use as well (lib/embed).  Some of its calls go to zk_st_calls.c.
 */
#define _GNU_SOURCE
#include "thread.h"
#include "zk_lib.h"
#include "zk_st_calls.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* So many answers are handed on before others may enter. */
#define BATCH 64

/* How long the driver waits when there is no descriptor to be had. */
#define LACK_MS 100

struct ku_zk {
	struct ku_zk_lib lib; /* first: the context of its events */
	ku_zk_turn_fn *enter, *leave;
	void *arg;
	pthread_t driver;
	int wake; /* an eventfd that ends the driver's wait */
	/* For those that have entered. */
	int fd;	     /* of the connection, if there is one */
	bool unsent; /* something is left to be sent */
	bool left;   /* the connection was given up since the driver waits */
	char *next;  /* servers to be tried when the connection has ended */
	bool ending;
};

static void wake(struct ku_zk *zk)
{
	uint64_t one = 1;

	(void)!write(zk->wake, &one, sizeof(one));
}

/* The driver */

/* Connect, or keep the connection up.  Returns for how many milliseconds to
   wait for what is put into "p". */
static int prepare(struct ku_zk *zk, struct pollfd *p)
{
	struct timeval wait = { 0 };
	int interest = 0;
	ku_zk_unsent = &zk->unsent; /* a ping that is not sent may wait, too */
	int rc = zookeeper_interest(zk->lib.zh, &zk->fd, &interest, &wait);
	ku_zk_unsent = NULL;

	p->fd = rc == ZOK ? zk->fd : -1;
	p->events = 0;
	if (interest & ZOOKEEPER_READ)
		p->events |= POLLIN;
	if (interest & ZOOKEEPER_WRITE)
		p->events |= POLLOUT;
	zk->unsent = false;
	zk->left = false;
	if (rc == ZSYSTEMERROR)
		return LACK_MS;
	return (int)(wait.tv_sec * 1000 + (wait.tv_usec + 999) / 1000);
}

/* Send and receive what can be. */
static void proceed(struct ku_zk *zk, short seen)
{
	int events = 0;

	if (seen & (POLLOUT | POLLHUP | POLLERR))
		events |= ZOOKEEPER_WRITE;
	if (seen & (POLLIN | POLLHUP | POLLERR))
		events |= ZOOKEEPER_READ;
	for (int i = 0; i < BATCH && events != 0 && !zk->left; i++) {
		if (zookeeper_process(zk->lib.zh, events) != ZOK)
			break;
		events &= ZOOKEEPER_READ;
	}
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

static void *drive(void *arg)
{
	struct ku_zk *zk = arg;
	struct pollfd p[2] = { { .fd = zk->wake, .events = POLLIN } };
	uint64_t count;

	zk->enter(zk->arg);
	while (!zk->ending && !is_unrecoverable(zk->lib.zh)) {
		int ms = prepare(zk, &p[1]);

		zk->leave(zk->arg);
		if (poll(p, 2, ms) < 0)
			p[0].revents = p[1].revents = 0;
		if (p[0].revents != 0)
			(void)!read(zk->wake, &count, sizeof(count));
		zk->enter(zk->arg);
		if (zk->ending)
			break;
		proceed(zk, p[1].revents);
		turn(zk);
	}
	zk->leave(zk->arg);
	return NULL;
}

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

/* The driver has entered when the library calls back. */
static void is_entered(void *arg)
{
	(void)arg;
}

/* Opening and closing */

static void discard(struct ku_zk *zk)
{
	int why = errno;

	close(zk->wake);
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
	ku_zk_calls_init(&zk->lib.calls, is_entered, is_entered, NULL);
	enum kustos_err err = zk->wake < 0
		? KUSTOS_ENOMEM
		: ku_zk_lib_open(&zk->lib, params, watch_session);
	if (err == KUSTOS_OK && !ku_thread_start(&zk->driver, drive, zk)) {
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
	zk->leave(zk->arg);
	wake(zk);
	pthread_join(zk->driver, NULL);
	ku_zk_lib_close(&zk->lib);
	discard(zk);
}

/* Asking */

static int st_submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	ku_zk_unsent = &zk->unsent;
	int rc = ku_zk_lib_submit(&zk->lib, request, done, arg);
	ku_zk_unsent = NULL;
	if (zk->unsent)
		wake(zk);
	return rc;
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
   next server.  So the connection is broken, which the driver sees, and then it
   turns.  One that is just being made the library may give up; then the driver
   waits for a descriptor that is closed, and whose number may soon be another
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
	.add_auth = st_add_auth,
	.session = st_session,
	.kick = st_kick,
	.steer = st_steer,
};
