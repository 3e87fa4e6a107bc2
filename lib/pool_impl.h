/*
 * pool_impl.h - the internals of a pool, for the files that are called pool.
 *
 * These are the states of a bid, which is a caller that waits for shares:
 *
 *   start --there may be room--> TRIES   its places, and one look at them
 *     | \                          |
 *     |  --others try--> PENDS     |       nothing
 *     |                    |       |
 *     |         nobody tries now   |
 *     |         or one did in vain |
 *     |                    |  no room for all
 *     v                    v       v
 *   QUEUES <---------------+-------+     a place in "locks"
 *     |
 *     | first there
 *     v
 *   STAYS                                its places in "leases", until there is
 *                                        room for all of them
 *
 * TRIES and STAYS end with the grant.  Then the bid gives up its place in
 * "locks", if it has one.
 *
 * Bids of one pool try together, as many as there can be room for beside our
 * other places.  But no bid passes an earlier one of the same pool that waits,
 * or will have to: a bid does not try while another PENDS, QUEUES or STAYS; it
 * does not queue before those that try, so it PENDS; and when one of those has
 * tried in vain, all that came later and still try or pend queue behind it.
 * (The order may change if a node is lost, memory is short, or the parents are
 * missing.)  Only bids that do not wait at all are left out of this: they
 * always try.
 *
 * Why there are never more shares than room: see ku_rank().  Curator's clients
 * grant themselves a lease if there are no more children than leases, so the
 * same is true with them.
 *
 * Why nobody is passed over for ever: a bid that STAYS has places in "leases",
 * and whoever comes later stands behind them.  No other bid waits there, as two
 * bids that wait for each other's places would wait for ever: a bid that TRIES
 * takes its places away as soon as one of them finds no room.  Between the
 * grant of a bid that STAYS and the moment at which the next one in "locks" has
 * its places, others may find room, as often as they ask: they use what is idle
 * until that bid has heard that it is the next.
 *
 * A bid that TRIES in vain makes others look again.  So a pool whose bids had
 * to wait does not try until one of its bids finds the way free.
 */
#ifndef KU_POOL_IMPL_H
#define KU_POOL_IMPL_H

#include "client.h"
#include "hold.h"
#include "mirror.h"
#include "pool.h"

enum ku_bid_state {
	KU_BID_OUT, /* not begun, or ended */
	KU_BID_TRIES,
	KU_BID_PENDS,
	KU_BID_QUEUES,
	KU_BID_STAYS,
	KU_BID_STATES
};

/* A place in "leases". */
struct ku_share {
	struct ku_pool *pool;
	struct ku_bid *bid;	  /* NULL once that was granted */
	struct ku_place *place;	  /* NULL: none */
	struct kustos_hold *hold; /* once it was granted */
	struct ku_share *next;	  /* of the bid's */
};

/* A thread, or a callback, that waits for shares. */
struct ku_bid {
	struct ku_hold_wait want; /* first: cast back from it */
	struct ku_pool *pool;
	enum ku_bid_state state;
	struct ku_place *lock; /* in "locks", or NULL */
	struct ku_share *shares;
	int granted; /* of those */
	struct ku_bid *prev, *next;
};

struct ku_pool {
	/* Constant. */
	struct kustos_client *client;
	struct ku_line *locks, *leases;
	struct ku_place_kind lock_kind;

	/* Guarded by the client's lock. */
	struct ku_place_kind lease_kind; /* with the room there is */
	struct ku_payload payload;
	int refs; /* of the program, of bids, of shares, of mirrors */
	bool destroyed;
	bool waits;		    /* the last bid had to wait for room */
	bool queueing;		    /* a function sends bids to "locks" */
	struct ku_bid *bids;	    /* that have not ended, the newest first */
	int bids_in[KU_BID_STATES]; /* how many, of those that may wait */

	/* How much room there is.  If that is fixed, only "room" is used. */
	int room;	       /* -1: unknown */
	const char *room_path; /* as the program knows it; NULL: fixed */
	struct ku_mirror number;
	struct ku_witness away; /* the number may have changed unnoticed */
	bool malformed;		/* which was logged */

	/* And the number that others use. */
	struct ku_mirror note;
	struct ku_request leaving;
	char text[12];
	bool left; /* ours has been there */
	bool disagrees;
};

/* Take a reference; give it back, and the last one frees it.  Locked. */
void ku_pool_get(struct ku_pool *pool);
void ku_pool_put(struct ku_pool *pool);

/* A mirror of the pool's is out of use. */
void ku_pool_mirror_over(struct ku_mirror *mirror);

/* pool_bid.c: end a bid.  Locked. */
void ku_bid_end(struct ku_bid *bid, enum kustos_err err);
extern const struct ku_place_events ku_pool_lock_events, ku_pool_lease_events;

/* pool_room.c.  Locked, but for the first. */

/* Read the wish. */
enum kustos_err ku_pool_room_init(struct ku_pool *pool,
	const struct ku_pool_wish *wish);

/* A bid waits; none waits any more; the pool is destroyed; it is freed. */
void ku_pool_room_want(struct ku_pool *pool);
void ku_pool_room_rest(struct ku_pool *pool);
void ku_pool_room_end(struct ku_pool *pool);
void ku_pool_room_free(struct ku_pool *pool);

/* pool_note.c: the same for the note in "path"; ku_mirror_end() ends it.
   Locked. */
enum kustos_err ku_pool_note_init(struct ku_pool *pool, const char *path);
void ku_pool_note_want(struct ku_pool *pool);
void ku_pool_note_rest(struct ku_pool *pool);

#endif
