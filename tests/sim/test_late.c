/*
 * test_late.c - a follower's write is held, and is done when its session comes
 * back there: all recipes survive that.
 */
#include "seeds.h"

#include "../unit/unit.h"

static const char *const names[] = { "barrier", "crowd", "claim", "keyed-claim",
	"client", "countdown", "latch", "mutex", "one-node", "queue",
	"delay-queue", "rwlock", "selector", "semaphore", "simple",
	"together" };

/* Late writes do happen, but none that the client has made up for elsewhere. */
START_TEST(S06_nothing_is_done_late_that_was_made_up_for)
{
	uint64_t late = seeds_survive_with(seeds_of(names[_i]), SIM_LATE, 40);

	ck_assert(late > 0 || TIMES_LESS > 1);
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
