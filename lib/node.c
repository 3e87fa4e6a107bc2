/*
 * node.c - the public operations, each in its waiting and its asynchronous
 * form.  Both make the same task; op.c does the work.
 */

#include "client.h"

#include <stdlib.h>
#include <string.h>

#define ALL_FLAGS                                                  \
	(KUSTOS_EPHEMERAL | KUSTOS_SEQUENTIAL | KUSTOS_CONTAINER | \
		KUSTOS_PROTECTED | KUSTOS_PARENTS)

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
	size_t prefix = strlen(op->client->config.prefix);

	memmove(path, path + prefix, strlen(path + prefix) + 1);
	op->out_path = NULL;
	return path;
}

static enum kustos_err create_op(struct kustos_client *client, const char *path,
	const void *data, size_t len, int flags, struct ku_task **task)
{
	bool alone = (flags & (KUSTOS_EPHEMERAL | KUSTOS_SEQUENTIAL)) == 0;

	if ((flags & ~ALL_FLAGS) != 0 ||
		((flags & KUSTOS_CONTAINER) != 0 && !alone))
		return KUSTOS_EINVAL;
	enum kustos_err err = ku_task_new(client, KU_ZK_CREATE, path, flags,
		task);
	if (err == KUSTOS_OK)
		err = ku_op_data(&(*task)->op, data, len);
	if (err == KUSTOS_OK)
		err = ku_create_init(&(*task)->op);
	return err;
}

static enum kustos_err set_op(struct kustos_client *client, const char *path,
	const void *data, size_t len, int version, struct ku_task **task)
{
	if (version < -1)
		return KUSTOS_EINVAL;
	enum kustos_err err = ku_task_new(client, KU_ZK_SET, path, 0, task);
	if (err != KUSTOS_OK)
		return err;
	(*task)->op.version = version;
	return ku_op_data(&(*task)->op, data, len);
}

static enum kustos_err delete_op(struct kustos_client *client, const char *path,
	int version, struct ku_task **task)
{
	if (version < -1)
		return KUSTOS_EINVAL;
	enum kustos_err err = ku_task_new(client, KU_ZK_DELETE, path, 0, task);
	if (err == KUSTOS_OK)
		(*task)->op.version = version;
	return err;
}

/* End a waiting call: hand out what is wanted, and free the operation. */
static enum kustos_err wait_for(struct ku_task *task, enum kustos_err err,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_stat *stat)
{
	if (err == KUSTOS_OK)
		err = ku_task_wait(task, deadline, cancel);
	if (err == KUSTOS_OK && stat != NULL)
		*stat = task->op.out_stat;
	return err;
}

/* Start an asynchronous call, if the operation could be made. */
static enum kustos_err start_for(struct ku_task *task, enum kustos_err err,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg)
{
	if (err == KUSTOS_OK)
		return ku_task_async(task, deadline, cancel, done, arg);
	ku_task_free(task);
	return err;
}

enum kustos_err kustos_create(struct kustos_client *client, const char *path,
	const void *data, size_t len, int flags, kustos_deadline deadline,
	struct kustos_cancel *cancel, char **created, struct kustos_stat *stat)
{
	struct ku_task *task = NULL;
	enum kustos_err err = create_op(client, path, data, len, flags, &task);

	err = wait_for(task, err, deadline, cancel, stat);
	if (err == KUSTOS_OK && created != NULL)
		*created = take_path(&task->op);
	ku_task_free(task);
	return err;
}

enum kustos_err kustos_create_async(struct kustos_client *client,
	const char *path, const void *data, size_t len, int flags,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg)
{
	struct ku_task *task = NULL;
	enum kustos_err err = create_op(client, path, data, len, flags, &task);

	return start_for(task, err, deadline, cancel, done, arg);
}

enum kustos_err kustos_get(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel, char **data,
	size_t *len, struct kustos_stat *stat)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new(client, KU_ZK_GET, path, 0, &task);

	err = wait_for(task, err, deadline, cancel, stat);
	if (err == KUSTOS_OK && len != NULL)
		*len = task->op.out_len > 0 ? (size_t)task->op.out_len : 0;
	if (err == KUSTOS_OK && data != NULL) {
		*data = task->op.out_data;
		task->op.out_data = NULL;
	}
	ku_task_free(task);
	return err;
}

enum kustos_err kustos_get_async(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new(client, KU_ZK_GET, path, 0, &task);

	return start_for(task, err, deadline, cancel, done, arg);
}

enum kustos_err kustos_set(struct kustos_client *client, const char *path,
	const void *data, size_t len, int version, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_stat *stat)
{
	struct ku_task *task = NULL;
	enum kustos_err err = set_op(client, path, data, len, version, &task);

	err = wait_for(task, err, deadline, cancel, stat);
	ku_task_free(task);
	return err;
}

enum kustos_err kustos_set_async(struct kustos_client *client, const char *path,
	const void *data, size_t len, int version, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	struct ku_task *task = NULL;
	enum kustos_err err = set_op(client, path, data, len, version, &task);

	return start_for(task, err, deadline, cancel, done, arg);
}

enum kustos_err kustos_exists(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_stat *stat)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new(client, KU_ZK_EXISTS, path, 0, &task);

	err = wait_for(task, err, deadline, cancel, stat);
	ku_task_free(task);
	return err;
}

enum kustos_err kustos_exists_async(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new(client, KU_ZK_EXISTS, path, 0, &task);

	return start_for(task, err, deadline, cancel, done, arg);
}

enum kustos_err kustos_delete(struct kustos_client *client, const char *path,
	int version, kustos_deadline deadline, struct kustos_cancel *cancel)
{
	struct ku_task *task = NULL;
	enum kustos_err err = delete_op(client, path, version, &task);

	err = wait_for(task, err, deadline, cancel, NULL);
	ku_task_free(task);
	return err;
}

enum kustos_err kustos_delete_async(struct kustos_client *client,
	const char *path, int version, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	struct ku_task *task = NULL;
	enum kustos_err err = delete_op(client, path, version, &task);

	return start_for(task, err, deadline, cancel, done, arg);
}

enum kustos_err kustos_delete_guaranteed(struct kustos_client *client,
	const char *path, int64_t czxid)
{
	struct ku_op *op = NULL;
	enum kustos_err err = ku_op_new(client, KU_ZK_DELETE, path, 0, &op);

	if (err != KUSTOS_OK) {
		ku_op_free(op);
		return err;
	}
	op->guaranteed = true;
	op->czxid = czxid;
	ku_lock(client);
	op->session_id = client->session.id;
	err = ku_op_detached(op);
	ku_unlock(client);
	return err;
}

enum kustos_err kustos_children(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_names **names, struct kustos_stat *stat)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new(client, KU_ZK_CHILDREN, path, 0,
		&task);

	err = wait_for(task, err, deadline, cancel, stat);
	if (err == KUSTOS_OK && names != NULL) {
		*names = task->op.out_names;
		task->op.out_names = NULL;
	}
	ku_task_free(task);
	return err;
}

enum kustos_err kustos_children_async(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new(client, KU_ZK_CHILDREN, path, 0,
		&task);

	return start_for(task, err, deadline, cancel, done, arg);
}

enum kustos_err kustos_sync(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new(client, KU_ZK_SYNC, path, 0, &task);

	err = wait_for(task, err, deadline, cancel, NULL);
	ku_task_free(task);
	return err;
}

enum kustos_err kustos_sync_async(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new(client, KU_ZK_SYNC, path, 0, &task);

	return start_for(task, err, deadline, cancel, done, arg);
}

enum kustos_err kustos_multi(struct kustos_client *client,
	const struct kustos_op *ops, size_t count, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_op_result *results)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new_multi(client, ops, count, &task);

	err = wait_for(task, err, deadline, cancel, NULL);
	for (size_t i = 0; results != NULL && i < count; i++) {
		results[i] = (struct kustos_op_result){ .err = err };
		if (task == NULL || !task->op.done)
			continue; /* it was not even started */
		results[i] = task->op.out_results[i];
		results[i].path = NULL;
	}
	ku_task_free(task);
	return err;
}

enum kustos_err kustos_multi_async(struct kustos_client *client,
	const struct kustos_op *ops, size_t count, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new_multi(client, ops, count, &task);

	return start_for(task, err, deadline, cancel, done, arg);
}
