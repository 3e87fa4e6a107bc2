/*
 * barrier.c - the simple barrier of <kustos/barrier.h>: a node, and a vigil
 * that waits until the node is gone.
 */
#include <kustos/barrier.h>

#include "recipe.h"

#include <stdlib.h>
#include <string.h>

struct kustos_barrier {
	struct kustos_client *client;
	struct ku_vigil *vigil;
	char *path;
	char *data; /* NULL: the client's */
	size_t len;
};

static enum kustos_err judge(const void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	return reply->rc == KU_ZK_NONODE ? KUSTOS_OK : KUSTOS_EBUSY;
}

static void free_barrier(struct kustos_barrier *barrier)
{
	free(barrier->path);
	free(barrier->data);
	free(barrier);
}

/* Copy the path and the data.  Returns false if memory is short. */
static bool copy(struct kustos_barrier *barrier, const char *path,
	const struct kustos_barrier_options *o)
{
	barrier->path = strdup(path);
	if (barrier->path == NULL || o->data == NULL)
		return barrier->path != NULL;
	barrier->data = malloc(o->data_len + 1);
	if (barrier->data == NULL)
		return false;
	memcpy(barrier->data, o->data, o->data_len);
	barrier->len = o->data_len;
	return true;
}

static bool read_options(const struct kustos_barrier_options *from,
	struct kustos_barrier_options *to)
{
	return ku_recipe_options(to, sizeof(*to), from) &&
		ku_recipe_storable(to->data, to->data_len);
}

enum kustos_err kustos_barrier_create(struct kustos_client *client,
	const char *path, const struct kustos_barrier_options *options,
	struct kustos_barrier **out)
{
	static const struct ku_vigil_wish wish = { .kind = KU_ZK_GET,
		.brief = true,
		.judge = judge };
	struct kustos_barrier_options o = KUSTOS_BARRIER_OPTIONS_INIT;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || strcmp(path, "/") == 0 || out == NULL ||
		!read_options(options, &o))
		return KUSTOS_EINVAL;
	struct kustos_barrier *barrier = calloc(1, sizeof(*barrier));
	if (barrier == NULL)
		return KUSTOS_ENOMEM;
	barrier->client = client;
	err = copy(barrier, path, &o) ? KUSTOS_OK : KUSTOS_ENOMEM;
	if (err == KUSTOS_OK)
		err = ku_vigil_create(client, path, &wish, &barrier->vigil);
	if (err == KUSTOS_OK)
		*out = barrier;
	else
		free_barrier(barrier);
	return err;
}

static enum kustos_err check(const struct kustos_barrier *barrier)
{
	return barrier != NULL ? ku_recipe_check(barrier->client)
			       : KUSTOS_EINVAL;
}

void kustos_barrier_destroy(struct kustos_barrier *barrier)
{
	if (check(barrier) != KUSTOS_OK)
		return;
	ku_vigil_destroy(barrier->vigil);
	free_barrier(barrier);
}

enum kustos_err kustos_barrier_set(struct kustos_barrier *barrier,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = check(barrier);

	return err != KUSTOS_OK
		? err
		: ku_recipe_ensure(barrier->client, barrier->path,
			  barrier->data, barrier->len, deadline, cancel);
}

enum kustos_err kustos_barrier_remove(struct kustos_barrier *barrier,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = check(barrier);

	return err != KUSTOS_OK ? err
				: ku_recipe_remove(barrier->client,
					  barrier->path, deadline, cancel);
}

enum kustos_err kustos_barrier_set_async(struct kustos_barrier *barrier,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	enum kustos_err err = done != NULL ? check(barrier) : KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_recipe_ensure_async(barrier->client, barrier->path,
			  barrier->data, barrier->len, deadline, cancel, done,
			  arg);
}

enum kustos_err kustos_barrier_remove_async(struct kustos_barrier *barrier,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	enum kustos_err err = done != NULL ? check(barrier) : KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_recipe_remove_async(barrier->client, barrier->path,
			  deadline, cancel, done, arg);
}

enum kustos_err kustos_barrier_wait(struct kustos_barrier *barrier,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = check(barrier);

	return err != KUSTOS_OK
		? err
		: ku_vigil_wait(barrier->vigil, deadline, cancel);
}

enum kustos_err kustos_barrier_wait_async(struct kustos_barrier *barrier,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	enum kustos_err err = done != NULL ? check(barrier) : KUSTOS_EINVAL;

	return err != KUSTOS_OK ? err
				: ku_vigil_wait_async(barrier->vigil, deadline,
					  cancel, done, arg);
}
