/*
 * zk_mt.c - the boundary over libzookeeper_mt, which has two threads a handle:
 * one for the connection, and one that calls back.
 *
 * It ends the process when it cannot make its threads (P4), so that is tried
 * beforehand.
 */
#define _GNU_SOURCE
#include "zk_lib.h"
#include "zk_thread.h"

#include <errno.h>
#include <stdlib.h>

struct ku_zk {
	struct ku_zk_lib lib;
};

static void watch_session(zhandle_t *zh, int type, int state, const char *path,
	void *context)
{
	struct ku_zk_lib *lib = context;
	struct sockaddr_storage room;
	socklen_t len;

	if (type != ZOO_SESSION_EVENT)
		return;
	lib->calls.enter(lib->calls.arg);
	ku_zk_calls_connected(&lib->calls, ku_zk_lib_peer(zh, &room, &len));
	ku_zk_lib_tell(lib, type, state, path);
	lib->calls.leave(lib->calls.arg);
}

static enum kustos_err mt_open(void *env, const struct ku_zk_open *params,
	struct ku_zk **out)
{
	struct ku_zk *zk = calloc(1, sizeof(*zk));
	enum kustos_err err = KUSTOS_ENOMEM;
	sigset_t mask;

	(void)env;
	if (!zk)
		return KUSTOS_ENOMEM;
	ku_zk_calls_init(&zk->lib.calls, params->enter, params->leave,
		params->arg);
	if (ku_zk_thread_begin(&mask)) {
		err = ku_zk_lib_open(&zk->lib, params, watch_session);
		ku_zk_thread_end(&mask);
	}
	if (err == KUSTOS_OK) {
		*out = zk;
	} else {
		int why = errno;

		free(zk);
		errno = why;
	}
	return err;
}

static void mt_close(struct ku_zk *zk)
{
	ku_zk_lib_close(&zk->lib);
	free(zk);
}

static int mt_submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	return ku_zk_lib_submit(&zk->lib, request, done, arg);
}

/* The library has a thread that sends. */
static void mt_push(struct ku_zk *zk)
{
	(void)zk;
}

static int mt_add_auth(struct ku_zk *zk, const char *scheme,
	const char *credentials, int len)
{
	return ku_zk_lib_add_auth(&zk->lib, scheme, credentials, len);
}

static void mt_session(struct ku_zk *zk, struct ku_zk_session *out)
{
	ku_zk_lib_session(&zk->lib, out);
}

static bool mt_kick(struct ku_zk *zk)
{
	return ku_zk_calls_kick(&zk->lib.calls);
}

/* The library itself finds out whether it has to move.  What it has sent of a
   request is forgotten, so that the rest may go to the next server. */
static void mt_steer(struct ku_zk *zk, const char *addresses, bool move)
{
	(void)move;
	ku_zk_lib_steer(&zk->lib, addresses);
}

const struct ku_zk_api ku_zk_library = {
	.open = mt_open,
	.close = mt_close,
	.submit = mt_submit,
	.push = mt_push,
	.add_auth = mt_add_auth,
	.session = mt_session,
	.kick = mt_kick,
	.steer = mt_steer,
};
