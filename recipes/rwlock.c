/*
 * rwlock.c - the calls of <kustos/rwlock.h>: one line, and a gate for each
 * side.
 */
#include <kustos/rwlock.h>

#include "recipe.h"

#include <stdlib.h>

struct kustos_rwlock {
	struct ku_gate *gates[2]; /* by enum kustos_side */
};

static struct ku_gate *gate_of(const struct kustos_rwlock *rw,
	enum kustos_side side)
{
	bool valid = side == KUSTOS_READ || side == KUSTOS_WRITE;

	return rw != NULL && valid ? rw->gates[side] : NULL;
}

static bool read_options(const struct kustos_rwlock_options *from,
	struct kustos_rwlock_options *to)
{
	return ku_recipe_options(to, sizeof(*to), from) && to->reserved == 0 &&
		to->local_handoffs >= 0 && ku_recipe_dialect(to->dialect) &&
		ku_recipe_storable(to->data, to->data_len);
}

static enum kustos_err make_gate(struct kustos_rwlock *rw,
	struct kustos_client *client, const char *path,
	const struct kustos_rwlock_options *o, enum kustos_side side)
{
	static const char *const leaves[2][2] = {
		/* read, write; by enum kustos_dialect */
		{ "__READ__", "__WRIT__" },
		{ "__rlock__", "__lock__" },
	};
	struct ku_gate_wish wish = {
		.rule = &ku_rule_rw,
		.leaf = leaves[o->dialect][side],
		.bare = o->dialect == KUSTOS_DIALECT_KAZOO,
		.shares = side == KUSTOS_READ,
		.local_handoffs = side == KUSTOS_READ ? 0 : o->local_handoffs,
		.unlock_waits = o->unlock_waits != 0,
		.payload.record = o->holder_record != 0,
		.payload.reason = o->reason,
		.payload.data = o->data,
		.payload.len = o->data_len,
		.payload.empty = o->on_revoke != NULL,
		.on_revoke = o->on_revoke,
		.on_revoke_arg = o->on_revoke_arg,
		.on_queued = o->on_queued,
		.on_queued_arg = o->on_queued_arg,
	};

	return ku_gate_create(client, path, &wish, &rw->gates[side]);
}

enum kustos_err kustos_rwlock_create(struct kustos_client *client,
	const char *path, const struct kustos_rwlock_options *options,
	struct kustos_rwlock **out)
{
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || out == NULL || !read_options(options, &o))
		return KUSTOS_EINVAL;
	struct kustos_rwlock *rw = calloc(1, sizeof(*rw));
	if (rw == NULL)
		return KUSTOS_ENOMEM;
	err = make_gate(rw, client, path, &o, KUSTOS_READ);
	if (err == KUSTOS_OK)
		err = make_gate(rw, client, path, &o, KUSTOS_WRITE);
	if (err == KUSTOS_OK)
		*out = rw;
	else
		kustos_rwlock_destroy(rw);
	return err;
}

void kustos_rwlock_destroy(struct kustos_rwlock *rw)
{
	if (rw != NULL && ku_gate_destroy(rw->gates[KUSTOS_READ]) &&
		ku_gate_destroy(rw->gates[KUSTOS_WRITE]))
		free(rw);
}

enum kustos_err kustos_rwlock_acquire(struct kustos_rwlock *rw,
	enum kustos_side side, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	return ku_gate_acquire(gate_of(rw, side), NULL, deadline, cancel, out);
}

enum kustos_err kustos_rwlock_acquire_async(struct kustos_rwlock *rw,
	enum kustos_side side, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg)
{
	return ku_gate_acquire_async(gate_of(rw, side), NULL, deadline, cancel,
		granted, arg);
}

enum kustos_err kustos_rwlock_downgrade(struct kustos_rwlock *rw,
	struct kustos_hold *hold, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	if (hold == NULL)
		return KUSTOS_EINVAL;
	return ku_gate_acquire(gate_of(rw, KUSTOS_READ), hold, deadline, cancel,
		out);
}

enum kustos_err kustos_rwlock_downgrade_async(struct kustos_rwlock *rw,
	struct kustos_hold *hold, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg)
{
	if (hold == NULL)
		return KUSTOS_EINVAL;
	return ku_gate_acquire_async(gate_of(rw, KUSTOS_READ), hold, deadline,
		cancel, granted, arg);
}

enum kustos_err kustos_rwlock_lock(struct kustos_rwlock *rw,
	enum kustos_side side, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	struct kustos_hold *writer = ku_gate_hold(gate_of(rw, KUSTOS_WRITE));

	if (side == KUSTOS_WRITE && writer == NULL &&
		ku_gate_hold(gate_of(rw, KUSTOS_READ)) != NULL)
		return KUSTOS_EDEADLK;
	return ku_gate_lock(gate_of(rw, side),
		side == KUSTOS_READ ? writer : NULL, deadline, cancel);
}

enum kustos_err kustos_rwlock_unlock(struct kustos_rwlock *rw,
	enum kustos_side side)
{
	return ku_gate_unlock(gate_of(rw, side));
}

struct kustos_hold *kustos_rwlock_hold(struct kustos_rwlock *rw,
	enum kustos_side side)
{
	return ku_gate_hold(gate_of(rw, side));
}

int64_t kustos_rwlock_token(struct kustos_rwlock *rw, enum kustos_side side)
{
	return ku_gate_token(gate_of(rw, side));
}

int kustos_rwlock_mixed(struct kustos_rwlock *rw)
{
	return ku_gate_mixed(gate_of(rw, KUSTOS_READ));
}

struct kustos_lockable kustos_rwlock_lockable(struct kustos_rwlock *rw,
	enum kustos_side side)
{
	return ku_gate_lockable(gate_of(rw, side));
}
