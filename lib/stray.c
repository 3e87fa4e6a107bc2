/* stray.c - nodes that a creation may make late: found and deleted. */

#include "stray.h"
#include "client.h"

#include <stdlib.h>
#include <string.h>

struct stray {
	int64_t until_ns;
	bool sequential, lasting;
	char guid[KU_PROTECTION_SIZE];
	char leaf[]; /* of the creation's path */
};

/* A folder in which they may turn up. */
struct ku_nest {
	struct ku_nest *next;
	struct ku_op *op; /* that lists it now, or NULL */
	int64_t since_ns; /* when the newest was added */
	int64_t due_ns;	  /* when to list it after a heartbeat */
	int64_t asked_ns;
	bool sorted;
	size_t count, room;
	struct stray **strays;
	char path[];
};

static void nest_free(struct ku_nest *nest)
{
	for (size_t i = 0; i < nest->count; i++)
		free(nest->strays[i]);
	free(nest->strays);
	free(nest);
}

/* Drop those that were found, and those that could come only before "nest" was
   listed; and "nest", if it has no others. */
static void drop_seen(struct ku_strays *strays, struct ku_nest *nest)
{
	struct ku_nest **at = &strays->nests;
	size_t kept = 0;

	for (size_t i = 0; i < nest->count; i++)
		if (nest->strays[i]->until_ns > nest->asked_ns)
			nest->strays[kept++] = nest->strays[i];
		else
			free(nest->strays[i]);
	nest->count = kept;
	if (kept > 0)
		return;
	while (*at != nest)
		at = &(*at)->next;
	*at = nest->next;
	nest_free(nest);
}

/* Return the nest of the folder of "path", or NULL. */
static struct ku_nest *find_nest(const struct ku_strays *strays,
	const char *path)
{
	size_t len = ku_path_parent_len(path);
	struct ku_nest *nest = strays->nests;

	while (nest != NULL &&
		(strncmp(nest->path, path, len) != 0 ||
			nest->path[len] != '\0'))
		nest = nest->next;
	return nest;
}

/* The same, but make it if need be, with room for one more. */
static struct ku_nest *nest_of(struct ku_strays *strays, const char *path)
{
	size_t len = ku_path_parent_len(path);
	struct ku_nest *nest = find_nest(strays, path);

	if (nest == NULL) {
		nest = calloc(1, sizeof(*nest) + len + 1);
		if (nest == NULL)
			return NULL;
		memcpy(nest->path, path, len);
		nest->next = strays->nests;
		strays->nests = nest;
	}
	if (nest->count < nest->room)
		return nest;
	size_t room = 2 * nest->room + 1;
	struct stray **grown = realloc(nest->strays, room * sizeof(*grown));
	if (grown == NULL)
		return NULL;
	nest->strays = grown;
	nest->room = room;
	return nest;
}

void ku_stray_add(const struct ku_op *op, const char *guid)
{
	struct kustos_client *client = op->client;
	int64_t now = ku_now(client);
	int64_t until = ku_shun_until(&client->session.shun, now);

	if (until == 0)
		return;
	const char *leaf = ku_path_leaf(op->path);
	struct stray *s = calloc(1, sizeof(*s) + strlen(leaf) + 1);
	struct ku_nest *nest = nest_of(&client->strays, op->path);
	if (s == NULL || nest == NULL) {
		free(s);
		return;
	}
	s->until_ns = until;
	s->sequential = (op->flags & KUSTOS_CREATE_SEQUENTIAL) != 0;
	s->lasting = (op->flags & KUSTOS_CREATE_EPHEMERAL) == 0;
	strcpy(s->guid, guid);
	strcpy(s->leaf, leaf);
	nest->strays[nest->count++] = s;
	nest->sorted = false;
	nest->since_ns = nest->due_ns = now;
}

static int compare(const void *a, const void *b)
{
	const struct stray *const *one = a, *const *other = b;

	return strcmp((*one)->guid, (*other)->guid);
}

static int compare_name(const void *name, const void *element)
{
	const struct stray *const *s = element;

	return strncmp(name, (*s)->guid, strlen((*s)->guid));
}

/* Return which of them has this name, or NULL. */
static struct stray *find(struct ku_nest *nest, const char *name)
{
	if (!nest->sorted)
		qsort(nest->strays, nest->count, sizeof(*nest->strays),
			compare);
	nest->sorted = true;
	struct stray **found = bsearch(name, nest->strays, nest->count,
		sizeof(*nest->strays), compare_name);

	return found != NULL &&
			ku_create_made(name, (*found)->guid, (*found)->leaf,
				(*found)->sequential)
		? *found
		: NULL;
}

bool ku_strays_have(const struct kustos_client *client, const char *path)
{
	struct ku_nest *nest = find_nest(&client->strays, path);

	return (nest != NULL && find(nest, ku_path_leaf(path)) != NULL) ||
		ku_ops_belated(client, path);
}

/* Delete it, however long that takes: its name cannot be another's.  Returns
   false if memory is short; then the next look finds it again. */
static bool delete_node(struct kustos_client *client, const char *path,
	const struct stray *s)
{
	struct ku_op *op;

	if (path == NULL ||
		ku_op_new(client, KU_ZK_DELETE, ku_program_path(client, path),
			0, &op) != KUSTOS_OK)
		return false;
	ku_log(client, KUSTOS_LOG_INFO, "%s was made late, and is deleted",
		path);
	op->guaranteed = true;
	op->belated = true;
	op->session_id = client->session.id;
	op->lasting = s->lasting;
	return ku_op_start_unowned(op) == KUSTOS_OK;
}

static void delete_found(struct kustos_client *client, struct ku_nest *nest,
	const struct kustos_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		struct stray *s = find(nest, names->names[i]);

		if (s == NULL)
			continue;
		client->strays.found++;
		char *path = ku_path_child(nest->path, names->names[i]);
		if (delete_node(client, path, s))
			s->until_ns = INT64_MIN; /* it comes only once */
		free(path);
	}
}

static void listed(struct ku_op *op)
{
	struct kustos_client *client = op->client;
	struct ku_nest *nest = op->owner;

	nest->op = NULL;
	if (op->err == KUSTOS_OK)
		delete_found(client, nest, op->out_names);
	ku_op_drop(op);
	drop_seen(&client->strays, nest);
}

/* The next heartbeat to look is when the newest is twice as old, so that there
   are few looks; but also the first one after which one of them cannot come any
   more. */
static void set_next(struct ku_nest *nest, int64_t now)
{
	nest->asked_ns = now;
	nest->due_ns = now + (now - nest->since_ns);
	for (size_t i = 0; i < nest->count; i++) {
		int64_t until = nest->strays[i]->until_ns;

		if (until > now && until < nest->due_ns)
			nest->due_ns = until;
	}
}

static void look(struct kustos_client *client, struct ku_nest *nest)
{
	if (ku_op_new(client, KU_ZK_CHILDREN,
		    ku_program_path(client, nest->path), 0,
		    &nest->op) != KUSTOS_OK)
		return;
	set_next(nest, ku_now(client));
	/* If it starts it may end in here, and "nest" be freed by then. */
	(void)ku_op_start(&nest->op, listed, nest);
}

/* List those that are due by "now", unless that is under way: then it begins
   anew by itself after a reconnect. */
static void look_due(struct kustos_client *client, int64_t now)
{
	struct ku_nest *next;

	for (struct ku_nest *n = client->strays.nests; n != NULL; n = next) {
		next = n->next;
		if (n->op == NULL && n->due_ns <= now)
			look(client, n);
	}
}

void ku_strays_look(struct kustos_client *client)
{
	look_due(client, INT64_MAX);
}

void ku_strays_mind(struct kustos_client *client)
{
	look_due(client, ku_now(client));
}

void ku_strays_forget(struct kustos_client *client)
{
	struct ku_nest *nest;

	while ((nest = client->strays.nests) != NULL) {
		client->strays.nests = nest->next;
		ku_op_let_go(&nest->op);
		nest_free(nest);
	}
}
