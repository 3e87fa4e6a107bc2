/*
 * test_inject.c - the injecting archive tested on the real libzookeeper.
 */
#ifndef THREADED
#define THREADED /* libzookeeper_mt's synchronous calls */
#endif
#include "fixture.h"
#include "inject.h"
#include "raw.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <zookeeper/zookeeper.h>

static zhandle_t *zh;
static int events_seen;

static void watch(zhandle_t *h, int type, int state, const char *path,
	void *context)
{
	(void)h;
	(void)state;
	(void)path;
	(void)context;
	if (type != ZOO_SESSION_EVENT)
		__atomic_add_fetch(&events_seen, 1, __ATOMIC_SEQ_CST);
}

static bool connected(void)
{
	return zoo_state(zh) == ZOO_CONNECTED_STATE;
}

static void open_handle(void)
{
	inject_reset();
	zoo_set_debug_level((ZooLogLevel)0);
	zh = zookeeper_init(fixture_address(), watch, 10000, NULL, NULL, 0);
	ck_assert_ptr_nonnull(zh);
	test_eventually(connected(), 5000);
}

static void close_handle(void)
{
	inject_reset();
	zookeeper_close(zh);
}

static int create(const char *path)
{
	return zoo_create(zh, path, "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
}

START_TEST(a_lost_reply_leaves_the_request_applied)
{
	int64_t id = zoo_client_id(zh)->client_id;

	inject_frame(INJECT_LOSE_REPLY, ZK_OP_CREATE, 2);
	ck_assert_int_eq(create("/one"), ZOK);
	ck_assert_int_eq(inject_fired(), 0);
	ck_assert_int_eq(create("/two"), ZCONNECTIONLOSS);
	ck_assert_int_eq(inject_fired(), 1);
	ck_assert_int_eq(raw_exists(fixture_address(), "/two", NULL), 0);
	test_eventually(connected(), 5000);
	ck_assert_int_eq(zoo_exists(zh, "/two", 0, NULL), ZOK);
	ck_assert(zoo_client_id(zh)->client_id == id);
	ck_assert_int_eq(inject_sent(ZK_OP_CREATE), 2);
}
END_TEST

START_TEST(a_failed_send_leaves_the_request_out)
{
	inject_frame(INJECT_FAIL_SEND, ZK_OP_CREATE, 1);
	ck_assert_int_eq(zoo_exists(zh, "/", 0, NULL), ZOK);
	ck_assert_int_eq(create("/one"), ZCONNECTIONLOSS);
	ck_assert_int_eq(inject_fired(), 1);
	ck_assert_int_eq(raw_exists(fixture_address(), "/one", NULL),
		RAW_NONODE);
	test_eventually(connected(), 5000);
	ck_assert_int_eq(create("/one"), ZOK);
}
END_TEST

static int created_rc = 1;

static void created(int rc, const char *value, const void *data)
{
	(void)value;
	(void)data;
	__atomic_store_n(&created_rc, rc, __ATOMIC_SEQ_CST);
}

START_TEST(a_held_reply_comes_when_released)
{
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_CREATE, 1);
	ck_assert_int_eq(zoo_acreate(zh, "/one", "x", 1, &ZOO_OPEN_ACL_UNSAFE,
				 0, created, NULL),
		ZOK);
	test_eventually(inject_fired() == 1, 5000);
	ck_assert_int_eq(raw_exists(fixture_address(), "/one", NULL), 0);
	ck_assert_int_eq(__atomic_load_n(&created_rc, __ATOMIC_SEQ_CST), 1);
	inject_release();
	test_eventually(__atomic_load_n(&created_rc, __ATOMIC_SEQ_CST) == 0,
		5000);
	ck_assert(connected());
}
END_TEST

START_TEST(one_watch_event_vanishes_and_the_next_comes)
{
	inject_frame(INJECT_DROP_EVENT, 0, 1);
	ck_assert_int_eq(zoo_exists(zh, "/w1", 1, NULL), ZNONODE);
	ck_assert_int_eq(zoo_exists(zh, "/w2", 1, NULL), ZNONODE);
	ck_assert_int_eq(raw_create(fixture_address(), "/w1", NULL), 0);
	test_eventually(inject_fired() == 1, 2000);
	ck_assert_int_eq(raw_create(fixture_address(), "/w2", NULL), 0);
	test_eventually(__atomic_load_n(&events_seen, __ATOMIC_SEQ_CST) > 0,
		2000);
	ck_assert_int_eq(zoo_exists(zh, "/", 0, NULL), ZOK);
	ck_assert_int_eq(__atomic_load_n(&events_seen, __ATOMIC_SEQ_CST), 1);
}
END_TEST

START_TEST(many_frames_of_all_sizes_pass_untouched)
{
	static char big[500000];
	int len = sizeof(big);

	ck_assert_int_eq(zoo_create(zh, "/big", big, len, &ZOO_OPEN_ACL_UNSAFE,
				 0, NULL, 0),
		ZOK);
	for (int i = 0; i < 100; i++) {
		len = sizeof(big);
		ck_assert_int_eq(zoo_get(zh, i % 10 == 0 ? "/big" : "/", 0, big,
					 &len, NULL),
			ZOK);
	}
	ck_assert_int_eq(inject_sent(ZK_OP_GET), 100);
	ck_assert(connected());
}
END_TEST

START_TEST(the_resolver_fails_and_dawdles_on_demand)
{
	struct addrinfo *found = NULL;
	int64_t start = test_now_ms();

	inject_resolver(EAI_AGAIN, 30);
	ck_assert_int_eq(getaddrinfo("localhost", NULL, NULL, &found),
		EAI_AGAIN);
	ck_assert_int_ge(test_now_ms() - start, 30);
	ck_assert_ptr_null(
		zookeeper_init("localhost:1", watch, 1000, NULL, NULL, 0));
	/* At least the one in the line above; the other handle may ask, too. */
	ck_assert_int_ge(inject_resolver_calls(), 2);
	/* No resolver is asked for a numeric address. */
	ck_assert_int_eq(getaddrinfo("127.0.0.1", NULL, NULL, &found), 0);
	freeaddrinfo(found);
	inject_resolver(0, 0);
	ck_assert_int_eq(getaddrinfo("localhost", NULL, NULL, &found), 0);
	freeaddrinfo(found);
}
END_TEST

START_TEST(connect_fails_for_libzookeeper_alone)
{
	inject_connect(ENETUNREACH);
	inject_frame(INJECT_FAIL_SEND, ZK_OP_CREATE, 1);
	ck_assert_int_eq(create("/one"), ZCONNECTIONLOSS);
	ck_assert_int_eq(raw_exists(fixture_address(), "/", NULL), 0);
	ck_assert_int_eq(create("/one"), ZCONNECTIONLOSS);
	ck_assert(!connected());
	inject_connect(0);
	test_eventually(connected(), 5000);
}
END_TEST

static int64_t boot_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

START_TEST(one_clock_jumps_and_the_others_stay)
{
	int64_t boot = boot_ms();
	int64_t now = test_now_ms();

	inject_clock(CLOCK_BOOTTIME, 3600000);
	ck_assert_int_ge(boot_ms() - boot, 3600000);
	ck_assert_int_lt(test_now_ms() - now, 600000);
	ck_assert_int_eq(zoo_exists(zh, "/", 0, NULL), ZOK);
	inject_clock(CLOCK_BOOTTIME, 0);
	ck_assert_int_lt(boot_ms() - boot, 600000);
}
END_TEST

static void *nothing(void *arg)
{
	return arg;
}

START_TEST(the_chosen_thread_cannot_be_made)
{
	pthread_t t;

	inject_thread(INJECT_PROGRAM, 2);
	ck_assert_int_eq(pthread_create(&t, NULL, nothing, NULL), 0);
	pthread_join(t, NULL);
	ck_assert_int_eq(pthread_create(&t, NULL, nothing, NULL), EAGAIN);
	ck_assert_int_eq(pthread_create(&t, NULL, nothing, NULL), 0);
	pthread_join(t, NULL);
}
END_TEST

START_TEST(the_chosen_allocation_of_libzookeeper_fails)
{
	int before = inject_allocs(INJECT_ZOOKEEPER);
	struct ACL_vector acl = ZOO_OPEN_ACL_UNSAFE;
	void *p;

	inject_alloc(INJECT_ZOOKEEPER, 1);
	p = malloc(100); /* not libzookeeper's */
	ck_assert_ptr_nonnull(p);
	free(p);
	ck_assert_ptr_null(
		zookeeper_init("127.0.0.1:1", watch, 1000, NULL, NULL, 0));
	ck_assert_int_gt(inject_allocs(INJECT_ZOOKEEPER), before);
	inject_alloc(INJECT_ZOOKEEPER, 0);
	ck_assert_int_eq(zoo_create(zh, "/ok", "x", 1, &acl, 0, NULL, 0), ZOK);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("inject");
	TCase *t = fixture_case(s, "inject", 30);

	tcase_add_checked_fixture(t, open_handle, close_handle);
	tcase_add_test(t, a_lost_reply_leaves_the_request_applied);
	tcase_add_test(t, a_failed_send_leaves_the_request_out);
	tcase_add_test(t, a_held_reply_comes_when_released);
	tcase_add_test(t, one_watch_event_vanishes_and_the_next_comes);
	tcase_add_test(t, many_frames_of_all_sizes_pass_untouched);
	tcase_add_test(t, the_resolver_fails_and_dawdles_on_demand);
	tcase_add_test(t, connect_fails_for_libzookeeper_alone);
	tcase_add_test(t, one_clock_jumps_and_the_others_stay);
	tcase_add_test(t, the_chosen_thread_cannot_be_made);
	tcase_add_test(t, the_chosen_allocation_of_libzookeeper_fails);
	return fixture_main(s);
}
