/* test_rwlock.c - read/write locks survive the simulator
   (scenario_rwlock.c). */
#include "lock_seeds.h"

#include "../unit/unit.h"

static const struct sim_scenario *rwlock(void)
{
	return seeds_of("rwlock");
}

/* Six million steps. */
START_TEST(S13_L19_read_write_locks_survive_all_faults)
{
	seeds_survive(rwlock(), 300);
}
END_TEST

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	struct mutex_figures all = lock_seeds_do(rwlock(), 20, 0);

	ck_assert_uint_gt(all.shared, 1000);
	ck_assert_uint_gt(all.granted - all.shared, 500);
	ck_assert_uint_gt(all.together, 1000);
	ck_assert_uint_gt(all.downgraded, 200);
	ck_assert_uint_gt(all.refused, 20);
	ck_assert_uint_gt(all.copies, all.downgraded);
	ck_assert_uint_gt(all.handed_over, 10);
	ck_assert_uint_gt(all.lost, 20);
	ck_assert_uint_gt(all.saturated, 10);
	ck_assert_uint_gt(all.busy, 100);
	ck_assert_uint_gt(all.revoked, 10);
	ck_assert_uint_gt(all.proofs, 50);
}
END_TEST

/* A writer lists once for each node that stood before it, a reader seldom. */
START_TEST(L28_a_release_does_not_wake_the_herd)
{
	lock_seeds_wake_no_herd(rwlock());
}
END_TEST

START_TEST(a_seed_repeats_the_read_write_locks_event_for_event)
{
	seeds_repeat(rwlock());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("read/write locks in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, S13_L19_read_write_locks_survive_all_faults);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_figures(t, L28_a_release_does_not_wake_the_herd);
	tcase_add_test(t, a_seed_repeats_the_read_write_locks_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
