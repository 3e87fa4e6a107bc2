/*
 * test_muster_ends.c - a member of a double barrier gives up at any moment:
 * with an idle wire, with a full one, or without a connection.
 */
#include "muster_bed.h"

#include <kustos/cancel.h>
#include <kustos/node.h>

/* How long each message takes; and the time after which a member waits for
   others. */
#define WAY_MS 4
#define LONG_MS 50

static struct kustos_cancel *cancel;

static void setup(void)
{
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	open_member(&ku_zk_sim, WAY_MS);
}

static void teardown(void)
{
	close_unwatched();
	kustos_cancel_destroy(cancel);
}

static void enter_for_a_while(void)
{
	entry = -1;
	ck_assert_int_eq(kustos_double_barrier_enter_async(member,
				 KUSTOS_FOREVER, cancel, ended, &entry),
		KUSTOS_OK);
}

/* Cancel the call.  Nothing of the member may be left, and the other member
   stays. */
static void give_up(const int *end)
{
	kustos_cancel_fire(cancel);
	run_ms(3000);
	ck_assert_int_eq(*end, KUSTOS_ECANCELED);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 1);
}

START_TEST(P05_who_gives_up_its_entry_leaves_nothing_behind)
{
	enter_for_a_while();
	run_ms(_i);
	give_up(&entry);
}
END_TEST

START_TEST(P05_nor_does_who_was_put_off)
{
	enter_for_a_while();
	run_ms(_i);
	model_set_throttle(bench.model, 1000000);
	run_ms(_i);
	kustos_cancel_fire(cancel);
	run_ms(20);
	model_set_throttle(bench.model, 0);
	give_up(&entry);
}
END_TEST

/* The member gives up during an outage; its node goes afterwards. */
START_TEST(P05_nor_does_who_gives_up_without_a_connection)
{
	enter_for_a_while();
	run_ms(_i);
	model_server_stop(bench.model, 0);
	run_ms(2);
	kustos_cancel_fire(cancel);
	run_ms(10);
	model_server_start(bench.model, 0);
	give_up(&entry);
}
END_TEST

/* The program sends so many requests that each request has to wait. */
static void run_busy_ms(int ms)
{
	while (ms-- > 0) {
		for (int i = 0; i < 2; i++)
			ck_assert_int_eq(kustos_exists_async(client, "/",
						 KUSTOS_FOREVER, NULL,
						 lone_ignore, NULL),
				KUSTOS_OK);
		run_ms(1);
	}
}

START_TEST(P05_nor_does_who_gives_up_before_it_was_asked_for)
{
	client->env.in_flight = 4;
	enter_for_a_while();
	run_busy_ms(_i);
	give_up(&entry);
	/* Its next node is watched again. */
	enter(KUSTOS_FOREVER);
	run_ms(200);
	drop(own_path());
	run_ms(200);
	ck_assert_int_eq(entry, -1);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
}
END_TEST

/* The member waits for another, which does not go. */
START_TEST(P05_nor_does_who_gives_up_its_departure)
{
	enter(KUSTOS_FOREVER);
	run_ms(LONG_MS);
	let_in();
	drop(SECOND);
	departure = -1;
	ck_assert_int_eq(kustos_double_barrier_leave_async(member,
				 KUSTOS_FOREVER, cancel, ended, &departure),
		KUSTOS_OK);
	run_ms(_i);
	kustos_cancel_fire(cancel);
	run_ms(1000);
	ck_assert_int_eq(departure, KUSTOS_ECANCELED);
	if (model_stat(bench.model, READY, NULL))
		drop(READY);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 1);
}
END_TEST

/* Its last request, or the deletion of its node, may still be under way. */
START_TEST(L18_who_has_given_up_and_comes_again_at_once_is_in_with_the_others)
{
	int first = -1;

	ck_assert_int_eq(kustos_double_barrier_enter_async(member,
				 KUSTOS_FOREVER, cancel, ended, &first),
		KUSTOS_OK);
	run_ms(_i);
	kustos_cancel_fire(cancel);
	enter(KUSTOS_FOREVER);
	run_ms(200);
	ck_assert_int_eq(first, KUSTOS_ECANCELED);
	ck_assert_int_eq(entry, -1);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	let_in();
}
END_TEST

/* A request about the node for which it waits may be answered meanwhile. */
START_TEST(L18_who_has_given_up_its_departure_and_comes_again_hears_of_ready)
{
	enter(KUSTOS_FOREVER);
	run_ms(LONG_MS);
	let_in();
	drop(SECOND);
	drop(READY);
	departure = -1;
	ck_assert_int_eq(kustos_double_barrier_leave_async(member,
				 KUSTOS_FOREVER, cancel, ended, &departure),
		KUSTOS_OK);
	run_ms(_i);
	kustos_cancel_fire(cancel);
	enter(KUSTOS_FOREVER);
	run_ms(200);
	ck_assert_int_eq(departure, KUSTOS_ECANCELED);
	ck_assert_int_eq(entry, -1);
	let_in();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("members of double barriers that give up");
	TCase *t = tcase_create("at any time");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, P05_who_gives_up_its_entry_leaves_nothing_behind,
		0, LONG_MS);
	tcase_add_loop_test(t, P05_nor_does_who_was_put_off, 0, LONG_MS);
	tcase_add_loop_test(t, P05_nor_does_who_gives_up_without_a_connection,
		0, LONG_MS);
	tcase_add_loop_test(t,
		P05_nor_does_who_gives_up_before_it_was_asked_for, 0,
		3 * LONG_MS);
	tcase_add_loop_test(t, P05_nor_does_who_gives_up_its_departure, 0,
		LONG_MS);
	tcase_add_loop_test(t,
		L18_who_has_given_up_and_comes_again_at_once_is_in_with_the_others,
		0, LONG_MS);
	tcase_add_loop_test(t,
		L18_who_has_given_up_its_departure_and_comes_again_hears_of_ready,
		0, LONG_MS);
	suite_add_tcase(s, t);
	return unit_main(s);
}
