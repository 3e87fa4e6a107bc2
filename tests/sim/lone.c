/* lone.c - one real client on the bench. */
#include "lone.h"

#define PATIENCE_MS 10000

struct kustos_client *lone_open(struct bench *bench,
	const struct ku_zk_api *api)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	const struct ku_env env = {
		.api = api,
		.api_env = model_client(bench->model, LONE_MACHINE),
		.clock = bench->sched.clock,
		.seed = 1,
	};
	struct kustos_client *client = NULL;

	options.hosts = model_addresses(bench->model);
	options.session_timeout_ms = LONE_TIMEOUT_MS;
	(void)ku_client_open(&options, &env, &client);
	return client;
}

void lone_run_ms(struct bench *bench, struct kustos_client *client, int ms)
{
	for (int i = 0; i < ms; i++) {
		(void)ku_client_step(client);
		bench_run_ms(bench, 1);
	}
}

bool lone_close(struct bench *bench, struct kustos_client *client)
{
	bool gone = false;

	ku_client_close_start(client, KUSTOS_FOREVER, &gone);
	for (int i = 0; i < PATIENCE_MS && !gone; i++) {
		(void)ku_client_step(client);
		bench_run_ms(bench, 1);
	}
	return gone;
}
