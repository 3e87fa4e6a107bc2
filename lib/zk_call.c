/*
 * zk_call.c - the requests whose completion the library has not called.
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

void ku_zk_calls_init(struct ku_zk_calls *calls, ku_zk_turn_fn *enter,
	ku_zk_turn_fn *leave, void *arg)
{
	calls->enter = enter;
	calls->leave = leave;
	calls->arg = arg;
	calls->first = NULL;
	ku_zk_fd_reset(&calls->fd);
}

void ku_zk_calls_silence(struct ku_zk_calls *calls)
{
	for (struct ku_zk_call *call = calls->first; call; call = call->next)
		call->done = NULL;
}

void ku_zk_calls_end(struct ku_zk_calls *calls)
{
	struct ku_zk_call *call;

	while ((call = calls->first)) {
		calls->first = call->next;
		call_free(call);
	}
}

void ku_zk_calls_connected(struct ku_zk_calls *calls,
	const struct sockaddr *peer)
{
	if (peer)
		ku_zk_fd_scan(&calls->fd, peer);
	else
		ku_zk_fd_reset(&calls->fd);
}

bool ku_zk_calls_kick(struct ku_zk_calls *calls)
{
	return ku_zk_fd_shutdown(&calls->fd);
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
	call->asking = ku_zk_fd_begin(&calls->fd);
	call->link = &calls->first;
	call->next = calls->first;
	if (call->next)
		call->next->link = &call->next;
	calls->first = call;
	return call;
}

/* Only an answer of the server proves that the request went out, and thereby
   which descriptor it went through. */
static void unlink_call(struct ku_zk_call *call, bool answered)
{
	struct ku_zk_calls *calls = call->owner;

	*call->link = call->next;
	if (call->next)
		call->next->link = call->link;
	if (call->asking && answered)
		ku_zk_fd_end(&calls->fd);
	else if (call->asking)
		ku_zk_fd_give_up(&calls->fd);
}

void ku_zk_call_finish(struct ku_zk_call *call, const struct ku_zk_reply *reply)
{
	struct ku_zk_calls *calls = call->owner;

	calls->enter(calls->arg);
	unlink_call(call, reply->rc == KU_ZK_OK || reply->rc <= SERVER_ERRORS);
	if (call->done)
		call->done(call->arg, reply);
	calls->leave(calls->arg);
	call_free(call);
}

/* KU_ZK_MARSHALLINGERROR alone does not tell whether memory ran out before or
   after the completion was queued, so then the call is muted, and left to the
   completion or to the end. */
int ku_zk_call_refuse(struct ku_zk_call *call, int rc)
{
	if (rc == KU_ZK_MARSHALLINGERROR) {
		call->done = NULL;
		return rc;
	}
	unlink_call(call, false);
	call_free(call);
	return rc;
}
