/*
 * test_connect.c - how a client gets its first connection, and how it gets back
 * a connection that was lost without a sign of it; and calls that wait for
 * this.  Servers are stopped or silent, and a proxy drops answers.
 */
#include "client_fixture.h"
#include "deaf.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <kustos/cancel.h>

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Slack for a busy machine, in waits that would never end by themselves. */
#define SLACK_MS 3000

static struct record record;

START_TEST(L16_a_client_may_be_opened_before_its_server)
{
	struct kustos_client *c;
	int64_t start;

	ck_assert_int_eq(server_stop(fixture_server()), 0);
	start = test_now_ms();
	c = client_open(fixture_address(), 20000);
	ck_assert_int_lt(test_now_ms() - start, 5000);
	record_start(&record, c);
	ck_assert_int_eq(kustos_client_state(c), KUSTOS_STATE_CONNECTING);
	ck_assert_int_eq(client_epoch(c), 0);
	ck_assert_int_eq(kustos_client_lease_ms(c), 0);

	start = test_now_ms();
	ck_assert_int_eq(
		kustos_client_wait_connected(c, kustos_after_ms(200), NULL),
		KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(test_now_ms() - start, 200);
	ck_assert_int_lt(test_now_ms() - start, 200 + SLACK_MS);
	start = test_now_ms();
	ck_assert_int_eq(
		kustos_exists(c, "/", kustos_after_ms(200), NULL, NULL),
		KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(test_now_ms() - start, 200);
	ck_assert_int_lt(test_now_ms() - start, 200 + SLACK_MS);
	ck_assert_int_eq(kustos_exists(c, "/", KUSTOS_NOW, NULL, NULL),
		KUSTOS_EDISCONNECTED);

	ck_assert_int_eq(server_restart(fixture_server()), 0);
	ck_assert_int_eq(kustos_client_wait_connected(c,
				 kustos_after_ms(PATIENCE_MS), NULL),
		KUSTOS_OK);
	ck_assert_int_eq(client_epoch(c), 1);
	ck_assert_int_eq(record_count(&record, KUSTOS_STATE_LOST), 0);
	client_close(c);
}
END_TEST

/* A server that accepts connections and never answers. */
struct mute {
	int listener;
	int taken[64];
	int count;
};

static void mute_start(struct mute *m, const char *address)
{
	struct sockaddr_in at;
	int one = 1;

	m->count = 0;
	ck_assert_int_eq(net_parse(address, &at), 0);
	m->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	setsockopt(m->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ck_assert_int_eq(bind(m->listener, (struct sockaddr *)&at, sizeof(at)),
		0);
	ck_assert_int_eq(listen(m->listener, 64), 0);
}

/* Accept a connection, if there is one.  Returns how many there have been. */
static int mute_accept(struct mute *m)
{
	int fd = m->count < 64 ? accept(m->listener, NULL, NULL) : -1;

	if (fd >= 0)
		m->taken[m->count++] = fd;
	return m->count;
}

START_TEST(L15_a_server_that_never_answers_the_handshake_is_left)
{
	struct kustos_client *c;
	struct mute mute;

	ck_assert_int_eq(server_stop(fixture_server()), 0);
	mute_start(&mute, fixture_address());
	c = client_open(fixture_address(), 1000);
	test_eventually(mute_accept(&mute) > 0, 1000);
	/* It retries again and again, although the connection stands. */
	test_eventually(mute_accept(&mute) > 2, 3000);
	ck_assert_int_eq(kustos_client_state(c), KUSTOS_STATE_CONNECTING);
	close(mute.listener);
	ck_assert_int_eq(server_restart(fixture_server()), 0);
	client_wait(c, KUSTOS_STATE_CONNECTED, 2500);
	client_close(c);
	while (mute.count > 0)
		close(mute.taken[--mute.count]);
}
END_TEST

START_TEST(L15_an_unanswered_handshake_does_not_cost_the_session)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 9000);
	int64_t id = client_session_id(c);

	proxy_arm(p, PROXY_DROP_REPLY, ZK_OP_CONNECT, 1);
	proxy_cut(p);
	test_eventually(proxy_fired(p) == 1, 1000);
	client_wait(c, KUSTOS_STATE_CONNECTED, 9000);
	ck_assert(client_session_id(c) == id);
	client_close(c);
	proxy_free(p);
}
END_TEST

/* Nor does it cost the lease where there is no other server: the same server is
   asked again. */
START_TEST(L04_an_unanswered_handshake_does_not_cost_what_is_held)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 12000);
	int64_t epoch = client_session(c).epoch;

	record_start(&record, c);
	proxy_arm(p, PROXY_DROP_REPLY, ZK_OP_CONNECT, 1);
	proxy_cut(p);
	test_eventually(proxy_fired(p) == 1, 1000);
	client_wait(c, KUSTOS_STATE_CONNECTED, 6000);
	ck_assert(client_session(c).epoch == epoch);
	ck_assert_int_eq(record_count(&record, KUSTOS_STATE_LOST), 0);
	client_close(c);
	proxy_free(p);
}
END_TEST

START_TEST(L15_a_session_whose_end_is_not_told_is_replaced)
{
	struct kustos_client *c = deaf_open(fixture_address(), 6000);
	int64_t id;

	client_wait(c, KUSTOS_STATE_CONNECTED, 3000);
	record_start(&record, c);
	id = client_session_id(c);
	deaf_go(1);
	ck_assert_int_eq(raw_kill_session(fixture_address(), id), 0);
	test_eventually(deaf_missed() >= 2, 3000);
	deaf_go(0);
	client_wait_epoch(c, 1, 4000);
	ck_assert(client_session_id(c) != id);
	test_eventually(record_count(&record, KUSTOS_STATE_LOST) == 1, 1000);
	client_close(c);
}
END_TEST

START_TEST(L15_a_reconnect_that_is_not_told_is_found_out)
{
	/* The timeout is longer than a server on a busy machine needs to
	   restart. */
	struct kustos_client *c = deaf_open(fixture_address(), 20000);
	struct completions done = { 0 };
	int64_t id;

	client_wait(c, KUSTOS_STATE_CONNECTED, 3000);
	id = client_session_id(c);
	/* No event says that the connection is gone, nor that it is back. */
	deaf_go(1);
	ck_assert_int_eq(server_kill(fixture_server()), 0);
	test_eventually(deaf_missed() >= 1, 3000);
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	ck_assert_int_eq(server_restart(fixture_server()), 0);
	test_eventually(deaf_missed() >= 2, 3000);
	test_eventually(completions_of(&done) == 1, 4000);
	ck_assert_int_eq(done.err, KUSTOS_OK);
	client_wait(c, KUSTOS_STATE_CONNECTED, 3000);
	ck_assert(client_session_id(c) == id);
	deaf_go(0);
	client_close(c);
}
END_TEST

/* Fires a cancel object once another thread has had time to wait for it. */
struct canceler {
	struct kustos_cancel *cancel;
	int64_t fired_ms;
};

static void *cancel_main(void *arg)
{
	struct canceler *k = arg;

	for (int i = 0; i < 50; i++)
		test_pause_1ms();
	k->fired_ms = test_now_ms();
	kustos_cancel_fire(k->cancel);
	return NULL;
}

typedef enum kustos_err wait_fn(struct kustos_client *client,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* Check what holds for every wait that will not end by itself. */
static void check_endless_wait(struct kustos_client *c, wait_fn *wait)
{
	struct canceler k;
	pthread_t thread;
	int64_t start = test_now_ms();

	ck_assert_int_eq(wait(c, KUSTOS_NOW, NULL), KUSTOS_ETIMEDOUT);
	ck_assert_int_lt(test_now_ms() - start, SLACK_MS);
	start = test_now_ms();
	ck_assert_int_eq(wait(c, kustos_after_ms(100), NULL), KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(test_now_ms() - start, 100);
	ck_assert_int_lt(test_now_ms() - start, 100 + SLACK_MS);

	ck_assert_int_eq(kustos_cancel_create(&k.cancel), KUSTOS_OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, cancel_main, &k), 0);
	ck_assert_int_eq(wait(c, KUSTOS_FOREVER, k.cancel), KUSTOS_ECANCELED);
	pthread_join(thread, NULL);
	ck_assert_int_lt(test_now_ms() - k.fired_ms, SLACK_MS);
	ck_assert_int_eq(wait(c, KUSTOS_FOREVER, k.cancel), KUSTOS_ECANCELED);
	kustos_cancel_destroy(k.cancel);
	ck_assert_int_eq(wait(NULL, KUSTOS_FOREVER, NULL), KUSTOS_EINVAL);
}

START_TEST(wait_connected_ends_by_deadline_or_cancel)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c;

	proxy_set_mode(p, PROXY_REFUSE);
	c = client_open(proxy_address(p), 20000);
	check_endless_wait(c, kustos_client_wait_connected);
	proxy_set_mode(p, PROXY_PASS);
	ck_assert_int_eq(kustos_client_wait_connected(c, KUSTOS_FOREVER, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_client_wait_connected(c, KUSTOS_NOW, NULL),
		KUSTOS_OK);
	client_close(c);
	proxy_free(p);
}
END_TEST

START_TEST(flush_waits_for_answers_until_deadline_or_cancel)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 40000);
	int64_t czxid = client_create(c, "/gone", 0);

	ck_assert_int_eq(
		kustos_client_flush(c, kustos_after_ms(PATIENCE_MS), NULL),
		KUSTOS_OK);
	/* The request has been sent and is not answered; or it cannot even be
	   sent. */
	proxy_set_mode(p, _i == 0 ? PROXY_HOLD : PROXY_REFUSE);
	if (_i == 1)
		client_wait(c, KUSTOS_STATE_SUSPENDED, 1000);
	ck_assert_int_eq(kustos_delete_guaranteed(c, "/gone", czxid),
		KUSTOS_OK);
	check_endless_wait(c, kustos_client_flush);
	ck_assert_int_eq(raw_exists(fixture_address(), "/gone", NULL), 0);
	proxy_set_mode(p, PROXY_PASS);
	ck_assert_int_eq(
		kustos_client_flush(c, kustos_after_ms(PATIENCE_MS), NULL),
		KUSTOS_OK);
	ck_assert_int_eq(raw_exists(fixture_address(), "/gone", NULL),
		RAW_NONODE);
	client_close(c);
	proxy_free(p);
}
END_TEST

/* Passes connections on to the server, one after the other. */
struct relay {
	int listens, stop[2];
};

static bool passed_on(int from, int to)
{
	char bytes[4096];
	ssize_t n = read(from, bytes, sizeof(bytes));

	return n > 0 && net_write(to, bytes, (size_t)n) == 0;
}

static void pass_on(const struct relay *r, int client, int server)
{
	struct pollfd fds[3] = { { client, POLLIN, 0 }, { server, POLLIN, 0 },
		{ r->stop[0], POLLIN, 0 } };

	while (poll(fds, 3, -1) > 0 && fds[2].revents == 0)
		if ((fds[0].revents != 0 && !passed_on(client, server)) ||
			(fds[1].revents != 0 && !passed_on(server, client)))
			break;
}

static void *relay_main(void *arg)
{
	const struct relay *r = arg;
	struct pollfd fds[2] = { { r->listens, POLLIN, 0 },
		{ r->stop[0], POLLIN, 0 } };

	while (poll(fds, 2, -1) > 0 && fds[1].revents == 0) {
		int client = accept(r->listens, NULL, NULL);
		int server = net_connect(fixture_address(), PATIENCE_MS);

		pass_on(r, client, server);
		close(client);
		close(server);
	}
	return NULL;
}

/* Return the port at ::1 on which the relay listens, or 0 on a machine without
   IPv6. */
static int relay_start(struct relay *r)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	socklen_t len = sizeof(a);

	r->listens = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (r->listens < 0 ||
		bind(r->listens, (struct sockaddr *)&a, sizeof(a)) != 0)
		return 0;
	ck_assert_int_eq(listen(r->listens, 5), 0);
	ck_assert_int_eq(getsockname(r->listens, (struct sockaddr *)&a, &len),
		0);
	ck_assert_int_eq(pipe(r->stop), 0);
	return ntohs(a.sin6_port);
}

/* The ZooKeeper library must get the address without the brackets. */
START_TEST(a_server_with_an_address_of_IPv6_is_reached)
{
	struct relay relay;
	int port = relay_start(&relay);
	pthread_t thread;
	char hosts[64];

	if (port == 0)
		return; /* the machine has no IPv6 */
	ck_assert_int_eq(pthread_create(&thread, NULL, relay_main, &relay), 0);
	snprintf(hosts, sizeof(hosts), "[::1]:%d", port);
	struct kustos_client *c = client_connected(hosts, 20000);
	client_close(c);
	close(relay.stop[1]);
	pthread_join(thread, NULL);
	close(relay.stop[0]);
	close(relay.listens);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("connect");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_test(t, L16_a_client_may_be_opened_before_its_server);
	tcase_add_test(t,
		L15_a_server_that_never_answers_the_handshake_is_left);
	tcase_add_test(t,
		L15_an_unanswered_handshake_does_not_cost_the_session);
	tcase_add_test(t,
		L04_an_unanswered_handshake_does_not_cost_what_is_held);
	tcase_add_test(t, L15_a_session_whose_end_is_not_told_is_replaced);
	tcase_add_test(t, L15_a_reconnect_that_is_not_told_is_found_out);
	tcase_add_test(t, wait_connected_ends_by_deadline_or_cancel);
	tcase_add_test(t, a_server_with_an_address_of_IPv6_is_reached);
	tcase_add_loop_test(t, flush_waits_for_answers_until_deadline_or_cancel,
		0, 2);
	return fixture_main(s);
}
