/*
 * zk_st.c - the boundary over libzookeeper_st, which has no threads: ours drive
 * each handle, and call back from there (zk_drive.c).
 *
 * Whoever has entered sends requests.  In libzookeeper_mt a request goes through
 * its thread for the connection, and an answer through both of its threads.
 *
 * It is linked into one object with our files that call it, in which all names
 * but one are hidden, since they are those of libzookeeper_mt, which the program
 * may use as well (lib/embed).  Some of its calls go to zk_st_calls.c.
 */
#define _GNU_SOURCE
#include "zk_st.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* When the library tells that its connection has ended, it has closed the
   descriptor, but its state is still that of before. */
static void watch_session(zhandle_t *zh, int type, int state, const char *path,
	void *context)
{
	struct ku_zk *zk = context;

	(void)zh;
	if (type != ZOO_SESSION_EVENT)
		return;
	if (state != ZOO_CONNECTED_STATE) {
		zk->fd = -1;
		ku_zk_flow_reset(&zk->flow);
	}
	ku_zk_lib_tell(&zk->lib, type, state, path);
}

/* Whoever drives has entered when the library calls back. */
static void is_entered(void *arg)
{
	(void)arg;
}

/* Opening and closing */

static enum kustos_err st_open(void *env, const struct ku_zk_open *params,
	struct ku_zk **out)
{
	struct ku_zk *zk = calloc(1, sizeof(*zk));

	(void)env;
	if (!zk)
		return KUSTOS_ENOMEM;
	zk->own.enter = params->enter;
	zk->own.leave = params->leave;
	zk->own.arg = params->arg;
	zk->fd = -1;
	ku_zk_calls_init(&zk->lib.calls, is_entered, is_entered, NULL);
	enum kustos_err err = !ku_zk_drive_init(zk)
		? KUSTOS_ENOMEM
		: ku_zk_lib_open(&zk->lib, params, watch_session);
	if (err == KUSTOS_OK && !ku_zk_drive_start(zk)) {
		int why = errno;

		ku_zk_lib_close(&zk->lib);
		errno = why;
		err = KUSTOS_ENOMEM;
	}
	if (err != KUSTOS_OK)
		ku_zk_discard(zk);
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
	zk->own.enter(zk->own.arg);
	zk->lib.event = drop_event;
	ku_zk_calls_silence(&zk->lib.calls);
	zk->own.leave(zk->own.arg);
	ku_zk_drive_end(zk);
	zk->flow.at_once = true; /* the end of the session waits for room */
	struct ku_zk_flow *outer = ku_zk_begin_flow(zk);
	ku_zk_lib_close(&zk->lib);
	ku_zk_end_flow(outer);
	ku_zk_drive_free(zk);
}

/* Asking */

static int st_submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	struct ku_zk_flow *outer = ku_zk_begin_flow(zk);
	int rc = ku_zk_lib_submit(&zk->lib, request, done, arg);
	ku_zk_end_flow(outer);
	return rc;
}

static void st_push(struct ku_zk *zk)
{
	(void)ku_zk_flow_push(&zk->flow);
	if (zk->flow.stuck)
		ku_zk_wake(zk);
}

/* The library only queues them. */
static int st_add_auth(struct ku_zk *zk, const char *scheme,
	const char *credentials, int len)
{
	int rc = ku_zk_lib_add_auth(&zk->lib, scheme, credentials, len);

	ku_zk_wake(zk);
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
   somebody waits for a descriptor that is closed, and whose number may soon be
   another file's. */
static void st_steer(struct ku_zk *zk, const char *addresses, bool move)
{
	free(zk->next);
	zk->next = NULL;
	if (move && zoo_state(zk->lib.zh) == ZOO_CONNECTED_STATE) {
		zk->next = strdup(addresses); /* or any other server */
		(void)shutdown(zk->fd, SHUT_RDWR);
		return;
	}
	ku_zk_steer(zk, addresses);
	if (zoo_state(zk->lib.zh) != ZOO_NOTCONNECTED_STATE)
		return;
	zk->left = true;
	ku_zk_wake(zk);
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
	.driving = &ku_zk_driving,
};
