/*
 * test_mutex_kinds.c - the mutex of a client with a name space, of a client
 * without threads for callbacks, in kazoo's dialect, and used in callbacks.
 */
#include "mutex_fixture.h"
#include "proxy.h"

#include <kustos/cancel.h>
#include <kustos/participant.h>

#include <poll.h>
#include <string.h>

#define T_MS 10000

static struct kustos_mutex *dialect(struct kustos_client *client,
	enum kustos_dialect dialect)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *mutex = NULL;

	o.dialect = dialect;
	check_err(kustos_mutex_create(client, LINE, &o, &mutex), KUSTOS_OK);
	return mutex;
}

START_TEST(a_name_space_is_part_of_no_path_that_is_told)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = "/mark" };
	struct kustos_participants *p = NULL;
	struct ask a = { .calls = 0 };

	o.name_space = "/apps/billing";
	struct kustos_client *client = client_open_with(&o);
	struct kustos_mutex *mutex = mutex_new(client, 0);
	struct kustos_hold *hold = hold_take(mutex);
	ask(&a, mutex, SOON);
	test_eventually(raw_count_children(fixture_address(),
				"/apps/billing" LINE) == 2,
		2000);
	ck_assert(strncmp(kustos_hold_path(hold), LINE "/", strlen(LINE) + 1) ==
		0);
	check_err(
		kustos_exists(client, kustos_hold_path(hold), SOON, NULL, NULL),
		KUSTOS_OK);
	check_err(kustos_hold_multi(hold, &op, 1, SOON, NULL, NULL), KUSTOS_OK);
	ck_assert_int_eq(
		raw_exists(fixture_address(), "/apps/billing/mark", NULL), 0);
	check_err(kustos_participants(client, LINE, SOON, NULL, &p), KUSTOS_OK);
	ck_assert_uint_eq(p->count, 2);
	ck_assert_str_eq(p->list[0]->path, kustos_hold_path(hold));
	check_err(kustos_participant_break(client, p->list[0], SOON, NULL),
		KUSTOS_OK);
	kustos_participants_free(p);
	hold_wait(hold, KUSTOS_HOLD_LOST, 500);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	hold_give(a.hold);
	kustos_mutex_destroy(mutex);
	client_close(client);
	ck_assert_int_eq(
		raw_count_children(fixture_address(), "/apps/billing" LINE), 0);
}
END_TEST

/* Run callbacks as a program's loop would, until "*count" is "wanted". */
static void run_until(struct kustos_client *client, const int *count,
	int wanted)
{
	struct pollfd fd = { .fd = kustos_client_fd(client), .events = POLLIN };
	int64_t end = test_now_ms() + PATIENCE_MS;

	while (calls_of(count) != wanted) {
		ck_assert_msg(test_now_ms() < end, "%d calls, not %d",
			calls_of(count), wanted);
		(void)poll(&fd, 1, 100);
		kustos_client_dispatch(client);
	}
}

struct grant {
	int calls;
	enum kustos_err err;
	struct kustos_hold *hold;
	pthread_t thread;
};

static void note_grant(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct grant *g = arg;

	g->err = err;
	g->hold = hold;
	g->thread = pthread_self();
	__atomic_add_fetch(&g->calls, 1, __ATOMIC_SEQ_CST);
}

START_TEST(a_program_with_a_loop_of_its_own_is_called_there_and_only_there)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct grant first = { .calls = 0 }, second = { .calls = 0 };
	int lost = 0;

	o.dispatch = KUSTOS_DISPATCH_FD;
	struct kustos_client *client = client_open_with(&o);
	struct kustos_mutex *mutex = mutex_new(client, _i);
	check_err(kustos_mutex_acquire_async(mutex, SOON, NULL, note_grant,
			  &first),
		KUSTOS_OK);
	check_err(kustos_mutex_acquire_async(mutex, SOON, NULL, note_grant,
			  &second),
		KUSTOS_OK);
	line_wait(_i == 0 ? 2 : 1);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(calls_of(&first.calls), 0); /* granted, and not told */
	run_until(client, &first.calls, 1);
	check_err(first.err, KUSTOS_OK);
	hold_give(first.hold);
	run_until(client, &second.calls, 1);
	check_err(second.err, KUSTOS_OK);
	ck_assert(pthread_equal(first.thread, pthread_self()));
	check_err(kustos_hold_on_lost(second.hold, count_call, &lost),
		KUSTOS_OK);
	client_kill_session(client);
	hold_wait(second.hold, KUSTOS_HOLD_LOST, 8000);
	ck_assert_int_eq(calls_of(&lost), 0);
	run_until(client, &lost, 1);
	check_err(kustos_hold_release(second.hold), KUSTOS_ELOST);
	kustos_mutex_destroy(mutex);
	client_close(client);
}
END_TEST

START_TEST(kazoos_dialect_has_kazoos_names_and_excludes_the_other)
{
	struct kustos_client *client = client_connected(fixture_address(),
		T_MS);
	struct kustos_mutex *kazoo = dialect(client, KUSTOS_DIALECT_KAZOO);
	struct kustos_mutex *curator = dialect(client, KUSTOS_DIALECT_CURATOR);
	struct ask a = { .calls = 0 };
	struct kustos_hold *hold = hold_take(kazoo);
	const char *name = kustos_hold_path(hold) + strlen(LINE "/");

	ck_assert_uint_eq(strspn(name, "0123456789abcdef"), 32);
	ck_assert(strncmp(name + 32, "__lock__", 8) == 0);
	ck_assert_uint_eq(strlen(name), 32 + 8 + 10);
	ck_assert_int_eq(name[12], '4'); /* a random UUID */
	ask(&a, curator, SOON);
	line_wait(2);
	test_eventually(kustos_mutex_mixed(curator) == 1, 2000);
	ck_assert(ask_waits(&a));
	hold_give(hold);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	name = kustos_hold_path(a.hold) + strlen(LINE "/");
	ck_assert(strncmp(name, "_c_", 3) == 0);
	ck_assert(strncmp(name + 39, "-lock-", 6) == 0);
	ck_assert_uint_eq(strlen(name), 3 + 36 + 6 + 10);
	check_err(kustos_mutex_lock(kazoo, KUSTOS_NOW, NULL), KUSTOS_EBUSY);
	hold_give(a.hold);
	kustos_mutex_destroy(kazoo);
	kustos_mutex_destroy(curator);
	client_close(client);
}
END_TEST

/* The listing arrives when its own node is not in the line any more. */
START_TEST(those_in_the_dialect_of_a_wait_that_was_given_up_are_not_mixed)
{
	struct proxy *proxy = fixture_proxy();
	struct kustos_client *other = client_connected(fixture_address(), T_MS);
	struct kustos_client *client = client_connected(proxy_address(proxy),
		T_MS);
	struct kustos_mutex *theirs = dialect(other, KUSTOS_DIALECT_KAZOO);
	struct kustos_mutex *ours = dialect(client, KUSTOS_DIALECT_KAZOO);
	struct kustos_hold *hold = hold_take(theirs);
	struct kustos_cancel *cancel = NULL;
	struct grant g = { .calls = 0 };

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_HOLD);
	check_err(
		kustos_mutex_acquire_async(ours, SOON, cancel, note_grant, &g),
		KUSTOS_OK);
	kustos_cancel_fire(cancel);
	test_eventually(calls_of(&g.calls) == 1, 2000);
	check_err(g.err, KUSTOS_ECANCELED);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	line_wait(1);
	ck_assert_int_eq(kustos_mutex_mixed(ours), 0);
	hold_give(hold);
	kustos_cancel_destroy(cancel);
	kustos_mutex_destroy(ours);
	kustos_mutex_destroy(theirs);
	client_close(client);
	client_close(other);
	proxy_free(proxy);
}
END_TEST

/* Each callback acquires again before it releases its hold. */
struct chain {
	struct kustos_mutex *mutex;
	int left;
	int failed;
};

static void next_link(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct chain *chain = arg;
	bool last = chain->left == 1;

	if (err != KUSTOS_OK ||
		(!last &&
			kustos_mutex_acquire_async(chain->mutex, KUSTOS_FOREVER,
				NULL, next_link, chain) != KUSTOS_OK) ||
		kustos_mutex_unlock(chain->mutex) != KUSTOS_ENOTHELD ||
		kustos_hold_release(hold) != KUSTOS_OK) {
		__atomic_store_n(&chain->failed, 1, __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_sub_fetch(&chain->left, 1, __ATOMIC_SEQ_CST);
}

START_TEST(callbacks_may_ask_again_and_release)
{
	struct kustos_client *client = client_connected(fixture_address(),
		T_MS);
	struct chain chain = { .mutex = mutex_new(client, _i), .left = 200 };

	check_err(kustos_mutex_acquire_async(chain.mutex, KUSTOS_FOREVER, NULL,
			  next_link, &chain),
		KUSTOS_OK);
	test_eventually(calls_of(&chain.left) == 0 || calls_of(&chain.failed),
		10000);
	ck_assert_int_eq(chain.failed, 0);
	kustos_mutex_destroy(chain.mutex);
	client_close(client);
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

/* A callback that takes long delays other callbacks, and nothing else. */
static atomic_bool go_on;

static void take_long(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct grant *g = arg;

	note_grant(g, err, hold);
	while (!atomic_load(&go_on))
		test_pause_1ms();
}

START_TEST(L10_a_callback_that_takes_long_delays_no_lock_and_no_loss)
{
	struct kustos_client *client = client_connected(fixture_address(),
		T_MS);
	struct kustos_mutex *mutex = mutex_new(client, 32);
	struct grant g = { .calls = 0 };
	int lost = 0;

	check_err(kustos_mutex_acquire_async(mutex, SOON, NULL, take_long, &g),
		KUSTOS_OK);
	test_eventually(calls_of(&g.calls) == 1, 2000);
	hold_give(g.hold);
	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
	check_err(kustos_hold_on_lost(kustos_mutex_hold(mutex), count_call,
			  &lost),
		KUSTOS_OK);
	client_kill_session(client);
	test_eventually(calls_of(&lost) == 1, 8000);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_ELOST);
	atomic_store(&go_on, true);
	kustos_mutex_destroy(mutex);
	client_close(client);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, kinds");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_test(t, a_name_space_is_part_of_no_path_that_is_told);
	tcase_add_loop_test(t,
		a_program_with_a_loop_of_its_own_is_called_there_and_only_there,
		0, 2);
	tcase_add_test(t,
		kazoos_dialect_has_kazoos_names_and_excludes_the_other);
	tcase_add_test(t,
		those_in_the_dialect_of_a_wait_that_was_given_up_are_not_mixed);
	tcase_add_loop_test(t, callbacks_may_ask_again_and_release, 0, 2);
	tcase_add_test(t,
		L10_a_callback_that_takes_long_delays_no_lock_and_no_loss);
	return fixture_main(s);
}
