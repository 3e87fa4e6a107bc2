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

/* Open it; "api" is ku_zk_sim, or something put before that.  NULL if it cannot
   be. */
struct kustos_client *lone_open(struct bench *bench,
	const struct ku_zk_api *api);

/* The same with a seed of its own, and with "options", of which the hosts and the
   timeout are ours. */
struct kustos_client *lone_open_with(struct bench *bench,
	const struct ku_zk_api *api, uint64_t seed,
	const struct kustos_client_options *options);

/* Run it, and the world, for so much virtual time. */
void lone_run_ms(struct bench *bench, struct kustos_client *client, int ms);

/* The same until the mirror has been read again, and that been dealt with. */
void lone_run_until_read(struct bench *bench, struct kustos_client *client,
	const struct ku_mirror *mirror);

/* Close it, with patience.  Returns whether it is gone. */
bool lone_close(struct bench *bench, struct kustos_client *client);

#endif
