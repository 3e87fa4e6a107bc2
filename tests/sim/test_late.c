/*
 * test_late.c - what a follower has kept back is done when the session is back there,
 * and all recipes survive that.
 */
#include "seeds.h"

#include "../unit/unit.h"

static const char *const names[] = { "barrier", "crowd", "claim", "keyed-claim",
	"client", "countdown", "latch", "mutex", "one-node", "queue",
	"delay-queue", "rwlock", "selector", "semaphore", "simple",
	"together" };

static void survives(const struct sim_scenario *scenario,
	struct sim_result *result)
{
	const struct sim_options options = { .seed = 1000,
		.steps = SEED_STEPS,
		.with = 1u << SIM_LATE };
	struct sim_text report = { 0 };

	if (!sim_hunt(scenario, &options, 40 / TIMES_LESS, result, &report)) {
		fputs(report.bytes, stderr); /* too long for a message */
		ck_abort_msg("%s: %s", result->invariant, result->message);
	}
	free(result->trace);
	free(report.bytes);
}

/* Also what is done as soon as it can be, which is nothing that was done elsewhere. */
START_TEST(S06_nothing_is_done_late_that_was_made_up_for)
{
	struct sim_result result;

	survives(seeds_of(names[_i]), &result);
	ck_assert_uint_gt(result.late, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("late in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, S06_nothing_is_done_late_that_was_made_up_for, 0,
		(int)UNIT_COUNT(names));
	suite_add_tcase(s, t);
	return unit_main(s);
}
