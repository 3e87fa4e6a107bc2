/*
 * pool.h - room for a number of holders at a time: what a semaphore does.
 *
 * A pool is a node with two lines below it.  A place in "leases", with fewer
 * places before it than there is room for, holds a share.  A caller that finds
 * no room stands in "locks", an ordinary line; only the caller that is first
 * there waits with its places in "leases".
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
	int room; /* 0: the number is in the node "room_path" */
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

/* The same; at the end, "granted" or "granted_many" is called, whichever is not
   NULL. */
KU_SERVICE enum kustos_err ku_pool_acquire_async(struct ku_pool *pool,
	int count, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, kustos_granted_many_fn *granted_many,
	void *arg);

/* Describe one share for kustos_acquire_all().  NULL is allowed here, but
   kustos_acquire_all() rejects the result. */
KU_SERVICE struct kustos_lockable ku_pool_lockable(struct ku_pool *pool);

/* Store this data in the nodes of places that are taken from now on. */
KU_SERVICE enum kustos_err ku_pool_set_data(struct ku_pool *pool,
	const void *data, size_t len);

/* Return how much room there is for all clients, -1 if that is not known; and
   set it, for all clients that read it from that node. */
KU_SERVICE int ku_pool_room(struct ku_pool *pool);
KU_SERVICE enum kustos_err ku_pool_set_room(struct ku_pool *pool, int room,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KU_SERVICE enum kustos_err ku_pool_set_room_async(struct ku_pool *pool,
	int room, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);

/* Return whether another client was seen to use another number. */
KU_SERVICE bool ku_pool_disagrees(struct ku_pool *pool);

#endif
