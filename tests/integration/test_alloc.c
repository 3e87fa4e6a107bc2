/*
 * test_alloc.c - each allocation of each public call fails once (allocs.h).
 * The call either reports this or does without the memory, leaves nothing half
 * done, and the client keeps working.
 */
#include "allocs.h"
#include "client_fixture.h"
#include "inject.h"
#include "raw.h"

#include <kustos/cancel.h>

#include <string.h>

#define T_MS 4000 /* what cannot be sent is retried after an eighth of this */

static struct kustos_client *client;

static void set_up(void)
{
	inject_reset();
	client = client_connected(fixture_address(), T_MS);
	client_create(client, "/n", 0);
	client_create(client, "/n/child", 0);
}

static void tear_down(void)
{
	inject_reset();
	client_close(client);
}

static enum kustos_err call_create(void)
{
	char *path = NULL;
	enum kustos_err err = kustos_create(client, "/p/q/new-", "x", 1,
		KUSTOS_CREATE_PROTECTED | KUSTOS_CREATE_PARENTS |
			KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_SEQUENTIAL,
		SOON, NULL, &path, NULL);

	kustos_free(path);
	return err;
}

static enum kustos_err call_create_plain(void)
{
	return kustos_create(client, "/new", NULL, 0, KUSTOS_CREATE_EPHEMERAL,
		SOON, NULL, NULL, NULL);
}

static enum kustos_err call_get(void)
{
	char *data = NULL;
	size_t len;
	enum kustos_err err = kustos_get(client, "/n", SOON, NULL, &data, &len,
		NULL);

	kustos_free(data);
	return err;
}

static enum kustos_err call_set(void)
{
	return kustos_set(client, "/n", "yy", 2, -1, SOON, NULL, NULL);
}

static enum kustos_err call_exists(void)
{
	return kustos_exists(client, "/n", SOON, NULL, NULL);
}

static enum kustos_err call_delete(void)
{
	return kustos_delete(client, "/n/child", -1, SOON, NULL);
}

static enum kustos_err call_delete_guaranteed(void)
{
	enum kustos_err err = kustos_delete_guaranteed(client, "/n/child", 0);

	if (err == KUSTOS_OK)
		err = kustos_client_flush(client, SOON, NULL);
	return err;
}

static enum kustos_err call_children(void)
{
	struct kustos_names *names = NULL;
	enum kustos_err err = kustos_children(client, "/n", SOON, NULL, &names,
		NULL);

	kustos_names_free(names);
	return err;
}

static enum kustos_err call_sync(void)
{
	return kustos_sync(client, "/n", SOON, NULL);
}

static enum kustos_err call_multi(void)
{
	struct kustos_op ops[] = {
		{ .kind = KUSTOS_OP_CREATE,
			.path = "/m",
			.data = "x",
			.len = 1,
			.flags = KUSTOS_CREATE_EPHEMERAL },
		{ .kind = KUSTOS_OP_SET,
			.path = "/n",
			.data = "yy",
			.len = 2,
			.version = -1 },
		{ .kind = KUSTOS_OP_DELETE, .path = "/n/child", .version = -1 },
	};
	struct kustos_op_result results[3] = { 0 };
	enum kustos_err err = kustos_multi(client, ops, 3, SOON, NULL, results);

	kustos_free(results[0].path);
	return err;
}

static enum kustos_err call_listen(void)
{
	struct kustos_listener *listener;
	struct record record;
	enum kustos_err err;

	memset(&record, 0, sizeof(record));
	pthread_mutex_init(&record.mutex, NULL);
	err = kustos_client_listen(client, record_state, &record, &listener);
	if (err != KUSTOS_OK)
		return err;
	test_eventually(record_count(&record, KUSTOS_STATE_CONNECTED) == 1,
		2000);
	kustos_client_unlisten(client, listener);
	return KUSTOS_OK;
}

static enum kustos_err call_cancel(void)
{
	struct kustos_cancel *cancel;
	enum kustos_err err = kustos_cancel_create(&cancel);

	if (err != KUSTOS_OK)
		return err;
	err = kustos_get(client, "/n", SOON, cancel, NULL, NULL, NULL);
	kustos_cancel_fire(cancel);
	kustos_cancel_destroy(cancel);
	return err;
}

static struct completions done;

/* The end of an asynchronous call, whether it was accepted or not. */
static enum kustos_err awaited(enum kustos_err err)
{
	if (err != KUSTOS_OK)
		return err;
	test_eventually(completions_of(&done) == 1, 5000);
	return (enum kustos_err)done.err;
}

static enum kustos_err call_get_async(void)
{
	memset(&done, 0, sizeof(done));
	return awaited(kustos_get_async(client, "/n", SOON, NULL,
		count_completion, &done));
}

static enum kustos_err call_create_async(void)
{
	memset(&done, 0, sizeof(done));
	return awaited(kustos_create_async(client, "/new", NULL, 0,
		KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_PARENTS, SOON, NULL,
		count_completion, &done));
}

static enum kustos_err call_multi_async(void)
{
	struct kustos_op op = { .kind = KUSTOS_OP_CREATE,
		.path = "/m",
		.flags = KUSTOS_CREATE_EPHEMERAL };

	memset(&done, 0, sizeof(done));
	return awaited(kustos_multi_async(client, &op, 1, SOON, NULL,
		count_completion, &done));
}

static const struct call {
	struct alloc_call call;
	const char *makes;   /* exists only if the call was applied */
	const char *deletes; /* is gone only if the call was applied */
} calls[] = {
	{ { "create", call_create, false }, NULL, NULL },
	{ { "create, plain", call_create_plain, false }, "/new", NULL },
	{ { "get", call_get, false }, NULL, NULL },
	{ { "set", call_set, false }, NULL, NULL },
	{ { "exists", call_exists, false }, NULL, NULL },
	{ { "delete", call_delete, false }, NULL, "/n/child" },
	{ { "guaranteed delete", call_delete_guaranteed, false }, NULL,
		"/n/child" },
	{ { "children", call_children, false }, NULL, NULL },
	{ { "sync", call_sync, false }, NULL, NULL },
	{ { "multi", call_multi, false }, "/m", "/n/child" },
	{ { "listen", call_listen, false }, NULL, NULL },
	{ { "cancel", call_cancel, false }, NULL, NULL },
	{ { "get, async", call_get_async, false }, NULL, NULL },
	{ { "create, async", call_create_async, false }, "/new", NULL },
	{ { "multi, async", call_multi_async, false }, "/m", NULL },
};
#define CALLS (int)(sizeof(calls) / sizeof(calls[0]))

static bool is_there(const char *path)
{
	int rc = raw_exists(fixture_address(), path, NULL);

	ck_assert(rc == 0 || rc == RAW_NONODE);
	return rc == 0;
}

/* Check what the call left, and restore the nodes. */
static void check_effect(const struct alloc_call *which, enum kustos_err err)
{
	const struct call *call = (const struct call *)which;
	bool applied = err == KUSTOS_OK;

	if (call->makes != NULL) {
		ck_assert_int_eq(is_there(call->makes), applied);
		if (applied)
			ck_assert_int_eq(
				raw_delete(fixture_address(), call->makes), 0);
	}
	if (call->deletes != NULL) {
		ck_assert_int_eq(!is_there(call->deletes), applied);
		if (applied)
			ck_assert_int_eq(raw_create(fixture_address(),
						 call->deletes, "x"),
				0);
	}
	ck_assert_int_eq(call_get(), KUSTOS_OK);
}

START_TEST(every_allocation_of_a_call_may_fail)
{
	allocs_fail_each_of(client, &calls[_i].call, NULL, check_effect);
}
END_TEST

static enum kustos_err call_open(enum kustos_dispatch dispatch)
{
	struct kustos_acl acl = { KUSTOS_PERM_ALL, "auth", "" };
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_client *c = NULL;

	o.name_space = "/ns";
	o.digest = "alice:secret";
	o.acl = &acl;
	o.acl_count = 1;
	o.node_data = "default";
	o.node_data_len = 7;
	o.dispatch = dispatch;
	enum kustos_err err = kustos_client_open(&o, &c);
	if (err == KUSTOS_OK)
		err = kustos_client_wait_connected(c, SOON, NULL);
	if (c != NULL)
		kustos_client_close(c, SOON, NULL);
	return err;
}

static enum kustos_err open_with_thread(void)
{
	return call_open(KUSTOS_DISPATCH_THREAD);
}

static enum kustos_err open_with_fd(void)
{
	return call_open(KUSTOS_DISPATCH_FD);
}

static void check_nothing(const struct alloc_call *call, enum kustos_err err)
{
	(void)call;
	(void)err;
}

START_TEST(every_allocation_of_an_open_may_fail)
{
	static const struct alloc_call opens[] = {
		{ "thread", open_with_thread, false },
		{ "descriptor", open_with_fd, false },
	};

	allocs_fail_each(&opens[_i], NULL, check_nothing);
}
END_TEST

/* A thread may be refused just as memory may be. */
START_TEST(a_callback_runs_even_if_there_is_no_thread_for_it)
{
	memset(&done, 0, sizeof(done));
	inject_thread(INJECT_PROGRAM, 1);
	ck_assert_int_eq(call_get_async(), KUSTOS_OK);
	ck_assert_int_eq(call_get_async(), KUSTOS_OK);
}
END_TEST

START_TEST(an_open_without_a_thread_says_so)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_client *c = NULL;

	inject_thread(INJECT_PROGRAM, 1);
	ck_assert_int_eq(kustos_client_open(&o, &c), KUSTOS_ENOMEM);
	ck_assert_ptr_null(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("alloc");
	TCase *t = fixture_case(s, "alloc", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, CALLS);
	tcase_add_loop_test(t, every_allocation_of_an_open_may_fail, 0, 2);
	tcase_add_test(t, a_callback_runs_even_if_there_is_no_thread_for_it);
	tcase_add_test(t, an_open_without_a_thread_says_so);
	return fixture_main(s);
}
