/*
 * test_two_libraries.c - a program that uses libzookeeper_mt itself, whatever
 * Kustos uses below.
 */
#ifndef THREADED
#define THREADED /* libzookeeper_mt's synchronous calls */
#endif
#include "client_fixture.h"

#include <zookeeper/zookeeper.h>

static void ignore(zhandle_t *zh, int type, int state, const char *path,
	void *context)
{
	(void)zh;
	(void)type;
	(void)state;
	(void)path;
	(void)context;
}

START_TEST(P15_a_program_may_use_libzookeeper_mt_beside_us)
{
	struct kustos_client *client;
	zhandle_t *zh;

	zoo_set_debug_level((ZooLogLevel)0);
	zh = zookeeper_init(fixture_address(), ignore, 10000, NULL, NULL, 0);
	ck_assert_ptr_nonnull(zh);
	client = client_connected(fixture_address(), 9000);
	test_eventually(zoo_state(zh) == ZOO_CONNECTED_STATE, 5000);
	client_create(client, "/ours", 0);
	ck_assert_int_eq(zoo_exists(zh, "/ours", 0, NULL), ZOK);
	ck_assert_int_eq(zoo_create(zh, "/theirs", "x", 1, &ZOO_OPEN_ACL_UNSAFE,
				 0, NULL, 0),
		ZOK);
	ck_assert_int_eq(kustos_exists(client, "/theirs", SOON, NULL, NULL),
		KUSTOS_OK);
	client_close(client);
	ck_assert_int_eq(zoo_exists(zh, "/ours", 0, NULL), ZOK);
	ck_assert_int_eq(zookeeper_close(zh), ZOK);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("two libraries");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_test(t, P15_a_program_may_use_libzookeeper_mt_beside_us);
	return fixture_main(s);
}
