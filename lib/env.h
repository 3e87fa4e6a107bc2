/*
 * env.h - the world a client lives in: the real one, or the simulator's.
 */
#ifndef KU_ENV_H
#define KU_ENV_H

#include "clock.h"
#include "zk.h"

struct ku_call;
struct kustos_client;
struct kustos_client_options;

struct ku_env {
	const struct ku_zk_api *api;
	void *api_env; /* passed to api->open() */
	struct ku_clock clock;

	/* True: the client has a thread of its own, which resolves names and
	   chooses servers.  False: the creator of the client calls
	   ku_client_step() when a step is due, all callbacks run in there, no
	   call may block, and the hosts must be numeric. */
	bool threads;
	void (*wake)(void *arg); /* without threads: a step is due now */
	void *wake_arg;

	/* May be NULL.  Without threads: a long call is not run in a step but
	   passed to this function, with the client locked. */
	void (*apart)(void *wake_arg, struct ku_call *call);
	uint64_t seed;	  /* of jitter and names; 0 = from the kernel */
	size_t in_flight; /* the most requests in flight; 0 = KU_WIRE_CAP */
};

extern const struct ku_env ku_env_real;

/* kustos_client_open() in the world "env". */
enum kustos_err ku_client_open(const struct kustos_client_options *options,
	const struct ku_env *env, struct kustos_client **out);

/* Do what is due, and return the boot time at which to call this again.  Only
   without threads. */
int64_t ku_client_step(struct kustos_client *client);

/* Begin to close a client that has no threads; "gone" becomes true when a
   later step has freed it. */
void ku_client_close_start(struct kustos_client *client, kustos_deadline budget,
	bool *gone);

#endif
