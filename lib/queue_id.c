/* queue_id.c - items of a queue are deleted by their id. */

#include "queue_impl.h"

#include <kustos/node.h>

#include <stdlib.h>
#include <string.h>

/* Delete one, as it is now: who claims it meanwhile keeps it. */
static enum kustos_err delete_it(struct ku_queue *q, const char *name,
	kustos_deadline deadline, struct kustos_cancel *cancel, size_t *removed)
{
	const char *queue = q->path + strlen(q->client->config.prefix);
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
	return err == KUSTOS_ENONODE || err == KUSTOS_EBADVERSION ? KUSTOS_OK
								  : err;
}

enum kustos_err ku_queue_remove_id(struct ku_queue *q, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel, size_t *removed)
{
	struct kustos_names *names = NULL;
	enum kustos_err err = kustos_children(q->client,
		q->path + strlen(q->client->config.prefix), deadline, cancel,
		&names, NULL);

	*removed = 0;
	if (err == KUSTOS_ENONODE)
		return KUSTOS_OK;
	for (size_t i = 0; err == KUSTOS_OK && i < names->count; i++) {
		struct ku_item item;

		if (ku_item_parse(q->kind, names->names[i], &item) &&
			ku_item_has_id(&item, id))
			err = delete_it(q, names->names[i], deadline, cancel,
				removed);
	}
	kustos_names_free(names);
	return err;
}
