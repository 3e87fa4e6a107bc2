/* queue_id.c - items of a queue are deleted by their id. */

#include "queue_impl.h"

#include <kustos/node.h>

#include <stdlib.h>
#include <string.h>

/* The item has children, so nobody can delete it.  Leave it and tell the
   program, as a take does; if memory is short, the next take tells.  But if
   takes know of a newer node of the queue, the item is gone, and another may
   have its name. */
static void pass_over(struct ku_queue *q, const char *name, int64_t node_czxid,
	const struct kustos_stat *stat)
{
	ku_lock(q->client);
	if (q->take.others.czxid <= node_czxid)
		(void)ku_take_pass_over(q, name, stat);
	ku_unlock(q->client);
}

/* Delete one item by its present version: a consumer that claims it meanwhile
   keeps it. */
static enum kustos_err delete_it(struct ku_queue *q, const char *name,
	int64_t node_czxid, kustos_deadline deadline,
	struct kustos_cancel *cancel, size_t *removed)
{
	const char *queue = ku_program_path(q->client, q->path);
	char *path = ku_path_child(queue, name);
	struct kustos_stat stat;

	if (path == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = kustos_exists(q->client, path, deadline, cancel,
		&stat);
	if (err == KUSTOS_OK)
		err = kustos_delete(q->client, path, stat.version, deadline,
			cancel);
	free(path);
	*removed += err == KUSTOS_OK;
	if (err == KUSTOS_ENOTEMPTY)
		pass_over(q, name, node_czxid, &stat);
	return err == KUSTOS_ENONODE || err == KUSTOS_EBADVERSION ||
			err == KUSTOS_ENOTEMPTY
		? KUSTOS_OK
		: err;
}

/* Has the program destroyed the queue meanwhile? */
static bool is_over(struct ku_queue *q)
{
	ku_lock(q->client);
	bool over = q->over;
	ku_unlock(q->client);
	return over;
}

static enum kustos_err remove_all(struct ku_queue *q, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel, size_t *removed)
{
	struct kustos_names *names = NULL;
	struct kustos_stat node;
	enum kustos_err err = kustos_children(q->client,
		ku_program_path(q->client, q->path), deadline, cancel, &names,
		&node);

	*removed = 0;
	if (err == KUSTOS_ENONODE)
		return KUSTOS_OK;
	for (size_t i = 0; err == KUSTOS_OK && i < names->count; i++) {
		struct ku_item item;

		if (ku_item_parse(q->kind, names->names[i], &item) &&
			ku_item_has_id(&item, id))
			err = is_over(q)
				? KUSTOS_ECLOSED
				: delete_it(q, names->names[i], node.czxid,
					  deadline, cancel, removed);
	}
	kustos_names_free(names);
	return err;
}

enum kustos_err ku_queue_remove_id(struct ku_queue *q, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel, size_t *removed)
{
	struct kustos_client *client = q->client;

	/* Destroying the queue does not end these requests, as they wait like
	   the program's own: so keep the queue. */
	ku_begin(client);
	ku_queue_get(q);
	ku_unlock(client);
	enum kustos_err err = remove_all(q, id, deadline, cancel, removed);
	ku_lock(client);
	ku_queue_drop(q);
	ku_end(client);
	return err;
}
