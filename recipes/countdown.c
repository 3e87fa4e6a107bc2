/*
 * countdown.c - the count-down latch of <kustos/countdown.h>.
 *
 * The names of its node's children say everything (tally.h).  So one listing,
 * with one watch, tells a waiter all of it, as it was at one time.  The nodes
 * that count are persistent.  Each is made at most once, as its name can exist
 * only once, whoever makes it and however often an answer is lost.
 */
#include "countdown_impl.h"
#include "tally.h"

#include <kustos/node.h>
#include <stdlib.h>
#include <string.h>

/* Judge a listing.  Called with the client locked. */
static enum kustos_err judge(const void *arg, const struct ku_zk_reply *reply)
{
	const struct kustos_countdown *c = arg;
	struct ku_tally tally;

	if (reply->rc == KU_ZK_NONODE)
		return KUSTOS_EBUSY;
	if (!ku_tally_read(reply->names, (size_t)reply->name_count, &tally))
		return KUSTOS_ENOMEM;
	enum kustos_err err = ku_tally_judge(&tally, c->count);
	free(tally.list);
	return err;
}

static void free_countdown(struct kustos_countdown *c)
{
	pthread_mutex_destroy(&c->mutex);
	free(c->path);
	free(c->data);
	free(c);
}

void ku_countdown_get(struct kustos_countdown *c)
{
	pthread_mutex_lock(&c->mutex);
	c->refs++;
	pthread_mutex_unlock(&c->mutex);
}

void ku_countdown_put(struct kustos_countdown *c)
{
	pthread_mutex_lock(&c->mutex);
	bool last = --c->refs == 0;
	pthread_mutex_unlock(&c->mutex);
	if (last)
		free_countdown(c);
}

/* Copy the path and the data.  Returns false if memory is short. */
static bool copy(struct kustos_countdown *c, const char *path,
	const struct kustos_countdown_options *o)
{
	c->path = strdup(path);
	if (c->path == NULL || o->data == NULL)
		return c->path != NULL;
	c->data = malloc(o->data_len + 1);
	if (c->data == NULL)
		return false;
	memcpy(c->data, o->data, o->data_len);
	c->len = o->data_len;
	return true;
}

static bool read_options(const struct kustos_countdown_options *from,
	struct kustos_countdown_options *to)
{
	return ku_recipe_options(to, sizeof(*to), from) &&
		ku_recipe_storable(to->data, to->data_len);
}

enum kustos_err kustos_countdown_create(struct kustos_client *client,
	const char *path, int count,
	const struct kustos_countdown_options *options,
	struct kustos_countdown **out)
{
	struct kustos_countdown_options o = KUSTOS_COUNTDOWN_OPTIONS_INIT;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || strcmp(path, "/") == 0 || count < 0 ||
		out == NULL || !read_options(options, &o))
		return KUSTOS_EINVAL;
	struct kustos_countdown *c = calloc(1, sizeof(*c));
	if (c == NULL)
		return KUSTOS_ENOMEM;
	const struct ku_vigil_wish wish = { .kind = KU_ZK_CHILDREN,
		.judge = judge,
		.arg = c };
	c->client = client;
	c->count = count;
	c->refs = 1;
	pthread_mutex_init(&c->mutex, NULL);
	err = copy(c, path, &o) ? KUSTOS_OK : KUSTOS_ENOMEM;
	if (err == KUSTOS_OK)
		err = ku_vigil_create(client, path, &wish, &c->vigil);
	if (err == KUSTOS_OK)
		*out = c;
	else
		free_countdown(c);
	return err;
}

enum kustos_err ku_countdown_check(const struct kustos_countdown *c)
{
	return c != NULL ? ku_recipe_check(c->client) : KUSTOS_EINVAL;
}

void kustos_countdown_destroy(struct kustos_countdown *c)
{
	if (ku_countdown_check(c) != KUSTOS_OK)
		return;
	ku_vigil_destroy(c->vigil);
	pthread_mutex_lock(&c->mutex);
	c->over = true;
	pthread_mutex_unlock(&c->mutex);
	ku_countdown_end_lives(c, NULL, UINT64_MAX);
	ku_countdown_put(c);
}

char *ku_countdown_child(const struct kustos_countdown *c, const char *name)
{
	char *path = malloc(strlen(c->path) + strlen(name) + 2);

	if (path != NULL)
		stpcpy(stpcpy(stpcpy(path, c->path), "/"), name);
	return path;
}

enum kustos_err ku_countdown_ensure(struct kustos_countdown *c,
	const char *name, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	char *path = ku_countdown_child(c, name);
	enum kustos_err err = KUSTOS_ENOMEM;

	if (path != NULL)
		err = ku_recipe_ensure(c->client, path, c->data, c->len,
			deadline, cancel);
	free(path);
	return err;
}

static enum kustos_err read_tally(const struct kustos_names *names,
	struct ku_tally *tally)
{
	return ku_tally_read((const char *const *)names->names, names->count,
		       tally)
		? KUSTOS_OK
		: KUSTOS_ENOMEM;
}

/* A listing of the latch ended with "err": which count is stored?  0: none. */
static enum kustos_err read_count(const struct kustos_names *names,
	enum kustos_err err, int *count)
{
	struct ku_tally tally;

	*count = 0;
	if (err == KUSTOS_ENONODE)
		return KUSTOS_OK;
	if (err == KUSTOS_OK)
		err = read_tally(names, &tally);
	if (err != KUSTOS_OK)
		return err;
	*count = tally.count;
	if (tally.disagree)
		err = KUSTOS_EDISAGREE;
	free(tally.list);
	return err;
}

/* Must the count be stored?  Not if a count is stored already; one that is not
   ours is an error. */
static enum kustos_err read_need(const struct kustos_countdown *c,
	const struct kustos_names *names, enum kustos_err err, bool *need)
{
	int said = 0;

	err = read_count(names, err, &said);
	*need = err == KUSTOS_OK && said == 0;
	return err == KUSTOS_OK && said != 0 && said != c->count
		? KUSTOS_EDISAGREE
		: err;
}

static enum kustos_err look_for_need(struct kustos_countdown *c,
	kustos_deadline deadline, struct kustos_cancel *cancel, bool *need)
{
	struct kustos_names *names = NULL;
	enum kustos_err err = kustos_children(c->client, c->path, deadline,
		cancel, &names, NULL);

	err = read_need(c, names, err, need);
	kustos_names_free(names);
	return err;
}

/* Store the count.  Look before, so that a wrong count spoils nothing, and
   afterwards, in case another client stored one at the same time. */
static enum kustos_err set(struct kustos_countdown *c, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	char name[KU_TALLY_NAME_SIZE];
	bool need = false;
	enum kustos_err err = look_for_need(c, deadline, cancel, &need);

	if (!need)
		return err;
	ku_tally_write_count(c->count, name);
	err = ku_countdown_ensure(c, name, deadline, cancel);
	return err != KUSTOS_OK ? err
				: look_for_need(c, deadline, cancel, &need);
}

static enum kustos_err check_count(const struct kustos_countdown *c)
{
	enum kustos_err err = ku_countdown_check(c);

	return err == KUSTOS_OK && c->count == 0 ? KUSTOS_EINVAL : err;
}

enum kustos_err kustos_countdown_set(struct kustos_countdown *c,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = check_count(c);

	if (err != KUSTOS_OK)
		return err;
	ku_countdown_get(c);
	err = set(c, deadline, cancel);
	ku_countdown_put(c);
	return err;
}

static void looked_after(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct errand *e = arg;
	bool need;

	err = read_need(e->c, result->names, err, &need);
	ku_countdown_errand_end(e, err);
}

static void said(void *arg, enum kustos_err err)
{
	struct errand *e = arg;

	if (err == KUSTOS_OK)
		err = kustos_children_async(e->c->client, e->c->path,
			e->deadline, e->cancel, looked_after, e);
	if (err != KUSTOS_OK)
		ku_countdown_errand_end(e, err);
}

static void looked_before(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct errand *e = arg;
	char name[KU_TALLY_NAME_SIZE];
	bool need = false;

	err = read_need(e->c, result->names, err, &need);
	if (need) {
		ku_tally_write_count(e->c->count, name);
		err = ku_countdown_errand_ensure(e, name, said);
	}
	if (!need || err != KUSTOS_OK)
		ku_countdown_errand_end(e, err);
}

enum kustos_err kustos_countdown_set_async(struct kustos_countdown *c,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	enum kustos_err err = done != NULL ? check_count(c) : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct errand *e = ku_countdown_errand(c, "", deadline, cancel, done,
		arg);
	if (e == NULL)
		return KUSTOS_ENOMEM;
	err = kustos_children_async(c->client, c->path, deadline, cancel,
		looked_before, e);
	if (err != KUSTOS_OK)
		ku_countdown_errand_free(e);
	return err;
}

enum kustos_err kustos_countdown_wait(struct kustos_countdown *c,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = ku_countdown_check(c);

	return err != KUSTOS_OK ? err
				: ku_vigil_wait(c->vigil, deadline, cancel);
}

enum kustos_err kustos_countdown_wait_async(struct kustos_countdown *c,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	enum kustos_err err = done != NULL ? ku_countdown_check(c)
					   : KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_vigil_wait_async(c->vigil, deadline, cancel, done, arg);
}

/* Make a status: one block with the status, its participants, the pointers to
   them, and their ids. */
static struct kustos_countdown_status *status_of(const struct ku_tally *tally)
{
	const struct kustos_countdown_participant **list;
	struct kustos_countdown_participant *one;
	struct kustos_countdown_status *status;
	size_t text = 0;

	for (size_t i = 0; i < tally->size; i++)
		text += strlen(tally->list[i].id) + 1;
	status = calloc(1,
		sizeof(*status) + tally->size * (sizeof(*one) + sizeof(*list)) +
			text);
	if (status == NULL)
		return NULL;
	one = (struct kustos_countdown_participant *)(status + 1);
	list = (const struct kustos_countdown_participant **)(one +
		tally->size);
	char *ids = (char *)(list + tally->size);
	status->count = tally->disagree ? 0 : tally->count;
	status->disagree = tally->disagree;
	status->done = tally->done;
	status->broken = tally->dead;
	status->participant_count = tally->size;
	status->participants = list;
	for (size_t i = 0; i < tally->size; i++, one++) {
		int kinds = tally->list[i].kinds;

		ku_tally_plain(tally->list[i].id, ids);
		list[i] = one;
		one->id = ids;
		one->done = (kinds & KU_TALLY_DONE) != 0;
		one->must = (kinds & KU_TALLY_MUST) != 0;
		one->alive = (kinds & KU_TALLY_ALIVE) != 0;
		ids += strlen(ids) + 1;
	}
	return status;
}

static enum kustos_err read_status(const struct kustos_names *names,
	struct kustos_countdown_status **status)
{
	struct ku_tally tally;
	enum kustos_err err = read_tally(names, &tally);

	if (err != KUSTOS_OK)
		return err;
	*status = status_of(&tally);
	free(tally.list);
	return *status != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
}

enum kustos_err kustos_countdown_look(struct kustos_countdown *c,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_countdown_status **out)
{
	struct kustos_countdown_status *status = NULL;
	struct kustos_names *names = NULL;
	enum kustos_err err = out != NULL ? ku_countdown_check(c)
					  : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	ku_countdown_get(c);
	err = kustos_children(c->client, c->path, deadline, cancel, &names,
		NULL);
	ku_countdown_put(c);
	if (err == KUSTOS_OK)
		err = read_status(names, &status);
	kustos_names_free(names);
	if (err == KUSTOS_OK)
		*out = status;
	return err;
}

/* A look with a callback.  It does not need the latch once it has started. */
struct look {
	kustos_countdown_look_fn *done;
	void *arg;
};

static void looked(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct kustos_countdown_status *status = NULL;
	struct look *look = arg;

	if (err == KUSTOS_OK)
		err = read_status(result->names, &status);
	look->done(look->arg, err, status);
	free(status);
	free(look);
}

enum kustos_err kustos_countdown_look_async(struct kustos_countdown *c,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_countdown_look_fn *done, void *arg)
{
	enum kustos_err err = done != NULL ? ku_countdown_check(c)
					   : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct look *look = malloc(sizeof(*look));
	if (look == NULL)
		return KUSTOS_ENOMEM;
	*look = (struct look){ done, arg };
	err = kustos_children_async(c->client, c->path, deadline, cancel,
		looked, look);
	if (err != KUSTOS_OK)
		free(look);
	return err;
}

void kustos_countdown_status_free(struct kustos_countdown_status *status)
{
	free(status);
}
