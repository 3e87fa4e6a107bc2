/*
 * zk_call.c - the requests whose completion libzookeeper_mt has not called.
 */
#include "zk_call.h"

#include <stdlib.h>

/* Codes between this and 0 are made up by the client library.  From here down
   they are a server's, or say that the handle has ended. */
#define SERVER_ERRORS (-100)

static void call_free(struct ku_zk_call *call)
{
	free(call->extra);
	free(call);
}

void ku_zk_calls_init(struct ku_zk_calls *calls)
{
	pthread_mutex_init(&calls->mutex, NULL);
	calls->first = NULL;
	ku_zk_fd_reset(&calls->fd);
}

void ku_zk_calls_end(struct ku_zk_calls *calls)
{
	struct ku_zk_call *call;

	pthread_mutex_lock(&calls->mutex); /* let a kick end */
	pthread_mutex_unlock(&calls->mutex);
	while ((call = calls->first)) {
		calls->first = call->next;
		call_free(call);
	}
	pthread_mutex_destroy(&calls->mutex);
}

void ku_zk_calls_connected(struct ku_zk_calls *calls,
	const struct sockaddr *peer)
{
	pthread_mutex_lock(&calls->mutex);
	if (peer)
		ku_zk_fd_scan(&calls->fd, peer);
	else
		ku_zk_fd_reset(&calls->fd);
	pthread_mutex_unlock(&calls->mutex);
}

bool ku_zk_calls_kick(struct ku_zk_calls *calls)
{
	bool kicked;

	pthread_mutex_lock(&calls->mutex);
	kicked = ku_zk_fd_shutdown(&calls->fd);
	pthread_mutex_unlock(&calls->mutex);
	return kicked;
}

struct ku_zk_call *ku_zk_call_create(struct ku_zk_calls *calls,
	ku_zk_done_fn *done, void *arg, void *extra)
{
	struct ku_zk_call *call = calloc(1, sizeof(*call));

	if (!call) {
		free(extra);
		return NULL;
	}
	call->owner = calls;
	call->done = done;
	call->arg = arg;
	call->extra = extra;
	call->link = &calls->first;
	pthread_mutex_lock(&calls->mutex);
	call->asking = ku_zk_fd_begin(&calls->fd);
	call->next = calls->first;
	if (call->next)
		call->next->link = &call->next;
	calls->first = call;
	pthread_mutex_unlock(&calls->mutex);
	return call;
}

/* Only an answer of the server proves that the request went out, and thereby
   which descriptor it went through.  Returns the function to call. */
static ku_zk_done_fn *unlink_call(struct ku_zk_call *call, bool answered)
{
	struct ku_zk_calls *calls = call->owner;

	pthread_mutex_lock(&calls->mutex);
	ku_zk_done_fn *done = call->done;
	*call->link = call->next;
	if (call->next)
		call->next->link = call->link;
	if (call->asking && answered)
		ku_zk_fd_end(&calls->fd);
	else if (call->asking)
		ku_zk_fd_give_up(&calls->fd);
	pthread_mutex_unlock(&calls->mutex);
	return done;
}

void ku_zk_call_finish(struct ku_zk_call *call, const struct ku_zk_reply *reply)
{
	ku_zk_done_fn *done = unlink_call(call,
		reply->rc == KU_ZK_OK || reply->rc <= SERVER_ERRORS);

	if (done)
		done(call->arg, reply);
	call_free(call);
}

/* KU_ZK_MARSHALLINGERROR alone does not tell whether memory ran out before or
   after the completion was queued, so the call is muted, and left to the
   completion or to the end.  A call whose completion has come is not listed. */
static int mute(struct ku_zk_calls *calls, const struct ku_zk_call *call)
{
	struct ku_zk_call *c;

	pthread_mutex_lock(&calls->mutex);
	for (c = calls->first; c && c != call; c = c->next)
		;
	if (c)
		c->done = NULL;
	pthread_mutex_unlock(&calls->mutex);
	return c ? KU_ZK_MARSHALLINGERROR : KU_ZK_OK;
}

int ku_zk_call_refuse(struct ku_zk_calls *calls, struct ku_zk_call *call,
	int rc)
{
	if (rc == KU_ZK_MARSHALLINGERROR)
		return mute(calls, call);
	(void)unlink_call(call, false);
	call_free(call);
	return rc;
}
