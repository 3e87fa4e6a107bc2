/*
 * test_names.c - servers given by name, and a resolver that fails, is slow, or
 * changes its answers.  inject.h replaces the resolver.
 */
#include "client_fixture.h"
#include "support/inject.h"
#include "support/proxy.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#define NAME "zk.kustos.test" /* inject_names() sets its addresses */
#define TIMEOUT_MS 8000
#define SHORT_MS 4800
#define SLOW_MS 20000
#define LONG_MS 12000 /* so long that no busy machine breaks a connection */

static struct proxy *ways[2];

static void open_ways(void)
{
	static const char *const ips[] = { "127.0.0.11", "127.0.0.12" };

	for (int i = 0; i < 2; i++) {
		ways[i] = proxy_start(ips[i], fixture_address(),
			PROXY_ZOOKEEPER);
		ck_assert_ptr_nonnull(ways[i]);
	}
	inject_reset();
	inject_names(proxy_address(ways[0]));
}

static void close_ways(void)
{
	inject_reset();
	proxy_free(ways[0]);
	proxy_free(ways[1]);
}

/* Use the client for two timeouts.  Returns whether its connection lasted, too;
   if so, the resolver must not have been called. */
static bool lives_on(struct kustos_client *client)
{
	uint64_t cuts = client_stats(client).disconnects;
	int calls = inject_names_calls();
	int64_t end = test_now_ms() + 2 * SHORT_MS;

	while (test_now_ms() < end) {
		client_exchange(client);
		test_never(kustos_client_lease_ms(client) == 0, SHORT_MS / 2);
	}
	bool lasted = client_stats(client).disconnects == cuts;
	ck_assert(!lasted || inject_names_calls() == calls);
	return lasted;
}

/* The resolver fails, or is slow, and must not be called.  A busy machine may
   break a connection once. */
START_TEST(S21_a_resolver_that_is_down_does_not_touch_a_session)
{
	struct kustos_client *client = client_connected(NAME, SHORT_MS);
	int64_t id = client_session_id(client);

	ck_assert(client_is_on(client, ways[0]));
	inject_resolver(_i == 0 ? EAI_AGAIN : 0, _i == 0 ? 0 : SLOW_MS);
	ck_assert(lives_on(client) || lives_on(client));
	ck_assert(client_session_id(client) == id);
	client_close(client);
}
END_TEST

START_TEST(S21_a_reconnect_does_not_need_the_resolver)
{
	struct kustos_client *client = client_connected(NAME, TIMEOUT_MS);
	struct kustos_session before = client_session(client);

	inject_names("");
	proxy_cut(ways[0]);
	test_eventually(client_stats(client).disconnects == 1, 1000);
	client_wait(client, KUSTOS_STATE_CONNECTED, 300);
	ck_assert(client_session_id(client) == before.session_id);
	ck_assert(client_epoch(client) == before.epoch);
	client_close(client);
}
END_TEST

START_TEST(L16_names_that_cannot_be_resolved_at_first)
{
	int64_t start = test_now_ms();
	struct kustos_client *client;

	inject_names("");
	client = client_open(NAME, TIMEOUT_MS);
	ck_assert_int_lt(test_now_ms() - start, 5000);
	test_eventually(inject_names_calls() >= 3, 5000);
	ck_assert_int_eq(kustos_client_state(client), KUSTOS_STATE_CONNECTING);
	ck_assert_int_eq(
		kustos_client_wait_connected(client, kustos_after_ms(1), NULL),
		KUSTOS_ETIMEDOUT);
	inject_names(proxy_address(ways[0]));
	client_wait(client, KUSTOS_STATE_CONNECTED, 3000);
	client_exchange(client);
	client_close(client);
}
END_TEST

START_TEST(L16_a_failing_resolver_is_not_pestered)
{
	struct kustos_client *client;

	inject_names("");
	client = client_open(NAME, TIMEOUT_MS);
	test_never(inject_names_calls() > 15, 1500);
	test_eventually(inject_names_calls() >= 2, 1500);
	client_drop(client);
}
END_TEST

START_TEST(L16_a_lookup_without_a_thread_is_made_later)
{
	struct kustos_client *client;

	inject_names("");
	client = client_open(NAME, TIMEOUT_MS);
	test_eventually(inject_names_calls() >= 1, 1000);
	inject_thread(INJECT_PROGRAM, 1);
	int calls = inject_names_calls();
	/* A lookup may have had its thread already. */
	test_within(inject_names_calls() >= calls + 2, PATIENCE_MS);
	inject_names(proxy_address(ways[0]));
	client_wait(client, KUSTOS_STATE_CONNECTED, PATIENCE_MS);
	client_exchange(client);
	client_close(client);
}
END_TEST

START_TEST(L16_a_slow_resolver_holds_up_neither_open_nor_close)
{
	int64_t start = test_now_ms();
	struct kustos_client *client;

	inject_resolver(0, SLOW_MS);
	client = client_open(NAME, TIMEOUT_MS);
	test_eventually(inject_names_calls() == 1, 1000);
	ck_assert_int_eq(
		kustos_client_wait_connected(client, kustos_after_ms(1), NULL),
		KUSTOS_ETIMEDOUT);
	client_drop(client);
	ck_assert_int_lt(test_now_ms() - start, SLOW_MS / 4);
}
END_TEST

/* The old server refuses connections, or swallows all data.  In both cases the
   session survives. */
START_TEST(U08_a_name_that_moved_is_followed)
{
	enum proxy_mode mode = _i == 0 ? PROXY_REFUSE : PROXY_HOLE;
	struct kustos_client *client = client_connected(NAME, TIMEOUT_MS);
	struct kustos_session before = client_session(client);

	client_exchange(client);
	inject_names(proxy_address(ways[1]));
	test_never(!client_is_on(client, ways[0]), 200);
	proxy_set_mode(ways[0], mode);
	test_eventually(client_is_on(client, ways[1]),
		mode == PROXY_REFUSE ? 500 : TIMEOUT_MS * 2 / 3);
	ck_assert(client_session_id(client) == before.session_id);
	ck_assert(client_epoch(client) == before.epoch);
	client_close(client);
}
END_TEST

START_TEST(U08_a_name_that_moves_during_an_outage_is_followed)
{
	struct kustos_client *client = client_connected(NAME, TIMEOUT_MS);

	proxy_set_mode(ways[0], PROXY_REFUSE);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 500);
	test_eventually(inject_names_calls() >= 2, 500);
	inject_names(proxy_address(ways[1]));
	test_eventually(client_is_on(client, ways[1]), TIMEOUT_MS * 3 / 2);
	client_close(client);
}
END_TEST

/* libzookeeper seeds both generators whenever it looks up names, and so when a
   handle is opened; where it is embedded, it has no use of them. */
START_TEST(P02_the_generators_of_the_process_are_its_own)
{
	enum { NUMBERS = 60 };
	long numbers[NUMBERS];
	double fractions[NUMBERS];
	struct kustos_client *client = NULL;

#ifndef KU_EMBEDDED
	client = client_connected(NAME, LONG_MS);
#endif
	srandom(42);
	srand48(42);
	for (int i = 0; i < NUMBERS; i++) {
		numbers[i] = random();
		fractions[i] = drand48();
	}
	srandom(42);
	srand48(42);
	if (client == NULL)
		client = client_connected(NAME, LONG_MS);
	int calls = inject_resolver_calls();
	uint64_t answered = client_stats(client).answered;
	for (int i = 0; i < NUMBERS; i++) {
		ck_assert_int_eq(random(), numbers[i]);
		ck_assert(drand48() == fractions[i]);
		if (i % 6 == 0)
			client_exchange(client);
		test_never(kustos_client_state(client) !=
				KUSTOS_STATE_CONNECTED,
			10);
	}
	test_eventually(client_stats(client).answered > answered + 12, LONG_MS);
	ck_assert_int_eq(inject_resolver_calls(), calls);
	client_close(client);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("names");
	TCase *t = fixture_case(s, "one server, two addresses", 30);

	tcase_add_checked_fixture(t, open_ways, close_ways);
	tcase_add_loop_test(t,
		S21_a_resolver_that_is_down_does_not_touch_a_session, 0, 2);
	tcase_add_test(t, S21_a_reconnect_does_not_need_the_resolver);
	tcase_add_test(t, L16_names_that_cannot_be_resolved_at_first);
	tcase_add_test(t, L16_a_failing_resolver_is_not_pestered);
	tcase_add_test(t, L16_a_lookup_without_a_thread_is_made_later);
	tcase_add_test(t, L16_a_slow_resolver_holds_up_neither_open_nor_close);
	tcase_add_loop_test(t, U08_a_name_that_moved_is_followed, 0, 2);
	tcase_add_test(t, U08_a_name_that_moves_during_an_outage_is_followed);
	tcase_add_test(t, P02_the_generators_of_the_process_are_its_own);
	return fixture_main(s);
}
