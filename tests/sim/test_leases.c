/*
 * test_leases.c - what the holder of leases learns after it was paused.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/semaphore.h>
#include <string.h>

#define SEM "/sem"
#define LEASES SEM "/leases"
#define COUNT 2

static struct bench bench;
static struct kustos_client *client;
static struct kustos_semaphore *sem;
static struct kustos_hold *leases[COUNT];

static void granted(void *arg, enum kustos_err err,
	struct kustos_hold *const *holds, int count)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_OK);
	ck_assert_int_eq(count, COUNT);
	memcpy(leases, holds, sizeof(leases));
}

static void setup(void)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	struct ku_zk *rival = lone_setup(&bench, 0);
	lone_make(&bench, rival, SEM);
	lone_make(&bench, rival, LEASES);
	client = lone_connected(&bench, &ku_zk_sim);
	o.max = COUNT;
	ck_assert_int_eq(kustos_semaphore_create(client, SEM, &o, &sem),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_semaphore_acquire_many_async(sem, COUNT,
				 KUSTOS_FOREVER, NULL, granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(kustos_hold_state(leases[0]), KUSTOS_HOLD_HELD);
}

static void teardown(void)
{
	for (int i = 0; i < COUNT; i++)
		ck_assert_int_eq(kustos_hold_release(leases[i]), KUSTOS_ELOST);
	kustos_semaphore_destroy(sem);
	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	lone_teardown(&bench, client);
}

static void ask_state(struct kustos_hold *lease)
{
	ck_assert_int_eq(kustos_hold_state(lease), KUSTOS_HOLD_LOST);
}

static void ask_remaining(struct kustos_hold *lease)
{
	ck_assert_int_eq(kustos_hold_remaining_ms(lease), 0);
}

static void ask_to_write(struct kustos_hold *lease)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_SET,
		.path = SEM,
		.data = "mine",
		.len = 4,
		.version = -1 };

	ck_assert_int_eq(kustos_hold_multi_async(lease, &op, 1, KUSTOS_FOREVER,
				 NULL, lone_ignore, NULL),
		KUSTOS_ELOST);
}

static void ask_nothing(struct kustos_hold *lease)
{
	(void)lease; /* its release says so */
}

/* None of the client's threads could run during the pause.  By its end another
   may have the leases. */
START_TEST(S01_who_had_leases_before_a_pause_is_told_first_that_they_are_lost)
{
	static void (*const questions[])(struct kustos_hold *) = { ask_state,
		ask_remaining, ask_to_write, ask_nothing };

	sched_pause(&bench.sched, LONE_MACHINE,
		bench.sched.now_ns + 3 * LONE_TIMEOUT_MS * KU_NS_PER_MS);
	bench_run_ms(&bench, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(model_child_count(bench.model, LEASES), 0);
	questions[_i](leases[0]);
	questions[_i](leases[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("leases of a lone client");
	TCase *t = tcase_create("a pause");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		S01_who_had_leases_before_a_pause_is_told_first_that_they_are_lost,
		0, 4);
	suite_add_tcase(s, t);
	return unit_main(s);
}
