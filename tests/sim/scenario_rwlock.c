/*
 * scenario_rwlock.c - read/write locks of many clients on shared lines, under
 * all faults: like scenario_mutex.c, but with readers and writers.
 *
 * A writer often becomes a reader while it holds the lock, and so does the
 * foreigner.  The rules of scenario_mutex.c hold, and in addition:
 *
 *   one holder   a writer holds alone, by each holder's own clock, except for
 *                the readers that it has become itself; a reader has no writer
 *                before it
 *   token        a writer's token is greater than all before it
 *   downgrade    no other writer comes in between a writer's hold and its
 *                reader's; a lost hold cannot become a reader's
 *   served       readers and writers do not wait for each other
 */
#include "mutex_actor.h"

static void begin(struct sim *sim)
{
	mutex_shared(sim)->recipe = &rw_recipe;
}

const struct sim_scenario scenario_rwlock = {
	.name = "rwlock",
	.about = "read/write locks of many clients on shared lines, all faults",
	.begin = begin,
	LOCK_SCENARIO,
};
