/*
 * test_shun.c - a session does not go back to a server that may still have one
 * of its writes, which could then be carried out after all.
 */
#include "client_fixture.h"
#include "support/ensemble.h"
#include "support/proxy.h"
#include "support/raw.h"

#include <kustos/mutex.h>
#include <kustos/node.h>

#include <stdio.h>
#include <string.h>

#define WAYS 3
#define T_MS 6000

/* The proxies, to one server or to several. */
static struct proxy *ways[WAYS];
static char hosts[256];

static void open_way(int i, const char *upstream)
{
	char ip[24];

	snprintf(ip, sizeof(ip), "127.0.0.%d", 41 + i);
	ways[i] = proxy_start(ip, upstream, PROXY_ZOOKEEPER);
	ck_assert_ptr_nonnull(ways[i]);
	size_t len = i == 0 ? 0 : strlen(hosts);
	snprintf(hosts + len, sizeof(hosts) - len, "%s%s", i == 0 ? "" : ",",
		proxy_address(ways[i]));
}

static int way_of(struct kustos_client *client)
{
	int way = -1;

	for (int i = 0; i < WAYS; i++)
		if (ways[i] != NULL && client_is_on(client, ways[i]))
			way = i;
	return way;
}

static void close_all(struct kustos_client *client)
{
	if (client != NULL)
		client_close(client);
	for (int i = 0; i < WAYS; i++)
		proxy_free(ways[i]);
}

/* Lose the answer to a write.  Returns the proxy that was used.  The client is
   elsewhere afterwards, or was back there at once, which is fine too. */
static int lose_a_write(struct kustos_client *client)
{
	int way = way_of(client);

	proxy_arm(ways[way], PROXY_LOSE_REPLY, ZK_OP_SET, 1);
	ck_assert_int_eq(kustos_set(client, "/n", "x", 1, -1, SOON, NULL, NULL),
		KUSTOS_OK);
	ck_assert_int_ge(way_of(client), 0);
	return way;
}

START_TEST(S06_a_session_does_not_go_back_to_where_a_write_was_lost)
{
	for (int i = 0; i < WAYS; i++)
		open_way(i, fixture_address());
	struct kustos_client *client = client_connected(hosts, T_MS);
	int64_t id = client_session_id(client);
	client_create(client, "/n", 0);
	int lost;
	do
		lost = lose_a_write(client);
	while (way_of(client) == lost);
	uint64_t disconnects = client_stats(client).disconnects;
	for (int i = 1; i <= 8; i++) {
		proxy_cut(ways[way_of(client)]);
		test_eventually(client_stats(client).disconnects ==
				disconnects + (uint64_t)i,
			1000);
		client_wait(client, KUSTOS_STATE_CONNECTED, 1000);
		ck_assert_int_ne(way_of(client), lost);
	}
	ck_assert(client_session_id(client) == id);
	ck_assert_uint_eq(client_stats(client).disconnects, disconnects + 8);
	close_all(client);
}
END_TEST

/* So many requests are passed on before the one that matters.  Therefore the
   leader gets that one after it has learned whose session it is. */
#define AHEAD 3000

static void pass_on(struct kustos_client *busy, struct completions *done)
{
	for (int i = 0; i < AHEAD; i++)
		ck_assert_int_eq(kustos_set_async(busy, "/busy", "x", 1, -1,
					 KUSTOS_FOREVER, NULL, count_completion,
					 done),
			KUSTOS_OK);
}

static void got(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	ck_assert_int_eq(err, KUSTOS_OK);
	__atomic_store_n((struct kustos_hold **)arg, hold, __ATOMIC_SEQ_CST);
}

static struct kustos_hold *ask(struct kustos_mutex *mutex,
	struct kustos_hold **hold)
{
	*hold = NULL;
	ck_assert_int_eq(kustos_mutex_acquire_async(mutex, KUSTOS_FOREVER, NULL,
				 got, hold),
		KUSTOS_OK);
	return *hold;
}

#define has(hold) (__atomic_load_n(&(hold), __ATOMIC_SEQ_CST) != NULL)

/* A follower of three servers, whose link to the leader is held, has a creation of
   the client's. */
static struct {
	struct ensemble *e;
	const char *leader;
	struct kustos_client *busy, *client;
	int64_t id; /* of the client's session */
	struct completions done;
	struct kustos_mutex *mutex;
	struct kustos_hold *hold;
} kept;

/* The client knows that follower, and the server "other", which refuses it for
   now. */
static void keep_a_creation(int other, int timeout_ms)
{
	struct server_options o = { .tick_ms = 1000 };

	memset(&kept, 0, sizeof(kept));
	kept.e = ensemble_start(&o, true);
	ck_assert_ptr_nonnull(kept.e);
	const char *follower = server_address(ensemble_server(kept.e, 0));
	kept.leader = server_address(ensemble_server(kept.e, 2));
	open_way(0, follower);
	open_way(1, server_address(ensemble_server(kept.e, other)));
	proxy_set_mode(ways[1], PROXY_REFUSE);
	kept.busy = client_connected(follower, 20000);
	kept.client = client_connected(hosts, timeout_ms);
	kept.id = client_session_id(kept.client);
	client_create(kept.busy, "/busy", 0);
	client_create(kept.busy, "/line", 0);
	ck_assert_int_eq(
		kustos_mutex_create(kept.client, "/line", NULL, &kept.mutex),
		KUSTOS_OK);
	proxy_set_mode(ensemble_lag(kept.e), PROXY_HOLD);
	pass_on(kept.busy, &kept.done);
	proxy_reset_counts(ways[0]);
	ask(kept.mutex, &kept.hold);
	test_eventually(proxy_count(ways[0], ZK_OP_CREATE2) == 1, 1000);
}

static void have_and_release(void)
{
	test_eventually(has(kept.hold), 5000);
	ck_assert_int_eq(kustos_hold_release(kept.hold), KUSTOS_OK);
}

static void end_kept(void)
{
	ck_assert(client_session_id(kept.client) == kept.id);
	kustos_mutex_destroy(kept.mutex);
	client_close(kept.busy);
	close_all(kept.client);
	ensemble_free(kept.e);
}

START_TEST(S06_what_a_follower_has_kept_is_not_done_after_all)
{
	keep_a_creation(2, 10000);
	proxy_set_mode(ways[1], PROXY_PASS);
	proxy_set_mode(ways[0], PROXY_REFUSE);
	have_and_release();
	test_eventually(raw_count_children(kept.leader, "/line") == 0, 1000);
	proxy_set_mode(ways[1], PROXY_REFUSE);
	proxy_reset_counts(ways[0]);
	proxy_set_mode(ways[0], PROXY_PASS);
	test_never(proxy_count(ways[0], ZK_OP_CONNECT) > 0, 1000);
	proxy_set_mode(ensemble_lag(kept.e), PROXY_PASS);
	test_eventually(completions_of(&kept.done) == AHEAD, 5000);
	proxy_set_mode(ways[1], PROXY_PASS);
	ask(kept.mutex, &kept.hold);
	test_eventually(has(kept.hold), 5000);
	ck_assert_int_eq(raw_count_children(kept.leader, "/line"), 1);
	ck_assert_int_eq(kustos_hold_release(kept.hold), KUSTOS_OK);
	end_kept();
}
END_TEST

/* Only a link is slow, and it is the client that leaves. */
static void leave_a_silent_server(struct ensemble *e)
{
	const char *leader = server_address(ensemble_server(e, 2));
	struct kustos_mutex *mutex = NULL;
	struct kustos_hold *hold;

	proxy_set_mode(ways[1], PROXY_REFUSE);
	struct kustos_client *client = client_connected(hosts, 4000);
	int64_t id = client_session_id(client);
	ck_assert_int_eq(kustos_mutex_create(client, "/line", NULL, &mutex),
		KUSTOS_OK);
	proxy_set_mode(ways[1], PROXY_PASS);
	proxy_set_mode(ensemble_lag(e), PROXY_HOLD);
	proxy_reset_counts(ways[0]);
	ask(mutex, &hold);
	test_eventually(has(hold), 3000);
	ck_assert_int_eq(proxy_count(ways[0], ZK_OP_CONNECT), 0);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	test_eventually(raw_count_children(leader, "/line") == 0, 1000);
	proxy_set_mode(ensemble_lag(e), PROXY_PASS);
	test_never(raw_count_children(leader, "/line") > 0, 500);
	ck_assert(client_session_id(client) == id);
	kustos_mutex_destroy(mutex);
	client_close(client);
}

START_TEST(S06_a_silent_server_is_not_tried_once_more)
{
	struct server_options o = { .tick_ms = 1000 };
	struct ensemble *e = ensemble_start(&o, true);

	ck_assert_ptr_nonnull(e);
	open_way(0, server_address(ensemble_server(e, 0)));
	open_way(1, server_address(ensemble_server(e, 2)));
	struct kustos_client *client = client_connected(hosts, 4000);
	client_create(client, "/line", 0);
	client_close(client);
	for (int i = 0; i < 4;
		i++) /* whom a handle would try is left to chance */
		leave_a_silent_server(e);
	close_all(NULL);
	ensemble_free(e);
}
END_TEST

/* Return how often children of "/line" were created or deleted. */
static int changes_of_line(const char *server)
{
	struct raw_stat stat;

	return raw_exists(server, "/line", &stat) == 0 ? stat.cversion : -1;
}

/* Return whether the leader has done the creation after all, once it has decided
   what to do with it: what its follower sends after it is answered. */
static bool is_done_after_all(void)
{
	test_eventually(completions_of(&kept.done) == AHEAD, 5000);
	ck_assert_int_eq(
		kustos_set(kept.busy, "/busy", "y", 1, -1, SOON, NULL, NULL),
		KUSTOS_OK);
	return changes_of_line(kept.leader) > 2;
}

/* The connection breaks while the creation is under way.  The handle goes straight
   back and is not answered there either, so the client leaves for the other
   server, the leader or a follower, and makes its node there.  Then the leader gets
   the creation, and right behind it the follower's request to take the session
   over.  Returns false if the leader read that too late, and refused the creation:
   two of its threads are in a race then. */
static bool make_a_node_late(int other)
{
	keep_a_creation(other, T_MS);
	proxy_cut(ways[0]);
	test_eventually(proxy_count(ways[0], ZK_OP_CONNECT) == 1, 1000);
	proxy_set_mode(ways[1], PROXY_PASS);
	have_and_release();
	test_eventually(changes_of_line(kept.leader) == 2, 1000);
	proxy_set_mode(ensemble_lag(kept.e), PROXY_PASS);
	bool late = is_done_after_all();
	if (late)
		test_eventually(changes_of_line(kept.leader) == 4, 5000);
	ck_assert_int_eq(raw_count_children(kept.leader, "/line"), 0);
	end_kept();
	return late;
}

START_TEST(S06_a_node_that_is_made_late_is_deleted)
{
	int tries = 1;

	while (!make_a_node_late(2 - _i))
		ck_assert_int_lt(tries++, 5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shun");
	TCase *t = fixture_case(s, "one server", 30);
	TCase *bare = fixture_bare_case(s, "ensemble", 60);

	tcase_add_test(t,
		S06_a_session_does_not_go_back_to_where_a_write_was_lost);
	tcase_add_test(bare,
		S06_what_a_follower_has_kept_is_not_done_after_all);
	tcase_add_loop_test(bare, S06_a_node_that_is_made_late_is_deleted, 0,
		2);
	tcase_add_test(bare, S06_a_silent_server_is_not_tried_once_more);
	return fixture_main(s);
}
