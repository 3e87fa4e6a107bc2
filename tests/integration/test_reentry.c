/*
 * test_reentry.c - a holder enters its lock again without needing the client's
 * own mutex, and still learns of a loss.
 */
#include "client.h"
#include "gate_impl.h"
#include "mutex_fixture.h"

#include <kustos/rwlock.h>

#define T_MS 40000
#define DEPTH 3

/* Added to the machine's clock: how long the machine slept. */
static _Atomic int64_t slept_ns;

static int64_t boot_after_sleep(void *arg)
{
	return ku_boot(&ku_clock_real) + *(_Atomic int64_t *)arg;
}

static int64_t monotonic(void *arg)
{
	(void)arg;
	return ku_monotonic(&ku_clock_real);
}

static struct kustos_client *client;
static struct kustos_mutex *mutex;

static void set_up(void)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct ku_env env = ku_env_real;

	env.clock.monotonic = monotonic;
	env.clock.boot = boot_after_sleep;
	env.clock.arg = &slept_ns;
	slept_ns = 0;
	check_err(ku_client_open(&o, &env, &client), KUSTOS_OK);
	client_wait(client, KUSTOS_STATE_CONNECTED, PATIENCE_MS);
	mutex = mutex_new(client, 32);
	for (int i = 0; i < DEPTH; i++)
		check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
}

static void tear_down(void)
{
	kustos_mutex_destroy(mutex);
	/* The client's timers are set for the later clock, so do not wait for
	   them. */
	client_drop(client);
}

static enum kustos_err lock_again(void)
{
	enum kustos_err err = kustos_mutex_lock(mutex, KUSTOS_NOW, NULL);

	if (err == KUSTOS_OK)
		check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	return err;
}

static enum kustos_err look_at_token(void)
{
	return kustos_mutex_token(mutex) > 0 ? KUSTOS_OK : KUSTOS_ELOST;
}

static enum kustos_err unlock(void)
{
	return kustos_mutex_unlock(mutex);
}

static enum kustos_err (*const calls[])(
	void) = { lock_again, look_at_token, unlock };

/* Unlock "depth" times; "calls" may have unlocked once. */
static void unlock_all(int depth, enum kustos_err expected)
{
	for (int i = 0; i < depth; i++)
		check_err(unlock(), expected);
	check_err(unlock(), KUSTOS_ENOTHELD);
}

/* The client's mutex is not recursive, so a call that needs it would never
   return. */
START_TEST(a_held_lock_is_entered_again_whoever_has_the_client)
{
	ku_lock(client);
	for (int i = 0; i < 2; i++)
		check_err(calls[_i](), KUSTOS_OK);
	ku_unlock(client);
}
END_TEST

/* Our timers do not fire while the machine sleeps, and the test does not wait
   for one. */
START_TEST(S01_S05_after_a_sleep_whichever_call_is_first_tells_the_loss)
{
	check_err(calls[_i](), KUSTOS_OK);
	slept_ns = T_MS * KU_NS_PER_MS;
	check_err(calls[_i](), KUSTOS_ELOST);
	check_err(lock_again(), KUSTOS_ELOST);
	check_err(look_at_token(), KUSTOS_ELOST);
	unlock_all(calls[_i] == unlock ? DEPTH - 2 : DEPTH, KUSTOS_ELOST);
}
END_TEST

/* The node is deleted; the session lives, and its lease is good. */
START_TEST(S05_S09_a_loss_between_two_entries_is_told_at_each_level)
{
	struct kustos_hold *hold = kustos_mutex_hold(mutex);

	check_err(calls[_i](), KUSTOS_OK);
	ck_assert_int_eq(raw_delete(fixture_address(), kustos_hold_path(hold)),
		0);
	hold_wait(hold, KUSTOS_HOLD_LOST, 1000);
	ck_assert_int_gt(kustos_client_lease_ms(client), 0);
	check_err(calls[_i](), KUSTOS_ELOST);
	check_err(lock_again(), KUSTOS_ELOST);
	check_err(look_at_token(), KUSTOS_ELOST);
	unlock_all(calls[_i] == unlock ? DEPTH - 2 : DEPTH, KUSTOS_ELOST);
}
END_TEST

/* Read/write locks do the same, each side by itself. */
START_TEST(S01_S05_a_side_of_a_read_write_lock_tells_it_as_well)
{
	enum kustos_side side = (enum kustos_side)_i;
	struct kustos_rwlock *rw;

	check_err(kustos_rwlock_create(client, LINE "-rw", NULL, &rw),
		KUSTOS_OK);
	for (int i = 0; i < 2; i++)
		check_err(kustos_rwlock_lock(rw, side, SOON, NULL), KUSTOS_OK);
	slept_ns = T_MS * KU_NS_PER_MS;
	check_err(kustos_rwlock_lock(rw, side, SOON, NULL), KUSTOS_ELOST);
	for (int i = 0; i < 2; i++)
		check_err(kustos_rwlock_unlock(rw, side), KUSTOS_ELOST);
	check_err(kustos_rwlock_unlock(rw, side), KUSTOS_ENOTHELD);
	kustos_rwlock_destroy(rw);
}
END_TEST

#define THREADS 8
#define ROUNDS 100

static atomic_int inside;

/* What others have locked is not ours, whoever held it before. */
static void check_not_held(void)
{
	check_err(unlock(), KUSTOS_ENOTHELD);
	ck_assert_ptr_null(kustos_mutex_hold(mutex));
}

static void *enter_twice(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		check_not_held();
		for (int j = 0; j < 2; j++)
			check_err(kustos_mutex_lock(mutex, SOON, NULL),
				KUSTOS_OK);
		ck_assert_int_eq(atomic_fetch_add(&inside, 1), 0);
		check_err(unlock(), KUSTOS_OK);
		ck_assert_int_eq(atomic_fetch_sub(&inside, 1), 1);
		check_err(unlock(), KUSTOS_OK);
	}
	check_not_held();
	return NULL;
}

START_TEST(U01_only_who_holds_it_enters_again_whoever_held_it_before)
{
	pthread_t threads[THREADS];

	unlock_all(DEPTH, KUSTOS_OK);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, enter_twice, NULL),
			0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

START_TEST(P05_who_comes_after_another_is_noted_in_the_same_place)
{
	static const struct ku_gate_wish wish = { .rule = &ku_rule_lock,
		.leaf = "lock-" };
	struct ku_gate *gate;

	check_err(ku_gate_create(client, LINE "-noted", &wish, &gate),
		KUSTOS_OK);
	for (int i = 0; i < 3; i++) {
		check_err(ku_gate_lock(gate, NULL, SOON, NULL), KUSTOS_OK);
		check_err(ku_gate_unlock(gate), KUSTOS_OK);
	}
	ck_assert_ptr_nonnull(gate->locks);
	ck_assert_ptr_null(gate->locks->next);
	ku_gate_destroy(gate);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("locks that are entered again");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t,
		a_held_lock_is_entered_again_whoever_has_the_client, 0, 3);
	tcase_add_loop_test(t,
		S01_S05_after_a_sleep_whichever_call_is_first_tells_the_loss, 0,
		3);
	tcase_add_loop_test(t,
		S05_S09_a_loss_between_two_entries_is_told_at_each_level, 0, 3);
	tcase_add_loop_test(t,
		S01_S05_a_side_of_a_read_write_lock_tells_it_as_well, 0, 2);
	tcase_add_test(t,
		U01_only_who_holds_it_enters_again_whoever_held_it_before);
	tcase_add_test(t,
		P05_who_comes_after_another_is_noted_in_the_same_place);
	return fixture_main(s);
}
