/*
 * barrier_double.c - the calls of a double barrier in <kustos/barrier.h>,
 * passed on to a muster.
 */
#include <kustos/barrier.h>

#include "recipe.h"

#include <stdlib.h>
#include <string.h>

struct kustos_double_barrier {
	struct kustos_client *client;
	struct ku_muster *muster;
};

static bool read_options(const struct kustos_barrier_options *from,
	struct ku_payload_wish *to)
{
	struct kustos_barrier_options o = KUSTOS_BARRIER_OPTIONS_INIT;

	if (!ku_recipe_options(&o, sizeof(o), from) ||
		!ku_recipe_storable(o.data, o.data_len))
		return false;
	to->data = o.data;
	to->len = o.data_len;
	return true;
}

enum kustos_err kustos_double_barrier_create(struct kustos_client *client,
	const char *path, int count,
	const struct kustos_barrier_options *options,
	struct kustos_double_barrier **out)
{
	struct ku_payload_wish wish = { .record = false };
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || strcmp(path, "/") == 0 || out == NULL ||
		!read_options(options, &wish))
		return KUSTOS_EINVAL;
	struct kustos_double_barrier *member = calloc(1, sizeof(*member));
	if (member == NULL)
		return KUSTOS_ENOMEM;
	member->client = client;
	err = ku_muster_create(client, path, count, &wish, &member->muster);
	if (err == KUSTOS_OK)
		*out = member;
	else
		free(member);
	return err;
}

static enum kustos_err check(const struct kustos_double_barrier *member)
{
	return member != NULL ? ku_recipe_check(member->client) : KUSTOS_EINVAL;
}

void kustos_double_barrier_destroy(struct kustos_double_barrier *member)
{
	if (check(member) != KUSTOS_OK)
		return;
	ku_muster_destroy(member->muster);
	free(member);
}

enum kustos_err kustos_double_barrier_enter(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	enum kustos_err err = check(member);

	return err != KUSTOS_OK
		? err
		: ku_muster_enter(member->muster, deadline, cancel, NULL, NULL);
}

enum kustos_err kustos_double_barrier_enter_async(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg)
{
	enum kustos_err err = done != NULL ? check(member) : KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_muster_enter(member->muster, deadline, cancel, done, arg);
}

enum kustos_err kustos_double_barrier_leave(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	enum kustos_err err = check(member);

	return err != KUSTOS_OK
		? err
		: ku_muster_leave(member->muster, deadline, cancel, NULL, NULL);
}

enum kustos_err kustos_double_barrier_leave_async(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg)
{
	enum kustos_err err = done != NULL ? check(member) : KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_muster_leave(member->muster, deadline, cancel, done, arg);
}

int kustos_double_barrier_inside(struct kustos_double_barrier *member)
{
	return check(member) == KUSTOS_OK && ku_muster_inside(member->muster);
}
