/*
 * test_mutex_edges.c - a mutex and its holds when events coincide: a callback
 * and a release, a request and a reconnect, a grant and a close or a
 * destruction, and a lock that cannot begin beside others that can.
 */
#include "callback_gate.h"
#include "mutex_fixture.h"
#include "proxy.h"

#include <kustos/node.h>
#include <kustos/participant.h>
#include <kustos/simple.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 6000

static struct proxy *proxy;
static struct kustos_client *client;

static void set_up(void)
{
	proxy = fixture_proxy();
	client = client_connected(proxy_address(proxy), T_MS);
}

static void tear_down(void)
{
	client_drop(client);
	proxy_free(proxy);
}

static void count_end(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)err;
	(void)result;
	atomic_fetch_add((atomic_int *)arg, 1);
}

START_TEST(a_lock_that_cannot_begin_leaves_other_requests_alone)
{
	struct kustos_mutex_options options = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *mutex;
	atomic_int ended = 0;

	options.data_len = 2000000;
	options.data = calloc(1, options.data_len);
	check_err(kustos_mutex_create(client, LINE, &options, &mutex),
		KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_HOLD);
	for (int i = 0; i < 3; i++)
		check_err(kustos_exists_async(client, "/", SOON, NULL,
				  count_end, &ended),
			KUSTOS_OK);
	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_ETOOBIG);
	proxy_set_mode(proxy, PROXY_PASS);
	test_eventually(atomic_load(&ended) == 3, 5000);
	kustos_mutex_destroy(mutex);
	free((void *)options.data);
}
END_TEST

/* Open a client whose nodes nobody can read or list, not even that client. */
static struct kustos_client *open_secretive(void)
{
	struct kustos_acl acl = { KUSTOS_PERM_CREATE | KUSTOS_PERM_DELETE,
		"world", "anyone" };
	struct kustos_client_options options = client_options(fixture_address(),
		T_MS);

	options.acl = &acl;
	options.acl_count = 1;
	return client_open_with(&options);
}

/* Create a node in which nodes can be created, but whose children nobody can
   list. */
static void make_unlistable(const char *path)
{
	struct kustos_client *owner = open_secretive();

	check_err(kustos_create(owner, path, "", 0, 0, SOON, NULL, NULL, NULL),
		KUSTOS_OK);
	client_close(owner);
}

START_TEST(a_line_that_may_not_be_listed_is_an_error_at_once)
{
	struct kustos_mutex *mutex;

	make_unlistable("/unlistable");
	check_err(kustos_mutex_create(client, "/unlistable", NULL, &mutex),
		KUSTOS_OK);
	check_err(kustos_mutex_lock(mutex, KUSTOS_NOW, NULL), KUSTOS_ENOAUTH);
	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_ENOAUTH);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	check_err(kustos_delete(client, "/unlistable", -1, SOON, NULL),
		KUSTOS_OK); /* and no node is left in it */
	kustos_mutex_destroy(mutex);
}
END_TEST

static void count_request(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	atomic_fetch_add((atomic_int *)arg, 1);
}

static struct kustos_mutex *revocable(atomic_int *asked)
{
	struct kustos_mutex_options options = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *mutex;

	options.on_revoke = count_request;
	options.on_revoke_arg = asked;
	check_err(kustos_mutex_create(client, LINE, &options, &mutex),
		KUSTOS_OK);
	return mutex;
}

static bool own_node_read_after(uint64_t sent)
{
	struct kustos_client_stats stats = KUSTOS_CLIENT_STATS_INIT;

	check_err(kustos_client_stats(client, &stats), KUSTOS_OK);
	return stats.sent > sent && stats.pending == 0;
}

/* No watch can be set on the node of the one before. */
START_TEST(U09_who_may_not_read_the_node_before_it_looks_again)
{
	struct kustos_client *owner = open_secretive();
	struct kustos_mutex *theirs = mutex_new(owner, 0);
	struct kustos_mutex *ours = mutex_new(client, 0);
	struct ask a = { .calls = 0 };
	struct kustos_hold *hold;

	hold_give(hold_take(ours)); /* so that everybody may list the line */
	hold = hold_take(theirs);
	ask(&a, ours, SOON);
	line_wait(2);
	test_eventually(own_node_read_after(0), 2000);
	ck_assert(ask_waits(&a));
	hold_give(hold);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	check_node(a.hold, client);
	hold_give(a.hold);
	kustos_mutex_destroy(theirs);
	kustos_mutex_destroy(ours);
	client_close(owner);
}
END_TEST

START_TEST(a_request_to_give_up_is_told_once_also_after_a_reconnect)
{
	atomic_int asked = 0;
	struct kustos_mutex *mutex = revocable(&asked);
	struct kustos_hold *hold = hold_take(mutex);
	struct kustos_client_stats stats = KUSTOS_CLIENT_STATS_INIT;

	check_err(kustos_participant_revoke(client, kustos_hold_path(hold),
			  SOON, NULL),
		KUSTOS_OK);
	test_eventually(atomic_load(&asked) == 1, 3000);
	check_err(kustos_client_stats(client, &stats), KUSTOS_OK);
	proxy_cut(proxy);
	/* The sync of the new connection, a look at the node, a heartbeat. */
	test_eventually(kustos_client_state(client) == KUSTOS_STATE_CONNECTED &&
			own_node_read_after(stats.sent + 3),
		5000);
	ck_assert_int_eq(atomic_load(&asked), 1);
	check_err(kustos_participant_revoke(client, kustos_hold_path(hold),
			  SOON, NULL),
		KUSTOS_OK);
	test_eventually(atomic_load(&asked) == 2, 3000);
	hold_give(hold);
	kustos_mutex_destroy(mutex);
}
END_TEST

START_TEST(a_destroyed_mutex_tells_nobody_of_requests)
{
	atomic_int asked = 0, ended = 0;
	struct kustos_mutex *mutex = revocable(&asked);
	struct kustos_hold *hold = hold_take(mutex);
	struct gate gate = { .open = 0 };

	check_err(
		kustos_exists_async(client, "/", SOON, NULL, stand_done, &gate),
		KUSTOS_OK);
	test_eventually(flag(&gate.entered), 3000);
	check_err(kustos_participant_revoke(client, kustos_hold_path(hold),
			  SOON, NULL),
		KUSTOS_OK);
	check_err(kustos_sync(client, "/", SOON, NULL), KUSTOS_OK);
	kustos_mutex_destroy(mutex);
	raise_flag(&gate.open);
	hold_give(hold);
	/* Callbacks run in order: whatever was queued has run before this
	   one. */
	check_err(
		kustos_exists_async(client, "/", SOON, NULL, count_end, &ended),
		KUSTOS_OK);
	test_eventually(atomic_load(&ended) == 1, 3000);
	ck_assert_int_eq(atomic_load(&asked), 0);
}
END_TEST

/* A callback that looks at a hold once the gate opens, and what it sees. */
struct sight {
	struct gate gate;
	int64_t token;
	char path[128];
};

static void look_at_hold(void *arg, struct kustos_hold *hold)
{
	struct sight *sight = arg;

	stand(&sight->gate);
	sight->token = kustos_hold_token(hold);
	strcpy(sight->path, kustos_hold_path(hold));
}

static void *open_gate(void *arg)
{
	struct gate *gate = arg;

	test_eventually(flag(&gate->entered), 5000);
	raise_flag(&gate->open);
	return NULL;
}

START_TEST(a_release_waits_for_a_callback_that_looks_at_the_hold)
{
	struct kustos_mutex *mutex = mutex_new(client, 32);
	struct kustos_hold *hold = hold_take(mutex);
	struct sight sight = { .token = 0 };
	int64_t token = kustos_hold_token(hold);
	pthread_t opener;

	kustos_mutex_destroy(mutex);
	check_err(kustos_hold_on_lost(hold, look_at_hold, &sight), KUSTOS_OK);
	check_err(kustos_delete(client, kustos_hold_path(hold), -1, SOON, NULL),
		KUSTOS_OK);
	test_eventually(flag(&sight.gate.entered), 3000);
	ck_assert_int_eq(pthread_create(&opener, NULL, open_gate, &sight.gate),
		0);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	ck_assert_int_eq(sight.token, token);
	ck_assert_ptr_nonnull(strstr(sight.path, LINE));
	pthread_join(opener, NULL);
}
END_TEST

/* Let the callback return once the close has ended the session. */
static void *open_after_close(void *arg)
{
	struct gate *gate = arg;

	line_wait(0);
	raise_flag(&gate->open);
	return NULL;
}

START_TEST(a_grant_that_a_close_overtakes_is_none)
{
	struct kustos_client *closing = client_connected(fixture_address(),
		T_MS);
	struct kustos_mutex *mutex = mutex_new(closing, 32);
	struct gate gate = { .open = 0 };
	struct ask a = { .calls = 0 };
	pthread_t opener;

	check_err(kustos_exists_async(closing, "/", SOON, NULL, stand_done,
			  &gate),
		KUSTOS_OK);
	test_eventually(flag(&gate.entered), 3000);
	ask(&a, mutex, SOON);
	line_wait(1);
	check_err(kustos_sync(closing, "/", SOON, NULL), KUSTOS_OK);
	kustos_mutex_destroy(mutex);
	ck_assert_int_eq(pthread_create(&opener, NULL, open_after_close, &gate),
		0);
	client_close(closing);
	pthread_join(opener, NULL);
	ck_assert_int_eq(atomic_load(&a.calls), 1);
	check_err(a.err, KUSTOS_ECLOSED);
	line_wait(0);
}
END_TEST

static atomic_int stands_still, may_go_on;

static void stand_still(int sig)
{
	(void)sig;
	atomic_store(&stands_still, 1);
	while (!atomic_load(&may_go_on))
		test_pause_1ms();
}

struct sleeper {
	struct kustos_mutex *mutex;
	enum kustos_err err;
};

static void *lock_it(void *arg)
{
	struct sleeper *s = arg;

	s->err = kustos_mutex_lock(s->mutex, KUSTOS_FOREVER, NULL);
	return NULL;
}

/* The lock is granted to a thread that has not woken up yet.  Then the mutex is
   destroyed, so the thread could not unlock it. */
START_TEST(a_lock_that_a_destruction_overtakes_is_given_back)
{
	struct sigaction action = { .sa_handler = stand_still };
	struct kustos_client *other = client_connected(fixture_address(), T_MS);
	struct kustos_mutex *theirs = mutex_new(other, 0);
	struct sleeper sleeper = { .mutex = mutex_new(client, 32 * _i) };
	struct kustos_hold *hold = hold_take(theirs);
	pthread_t thread;

	atomic_store(&stands_still, 0);
	atomic_store(&may_go_on, 0);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, lock_it, &sleeper), 0);
	/* For theirs: its own node.  For ours: its own node, and theirs. */
	test_eventually(watch_count() == 3, 3000);
	check_err(kustos_sync(client, "/", SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(pthread_kill(thread, SIGUSR1), 0);
	test_eventually(atomic_load(&stands_still), 3000);
	hold_give(hold);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	check_err(kustos_sync(client, "/", SOON, NULL), KUSTOS_OK);
	kustos_mutex_destroy(sleeper.mutex);
	atomic_store(&may_go_on, 1);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	check_err(sleeper.err, KUSTOS_ECLOSED);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 0);
	kustos_mutex_destroy(theirs);
	client_close(other);
}
END_TEST

START_TEST(an_unlock_that_waits_ends_with_its_session)
{
	struct kustos_mutex_options options = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *mutex, *busy = mutex_new(client, 32);
	struct ask a = { .calls = 0 };
	char node[128];

	options.unlock_waits = 1;
	check_err(kustos_mutex_create(client, "/locks/b", &options, &mutex),
		KUSTOS_OK);
	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
	snprintf(node, sizeof(node), "%s",
		kustos_hold_path(kustos_mutex_hold(mutex)));
	proxy_set_mode(proxy, PROXY_REFUSE);
	proxy_cut(proxy);
	test_eventually(kustos_client_state(client) != KUSTOS_STATE_CONNECTED,
		3000);
	ask(&a, busy, KUSTOS_FOREVER); /* this one keeps waiting */
	check_err(kustos_mutex_unlock(mutex), KUSTOS_ELOST);
	ck_assert_int_eq(raw_exists(fixture_address(), node, NULL), RAW_NONODE);
	ck_assert(ask_waits(&a));
	kustos_mutex_destroy(busy);
	kustos_mutex_destroy(mutex);
	(void)ask_wait(&a, 3000);
}
END_TEST

static void count_stuck(void *arg, enum kustos_log_level level,
	const char *line)
{
	if (level == KUSTOS_LOG_ERROR && strstr(line, "/kept/") != NULL &&
		strstr(line, "cannot be deleted") != NULL)
		atomic_fetch_add((atomic_int *)arg, 1);
}

/* Open a client from whose nodes nobody may delete children. */
static struct kustos_client *open_keeper(atomic_int *told)
{
	struct kustos_acl acl = { KUSTOS_PERM_ALL & ~KUSTOS_PERM_DELETE,
		"world", "anyone" };
	struct kustos_client_options options = client_options(fixture_address(),
		T_MS);

	options.acl = &acl;
	options.acl_count = 1;
	options.log = count_stuck;
	options.log_arg = told;
	return client_open_with(&options);
}

START_TEST(an_unlock_whose_node_may_not_be_deleted_says_so)
{
	struct kustos_mutex_options options = KUSTOS_MUTEX_OPTIONS_INIT;
	atomic_int told = 0;
	struct kustos_client *keeper = open_keeper(&told);
	struct kustos_mutex *mutex;

	options.unlock_waits = 1;
	options.local_handoffs = 0;
	check_err(kustos_mutex_create(keeper, "/kept", &options, &mutex),
		KUSTOS_OK);
	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_ENOAUTH);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_ENOTHELD);
	ck_assert_int_eq(atomic_load(&told), 1);
	/* A caller that gives up cannot delete its node either; this is not
	   logged again. */
	check_err(kustos_mutex_lock(mutex, kustos_after_ms(200), NULL),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_client_flush(keeper, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/kept"), 2);
	ck_assert_int_eq(atomic_load(&told), 1);
	kustos_mutex_destroy(mutex);
	client_close(keeper);
	ck_assert_int_eq(raw_delete(fixture_address(), "/kept"), 0);
}
END_TEST

START_TEST(a_release_whose_node_may_not_be_deleted_is_logged)
{
	atomic_int told = 0;
	struct kustos_client *keeper = open_keeper(&told);
	struct kustos_simple *simple;
	struct kustos_mutex *mutex;
	struct kustos_hold *hold;

	check_err(kustos_mutex_create(keeper, "/kept", NULL, &mutex),
		KUSTOS_OK);
	check_err(kustos_mutex_acquire(mutex, SOON, NULL, &hold), KUSTOS_OK);
	check_err(kustos_hold_release(hold), KUSTOS_OK);
	check_err(kustos_client_flush(keeper, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(atomic_load(&told), 1);
	check_err(kustos_simple_create(keeper, "/kept/one", NULL, &simple),
		KUSTOS_OK);
	check_err(kustos_simple_acquire(simple, SOON, NULL, &hold), KUSTOS_OK);
	check_err(kustos_hold_release(hold), KUSTOS_OK);
	check_err(kustos_client_flush(keeper, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(atomic_load(&told), 2);
	kustos_simple_destroy(simple);
	kustos_mutex_destroy(mutex);
	client_close(keeper);
	ck_assert_int_eq(raw_delete(fixture_address(), "/kept"), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, edges");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, a_lock_that_cannot_begin_leaves_other_requests_alone);
	tcase_add_test(t, a_line_that_may_not_be_listed_is_an_error_at_once);
	tcase_add_test(t, U09_who_may_not_read_the_node_before_it_looks_again);
	tcase_add_test(t,
		a_request_to_give_up_is_told_once_also_after_a_reconnect);
	tcase_add_test(t, a_destroyed_mutex_tells_nobody_of_requests);
	tcase_add_test(t,
		a_release_waits_for_a_callback_that_looks_at_the_hold);
	tcase_add_test(t, a_grant_that_a_close_overtakes_is_none);
	tcase_add_loop_test(t,
		a_lock_that_a_destruction_overtakes_is_given_back, 0, 2);
	tcase_add_test(t, an_unlock_that_waits_ends_with_its_session);
	tcase_add_test(t, an_unlock_whose_node_may_not_be_deleted_says_so);
	tcase_add_test(t, a_release_whose_node_may_not_be_deleted_is_logged);
	return fixture_main(s);
}
