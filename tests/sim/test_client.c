/* test_client.c - the real client survives the simulator
   (scenario_client.c). */
#include "seeds.h"

#include "../unit/unit.h"

#include <stdlib.h>

static const struct sim_scenario *client(void)
{
	return seeds_of("client");
}

START_TEST(the_client_survives_all_faults)
{
	seeds_survive(client(), 60);
}
END_TEST

START_TEST(S26_a_lease_of_two_ticks_survives_pauses_and_cut_off_followers)
{
	seeds_survive(seeds_of("lease"), 100);
}
END_TEST

START_TEST(it_does_work_meanwhile)
{
	struct sim_options options = { .seed = 5, .steps = SEED_STEPS };
	struct sim_result result;

	sim_run(client(), &options, &result);
	ck_assert(!result.failed);
	ck_assert_uint_gt(result.requests, 1000);
	free(result.trace);
}
END_TEST

START_TEST(a_seed_repeats_the_client_event_for_event)
{
	seeds_repeat(client());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("client in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, the_client_survives_all_faults);
	tcase_add_test(t,
		S26_a_lease_of_two_ticks_survives_pauses_and_cut_off_followers);
	tcase_add_figures(t, it_does_work_meanwhile);
	tcase_add_test(t, a_seed_repeats_the_client_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
