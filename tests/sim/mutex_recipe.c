/* mutex_recipe.c - the parts of the locks' scenario that only a mutex has. */
#include "mutex_actor.h"

#include <kustos/mutex.h>

static const struct mark marks[] = {
	{ "lock-", false },
	{ "__lock__", false },
	{ "__lock__-", false },
	{ NULL, false },
};

/* The first of these names are contenders. */
static const char *const names[] = {
	"0123456789abcdef0123456789abcdef__lock__",
	"_c_0123456789abcdef0123456789abcdef-lock-",
	"_c_01234567-89ab-4cde-8f01-23456789abcd-lock-",
	"x-0123456789abcdef-",
	"x-72057594037927936-",
	"x--72057594037927936-",
	"lock-",
	"note-",
	"_c_01234567-89ab-4cde-8f01-23456789abcd-READ-",
	"x-zz-",
};

static enum kustos_err make(struct actor *a, struct object *object)
{
	struct kustos_mutex_options options = KUSTOS_MUTEX_OPTIONS_INIT;
	struct sim_random *r = subject_random(&a->it);
	struct kustos_mutex *mutex = NULL;

	options.local_handoffs = object->local_handoffs;
	object->kazoo = sim_random_below(r, 8) == 0;
	options.dialect = object->kazoo ? KUSTOS_DIALECT_KAZOO
					: KUSTOS_DIALECT_CURATOR;
	options.holder_record = sim_random_below(r, 4) == 0;
	if (sim_random_below(r, 4) == 0) {
		options.on_revoke = turn_asked;
		options.on_revoke_arg = a;
	}
	enum kustos_err err = kustos_mutex_create(a->it.client,
		mutex_lines[object->line], &options, &mutex);
	object->lock = mutex;
	return err;
}

static void free_lock(struct object *object)
{
	kustos_mutex_destroy(object->lock);
}

static enum kustos_err ask(struct turn *turn, const struct object *object,
	kustos_granted_fn *granted)
{
	return kustos_mutex_acquire_async(object->lock, turn->ask.deadline,
		turn->ask.cancel, granted, turn);
}

const struct recipe mutex_recipe = {
	.marks = marks,
	.mark_count = sizeof(marks) / sizeof(marks[0]),
	.names = names,
	.name_count = sizeof(names) / sizeof(names[0]),
	.make = make,
	.free = free_lock,
	.ask = ask,
};
