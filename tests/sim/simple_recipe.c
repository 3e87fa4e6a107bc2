/*
 * simple_recipe.c - the parts of the locks' scenario that only a simple lock
 * has; and its scenario, which is that of the mutex except that there is no
 * order.
 *
 * The line's own path is the node.  The foreigner takes it, too, and gives it
 * up by ending its session, as it could not tell its own node from another's.
 * These rules matter most:
 *
 *   one holder   as for the mutex; the holder has the node with its token
 *   own node     nobody deletes another's node, except in the moment after a
 *                deletion from outside of which it does not know yet
 *   served       nobody waits for ever for a node that nobody has
 *   orphan       nothing is left
 */
#include "mutex_actor.h"

#include <kustos/simple.h>

static enum kustos_err make(struct actor *a, struct object *object)
{
	struct kustos_simple_options options = KUSTOS_SIMPLE_OPTIONS_INIT;
	struct sim_random *r = subject_random(&a->it);
	struct kustos_simple *lock = NULL;

	options.local_handoffs = object->local_handoffs;
	options.holder_record = sim_random_below(r, 4) == 0;
	if (sim_random_below(r, 4) == 0) {
		options.on_revoke = turn_asked;
		options.on_revoke_arg = a;
	}
	enum kustos_err err = kustos_simple_create(a->it.client,
		mutex_lines[object->line], &options, &lock);
	object->lock = lock;
	return err;
}

static void free_lock(struct object *object)
{
	kustos_simple_destroy(object->lock);
}

static enum kustos_err ask(struct turn *turn, const struct object *object,
	kustos_granted_fn *granted)
{
	return kustos_simple_acquire_async(object->lock, turn->ask.deadline,
		turn->ask.cancel, granted, turn);
}

static const struct recipe simple_recipe = {
	.seat = true,
	.make = make,
	.free = free_lock,
	.ask = ask,
};

static void begin(struct sim *sim)
{
	mutex_shared(sim)->recipe = &simple_recipe;
}

const struct sim_scenario scenario_simple = {
	.name = "simple",
	.about = "simple locks of many clients on shared nodes, all faults",
	.begin = begin,
	LOCK_SCENARIO,
};
