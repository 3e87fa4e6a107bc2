/*
 * tree.h - a tree of nodes, as one ZooKeeper server has it in memory.
 *
 * The tree only stores nodes: txn.c decides what may be changed, and how.  Each
 * server of the model has a tree of its own; the trees share paths and data.
 */
#ifndef SIM_TREE_H
#define SIM_TREE_H

#include <kustos/base.h>
#include <stdbool.h>

/* Shared bytes: a path, or a node's data. */
struct blob {
	uint32_t refs;
	uint32_t hash; /* of a path */
	int len;       /* a zero byte follows */
	char bytes[];
};

/* With "bytes" NULL, filled with zeros. */
struct blob *blob_new(const char *bytes, int len);
void blob_unref(struct blob *blob); /* NULL is allowed */

static inline struct blob *blob_ref(struct blob *blob)
{
	if (blob != NULL)
		blob->refs++;
	return blob;
}

uint32_t path_hash(const char *path, int len);

/* Return the length of the path of the parent of a path. */
int path_parent_len(const char *path, int len);

struct node {
	struct node *hash_next;
	struct node *parent;
	struct blob *path;
	int name_at;		/* where its last part begins */
	int slot;		/* its index in parent->children */
	struct blob *data;	/* NULL = null data */
	struct node **children; /* in no order */
	int child_count, child_room;

	/* What the server persists.  "created" counts the children that were
	   ever created, gives sequence numbers, and sticks at its maximum. */
	int64_t czxid, mzxid, pzxid;
	int64_t ctime_ms, mtime_ms;
	int64_t owner; /* session of an ephemeral, or 0 */
	int32_t version, aversion;
	int32_t created;
	bool container;

	/* In the leader's tree: the counter as transaction "next_zxid" leaves
	   it. */
	int64_t next_zxid;
	int32_t next;

	/* In the leader's tree only: the ephemerals of one session, or the
	   containers. */
	struct node *list_next, **list_link;
};

struct tree {
	struct node **buckets;
	uint32_t mask;
	uint32_t count;
	struct node *root;
	struct node *spare; /* freed nodes, for reuse */
};

/* Make a tree with what a new server has: "/" and "/zookeeper". */
void tree_init(struct tree *tree);
void tree_free(struct tree *tree);

struct node *tree_find(const struct tree *tree, const char *path, int len,
	uint32_t hash);

/* Add an empty node below "parent".  The path gains a reference. */
struct node *tree_add(struct tree *tree, struct node *parent,
	struct blob *path);

/* Take "node", which has no children, out of the tree, and put it back. */
void tree_detach(struct tree *tree, struct node *node);
void tree_attach(struct tree *tree, struct node *node);

/* Free a detached node. */
void tree_release(struct tree *tree, struct node *node);

/* What a client sees of "node". */
void node_stat(const struct node *node, struct kustos_stat *stat);

#endif
