/* test_mutex.c - mutexes survive the simulator (scenario_mutex.c). */
#include "lock_seeds.h"

#include "../unit/unit.h"

static const struct sim_scenario *mutex(void)
{
	return seeds_of("mutex");
}

/* Ten million steps. */
START_TEST(mutexes_survive_all_faults)
{
	seeds_survive(mutex(), 500);
}
END_TEST

START_TEST(mutexes_survive_stalls)
{
	seeds_survive_stalls(mutex(), 30);
}
END_TEST

/* Requests go out on a connection of which it is not known yet that it is a new one. */
START_TEST(mutexes_survive_late_completions)
{
	seeds_survive_with(mutex(), SIM_SLOW, 30);
}
END_TEST

START_TEST(L08_mutexes_survive_servers_that_set_no_watches_again)
{
	seeds_survive_with(mutex(), SIM_FORGET, 60);
}
END_TEST

START_TEST(mutexes_survive_connections_that_break_again)
{
	seeds_survive_with(mutex(), SIM_RELAPSE, 30);
}
END_TEST

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	struct mutex_figures all = lock_seeds_do(mutex(), 20, 0);

	ck_assert_uint_gt(all.granted, 1000);
	ck_assert_uint_gt(all.handed_over, 60);
	ck_assert_uint_gt(all.lost, 20);
	ck_assert_uint_gt(all.saturated, 10);
	ck_assert_uint_gt(all.busy, 100);
	ck_assert_uint_gt(all.revoked, 10);
	ck_assert_uint_gt(all.proofs, 100);
}
END_TEST

/* The server is asked less than once for each acquisition, however many wait. */
START_TEST(L28_a_release_does_not_wake_the_herd)
{
	lock_seeds_wake_no_herd(mutex());
}
END_TEST

START_TEST(a_seed_repeats_the_mutexes_event_for_event)
{
	seeds_repeat(mutex());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutexes in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, mutexes_survive_all_faults);
	tcase_add_test(t, mutexes_survive_stalls);
	tcase_add_test(t, mutexes_survive_late_completions);
	tcase_add_test(t, mutexes_survive_connections_that_break_again);
	tcase_add_test(t,
		L08_mutexes_survive_servers_that_set_no_watches_again);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_figures(t, L28_a_release_does_not_wake_the_herd);
	tcase_add_test(t, a_seed_repeats_the_mutexes_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
