/*
 * watches.h - who watches what: the table of a server, and that of a client.
 *
 * An entry says that one owner (a connection; the client itself) watches one
 * path in one or more ways.
 */
#ifndef SIM_WATCHES_H
#define SIM_WATCHES_H

#include "tree.h"

#define WATCH_CHILD 1 /* the values of enum ku_zk_watch_kind */
#define WATCH_DATA 2
#define WATCH_EXIST 4 /* only in a client: on a node that did not exist */

struct watch {
	struct watch *hash_next;
	struct watch *next, **link; /* of the same owner */
	struct blob *path;
	void *owner;
	int kinds;
};

struct watches {
	struct watch **buckets;
	uint32_t mask;
	uint32_t count;
	struct watch *spare;
};

void watches_init(struct watches *watches);
void watches_free(struct watches *watches);

/* Add to what "owner", whose list begins at "*list", watches. */
void watch_add(struct watches *watches, struct watch **list, void *owner,
	struct blob *path, int kinds);

/* Return the entry of "owner", or NULL. */
struct watch *watch_find(const struct watches *watches, const void *owner,
	const struct blob *path);

/* Remove "kinds" from an entry, and the entry if none is left. */
void watch_drop(struct watches *watches, struct watch *watch, int kinds);

/* Call "fn" for each owner that watches "path" in one of "kinds", and remove
   these kinds from its entry. */
typedef void watch_fn(void *arg, void *owner, int kinds);
void watch_fire(struct watches *watches, const struct blob *path, int kinds,
	watch_fn *fn, void *arg);

#endif
