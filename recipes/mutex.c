/*
 * mutex.c - the calls of <kustos/mutex.h>: wait, lock again, give back.
 */
#include "mutex_turn.h"

#include <kustos/client.h>
#include <stdlib.h>
#include <string.h>

/* Read the options, of whatever size the program knows. */
static bool read_options(const struct kustos_mutex_options *from,
	struct kustos_mutex_options *to)
{
	struct kustos_mutex_options defaults = KUSTOS_MUTEX_OPTIONS_INIT;

	*to = defaults;
	if (from == NULL)
		return true;
	if (from->size < sizeof(from->size))
		return false;
	memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
	return to->local_handoffs >= 0 &&
		(to->dialect == KUSTOS_DIALECT_CURATOR ||
			to->dialect == KUSTOS_DIALECT_KAZOO) &&
		(to->data != NULL || to->data_len == 0);
}

/* Copy what is stored in the nodes: nothing here if it is a record, which is
   made for each. */
static enum kustos_err copy_data(struct kustos_mutex *mutex,
	const struct kustos_mutex_options *options)
{
	if (options->holder_record) {
		if (options->reason == NULL)
			return KUSTOS_OK;
		mutex->reason = strdup(options->reason);
		return mutex->reason != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
	}
	if (options->data == NULL && options->on_revoke == NULL)
		return ku_recipe_data(mutex->client, &mutex->data, &mutex->len);
	mutex->data = malloc(options->data_len + 1);
	if (mutex->data == NULL)
		return KUSTOS_ENOMEM;
	if (options->data_len > 0)
		memcpy(mutex->data, options->data, options->data_len);
	mutex->len = options->data_len;
	return KUSTOS_OK;
}

enum kustos_err kustos_mutex_create(struct kustos_client *client,
	const char *path, const struct kustos_mutex_options *options,
	struct kustos_mutex **out)
{
	struct kustos_mutex_options o;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || out == NULL || !read_options(options, &o))
		return KUSTOS_EINVAL;
	struct kustos_mutex *mutex = calloc(1, sizeof(*mutex));
	if (mutex == NULL)
		return KUSTOS_ENOMEM;
	mutex->client = client;
	mutex->refs = 1;
	mutex->kind.events = &ku_mutex_events;
	mutex->kind.bare = o.dialect == KUSTOS_DIALECT_KAZOO;
	mutex->kind.leaf = mutex->kind.bare ? "__lock__" : "lock-";
	mutex->kind.revocable = o.on_revoke != NULL;
	mutex->local_handoffs = o.local_handoffs;
	mutex->on_revoke = o.on_revoke;
	mutex->on_revoke_arg = o.on_revoke_arg;
	mutex->unlock_waits = o.unlock_waits != 0;
	err = copy_data(mutex, &o);
	ku_recipe_lock(client);
	if (err == KUSTOS_OK)
		err = ku_line_get(client, path, &ku_rule_lock, &mutex->line);
	ku_recipe_unlock(client);
	if (err != KUSTOS_OK) {
		free(mutex->data);
		free(mutex->reason);
		free(mutex);
		return err;
	}
	*out = mutex;
	return KUSTOS_OK;
}

void ku_mutex_put(struct kustos_mutex *mutex)
{
	if (--mutex->refs > 0)
		return;
	ku_line_put(mutex->line);
	free(mutex->data);
	free(mutex->reason);
	free(mutex);
}

void kustos_mutex_destroy(struct kustos_mutex *mutex)
{
	struct lock *lock;

	if (mutex == NULL || ku_recipe_check(mutex->client) != KUSTOS_OK)
		return;
	struct kustos_client *client = mutex->client;
	ku_recipe_lock(client);
	mutex->destroyed = true;
	while (mutex->telling && !pthread_equal(mutex->teller, pthread_self()))
		ku_recipe_wait(client);
	while (mutex->first != NULL)
		ku_mutex_give_up(mutex->first, KUSTOS_ECLOSED);
	while ((lock = mutex->locks) != NULL) {
		mutex->locks = lock->next;
		ku_recipe_unlock(client);
		(void)ku_hold_release(lock->hold);
		free(lock);
		ku_recipe_lock(client);
	}
	ku_mutex_put(mutex);
	ku_recipe_unlock(client);
}

static enum kustos_err wait_start(struct ku_wait *wait)
{
	return ku_mutex_enter((struct waiter *)wait);
}

static void wait_give_up(struct ku_wait *wait, enum kustos_err why)
{
	ku_mutex_give_up((struct waiter *)wait, why);
}

/* Run the callback of an acquire_async. */
static void wait_tell(struct ku_wait *wait)
{
	struct waiter *w = (struct waiter *)wait;
	enum kustos_err err = wait->err;

	/* What was granted before a close, and is told after it, is of no use. */
	if (err == KUSTOS_OK && ku_recipe_closing(wait->client)) {
		(void)ku_hold_release(w->hold);
		err = KUSTOS_ECLOSED;
	} else if (err != KUSTOS_OK) {
		ku_hold_free(w->hold);
	}
	w->granted(w->arg, err, err == KUSTOS_OK ? w->hold : NULL);
	free(w);
}

static const struct ku_wait_calls wait_calls = { wait_start, wait_give_up,
	wait_tell };

/* Make a waiter ready to start. */
static enum kustos_err waiter_init(struct waiter *w, struct kustos_mutex *mutex,
	kustos_deadline deadline)
{
	w->wait.client = mutex->client;
	w->wait.calls = &wait_calls;
	w->mutex = mutex;
	w->once = deadline == KUSTOS_NOW;
	w->hold = ku_hold_new(mutex->client);
	return w->hold != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
}

static enum kustos_err check(const struct kustos_mutex *mutex)
{
	return mutex != NULL ? ku_recipe_check(mutex->client) : KUSTOS_EINVAL;
}

enum kustos_err kustos_mutex_acquire(struct kustos_mutex *mutex,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	struct waiter w = { .once = false };
	enum kustos_err err = out != NULL ? check(mutex) : KUSTOS_EINVAL;

	if (err == KUSTOS_OK)
		err = waiter_init(&w, mutex, deadline);
	if (err != KUSTOS_OK)
		return err;
	err = ku_wait_block(&w.wait, deadline, cancel);
	if (err == KUSTOS_OK)
		*out = w.hold;
	else
		ku_hold_free(w.hold);
	return err;
}

enum kustos_err kustos_mutex_acquire_async(struct kustos_mutex *mutex,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_mutex_granted_fn *granted, void *arg)
{
	enum kustos_err err = granted != NULL ? check(mutex) : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct waiter *w = calloc(1, sizeof(*w));
	if (w == NULL)
		return KUSTOS_ENOMEM;
	w->granted = granted;
	w->arg = arg;
	err = waiter_init(w, mutex, deadline);
	if (err == KUSTOS_OK)
		err = ku_wait_async(&w->wait, deadline, cancel);
	if (err != KUSTOS_OK) {
		ku_hold_free(w->hold);
		free(w);
	}
	return err;
}

/* Return what this thread has locked; NULL if it has not. */
static struct lock **find_lock(struct kustos_mutex *mutex)
{
	struct lock **at = &mutex->locks;

	while (*at != NULL && !pthread_equal((*at)->thread, pthread_self()))
		at = &(*at)->next;
	return at;
}

/* Lock once more, if this thread has locked it.  Returns false if not. */
static bool relock(struct kustos_mutex *mutex, enum kustos_err *err)
{
	ku_recipe_lock(mutex->client);
	struct lock *lock = *find_lock(mutex);
	if (lock != NULL) {
		bool is_lost = ku_hold_state(lock->hold) == KUSTOS_HOLD_LOST;

		*err = is_lost ? KUSTOS_ELOST : KUSTOS_OK;
		lock->depth += !is_lost;
	}
	ku_recipe_unlock(mutex->client);
	return lock != NULL;
}

enum kustos_err kustos_mutex_lock(struct kustos_mutex *mutex,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = check(mutex);

	if (err != KUSTOS_OK || relock(mutex, &err))
		return err;
	struct lock *lock = calloc(1, sizeof(*lock));
	if (lock == NULL)
		return KUSTOS_ENOMEM;
	err = kustos_mutex_acquire(mutex, deadline, cancel, &lock->hold);
	if (err != KUSTOS_OK) {
		free(lock);
		return err;
	}
	lock->thread = pthread_self();
	lock->depth = 1;
	ku_recipe_lock(mutex->client);
	lock->next = mutex->locks;
	mutex->locks = lock;
	ku_recipe_unlock(mutex->client);
	return KUSTOS_OK;
}

enum kustos_err kustos_mutex_unlock(struct kustos_mutex *mutex)
{
	enum kustos_err err = check(mutex);
	bool last = false;

	if (err != KUSTOS_OK)
		return err;
	ku_recipe_lock(mutex->client);
	struct lock **at = find_lock(mutex);
	struct lock *lock = *at;
	if (lock == NULL)
		err = KUSTOS_ENOTHELD;
	else if (ku_hold_state(lock->hold) == KUSTOS_HOLD_LOST)
		err = KUSTOS_ELOST;
	if (lock != NULL && --lock->depth == 0) {
		*at = lock->next;
		last = true;
	}
	ku_recipe_unlock(mutex->client);
	if (!last)
		return err;
	struct kustos_client *client = mutex->client;
	bool waits = mutex->unlock_waits;
	err = ku_hold_release(lock->hold);
	free(lock);
	if (err != KUSTOS_OK || !waits)
		return err;
	ku_recipe_lock(client);
	uint64_t left = ku_recipe_left(client);
	ku_recipe_unlock(client);
	return ku_recipe_wait_left(client, left);
}

struct kustos_hold *kustos_mutex_hold(struct kustos_mutex *mutex)
{
	if (check(mutex) != KUSTOS_OK)
		return NULL;
	ku_recipe_lock(mutex->client);
	struct lock *lock = *find_lock(mutex);
	ku_recipe_unlock(mutex->client);
	return lock != NULL ? lock->hold : NULL;
}

int64_t kustos_mutex_fence(struct kustos_mutex *mutex)
{
	struct kustos_hold *hold = kustos_mutex_hold(mutex);

	if (hold == NULL || kustos_hold_state(hold) == KUSTOS_HOLD_LOST)
		return 0;
	return kustos_hold_token(hold);
}

int kustos_mutex_mixed(struct kustos_mutex *mutex)
{
	if (check(mutex) != KUSTOS_OK)
		return 0;
	ku_recipe_lock(mutex->client);
	bool mixed = ku_line_mixed(mutex->line);
	ku_recipe_unlock(mutex->client);
	return mixed;
}
