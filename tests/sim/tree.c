/* tree.c - nodes in a hash table by path, with arrays of children. */
#include "tree.h"
#include "sched.h"

#include <stdlib.h>
#include <string.h>

struct blob *blob_new(const char *bytes, int len)
{
	struct blob *blob = sim_calloc(1, sizeof(*blob) + (size_t)len + 1);

	blob->refs = 1;
	blob->len = len;
	if (bytes != NULL && len > 0)
		memcpy(blob->bytes, bytes, (size_t)len);
	return blob;
}

void blob_unref(struct blob *blob)
{
	if (blob != NULL && --blob->refs == 0)
		free(blob);
}

uint32_t path_hash(const char *path, int len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	uint64_t word;

	for (; len >= 8; path += 8, len -= 8) {
		memcpy(&word, path, 8);
		hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
		hash ^= hash >> 32;
	}
	for (; len > 0; path++, len--)
		hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
	return (uint32_t)(hash ^ (hash >> 32));
}

int path_parent_len(const char *path, int len)
{
	while (len > 1 && path[--len] != '/')
		;
	return len > 1 ? len : 1;
}

static void grow(struct tree *tree)
{
	uint32_t old = tree->buckets ? tree->mask + 1 : 0;
	struct node **buckets = tree->buckets;
	struct node *node;
	struct node *next;
	uint32_t i;
	uint32_t to;

	tree->mask = old ? old * 2 - 1 : 255;
	tree->buckets = sim_calloc((size_t)tree->mask + 1, sizeof(*buckets));
	for (i = 0; i < old; i++) {
		for (node = buckets[i]; node != NULL; node = next) {
			next = node->hash_next;
			to = node->path->hash & tree->mask;
			node->hash_next = tree->buckets[to];
			tree->buckets[to] = node;
		}
	}
	free(buckets);
}

static struct node *take(struct tree *tree)
{
	struct node *node = tree->spare;
	struct node **children;
	int room;

	if (node == NULL)
		return sim_calloc(1, sizeof(*node));
	tree->spare = node->hash_next;
	children = node->children;
	room = node->child_room;
	memset(node, 0, sizeof(*node));
	node->children = children;
	node->child_room = room;
	return node;
}

static void link_hash(struct tree *tree, struct node *node)
{
	uint32_t at;

	if (tree->buckets == NULL || tree->count > tree->mask)
		grow(tree);
	at = node->path->hash & tree->mask;
	node->hash_next = tree->buckets[at];
	tree->buckets[at] = node;
	tree->count++;
}

void tree_attach(struct tree *tree, struct node *node)
{
	struct node *parent = node->parent;

	link_hash(tree, node);
	if (parent == NULL)
		return;
	if (parent->child_count == parent->child_room) {
		parent->child_room = parent->child_room * 2 + 4;
		parent->children = sim_realloc(parent->children,
			(size_t)parent->child_room * sizeof(struct node *));
	}
	node->slot = parent->child_count++;
	parent->children[node->slot] = node;
}

struct node *tree_add(struct tree *tree, struct node *parent, struct blob *path)
{
	struct node *node = take(tree);

	node->path = blob_ref(path);
	node->parent = parent;
	if (parent != NULL)
		node->name_at = parent->path->len +
			(parent->path->len > 1 ? 1 : 0);
	tree_attach(tree, node);
	return node;
}

void tree_detach(struct tree *tree, struct node *node)
{
	struct node *parent = node->parent;
	struct node **at = &tree->buckets[node->path->hash & tree->mask];

	while (*at != node)
		at = &(*at)->hash_next;
	*at = node->hash_next;
	tree->count--;
	if (parent == NULL)
		return;
	parent->children[node->slot] = parent->children[--parent->child_count];
	parent->children[node->slot]->slot = node->slot;
}

void tree_release(struct tree *tree, struct node *node)
{
	blob_unref(node->path);
	blob_unref(node->data);
	node->hash_next = tree->spare;
	tree->spare = node;
}

struct node *tree_find(const struct tree *tree, const char *path, int len,
	uint32_t hash)
{
	struct node *node = tree->buckets[hash & tree->mask];

	for (; node != NULL; node = node->hash_next) {
		if (node->path->hash == hash && node->path->len == len &&
			memcmp(node->path->bytes, path, (size_t)len) == 0)
			return node;
	}
	return NULL;
}

void node_stat(const struct node *node, struct kustos_stat *stat)
{
	stat->czxid = node->czxid;
	stat->mzxid = node->mzxid;
	stat->pzxid = node->pzxid;
	stat->ctime_ms = node->ctime_ms;
	stat->mtime_ms = node->mtime_ms;
	stat->ephemeral_owner = node->owner;
	stat->version = node->version;
	/* The tree stores how many children were created; a client sees how
	   often the children changed. */
	stat->cversion = (int32_t)((uint32_t)node->created * 2 -
		(uint32_t)node->child_count);
	stat->aversion = node->aversion;
	stat->data_length = node->data ? node->data->len : 0;
	stat->num_children = node->child_count;
}

static struct node *add_initial(struct tree *tree, struct node *parent,
	const char *path)
{
	int len = (int)strlen(path);
	struct blob *blob = blob_new(path, len);
	struct node *node;

	blob->hash = path_hash(path, len);
	node = tree_add(tree, parent, blob);
	node->data = blob_new("", 0);
	blob_unref(blob);
	return node;
}

void tree_init(struct tree *tree)
{
	struct node *zookeeper;

	memset(tree, 0, sizeof(*tree));
	tree->root = add_initial(tree, NULL, "/");
	zookeeper = add_initial(tree, tree->root, "/zookeeper");
	add_initial(tree, zookeeper, "/zookeeper/config")->aversion = -1;
	add_initial(tree, zookeeper, "/zookeeper/quota");
}

static void free_node(struct node *node)
{
	blob_unref(node->path);
	blob_unref(node->data);
	free(node->children);
	free(node);
}

void tree_free(struct tree *tree)
{
	struct node *node;
	uint32_t i;

	for (i = 0; tree->buckets != NULL && i <= tree->mask; i++) {
		while ((node = tree->buckets[i]) != NULL) {
			tree->buckets[i] = node->hash_next;
			free_node(node);
		}
	}
	while ((node = tree->spare) != NULL) {
		tree->spare = node->hash_next;
		free(node->children);
		free(node);
	}
	free(tree->buckets);
	memset(tree, 0, sizeof(*tree));
}
