/*
 * test_kick.c - a silent connection of a client is broken, and no other socket
 * of the process is, even those to the same server.
 */
#include "client_fixture.h"
#include "support/proxy.h"
#include "support/raw.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMEOUT_MS 9000
#define CLIENTS 2
#define SESSIONS 2
#define READERS 4

static struct proxy *ways[2];
static char hosts[96];
static struct kustos_client *clients[CLIENTS];

/* The program's own sockets to the first proxy: one that does nothing, and
   sessions, each of which a thread uses if they are to be busy. */
static int idle;
static struct raw *sessions[SESSIONS];
static pthread_t users[SESSIONS];
static int stop;

static void open_ways(void)
{
	static const char *const ips[] = { "127.0.0.11", "127.0.0.12" };

	for (int i = 0; i < 2; i++) {
		ways[i] = proxy_start(ips[i], fixture_address(),
			PROXY_ZOOKEEPER);
		ck_assert_ptr_nonnull(ways[i]);
	}
	snprintf(hosts, sizeof(hosts), "%s,%s", proxy_address(ways[0]),
		proxy_address(ways[1]));
}

static void close_ways(void)
{
	proxy_free(ways[0]);
	proxy_free(ways[1]);
}

static bool is_stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_SEQ_CST) != 0;
}

static void *use_session(void *session)
{
	while (!is_stopped() && raw_do_exists(session, "/", NULL) == 0)
		;
	return NULL;
}

/* From now on traffic does not tell which socket is whose: all exchanges take
   equally long and overlap. */
static void make_busy(void)
{
	proxy_set_delay(ways[0], 0, 10);
	for (int i = 0; i < SESSIONS; i++)
		ck_assert_int_eq(pthread_create(&users[i], NULL, use_session,
					 sessions[i]),
			0);
}

/* The program's own sockets and two clients, all to the first proxy.  In this
   order a search for the client's socket meets the wrong ones first. */
static void open_all(bool busy)
{
	idle = net_connect(proxy_address(ways[0]), PATIENCE_MS);
	ck_assert_int_ge(idle, 0);
	for (int i = 0; i < SESSIONS; i++) {
		sessions[i] = raw_open(proxy_address(ways[0]), 60000);
		ck_assert_ptr_nonnull(sessions[i]);
	}
	if (busy)
		make_busy();
	proxy_set_mode(ways[1], PROXY_REFUSE);
	for (int i = 0; i < CLIENTS; i++)
		clients[i] = client_connected(hosts, TIMEOUT_MS);
	proxy_set_mode(ways[1], PROXY_PASS);
	for (int i = 0; i < CLIENTS; i++) {
		client_exchange(clients[i]);
		ck_assert(client_is_on(clients[i], ways[0]));
	}
}

static bool is_whole(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
		errno == EAGAIN;
}

static void make_quiet(void)
{
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < SESSIONS; i++)
		pthread_join(users[i], NULL);
}

static void close_all(void)
{
	for (int i = 0; i < CLIENTS; i++)
		client_close(clients[i]);
	for (int i = 0; i < SESSIONS; i++)
		raw_close(sessions[i]);
	close(idle);
}

/* A hole answers on no socket, but a socket that was shut down would fail at
   once. */
static void check_untouched_in_hole(void)
{
	int64_t start;

	ck_assert(is_whole(idle));
	for (int i = 0; i < SESSIONS; i++) {
		raw_set_patience(sessions[i], 200);
		start = test_now_ms();
		ck_assert_int_eq(raw_do_ping(sessions[i]), RAW_BROKEN);
		ck_assert_int_ge(test_now_ms() - start, 150);
	}
}

/* The second time the clients cannot know which sockets are theirs.  They are
   steered to the other server while requests wait for their answers, which
   costs libzookeeper_mt one more connection. */
START_TEST(B05_two_clients_leave_a_silent_server_and_nothing_else_is_touched)
{
	int64_t ids[CLIENTS];

	open_all(_i == 1);
	for (int i = 0; i < CLIENTS; i++)
		ids[i] = client_session_id(clients[i]);
	if (_i == 1)
		make_quiet();
	proxy_set_mode(ways[0], PROXY_HOLE);
	for (int i = 0; i < CLIENTS; i++)
		test_eventually(client_is_on(clients[i], ways[1]),
			TIMEOUT_MS / 2);
	for (int i = 0; i < CLIENTS; i++) {
		ck_assert(client_session_id(clients[i]) == ids[i]);
		ck_assert_uint_ge(client_stats(clients[i]).disconnects, 1);
		ck_assert_uint_le(client_stats(clients[i]).disconnects, 1 + _i);
	}
	check_untouched_in_hole();
	close_all();
}
END_TEST

static uint64_t disconnects(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CLIENTS; i++)
		sum += client_stats(clients[i]).disconnects;
	return sum;
}

/* One of the two clients gets no more answers, while the server works. */
START_TEST(B05_only_the_silent_connection_of_two_is_broken)
{
	open_all(false);
	proxy_arm(ways[0], PROXY_DROP_REPLY, PROXY_ANY, 1);
	test_eventually(proxy_fired(ways[0]) == 1, TIMEOUT_MS / 4);
	test_never(disconnects() > 0, TIMEOUT_MS / 6);
	test_eventually(disconnects() == 1, TIMEOUT_MS / 2);
	for (int i = 0; i < CLIENTS; i++)
		client_wait(clients[i], KUSTOS_STATE_CONNECTED, 1000);
	test_never(disconnects() > 1, TIMEOUT_MS / 6);
	ck_assert(is_whole(idle));
	for (int i = 0; i < SESSIONS; i++)
		ck_assert_int_eq(raw_do_ping(sessions[i]), 0);
	close_all();
}
END_TEST

/* libzookeeper_mt's own version writes into one buffer for all handles, without
   a lock.  This one is always wrong, so that its use would be noticed. */
struct _zhandle;
const char *zoo_get_current_server(struct _zhandle *handle);
const char *zoo_get_current_server(struct _zhandle *handle)
{
	(void)handle;
	return "somewhere else";
}

/* Threads ask both clients again and again where they are connected. */
static int mistakes, reads;

static void *read_servers(void *arg)
{
	struct kustos_session s = KUSTOS_SESSION_INIT;

	(void)arg;
	while (!is_stopped())
		for (int i = 0; i < CLIENTS; i++) {
			if (kustos_client_session(clients[i], &s) !=
					KUSTOS_OK ||
				(s.server[0] != '\0' &&
					strcmp(s.server,
						proxy_address(ways[i])) != 0))
				__atomic_add_fetch(&mistakes, 1,
					__ATOMIC_SEQ_CST);
			__atomic_add_fetch(&reads, 1, __ATOMIC_SEQ_CST);
		}
	return NULL;
}

START_TEST(P14_each_client_tells_its_own_server)
{
	pthread_t readers[READERS];

	for (int i = 0; i < CLIENTS; i++)
		clients[i] = client_connected(proxy_address(ways[i]),
			TIMEOUT_MS);
	for (int i = 0; i < READERS; i++)
		ck_assert_int_eq(
			pthread_create(&readers[i], NULL, read_servers, NULL),
			0);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < CLIENTS; i++)
			proxy_cut(ways[i]);
		for (int i = 0; i < CLIENTS; i++)
			test_eventually(client_stats(clients[i]).disconnects >
						(uint64_t)round &&
					client_is_on(clients[i], ways[i]),
				TIMEOUT_MS);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	ck_assert_int_eq(mistakes, 0);
	ck_assert_int_gt(reads, 1000);
	for (int i = 0; i < CLIENTS; i++)
		client_close(clients[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kick");
	TCase *t = fixture_case(s, "one server, two addresses", 30);

	tcase_add_checked_fixture(t, open_ways, close_ways);
	tcase_add_loop_test(t,
		B05_two_clients_leave_a_silent_server_and_nothing_else_is_touched,
		0, 2);
	tcase_add_test(t, B05_only_the_silent_connection_of_two_is_broken);
	tcase_add_test(t, P14_each_client_tells_its_own_server);
	return fixture_main(s);
}
