/*
 * pool.h - room for so many at a time: what a semaphore does.
 *
 * A pool is a node with two lines below it.  Who has a place in "leases", with
 * fewer before it than there is room for, holds a share.  Who finds no room
 * stands in "locks", an ordinary line; and who is first there, and nobody else,
 * waits with its places in "leases".
 *
 * Not called with the client locked.
 */
#ifndef KU_POOL_H
#define KU_POOL_H

#include "hold_wait.h"
#include "payload.h"
#include "service.h"

#include <kustos/lockable.h>

struct ku_pool;

struct ku_pool_wish {
	int room; /* 0: what stands in the node "room_path" */
	const char *room_path;
	struct ku_payload_wish payload;
};

KU_SERVICE enum kustos_err ku_pool_create(struct kustos_client *client,
	const char *path, const struct ku_pool_wish *wish,
	struct ku_pool **out);
KU_SERVICE void ku_pool_destroy(struct ku_pool *pool); /* NULL is allowed */

/* Wait for "count" shares, all or none. */
KU_SERVICE enum kustos_err ku_pool_acquire(struct ku_pool *pool, int count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out);

/* The same; one of "granted" and "granted_many" is told of the end. */
KU_SERVICE enum kustos_err ku_pool_acquire_async(struct ku_pool *pool,
	int count, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, kustos_granted_many_fn *granted_many,
	void *arg);

/* Return one share as something that can be taken with others; of no object if
   "pool" is NULL. */
KU_SERVICE struct kustos_lockable ku_pool_lockable(struct ku_pool *pool);

/* Store this in the nodes of those who ask from now on. */
KU_SERVICE enum kustos_err ku_pool_set_data(struct ku_pool *pool,
	const void *data, size_t len);

/* Return the room that there is for all, -1 if that is not known; and set it,
   for all who read it in that node. */
KU_SERVICE int ku_pool_room(struct ku_pool *pool);
KU_SERVICE enum kustos_err ku_pool_set_room(struct ku_pool *pool, int room,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KU_SERVICE enum kustos_err ku_pool_set_room_async(struct ku_pool *pool,
	int room, kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_end_fn *done, void *arg);

/* Return whether others were seen that go by another number. */
KU_SERVICE bool ku_pool_disagrees(struct ku_pool *pool);

#endif
