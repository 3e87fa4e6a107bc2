/* lone.c - one real client, driven step by step on the bench. */
#include "lone.h"

#include "../unit/unit.h"

#include <stdlib.h>

#define PATIENCE_MS 10000
/* A mirror reads again within LOOK_MS, and the client then acts on it within
   DEALT_MS. */
#define LOOK_MS 140000
#define DEALT_MS 1000

struct ku_zk *lone_setup(struct bench *bench, int way_ms)
{
	struct model_config config;

	model_config_init(&config);
	if (way_ms != 0)
		config.latency_min_ns = config.latency_max_ns = way_ms *
			KU_NS_PER_MS;
	bench_init(bench, &config);
	return bench_open(bench, -1, LONE_TIMEOUT_MS);
}

void lone_teardown(struct bench *bench, struct kustos_client *client)
{
	if (client != NULL)
		ck_assert(lone_close(bench, client));
	ck_assert_int_eq(bench->broken, 0);
	bench_free(bench);
}

static struct kustos_client *open_with(struct bench *bench,
	const struct ku_zk_api *api, uint64_t seed,
	const struct kustos_client_options *options)
{
	struct kustos_client_options mine = *options;
	const struct ku_env env = {
		.api = api,
		.api_env = model_client(bench->model, LONE_MACHINE),
		.clock = bench->sched.clock,
		.seed = seed,
	};
	struct kustos_client *client = NULL;

	mine.hosts = model_addresses(bench->model);
	mine.session_timeout_ms = LONE_TIMEOUT_MS;
	(void)ku_client_open(&mine, &env, &client);
	return client;
}

struct kustos_client *lone_open(struct bench *bench,
	const struct ku_zk_api *api)
{
	const struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	return open_with(bench, api, 1, &options);
}

struct kustos_client *lone_connected_with(struct bench *bench,
	const struct ku_zk_api *api, uint64_t seed,
	const struct kustos_client_options *options)
{
	struct kustos_client *client = open_with(bench, api, seed, options);

	ck_assert_ptr_nonnull(client);
	lone_run_ms(bench, client, 1000);
	return client;
}

struct kustos_client *lone_connected(struct bench *bench,
	const struct ku_zk_api *api)
{
	const struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	return lone_connected_with(bench, api, 1, &options);
}

void lone_make(struct bench *bench, struct ku_zk *rival, const char *path)
{
	ck_assert_int_eq(
		bench_create(bench, rival, path, "", KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
}

void lone_send(struct bench *bench, struct ku_zk *rival,
	const struct ku_zk_request *request)
{
	static struct bench_reply reply; /* shared, as nobody reads it */
	struct ku_zk_request whole = *request;

	whole.version = -1;
	whole.acl = &bench_acl;
	whole.acl_count = 1;
	ck_assert_int_eq(bench_send(bench, rival, &whole, &reply), KU_ZK_OK);
}

struct instead {
	struct ku_zk_reply reply;
	ku_zk_done_fn *done;
	void *arg;
};

static void answer(void *arg, const struct ku_zk_reply *reply)
{
	struct instead *it = arg;

	ck_assert_int_eq(reply->rc, KU_ZK_OK);
	it->done(it->arg, &it->reply);
	free(it);
}

static int submit_instead(struct ku_zk *zk, const struct ku_zk_request *request,
	const struct ku_zk_reply *instead, ku_zk_done_fn *done, void *arg)
{
	struct instead *it = malloc(sizeof(*it));

	ck_assert_ptr_nonnull(it);
	*it = (struct instead){ *instead, done, arg };
	return lone_submit(zk, request, answer, it);
}

int lone_answer(struct ku_zk *zk, const struct ku_zk_reply *instead,
	ku_zk_done_fn *done, void *arg)
{
	static const struct ku_zk_request any = { .kind = KU_ZK_EXISTS,
		.path = "/",
		.version = -1 };

	return submit_instead(zk, &any, instead, done, arg);
}

int lone_submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	int rc = ku_zk_sim.submit(zk, request, done, arg);

	ku_zk_sim.push(zk);
	return rc;
}

int lone_refuse(struct ku_zk *zk, int rc, ku_zk_done_fn *done, void *arg)
{
	const struct ku_zk_reply refusal = { .rc = rc, .len = -1 };

	return lone_answer(zk, &refusal, done, arg);
}

int lone_lose(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	const struct ku_zk_reply lost = { .rc = KU_ZK_CONNECTIONLOSS };

	return submit_instead(zk, request, &lost, done, arg);
}

void lone_ignore(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)err;
	(void)result;
}

void lone_run_ms(struct bench *bench, struct kustos_client *client, int ms)
{
	for (int i = 0; i < ms; i++) {
		(void)ku_client_step(client);
		bench_run_ms(bench, 1);
	}
}

void lone_run_until_read(struct bench *bench, struct kustos_client *client,
	const struct ku_mirror *mirror)
{
	uint64_t before = mirror->asked;

	for (int i = 0; i < LOOK_MS && mirror->asked == before; i++)
		lone_run_ms(bench, client, 1);
	lone_run_ms(bench, client, DEALT_MS);
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
