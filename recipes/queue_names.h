/*
 * queue_names.h - the core's name for a kind of queue, and where its nodes are.
 */
#ifndef KU_RECIPE_QUEUE_NAMES_H
#define KU_RECIPE_QUEUE_NAMES_H

#include "recipe.h"

#include <kustos/item.h>

/* Returns false if there is no such kind. */
bool ku_queue_read_kind(enum kustos_queue_kind kind, enum ku_item_kind *out);

/* Return "path" with "end" behind it, to be freed; NULL if memory is short. */
char *ku_queue_beside(const char *path, const char *end);

/* Return the path of the node below which the items of the queue at "path" are,
   to be freed; NULL if memory is short. */
char *ku_queue_items(const char *path, enum kustos_queue_kind kind);

#endif
