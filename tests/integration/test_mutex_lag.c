/*
 * test_mutex_lag.c - a mutex in an ensemble whose followers lag behind the
 * leader: no second node and no second holder may come of what a follower
 * shows.  A proxy delays the follower's link to the leader.
 */
#include "ensemble.h"
#include "inject.h"
#include "mutex_fixture.h"
#include "proxy.h"
#include "rawkill.h"

#include <kustos/participant.h>

#include <errno.h>
#include <stdio.h>

#define DELAY_MS 250
#define T_MS 12000

static struct ensemble *ensemble;
static struct proxy *proxy;
static struct kustos_client *client; /* connected to the follower that lags */

static const char *server_at(int i)
{
	return server_address(ensemble_server(ensemble, i));
}

static void set_up(void)
{
	inject_reset();
	ensemble = ensemble_start(NULL, true);
	ck_assert_ptr_nonnull(ensemble);
	ck_assert_int_eq(ensemble_leader(ensemble), 2);
	proxy = proxy_start("127.0.0.1", server_at(0), PROXY_ZOOKEEPER);
	ck_assert_ptr_nonnull(proxy);
	client = client_connected(proxy_address(proxy), T_MS);
}

static void tear_down(void)
{
	client_close(client);
	proxy_free(proxy);
	ensemble_free(ensemble);
}

/* Return how many children LINE has on the leader. */
static int count(void)
{
	int n = raw_count_children(server_at(2), LINE);

	return n == RAW_NONODE ? 0 : n;
}

/*
 * As in test_lag.c: the connection is lost before the follower has seen the
 * commit of the creation, and comes back before the commit.
 */
static void S07_lost_creation(void)
{
	struct kustos_mutex *mutex = mutex_new(client, 0);
	struct ask a = { .calls = 0 };

	hold_give(hold_take(mutex));
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	server_pause(ensemble_server(ensemble, 1));
	proxy_set_delay(ensemble_lag(ensemble), DELAY_MS, 0);
	proxy_reset_counts(proxy);
	ask(&a, mutex, SOON);
	test_eventually(proxy_count(proxy, ZK_OP_CREATE2) == 1, 1000);
	proxy_cut(proxy);
	check_err(ask_wait(&a, 10000), KUSTOS_OK);
	proxy_set_delay(ensemble_lag(ensemble), 0, 0);
	server_resume(ensemble_server(ensemble, 1));
	ck_assert_int_eq(count(), 1);
	hold_give(a.hold);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(count(), 0);
	kustos_mutex_destroy(mutex);
}

/* What the follower still shows of the old session must not be taken for
   ours. */
static void S03_old_session(void)
{
	struct kustos_mutex *mutex = mutex_new(client, 0);
	int64_t old = client_session_id(client);
	struct raw_stat stat;

	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
	proxy_set_delay(ensemble_lag(ensemble), 0, DELAY_MS);
	ck_assert_int_eq(raw_kill_session(server_at(2), old), 0);
	hold_wait(kustos_mutex_hold(mutex), KUSTOS_HOLD_LOST, T_MS);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_ELOST);
	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
	ck_assert(client_session_id(client) != old);
	struct kustos_hold *hold = kustos_mutex_hold(mutex);
	ck_assert_int_eq(
		raw_exists(server_at(2), kustos_hold_path(hold), &stat), 0);
	ck_assert(stat.ephemeral_owner == client_session_id(client));
	proxy_set_delay(ensemble_lag(ensemble), 0, 0);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	kustos_mutex_destroy(mutex);
}

/* The two clients see different states.  A place that has been left must not be
   waited for, and one that is still there must not be overlooked. */
static void S23_two_followers(void)
{
	struct kustos_client *ahead = client_connected(server_at(2), T_MS);
	struct kustos_mutex *mutex = mutex_new(client, 0);
	struct kustos_mutex *rivals = mutex_new(ahead, 0);
	int64_t last = 0;

	proxy_set_delay(ensemble_lag(ensemble), 0, 30);
	for (int i = 0; i < 10; i++) {
		struct kustos_hold *hold = hold_take(i % 2 ? mutex : rivals);
		struct ask a = { .calls = 0 };

		ask(&a, i % 2 ? rivals : mutex, SOON);
		ck_assert_int_gt(kustos_hold_token(hold), last);
		last = kustos_hold_token(hold);
		test_eventually(count() == 2, 2000);
		ck_assert(ask_waits(&a));
		hold_give(hold);
		check_err(ask_wait(&a, 5000), KUSTOS_OK);
		ck_assert_int_gt(a.token, last);
		last = a.token;
		hold_give(a.hold);
	}
	proxy_set_delay(ensemble_lag(ensemble), 0, 0);
	kustos_mutex_destroy(mutex);
	kustos_mutex_destroy(rivals);
	client_close(ahead);
}

static struct raw *hold_simply(const char *path)
{
	struct raw *raw = raw_open(server_at(2), 60000);

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_do_create(raw, path, "", RAW_EPHEMERAL, NULL, 0),
		0);
	return raw;
}

/* The path has a node of another session by now, which the follower does not
   know yet.  It must not be deleted because of what was shown. */
static void break_of_what_is_anothers(void)
{
	struct kustos_participants *shown = NULL;
	struct raw *raw = hold_simply("/simple");
	struct raw_stat stat;

	check_err(kustos_sync(client, "/simple", SOON, NULL), KUSTOS_OK);
	check_err(kustos_participants(client, "/simple", SOON, NULL, &shown),
		KUSTOS_OK);
	ck_assert_uint_eq(shown->count, 1);
	proxy_set_delay(ensemble_lag(ensemble), 0, DELAY_MS);
	ck_assert_int_eq(raw_do_delete(raw, "/simple", -1), 0);
	raw_close(raw);
	raw = hold_simply("/simple");
	check_err(kustos_participant_break(client, shown->list[0], SOON, NULL),
		KUSTOS_ECHANGED);
	ck_assert_int_eq(raw_exists(server_at(2), "/simple", &stat), 0);
	ck_assert(stat.czxid > shown->list[0]->stat.czxid);
	proxy_set_delay(ensemble_lag(ensemble), 0, 0);
	raw_close(raw);
	kustos_participants_free(shown);
}

/* One ensemble for all of them, because it takes seconds to start. */
START_TEST(S03_S07_S23_what_lags_makes_no_second_node_and_no_second_holder)
{
	set_up();
	break_of_what_is_anothers();
	S23_two_followers();
	S03_old_session();
	S07_lost_creation();
	tear_down();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, lag");
	TCase *bare = fixture_bare_case(s, "ensemble", 60);

	tcase_add_test(bare,
		S03_S07_S23_what_lags_makes_no_second_node_and_no_second_holder);
	return fixture_main(s);
}
