/*
 * semaphore.c - the calls of <kustos/semaphore.h>, passed on to a pool.
 */
#include <kustos/semaphore.h>

#include "recipe.h"

#include <pthread.h>
#include <stdlib.h>

struct kustos_semaphore {
	struct kustos_client *client;
	struct ku_pool *pool;
};

struct kustos_semaphore_mutex {
	struct kustos_semaphore *sem;
	pthread_mutex_t mutex; /* guards what follows */
	struct kustos_hold *hold;
	int refs; /* of its owner, and of each thread that locks it */
	bool destroyed;
};

static bool read_options(const struct kustos_semaphore_options *from,
	struct kustos_semaphore_options *to)
{
	return ku_recipe_options(to, sizeof(*to), from) &&
		ku_recipe_storable(to->data, to->data_len);
}

static enum kustos_err create(struct kustos_client *client, const char *path,
	const struct kustos_semaphore_options *o, struct kustos_semaphore **out)
{
	struct ku_pool_wish wish = {
		.room = o->max,
		.room_path = o->max_path,
		.payload.record = o->holder_record != 0,
		.payload.reason = o->reason,
		.payload.data = o->data,
		.payload.len = o->data_len,
	};
	struct kustos_semaphore *sem = calloc(1, sizeof(*sem));

	if (sem == NULL)
		return KUSTOS_ENOMEM;
	sem->client = client;
	enum kustos_err err = ku_pool_create(client, path, &wish, &sem->pool);
	if (err == KUSTOS_OK)
		*out = sem;
	else
		free(sem);
	return err;
}

enum kustos_err kustos_semaphore_create(struct kustos_client *client,
	const char *path, const struct kustos_semaphore_options *options,
	struct kustos_semaphore **out)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || out == NULL || !read_options(options, &o) ||
		o.max < 0 || (o.max > 0) == (o.max_path != NULL))
		return KUSTOS_EINVAL;
	return create(client, path, &o, out);
}

static enum kustos_err check(const struct kustos_semaphore *sem)
{
	return sem != NULL ? ku_recipe_check(sem->client) : KUSTOS_EINVAL;
}

void kustos_semaphore_destroy(struct kustos_semaphore *sem)
{
	if (check(sem) != KUSTOS_OK)
		return;
	ku_pool_destroy(sem->pool);
	free(sem);
}

enum kustos_err kustos_semaphore_acquire(struct kustos_semaphore *sem,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	return kustos_semaphore_acquire_many(sem, 1, deadline, cancel, out);
}

enum kustos_err kustos_semaphore_acquire_async(struct kustos_semaphore *sem,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg)
{
	enum kustos_err err = granted != NULL ? check(sem) : KUSTOS_EINVAL;

	return err != KUSTOS_OK ? err
				: ku_pool_acquire_async(sem->pool, 1, deadline,
					  cancel, granted, NULL, arg);
}

enum kustos_err kustos_semaphore_acquire_many(struct kustos_semaphore *sem,
	int count, kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	enum kustos_err err = out != NULL ? check(sem) : KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_pool_acquire(sem->pool, count, deadline, cancel, out);
}

enum kustos_err kustos_semaphore_acquire_many_async(
	struct kustos_semaphore *sem, int count, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_many_fn *granted,
	void *arg)
{
	enum kustos_err err = granted != NULL ? check(sem) : KUSTOS_EINVAL;

	return err != KUSTOS_OK ? err
				: ku_pool_acquire_async(sem->pool, count,
					  deadline, cancel, NULL, granted, arg);
}

struct kustos_lockable kustos_semaphore_lockable(struct kustos_semaphore *sem)
{
	return ku_pool_lockable(sem != NULL ? sem->pool : NULL);
}

enum kustos_err kustos_semaphore_set_data(struct kustos_semaphore *sem,
	const void *data, size_t len)
{
	enum kustos_err err = ku_recipe_storable(data, len) ? check(sem)
							    : KUSTOS_EINVAL;

	return err != KUSTOS_OK ? err : ku_pool_set_data(sem->pool, data, len);
}

int kustos_semaphore_max(struct kustos_semaphore *sem)
{
	return check(sem) == KUSTOS_OK ? ku_pool_room(sem->pool) : -1;
}

enum kustos_err kustos_semaphore_set_max(struct kustos_semaphore *sem, int max,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = max >= 0 ? check(sem) : KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_pool_set_room(sem->pool, max, deadline, cancel);
}

enum kustos_err kustos_semaphore_set_max_async(struct kustos_semaphore *sem,
	int max, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	enum kustos_err err = max >= 0 && done != NULL ? check(sem)
						       : KUSTOS_EINVAL;

	return err != KUSTOS_OK ? err
				: ku_pool_set_room_async(sem->pool, max,
					  deadline, cancel, done, arg);
}

int kustos_semaphore_disagrees(struct kustos_semaphore *sem)
{
	return check(sem) == KUSTOS_OK && ku_pool_disagrees(sem->pool);
}

enum kustos_err kustos_semaphore_mutex_create(struct kustos_client *client,
	const char *path, const struct kustos_semaphore_options *options,
	struct kustos_semaphore_mutex **out)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || out == NULL || !read_options(options, &o))
		return KUSTOS_EINVAL;
	o.max = 1;
	o.max_path = NULL;
	struct kustos_semaphore_mutex *mutex = calloc(1, sizeof(*mutex));
	if (mutex == NULL)
		return KUSTOS_ENOMEM;
	mutex->refs = 1;
	if (pthread_mutex_init(&mutex->mutex, NULL) != 0) {
		free(mutex);
		return KUSTOS_ENOMEM;
	}
	err = create(client, path, &o, &mutex->sem);
	if (err == KUSTOS_OK) {
		*out = mutex;
		return KUSTOS_OK;
	}
	pthread_mutex_destroy(&mutex->mutex);
	free(mutex);
	return err;
}

/* Remove the hold from the mutex, and return it. */
static struct kustos_hold *take_hold(struct kustos_semaphore_mutex *mutex)
{
	pthread_mutex_lock(&mutex->mutex);
	struct kustos_hold *hold = mutex->hold;
	mutex->hold = NULL;
	pthread_mutex_unlock(&mutex->mutex);
	return hold;
}

static void mutex_get(struct kustos_semaphore_mutex *mutex)
{
	pthread_mutex_lock(&mutex->mutex);
	mutex->refs++;
	pthread_mutex_unlock(&mutex->mutex);
}

/* Drop a reference; the last one frees the mutex. */
static void mutex_put(struct kustos_semaphore_mutex *mutex)
{
	pthread_mutex_lock(&mutex->mutex);
	bool last = --mutex->refs == 0;
	pthread_mutex_unlock(&mutex->mutex);
	if (!last)
		return;
	pthread_mutex_destroy(&mutex->mutex);
	free(mutex);
}

void kustos_semaphore_mutex_destroy(struct kustos_semaphore_mutex *mutex)
{
	if (mutex == NULL || check(mutex->sem) != KUSTOS_OK)
		return;
	pthread_mutex_lock(&mutex->mutex);
	mutex->destroyed = true;
	pthread_mutex_unlock(&mutex->mutex);
	(void)kustos_hold_release(take_hold(mutex));
	kustos_semaphore_destroy(mutex->sem);
	mutex_put(mutex);
}

/* Does the mutex still have a hold that was lost? */
static bool has_lost(struct kustos_semaphore_mutex *mutex)
{
	pthread_mutex_lock(&mutex->mutex);
	bool lost = mutex->hold != NULL &&
		kustos_hold_state(mutex->hold) == KUSTOS_HOLD_LOST;
	pthread_mutex_unlock(&mutex->mutex);
	return lost;
}

/* Keep the hold that was granted, or release it in two cases.  If the mutex
   still has another hold, that one was lost, and the thread that locked it
   would unlock ours.  If the mutex was destroyed before this thread could wake
   up, nobody would unlock it. */
static enum kustos_err keep(struct kustos_semaphore_mutex *mutex,
	struct kustos_hold *hold)
{
	enum kustos_err err = KUSTOS_OK;

	pthread_mutex_lock(&mutex->mutex);
	if (mutex->destroyed)
		err = KUSTOS_ECLOSED;
	else if (mutex->hold != NULL)
		err = KUSTOS_ELOST;
	else
		mutex->hold = hold;
	pthread_mutex_unlock(&mutex->mutex);
	if (err != KUSTOS_OK)
		(void)kustos_hold_release(hold);
	return err;
}

enum kustos_err kustos_semaphore_mutex_lock(
	struct kustos_semaphore_mutex *mutex, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	enum kustos_err err = mutex != NULL ? check(mutex->sem) : KUSTOS_EINVAL;
	struct kustos_hold *hold;

	if (err != KUSTOS_OK)
		return err;
	if (has_lost(mutex))
		return KUSTOS_ELOST;
	mutex_get(mutex);
	err = kustos_semaphore_acquire(mutex->sem, deadline, cancel, &hold);
	if (err == KUSTOS_OK)
		err = keep(mutex, hold);
	mutex_put(mutex);
	return err;
}

enum kustos_err kustos_semaphore_mutex_unlock(
	struct kustos_semaphore_mutex *mutex)
{
	enum kustos_err err = mutex != NULL ? check(mutex->sem) : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct kustos_hold *hold = take_hold(mutex);
	return hold != NULL ? kustos_hold_release(hold) : KUSTOS_ENOTHELD;
}

struct kustos_hold *kustos_semaphore_mutex_hold(
	struct kustos_semaphore_mutex *mutex)
{
	if (mutex == NULL || check(mutex->sem) != KUSTOS_OK)
		return NULL;
	pthread_mutex_lock(&mutex->mutex);
	struct kustos_hold *hold = mutex->hold;
	pthread_mutex_unlock(&mutex->mutex);
	return hold;
}

int64_t kustos_semaphore_mutex_token(struct kustos_semaphore_mutex *mutex)
{
	int64_t token = 0;

	if (mutex == NULL || check(mutex->sem) != KUSTOS_OK)
		return 0;
	/* Another thread's unlock() frees the hold only without the mutex. */
	pthread_mutex_lock(&mutex->mutex);
	if (kustos_hold_state(mutex->hold) != KUSTOS_HOLD_LOST)
		token = kustos_hold_token(mutex->hold);
	pthread_mutex_unlock(&mutex->mutex);
	return token;
}
