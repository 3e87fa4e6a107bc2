/* gate_lock.c - locks that belong to threads, and nest. */

#include "gate_impl.h"
#include "recipe.h"

#include <stdlib.h>

/* Return where what this thread has locked is kept; NULL there if it has not.
   */
static struct ku_lock **find_lock(struct ku_gate *gate)
{
	struct ku_lock **at = &gate->locks;
	pthread_t self = pthread_self();

	while (*at != NULL && !pthread_equal((*at)->thread, self))
		at = &(*at)->next;
	return at;
}

/* Lock once more, if this thread has locked it.  Returns false if not. */
static bool relock(struct ku_gate *gate, enum kustos_err *err)
{
	ku_lock(gate->client);
	struct ku_lock *lock = *find_lock(gate);
	if (lock != NULL) {
		bool is_lost = ku_hold_state(lock->hold) == KUSTOS_HOLD_LOST;

		*err = is_lost ? KUSTOS_ELOST : KUSTOS_OK;
		lock->depth += !is_lost;
	}
	ku_unlock(gate->client);
	return lock != NULL;
}

/* Keep what this thread has just been granted, and give it back instead if the
   gate was destroyed before the thread could wake up: nobody else would. */
static enum kustos_err keep(struct ku_gate *gate, struct ku_lock *lock)
{
	ku_lock(gate->client);
	bool late = gate->destroyed;
	if (!late) {
		lock->next = gate->locks;
		gate->locks = lock;
	}
	ku_unlock(gate->client);
	if (!late)
		return KUSTOS_OK;
	(void)ku_hold_release(lock->hold);
	free(lock);
	return KUSTOS_ECLOSED;
}

enum kustos_err ku_gate_lock(struct ku_gate *gate, struct kustos_hold *writer,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err;

	if (relock(gate, &err))
		return err;
	struct ku_lock *lock = calloc(1, sizeof(*lock));
	if (lock == NULL)
		return KUSTOS_ENOMEM;
	err = ku_gate_acquire(gate, writer, deadline, cancel, &lock->hold);
	if (err != KUSTOS_OK) {
		free(lock);
		return err;
	}
	lock->thread = pthread_self();
	lock->depth = 1;
	return keep(gate, lock);
}

enum kustos_err ku_gate_unlock(struct ku_gate *gate, bool waits)
{
	struct kustos_client *client = gate->client;
	enum kustos_err err = KUSTOS_OK;
	bool last = false;

	ku_lock(client);
	struct ku_lock **at = find_lock(gate);
	struct ku_lock *lock = *at;
	if (lock == NULL)
		err = KUSTOS_ENOTHELD;
	else if (ku_hold_state(lock->hold) == KUSTOS_HOLD_LOST)
		err = KUSTOS_ELOST;
	if (lock != NULL && --lock->depth == 0) {
		*at = lock->next;
		last = true;
	}
	ku_unlock(client);
	if (!last)
		return err;
	err = ku_hold_release(lock->hold);
	free(lock);
	if (err != KUSTOS_OK || !waits)
		return err;
	ku_lock(client);
	uint64_t left = ku_recipe_left(client);
	ku_unlock(client);
	return ku_recipe_wait_left(client, left);
}

struct kustos_hold *ku_gate_hold(struct ku_gate *gate)
{
	ku_lock(gate->client);
	struct ku_lock *lock = *find_lock(gate);
	ku_unlock(gate->client);
	return lock != NULL ? lock->hold : NULL;
}

int64_t ku_gate_fence(struct ku_gate *gate)
{
	struct kustos_hold *hold = ku_gate_hold(gate);

	if (hold == NULL || kustos_hold_state(hold) == KUSTOS_HOLD_LOST)
		return 0;
	return kustos_hold_token(hold);
}
