/* lone_line.c - a lone client with a mutex, and the mutex's line. */

#include "lone_line.h"

#include "../unit/unit.h"

struct lone_line lone;

void lone_line_open_with(const struct ku_zk_api *api,
	const struct kustos_client_options *options)
{
	lone.raw = lone_setup(&lone.bench, 0);
	lone_make(&lone.bench, lone.raw, LINE);
	lone.client = lone_connected_with(&lone.bench, api, 1, options);
	ck_assert_int_eq(
		kustos_mutex_create(lone.client, LINE, NULL, &lone.mutex),
		KUSTOS_OK);
}

void lone_line_open(const struct ku_zk_api *api)
{
	const struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	lone_line_open_with(api, &options);
}

void lone_line_close(void)
{
	kustos_mutex_destroy(lone.mutex);
	lone_run_ms(&lone.bench, lone.client, 200);
	ck_assert_ptr_null(lone.client->lines.tree);
	ck_assert(lone_close(&lone.bench, lone.client));
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 0);
	lone_teardown(&lone.bench, NULL);
}

void lone_line_granted(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_OK);
	lone.hold = got;
}

void lone_line_ask(void)
{
	lone.hold = NULL;
	ck_assert_int_eq(kustos_mutex_acquire_async(lone.mutex, KUSTOS_FOREVER,
				 NULL, lone_line_granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
}

void lone_line_check(void)
{
	struct kustos_stat stat;

	ck_assert_ptr_nonnull(lone.hold);
	ck_assert_int_eq(kustos_hold_state(lone.hold), KUSTOS_HOLD_HELD);
	ck_assert(model_stat(lone.bench.model, kustos_hold_path(lone.hold),
		&stat));
	ck_assert(stat.czxid == kustos_hold_token(lone.hold));
	ck_assert(stat.ephemeral_owner == lone.client->session.id);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 1);
}

void lone_line_give(void)
{
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
}

void lone_line_delete(void)
{
	ck_assert_int_eq(bench_delete(&lone.bench, lone.raw,
				 kustos_hold_path(lone.hold), -1)
				 .rc,
		KU_ZK_OK);
}

struct kustos_simple *lone_line_ask_simple(kustos_granted_fn *granted,
	struct kustos_cancel *cancel)
{
	struct kustos_simple *simple;

	ck_assert_int_eq(
		kustos_simple_create(lone.client, LINE "/one", NULL, &simple),
		KUSTOS_OK);
	ck_assert_int_eq(bench_create(&lone.bench, lone.raw, LINE "/one", "",
				 KU_ZK_EPHEMERAL)
				 .rc,
		KU_ZK_OK);
	lone.hold = NULL;
	ck_assert_int_eq(kustos_simple_acquire_async(simple, KUSTOS_FOREVER,
				 cancel, granted, NULL),
		KUSTOS_OK);
	return simple;
}
