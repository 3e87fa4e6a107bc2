/*
 * simple.c - the calls of <kustos/simple.h>, passed on to a gate for a line of
 * one (lib/seat.c).
 */
#include <kustos/simple.h>

#include "recipe.h"

#include <stdlib.h>

struct kustos_simple {
	struct kustos_client *client;
	struct ku_gate *gate;
	bool unlock_waits;
};

static bool read_options(const struct kustos_simple_options *from,
	struct kustos_simple_options *to)
{
	struct kustos_simple_options defaults = KUSTOS_SIMPLE_OPTIONS_INIT;

	*to = defaults;
	return ku_recipe_options(to, sizeof(*to), from) &&
		to->local_handoffs >= 0 &&
		ku_recipe_storable(to->data, to->data_len);
}

enum kustos_err kustos_simple_create(struct kustos_client *client,
	const char *path, const struct kustos_simple_options *options,
	struct kustos_simple **out)
{
	struct kustos_simple_options o;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || out == NULL || !read_options(options, &o))
		return KUSTOS_EINVAL;
	struct ku_gate_wish wish = {
		.rule = &ku_rule_seat,
		.local_handoffs = o.local_handoffs,
		.payload.record = o.holder_record != 0,
		.payload.reason = o.reason,
		.payload.data = o.data,
		.payload.len = o.data_len,
	};
	struct kustos_simple *lock = calloc(1, sizeof(*lock));
	if (lock == NULL)
		return KUSTOS_ENOMEM;
	lock->client = client;
	lock->unlock_waits = o.unlock_waits != 0;
	err = ku_gate_create(client, path, &wish, &lock->gate);
	if (err == KUSTOS_OK)
		*out = lock;
	else
		free(lock);
	return err;
}

static enum kustos_err check(const struct kustos_simple *lock)
{
	return lock != NULL ? ku_recipe_check(lock->client) : KUSTOS_EINVAL;
}

void kustos_simple_destroy(struct kustos_simple *lock)
{
	if (check(lock) != KUSTOS_OK)
		return;
	ku_gate_destroy(lock->gate);
	free(lock);
}

enum kustos_err kustos_simple_acquire(struct kustos_simple *lock,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	enum kustos_err err = out != NULL ? check(lock) : KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_gate_acquire(lock->gate, NULL, deadline, cancel, out);
}

enum kustos_err kustos_simple_acquire_async(struct kustos_simple *lock,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg)
{
	enum kustos_err err = granted != NULL ? check(lock) : KUSTOS_EINVAL;

	return err != KUSTOS_OK ? err
				: ku_gate_acquire_async(lock->gate, NULL,
					  deadline, cancel, granted, arg);
}

enum kustos_err kustos_simple_lock(struct kustos_simple *lock,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = check(lock);

	return err != KUSTOS_OK
		? err
		: ku_gate_lock(lock->gate, NULL, deadline, cancel);
}

enum kustos_err kustos_simple_unlock(struct kustos_simple *lock)
{
	enum kustos_err err = check(lock);

	return err != KUSTOS_OK
		? err
		: ku_gate_unlock(lock->gate, lock->unlock_waits);
}

struct kustos_hold *kustos_simple_hold(struct kustos_simple *lock)
{
	return check(lock) == KUSTOS_OK ? ku_gate_hold(lock->gate) : NULL;
}

int64_t kustos_simple_token(struct kustos_simple *lock)
{
	return check(lock) == KUSTOS_OK ? ku_gate_token(lock->gate) : 0;
}

struct kustos_lockable kustos_simple_lockable(struct kustos_simple *lock)
{
	return ku_gate_lockable(lock != NULL ? lock->gate : NULL);
}
