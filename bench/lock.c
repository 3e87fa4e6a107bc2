/*
 * lock.c - what is contended for.
 */
#include "lock_impl.h"

#include <kustos/client.h>
#include <kustos/lockable.h>

#include <stdio.h>

static enum kustos_side side_of(const struct lock *lock)
{
	return lock->form.kind == LOCK_READ ? KUSTOS_READ : KUSTOS_WRITE;
}

static enum kustos_err make_pair(struct lock *lock)
{
	enum kustos_err err = kustos_mutex_create(lock->client, lock->path,
		NULL, &lock->mutex);
	char path[160];

	snprintf(path, sizeof(path), "%s-second", lock->path);
	if (err == KUSTOS_OK)
		err = kustos_mutex_create(lock->client, path, NULL,
			&lock->second);
	return err;
}

static enum kustos_err make_mutex(struct lock *lock)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;

	if (lock->form.fifo)
		o.local_handoffs = 0;
	return kustos_mutex_create(lock->client, lock->path, &o, &lock->mutex);
}

static enum kustos_err make_semaphore(struct lock *lock)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	o.max = lock->form.leases;
	return kustos_semaphore_create(lock->client, lock->path, &o,
		&lock->sem);
}

static enum kustos_err make_claims(struct lock *lock)
{
	enum kustos_err err = kustos_queue_create(lock->client, lock->path,
		NULL, &lock->queue);

	if (err == KUSTOS_OK)
		err = kustos_claims_create(lock->client, lock->path, NULL,
			&lock->claims);
	return err;
}

enum kustos_err lock_make(struct lock *lock, struct kustos_client *client,
	const char *path, const struct lock_form *form)
{
	*lock = (struct lock){ .form = *form, .client = client, .path = path };
	switch (form->kind) {
	case LOCK_MUTEX:
		return make_mutex(lock);
	case LOCK_SEMAPHORE:
		return make_semaphore(lock);
	case LOCK_ELECTION:
	case LOCK_SELECTOR:
	case LOCK_BARRIER:
	case LOCK_COUNTDOWN:
		return KUSTOS_OK; /* each turn makes a new one */
	case LOCK_SIMPLE:
		return kustos_simple_create(client, path, NULL, &lock->simple);
	case LOCK_PAIR:
		return make_pair(lock);
	case LOCK_QUEUE:
		return kustos_queue_create(client, path, NULL, &lock->queue);
	case LOCK_CLAIM:
		return make_claims(lock);
	default:
		return kustos_rwlock_create(client, path, NULL, &lock->rw);
	}
}

enum kustos_err lock_fill(const struct lock *lock, kustos_deadline deadline)
{
	enum kustos_err err = KUSTOS_OK;

	if (lock->queue == NULL)
		return KUSTOS_OK;
	for (int i = 0; i < lock->form.leases && err == KUSTOS_OK; i++)
		err = kustos_queue_put(lock->queue, "item", 4, deadline, NULL);
	return err;
}

static enum kustos_err give_leases(struct lock *lock)
{
	enum kustos_err err = KUSTOS_OK;

	for (int i = 0; i < LOCK_LEASES; i++) {
		if (lock->holds[i] != NULL && err == KUSTOS_OK)
			err = kustos_hold_release(lock->holds[i]);
		lock->holds[i] = NULL;
	}
	return err;
}

void lock_destroy(struct lock *lock)
{
	(void)give_leases(lock);
	kustos_mutex_destroy(lock->mutex);
	kustos_mutex_destroy(lock->second);
	kustos_simple_destroy(lock->simple);
	kustos_rwlock_destroy(lock->rw);
	kustos_semaphore_destroy(lock->sem);
	kustos_item_free(lock->item);
	kustos_claim_release(lock->claim);
	kustos_claims_destroy(lock->claims);
	kustos_queue_destroy(lock->queue);
	kustos_latch_destroy(lock->latch);
	*lock = (struct lock){ 0 };
}

static enum kustos_err put_back(struct lock *lock)
{
	kustos_item_free(lock->item);
	lock->item = NULL;
	return kustos_queue_put(lock->queue, "item", 4, KUSTOS_FOREVER, NULL);
}

static enum kustos_err requeue(struct lock *lock)
{
	enum kustos_err err = kustos_claim_requeue(lock->claim, KUSTOS_FOREVER,
		NULL);

	lock->claim = NULL;
	/* KUSTOS_EUNKNOWN: the session is over, and nothing tells who has put
	   the item back. */
	return err == KUSTOS_EUNKNOWN ? KUSTOS_ELOST : err;
}

static enum kustos_err take_pair(struct lock *lock, struct kustos_cancel *stop)
{
	const struct kustos_lockable both[] = {
		kustos_mutex_lockable(lock->mutex),
		kustos_mutex_lockable(lock->second),
	};

	return kustos_acquire_all(both, 2, KUSTOS_FOREVER, stop,
		&lock->holds[0]);
}

enum kustos_err lock_take(struct lock *lock, struct kustos_cancel *stop)
{
	switch (lock->form.kind) {
	case LOCK_SEMAPHORE:
		return kustos_semaphore_acquire(lock->sem, KUSTOS_FOREVER, stop,
			&lock->holds[0]);
	case LOCK_ELECTION:
		return lock_latch_take(lock, stop);
	case LOCK_SELECTOR:
		return lock_selector_take(lock, stop);
	case LOCK_BARRIER:
		return lock_barrier_take(lock, stop);
	case LOCK_COUNTDOWN:
		return lock_countdown_take(lock, stop);
	case LOCK_SIMPLE:
		return kustos_simple_lock(lock->simple, KUSTOS_FOREVER, stop);
	case LOCK_PAIR:
		return take_pair(lock, stop);
	case LOCK_QUEUE:
		return kustos_queue_poll(lock->queue, KUSTOS_FOREVER, stop,
			&lock->item);
	case LOCK_CLAIM:
		return kustos_claim_next(lock->claims, KUSTOS_FOREVER, stop,
			&lock->claim);
	case LOCK_MUTEX:
		return kustos_mutex_lock(lock->mutex, KUSTOS_FOREVER, stop);
	default:
		return kustos_rwlock_lock(lock->rw, side_of(lock),
			KUSTOS_FOREVER, stop);
	}
}

enum kustos_err lock_give(struct lock *lock)
{
	switch (lock->form.kind) {
	case LOCK_SEMAPHORE:
	case LOCK_PAIR:
		return give_leases(lock);
	case LOCK_SIMPLE:
		return kustos_simple_unlock(lock->simple);
	case LOCK_ELECTION:
		return lock_latch_give(lock);
	case LOCK_SELECTOR:
		return lock_selector_give(lock);
	case LOCK_BARRIER:
		return lock_barrier_give(lock);
	case LOCK_COUNTDOWN:
		return lock_countdown_give(lock);
	case LOCK_QUEUE:
		return put_back(lock);
	case LOCK_CLAIM:
		return requeue(lock);
	case LOCK_MUTEX:
		return kustos_mutex_unlock(lock->mutex);
	default:
		return kustos_rwlock_unlock(lock->rw, side_of(lock));
	}
}

static struct kustos_hold *hold_of(const struct lock *lock)
{
	switch (lock->form.kind) {
	case LOCK_SEMAPHORE:
	case LOCK_PAIR:
		return lock->holds[0];
	case LOCK_CLAIM:
		return kustos_claim_hold(lock->claim);
	case LOCK_SIMPLE:
		return kustos_simple_hold(lock->simple);
	case LOCK_MUTEX:
		return kustos_mutex_hold(lock->mutex);
	default:
		return kustos_rwlock_hold(lock->rw, side_of(lock));
	}
}

/* Does it have a hold, and is that not lost? */
static bool has_hold(const struct lock *lock)
{
	struct kustos_hold *hold = hold_of(lock);

	return hold != NULL && kustos_hold_state(hold) != KUSTOS_HOLD_LOST;
}

bool lock_held(const struct lock *lock)
{
	switch (lock->form.kind) {
	case LOCK_ELECTION:
		return lock_latch_held(lock);
	case LOCK_SELECTOR:
		return lock_selector_held(lock);
	case LOCK_BARRIER:
		return lock_barrier_held(lock);
	case LOCK_COUNTDOWN: /* a zero stays one, */
	case LOCK_QUEUE:     /* and what was taken out is nobody else's */
		return true;
	default:
		return has_hold(lock);
	}
}

enum kustos_err lock_close(struct lock *lock, struct kustos_client *client,
	const char *path, const struct lock_form *form)
{
	struct lock_form all = *form;
	enum kustos_err err;

	if (all.kind == LOCK_READ)
		all.kind = LOCK_WRITE;
	err = lock_make(lock, client, path, &all);
	if (err != KUSTOS_OK)
		return err;
	if (all.kind == LOCK_SEMAPHORE)
		return kustos_semaphore_acquire_many(lock->sem, all.leases,
			KUSTOS_FOREVER, NULL, lock->holds);
	return lock_take(lock, NULL);
}

uint64_t lock_requests(struct kustos_client *const *clients, int count)
{
	struct kustos_client_stats stats = KUSTOS_CLIENT_STATS_INIT;
	uint64_t sum = 0;

	for (int i = 0; i < count; i++)
		if (kustos_client_stats(clients[i], &stats) == KUSTOS_OK)
			sum += stats.sent;
	return sum;
}

enum kustos_err lock_ask(const struct lock *lock, struct kustos_cancel *stop,
	kustos_granted_fn *fn, void *arg)
{
	switch (lock->form.kind) {
	case LOCK_SEMAPHORE:
		return kustos_semaphore_acquire_async(lock->sem, KUSTOS_FOREVER,
			stop, fn, arg);
	case LOCK_MUTEX:
		return kustos_mutex_acquire_async(lock->mutex, KUSTOS_FOREVER,
			stop, fn, arg);
	case LOCK_READ:
	case LOCK_WRITE:
		return kustos_rwlock_acquire_async(lock->rw, side_of(lock),
			KUSTOS_FOREVER, stop, fn, arg);
	default:
		return KUSTOS_EUNSUPPORTED;
	}
}
