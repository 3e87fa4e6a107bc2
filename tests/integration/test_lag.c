/*
 * test_lag.c - a follower lags behind, so a read might miss what is known
 * already: after a creation whose reply was lost, in a new session, and in a
 * new handle.
 */
#include "client_fixture.h"
#include "ensemble.h"
#include "inject.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <errno.h>
#include <stdio.h>

#define DELAY_MS 250
#define T_MS 12000

/*
 * A creation, as a follower sees it:
 *
 *	0          to the leader
 *	DELAY      proposed; the follower acknowledges it
 *	2 DELAY    the leader, whose other follower sleeps, commits it
 *
 * The connection is lost before DELAY and comes back, and the leader confirms
 * the session before the commit.  The search must not end before the commit.
 */
START_TEST(S07_a_creation_lost_in_a_slow_ensemble_leaves_one_node)
{
	struct ensemble *e = ensemble_start(NULL, true);
	struct kustos_client *client;
	struct proxy *proxy;
	struct completions done = { 0 };
	char address[64];

	ck_assert_ptr_nonnull(e);
	ck_assert_int_eq(ensemble_leader(e), 2);
	inject_reset();
	proxy = proxy_start("127.0.0.1", server_address(ensemble_server(e, 0)),
		PROXY_ZOOKEEPER);
	snprintf(address, sizeof(address), "%s", proxy_address(proxy));
	client = client_connected(address, T_MS);
	client_create(client, "/p", 0);
	server_pause(ensemble_server(e, 1));
	proxy_set_delay(ensemble_lag(e), DELAY_MS, 0);
	proxy_reset_counts(proxy);
	ck_assert_int_eq(kustos_create_async(client, "/p/n-", NULL, 0,
				 KUSTOS_CREATE_PROTECTED |
					 KUSTOS_CREATE_SEQUENTIAL |
					 KUSTOS_CREATE_EPHEMERAL,
				 SOON, NULL, count_completion, &done),
		KUSTOS_OK);
	test_eventually(proxy_count(proxy, ZK_OP_CREATE2) == 1, 1000);
	proxy_cut(proxy);
	test_eventually(completions_of(&done) == 1, 10000);
	ck_assert_int_eq(done.err, KUSTOS_OK);
	proxy_set_delay(ensemble_lag(e), 0, 0);
	ck_assert_int_eq(kustos_sync(client, "/p", SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(
		raw_count_children(server_address(ensemble_server(e, 0)), "/p"),
		1);
	server_resume(ensemble_server(e, 1));
	client_close(client);
	proxy_free(proxy);
	ensemble_free(e);
}
END_TEST

START_TEST(S07_the_search_for_a_lost_creation_waits_for_a_sync)
{
	struct proxy *proxy = fixture_proxy();
	struct kustos_client *client;
	struct completions done = { 0 };

	inject_reset();
	client = client_connected(proxy_address(proxy), T_MS);
	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	ck_assert_int_eq(kustos_create_async(client, "/n-", NULL, 0,
				 KUSTOS_CREATE_PROTECTED, SOON, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_SYNC, 1);
	inject_connect(0);
	test_eventually(inject_fired() == 1, 5000);
	test_never(inject_sent(ZK_OP_CHILDREN2) > 0, 100);
	inject_release();
	test_eventually(completions_of(&done) == 1, 5000);
	ck_assert_int_eq(done.err, KUSTOS_OK);
	ck_assert_int_eq(inject_sent(ZK_OP_CHILDREN2), 1);
	ck_assert_int_eq(inject_sent(ZK_OP_CREATE2), 1);
	client_close(client);
	proxy_free(proxy);
}
END_TEST

/* The first read of a connection is not sent until a sync has been answered. */
static void first_read_waits(struct kustos_client *client)
{
	struct completions done = { 0 };
	int gets = inject_sent(ZK_OP_GET);

	ck_assert_int_eq(kustos_get_async(client, "/", SOON, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	test_eventually(inject_fired() == 1, 5000);
	test_never(inject_sent(ZK_OP_GET) != gets, 100);
	inject_release();
	test_eventually(completions_of(&done) == 1, 5000);
	ck_assert_int_eq(done.err, KUSTOS_OK);
	ck_assert_int_eq(inject_sent(ZK_OP_GET), gets + 1);
}

START_TEST(S23_a_new_session_syncs_before_its_first_read)
{
	struct kustos_client *client;

	inject_reset();
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_SYNC, 1);
	client = client_open(fixture_address(), T_MS);
	first_read_waits(client);
	/* This is armed while there is no connection, so that no heartbeat is
	   held. */
	inject_reset();
	inject_connect(ECONNREFUSED);
	client_kill_session(client);
	test_eventually(client_stats(client).disconnects == 1, 5000);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_SYNC, 1);
	inject_connect(0);
	first_read_waits(client);
	ck_assert_int_eq(client_epoch(client), 2);
	client_close(client);
}
END_TEST

/* The handle is new and does not know what the session has seen. */
START_TEST(S23_a_session_that_is_taken_over_syncs_before_its_first_read)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct raw *former = raw_open(fixture_address(), T_MS);
	struct kustos_ticket ticket = { .session_id = raw_session(former) };
	struct kustos_client *client;

	raw_session_password(ticket.session_id, (char *)ticket.password);
	raw_abandon(former);
	inject_reset();
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_SYNC, 1);
	o.resume = &ticket;
	client = client_open_with(&o);
	first_read_waits(client);
	ck_assert(client_session_id(client) == ticket.session_id);
	client_close(client);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lag");
	TCase *bare = fixture_bare_case(s, "ensemble", 60);
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_test(bare,
		S07_a_creation_lost_in_a_slow_ensemble_leaves_one_node);
	tcase_add_test(t, S07_the_search_for_a_lost_creation_waits_for_a_sync);
	tcase_add_test(t, S23_a_new_session_syncs_before_its_first_read);
	tcase_add_test(t,
		S23_a_session_that_is_taken_over_syncs_before_its_first_read);
	return fixture_main(s);
}
