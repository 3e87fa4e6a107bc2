/*
 * apply.c - apply changes that the leader has decided to the tree of one
 * server.
 */
#include "model_impl.h"

struct node *txn_find(const struct tree *tree, const struct blob *path)
{
	return tree_find(tree, path->bytes, path->len, path->hash);
}

struct node *txn_find_parent(const struct tree *tree, const struct blob *path)
{
	int len = path_parent_len(path->bytes, path->len);

	return tree_find(tree, path->bytes, len, path_hash(path->bytes, len));
}

struct node *apply_create(struct tree *tree, const struct change *change,
	const struct txn *txn)
{
	struct node *parent = txn_find_parent(tree, change->path);
	struct node *node = tree_add(tree, parent, change->path);

	node->data = blob_ref(change->data);
	node->czxid = node->mzxid = node->pzxid = txn->zxid;
	node->ctime_ms = node->mtime_ms = txn->wall_ms;
	node->owner = change->owner;
	node->container = change->container;
	/* The counter is only ever raised.  So it stays at its maximum, and a
	   child made after that leaves the parent's stat unchanged. */
	if (change->created > parent->created) {
		parent->created = change->created;
		parent->pzxid = txn->zxid;
	}
	return node;
}

void apply_set(struct node *node, const struct change *change,
	const struct txn *txn)
{
	blob_unref(node->data);
	node->data = blob_ref(change->data);
	node->version++;
	node->mzxid = txn->zxid;
	node->mtime_ms = txn->wall_ms;
}

void apply_delete(struct model *m, struct tree *tree, struct node *node,
	const struct txn *txn)
{
	tree_detach(tree, node);
	if (txn->zxid > node->parent->pzxid)
		node->parent->pzxid = txn->zxid;
	if (m->bugs & MODEL_BUG_SEQUENCE)
		node->parent->created--;
}

static void fire_change(struct mserver *server, const struct change *change,
	const struct blob *parent)
{
	switch (change->kind) {
	case CHANGE_CREATE:
		server_fire(server, change->path, WATCH_DATA,
			KU_ZK_EVENT_CREATED);
		server_fire(server, parent, WATCH_CHILD, KU_ZK_EVENT_CHILDREN);
		break;
	case CHANGE_DELETE:
		server_fire(server, change->path, WATCH_DATA | WATCH_CHILD,
			KU_ZK_EVENT_DELETED);
		server_fire(server, parent, WATCH_CHILD, KU_ZK_EVENT_CHILDREN);
		break;
	case CHANGE_SET:
		server_fire(server, change->path, WATCH_DATA,
			KU_ZK_EVENT_CHANGED);
		break;
	}
}

static void fire_leader(struct mserver *server, const struct change *change)
{
	int len = path_parent_len(change->path->bytes, change->path->len);
	struct blob *parent;

	if (server->watches.count == 0)
		return;
	parent = path_blob(change->path->bytes, len);
	fire_change(server, change, parent);
	blob_unref(parent);
}

void txn_apply(struct mserver *server, struct txn *txn)
{
	struct tree *tree = server->tree;
	struct change *change;
	struct node *node;
	struct node *parent;
	int i;

	server->zxid = txn->zxid;
	for (i = 0; i < txn->count; i++) {
		change = &txn->changes[i];
		if (server->id == 0) {
			fire_leader(server, change);
			continue;
		}
		node = change->kind == CHANGE_CREATE
			? apply_create(tree, change, txn)
			: txn_find(tree, change->path);
		parent = node->parent ? node->parent : node;
		if (change->kind == CHANGE_SET)
			apply_set(node, change, txn);
		if (change->kind == CHANGE_DELETE) {
			apply_delete(server->model, tree, node, txn);
			tree_release(tree, node);
		}
		fire_change(server, change, parent->path);
	}
}
