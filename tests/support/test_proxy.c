/*
 * test_proxy.c - the proxy tested: each mode, each fault, the counters.
 */
#ifndef THREADED
#define THREADED /* libzookeeper_mt's synchronous calls */
#endif
#include "fixture.h"
#include "proxy.h"
#include "raw.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#define QUIET_MS 200 /* nothing for so long counts as silence */

static struct proxy *proxy;
static const char *at;	   /* the proxy's address */
static const char *direct; /* the server's own */

static void start_proxy(void)
{
	direct = fixture_address();
	proxy = proxy_start("127.0.0.7", direct, PROXY_ZOOKEEPER);
	ck_assert_ptr_nonnull(proxy);
	at = proxy_address(proxy);
}

static void stop_proxy(void)
{
	proxy_free(proxy);
}

static struct raw *open_session(void)
{
	struct raw *raw = raw_open(at, PATIENCE_MS);

	ck_assert_ptr_nonnull(raw);
	return raw;
}

static int create(struct raw *raw, const char *path)
{
	return raw_do_create(raw, path, "data", RAW_PERSISTENT, NULL, 0);
}

/* Send a creation that must not be answered.  On a busy machine an answer could
   come after this has waited; then raw_passed_over() would show it. */
static void create_unheard(struct raw *raw, const char *path)
{
	raw_set_patience(raw, QUIET_MS);
	ck_assert_int_eq(create(raw, path), RAW_BROKEN);
	raw_set_patience(raw, PATIENCE_MS);
}

START_TEST(pass_carries_everything_and_counts_requests)
{
	struct raw *raw = open_session();
	char text[64];

	ck_assert_int_eq(create(raw, "/a"), 0);
	ck_assert_int_eq(create(raw, "/b"), 0);
	ck_assert_int_eq(raw_do_exists(raw, "/a", NULL), 0);
	ck_assert_int_eq(raw_do_ping(raw), 0);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE), 2);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_EXISTS), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_PING), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CONNECT), 1);
	ck_assert_int_eq(proxy_count(proxy, PROXY_ANY), 3);
	ck_assert_int_eq(proxy_accepted(proxy), 1);
	ck_assert_int_eq(proxy_open(proxy), 1);
	ck_assert_uint_gt(fourletter(at, "ruok", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "imok");
	proxy_reset_counts(proxy);
	raw_close(raw);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CLOSE), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE), 0);
	test_eventually(proxy_open(proxy) == 0, 2000);
}
END_TEST

START_TEST(large_frames_pass_whole)
{
	static char big[900001];
	struct raw *raw = open_session();
	static char back[sizeof(big)];

	memset(big, 'z', sizeof(big) - 1);
	ck_assert_int_eq(
		raw_do_create(raw, "/big", big, RAW_PERSISTENT, NULL, 0), 0);
	ck_assert_int_eq(raw_do_get(raw, "/big", back, sizeof(back), NULL), 0);
	ck_assert(strcmp(big, back) == 0);
	raw_close(raw);
}
END_TEST

START_TEST(cut_ends_what_is_open_and_takes_what_comes)
{
	struct raw *raw = open_session();

	proxy_cut(proxy);
	ck_assert_int_eq(proxy_open(proxy), 0);
	ck_assert_int_eq(raw_do_exists(raw, "/", NULL), RAW_BROKEN);
	raw_abandon(raw);
	ck_assert_int_eq(raw_exists(at, "/", NULL), 0);
}
END_TEST

START_TEST(refuse_lets_nobody_in)
{
	struct raw *raw = open_session();

	proxy_set_mode(proxy, PROXY_REFUSE);
	ck_assert_int_eq(raw_do_exists(raw, "/", NULL), RAW_BROKEN);
	ck_assert_int_lt(net_connect(at, PATIENCE_MS), 0);
	proxy_set_mode(proxy, PROXY_PASS);
	ck_assert_int_eq(raw_exists(at, "/", NULL), 0);
	raw_abandon(raw);
}
END_TEST

START_TEST(hole_swallows_both_ways_and_also_the_end)
{
	struct raw *before = open_session();
	struct pollfd during = { -1, POLLIN, 0 };
	char c;

	proxy_set_mode(proxy, PROXY_HOLE);
	create_unheard(before, "/lost");
	test_eventually(proxy_lost(proxy) == 1, 2000);
	during.fd = net_connect(at, PATIENCE_MS);
	ck_assert_int_ge(during.fd, 0);
	ck_assert_int_eq(net_write(during.fd, "ruok", 4), 0);
	test_eventually(proxy_lost(proxy) == 2, 2000);
	ck_assert_int_eq(poll(&during, 1, QUIET_MS), 0); /* no end, either */
	ck_assert_int_eq(raw_exists(direct, "/lost", NULL), RAW_NONODE);
	proxy_set_mode(proxy, PROXY_PASS);
	ck_assert_int_eq(read(during.fd, &c, 1), 0);
	close(during.fd);
	ck_assert_int_eq(raw_do_exists(before, "/lost", NULL), RAW_BROKEN);
	raw_abandon(before);
	ck_assert_int_eq(raw_exists(at, "/lost", NULL), RAW_NONODE);
}
END_TEST

START_TEST(hold_delivers_later)
{
	struct raw *raw = open_session();

	proxy_set_mode(proxy, PROXY_HOLD);
	create_unheard(raw, "/later");
	ck_assert_int_eq(raw_exists(direct, "/later", NULL), RAW_NONODE);
	proxy_set_mode(proxy, PROXY_PASS);
	test_eventually(raw_exists(direct, "/later", NULL) == 0, 2000);
	ck_assert_int_eq(raw_do_exists(raw, "/later", NULL), 0);
	ck_assert_int_eq(raw_passed_over(raw), 1); /* to the creation */
	raw_close(raw);
}
END_TEST

START_TEST(each_way_is_delayed_by_its_own_time)
{
	struct raw *raw = open_session();
	int64_t start = test_now_ms();
	int64_t took;

	proxy_set_delay(proxy, 60, 0);
	ck_assert_int_eq(create(raw, "/d"), 0);
	took = test_now_ms() - start;
	ck_assert_int_ge(took, 60);
	proxy_set_delay(proxy, 0, 150);
	start = test_now_ms();
	ck_assert_int_eq(raw_do_exists(raw, "/d", NULL), 0);
	took = test_now_ms() - start;
	ck_assert_int_ge(took, 150);
	proxy_set_delay(proxy, 0, 0);
	raw_close(raw);
}
END_TEST

START_TEST(a_lost_reply_leaves_the_request_applied)
{
	struct raw *raw = open_session();

	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE, 2);
	ck_assert_int_eq(create(raw, "/one"), 0);
	ck_assert_int_eq(raw_do_exists(raw, "/one", NULL), 0);
	ck_assert_int_eq(proxy_fired(proxy), 0);
	ck_assert_int_eq(create(raw, "/two"), RAW_BROKEN);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	ck_assert_int_eq(raw_exists(direct, "/two", NULL), 0);
	raw_abandon(raw);
}
END_TEST

START_TEST(a_lost_request_is_not_applied)
{
	struct raw *raw = open_session();

	proxy_arm(proxy, PROXY_LOSE_REQUEST, PROXY_ANY, 2);
	ck_assert_int_eq(create(raw, "/one"), 0);
	ck_assert_int_eq(create(raw, "/two"), RAW_BROKEN);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	ck_assert_int_eq(raw_exists(direct, "/one", NULL), 0);
	ck_assert_int_eq(raw_exists(direct, "/two", NULL), RAW_NONODE);
	raw_abandon(raw);
}
END_TEST

START_TEST(one_reply_is_missing_and_the_next_comes)
{
	struct raw *raw = open_session();

	proxy_arm(proxy, PROXY_DROP_REPLY, ZK_OP_CREATE, 1);
	create_unheard(raw, "/one");
	ck_assert_int_eq(raw_do_exists(raw, "/one", NULL), 0);
	ck_assert_int_eq(raw_passed_over(raw), 0); /* nor was it late */
	ck_assert_int_eq(proxy_fired(proxy), 1);
	raw_close(raw);
}
END_TEST

START_TEST(from_one_reply_on_all_is_kept)
{
	struct raw *raw = open_session();

	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_CREATE, 2);
	ck_assert_int_eq(create(raw, "/one"), 0);
	create_unheard(raw, "/two");
	ck_assert_int_eq(proxy_fired(proxy), 1);
	ck_assert_int_eq(raw_exists(direct, "/two", NULL), 0);
	create_unheard(raw, "/three");
	ck_assert_int_eq(raw_exists(direct, "/three", NULL), RAW_NONODE);
	proxy_set_mode(proxy, PROXY_PASS);
	ck_assert_int_eq(raw_do_exists(raw, "/three", NULL), 0);
	ck_assert_int_eq(raw_passed_over(raw), 2); /* to two creations */
	raw_close(raw);
}
END_TEST

START_TEST(a_handshake_can_be_lost_too)
{
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CONNECT, 1);
	ck_assert_ptr_null(raw_open(at, PATIENCE_MS));
	ck_assert_int_eq(proxy_fired(proxy), 1);
	ck_assert_int_eq(raw_exists(at, "/", NULL), 0);
}
END_TEST

static int events_seen[2]; /* of "/w1" and "/w2" */

static void count_events(zhandle_t *zh, int type, int state, const char *path,
	void *context)
{
	(void)zh;
	(void)state;
	(void)context;
	if (type != ZOO_SESSION_EVENT)
		__atomic_add_fetch(&events_seen[strcmp(path, "/w1") != 0], 1,
			__ATOMIC_SEQ_CST);
}

START_TEST(one_watch_event_is_missing_and_the_next_comes)
{
	zhandle_t *zh;

	zoo_set_debug_level((ZooLogLevel)0);
	zh = zookeeper_init(at, count_events, PATIENCE_MS, NULL, NULL, 0);
	ck_assert_ptr_nonnull(zh);
	test_eventually(zoo_state(zh) == ZOO_CONNECTED_STATE, 5000);
	proxy_arm(proxy, PROXY_DROP_EVENT, 0, 1);
	ck_assert_int_eq(zoo_exists(zh, "/w1", 1, NULL), ZNONODE);
	ck_assert_int_eq(zoo_exists(zh, "/w2", 1, NULL), ZNONODE);
	ck_assert_int_eq(raw_create(direct, "/w1", NULL), 0);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	ck_assert_int_eq(raw_create(direct, "/w2", NULL), 0);
	test_eventually(__atomic_load_n(&events_seen[1], __ATOMIC_SEQ_CST) == 1,
		2000);
	ck_assert_int_eq(__atomic_load_n(&events_seen[0], __ATOMIC_SEQ_CST), 0);
	ck_assert_int_eq(proxy_events(proxy), 2);
	ck_assert_int_eq(zookeeper_close(zh), ZOK);
}
END_TEST

START_TEST(a_server_that_is_down_is_refused_behind_the_proxy)
{
	ck_assert_int_eq(server_kill(fixture_server()), 0);
	ck_assert_ptr_null(raw_open(at, PATIENCE_MS));
	test_eventually(proxy_open(proxy) == 0, 2000);
	ck_assert_int_eq(server_restart(fixture_server()), 0);
	ck_assert_int_eq(raw_exists(at, "/", NULL), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proxy");
	TCase *t = fixture_case(s, "proxy", 30);

	tcase_add_checked_fixture(t, start_proxy, stop_proxy);
	tcase_add_test(t, pass_carries_everything_and_counts_requests);
	tcase_add_test(t, large_frames_pass_whole);
	tcase_add_test(t, cut_ends_what_is_open_and_takes_what_comes);
	tcase_add_test(t, refuse_lets_nobody_in);
	tcase_add_test(t, hole_swallows_both_ways_and_also_the_end);
	tcase_add_test(t, hold_delivers_later);
	tcase_add_test(t, each_way_is_delayed_by_its_own_time);
	tcase_add_test(t, a_lost_reply_leaves_the_request_applied);
	tcase_add_test(t, a_lost_request_is_not_applied);
	tcase_add_test(t, one_reply_is_missing_and_the_next_comes);
	tcase_add_test(t, from_one_reply_on_all_is_kept);
	tcase_add_test(t, a_handshake_can_be_lost_too);
	tcase_add_test(t, one_watch_event_is_missing_and_the_next_comes);
	tcase_add_test(t, a_server_that_is_down_is_refused_behind_the_proxy);
	return fixture_main(s);
}
