/*
 * countdown_part.c - the participants of a count-down latch.
 *
 * A participant that joins makes two nodes: first an ephemeral one, under a
 * name that is new each time, which says that it is alive; and then the one
 * that says that it must count.  So a participant that lives never looks dead,
 * not even while the session of the process before it is still there, or ends.
 */
#include "countdown_impl.h"
#include "tally.h"

#include <kustos/node.h>
#include <stdlib.h>
#include <string.h>

struct life { /* a node that says that a participant is alive */
	struct life *next;
	uint64_t serial;
	char *path;
	int64_t czxid;
	char id[];
};

static void delete_life(struct kustos_countdown *c, const char *path,
	int64_t czxid)
{
	/* If the deletion cannot be started, the node goes with the session. */
	enum kustos_err err = kustos_delete_guaranteed(c->client, path, czxid);
	(void)err;
}

void ku_countdown_end_lives(struct kustos_countdown *c, const char *id,
	uint64_t serial)
{
	struct life *ended = NULL;

	pthread_mutex_lock(&c->mutex);
	for (struct life **at = &c->lives; *at != NULL;) {
		struct life *life = *at;

		if (life->serial >= serial ||
			(id != NULL && strcmp(life->id, id) != 0)) {
			at = &life->next;
			continue;
		}
		*at = life->next;
		life->next = ended;
		ended = life;
	}
	pthread_mutex_unlock(&c->mutex);
	while (ended != NULL) {
		struct life *life = ended;

		ended = life->next;
		delete_life(c, life->path, life->czxid);
		free(life->path);
		free(life);
	}
}

/* Remember the node that was made, or delete it again. */
static enum kustos_err add_life(struct kustos_countdown *c, const char *id,
	const char *path, int64_t czxid, uint64_t *serial)
{
	struct life *life = calloc(1, sizeof(*life) + strlen(id) + 1);
	char *copy = strdup(path);
	bool over = life == NULL || copy == NULL;

	pthread_mutex_lock(&c->mutex);
	if (!over && !c->over) {
		life->path = copy;
		life->czxid = czxid;
		life->serial = *serial = ++c->serial;
		strcpy(life->id, id);
		life->next = c->lives;
		c->lives = life;
		pthread_mutex_unlock(&c->mutex);
		return KUSTOS_OK;
	}
	pthread_mutex_unlock(&c->mutex);
	free(life);
	free(copy);
	delete_life(c, path, czxid);
	return over ? KUSTOS_ENOMEM : KUSTOS_ECLOSED;
}

#define ALIVE                                                \
	(KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_PROTECTED | \
		KUSTOS_CREATE_PARENTS)

/* Make the node that says that "id" is alive. */
static enum kustos_err come_alive(struct kustos_countdown *c, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	uint64_t *serial)
{
	struct kustos_stat stat;
	char name[KU_TALLY_NAME_SIZE];
	char *made = NULL;

	(void)ku_tally_write(KU_TALLY_ALIVE, id, name);
	char *path = ku_countdown_child(c, name);
	if (path == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = kustos_create(c->client, path, c->data, c->len,
		ALIVE, deadline, cancel, &made, &stat);
	free(path);
	if (err == KUSTOS_OK)
		err = add_life(c, id, made, stat.czxid, serial);
	kustos_free(made);
	return err;
}

static enum kustos_err check(const struct kustos_countdown *c,
	enum ku_tally_kind kind, const char *id, char name[KU_TALLY_NAME_SIZE])
{
	enum kustos_err err = ku_countdown_check(c);

	if (err == KUSTOS_OK && !ku_tally_write(kind, id, name))
		err = KUSTOS_EINVAL;
	return err;
}

enum kustos_err kustos_countdown_join(struct kustos_countdown *c,
	const char *id, kustos_deadline deadline, struct kustos_cancel *cancel)
{
	char name[KU_TALLY_NAME_SIZE];
	uint64_t serial = 0;
	enum kustos_err err = check(c, KU_TALLY_MUST, id, name);

	if (err != KUSTOS_OK)
		return err;
	ku_countdown_get(c);
	err = come_alive(c, id, deadline, cancel, &serial);
	/* If this fails the "must" node may be there all the same, so the
	   participant stays alive. */
	if (err == KUSTOS_OK)
		err = ku_countdown_ensure(c, name, deadline, cancel);
	if (err == KUSTOS_OK) /* those of earlier calls and sessions */
		ku_countdown_end_lives(c, id, serial);
	ku_countdown_put(c);
	return err;
}

enum kustos_err kustos_countdown_done(struct kustos_countdown *c,
	const char *id, kustos_deadline deadline, struct kustos_cancel *cancel)
{
	char name[KU_TALLY_NAME_SIZE];
	enum kustos_err err = check(c, KU_TALLY_DONE, id, name);

	if (err != KUSTOS_OK)
		return err;
	ku_countdown_get(c);
	err = ku_countdown_ensure(c, name, deadline, cancel);
	if (err == KUSTOS_OK)
		ku_countdown_end_lives(c, id, UINT64_MAX);
	ku_countdown_put(c);
	return err;
}

/* The same with callbacks */

struct errand *ku_countdown_errand(struct kustos_countdown *c, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	struct errand *e = calloc(1, sizeof(*e) + strlen(id) + 1);

	if (e == NULL)
		return NULL;
	*e = (struct errand){ .c = c,
		.deadline = deadline,
		.cancel = cancel,
		.done = done,
		.arg = arg };
	strcpy(e->id, id);
	ku_countdown_get(c);
	return e;
}

void ku_countdown_errand_free(struct errand *e)
{
	ku_countdown_put(e->c);
	free(e);
}

void ku_countdown_errand_end(struct errand *e, enum kustos_err err)
{
	kustos_end_fn *done = e->done;
	void *arg = e->arg;

	ku_countdown_errand_free(e);
	done(arg, err);
}

static void was_ensured(void *arg, enum kustos_err err)
{
	struct errand *e = arg;

	if (err == KUSTOS_OK)
		ku_countdown_end_lives(e->c, e->id, e->serial);
	ku_countdown_errand_end(e, err);
}

enum kustos_err ku_countdown_errand_ensure(struct errand *e, const char *name,
	kustos_end_fn *ensured)
{
	char *path = ku_countdown_child(e->c, name);
	enum kustos_err err = KUSTOS_ENOMEM;

	if (path != NULL)
		err = ku_recipe_ensure_async(e->c->client, path, e->c->data,
			e->c->len, e->deadline, e->cancel, ensured, e);
	free(path);
	return err;
}

static void came_alive(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct errand *e = arg;
	char name[KU_TALLY_NAME_SIZE];

	if (err == KUSTOS_OK)
		err = add_life(e->c, e->id, result->path, result->stat->czxid,
			&e->serial);
	if (err == KUSTOS_OK) {
		(void)ku_tally_write(KU_TALLY_MUST, e->id, name);
		err = ku_countdown_errand_ensure(e, name, was_ensured);
	}
	if (err != KUSTOS_OK)
		ku_countdown_errand_end(e, err);
}

enum kustos_err kustos_countdown_join_async(struct kustos_countdown *c,
	const char *id, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	char name[KU_TALLY_NAME_SIZE];
	enum kustos_err err = done != NULL ? check(c, KU_TALLY_ALIVE, id, name)
					   : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct errand *e = ku_countdown_errand(c, id, deadline, cancel, done,
		arg);
	if (e == NULL)
		return KUSTOS_ENOMEM;
	char *path = ku_countdown_child(c, name);
	err = KUSTOS_ENOMEM;
	if (path != NULL)
		err = kustos_create_async(c->client, path, c->data, c->len,
			ALIVE, deadline, cancel, came_alive, e);
	free(path);
	if (err != KUSTOS_OK)
		ku_countdown_errand_free(e);
	return err;
}

enum kustos_err kustos_countdown_done_async(struct kustos_countdown *c,
	const char *id, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	char name[KU_TALLY_NAME_SIZE];
	enum kustos_err err = done != NULL ? check(c, KU_TALLY_DONE, id, name)
					   : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct errand *e = ku_countdown_errand(c, id, deadline, cancel, done,
		arg);
	if (e == NULL)
		return KUSTOS_ENOMEM;
	e->serial = UINT64_MAX; /* all lives of this id end with it */
	err = ku_countdown_errand_ensure(e, name, was_ensured);
	if (err != KUSTOS_OK)
		ku_countdown_errand_free(e);
	return err;
}
