/* test_client.c - the real client survives the simulator. */
#include "sim.h"

#include "../unit/unit.h"

#include <stdlib.h>

static const struct sim_scenario *client(void)
{
	const struct sim_scenario *scenario = sim_find_scenario("client");

	ck_assert_ptr_nonnull(scenario);
	return scenario;
}

START_TEST(the_client_survives_all_faults)
{
	struct sim_options options = { .seed = 1000, .steps = 20000 };
	struct sim_result result;
	struct sim_text report = { 0 };

	if (!sim_hunt(client(), &options, 60, &result, &report))
		ck_abort_msg("%s", report.bytes);
	free(result.trace);
	free(report.bytes);
}
END_TEST

START_TEST(it_does_work_meanwhile)
{
	struct sim_options options = { .seed = 5, .steps = 20000 };
	struct sim_result result;

	sim_run(client(), &options, &result);
	ck_assert(!result.failed);
	ck_assert_uint_gt(result.requests, 1000);
	free(result.trace);
}
END_TEST

START_TEST(a_seed_repeats_the_client_event_for_event)
{
	struct sim_options options = { .seed = 77, .steps = 20000 };
	struct sim_result first, second;

	sim_run(client(), &options, &first);
	sim_run(client(), &options, &second);
	ck_assert_uint_eq(first.hash, second.hash);
	options.seed = 78;
	free(second.trace);
	sim_run(client(), &options, &second);
	ck_assert_uint_ne(first.hash, second.hash);
	free(first.trace);
	free(second.trace);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("client in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, the_client_survives_all_faults);
	tcase_add_test(t, it_does_work_meanwhile);
	tcase_add_test(t, a_seed_repeats_the_client_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
