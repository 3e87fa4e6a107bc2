/* op_new.c - make operations: check what the caller gave, and copy it. */

#include "client.h"
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

/* "size" is that of the struct that begins with the operation. */
static struct ku_op *alloc(struct kustos_client *client, enum ku_zk_kind kind,
	size_t size)
{
	struct ku_op *op = calloc(1, size);

	if (op == NULL)
		return NULL;
	op->client = client;
	op->kind = kind;
	op->version = -1;
	op->out_len = -1;
	return op;
}

static enum kustos_err full_path(const struct kustos_client *client,
	const char *path, int flags, char **out)
{
	bool sequential = (flags & KUSTOS_CREATE_SEQUENTIAL) != 0;

	if (path == NULL || !ku_path_valid(path, sequential))
		return KUSTOS_EINVAL;
	/* A protected node needs a name.  The number of a sequential one
	   without a name follows the slash of its parent. */
	bool nameless = path[1] == '\0';
	if (nameless && (flags & KUSTOS_CREATE_PROTECTED) != 0)
		return KUSTOS_EINVAL;
	if (nameless && sequential) {
		*out = malloc(strlen(client->config.prefix) + 2);
		if (*out != NULL)
			strcat(strcpy(*out, client->config.prefix), "/");
	} else {
		*out = ku_path_join(client->config.prefix, path);
	}
	return *out != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
}

/* Give out what was made; or free it, which was never started and needs no
   lock. */
static enum kustos_err hand_out(struct ku_op *op, enum kustos_err err,
	struct ku_op **out)
{
	if (err == KUSTOS_OK)
		*out = op;
	else
		ku_op_drop(op);
	return err;
}

static enum kustos_err make(struct kustos_client *client, enum ku_zk_kind kind,
	const char *path, int flags, size_t size, struct ku_op **out)
{
	enum kustos_err err = ku_recipe_check(client);

	*out = NULL;
	if (err != KUSTOS_OK)
		return err;
	struct ku_op *op = alloc(client, kind, size);
	if (op == NULL)
		return KUSTOS_ENOMEM;
	op->flags = flags;
	return hand_out(op, full_path(client, path, flags, &op->path), out);
}

enum kustos_err ku_op_new(struct kustos_client *client, enum ku_zk_kind kind,
	const char *path, int flags, struct ku_op **out)
{
	return make(client, kind, path, flags, sizeof(struct ku_op), out);
}

enum kustos_err ku_task_new(struct kustos_client *client, enum ku_zk_kind kind,
	const char *path, int flags, struct ku_task **out)
{
	struct ku_op *op;
	enum kustos_err err = make(client, kind, path, flags,
		sizeof(struct ku_task), &op);

	*out = (struct ku_task *)op;
	return err;
}

static enum kustos_err copy_data(const struct kustos_client *client,
	const void *data, size_t len, char **out, int *out_len)
{
	if (data == NULL) {
		if (len > 0)
			return KUSTOS_EINVAL;
		data = client->config.node_data;
		len = client->config.node_data_len;
	}
	if (len > INT_MAX / 2)
		return KUSTOS_ETOOBIG;
	*out = malloc(len + 1);
	if (*out == NULL)
		return KUSTOS_ENOMEM;
	memcpy(*out, data, len);
	*out_len = (int)len;
	return KUSTOS_OK;
}

enum kustos_err ku_op_data(struct ku_op *op, const void *data, size_t len)
{
	return copy_data(op->client, data, len, &op->data, &op->len);
}

enum ku_zk_mode ku_op_mode(int flags)
{
	if ((flags & KUSTOS_CREATE_CONTAINER) != 0)
		return KU_ZK_CONTAINER;
	if ((flags & KUSTOS_CREATE_EPHEMERAL) != 0)
		return (flags & KUSTOS_CREATE_SEQUENTIAL) != 0
			? KU_ZK_EPHEMERAL_SEQUENTIAL
			: KU_ZK_EPHEMERAL;
	return (flags & KUSTOS_CREATE_SEQUENTIAL) != 0
		? KU_ZK_PERSISTENT_SEQUENTIAL
		: KU_ZK_PERSISTENT;
}

static bool create_flags_valid(int flags)
{
	if ((flags &
		    ~(KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_SEQUENTIAL |
			    KUSTOS_CREATE_CONTAINER)) != 0)
		return false;
	return (flags & KUSTOS_CREATE_CONTAINER) == 0 ||
		flags == KUSTOS_CREATE_CONTAINER;
}

static enum kustos_err copy_one(struct kustos_client *client,
	const struct kustos_op *from, struct ku_zk_request *to)
{
	static const enum ku_zk_kind kinds[] = {
		[KUSTOS_OP_CREATE] = KU_ZK_CREATE,
		[KUSTOS_OP_SET] = KU_ZK_SET,
		[KUSTOS_OP_DELETE] = KU_ZK_DELETE,
		[KUSTOS_OP_CHECK] = KU_ZK_CHECK,
	};
	bool create = from->kind == KUSTOS_OP_CREATE;

	if (from->kind < KUSTOS_OP_CREATE || from->kind > KUSTOS_OP_CHECK ||
		(create && !create_flags_valid(from->flags)) ||
		(!create && from->version < -1) || from->reserved != NULL)
		return KUSTOS_EINVAL;
	to->kind = kinds[from->kind];
	to->version = create ? -1 : from->version;
	enum kustos_err err = full_path(client, from->path,
		create ? from->flags : 0, (char **)&to->path);
	if (err != KUSTOS_OK)
		return err;
	if (create) {
		to->mode = ku_op_mode(from->flags);
		to->acl = client->config.acl;
		to->acl_count = client->config.acl_count;
	}
	if (!create && from->kind != KUSTOS_OP_SET)
		return KUSTOS_OK;
	return copy_data(client, from->data, from->len, (char **)&to->data,
		&to->len);
}

static enum kustos_err copy_all(struct ku_op *op, const struct kustos_op *ops,
	size_t count)
{
	op->ops = calloc(count, sizeof(*op->ops));
	op->out_results = calloc(count, sizeof(*op->out_results));
	if (op->ops == NULL || op->out_results == NULL)
		return KUSTOS_ENOMEM;
	op->op_count = (int)count;
	for (size_t i = 0; i < count; i++) {
		enum kustos_err err = copy_one(op->client, &ops[i],
			&op->ops[i]);
		if (err != KUSTOS_OK)
			return err;
		/* Room for the path, with a sequence number. */
		if (ops[i].kind != KUSTOS_OP_CREATE)
			continue;
		char *path = malloc(strlen(op->ops[i].path) + 12);
		if (path == NULL)
			return KUSTOS_ENOMEM;
		path[0] = '\0';
		op->out_results[i].path = path;
	}
	return KUSTOS_OK;
}

enum kustos_err ku_task_new_multi(struct kustos_client *client,
	const struct kustos_op *ops, size_t count, struct ku_task **out)
{
	enum kustos_err err = ku_recipe_check(client);
	struct ku_op *made = NULL;

	*out = NULL;
	if (err != KUSTOS_OK)
		return err;
	if (ops == NULL || count == 0 || count > KU_OPS_MAX)
		return KUSTOS_EINVAL;
	struct ku_op *op = alloc(client, KU_ZK_MULTI, sizeof(struct ku_task));
	if (op == NULL)
		return KUSTOS_ENOMEM;
	err = hand_out(op, copy_all(op, ops, count), &made);
	*out = (struct ku_task *)made;
	return err;
}
