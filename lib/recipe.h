/*
 * recipe.h - all that a recipe library may include of lib/ beside the public
 * headers: the line, the hold, the wait, and a few services.
 *
 * What is declared here and in the headers below is exported under
 * KUSTOS_PRIVATE: for recipe libraries of the very same version only.
 */
#ifndef KU_RECIPE_H
#define KU_RECIPE_H

#include "hold.h"
#include "line.h"
#include "service.h"
#include "wait.h"

#include <stdbool.h>
#include <stddef.h>

/* Return KUSTOS_OK if "client" can be used: it is not NULL, and not that of a
   process of which this is a fork. */
KU_SERVICE enum kustos_err ku_recipe_check(const struct kustos_client *client);

KU_SERVICE void ku_recipe_lock(struct kustos_client *client);
KU_SERVICE void ku_recipe_unlock(struct kustos_client *client);

/* Wait until some recipe has called the other, and look again what has changed.
   Locked. */
KU_SERVICE void ku_recipe_wait(struct kustos_client *client);
KU_SERVICE void ku_recipe_wake(struct kustos_client *client);

/* Return whether the client is being closed.  Not locked. */
KU_SERVICE bool ku_recipe_closing(struct kustos_client *client);

/* Return how many places have left.  Locked.  And wait until the nodes of the
   first "count" that left are gone, with their session at the latest.  Not
   locked.  Returns KUSTOS_OK or KUSTOS_ECLOSED. */
KU_SERVICE uint64_t ku_recipe_left(const struct kustos_client *client);
KU_SERVICE enum kustos_err ku_recipe_wait_left(struct kustos_client *client,
	uint64_t count);

/* Return now, in nanoseconds of the boot-time clock. */
KU_SERVICE int64_t ku_recipe_now(const struct kustos_client *client);

/* Copy what a recipe stores in its nodes when its user has no wish: the
   client's default data; or, if it has none, our address on the network, as
   Curator does.  "*out" is to be freed. */
KU_SERVICE enum kustos_err ku_recipe_data(struct kustos_client *client,
	char **out, size_t *len);

/* Make the JSON record of who holds: host, pid, program, since when, and why,
   if "reason" is not NULL.  "*out" is to be freed. */
KU_SERVICE enum kustos_err ku_recipe_record(const char *reason, char **out,
	size_t *len);

#endif
