/*
 * simple.c - the calls of <kustos/simple.h>, passed on to a gate for a line of
 * one (lib/seat.c).
 */
#include <kustos/simple.h>

#include "recipe.h"

#include <stdlib.h>

struct kustos_simple {
	struct ku_gate *gate;
};

static struct ku_gate *gate_of(const struct kustos_simple *lock)
{
	return lock != NULL ? lock->gate : NULL;
}

static bool read_options(const struct kustos_simple_options *from,
	struct kustos_simple_options *to)
{
	return ku_recipe_options(to, sizeof(*to), from) && to->reserved == 0 &&
		to->local_handoffs >= 0 &&
		ku_recipe_storable(to->data, to->data_len);
}

enum kustos_err kustos_simple_create(struct kustos_client *client,
	const char *path, const struct kustos_simple_options *options,
	struct kustos_simple **out)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || out == NULL || !read_options(options, &o))
		return KUSTOS_EINVAL;
	struct ku_gate_wish wish = {
		.rule = &ku_rule_seat,
		.local_handoffs = o.local_handoffs,
		.unlock_waits = o.unlock_waits != 0,
		.payload.record = o.holder_record != 0,
		.payload.reason = o.reason,
		.payload.data = o.data,
		.payload.len = o.data_len,
		.on_revoke = o.on_revoke,
		.on_revoke_arg = o.on_revoke_arg,
	};
	struct kustos_simple *lock = calloc(1, sizeof(*lock));
	if (lock == NULL)
		return KUSTOS_ENOMEM;
	err = ku_gate_create(client, path, &wish, &lock->gate);
	if (err == KUSTOS_OK)
		*out = lock;
	else
		free(lock);
	return err;
}

void kustos_simple_destroy(struct kustos_simple *lock)
{
	if (lock != NULL && ku_gate_destroy(lock->gate))
		free(lock);
}

enum kustos_err kustos_simple_acquire(struct kustos_simple *lock,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	return ku_gate_acquire(gate_of(lock), NULL, deadline, cancel, out);
}

enum kustos_err kustos_simple_acquire_async(struct kustos_simple *lock,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg)
{
	return ku_gate_acquire_async(gate_of(lock), NULL, deadline, cancel,
		granted, arg);
}

enum kustos_err kustos_simple_lock(struct kustos_simple *lock,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	return ku_gate_lock(gate_of(lock), NULL, deadline, cancel);
}

enum kustos_err kustos_simple_unlock(struct kustos_simple *lock)
{
	return ku_gate_unlock(gate_of(lock));
}

struct kustos_hold *kustos_simple_hold(struct kustos_simple *lock)
{
	return ku_gate_hold(gate_of(lock));
}

int64_t kustos_simple_token(struct kustos_simple *lock)
{
	return ku_gate_token(gate_of(lock));
}

struct kustos_lockable kustos_simple_lockable(struct kustos_simple *lock)
{
	return ku_gate_lockable(gate_of(lock));
}
