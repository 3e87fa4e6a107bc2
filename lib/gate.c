/* gate.c - open a gate, wait before it, close it. */

#include "gate_impl.h"
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

/* Copy what is stored in the nodes: nothing here if it is a record, which is
   made for each. */
static enum kustos_err copy_data(struct ku_gate *gate,
	const struct ku_gate_wish *wish)
{
	if (wish->record) {
		if (wish->reason == NULL)
			return KUSTOS_OK;
		gate->reason = strdup(wish->reason);
		return gate->reason != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
	}
	if (wish->data == NULL && wish->on_revoke == NULL)
		return ku_recipe_data(gate->client, &gate->data, &gate->len);
	gate->data = malloc(wish->data_len + 1);
	if (gate->data == NULL)
		return KUSTOS_ENOMEM;
	if (wish->data_len > 0)
		memcpy(gate->data, wish->data, wish->data_len);
	gate->len = wish->data_len;
	return KUSTOS_OK;
}

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
	gate->kind.leaf = wish->leaf;
	gate->kind.revocable = wish->on_revoke != NULL;
	gate->local_handoffs = wish->local_handoffs;
	gate->on_revoke = wish->on_revoke;
	gate->on_revoke_arg = wish->on_revoke_arg;
	enum kustos_err err = copy_data(gate, wish);
	ku_lock(client);
	if (err == KUSTOS_OK)
		err = ku_line_get(client, path, wish->rule, &gate->line);
	ku_unlock(client);
	if (err != KUSTOS_OK) {
		free(gate->data);
		free(gate->reason);
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
	free(gate->data);
	free(gate->reason);
	free(gate);
}

void ku_gate_destroy(struct ku_gate *gate)
{
	struct kustos_client *client = gate->client;
	struct ku_lock *lock;

	ku_lock(client);
	gate->destroyed = true;
	while (gate->telling && !pthread_equal(gate->teller, pthread_self()))
		ku_cond_wait(client, &client->state_changed, KUSTOS_FOREVER);
	while (gate->first != NULL)
		ku_gate_give_up(gate->first, KUSTOS_ECLOSED);
	while ((lock = gate->locks) != NULL) {
		gate->locks = lock->next;
		ku_unlock(client);
		(void)ku_hold_release(lock->hold);
		free(lock);
		ku_lock(client);
	}
	ku_gate_put(gate);
	ku_unlock(client);
}

static enum kustos_err claim_start(struct ku_wait *wait)
{
	return ku_gate_enter((struct ku_claim *)wait);
}

static void claim_give_up(struct ku_wait *wait, enum kustos_err why)
{
	ku_gate_give_up((struct ku_claim *)wait, why);
}

/* Run the callback of an acquire_async. */
static void claim_tell(struct ku_wait *wait)
{
	struct ku_claim *claim = (struct ku_claim *)wait;
	enum kustos_err err = wait->err;

	/* What was granted before a close, and is told after it, is of no use. */
	ku_lock(wait->client);
	bool closing = wait->client->closing != KU_OPEN;
	ku_unlock(wait->client);
	if (err == KUSTOS_OK && closing) {
		(void)ku_hold_release(claim->hold);
		err = KUSTOS_ECLOSED;
	} else if (err != KUSTOS_OK) {
		ku_hold_free(claim->hold);
	}
	claim->granted(claim->arg, err, err == KUSTOS_OK ? claim->hold : NULL);
	free(claim);
}

static const struct ku_wait_calls claim_calls = { claim_start, claim_give_up,
	claim_tell };

/* Make a claim ready to start. */
static enum kustos_err claim_init(struct ku_claim *claim, struct ku_gate *gate,
	kustos_deadline deadline)
{
	claim->wait.client = gate->client;
	claim->wait.calls = &claim_calls;
	claim->gate = gate;
	claim->once = deadline == KUSTOS_NOW;
	claim->hold = ku_hold_new(gate->client);
	return claim->hold != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
}

enum kustos_err ku_gate_acquire(struct ku_gate *gate, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	struct ku_claim claim = { .once = false };
	enum kustos_err err = claim_init(&claim, gate, deadline);

	if (err != KUSTOS_OK)
		return err;
	err = ku_wait_block(&claim.wait, deadline, cancel);
	if (err == KUSTOS_OK)
		*out = claim.hold;
	else
		ku_hold_free(claim.hold);
	return err;
}

enum kustos_err ku_gate_acquire_async(struct ku_gate *gate,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg)
{
	struct ku_claim *claim = calloc(1, sizeof(*claim));

	if (claim == NULL)
		return KUSTOS_ENOMEM;
	claim->granted = granted;
	claim->arg = arg;
	enum kustos_err err = claim_init(claim, gate, deadline);
	if (err == KUSTOS_OK)
		err = ku_wait_async(&claim->wait, deadline, cancel);
	if (err != KUSTOS_OK) {
		ku_hold_free(claim->hold);
		free(claim);
	}
	return err;
}

bool ku_gate_mixed(struct ku_gate *gate)
{
	ku_lock(gate->client);
	bool mixed = ku_line_mixed(gate->line);
	ku_unlock(gate->client);
	return mixed;
}
