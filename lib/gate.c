/* gate.c - make a gate, wait at it, destroy it. */

#include "gate_impl.h"
#include "line_impl.h"

#include <stdlib.h>
#include <string.h>

enum kustos_err ku_gate_create(struct kustos_client *client, const char *path,
	const struct ku_gate_wish *wish, struct ku_gate **out)
{
	struct ku_gate *gate = calloc(1, sizeof(*gate));

	if (gate == NULL)
		return KUSTOS_ENOMEM;
	gate->client = client;
	gate->refs = 1;
	gate->kind.events = &ku_gate_events;
	gate->kind.bare = wish->bare;
	gate->kind.shares = wish->shares;
	gate->kind.leaf = wish->leaf;
	gate->kind.revocable = wish->on_revoke != NULL;
	gate->local_handoffs = wish->local_handoffs;
	gate->unlock_waits = wish->unlock_waits;
	gate->on_revoke = wish->on_revoke;
	gate->on_revoke_arg = wish->on_revoke_arg;
	gate->on_queued = wish->on_queued;
	gate->on_queued_arg = wish->on_queued_arg;
	enum kustos_err err = ku_payload_init(&gate->payload, client,
		&wish->payload);
	ku_lock(client);
	if (err == KUSTOS_OK)
		err = ku_line_get(client, path, wish->rule, &gate->line);
	ku_unlock(client);
	if (err != KUSTOS_OK) {
		ku_payload_free(&gate->payload);
		free(gate);
		return err;
	}
	*out = gate;
	return KUSTOS_OK;
}

void ku_gate_put(struct ku_gate *gate)
{
	if (--gate->refs > 0)
		return;
	ku_line_put(gate->line);
	ku_payload_free(&gate->payload);
	free(gate);
}

bool ku_gate_destroy(struct ku_gate *gate)
{
	struct ku_lock *lock;

	if (gate == NULL)
		return true;
	if (ku_gate_check(gate) != KUSTOS_OK)
		return false;
	struct kustos_client *client = gate->client;
	ku_begin(client);
	gate->destroyed = true;
	ku_inside_await(client, &gate->inside);
	while (gate->first != NULL)
		ku_gate_give_up(gate->first, KUSTOS_ECLOSED);
	while ((lock = gate->locks) != NULL) {
		gate->locks = lock->next;
		if (lock->depth > 0) {
			ku_unlock(client);
			(void)ku_hold_release(lock->hold);
			ku_lock(client);
		}
		free(lock);
	}
	ku_gate_put(gate);
	ku_end(client);
	return true;
}

static enum kustos_err guest_start(struct ku_wait *wait)
{
	return ku_gate_enter((struct ku_guest *)wait);
}

static void guest_give_up(struct ku_wait *wait, enum kustos_err why)
{
	ku_gate_give_up((struct ku_guest *)wait, why);
}

static const struct ku_wait_calls guest_calls = { .start = guest_start,
	.give_up = guest_give_up,
	.tell = ku_hold_wait_tell };

/* Wait as a copy of "guest". */
static enum kustos_err wait_as(struct ku_guest guest, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	struct ku_gate *gate = guest.gate;
	enum kustos_err err = out != NULL ? ku_gate_check(gate) : KUSTOS_EINVAL;

	return err != KUSTOS_OK ? err
				: ku_hold_wait_block(&guest.want, gate->client,
					  &guest_calls, deadline, cancel, out);
}

enum kustos_err ku_gate_acquire(struct ku_gate *gate,
	struct kustos_hold *writer, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	return wait_as((struct ku_guest){ .gate = gate, .writer = writer },
		deadline, cancel, out);
}

enum kustos_err ku_gate_acquire_kept(struct ku_gate *gate,
	struct kustos_hold *writer, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	return wait_as((struct ku_guest){ .want.kept = true,
			       .gate = gate,
			       .writer = writer },
		deadline, cancel, out);
}

static enum kustos_err wait_as_async(const struct ku_guest *wish,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = wish->want.granted != NULL
		? ku_gate_check(wish->gate)
		: KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct ku_guest *guest = malloc(sizeof(*guest));
	if (guest == NULL)
		return KUSTOS_ENOMEM;
	*guest = *wish;
	return ku_hold_wait_async(&guest->want, wish->gate->client,
		&guest_calls, deadline, cancel);
}

enum kustos_err ku_gate_acquire_async(struct ku_gate *gate,
	struct kustos_hold *writer, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg)
{
	const struct ku_guest wish = { .want.granted = granted,
		.want.arg = arg,
		.gate = gate,
		.writer = writer };

	return wait_as_async(&wish, deadline, cancel);
}

bool ku_gate_mixed(struct ku_gate *gate)
{
	if (ku_gate_check(gate) != KUSTOS_OK)
		return false;
	ku_lock(gate->client);
	bool mixed = ku_line_mixed(gate->line);
	ku_unlock(gate->client);
	return mixed;
}

static enum kustos_err acquire(void *gate, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	return ku_gate_acquire(gate, NULL, deadline, cancel, out);
}

static enum kustos_err acquire_async(void *gate, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg)
{
	return ku_gate_acquire_async(gate, NULL, deadline, cancel, granted,
		arg);
}

static enum kustos_err acquire_part(void *gate, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	return ku_gate_acquire_kept(gate, NULL, deadline, cancel, out);
}

static enum kustos_err acquire_part_async(void *gate, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg)
{
	const struct ku_guest wish = { .want.kept = true,
		.want.granted = granted,
		.want.arg = arg,
		.gate = gate };

	return wait_as_async(&wish, deadline, cancel);
}

void ku_gate_keep_part(struct kustos_lockable *lockable)
{
	if (lockable->acquire == acquire)
		lockable->acquire = acquire_part;
	if (lockable->acquire_async == acquire_async)
		lockable->acquire_async = acquire_part_async;
}

struct kustos_lockable ku_gate_lockable(struct ku_gate *gate)
{
	struct kustos_lockable lockable = { 0 };

	if (gate == NULL)
		return lockable;
	lockable.client = gate->client;
	lockable.path = ku_line_path(gate->line);
	lockable.object = gate;
	lockable.acquire = acquire;
	lockable.acquire_async = acquire_async;
	return lockable;
}
