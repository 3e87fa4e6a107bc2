/*
 * cancel.c - the cancel object: a flag that is set once, and a list of waiters.
 *
 * "fired" is set before the list is run and is never cleared, so that firing
 * again and attaching once it has fired need no lock; a function run by
 * firing may do both.
 *
 * Firing takes each link off the list before it calls its function and never
 * touches it afterwards, as the function may free it.  The mutex is held
 * meanwhile, so a detach on another thread waits for the function.  The mutex
 * is of the kind that checks for errors: a detach from inside the function, on
 * the thread that holds the mutex already, gets an error and does not deadlock.
 *
 * A child after fork() has links into stacks of threads that it does not have,
 * and a mutex that may be locked for ever.  So it touches neither.
 */
#include "cancel.h"
#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct kustos_cancel {
	struct ku_fork_guard fork;
	atomic_bool fired;
	pthread_mutex_t mutex; /* guards the list; taken before any client's */
	struct ku_cancel_link list; /* a ring with this as its head */
};

static void unlink_from_ring(struct ku_cancel_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	link->prev = link->next = link; /* so that once more is harmless */
}

static bool make_mutex(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;
	int err;

	if (pthread_mutexattr_init(&attr) != 0)
		return false;
	err = pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	if (err == 0)
		err = pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return err == 0;
}

enum kustos_err kustos_cancel_create(struct kustos_cancel **out)
{
	struct kustos_cancel *cancel;

	if (out == NULL)
		return KUSTOS_EINVAL;
	cancel = malloc(sizeof(*cancel));
	if (cancel == NULL)
		return KUSTOS_ENOMEM;
	if (!make_mutex(&cancel->mutex)) {
		free(cancel);
		return KUSTOS_ENOMEM;
	}
	ku_fork_guard_init_small(&cancel->fork);
	atomic_init(&cancel->fired, false);
	cancel->list.prev = cancel->list.next = &cancel->list;
	*out = cancel;
	return KUSTOS_OK;
}

void kustos_cancel_destroy(struct kustos_cancel *cancel)
{
	if (cancel == NULL)
		return;
	if (!ku_forked(&cancel->fork))
		pthread_mutex_destroy(&cancel->mutex);
	ku_fork_guard_free(&cancel->fork);
	free(cancel);
}

void kustos_cancel_fire(struct kustos_cancel *cancel)
{
	struct ku_cancel_link *link;

	if (cancel == NULL || ku_forked(&cancel->fork) ||
		atomic_exchange(&cancel->fired, true))
		return;
	pthread_mutex_lock(&cancel->mutex);
	while ((link = cancel->list.next) != &cancel->list) {
		unlink_from_ring(link);
		link->fn(link);
	}
	pthread_mutex_unlock(&cancel->mutex);
}

int kustos_cancel_fired(const struct kustos_cancel *cancel)
{
	return cancel != NULL && atomic_load(&cancel->fired);
}

bool ku_cancel_attach(struct kustos_cancel *cancel, struct ku_cancel_link *link,
	ku_cancel_fn *fn)
{
	bool attached;

	link->cancel = NULL;
	if (cancel == NULL)
		return true;
	if (atomic_load(&cancel->fired) || ku_forked(&cancel->fork))
		return false;
	pthread_mutex_lock(&cancel->mutex);
	/* Again: firing may have found the list empty in between. */
	attached = !atomic_load(&cancel->fired);
	if (attached) {
		link->cancel = cancel;
		link->fn = fn;
		link->prev = cancel->list.prev;
		link->next = &cancel->list;
		link->prev->next = link->next->prev = link;
	}
	pthread_mutex_unlock(&cancel->mutex);
	return attached;
}

enum kustos_err ku_cancel_refusal(const struct kustos_cancel *cancel)
{
	return ku_forked(&cancel->fork) ? KUSTOS_EFORKED : KUSTOS_ECANCELED;
}

void ku_cancel_detach(struct ku_cancel_link *link)
{
	struct kustos_cancel *cancel = link->cancel;
	bool locked;

	if (cancel == NULL)
		return;
	locked = pthread_mutex_lock(&cancel->mutex) == 0;
	unlink_from_ring(link);
	link->cancel = NULL;
	if (locked)
		pthread_mutex_unlock(&cancel->mutex);
}
