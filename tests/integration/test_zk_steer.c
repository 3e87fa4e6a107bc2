/*
 * test_zk_steer.c - moving a handle from server to server, and the probes of
 * servers.
 *
 * One server is behind three proxies with three addresses.
 */
#define _GNU_SOURCE
#include "side.h"
#include "support/proxy.h"
#include "support/server.h"

#include "hosts.h"
#include "probe.h"
#include "resolve.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct server *server;
static struct proxy *proxies[3];
static char addresses[256];
static struct side a, b;

static void set_up(void)
{
	char ip[16];
	int i;

	addresses[0] = '\0';
	for (i = 0; i < 3; i++) {
		snprintf(ip, sizeof(ip), "127.0.0.%d", i + 1);
		proxies[i] = proxy_start(ip, server_address(server),
			PROXY_ZOOKEEPER);
		ck_assert_ptr_nonnull(proxies[i]);
		snprintf(addresses + strlen(addresses),
			sizeof(addresses) - strlen(addresses), "%s%s",
			i ? "," : "", proxy_address(proxies[i]));
	}
}

static void tear_down(void)
{
	int i;

	for (i = 0; i < 3; i++)
		proxy_free(proxies[i]);
}

/* Return the number of the proxy that the handle is connected to. */
static int place(struct side *side)
{
	int i;

	look_side(side);
	for (i = 0; i < 3; i++)
		if (!strcmp(side->session.server, proxy_address(proxies[i])))
			return i;
	return -1;
}

START_TEST(L04_a_kick_moves_the_session_at_once)
{
	int64_t id, begin;
	int before;

	open_side(&a, addresses);
	await_connects(&a, 1);
	id = a.session.id;
	before = place(&a);
	ck_assert_int_eq(a.session.timeout_ms, TIMEOUT_MS);
	proxy_set_mode(proxies[before], PROXY_HOLE);
	ck_assert_int_eq(submit(&a,
				 (struct ku_zk_request){ .kind = KU_ZK_SYNC,
					 .path = "/" }),
		KU_ZK_OK);
	begin = test_now_ms();
	ck_assert(kick_side(&a));
	ck_assert_int_eq(await_answer(&answer), KU_ZK_CONNECTIONLOSS);
	await_connects(&a, 2);
	/* The library alone would take 2/3 of the timeout to notice. */
	ck_assert_int_lt(test_now_ms() - begin, TIMEOUT_MS / 6);
	ck_assert_int_ne(place(&a), before);
	ck_assert(a.session.id == id);
	ck_assert_int_eq(count_events(&a, KU_ZK_EVENT_SESSION,
				 KU_ZK_STATE_CONNECTING, ""),
		1);
	ku_zk_library.close(a.zk);
}
END_TEST

START_TEST(a_kick_spares_other_clients_and_the_programs_own_sockets)
{
	const char *one = proxy_address(proxies[0]);
	int own = net_connect(one, PATIENCE_MS);
	char nothing;

	ck_assert_int_ge(own, 0);
	open_side(&a, one);
	await_connects(&a, 1);
	open_side(&b, one);
	await_connects(&b, 1);
#ifndef KU_EMBEDDED
	/* Nothing was sent, so the three sockets cannot be told apart. */
	ck_assert(!kick_side(&b));
	ASK(&b, .kind = KU_ZK_SYNC, .path = "/");
#endif
	ck_assert(kick_side(&b));
	await_connects(&b, 2);
	ASK(&a, .kind = KU_ZK_SYNC, .path = "/");
	ck_assert_int_eq(a.event_count, 1);
	ck_assert_int_eq(recv(own, &nothing, 1, MSG_DONTWAIT), -1);
	close(own);
	ku_zk_library.close(a.zk);
	ku_zk_library.close(b.zk);
}
END_TEST

#ifndef KU_EMBEDDED
/* Wait until the handle is in this state. */
static void await_state(struct side *side, enum ku_zk_state state)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	do {
		ck_assert_int_lt(test_now_ms(), end);
		look_side(side);
	} while (side->session.state != state);
}
#endif

/* libzookeeper_mt moves without an event, and with the next request. */
START_TEST(L23_a_handle_that_is_steered_moves)
{
	int64_t id;
	int to;
#ifdef KU_EMBEDDED
	const int disconnects = 1;
#else
	const int disconnects = 0;
#endif

	open_side(&a, addresses);
	await_connects(&a, 1);
	id = a.session.id;
	to = (place(&a) + 1) % 3;
	steer_side(&a, proxy_address(proxies[to]), true);
#ifdef KU_EMBEDDED
	await_connects(&a, 2);
#else
	await_state(&a, KU_ZK_STATE_CONNECTING);
	ck_assert_int_eq(a.event_count, 1);
#endif
	ck_assert_int_eq(ASK(&a, .kind = KU_ZK_SYNC, .path = "/"), KU_ZK_OK);
	ck_assert_int_eq(place(&a), to);
	ck_assert(a.session.id == id);
	ck_assert_int_eq(a.event_count, 2 + disconnects);
	await_connects(&a, 2);
	ku_zk_library.close(a.zk);
}
END_TEST

/* The handle tries a server that swallows everything, and the third one
   refuses. */
START_TEST(L04_a_handle_that_waits_for_a_dead_server_is_steered_away)
{
	int64_t id, begin;
	int from, to, err;

	open_side(&a, addresses);
	await_connects(&a, 1);
	id = a.session.id;
	from = place(&a);
	to = (from + 1) % 3;
	steer_side(&a, proxy_address(proxies[from]), false);
	ck_assert_int_eq(a.event_count, 1);
	proxy_set_mode(proxies[from], PROXY_HOLE);
	proxy_set_mode(proxies[(from + 2) % 3], PROXY_REFUSE);
	ck_assert(kick_side(&a));
	await_event(&a, KU_ZK_EVENT_SESSION, KU_ZK_STATE_CONNECTING, "", 1);
	begin = test_now_ms();
	steer_side(&a, proxy_address(proxies[to]), true);
	/* When a try that is under way ends, its requests end with it. */
	do {
		ck_assert_int_lt(test_now_ms() - begin, TIMEOUT_MS / 6);
		err = ASK(&a, .kind = KU_ZK_SYNC, .path = "/");
	} while (err == KU_ZK_CONNECTIONLOSS);
	ck_assert_int_eq(err, KU_ZK_OK);
	ck_assert_int_lt(test_now_ms() - begin, TIMEOUT_MS / 6);
	ck_assert_int_eq(place(&a), to);
	ck_assert(a.session.id == id);
	ku_zk_library.close(a.zk);
}
END_TEST

/* A multi might end the process if the session ended meanwhile. */
START_TEST(P04_a_multi_is_not_accepted_while_disconnected)
{
	open_side(&a, "127.0.0.1:1");
	ck_assert_int_eq(submit(&a,
				 (struct ku_zk_request){ .kind = KU_ZK_MULTI,
					 .path = "/" }),
		KU_ZK_CONNECTIONLOSS);
	ck_assert(!kick_side(&a));
	ku_zk_library.close(a.zk);
}
END_TEST

START_TEST(L04_probes_find_the_live_server_among_dead_ones)
{
	struct ku_probe probe = { 0, NULL };
	struct pollfd fds[KU_PROBE_MAX];
	struct ku_addresses list;
	struct ku_hosts hosts;
	char why[KU_HOSTS_WHY];
	int n;

	proxy_set_mode(proxies[0], PROXY_HOLE);
	proxy_set_mode(proxies[1], PROXY_REFUSE);
	snprintf(addresses, sizeof(addresses), "%s,%s,%s",
		proxy_address(proxies[0]), proxy_address(proxies[1]),
		server_address(server));
	ck_assert_int_eq(ku_hosts_parse(&hosts, addresses, why), KUSTOS_OK);
	ck_assert(ku_resolve_numeric(&hosts, &list));
	ck_assert_int_eq(ku_probe_start(&probe, &list), KUSTOS_OK);
	while (ku_probe_verdict(&probe, 1) == KU_PROBE_UNKNOWN ||
		ku_probe_verdict(&probe, 2) == KU_PROBE_UNKNOWN) {
		n = ku_probe_poll(&probe, fds);
		ck_assert_int_gt(poll(fds, (nfds_t)n, PATIENCE_MS), 0);
		ku_probe_step(&probe, fds, n);
	}
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), KU_PROBE_UNKNOWN);
	ck_assert_int_eq(ku_probe_verdict(&probe, 1), KU_PROBE_REFUSED);
	ck_assert_int_eq(ku_probe_verdict(&probe, 2), KU_PROBE_LIVE);
	ku_probe_stop(&probe);
	ku_addresses_free(&list);
	ku_hosts_free(&hosts);
}
END_TEST

int main(void)
{
	const char *missing = server_missing();
	Suite *suite = suite_create("zk_steer");
	TCase *tcase = tcase_create("moves");
	SRunner *runner;
	int failed;

	if (missing) {
		fprintf(stderr, "skipped: %s\n", missing);
		return 77;
	}
	server = server_start(NULL);
	if (!server)
		return 1;
	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, L04_a_kick_moves_the_session_at_once);
	tcase_add_test(tcase,
		a_kick_spares_other_clients_and_the_programs_own_sockets);
	tcase_add_test(tcase, L23_a_handle_that_is_steered_moves);
	tcase_add_test(tcase,
		L04_a_handle_that_waits_for_a_dead_server_is_steered_away);
	tcase_add_test(tcase, P04_a_multi_is_not_accepted_while_disconnected);
	tcase_add_test(tcase, L04_probes_find_the_live_server_among_dead_ones);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_VERBOSE);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	server_free(server);
	return failed != 0;
}
