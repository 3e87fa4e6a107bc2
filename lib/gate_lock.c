/* gate_lock.c - locks that belong to threads, and nest. */

#include "gate_impl.h"

#include <stdlib.h>

/* Only its own thread changes the depth.  Only a change from 0 needs the
   client's lock. */
static int depth_of(struct ku_lock *lock)
{
	return atomic_load_explicit(&lock->depth, memory_order_acquire);
}

static void set_depth(struct ku_lock *lock, int depth)
{
	atomic_store_explicit(&lock->depth, depth, memory_order_release);
}

/* Return this thread's record, or NULL.  A record that another thread uses, or
   begins to use meanwhile, is never mistaken for it.  A thread that reads a
   depth above 0 then reads the "thread" that was stored before that depth, or a
   later one.  Its own id, if left from an earlier use of the record, is older
   than both. */
static inline struct ku_lock *own_lock(struct ku_gate *gate)
{
	struct ku_lock *lock = atomic_load_explicit(&gate->locks,
		memory_order_acquire);
	pthread_t self = pthread_self();

	while (lock != NULL &&
		!(depth_of(lock) > 0 &&
			pthread_equal(atomic_load_explicit(&lock->thread,
					      memory_order_relaxed),
				self)))
		lock = lock->next;
	return lock;
}

/* Lock once more, if this thread has locked it.  Returns false if not. */
static bool relock(struct ku_gate *gate, enum kustos_err *err)
{
	struct ku_lock *lock = own_lock(gate);

	if (lock == NULL)
		return false;
	*err = ku_hold_is_lost(lock->hold) ? KUSTOS_ELOST : KUSTOS_OK;
	if (*err == KUSTOS_OK)
		set_depth(lock, depth_of(lock) + 1);
	return true;
}

/* Note that this thread has locked the gate, in a record that is no longer used
   or in "*fresh".  Locked. */
static void note(struct ku_gate *gate, struct kustos_hold *hold,
	struct ku_lock **fresh)
{
	struct ku_lock *lock = gate->locks;

	while (lock != NULL && depth_of(lock) > 0)
		lock = lock->next;
	if (lock == NULL) {
		lock = *fresh;
		*fresh = NULL;
		lock->next = gate->locks;
		gate->locks = lock;
	}
	lock->hold = hold;
	atomic_store_explicit(&lock->thread, pthread_self(),
		memory_order_relaxed);
	set_depth(lock, 1);
}

/* Keep what this thread has just been granted.  If the gate was destroyed
   before the thread could wake up, give it back instead: nobody else would. */
static enum kustos_err keep(struct ku_gate *gate, struct kustos_hold *hold,
	struct ku_lock *fresh)
{
	ku_lock(gate->client);
	bool late = gate->destroyed;
	if (!late)
		note(gate, hold, &fresh);
	ku_unlock(gate->client);
	free(fresh);
	if (!late)
		return KUSTOS_OK;
	(void)ku_hold_release(hold);
	return KUSTOS_ECLOSED;
}

enum kustos_err ku_gate_lock(struct ku_gate *gate, struct kustos_hold *writer,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	struct kustos_hold *hold;
	enum kustos_err err = ku_gate_check(gate);

	if (err != KUSTOS_OK || relock(gate, &err))
		return err;
	struct ku_lock *fresh = calloc(1, sizeof(*fresh));
	if (fresh == NULL)
		return KUSTOS_ENOMEM;
	err = ku_gate_acquire_kept(gate, writer, deadline, cancel, &hold);
	if (err == KUSTOS_OK)
		return keep(gate, hold, fresh);
	free(fresh);
	return err;
}

/* Wait until the node is gone, at the latest with its session, or is known to
   stay.  Locked. */
static enum kustos_err await(struct kustos_client *client,
	struct ku_parting *parting)
{
	client->ops.flushing++;
	while (client->closing == KU_OPEN && parting->of != NULL)
		ku_cond_wait(client, &client->ops.ended, KUSTOS_FOREVER);
	client->ops.flushing--;
	return parting->of != NULL ? KUSTOS_ECLOSED : parting->err;
}

/* Give the hold back, and wait until its node is gone. */
static enum kustos_err release_and_wait(struct kustos_client *client,
	struct kustos_hold *hold)
{
	struct ku_parting parting = { .err = KUSTOS_OK };

	ku_begin(client);
	ku_gate_part(hold, &parting);
	ku_unlock(client);
	enum kustos_err err = ku_hold_release(hold);
	ku_lock(client);
	if (err == KUSTOS_OK)
		err = await(client, &parting);
	ku_parting_end(&parting);
	ku_end(client);
	return err;
}

/* Give the hold back; its record may be another thread's at once. */
static enum kustos_err leave(struct ku_gate *gate, struct ku_lock *lock)
{
	struct kustos_hold *hold = lock->hold;

	set_depth(lock, 0);
	return gate->unlock_waits ? release_and_wait(gate->client, hold)
				  : ku_hold_release(hold);
}

enum kustos_err ku_gate_unlock(struct ku_gate *gate)
{
	enum kustos_err err = ku_gate_check(gate);

	if (err != KUSTOS_OK)
		return err;
	struct ku_lock *lock = own_lock(gate);
	if (lock == NULL)
		return KUSTOS_ENOTHELD;
	int depth = depth_of(lock);
	if (depth == 1)
		return leave(gate, lock);
	set_depth(lock, depth - 1);
	return ku_hold_is_lost(lock->hold) ? KUSTOS_ELOST : KUSTOS_OK;
}

struct kustos_hold *ku_gate_hold(struct ku_gate *gate)
{
	struct ku_lock *lock = ku_gate_check(gate) == KUSTOS_OK ? own_lock(gate)
								: NULL;

	return lock != NULL ? lock->hold : NULL;
}

int64_t ku_gate_token(struct ku_gate *gate)
{
	struct kustos_hold *hold = ku_gate_hold(gate);

	if (hold == NULL || ku_hold_is_lost(hold))
		return 0;
	return kustos_hold_token(hold);
}
