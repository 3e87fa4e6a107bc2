/*
 * test_limits.c - requests that are too big, too many or too long: what is
 * refused before it does harm, and what goes through.
 */
#include "client_fixture.h"

#include "client.h"
#include "inject.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"

#include <kustos/cancel.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define T_MS 60000
#define CALLS 100000
#define IN_FLIGHT_MAX 1024
#define OWN_REQUESTS 4 /* the session's own, which are never queued */

static struct proxy *proxy;
static struct kustos_client *client;

static void set_up(void)
{
	inject_reset();
	proxy = fixture_proxy();
	client = client_connected(proxy_address(proxy), T_MS);
}

static void tear_down(void)
{
	inject_reset();
	client_close(client);
	proxy_free(proxy);
}

static enum kustos_err create(const char *path, const void *data, size_t len,
	int flags)
{
	return kustos_create(client, path, data, len, flags, SOON, NULL, NULL,
		NULL);
}

START_TEST(L24_what_exceeds_a_frame_is_refused_and_never_sent)
{
	static char data[2000000];
	struct kustos_op ops[2] = {
		{ .kind = KUSTOS_OP_CREATE,
			.path = "/m",
			.data = data,
			.len = 600000 },
		{ .kind = KUSTOS_OP_SET,
			.path = "/m",
			.data = data,
			.len = 600000,
			.version = -1 },
	};
	struct kustos_op_result results[2];

	check_err(create("/big", data, sizeof(data), 0), KUSTOS_ETOOBIG);
	check_err(create("/big", data, (size_t)-1, 0), KUSTOS_ETOOBIG);
	check_err(create("/fits", data, 990000, 0), KUSTOS_OK);
	check_err(kustos_set(client, "/fits", data, 2000000, -1, SOON, NULL,
			  NULL),
		KUSTOS_ETOOBIG);
	check_err(
		kustos_set(client, "/fits", data, 990000, -1, SOON, NULL, NULL),
		KUSTOS_OK);
	check_err(kustos_multi(client, ops, 2, SOON, NULL, results),
		KUSTOS_ETOOBIG);
	check_err(results[1].err, KUSTOS_ETOOBIG);
	ck_assert_uint_eq(client_stats(client).disconnects, 0);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_MULTI), 0);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), 1);
}
END_TEST

/* The i-th path of its kind, with about "len" bytes. */
static const char *long_path(char *buf, size_t len, int i)
{
	size_t head = (size_t)snprintf(buf, len, "/e/%06d-", i);

	memset(buf + head, 'x', len - head - 1);
	buf[len - 1] = '\0';
	return buf;
}

START_TEST(P10_the_paths_of_ephemeral_nodes_are_capped)
{
	char path[4000];
	int made = 0;
	struct kustos_op op = { .kind = KUSTOS_OP_CREATE,
		.path = path,
		.flags = KUSTOS_CREATE_EPHEMERAL };
	enum kustos_err err;

	check_err(create("/e", NULL, 0, 0), KUSTOS_OK);
	while ((err = create(long_path(path, sizeof(path), made), NULL, 0,
			KUSTOS_CREATE_EPHEMERAL)) == KUSTOS_OK)
		made++;
	check_err(err, KUSTOS_ELIMIT);
	ck_assert_int_ge(made, 150);
	ck_assert_int_le(made, 700000 / 4000);
	check_err(kustos_multi(client, &op, 1, SOON, NULL, NULL),
		KUSTOS_ELIMIT);
	check_err(create(path, NULL, 0, 0), KUSTOS_OK); /* persistent */
	check_err(kustos_delete(client, path, -1, SOON, NULL), KUSTOS_OK);
	check_err(kustos_delete(client, long_path(path, sizeof(path), 0), -1,
			  SOON, NULL),
		KUSTOS_OK);
	check_err(create(path, NULL, 0, KUSTOS_CREATE_EPHEMERAL), KUSTOS_OK);
	check_err(create(long_path(path, sizeof(path), made), NULL, 0,
			  KUSTOS_CREATE_EPHEMERAL),
		KUSTOS_ELIMIT);
	client_close(client);
	client = client_connected(proxy_address(proxy), T_MS);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/e"), 0);
}
END_TEST

static enum kustos_err ephemeral(int i)
{
	static char path[4000];

	return create(long_path(path, sizeof(path), i), NULL, 0,
		KUSTOS_CREATE_EPHEMERAL);
}

/* Create more than could exist together; somebody else deletes each. */
static void make_for_another(void)
{
	char path[4000];

	for (int i = 0; i < 400; i++) {
		check_err(ephemeral(i), KUSTOS_OK);
		long_path(path, sizeof(path), i);
		ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	}
}

static bool is_looking(void)
{
	ku_lock(client);
	bool looks = client->footprint.look != NULL;
	ku_unlock(client);
	return looks;
}

/* Such nodes are not watched, so no event tells of their deletion. */
START_TEST(P10_nodes_that_others_delete_do_not_count_for_ever)
{
	char path[4000];
	int made;

	check_err(create("/e", NULL, 0, 0), KUSTOS_OK);
	make_for_another();
	/* Nodes that exist count, however often they are looked at. */
	for (made = 0; made < 160;)
		made += ephemeral(made) == KUSTOS_OK;
	while (ephemeral(made) == KUSTOS_OK)
		made++;
	test_never(ephemeral(made) != KUSTOS_ELIMIT, 500);
	ck_assert_int_le(made, 700000 / 4000);
	/* When these are gone, that is noticed in time as well. */
	test_within(!is_looking(), PATIENCE_MS);
	while (made-- > 0)
		check_err(kustos_delete(client,
				  long_path(path, sizeof(path), made), -1, SOON,
				  NULL),
			KUSTOS_OK);
	make_for_another();
}
END_TEST

START_TEST(P10_nodes_that_are_only_asked_for_count_as_well)
{
	static char path[4000];
	struct completions done = { 0 };
	int asked = 0;
	enum kustos_err err;

	check_err(create("/e", NULL, 0, 0), KUSTOS_OK);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_CREATE2, 1);
	while (asked < 1000) {
		err = kustos_create_async(client,
			long_path(path, sizeof(path), asked), NULL, 0,
			KUSTOS_CREATE_EPHEMERAL, SOON, NULL, count_completion,
			&done);
		if (err != KUSTOS_OK)
			break;
		asked++;
	}
	check_err(err, KUSTOS_ELIMIT);
	ck_assert_int_le(asked, 700000 / 4000);
	test_eventually(inject_fired() == 1, 2000);
	inject_release();
	test_eventually(completions_of(&done) == asked, 10000);
	ck_assert_int_eq(done.failed, 0);
	check_err(kustos_delete(client, long_path(path, sizeof(path), 0), -1,
			  SOON, NULL),
		KUSTOS_OK);
	check_err(create(path, NULL, 0, KUSTOS_CREATE_EPHEMERAL), KUSTOS_OK);
}
END_TEST

START_TEST(L22_a_hundred_thousand_calls_at_once_all_end)
{
	struct completions done = { 0 };
	struct kustos_client_stats stats;
	uint64_t most = 0;
	int connects;

	check_err(create("/n", "x", 1, 0), KUSTOS_OK);
	connects = inject_sent(ZK_OP_CONNECT);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_GET, 1);
	for (int i = 0; i < CALLS; i++)
		check_err(kustos_get_async(client, "/n", KUSTOS_FOREVER, NULL,
				  count_completion, &done),
			KUSTOS_OK);
	test_eventually(inject_fired() == 1, 2000);
	stats = client_stats(client);
	ck_assert_uint_le(stats.pending, IN_FLIGHT_MAX + OWN_REQUESTS);
	ck_assert_uint_ge(stats.pending + stats.waiting, CALLS);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_GET), IN_FLIGHT_MAX);
	inject_release();
	while (completions_of(&done) < CALLS) {
		stats = client_stats(client);
		if (stats.pending > most)
			most = stats.pending;
		test_pause_1ms();
	}
	ck_assert_uint_le(most, IN_FLIGHT_MAX + OWN_REQUESTS);
	ck_assert_int_eq(completions_of(&done), CALLS);
	ck_assert_int_eq(done.failed, 0);
	stats = client_stats(client);
	ck_assert_int_eq(inject_sent(ZK_OP_CONNECT), connects);
	ck_assert_uint_eq(stats.disconnects, 0);
	/* The client may send a request of its own at any time. */
	ck_assert_uint_le(stats.pending, OWN_REQUESTS);
	ck_assert_uint_eq(stats.waiting, 0);
}
END_TEST

/* Return the milliseconds that the operation takes. */
static int64_t take(enum kustos_err wanted, kustos_deadline deadline, int what)
{
	int64_t start = test_now_ms();
	struct kustos_op op = { .kind = KUSTOS_OP_DELETE,
		.path = "/n",
		.version = -1 };
	enum kustos_err err = KUSTOS_OK;

	switch (what) {
	case 0:
		err = kustos_get(client, "/n", deadline, NULL, NULL, NULL,
			NULL);
		break;
	case 1:
		err = kustos_create(client, "/n", NULL, 0,
			KUSTOS_CREATE_PROTECTED | KUSTOS_CREATE_PARENTS,
			deadline, NULL, NULL, NULL);
		break;
	case 2:
		err = kustos_multi(client, &op, 1, deadline, NULL, NULL);
		break;
	case 3:
		err = kustos_client_flush(client, deadline, NULL);
		break;
	default:
		err = kustos_sync(client, "/", deadline, NULL);
	}
	check_err(err, wanted);
	return test_now_ms() - start;
}

START_TEST(L30_a_deadline_ends_every_call_though_the_server_is_silent)
{
	struct completions done = { 0 };
	int64_t start, ms;

	ck_assert_int_eq(server_pause(fixture_server()), 0);
	start = test_now_ms();
	check_err(kustos_get_async(client, "/n", kustos_after_ms(400), NULL,
			  count_completion, &done),
		KUSTOS_OK);
	for (int what = 0; what < 5; what++) {
		ms = take(KUSTOS_ETIMEDOUT, kustos_after_ms(60), what);
		ck_assert_int_ge(ms, 60);
		ck_assert_int_lt(ms, 5000);
	}
	test_eventually(completions_of(&done) == 1, 2000);
	ck_assert_int_ge(test_now_ms() - start, 400);
	ck_assert_int_lt(test_now_ms() - start, 8000);
	ck_assert_int_eq(done.err, KUSTOS_ETIMEDOUT);
	server_resume(fixture_server());
	client_wait(client, KUSTOS_STATE_CONNECTED, 10000);
}
END_TEST

START_TEST(L30_a_cancel_ends_every_call_though_the_server_is_silent)
{
	struct kustos_cancel *cancel;
	struct completions done = { 0 };

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ck_assert_int_eq(server_pause(fixture_server()), 0);
	for (int i = 0; i < 10; i++)
		check_err(kustos_get_async(client, "/n", KUSTOS_FOREVER, cancel,
				  count_completion, &done),
			KUSTOS_OK);
	kustos_cancel_fire(cancel);
	test_eventually(completions_of(&done) == 10, 1000);
	ck_assert_int_eq(done.failed, 10);
	ck_assert_int_eq(done.err, KUSTOS_ECANCELED);
	check_err(kustos_get(client, "/n", KUSTOS_FOREVER, cancel, NULL, NULL,
			  NULL),
		KUSTOS_ECANCELED);
	server_resume(fixture_server());
	client_wait(client, KUSTOS_STATE_CONNECTED, 10000);
	ck_assert_int_eq(completions_of(&done), 10);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* Descriptors below this one may be in use. */
static void limit_descriptors(rlim_t end)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = end < limit.rlim_max ? end : limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(P05_a_client_that_finds_no_descriptors_leaves_nothing_behind)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	int fds = fd_count(), threads = thread_count_before();
	int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
	enum kustos_err err = KUSTOS_ENOMEM;
	rlim_t more;

	ck_assert_int_ge(lowest, 0);
	close(lowest);
	o.dispatch = _i == 0 ? KUSTOS_DISPATCH_THREAD : KUSTOS_DISPATCH_FD;
	for (more = 0; err != KUSTOS_OK && more < 10; more++) {
		struct kustos_client *c = NULL;

		limit_descriptors((rlim_t)lowest + more);
		err = kustos_client_open(&o, &c);
		limit_descriptors(RLIM_INFINITY);
		if (err != KUSTOS_OK) {
			check_err(err, KUSTOS_ENOMEM);
			ck_assert_ptr_null(c);
		} else {
			client_wait(c, KUSTOS_STATE_CONNECTED, 10000);
			client_drop(c);
		}
		test_eventually(fd_count() == fds, 1000);
		test_eventually(thread_count() == threads, 1000);
	}
	/* A timer, and one more with callbacks as events. */
	ck_assert_uint_ge(more, _i == 0 ? 2 : 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("limits");
	TCase *t = fixture_case(s, "limits", 60);
	/* Another client would open and close descriptors of its own. */
	TCase *alone = fixture_case(s, "descriptors", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, L24_what_exceeds_a_frame_is_refused_and_never_sent);
	tcase_add_test(t, P10_the_paths_of_ephemeral_nodes_are_capped);
	tcase_add_test(t, P10_nodes_that_others_delete_do_not_count_for_ever);
	tcase_add_test(t, P10_nodes_that_are_only_asked_for_count_as_well);
	tcase_add_test(t, L22_a_hundred_thousand_calls_at_once_all_end);
	tcase_add_test(t,
		L30_a_deadline_ends_every_call_though_the_server_is_silent);
	tcase_add_test(t,
		L30_a_cancel_ends_every_call_though_the_server_is_silent);
	tcase_add_loop_test(alone,
		P05_a_client_that_finds_no_descriptors_leaves_nothing_behind, 0,
		2);
	return fixture_main(s);
}
