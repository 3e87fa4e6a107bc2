/*
 * zk_call.h - the requests whose completion the library has not called.
 *
 * zookeeper_close() forgets completions that are queued (L1), and what they
 * would have freed.  So every request is on a list from before it is passed to
 * the library until its completion, and the end of the list frees the rest.
 *
 * Threads: one at a time, which has entered (zk.h), but for finish(), which
 * enters itself, and init() and end().
 */
#ifndef KU_ZK_CALL_H
#define KU_ZK_CALL_H

#include "zk.h"
#include "zk_fd.h"

struct ku_zk_call {
	struct ku_zk_call *next;
	struct ku_zk_call **link; /* the pointer that points here */
	struct ku_zk_calls *owner;
	ku_zk_done_fn *done; /* NULL: refused after all */
	void *arg;
	void *extra; /* freed with the call */
	bool asking; /* "fd" waits for its reply */
};

struct ku_zk_calls {
	ku_zk_turn_fn *enter, *leave;
	void *arg;
	struct ku_zk_call *first;
	struct ku_zk_fd fd; /* which descriptor is the handle's */
};

void ku_zk_calls_init(struct ku_zk_calls *calls, ku_zk_turn_fn *enter,
	ku_zk_turn_fn *leave, void *arg);

/* Tell nothing of those that are still listed. */
void ku_zk_calls_silence(struct ku_zk_calls *calls);

/* Free what is left.  To be called when no completion can come any more. */
void ku_zk_calls_end(struct ku_zk_calls *calls);

/* The handle is now connected to "peer", or not connected if that is NULL. */
void ku_zk_calls_connected(struct ku_zk_calls *calls,
	const struct sockaddr *peer);

/* Break the handle's connection, if it is certain which one it is. */
bool ku_zk_calls_kick(struct ku_zk_calls *calls);

/* Make a call for a request that is about to be sent.  "extra", which may be
   NULL, is the call's from now on, even if this fails.  NULL: no memory. */
struct ku_zk_call *ku_zk_call_create(struct ku_zk_calls *calls,
	ku_zk_done_fn *done, void *arg, void *extra);

/* The completion came: pass the reply on and free the call. */
void ku_zk_call_finish(struct ku_zk_call *call,
	const struct ku_zk_reply *reply);

/* The request was refused with "rc", which is returned. */
int ku_zk_call_refuse(struct ku_zk_call *call, int rc);

#endif
