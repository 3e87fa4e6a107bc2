/*
 * test_zk_send.c - a request that cannot be sent, or not as a whole.
 */
#include "side.h"
#include "support/inject.h"
#include "support/proxy.h"
#include "support/server.h"
#include "support/zkproto.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* A server that answers the first request with much, and is gone.  One read of
   it finds both. */
static int listener;

static void take_frame(int fd, char *frame, size_t size)
{
	char head[4];

	ck_assert_int_eq(recv(fd, head, 4, MSG_WAITALL), 4);
	ck_assert_uint_le((size_t)zk_get32(head), size);
	ck_assert_int_eq(recv(fd, frame, (size_t)zk_get32(head), MSG_WAITALL),
		zk_get32(head));
}

static void *answer_and_go(void *arg)
{
	enum { DATA = 40000, ALL = 4 + 16 + 4 + DATA + 68 };
	static char greeting[41], reply[ALL];
	char frame[4096];
	int fd = accept(listener, NULL, NULL);

	take_frame(fd, frame, sizeof(frame));
	zk_put32(greeting, sizeof(greeting) - 4);
	zk_put32(greeting + 8, TIMEOUT_MS);
	greeting[19] = 1; /* the session */
	zk_put32(greeting + 20, 16);
	ck_assert_int_eq(send(fd, greeting, sizeof(greeting), 0),
		sizeof(greeting));
	take_frame(fd, frame, sizeof(frame));
	zk_put32(reply, ALL - 4);
	memcpy(reply + 4, frame, 4); /* the request's number */
	zk_put32(reply + 20, DATA);
	ck_assert_int_eq(send(fd, reply, ALL, 0), ALL);
	close(fd);
	return arg;
}

/* The descriptors that the program opens when the connection has ended. */
static int fresh[2] = { -1, -1 };

static void open_others(void *arg, enum ku_zk_event event,
	enum ku_zk_state state, const char *path)
{
	on_event(arg, event, state, path);
	if (state == KU_ZK_STATE_CONNECTING && fresh[0] < 0)
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fresh), 0);
}

static void ask_more(void *arg, const struct ku_zk_reply *reply)
{
	struct ku_zk_request request = { .kind = KU_ZK_SYNC,
		.path = "/secret" };

	(void)arg;
	ck_assert_int_eq(reply->rc, KU_ZK_OK);
	ku_zk_library.driving->offer(a.zk);
	ck_assert_int_eq(ku_zk_library.submit(a.zk, &request, on_done, &answer),
		KU_ZK_OK);
}

/* As a client does. */
static void push_and_leave(void *arg)
{
	if (a.zk != NULL)
		ku_zk_library.push(a.zk);
	leave_side(arg);
}

START_TEST(L23_what_is_kept_for_a_connection_goes_nowhere_else)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	struct ku_zk_request request = { .kind = KU_ZK_GET, .path = "/" };
	struct ku_zk_open params = {
		.timeout_ms = TIMEOUT_MS,
		.enter = enter_side,
		.leave = push_and_leave,
		.event = open_others,
		.arg = &a,
	};
	pthread_t server;
	char hosts[32], byte;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, len), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	getsockname(listener, (struct sockaddr *)&at, &len);
	snprintf(hosts, sizeof(hosts), "127.0.0.1:%d", ntohs(at.sin_port));
	params.addresses = hosts;
	pthread_create(&server, NULL, answer_and_go, NULL);
	ku_zk_library.close(a.zk);
	a.zk = NULL;
	a.event_count = 0;
	enter_side(&a);
	ck_assert_int_eq(ku_zk_library.open(NULL, &params, &a.zk), KUSTOS_OK);
	leave_side(&a);
	await_connects(&a, 1);
	memset(&answer, 0, sizeof(answer));
	enter_side(&a);
	ck_assert_int_eq(ku_zk_library.submit(a.zk, &request, ask_more, NULL),
		KU_ZK_OK);
	ku_zk_library.push(a.zk);
	pthread_join(server, NULL);
	leave_side(&a);
	ck_assert_int_eq(await_answer(&answer), KU_ZK_CONNECTIONLOSS);
	for (int i = 0; i < 2; i++) { /* when it has left once more */
		enter_side(&a);
		leave_side(&a);
		test_pause_1ms();
	}
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(recv(fresh[i], &byte, 1, MSG_DONTWAIT), -1);
	close(listener);
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
	tcase_add_test(t, L23_what_is_kept_for_a_connection_goes_nowhere_else);
	tcase_add_test(t, L23_a_move_takes_nothing_along_that_was_half_sent);
#endif
	return fixture_main(s);
}
