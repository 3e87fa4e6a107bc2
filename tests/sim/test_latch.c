/*
 * test_latch.c - latches survive the simulator (scenario_latch.c).
 */
#include "latch_actor.h"
#include "seeds.h"
#include "../unit/unit.h"

#ifndef SEEDS
#define SEEDS 80
#endif

START_TEST(L12_L13_S11_latches_survive_all_faults)
{
	seeds_survive(seeds_of("latch"), SEEDS);
}
END_TEST

START_TEST(L13_L14_S09_latches_of_one_node_survive_all_faults)
{
	seeds_survive(seeds_of("one-node"), SEEDS / 2);
}
END_TEST

START_TEST(latches_survive_stalls)
{
	seeds_survive_stalls(seeds_of("latch"), 30);
	seeds_survive_stalls(seeds_of("one-node"), 30);
}
END_TEST

static struct latch_figures do_seeds(const char *scenario, uint64_t count)
{
	struct sim_options options = { .steps = SEED_STEPS };
	struct latch_figures sum = { 0 };
	uint64_t *to = (uint64_t *)&sum;
	struct sim_result result;

	for (options.seed = 1; options.seed <= count; options.seed++) {
		sim_run(seeds_of(scenario), &options, &result);
		free(result.trace);
		ck_assert(!result.failed);
		struct latch_figures one = latch_last_figures();
		const uint64_t *from = (const uint64_t *)&one;
		for (size_t i = 0; i < sizeof(sum) / sizeof(*to); i++)
			to[i] += from[i];
	}
	return sum;
}

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	struct latch_figures all = do_seeds("latch", 60);

	ck_assert_uint_gt(all.gains, 1000);
	ck_assert_uint_gt(all.losses, 1000);
	ck_assert_uint_gt(all.edited, 1000);
	ck_assert_uint_gt(all.handed, 200);
	ck_assert_uint_gt(all.absent, 50);
	ck_assert_uint_gt(all.changed, 2);
	ck_assert_uint_gt(all.seized, 50);
	ck_assert_uint_gt(all.told, 1000);
	ck_assert_uint_gt(all.crashes, 50);
	ck_assert_uint_gt(all.resumed, 20);
	ck_assert_uint_gt(all.led_on, 20);
}
END_TEST

START_TEST(those_of_one_node_do_what_they_can)
{
	struct latch_figures all = do_seeds("one-node", 40);

	ck_assert_uint_gt(all.gains, 500);
	ck_assert_uint_gt(all.losses, 300);
	ck_assert_uint_gt(all.edited, 500);
	ck_assert_uint_gt(all.told, 500);
}
END_TEST

START_TEST(a_seed_repeats_the_latches_event_for_event)
{
	seeds_repeat(seeds_of("latch"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latches in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, L12_L13_S11_latches_survive_all_faults);
	tcase_add_test(t, L13_L14_S09_latches_of_one_node_survive_all_faults);
	tcase_add_test(t, latches_survive_stalls);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_test(t, those_of_one_node_do_what_they_can);
	tcase_add_test(t, a_seed_repeats_the_latches_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
