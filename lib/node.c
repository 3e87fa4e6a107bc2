/*
 * node.c - the public operations.  Each is described once, by a struct ask; its
 * waiting form adds where the outputs go, its asynchronous form whom to call.
 */

#include "client.h"
#include "name.h"
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

#define ALL_FLAGS                                                   \
	(KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_SEQUENTIAL |       \
		KUSTOS_CREATE_CONTAINER | KUSTOS_CREATE_PROTECTED | \
		KUSTOS_CREATE_PARENTS)

void kustos_free(void *memory)
{
	free(memory);
}

void kustos_names_free(struct kustos_names *names)
{
	free(names); /* one block: see ku_names_copy() */
}

struct kustos_names *ku_names_copy(const char *const *names, int count)
{
	size_t size = sizeof(struct kustos_names) +
		(size_t)count * sizeof(char *);
	size_t text = 0;

	for (int i = 0; i < count; i++)
		text += strlen(names[i]) + 1;
	struct kustos_names *copy = malloc(size + text);
	if (copy == NULL)
		return NULL;
	char *end = (char *)copy + size;
	copy->count = (size_t)count;
	copy->names = (char **)(copy + 1);
	for (int i = 0; i < count; i++) {
		copy->names[i] = end;
		end = stpcpy(end, names[i]) + 1;
	}
	return copy;
}

/* Give a path back as the caller knows it: without the prefix. */
static char *take_path(struct ku_op *op)
{
	char *path = op->out_path;
	const char *known = ku_program_path(op->client, path);

	memmove(path, known, strlen(known) + 1);
	op->out_path = NULL;
	return path;
}

/* What an operation is asked to do. */
struct ask {
	enum ku_zk_kind kind;
	const char *path;
	const void *data; /* CREATE, SET */
	size_t len;
	int version;		     /* SET, DELETE */
	int flags;		     /* CREATE */
	bool any;		     /* CREATE: an existing node will do */
	enum kustos_err fine;	     /* counts as success */
	const struct kustos_op *ops; /* MULTI */
	size_t count;
	struct ku_guard guard; /* MULTI */
};

/* Where a waiting call puts what it brought; any may be NULL. */
struct outputs {
	char **path;
	char **data;
	size_t *len;
	struct kustos_names **names;
	struct kustos_stat *stat;
	struct kustos_op_result *results;
};

static struct ask ask_create(const char *path, const void *data, size_t len,
	int flags)
{
	return (struct ask){ .kind = KU_ZK_CREATE,
		.path = path,
		.data = data,
		.len = len,
		.flags = flags };
}

static struct ask ask_set(const char *path, const void *data, size_t len,
	int version)
{
	return (struct ask){ .kind = KU_ZK_SET,
		.path = path,
		.data = data,
		.len = len,
		.version = version };
}

static struct ask ask_delete(const char *path, int version)
{
	return (struct ask){ .kind = KU_ZK_DELETE,
		.path = path,
		.version = version };
}

static struct ask ask_multi(const struct kustos_op *ops, size_t count)
{
	return (struct ask){ .kind = KU_ZK_MULTI, .ops = ops, .count = count };
}

/* Create a node; one that exists already will do. */
static struct ask ask_ensure(const char *path, const void *data, size_t len)
{
	struct ask ask = ask_create(path, data, len, KUSTOS_CREATE_PARENTS);

	ask.any = true;
	ask.fine = KUSTOS_EEXISTS;
	return ask;
}

/* Delete a node; one that is gone already will do. */
static struct ask ask_remove(const char *path)
{
	struct ask ask = ask_delete(path, -1);

	ask.fine = KUSTOS_ENONODE;
	return ask;
}

/* An operation that needs nothing but a path. */
static struct ask ask_of(enum ku_zk_kind kind, const char *path)
{
	return (struct ask){ .kind = kind, .path = path };
}

static bool is_valid(const struct ask *ask)
{
	bool alone = (ask->flags &
			     (KUSTOS_CREATE_EPHEMERAL |
				     KUSTOS_CREATE_SEQUENTIAL)) == 0;

	return (ask->flags & ~ALL_FLAGS) == 0 &&
		((ask->flags & KUSTOS_CREATE_CONTAINER) == 0 || alone) &&
		ask->version >= -1;
}

static enum kustos_err make_multi(struct kustos_client *client,
	const struct ask *ask, struct ku_task **task)
{
	enum kustos_err err = ku_task_new_multi(client, ask->ops, ask->count,
		task);

	if (err == KUSTOS_OK)
		(*task)->op.epoch = ask->guard.epoch;
	if (err == KUSTOS_OK)
		(*task)->checks = (int)ask->guard.checks;
	return err;
}

static enum kustos_err make(struct kustos_client *client, const struct ask *ask,
	struct ku_task **task)
{
	if (!is_valid(ask))
		return KUSTOS_EINVAL;
	if (ask->kind == KU_ZK_MULTI)
		return make_multi(client, ask, task);
	enum kustos_err err = ku_task_new(client, ask->kind, ask->path,
		ask->flags, task);
	if (err != KUSTOS_OK)
		return err;
	if (ask->kind == KU_ZK_SET || ask->kind == KU_ZK_DELETE)
		(*task)->op.version = ask->version;
	if (ask->kind == KU_ZK_CREATE || ask->kind == KU_ZK_SET)
		err = ku_op_data(&(*task)->op, ask->data, ask->len);
	(*task)->op.any = ask->any;
	(*task)->fine = ask->fine;
	if (err == KUSTOS_OK && ask->kind == KU_ZK_CREATE)
		err = ku_create_init(&(*task)->op);
	if (err != KUSTOS_OK) {
		ku_task_free(*task);
		*task = NULL;
	}
	return err;
}

static void hand_out(struct ku_op *op, const struct outputs *out)
{
	if (out->stat != NULL)
		*out->stat = op->out_stat;
	if (out->path != NULL)
		*out->path = take_path(op);
	if (out->len != NULL)
		*out->len = op->out_len > 0 ? (size_t)op->out_len : 0;
	if (out->data != NULL) {
		*out->data = op->out_data;
		op->out_data = NULL;
	}
	if (out->names != NULL) {
		*out->names = op->out_names;
		op->out_names = NULL;
	}
}

/* Each part of a transaction has a result, whatever became of the whole, unless
   there cannot be so many.  The caller takes over the paths of what was
   made. */
static void hand_out_results(struct ku_task *task, const struct ask *ask,
	enum kustos_err err, struct kustos_op_result *results)
{
	size_t checks = ask->guard.checks;
	size_t count = ask->count - checks;

	for (size_t i = 0; i < count && count <= KU_OPS_MAX; i++) {
		results[i] = (struct kustos_op_result){ .err = err };
		if (task == NULL || !task->op.done)
			continue; /* it was not even started */
		results[i] = task->op.out_results[checks + i];
		task->op.out_results[checks + i].path = NULL;
	}
}

static enum kustos_err do_now(struct kustos_client *client, struct ask ask,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct outputs out)
{
	struct ku_task *task = NULL;
	enum kustos_err err = make(client, &ask, &task);

	if (err == KUSTOS_OK)
		err = ku_task_wait(task, deadline, cancel);
	if (err == KUSTOS_OK)
		hand_out(&task->op, &out);
	if (out.results != NULL)
		hand_out_results(task, &ask, err, out.results);
	ku_task_free(task);
	return err;
}

static enum kustos_err do_async(struct kustos_client *client, struct ask ask,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg)
{
	struct ku_task *task = NULL;
	enum kustos_err err = make(client, &ask, &task);

	return err == KUSTOS_OK
		? ku_task_async(task, deadline, cancel, done, arg)
		: err;
}

static void tell_end(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	const struct ku_task *task = arg;

	(void)result;
	task->end(task->end_arg, err);
}

static enum kustos_err end_async(struct kustos_client *client, struct ask ask,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *end, void *arg)
{
	struct ku_task *task = NULL;
	enum kustos_err err = make(client, &ask, &task);

	if (err != KUSTOS_OK)
		return err;
	task->end = end;
	task->end_arg = arg;
	return ku_task_async(task, deadline, cancel, tell_end, task);
}

enum kustos_err kustos_create(struct kustos_client *client, const char *path,
	const void *data, size_t len, int flags, kustos_deadline deadline,
	struct kustos_cancel *cancel, char **created, struct kustos_stat *stat)
{
	return do_now(client, ask_create(path, data, len, flags), deadline,
		cancel, (struct outputs){ .path = created, .stat = stat });
}

enum kustos_err ku_recipe_ensure(struct kustos_client *client, const char *path,
	const void *data, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	return do_now(client, ask_ensure(path, data, len), deadline, cancel,
		(struct outputs){ 0 });
}

enum kustos_err ku_recipe_ensure_async(struct kustos_client *client,
	const char *path, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	return end_async(client, ask_ensure(path, data, len), deadline, cancel,
		done, arg);
}

enum kustos_err ku_recipe_remove(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	return do_now(client, ask_remove(path), deadline, cancel,
		(struct outputs){ 0 });
}

enum kustos_err ku_recipe_remove_async(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg)
{
	return end_async(client, ask_remove(path), deadline, cancel, done, arg);
}

enum kustos_err kustos_create_async(struct kustos_client *client,
	const char *path, const void *data, size_t len, int flags,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg)
{
	return do_async(client, ask_create(path, data, len, flags), deadline,
		cancel, done, arg);
}

enum kustos_err kustos_get(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel, char **data,
	size_t *len, struct kustos_stat *stat)
{
	return do_now(client, ask_of(KU_ZK_GET, path), deadline, cancel,
		(struct outputs){ .data = data, .len = len, .stat = stat });
}

enum kustos_err kustos_get_async(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg)
{
	return do_async(client, ask_of(KU_ZK_GET, path), deadline, cancel, done,
		arg);
}

enum kustos_err kustos_set(struct kustos_client *client, const char *path,
	const void *data, size_t len, int version, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_stat *stat)
{
	return do_now(client, ask_set(path, data, len, version), deadline,
		cancel, (struct outputs){ .stat = stat });
}

enum kustos_err kustos_set_async(struct kustos_client *client, const char *path,
	const void *data, size_t len, int version, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	return do_async(client, ask_set(path, data, len, version), deadline,
		cancel, done, arg);
}

enum kustos_err kustos_exists(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_stat *stat)
{
	return do_now(client, ask_of(KU_ZK_EXISTS, path), deadline, cancel,
		(struct outputs){ .stat = stat });
}

enum kustos_err kustos_exists_async(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	return do_async(client, ask_of(KU_ZK_EXISTS, path), deadline, cancel,
		done, arg);
}

enum kustos_err kustos_delete(struct kustos_client *client, const char *path,
	int version, kustos_deadline deadline, struct kustos_cancel *cancel)
{
	return do_now(client, ask_delete(path, version), deadline, cancel,
		(struct outputs){ 0 });
}

enum kustos_err kustos_delete_async(struct kustos_client *client,
	const char *path, int version, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	return do_async(client, ask_delete(path, version), deadline, cancel,
		done, arg);
}

enum kustos_err kustos_delete_guaranteed(struct kustos_client *client,
	const char *path, int64_t czxid)
{
	struct ku_op *op;
	enum kustos_err err = ku_op_new(client, KU_ZK_DELETE, path, 0, &op);

	if (err != KUSTOS_OK)
		return err;
	op->guaranteed = true;
	op->czxid = czxid;
	ku_lock(client);
	op->session_id = client->session.id;
	err = ku_op_start_unowned(op);
	ku_unlock(client);
	return err;
}

enum kustos_err kustos_children(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_names **names, struct kustos_stat *stat)
{
	return do_now(client, ask_of(KU_ZK_CHILDREN, path), deadline, cancel,
		(struct outputs){ .names = names, .stat = stat });
}

enum kustos_err kustos_children_async(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	return do_async(client, ask_of(KU_ZK_CHILDREN, path), deadline, cancel,
		done, arg);
}

enum kustos_err kustos_sync(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	return do_now(client, ask_of(KU_ZK_SYNC, path), deadline, cancel,
		(struct outputs){ 0 });
}

enum kustos_err kustos_sync_async(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	return do_async(client, ask_of(KU_ZK_SYNC, path), deadline, cancel,
		done, arg);
}

enum kustos_err kustos_multi(struct kustos_client *client,
	const struct kustos_op *ops, size_t count, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_op_result *results)
{
	return do_now(client, ask_multi(ops, count), deadline, cancel,
		(struct outputs){ .results = results });
}

enum kustos_err kustos_multi_async(struct kustos_client *client,
	const struct kustos_op *ops, size_t count, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	return do_async(client, ask_multi(ops, count), deadline, cancel, done,
		arg);
}

enum kustos_err ku_multi_guarded(struct kustos_client *client,
	const struct ku_guard *guard, const struct kustos_op *ops, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_op_result *results)
{
	struct ask ask = ask_multi(ops, count);

	ask.guard = *guard;
	return do_now(client, ask, deadline, cancel,
		(struct outputs){ .results = results });
}

enum kustos_err ku_multi_guarded_async(struct kustos_client *client,
	const struct ku_guard *guard, const struct kustos_op *ops, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg)
{
	struct ask ask = ask_multi(ops, count);

	ask.guard = *guard;
	return do_async(client, ask, deadline, cancel, done, arg);
}
