/*
 * lone.h - one real client on the bench, for what has to happen in just one
 * order: it does nothing but while it is told to run.
 */
#ifndef SIM_LONE_H
#define SIM_LONE_H

#include "bench.h"
#include "client.h"
#include "mirror.h"

/* The machine that it runs on, and the timeout that it asks for. */
#define LONE_MACHINE 1
#define LONE_TIMEOUT_MS 4000

/* What a test begins with: a bench, on which each message between a client and its
   server takes "way_ms" (0: one takes longer than another), and a rival, whose
   handle is returned. */
struct ku_zk *lone_setup(struct bench *bench, int way_ms);

/* And with what it ends: close the client (NULL: there is none any more), and see that
   nothing is broken.  What cannot be done fails the test, here and below. */
void lone_teardown(struct bench *bench, struct kustos_client *client);

/* Open it; "api" is ku_zk_sim, or something put before that.  NULL if it cannot
   be. */
struct kustos_client *lone_open(struct bench *bench,
	const struct ku_zk_api *api);

/* The same, and run it until it is connected, and at rest. */
struct kustos_client *lone_connected(struct bench *bench,
	const struct ku_zk_api *api);

/* The same with a seed of its own, and with "options", of which the hosts and the
   timeout are ours. */
struct kustos_client *lone_connected_with(struct bench *bench,
	const struct ku_zk_api *api, uint64_t seed,
	const struct kustos_client_options *options);

/* Have the rival make an empty node that stays. */
void lone_make(struct bench *bench, struct ku_zk *rival, const char *path);

/* Have the rival ask for this, of whatever version and with all allowed, and wait for
   nothing.  What "request" points to is copied. */
void lone_send(struct bench *bench, struct ku_zk *rival,
	const struct ku_zk_request *request);

/* For what is put before ku_zk_sim, in the place of its submit(): the request is not
   sent, and in its turn its answer is "instead".  The connection must last until then,
   and what "instead" points to must stay. */
int lone_answer(struct ku_zk *zk, const struct ku_zk_reply *instead,
	ku_zk_done_fn *done, void *arg);

/* The same with an answer that is nothing but an enum ku_zk_rc. */
int lone_refuse(struct ku_zk *zk, int rc, ku_zk_done_fn *done, void *arg);

/* The request is done, and its answer lost. */
int lone_lose(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg);

/* For a request of which nothing is to be known. */
void lone_ignore(void *arg, enum kustos_err err,
	const struct kustos_result *result);

/* Run it, and the world, for so much virtual time. */
void lone_run_ms(struct bench *bench, struct kustos_client *client, int ms);

/* The same until the mirror has been read again, and that been dealt with. */
void lone_run_until_read(struct bench *bench, struct kustos_client *client,
	const struct ku_mirror *mirror);

/* Close it, with patience.  Returns whether it is gone. */
bool lone_close(struct bench *bench, struct kustos_client *client);

#endif
