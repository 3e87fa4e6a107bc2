/* lone_late.c - a ZooKeeper library that tells things late, or never. */
#include "lone_late.h"

#include "../unit/unit.h"

#include <string.h>

struct ku_zk_api late_api;
struct late first;

static enum kustos_err open_it(void *env, const struct ku_zk_open *params,
	struct ku_zk **out)
{
	enum kustos_err err = ku_zk_sim.open(env, params, out);

	if (first.opened++ == 0) {
		first.zk = *out;
		first.event = params->event;
		first.arg = params->arg;
		first.enter = params->enter;
		first.leave = params->leave;
	}
	return err;
}

static void withhold(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	first.reply.rc = reply->rc;
	if (reply->stat != NULL)
		first.reply.stat = *reply->stat;
	first.reply.name_count = reply->name_count;
	ck_assert_int_le(reply->name_count, 1);
	const char *name = reply->name_count == 1 ? reply->names[0]
						  : reply->path;
	if (name == NULL)
		name = "";
	ck_assert_uint_lt(strlen(name), sizeof(first.reply.path));
	strcpy(first.reply.path, name);
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (first.delays && request->watch && first.read.path == NULL) {
		first.read = *request;
		first.done = done;
		first.done_arg = arg;
		return KU_ZK_OK;
	}
	if (!first.withholds || first.done != NULL ||
		request->kind != first.kind)
		return ku_zk_sim.submit(zk, request, done, arg);
	first.done = done;
	first.done_arg = arg;
	return ku_zk_sim.submit(zk, request, withhold, NULL);
}

static void describe(struct ku_zk *zk, struct ku_zk_session *out)
{
	ku_zk_sim.session(zk, out);
	if (first.granted_ms != 0)
		out->timeout_ms = first.granted_ms;
}

static void tell_events(void)
{
	static const enum ku_zk_state states[] = { KU_ZK_STATE_CONNECTING,
		KU_ZK_STATE_CONNECTED, KU_ZK_STATE_EXPIRED,
		KU_ZK_STATE_AUTH_FAILED };

	for (size_t i = 0; i < UNIT_COUNT(states); i++)
		first.event(first.arg, KU_ZK_EVENT_SESSION, states[i], "");
}

static void tell_answer(void)
{
	const char *name = first.reply.path;
	const struct ku_zk_reply reply = {
		.rc = first.reply.rc,
		.stat = &first.reply.stat,
		.path = name,
		.len = -1,
		.names = &name,
		.name_count = first.reply.name_count,
	};

	first.done(first.done_arg, &reply);
}

/* Before the library closes a handle it calls the callbacks that it has queued.
   By then there may be another session. */
static void close_it(struct ku_zk *zk)
{
	if (zk == first.zk && first.opened > 1) {
		bench_run_ms(&lone.bench, CONNECT_MS);
		ck_assert_int_eq(lone.client->session.state,
			KUSTOS_STATE_CONNECTED);
		first.enter(first.arg);
		if (first.event != NULL)
			tell_events();
		if (first.done != NULL)
			tell_answer();
		first.leave(first.arg);
	}
	ku_zk_sim.close(zk);
}

void late_setup(void)
{
	memset(&first, 0, sizeof(first));
	late_api = ku_zk_sim;
	late_api.open = open_it;
	late_api.submit = submit_it;
	late_api.session = describe;
	late_api.close = close_it;
	lone_line_open(&late_api);
}

void late_expire(void)
{
	ck_assert(model_expire(lone.bench.model, LONE_MACHINE));
	bench_run_ms(&lone.bench, REOPEN_MS);
	ck_assert_ptr_null(lone.client->session.handle);
	ck_assert_int_eq(first.opened, 1);
	(void)ku_client_step(lone.client);
	ck_assert_int_eq(first.opened, 2);
	ck_assert_ptr_nonnull(lone.client->session.handle);
}
