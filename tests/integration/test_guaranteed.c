/*
 * test_guaranteed.c - the guaranteed delete: it is retried until it is
 * confirmed, and never deletes a newer node of the same name.  The proxy loses
 * requests or replies of the delete, and another session replaces the node.
 */
#include "client_fixture.h"
#include "inject.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <errno.h>
#include <string.h>

#define T_MS 10000

static struct proxy *proxy;
static struct kustos_client *client;
static enum proxy_fault fault; /* of each delete, faults_left times */
static int faults_left;

/* Runs before the request is retried, so that the retry is lost, too. */
static void rearm(void *arg, const struct kustos_request *request)
{
	(void)arg;
	if (strcmp(request->operation, "delete") == 0 &&
		request->result != KUSTOS_OK && --faults_left > 0)
		proxy_arm(proxy, fault, ZK_OP_DELETE, 1);
}

static void set_up(void)
{
	struct kustos_client_options o;

	inject_reset();
	faults_left = 0;
	proxy = fixture_proxy();
	o = client_options(proxy_address(proxy), T_MS);
	o.on_request = rearm;
	client = client_open_with(&o);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
}

static void tear_down(void)
{
	inject_reset();
	proxy_set_mode(proxy, PROXY_PASS);
	if (client != NULL)
		client_close(client);
	proxy_free(proxy);
}

static bool is_there(const char *path)
{
	int rc = raw_exists(fixture_address(), path, NULL);

	ck_assert(rc == 0 || rc == RAW_NONODE);
	return rc == 0;
}

static void remove_later(const char *path, int64_t czxid)
{
	ck_assert_int_eq(kustos_delete_guaranteed(client, path, czxid),
		KUSTOS_OK);
}

static void flush(void)
{
	ck_assert_int_eq(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
}

/* Cut the client off until come_back(). */
static void suspend(void)
{
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
}

/* Let the client reconnect, and wait until the delete is done. */
static void come_back(void)
{
	inject_connect(0);
	flush();
}

/* Somebody else replaces the node while the client is cut off. */
static int64_t replace(const char *path)
{
	struct raw_stat stat;

	if (is_there(path))
		ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	ck_assert_int_eq(raw_create(fixture_address(), path, "new"), 0);
	ck_assert_int_eq(raw_exists(fixture_address(), path, &stat), 0);
	return stat.czxid;
}

static void check_spared(const char *path, int64_t newer)
{
	struct raw_stat stat;

	ck_assert_int_eq(raw_exists(fixture_address(), path, &stat), 0);
	ck_assert_int_eq(stat.czxid, newer);
}

static const enum proxy_fault faults[] = { PROXY_LOSE_REPLY,
	PROXY_LOSE_REQUEST };

START_TEST(L05_a_guaranteed_delete_is_replayed_until_it_is_confirmed)
{
	int64_t czxid = client_create(client, "/g", 0);
	/* A delete that was applied is not sent again. */
	int times = _i == 0 ? 1 : 6;

	fault = faults[_i];
	faults_left = times;
	proxy_arm(proxy, fault, ZK_OP_DELETE, 1);
	remove_later("/g", czxid);
	flush();
	ck_assert_int_eq(proxy_fired(proxy), times);
	ck_assert(!is_there("/g"));
	ck_assert_uint_eq(client_stats(client).sessions, 1);
}
END_TEST

START_TEST(L05_a_guaranteed_delete_made_while_suspended_is_sent_later)
{
	int64_t czxid = client_create(client, "/g", 0);

	suspend();
	remove_later("/g", czxid);
	ck_assert_int_eq(kustos_client_flush(client, kustos_after_ms(50), NULL),
		KUSTOS_ETIMEDOUT);
	come_back();
	ck_assert(!is_there("/g"));
}
END_TEST

START_TEST(L05_a_guaranteed_delete_outlives_the_clients_close)
{
	int64_t czxid = client_create(client, "/g", 0);

	proxy_arm(proxy, PROXY_LOSE_REQUEST, ZK_OP_DELETE, 1);
	remove_later("/g", czxid);
	client_close(client);
	ck_assert(!is_there("/g"));
	client = NULL;
}
END_TEST

START_TEST(S10_a_late_retry_spares_a_newer_node)
{
	int64_t newer, czxid = client_create(client, "/g", 0);

	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, faults[_i], ZK_OP_DELETE, 1);
	remove_later("/g", czxid);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	newer = replace("/g");
	come_back();
	check_spared("/g", newer);
}
END_TEST

/* The first try may be late, too, not only a retry. */
START_TEST(S10_a_first_try_that_had_to_wait_spares_a_newer_node)
{
	int64_t newer, czxid = client_create(client, "/g", 0);

	suspend();
	remove_later("/g", czxid);
	newer = replace("/g");
	come_back();
	check_spared("/g", newer);
}
END_TEST

/* The look before the delete may be lost as well. */
START_TEST(S10_one_that_has_to_look_twice_spares_a_newer_node)
{
	int64_t newer, czxid = client_create(client, "/g", 0);

	suspend();
	remove_later("/g", czxid);
	newer = replace("/g");
	proxy_arm(proxy, faults[_i], ZK_OP_EXISTS, 1);
	come_back();
	ck_assert_int_eq(proxy_fired(proxy), 1);
	check_spared("/g", newer);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 0);
}
END_TEST

/* A try that has not been sent, because too many requests are in flight, goes
   stale as well. */
START_TEST(S10_one_that_waits_in_the_queue_spares_a_newer_node)
{
	int64_t newer, czxid = client_create(client, "/g", 0);
	struct completions done = { 0 };
	int asked = 0;

	proxy_set_mode(proxy, PROXY_HOLD);
	while (client_stats(client).waiting == 0 && asked++ < 5000)
		ck_assert_int_eq(kustos_exists_async(client, "/g", SOON, NULL,
					 count_completion, &done),
			KUSTOS_OK);
	remove_later("/g", czxid);
	ck_assert_uint_eq(client_stats(client).waiting, 2);
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	proxy_set_mode(proxy, PROXY_PASS);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	newer = replace("/g");
	come_back();
	check_spared("/g", newer);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 0);
	test_eventually(completions_of(&done) == asked, 2000);
}
END_TEST

START_TEST(S10_a_guaranteed_delete_ends_with_its_session)
{
	int64_t id = client_session_id(client);
	int64_t czxid = client_create(client, "/g", 0);

	suspend();
	remove_later("/g", czxid);
	ck_assert_int_eq(raw_kill_session(fixture_address(), id), 0);
	inject_connect(0);
	client_wait_epoch(client, 1, 8000);
	flush();
	ck_assert_int_ne(client_session_id(client), id);
	ck_assert(is_there("/g"));
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 0);
}
END_TEST

START_TEST(a_guaranteed_delete_of_nothing_ends)
{
	remove_later("/none", 1);
	flush();
	ck_assert_uint_eq(client_stats(client).waiting, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guaranteed");
	TCase *t = fixture_case(s, "guaranteed", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t,
		L05_a_guaranteed_delete_is_replayed_until_it_is_confirmed, 0,
		2);
	tcase_add_test(t,
		L05_a_guaranteed_delete_made_while_suspended_is_sent_later);
	tcase_add_test(t, L05_a_guaranteed_delete_outlives_the_clients_close);
	tcase_add_loop_test(t, S10_a_late_retry_spares_a_newer_node, 0, 2);
	tcase_add_test(t, S10_a_first_try_that_had_to_wait_spares_a_newer_node);
	tcase_add_loop_test(t,
		S10_one_that_has_to_look_twice_spares_a_newer_node, 0, 2);
	tcase_add_test(t, S10_one_that_waits_in_the_queue_spares_a_newer_node);
	tcase_add_test(t, S10_a_guaranteed_delete_ends_with_its_session);
	tcase_add_test(t, a_guaranteed_delete_of_nothing_ends);
	return fixture_main(s);
}
