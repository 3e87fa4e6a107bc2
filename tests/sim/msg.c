/* msg.c - messages, pooled, and the requests they carry. */
#include "model_impl.h"

#include <stdlib.h>
#include <string.h>

struct blob *path_blob(const char *path, int len)
{
	struct blob *blob = blob_new(path, len);

	blob->hash = path_hash(path, len);
	return blob;
}

struct msg *msg_new(struct model *m, enum msg_kind kind)
{
	struct msg *msg = m->spare_msgs;

	if (msg != NULL)
		m->spare_msgs = msg->next;
	else
		msg = sim_calloc(1, sizeof(*msg));
	msg->next = NULL;
	msg->kind = kind;
	msg->op.rc = 0;
	return msg;
}

void op_clear(struct op *op)
{
	blob_unref(op->path);
	blob_unref(op->data);
	blob_unref(op->made);
	op->path = NULL;
	op->data = NULL;
	op->made = NULL;
	op->has_stat = false;
	op->rc = 0;
}

void msg_free(struct model *m, struct msg *msg)
{
	int i;

	op_clear(&msg->op);
	for (i = 0; i < msg->op_count; i++)
		op_clear(&msg->ops[i]);
	for (i = 0; i < msg->name_count; i++)
		blob_unref(msg->names[i]);
	for (i = 0; i < msg->item_count; i++)
		blob_unref(msg->items[i].path);
	free(msg->items);
	blob_unref(msg->data);
	msg->items = NULL;
	msg->data = NULL;
	msg->op_count = 0;
	msg->name_count = 0;
	msg->item_count = 0;
	msg->call = NULL;
	msg->conn = NULL;
	msg->session = 0;
	msg->size = 0;
	msg->next = m->spare_msgs;
	m->spare_msgs = msg;
}

struct op *msg_ops(struct msg *msg, int count)
{
	if (count > msg->op_room) {
		msg->ops = sim_realloc(msg->ops,
			(size_t)count * sizeof(*msg->ops));
		memset(msg->ops + msg->op_room, 0,
			(size_t)(count - msg->op_room) * sizeof(*msg->ops));
		msg->op_room = count;
	}
	msg->op_count = count;
	return msg->ops;
}

/* A server lists children in no particular order, so begin at a random one. */
void msg_names(struct msg *msg, const struct node *node, unsigned start)
{
	int n = node->child_count;
	int i;

	if (n > msg->name_room) {
		msg->name_room = n + n / 2;
		msg->names = sim_realloc(msg->names,
			(size_t)msg->name_room * sizeof(*msg->names));
	}
	if (n > 0)
		start %= (unsigned)n; /* else it overflows below */
	for (i = 0; i < n; i++)
		msg->names[i] = blob_ref(
			node->children[(start + (unsigned)i) % (unsigned)n]
				->path);
	msg->name_count = n;
	msg->name_at = n > 0 ? node->children[0]->name_at : 0;
}

static enum acl_form acl_form(const struct ku_zk_request *request, size_t *size)
{
	enum acl_form form = ACL_VALID;
	const struct kustos_acl *acl;
	const char *colon;
	int i;

	for (i = 0; i < request->acl_count; i++) {
		acl = &request->acl[i];
		*size += 12 + strlen(acl->scheme) + strlen(acl->id);
		if (strcmp(acl->scheme, "auth") == 0) {
			form = form == ACL_VALID ? ACL_NEEDS_AUTH : form;
		} else if (strcmp(acl->scheme, "digest") == 0) {
			colon = strchr(acl->id, ':');
			if (colon == NULL || colon[1] == '\0' ||
				strchr(colon + 1, ':') != NULL)
				form = ACL_INVALID;
		} else if (strcmp(acl->scheme, "world") == 0) {
			if (strcmp(acl->id, "anyone") != 0)
				form = ACL_INVALID;
		} else if (strcmp(acl->scheme, "ip") != 0) {
			form = ACL_INVALID;
		}
	}
	return request->acl_count > 0 ? form : ACL_INVALID;
}

size_t op_copy(struct op *op, const struct ku_zk_request *request)
{
	int len = (int)strlen(request->path);
	size_t size = 24 + (size_t)len;

	op->kind = request->kind;
	op->mode = request->mode;
	op->version = request->version;
	op->watch = request->watch;
	op->unwatch = (int)request->unwatch;
	op->path = path_blob(request->path, len);
	op->data = NULL;
	op->acl = ACL_VALID;
	if ((op->kind == KU_ZK_CREATE || op->kind == KU_ZK_SET) &&
		request->len >= 0) {
		op->data = blob_new(request->data, request->len);
		size += (size_t)request->len;
	}
	if (op->kind == KU_ZK_CREATE)
		op->acl = acl_form(request, &size);
	return size;
}

/* What libzookeeper_mt checks before it sends. */
bool path_valid(const char *path, bool sequential)
{
	size_t len = path ? strlen(path) : 0;
	bool last;
	size_t i;

	if (len == 0 || path[0] != '/')
		return false;
	if (len == 1)
		return true;
	if (path[len - 1] == '/' && !sequential)
		return false;
	for (i = 1; i < len; i++) {
		if (path[i] == '/' && path[i - 1] == '/')
			return false;
		if ((unsigned char)path[i] < 0x1f)
			return false;
		if (path[i] != '.')
			continue;
		last = i + 1 == len ? !sequential : path[i + 1] == '/';
		if (last &&
			(path[i - 1] == '/' ||
				(path[i - 1] == '.' && path[i - 2] == '/')))
			return false;
	}
	return true;
}
