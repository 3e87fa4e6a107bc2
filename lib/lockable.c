/*
 * lockable.c - several holds taken together.
 *
 * They are taken one after the other in the order of their paths, which is the
 * same for everybody.  So a caller that waits for one holds only such as come
 * before it in that order, and waiters cannot form a circle.
 */

#include "client.h"
#include "gate.h"
#include "hold.h"
#include "recipe.h"

#include <kustos/lockable.h>
#include <stdlib.h>
#include <string.h>

struct slot {
	struct kustos_lockable what;
	size_t index; /* its index in the caller's array */
};

/* Several holds that are being taken. */
struct pile {
	struct kustos_client *client;
	struct kustos_hold *whole;
	struct ku_bundle *bundle;
	kustos_deadline deadline;
	struct kustos_cancel *cancel;
	kustos_granted_fn *granted;
	void *arg;
	size_t taken, count;
	struct slot slots[]; /* sorted by path */
};

static int by_path(const void *a, const void *b)
{
	const struct slot *x = a;
	const struct slot *y = b;

	return strcmp(x->what.path, y->what.path);
}

static enum kustos_err check(const struct kustos_lockable *what, size_t count)
{
	if (what == NULL || count == 0 ||
		count > SIZE_MAX / 2 / sizeof(struct slot))
		return KUSTOS_EINVAL;
	for (size_t i = 0; i < count; i++)
		if (what[i].client != what[0].client || what[i].path == NULL ||
			what[i].acquire == NULL ||
			what[i].acquire_async == NULL ||
			what[i].reserved != NULL)
			return KUSTOS_EINVAL;
	return ku_recipe_check(what[0].client);
}

static void pile_free(struct pile *pile)
{
	if (pile == NULL)
		return;
	ku_hold_free(pile->whole);
	free(pile->bundle);
	free(pile);
}

static enum kustos_err pile_new(const struct kustos_lockable *what,
	size_t count, struct pile **out)
{
	enum kustos_err err = check(what, count);

	if (err != KUSTOS_OK)
		return err;
	struct pile *pile = calloc(1,
		sizeof(*pile) + count * sizeof(pile->slots[0]));
	if (pile == NULL)
		return KUSTOS_ENOMEM;
	pile->client = what[0].client;
	pile->count = count;
	pile->whole = ku_hold_new(pile->client);
	pile->bundle = calloc(1,
		sizeof(*pile->bundle) + count * sizeof(struct kustos_hold *));
	if (pile->whole == NULL || pile->bundle == NULL) {
		pile_free(pile);
		return KUSTOS_ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		pile->slots[i] = (struct slot){ what[i], i };
		ku_gate_keep_part(&pile->slots[i].what);
	}
	qsort(pile->slots, count, sizeof(pile->slots[0]), by_path);
	for (size_t i = 1; i < count; i++)
		if (by_path(&pile->slots[i - 1], &pile->slots[i]) == 0)
			err = KUSTOS_EDEADLK;
	if (err != KUSTOS_OK)
		pile_free(pile);
	else
		*out = pile;
	return err;
}

static struct kustos_hold **part(struct pile *pile, size_t place)
{
	return &pile->bundle->parts[pile->slots[place].index];
}

/* The next part is "hold".  It goes with the whole, or with this wait: the
   program may get it in a callback, but may not release it. */
static void add(struct pile *pile, struct kustos_hold *hold)
{
	ku_hold_keep(hold);
	*part(pile, pile->taken++) = hold;
}

/* Give back what was taken. */
static void give_back(struct pile *pile)
{
	while (pile->taken > 0)
		(void)ku_hold_release(*part(pile, --pile->taken));
}

static void released(struct kustos_hold *whole, void *owner)
{
	struct pile *pile = owner;
	struct kustos_client *client = pile->client;

	(void)whole;
	ku_unlock(client);
	give_back(pile);
	ku_lock(client);
	pile->whole = NULL; /* its releaser frees it */
	pile_free(pile);
}

/* All are taken.  Returns false if one of them was lost meanwhile. */
static bool grant(struct pile *pile)
{
	struct ku_bundle *bundle = pile->bundle;
	bool held = true;

	ku_lock(pile->client);
	for (size_t i = 0; i < pile->count; i++)
		held = held &&
			ku_hold_state(bundle->parts[i]) != KUSTOS_HOLD_LOST;
	if (held) {
		const struct kustos_hold *last = *part(pile, pile->count - 1);

		bundle->whole = pile->whole;
		bundle->count = pile->count;
		ku_hold_bundle(bundle);
		ku_hold_grant(pile->whole,
			&(struct ku_grant){
				.path = kustos_hold_path(last),
				.token = kustos_hold_token(last),
				.release = released,
				.owner = pile,
			});
	}
	ku_unlock(pile->client);
	return held;
}

static enum kustos_err take_all(struct pile *pile)
{
	while (pile->taken < pile->count) {
		const struct kustos_lockable *what = &pile->slots[pile->taken]
							      .what;
		struct kustos_hold *hold = NULL;
		enum kustos_err err = what->acquire(what->object,
			pile->deadline, pile->cancel, &hold);

		if (err != KUSTOS_OK)
			return err;
		add(pile, hold);
	}
	return KUSTOS_OK;
}

enum kustos_err kustos_acquire_all(const struct kustos_lockable *what,
	size_t count, kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	struct pile *pile = NULL;
	bool held = false;
	enum kustos_err err = out != NULL ? pile_new(what, count, &pile)
					  : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct kustos_client *client = pile->client;
	pile->deadline = deadline;
	pile->cancel = cancel;
	/* Count as one call, for a close that waits for calls. */
	ku_begin(client);
	ku_unlock(client);
	while (err == KUSTOS_OK && !held) {
		err = take_all(pile);
		held = err == KUSTOS_OK && grant(pile);
		if (!held)
			give_back(pile);
		if (!held && err == KUSTOS_OK && deadline == KUSTOS_NOW)
			err = KUSTOS_ELOST;
	}
	if (held)
		*out = pile->whole;
	else
		pile_free(pile);
	ku_lock(client);
	ku_end(client);
	return err;
}

static void one_granted(void *arg, enum kustos_err err,
	struct kustos_hold *hold);

static enum kustos_err ask_next(struct pile *pile)
{
	const struct kustos_lockable *what = &pile->slots[pile->taken].what;

	return what->acquire_async(what->object, pile->deadline, pile->cancel,
		one_granted, pile);
}

static void one_granted(void *arg, enum kustos_err err,
	struct kustos_hold *hold)
{
	struct pile *pile = arg;
	kustos_granted_fn *granted = pile->granted;
	void *owner = pile->arg;

	if (err == KUSTOS_OK) {
		add(pile, hold);
		if (pile->taken == pile->count && grant(pile)) {
			granted(owner, KUSTOS_OK, pile->whole);
			return;
		}
		if (pile->taken == pile->count) {
			give_back(pile);
			if (pile->deadline == KUSTOS_NOW)
				err = KUSTOS_ELOST;
		}
	}
	if (err == KUSTOS_OK)
		err = ask_next(pile);
	if (err == KUSTOS_OK)
		return;
	give_back(pile);
	pile_free(pile);
	granted(owner, err, NULL);
}

enum kustos_err kustos_acquire_all_async(const struct kustos_lockable *what,
	size_t count, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg)
{
	struct pile *pile = NULL;
	enum kustos_err err = granted != NULL ? pile_new(what, count, &pile)
					      : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	pile->deadline = deadline;
	pile->cancel = cancel;
	pile->granted = granted;
	pile->arg = arg;
	err = ask_next(pile);
	if (err != KUSTOS_OK)
		pile_free(pile);
	return err;
}
