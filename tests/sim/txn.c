/*
 * txn.c - what may be changed in the tree, and the transactions that do it.
 *
 * A transaction is decided on the leader's tree, one operation after the
 * other, and undone there if one fails.  Otherwise it enters the log as a list
 * of changes, which each server makes to its own tree in the same order.
 */
#include "model_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The log */

static struct txn *begin(struct model *m)
{
	struct txn *txn = m->spare_txns;

	if (txn != NULL)
		m->spare_txns = txn->next;
	else
		txn = sim_calloc(1, sizeof(*txn));
	txn->next = NULL;
	txn->refs = 1;
	txn->zxid = m->zxid += m->zxids_past + 1;
	m->zxids_past = 0;
	txn->wall_ms = INT64_C(1700000000000) + m->sched->now_ns / KU_NS_PER_MS;
	return txn;
}

static void clear_changes(struct txn *txn)
{
	int i;

	for (i = 0; i < txn->count; i++) {
		blob_unref(txn->changes[i].path);
		blob_unref(txn->changes[i].data);
	}
	txn->count = 0;
}

void txn_unref(struct model *m, struct txn *txn)
{
	if (--txn->refs > 0)
		return;
	clear_changes(txn);
	txn->next = m->spare_txns;
	m->spare_txns = txn;
}

static struct change *add_change(struct model *m, struct txn *txn,
	enum model_change_kind kind, struct blob *path)
{
	struct change *change;

	if (txn->count == txn->room) {
		txn->room = txn->room * 2 + 1;
		txn->changes = sim_realloc(txn->changes,
			(size_t)txn->room * sizeof(*change));
	}
	if (txn->count >= m->undo_room) {
		m->undo_room = m->undo_room * 2 + 16;
		m->undo = sim_realloc(m->undo,
			(size_t)m->undo_room * sizeof(*m->undo));
	}
	change = &txn->changes[txn->count++];
	memset(change, 0, sizeof(*change));
	change->kind = kind;
	change->path = blob_ref(path);
	return change;
}

static void unlist(struct node *node)
{
	if (node->list_link == NULL)
		return;
	*node->list_link = node->list_next;
	if (node->list_next != NULL)
		node->list_next->list_link = node->list_link;
	node->list_link = NULL;
}

static void enlist(struct node *node, struct node **list)
{
	node->list_next = *list;
	node->list_link = list;
	if (*list != NULL)
		(*list)->list_link = &node->list_next;
	*list = node;
}

/* Only the leader has to know which nodes end with a session, and which are
   containers. */
static void list_nodes(struct model *m, const struct txn *txn)
{
	const struct change *change;
	struct session *session;
	struct node *node;
	int i;

	for (i = 0; i < txn->count; i++) {
		change = &txn->changes[i];
		node = m->undo[i].node;
		if (change->kind == CHANGE_DELETE)
			unlist(node);
		if (change->kind != CHANGE_CREATE)
			continue;
		session = change->owner != 0 ? session_find(m, change->owner)
					     : NULL;
		if (session != NULL)
			enlist(node, &session->ephemerals);
		else if (change->container)
			enlist(node, &m->containers);
	}
}

static void tell_changes(struct model *m, const struct txn *txn)
{
	const struct change *change;
	struct node *parent;
	int i;

	for (i = 0; i < txn->count; i++) {
		change = &txn->changes[i];
		parent = txn_find_parent(&m->tree, change->path);
		if (m->hooks.change != NULL)
			m->hooks.change(m->hooks.arg, change->kind,
				change->path->bytes, txn->zxid, change->owner,
				parent ? parent->czxid : 0, change->sequential);
		model_note(m, NOTE_COMMIT, -1,
			change->kind == CHANGE_CREATE		? "create"
				: change->kind == CHANGE_DELETE ? "delete"
								: "set",
			change->path->bytes, txn->zxid);
	}
}

static int64_t commit(struct model *m, struct txn *txn)
{
	int64_t zxid = txn->zxid;
	int i;

	list_nodes(m, txn);
	for (i = 0; i < txn->count; i++) {
		if (txn->changes[i].kind == CHANGE_SET)
			blob_unref(m->undo[i].data);
		if (txn->changes[i].kind == CHANGE_DELETE)
			tree_release(&m->tree, m->undo[i].node);
	}
	tell_changes(m, txn);
	server_commit(m, txn);
	txn_unref(m, txn);
	return zxid;
}

/* Deciding.  Each function makes its change to the leader's tree and notes how
   to undo it, or returns why the change is refused. */

static struct undo *undo_of(struct model *m, const struct txn *txn)
{
	return &m->undo[txn->count - 1];
}

static struct blob *numbered(const struct blob *path, int32_t number)
{
	char buffer[16];
	int len = snprintf(buffer, sizeof(buffer), "%010d", (int)number);
	struct blob *blob = blob_new(NULL, path->len + len);

	memcpy(blob->bytes, path->bytes, (size_t)path->len);
	memcpy(blob->bytes + path->len, buffer, (size_t)len);
	blob->hash = path_hash(blob->bytes, blob->len);
	return blob;
}

/* Within one transaction the counter goes on past its maximum, because only the
   end of the transaction compares it. */
static int32_t next_number(const struct txn *txn, const struct node *parent)
{
	return parent->next_zxid == txn->zxid ? parent->next : parent->created;
}

static bool is_sequential(const struct op *op)
{
	return op->mode == KU_ZK_PERSISTENT_SEQUENTIAL ||
		op->mode == KU_ZK_EPHEMERAL_SEQUENTIAL;
}

static bool is_ephemeral(const struct op *op)
{
	return op->mode == KU_ZK_EPHEMERAL ||
		op->mode == KU_ZK_EPHEMERAL_SEQUENTIAL;
}

/* "path" is the new node's full path, with its number. */
static void do_create(struct model *m, struct txn *txn, struct node *parent,
	struct op *op, struct blob *path, int64_t owner)
{
	struct change *change = add_change(m, txn, CHANGE_CREATE, path);
	struct undo *undo = undo_of(m, txn);

	change->data = blob_ref(op->data);
	change->owner = owner;
	change->created = (int32_t)((uint32_t)next_number(txn, parent) + 1);
	change->container = op->mode == KU_ZK_CONTAINER;
	change->sequential = is_sequential(op);
	parent->next = change->created;
	parent->next_zxid = txn->zxid;
	undo->parent_created = parent->created;
	undo->parent_pzxid = parent->pzxid;
	undo->node = apply_create(&m->tree, change, txn);
	op->made = blob_ref(path);
	node_stat(undo->node, &op->stat);
	op->has_stat = true;
}

static int decide_create(struct model *m, struct txn *txn, int64_t session,
	bool authed, struct op *op)
{
	struct node *parent = txn_find_parent(&m->tree, op->path);
	struct blob *path;
	int rc = KU_ZK_OK;

	if (op->acl == ACL_INVALID || (op->acl == ACL_NEEDS_AUTH && !authed))
		return KU_ZK_INVALIDACL;
	if (parent == NULL)
		return KU_ZK_NONODE;
	path = is_sequential(op) ? numbered(op->path, next_number(txn, parent))
				 : blob_ref(op->path);
	if (txn_find(&m->tree, path) != NULL)
		rc = KU_ZK_NODEEXISTS;
	else if (parent->owner != 0)
		rc = KU_ZK_NOCHILDRENFOREPHEMERALS;
	else
		do_create(m, txn, parent, op, path,
			is_ephemeral(op) ? session : 0);
	blob_unref(path);
	return rc;
}

static bool is_special(const struct blob *path)
{
	return path->len == 1 || strcmp(path->bytes, "/zookeeper") == 0 ||
		strcmp(path->bytes, "/zookeeper/quota") == 0 ||
		strcmp(path->bytes, "/zookeeper/config") == 0;
}

static void do_delete(struct model *m, struct txn *txn, struct node *node)
{
	struct undo *undo;

	add_change(m, txn, CHANGE_DELETE, node->path);
	undo = undo_of(m, txn);
	undo->node = node;
	undo->parent_created = node->parent->created;
	undo->parent_pzxid = node->parent->pzxid;
	apply_delete(m, &m->tree, node, txn);
}

static int decide_delete(struct model *m, struct txn *txn, struct op *op)
{
	struct node *node = txn_find(&m->tree, op->path);

	if (is_special(op->path))
		return KU_ZK_BADARGUMENTS;
	if (node == NULL)
		return KU_ZK_NONODE;
	if (op->version != -1 && op->version != node->version)
		return KU_ZK_BADVERSION;
	if (node->child_count > 0)
		return KU_ZK_NOTEMPTY;
	do_delete(m, txn, node);
	return KU_ZK_OK;
}

static int decide_set(struct model *m, struct txn *txn, struct op *op)
{
	struct node *node = txn_find(&m->tree, op->path);
	struct change *change;
	struct undo *undo;

	if (node == NULL)
		return KU_ZK_NONODE;
	if (op->version != -1 && op->version != node->version)
		return KU_ZK_BADVERSION;
	if (op->kind == KU_ZK_CHECK)
		return KU_ZK_OK;
	change = add_change(m, txn, CHANGE_SET, node->path);
	change->data = blob_ref(op->data);
	undo = undo_of(m, txn);
	undo->node = node;
	undo->data = blob_ref(node->data);
	undo->version = node->version;
	undo->mzxid = node->mzxid;
	undo->mtime_ms = node->mtime_ms;
	apply_set(node, change, txn);
	node_stat(node, &op->stat);
	op->has_stat = true;
	return KU_ZK_OK;
}

static void undo_change(struct model *m, const struct change *change,
	struct undo *undo)
{
	struct node *node = undo->node;
	struct node *parent = node->parent;

	if (change->kind == CHANGE_SET) {
		blob_unref(node->data);
		node->data = undo->data;
		node->version = undo->version;
		node->mzxid = undo->mzxid;
		node->mtime_ms = undo->mtime_ms;
		return;
	}
	if (change->kind == CHANGE_CREATE) {
		tree_detach(&m->tree, node);
		tree_release(&m->tree, node);
	} else {
		tree_attach(&m->tree, node);
	}
	parent->created = undo->parent_created;
	parent->pzxid = undo->parent_pzxid;
}

static void undo_all(struct model *m, struct txn *txn)
{
	int i;

	for (i = txn->count - 1; i >= 0; i--)
		undo_change(m, &txn->changes[i], &m->undo[i]);
	clear_changes(txn);
}

/* Set the results of a failed transaction: the operations before the failed one
   would have been valid, and nothing is known about those after it. */
static void fail_ops(struct op *ops, int count, int failed)
{
	int i;

	for (i = 0; i < count; i++) {
		blob_unref(ops[i].made);
		ops[i].made = NULL;
		ops[i].has_stat = false;
		if (i != failed)
			ops[i].rc = i < failed ? KU_ZK_OK
					       : KU_ZK_RUNTIMEINCONSISTENCY;
	}
}

int64_t txn_run(struct model *m, int64_t session, bool authed, struct op *ops,
	int count)
{
	struct txn *txn = begin(m);
	struct op *op;
	int i;

	for (i = 0; i < count; i++) {
		op = &ops[i];
		if (op->kind == KU_ZK_CREATE)
			op->rc = decide_create(m, txn, session, authed, op);
		else if (op->kind == KU_ZK_DELETE)
			op->rc = decide_delete(m, txn, op);
		else
			op->rc = decide_set(m, txn, op);
		if (op->rc != KU_ZK_OK) {
			undo_all(m, txn);
			fail_ops(ops, count, i);
			break;
		}
	}
	return commit(m, txn);
}

int64_t txn_empty(struct model *m)
{
	return commit(m, begin(m));
}

int64_t txn_end_session(struct model *m, struct session *session)
{
	struct txn *txn = begin(m);
	struct node *node = session->ephemerals;
	struct node *next;

	if (node != NULL && (m->bugs & MODEL_BUG_KEEP_EPHEMERAL))
		node = node->list_next;
	for (; node != NULL; node = next) {
		next = node->list_next;
		do_delete(m, txn, node);
	}
	return commit(m, txn);
}

int64_t txn_delete(struct model *m, const char *path)
{
	struct blob *blob = path_blob(path, (int)strlen(path));
	struct node *node = txn_find(&m->tree, blob);
	struct txn *txn = begin(m);

	blob_unref(blob);
	if (node != NULL && node->child_count == 0)
		do_delete(m, txn, node);
	return commit(m, txn);
}

void txn_free_all(struct model *m)
{
	struct txn *txn;

	while ((txn = m->spare_txns) != NULL) {
		m->spare_txns = txn->next;
		free(txn->changes);
		free(txn);
	}
}
