/* footprint.c - a session's ephemeral nodes, and the sum of their paths. */

#include "footprint.h"
#include "list.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What the closing transaction spends on a path beside its bytes. */
#define PER_PATH 4
/* The length of a sequence number. */
#define NUMBER_LEN 10

/* The tree's keys are the paths in here. */
struct ku_ephemeral {
	struct ku_ephemeral *prev, *next;
	int64_t czxid;
	unsigned round; /* in which it was found */
	char path[];
};

static struct ku_ephemeral *node_of(char *path)
{
	return (struct ku_ephemeral *)(path -
		offsetof(struct ku_ephemeral, path));
}

/* "node" was found just now. */
static void append(struct ku_footprint *f, struct ku_ephemeral *node)
{
	node->round = f->round;
	KU_ROW_APPEND(f->first, f->last, node);
}

static void unlink_node(struct ku_footprint *f, struct ku_ephemeral *node)
{
	KU_ROW_REMOVE(f->first, f->last, node);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool is_ephemeral(const struct ku_zk_request *request)
{
	return request->kind == KU_ZK_CREATE &&
		(request->mode == KU_ZK_EPHEMERAL ||
			request->mode == KU_ZK_EPHEMERAL_SEQUENTIAL);
}

static size_t weight(const char *path)
{
	return strlen(path) + PER_PATH;
}

bool ku_footprint_ask(struct ku_footprint *f,
	const struct ku_zk_request *request, size_t more, size_t *asked)
{
	size_t sum = 0;

	if (is_ephemeral(request))
		sum = weight(request->path) + more + NUMBER_LEN;
	for (int i = 0; i < request->op_count; i++)
		if (is_ephemeral(&request->ops[i]))
			sum += weight(request->ops[i].path) + NUMBER_LEN;
	if (sum > 0 &&
		f->ephemeral_bytes + f->asked_bytes + sum > KU_FOOTPRINT_LIMIT)
		return false;
	f->asked_bytes += sum;
	*asked = sum;
	return true;
}

bool ku_footprint_allows(int count, size_t len)
{
	return (size_t)count <= KU_FOOTPRINT_LIMIT / (len + PER_PATH);
}

void ku_footprint_add(struct ku_footprint *f, const char *path, int64_t czxid)
{
	char **kept = tfind(path, &f->ephemerals, by_path);

	if (kept != NULL) {
		node_of(*kept)->czxid = czxid;
		return;
	}
	struct ku_ephemeral *node = malloc(sizeof(*node) + strlen(path) + 1);
	/* Without memory the node goes uncounted: better than refusing one
	   that exists. */
	if (node == NULL)
		return;
	node->czxid = czxid;
	strcpy(node->path, path);
	if (tsearch(node->path, &f->ephemerals, by_path) == NULL) {
		free(node);
		return;
	}
	append(f, node);
	f->ephemeral_bytes += weight(path);
}

const char *ku_footprint_next(struct ku_footprint *f)
{
	struct ku_ephemeral *node = f->first;

	if (node == NULL || node->round == f->round)
		return NULL;
	unlink_node(f, node);
	append(f, node);
	return node->path;
}

void ku_footprint_remove(struct ku_footprint *f, const char *path)
{
	char **kept = tfind(path, &f->ephemerals, by_path);

	if (kept == NULL)
		return;
	struct ku_ephemeral *node = node_of(*kept);
	unlink_node(f, node);
	f->ephemeral_bytes -= weight(node->path);
	tdelete(path, &f->ephemerals, by_path);
	free(node);
}

int64_t ku_footprint_czxid(const struct ku_footprint *f, const char *path)
{
	char **kept = tfind(path, &f->ephemerals, by_path);

	return kept != NULL ? node_of(*kept)->czxid : -1;
}

static void answered_one(struct ku_footprint *f,
	const struct ku_zk_request *request, int rc, const char *path,
	int64_t czxid)
{
	if (is_ephemeral(request) && rc == KU_ZK_OK)
		ku_footprint_add(f, path != NULL ? path : request->path, czxid);
	else if (request->kind == KU_ZK_DELETE &&
		(rc == KU_ZK_OK || rc == KU_ZK_NONODE))
		ku_footprint_remove(f, request->path);
}

void ku_footprint_answered(struct ku_footprint *f,
	const struct ku_zk_request *request, const struct ku_zk_reply *reply)
{
	if (request->kind != KU_ZK_MULTI) {
		answered_one(f, request, reply->rc, reply->path,
			reply->stat != NULL ? reply->stat->czxid : 0);
		return;
	}
	for (int i = 0; reply->rc == KU_ZK_OK && i < reply->result_count; i++)
		answered_one(f, &request->ops[i], reply->results[i].rc,
			reply->results[i].path, 0);
}

void ku_footprint_clear(struct ku_footprint *f)
{
	while (f->ephemerals != NULL)
		ku_footprint_remove(f, *(char **)f->ephemerals); /* the root */
}
