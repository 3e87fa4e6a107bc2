/*
 * recipe.h - all that a recipe library may include of lib/ beside the public
 * headers: the engines, and a few services.
 *
 * What is declared here and in the headers below is exported under
 * KUSTOS_PRIVATE: for recipe libraries of the very same version only.
 */
#ifndef KU_RECIPE_H
#define KU_RECIPE_H

#include "candidate.h"
#include "consumer.h"
#include "desk.h"
#include "gate.h"
#include "leader.h"
#include "muster.h"
#include "pool.h"
#include "queue.h"
#include "service.h"
#include "vigil.h"

#include <kustos/node.h>
#include <kustos/participant.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Return KUSTOS_OK if "client" can be used: it is not NULL, and this process is
   not a fork of the one that opened it.  In a fork no object of the client may
   be used, nor destroyed: its destroy returns at once and frees nothing,
   because threads of the parent may have been at work on it. */
KU_SERVICE enum kustos_err ku_recipe_check(const struct kustos_client *client);

/* The struct of options "from", whose first field is its size, may be from
   newer headers than ours, which know "size" bytes.  Return whether all options
   that we do not know are 0, and so not set. */
bool ku_options_known(const void *from, size_t size);

/* Copy the program's options "from" over the defaults "to", of "size" bytes.
   The first field of "from" is the size that the program knows.  NULL changes
   nothing.  Returns false if that size is less than the field's own, or if an
   option is set that we do not know. */
KU_SERVICE bool ku_recipe_options(void *to, size_t size, const void *from);

/* Return whether "data" can be copied: it is there, or empty, and its length is
   not that of an error, such as -1. */
static inline bool ku_recipe_storable(const void *data, size_t len)
{
	return data != NULL ? len <= INT_MAX / 2 : len == 0;
}

/* Return whether there is such a dialect. */
KU_SERVICE bool ku_recipe_dialect(enum kustos_dialect dialect);

/* Make a persistent node, and its parents: as kustos_create(), but a node that
   exists already is as good. */
KU_SERVICE enum kustos_err ku_recipe_ensure(struct kustos_client *client,
	const char *path, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* The same, but return at once; "done" is called at the end. */
KU_SERVICE enum kustos_err ku_recipe_ensure_async(struct kustos_client *client,
	const char *path, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);

/* Delete a node: as kustos_delete(), but a node that is gone is as good. */
KU_SERVICE enum kustos_err ku_recipe_remove(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel);
KU_SERVICE enum kustos_err ku_recipe_remove_async(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);

/* Copy what a recipe stores in its nodes when its user gives no data: the
   client's default data; or, if it has none, our address on the network, as
   Curator does.  "*out" is to be freed. */
enum kustos_err ku_recipe_data(struct kustos_client *client, char **out,
	size_t *len);

/* Make a JSON record of the holder: host, pid, program, since when, and why, if
   "reason" is not NULL.  "*out" is to be freed. */
enum kustos_err ku_recipe_record(const char *reason, char **out, size_t *len);

#endif
