/*
 * countdown_remove.c - remove a count-down latch.
 *
 * Its nodes are deleted in transactions, usually all in one, with the latch's
 * own node.  If there are too many for one, or if other nodes stay there, the
 * order is such that on the way no participant that was seen looks dead, and
 * the latch does not come to zero.  A transaction is rolled back if one of its
 * nodes has gone meanwhile, or if a child was made below the latch's own node.
 * Then the latch is listed again.
 */
#include "countdown_impl.h"
#include "tally.h"

#include <kustos/node.h>
#include <stdlib.h>
#include <string.h>

/* The most nodes in one transaction: far fewer than fit a frame. */
#define AT_ONCE 100

/* How often the latch is listed at the most, if something comes between or an
   answer is lost. */
#define LOOKS 10

struct removal {
	struct kustos_countdown *c;
	kustos_deadline deadline;
	struct kustos_cancel *cancel;
	struct kustos_op ops[AT_ONCE];
	struct kustos_op_result results[AT_ONCE];
	size_t count;
};

static void drop(struct removal *r)
{
	while (r->count > 0)
		free((char *)r->ops[--r->count].path);
}

/* Was the transaction refused because others have deleted or made nodes
   meanwhile?  A node below one of the latch's children is no such case: it was
   not made just now. */
static bool came_between(const struct removal *r, enum kustos_err err)
{
	size_t last = r->count - 1;

	return err == KUSTOS_ENONODE ||
		(err == KUSTOS_ENOTEMPTY && r->results[last].err == err &&
			strcmp(r->ops[last].path, r->c->path) == 0);
}

static enum kustos_err flush(struct removal *r)
{
	enum kustos_err err = KUSTOS_OK;

	if (r->count > 0)
		err = kustos_multi(r->c->client, r->ops, r->count, r->deadline,
			r->cancel, r->results);
	if (r->count > 0 && came_between(r, err))
		err = KUSTOS_EBUSY;
	drop(r);
	return err;
}

/* Add a deletion of "path", which is malloc'ed, or NULL if memory is short. */
static enum kustos_err add(struct removal *r, char *path)
{
	enum kustos_err err = r->count == AT_ONCE ? flush(r) : KUSTOS_OK;

	if (path == NULL)
		return KUSTOS_ENOMEM;
	r->ops[r->count++] = (struct kustos_op){ .kind = KUSTOS_OP_DELETE,
		.path = path,
		.version = -1 };
	return err;
}

static enum kustos_err add_kind(struct removal *r,
	const struct kustos_names *names, enum ku_tally_kind kind)
{
	enum kustos_err err = KUSTOS_OK;
	const char *id;

	for (size_t i = 0; i < names->count && err == KUSTOS_OK; i++)
		if (ku_tally_name(names->names[i], &id) == kind)
			err = add(r, ku_countdown_child(r->c, names->names[i]));
	return err;
}

static enum kustos_err remove_listed(struct removal *r,
	const struct kustos_names *names, bool others)
{
	static const enum ku_tally_kind kinds[] = { KU_TALLY_MUST,
		KU_TALLY_ALIVE, KU_TALLY_DONE, KU_TALLY_COUNT };
	enum kustos_err err = KUSTOS_OK;

	for (int i = 0; i < 4 && err == KUSTOS_OK; i++)
		err = add_kind(r, names, kinds[i]);
	if (err == KUSTOS_OK && !others)
		err = add(r, strdup(r->c->path));
	if (err == KUSTOS_OK)
		return flush(r);
	drop(r);
	return err;
}

/* Are there nodes that are not the latch's? */
static bool has_others(const struct kustos_names *names)
{
	const char *id;

	for (size_t i = 0; i < names->count; i++)
		if (ku_tally_name(names->names[i], &id) == KU_TALLY_OTHER)
			return true;
	return false;
}

/* List once, and remove what was seen. */
static enum kustos_err look_and_remove(struct removal *r, bool *others)
{
	struct kustos_names *names = NULL;
	enum kustos_err err = kustos_children(r->c->client, r->c->path,
		r->deadline, r->cancel, &names, NULL);

	*others = false;
	if (err == KUSTOS_ENONODE)
		return KUSTOS_OK;
	if (err != KUSTOS_OK)
		return err;
	*others = has_others(names);
	err = remove_listed(r, names, *others);
	kustos_names_free(names);
	return err;
}

enum kustos_err kustos_countdown_remove(struct kustos_countdown *c,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	struct removal r = { .c = c, .deadline = deadline, .cancel = cancel };
	enum kustos_err err = ku_countdown_check(c);
	bool others = false;

	if (err != KUSTOS_OK)
		return err;
	ku_countdown_get(c);
	for (int looks = 0; looks < LOOKS; looks++) {
		err = look_and_remove(&r, &others);
		if (err != KUSTOS_EBUSY && err != KUSTOS_EUNKNOWN)
			break;
	}
	ku_countdown_put(c);
	return err == KUSTOS_OK && others ? KUSTOS_ENOTEMPTY : err;
}
