/*
 * scenario_rwlock.c - read/write locks of many clients on shared lines, under
 * all faults: what scenario_mutex.c does, with two sides.
 *
 * Who writes often becomes a reader meanwhile, and so does the foreigner.  What
 * must hold besides:
 *
 *   one holder   who writes is alone, by each holder's own clock, but for the
 *                readers that it has made of itself; those who read have no
 *                writer before them
 *   token        a writer's is greater than those of all before it
 *   downgrade    from a writer's hold to its reader's no other writer comes in;
 *                what was lost makes no reader
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
