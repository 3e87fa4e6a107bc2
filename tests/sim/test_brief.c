/*
 * test_brief.c - every scenario in many short runs, each of which ends after a
 * few faults.  In a long run a later disconnect may mend what an earlier fault
 * has broken: a client that has missed an event looks again, and goes on.  Here
 * nothing happens after the last fault, so a client that waits for nothing is
 * found waiting.
 */
#include "seeds.h"

#include "../unit/unit.h"

#define STEPS 300
#define FIRST 5000
#define COUNT 300

/* Rules that all scenarios have; "naive" is there to break them, "raw" and
   "calm" have no client of ours. */
static const char *const names[] = { "mutex", "one-node", "rwlock", "semaphore",
	"simple", "together", "latch", "selector", "barrier", "crowd",
	"countdown", "queue", "delay-queue", "claim", "keyed-claim", "client",
	"lease" };
#define NAMES (int)(sizeof(names) / sizeof(names[0]))

static void survive(const char *name, unsigned with)
{
	struct sim_options options = { .seed = FIRST,
		.steps = STEPS,
		.with = with };

	seeds_survive_as(seeds_of(name), &options, COUNT);
}

START_TEST(nobody_waits_for_a_later_fault)
{
	survive(names[_i], 0);
}
END_TEST

START_TEST(nobody_waits_after_two_losses_in_a_row)
{
	survive(names[_i], 1u << SIM_RELAPSE);
}
END_TEST

START_TEST(nobody_waits_after_late_news)
{
	survive(names[_i], 1u << SIM_SLOW);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("brief runs in the simulator");
	TCase *t = tcase_create("runs");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, nobody_waits_for_a_later_fault, 0, NAMES);
	tcase_add_loop_test(t, nobody_waits_after_two_losses_in_a_row, 0,
		NAMES);
	tcase_add_loop_test(t, nobody_waits_after_late_news, 0, NAMES);
	suite_add_tcase(s, t);
	return unit_main(s);
}
