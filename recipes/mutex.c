/*
 * mutex.c - the calls of <kustos/mutex.h>, passed on to a gate.
 */
#include <kustos/mutex.h>

#include "recipe.h"

#include <stdlib.h>

struct kustos_mutex {
	struct ku_gate *gate;
};

static struct ku_gate *gate_of(const struct kustos_mutex *mutex)
{
	return mutex != NULL ? mutex->gate : NULL;
}

static bool read_options(const struct kustos_mutex_options *from,
	struct kustos_mutex_options *to)
{
	return ku_recipe_options(to, sizeof(*to), from) &&
		to->local_handoffs >= 0 && ku_recipe_dialect(to->dialect) &&
		ku_recipe_storable(to->data, to->data_len) &&
		(to->extra_marks == NULL || ku_marks_valid(to->extra_marks));
}

enum kustos_err kustos_mutex_create(struct kustos_client *client,
	const char *path, const struct kustos_mutex_options *options,
	struct kustos_mutex **out)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || out == NULL || !read_options(options, &o))
		return KUSTOS_EINVAL;
	bool kazoo = o.dialect == KUSTOS_DIALECT_KAZOO;
	struct ku_rule marked = ku_rule_lock;
	marked.extra = o.extra_marks;
	struct ku_gate_wish wish = {
		.rule = o.extra_marks != NULL ? &marked : &ku_rule_lock,
		.leaf = kazoo ? "__lock__" : "lock-",
		.bare = kazoo,
		.local_handoffs = o.local_handoffs,
		.unlock_waits = o.unlock_waits != 0,
		.payload.record = o.holder_record != 0,
		.payload.reason = o.reason,
		.payload.data = o.data,
		.payload.len = o.data_len,
		.payload.empty = o.on_revoke != NULL,
		.on_revoke = o.on_revoke,
		.on_revoke_arg = o.on_revoke_arg,
		.on_queued = o.on_queued,
		.on_queued_arg = o.on_queued_arg,
	};
	struct kustos_mutex *mutex = calloc(1, sizeof(*mutex));
	if (mutex == NULL)
		return KUSTOS_ENOMEM;
	err = ku_gate_create(client, path, &wish, &mutex->gate);
	if (err == KUSTOS_OK)
		*out = mutex;
	else
		free(mutex);
	return err;
}

void kustos_mutex_destroy(struct kustos_mutex *mutex)
{
	if (mutex != NULL && ku_gate_destroy(mutex->gate))
		free(mutex);
}

enum kustos_err kustos_mutex_acquire(struct kustos_mutex *mutex,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	return ku_gate_acquire(gate_of(mutex), NULL, deadline, cancel, out);
}

enum kustos_err kustos_mutex_acquire_async(struct kustos_mutex *mutex,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg)
{
	return ku_gate_acquire_async(gate_of(mutex), NULL, deadline, cancel,
		granted, arg);
}

enum kustos_err kustos_mutex_lock(struct kustos_mutex *mutex,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	return ku_gate_lock(gate_of(mutex), NULL, deadline, cancel);
}

enum kustos_err kustos_mutex_unlock(struct kustos_mutex *mutex)
{
	return ku_gate_unlock(gate_of(mutex));
}

struct kustos_hold *kustos_mutex_hold(struct kustos_mutex *mutex)
{
	return ku_gate_hold(gate_of(mutex));
}

int64_t kustos_mutex_token(struct kustos_mutex *mutex)
{
	return ku_gate_token(gate_of(mutex));
}

int kustos_mutex_mixed(struct kustos_mutex *mutex)
{
	return ku_gate_mixed(gate_of(mutex));
}

struct kustos_lockable kustos_mutex_lockable(struct kustos_mutex *mutex)
{
	return ku_gate_lockable(gate_of(mutex));
}
