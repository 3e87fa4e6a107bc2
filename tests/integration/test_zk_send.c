/*
 * test_zk_send.c - a request that cannot be sent, or not as a whole.
 */
#include "side.h"
#include "support/inject.h"
#include "support/proxy.h"
#include "support/server.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

static struct side a;

static void set_up(void)
{
	inject_reset();
	open_side(&a, fixture_address());
	await_connects(&a, 1);
}

static void tear_down(void)
{
	inject_reset();
	ku_zk_library.close(a.zk);
}

/* The library alone, without threads, would close its socket and say nothing. */
START_TEST(L01_a_send_that_fails_ends_the_connection_with_an_event)
{
	inject_frame(INJECT_FAIL_SEND, ZK_OP_SYNC, 1);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_SYNC, .path = "/"),
		KU_ZK_CONNECTIONLOSS);
	ck_assert_int_eq(inject_fired(), 1);
	await_connects(&a, 2);
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_SYNC, .path = "/"), KU_ZK_OK);
	ck_assert_int_eq(count_events(&a, KU_ZK_EVENT_SESSION,
				 KU_ZK_STATE_CONNECTING, ""),
		1);
	ck_assert_int_eq(count_events(&a, KU_ZK_EVENT_SESSION,
				 KU_ZK_STATE_CONNECTED, ""),
		2);
}
END_TEST

/* Let the sockets that are connected to a server take little. */
static void narrow(void)
{
	int found = 0, least = 1;

	for (int fd = 0; fd < 256; fd++) {
		struct sockaddr_in peer;
		socklen_t len = sizeof(peer);

		if (getpeername(fd, (struct sockaddr *)&peer, &len) != 0 ||
			peer.sin_family != AF_INET)
			continue;
		ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &least,
					 sizeof(least)),
			0);
		found++;
	}
	ck_assert_int_ge(found, 1);
}

/* A third of the timeout would pass if nobody noticed that there is room. */
START_TEST(L22_what_finds_no_room_in_the_socket_is_sent_when_there_is)
{
	enum { SIZE = 1000000 };
	char *data = calloc(1, SIZE);
	struct kustos_acl acl = { KUSTOS_PERM_ALL, "world", "anyone" };
	struct ku_zk_request request = { .kind = KU_ZK_CREATE,
		.path = "/big",
		.data = data,
		.len = SIZE,
		.acl = &acl,
		.acl_count = 1 };
	int64_t begin;

	narrow();
	ck_assert_int_eq(server_pause(fixture_server()), 0);
	ck_assert_int_eq(submit(&a, request), KU_ZK_OK);
	ck_assert_int_eq(server_resume(fixture_server()), 0);
	begin = test_now_ms();
	ck_assert_int_eq(await_answer(&answer), KU_ZK_OK);
	ck_assert_int_lt(test_now_ms() - begin, TIMEOUT_MS / 3);
	ck_assert_int_eq(a.event_count, 1);
	free(data);
}
END_TEST

#ifdef KU_EMBEDDED
/* Where libzookeeper_mt is steered, the rest goes to the next server. */
START_TEST(L23_a_move_takes_nothing_along_that_was_half_sent)
{
	enum { SIZE = 1000000 };
	char *data = calloc(1, SIZE);
	struct ku_zk_request request = { .kind = KU_ZK_SET,
		.path = "/",
		.data = data,
		.len = SIZE,
		.version = -1 };
	struct proxy *other = proxy_start("127.0.0.2", fixture_address(),
		PROXY_ZOOKEEPER);

	narrow();
	memset(&answer, 0, sizeof(answer));
	enter_side(&a);
	ck_assert_int_eq(ku_zk_library.submit(a.zk, &request, on_done, &answer),
		KU_ZK_OK);
	ku_zk_library.push(a.zk);
	ku_zk_library.steer(a.zk, proxy_address(other), true);
	leave_side(&a);
	ck_assert_int_eq(await_answer(&answer), KU_ZK_CONNECTIONLOSS);
	await_connects(&a, 2);
	ck_assert_str_eq(a.session.server, proxy_address(other));
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_SYNC, .path = "/"), KU_ZK_OK);
	ck_assert_int_eq(a.event_count, 3);
	ku_zk_library.close(a.zk);
	proxy_free(other);
	free(data);
	open_side(&a, fixture_address());
}
END_TEST
#endif

int main(void)
{
	Suite *s = suite_create("zk_send");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		L01_a_send_that_fails_ends_the_connection_with_an_event);
	tcase_add_test(t,
		L22_what_finds_no_room_in_the_socket_is_sent_when_there_is);
#ifdef KU_EMBEDDED
	tcase_add_test(t, L23_a_move_takes_nothing_along_that_was_half_sent);
#endif
	return fixture_main(s);
}
