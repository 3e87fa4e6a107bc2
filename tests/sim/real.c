/*
 * real.c - a real client whose world is the model.
 */
#include "real.h"

bool real_open(struct sim *sim, int index, int timeout_ms,
	void (*wake)(void *arg), void *arg, struct kustos_client **out)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct ku_env env = {
		.api = &ku_zk_sim,
		.api_env = model_client(sim_model(sim), index),
		.clock = *sim_clock(sim),
		.wake = wake,
		.wake_arg = arg,
		.seed = sim_random_next(sim_actor_random(sim, index)) | 1,
	};

	options.hosts = model_addresses(sim_model(sim));
	options.session_timeout_ms = timeout_ms;
	options.retry = kustos_retry_forever(50);
	if (ku_client_open(&options, &env, out) == KUSTOS_OK)
		return true;
	sim_fail(sim, "simulator", "cannot open a client");
	return false;
}
