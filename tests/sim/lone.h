/*
 * lone.h - one real client on the bench, for tests in which things must happen
 * in exactly one order: the client does nothing except while the test lets it
 * run.
 */
#ifndef SIM_LONE_H
#define SIM_LONE_H

#include "bench.h"
#include "client.h"
#include "mirror.h"

/* The machine that it runs on, and the timeout that it asks for. */
#define LONE_MACHINE 1
#define LONE_TIMEOUT_MS 4000

/* Set a test up: a bench, and a rival, whose handle is returned.  Each message
   between a client and its server takes "way_ms", or a random time if that is
   0. */
struct ku_zk *lone_setup(struct bench *bench, int way_ms);

/* Tear it down: close the client (NULL: there is none any more), and check that
   no rule of the model was broken.  Anything that cannot be done fails the
   test, here and below. */
void lone_teardown(struct bench *bench, struct kustos_client *client);

/* Open a client; "api" is ku_zk_sim, or a layer on top of it.  NULL if that
   fails. */
struct kustos_client *lone_open(struct bench *bench,
	const struct ku_zk_api *api);

/* The same, and run the client until it is connected and at rest. */
struct kustos_client *lone_connected(struct bench *bench,
	const struct ku_zk_api *api);

/* The same with a seed of its own, and with "options", in which hosts and
   timeout are replaced. */
struct kustos_client *lone_connected_with(struct bench *bench,
	const struct ku_zk_api *api, uint64_t seed,
	const struct kustos_client_options *options);

/* Have the rival create an empty persistent node. */
void lone_make(struct bench *bench, struct ku_zk *rival, const char *path);

/* Have the rival send "request", for any version and with an ACL that allows
   everything, without waiting.  What "request" points to is copied. */
void lone_send(struct bench *bench, struct ku_zk *rival,
	const struct ku_zk_request *request);

/* Send a request past the client. */
int lone_submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg);

/* For a layer on top of ku_zk_sim, in place of its submit(): the request is not
   sent, and when its turn comes it is answered with "instead".  The connection
   must last until then, and what "instead" points to must stay. */
int lone_answer(struct ku_zk *zk, const struct ku_zk_reply *instead,
	ku_zk_done_fn *done, void *arg);

/* The same with an answer that has nothing but the code "rc", an enum
   ku_zk_rc. */
int lone_refuse(struct ku_zk *zk, int rc, ku_zk_done_fn *done, void *arg);

/* The same, but the request is applied and its answer is lost. */
int lone_lose(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg);

/* A callback for a request whose result does not matter. */
void lone_ignore(void *arg, enum kustos_err err,
	const struct kustos_result *result);

/* Run the client, and the model, for "ms" of virtual time. */
void lone_run_ms(struct bench *bench, struct kustos_client *client, int ms);

/* The same until a mirror has been read again, and the client has acted on
   that. */
void lone_run_until_read(struct bench *bench, struct kustos_client *client,
	const struct ku_mirror *mirror);

/* Close the client, with time to do so.  Returns whether it is gone. */
bool lone_close(struct bench *bench, struct kustos_client *client);

#endif
