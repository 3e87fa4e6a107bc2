/* pool_bid.c - bids: how shares are tried for, waited for, granted and given
   back. */

#include "pool_impl.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_LEN 10 /* of a sequence number */

/* No bid waits any more. */
static void rest(struct ku_pool *pool)
{
	ku_pool_room_rest(pool);
	ku_pool_note_rest(pool);
}

static void set_state(struct ku_bid *bid, enum ku_bid_state state)
{
	struct ku_pool *pool = bid->pool;

	if (!bid->want.wait.once) {
		pool->bids_in[bid->state]--;
		pool->bids_in[state]++;
	}
	bid->state = state;
}

static void let_queue(struct ku_pool *pool);

/* Take "bid" out, and end its wait. */
static void bid_unlink(struct ku_bid *bid, enum kustos_err err)
{
	struct ku_pool *pool = bid->pool;

	KU_LIST_REMOVE(pool->bids, bid);
	set_state(bid, KU_BID_OUT);
	let_queue(pool);
	if (pool->bids == NULL)
		rest(pool);
	ku_wait_end(&bid->want.wait, err);
	ku_pool_put(pool);
}

static void free_shares(struct ku_bid *bid)
{
	struct ku_share *share;

	while ((share = bid->shares) != NULL) {
		bid->shares = share->next;
		free(share);
	}
}

/* Make the shares beforehand, without places. */
static enum kustos_err make_shares(struct ku_bid *bid)
{
	for (int i = 0; i < bid->want.count; i++) {
		struct ku_share *share = calloc(1, sizeof(*share));

		if (share == NULL) {
			free_shares(bid);
			return KUSTOS_ENOMEM;
		}
		share->pool = bid->pool;
		share->bid = bid;
		share->next = bid->shares;
		bid->shares = share;
	}
	return KUSTOS_OK;
}

/* Give the places up, the last one first: a place behind one that leaves would
   look again.  This reverses the list of shares, which does not matter. */
static void drop_shares(struct ku_bid *bid)
{
	struct ku_share *turned = NULL, *share;

	while ((share = bid->shares) != NULL) {
		bid->shares = share->next;
		share->next = turned;
		turned = share;
	}
	bid->shares = turned;
	for (share = turned; share != NULL; share = share->next) {
		if (share->place != NULL)
			ku_place_leave(share->place);
		share->place = NULL;
	}
	bid->granted = 0;
}

/* Take places for all shares, with one look at the line. */
static enum kustos_err take_shares(struct ku_bid *bid)
{
	struct ku_pool *pool = bid->pool;
	bool once = bid->state == KU_BID_TRIES;
	const char *data;
	char *record;
	size_t len;
	enum kustos_err err = ku_payload_get(&pool->payload, &data, &len,
		&record);

	if (pool->lease_kind.company == KU_COMPANY_UNKNOWN)
		ku_pool_room_want(pool); /* in the same flight */
	for (struct ku_share *s = bid->shares; s != NULL && err == KUSTOS_OK;
		s = s->next) {
		ku_line_gather(pool->leases, s->next != NULL);
		err = ku_place_take(pool->leases, &pool->lease_kind, data, len,
			once, s, &s->place);
	}
	ku_line_gather(pool->leases, false);
	free(record);
	if (err != KUSTOS_OK)
		drop_shares(bid);
	return err;
}

/* Stand in "locks". */
static enum kustos_err queue(struct ku_bid *bid)
{
	struct ku_pool *pool = bid->pool;
	const char *data;
	char *record;
	size_t len;
	enum kustos_err err = ku_payload_get(&pool->payload, &data, &len,
		&record);

	set_state(bid, KU_BID_QUEUES);
	if (err == KUSTOS_OK)
		err = ku_place_take(pool->locks, &pool->lock_kind, data, len,
			false, bid, &bid->lock);
	free(record);
	return err;
}

static void leave_lock(struct ku_bid *bid)
{
	if (bid->lock != NULL)
		ku_place_leave(bid->lock);
	bid->lock = NULL;
}

void ku_bid_end(struct ku_bid *bid, enum kustos_err err)
{
	drop_shares(bid); /* first: they may not stay without the lock */
	free_shares(bid);
	leave_lock(bid);
	bid_unlink(bid, err);
}

/* Stand in "locks", or end with the error. */
static void queue_or_end(struct ku_bid *bid)
{
	enum kustos_err err = queue(bid);

	if (err != KUSTOS_OK)
		ku_bid_end(bid, err);
}

/* The bid has tried in vain: it stands in "locks", and those that came later
   stand there behind it.  Those of them that still try might otherwise find
   room before it does. */
static void go_on(struct ku_pool *pool, struct ku_bid *bid)
{
	bool inside = pool->queueing; /* a bid of an outer call could not */
	struct ku_bid *later;

	pool->queueing = true;
	for (; bid != NULL; bid = later) {
		later = bid->prev;
		if (bid->want.wait.once ||
			(bid->state != KU_BID_TRIES &&
				bid->state != KU_BID_PENDS))
			continue;
		drop_shares(bid);
		queue_or_end(bid);
	}
	pool->queueing = inside;
}

/* If no bid tries any more, those that pend stand in "locks" now. */
static void let_queue(struct ku_pool *pool)
{
	struct ku_bid *first = NULL;

	if (pool->queueing || pool->destroyed ||
		pool->bids_in[KU_BID_TRIES] > 0 ||
		pool->bids_in[KU_BID_PENDS] == 0)
		return;
	for (struct ku_bid *bid = pool->bids; bid != NULL; bid = bid->next)
		if (bid->state == KU_BID_PENDS)
			first = bid; /* of all: the last in the list */
	go_on(pool, first);
}

/* It is the first in "locks": take places for all shares, or end with the
   error. */
static void stay(struct ku_bid *bid)
{
	set_state(bid, KU_BID_STAYS);
	enum kustos_err err = take_shares(bid);
	if (err != KUSTOS_OK)
		ku_bid_end(bid, err);
}

static void share_released(struct kustos_hold *hold, void *owner)
{
	struct ku_share *share = owner;

	(void)hold;
	ku_place_leave(share->place);
	ku_pool_put(share->pool);
	free(share);
}

/* All shares are granted. */
static void bid_granted(struct ku_bid *bid)
{
	struct ku_pool *pool = bid->pool;
	struct ku_share *share;
	int count = 0;

	/* That the bid stood in "locks" is no sign: perhaps only that line was
	   long. */
	pool->waits = false;
	while ((share = bid->shares) != NULL) {
		bid->shares = share->next;
		if (bid->lock != NULL && ku_place_waited(share->place))
			pool->waits = true;
		share->bid = NULL;
		share->hold = bid->want.holds[count++];
		ku_pool_get(pool);
		ku_hold_grant_place(share->hold, share->place, share_released,
			share);
	}
	leave_lock(bid);
	bid_unlink(bid, KUSTOS_OK);
}

static void lease_granted(struct ku_place *place)
{
	struct ku_share *share = ku_place_owner(place);
	struct ku_bid *bid = share->bid;

	if (++bid->granted == bid->want.count)
		bid_granted(bid);
}

static void lease_failed(struct ku_place *place, enum kustos_err err)
{
	struct ku_share *share = ku_place_owner(place);
	struct ku_bid *bid = share->bid;
	bool busy = err == KUSTOS_EBUSY;

	if (bid->state == KU_BID_TRIES && !bid->want.wait.once &&
		(busy || err == KUSTOS_EDISCONNECTED)) {
		bid->pool->waits = bid->pool->waits || busy;
		go_on(bid->pool, bid);
	} else {
		ku_bid_end(bid, err);
	}
}

static void lease_lost(struct ku_place *place)
{
	struct ku_share *share = ku_place_owner(place);
	struct ku_bid *bid = share->bid;

	if (bid == NULL) {
		ku_hold_lose(share->hold);
		return;
	}
	drop_shares(bid);
	if (bid->want.wait.once)
		ku_bid_end(bid, KUSTOS_EDISCONNECTED);
	else if (bid->state == KU_BID_TRIES)
		go_on(bid->pool, bid);
	else
		stay(bid);
}

static void lease_wonders(struct ku_place *place)
{
	const struct ku_share *share = ku_place_owner(place);

	ku_pool_room_want(share->pool);
}

const struct ku_place_events ku_pool_lease_events = {
	.granted = lease_granted,
	.failed = lease_failed,
	.lost = lease_lost,
	.wonders = lease_wonders,
};

static void lock_granted(struct ku_place *place)
{
	stay(ku_place_owner(place));
}

static void lock_failed(struct ku_place *place, enum kustos_err err)
{
	ku_bid_end(ku_place_owner(place), err);
}

static void lock_lost(struct ku_place *place)
{
	struct ku_bid *bid = ku_place_owner(place);

	drop_shares(bid);
	leave_lock(bid);
	queue_or_end(bid);
}

const struct ku_place_events ku_pool_lock_events = {
	.granted = lock_granted,
	.failed = lock_failed,
	.lost = lock_lost,
};

/* Do our own places leave room, by the number that was last known?  If none
   was, one bid tries. */
static bool may_be_room(const struct ku_bid *bid)
{
	const struct ku_pool *pool = bid->pool;

	if (pool->lease_kind.company == KU_COMPANY_UNKNOWN && pool->room < 1)
		return pool->bids_in[KU_BID_TRIES] == 0;
	return bid->want.count <= pool->room - ku_line_places(pool->leases);
}

/* What a new bid does first.  It tries if it is likely that there is room, and
   no bid of ours waits for it.  It does not pass those that still try, which
   may have to go on to "locks". */
static enum ku_bid_state first_state(const struct ku_bid *bid)
{
	const struct ku_pool *pool = bid->pool;
	const int *in = pool->bids_in;
	int waiting = in[KU_BID_PENDS] + in[KU_BID_QUEUES] + in[KU_BID_STAYS];

	if (bid->want.wait.once ||
		(waiting == 0 && !pool->waits &&
			ku_session_ready(pool->client) && may_be_room(bid)))
		return KU_BID_TRIES;
	return in[KU_BID_TRIES] > 0 ? KU_BID_PENDS : KU_BID_QUEUES;
}

/* Begin as that says.  If a try cannot be begun, wait as who does not try. */
static enum kustos_err bid_begin(struct ku_bid *bid)
{
	enum kustos_err err = KUSTOS_EBUSY;

	set_state(bid, first_state(bid));
	if (bid->state == KU_BID_TRIES)
		err = take_shares(bid);
	if (err == KUSTOS_OK || bid->want.wait.once)
		return err;
	if (bid->state == KU_BID_TRIES && bid->pool->bids_in[KU_BID_TRIES] > 1)
		set_state(bid, KU_BID_PENDS);
	return bid->state == KU_BID_PENDS ? KUSTOS_OK : queue(bid);
}

static enum kustos_err bid_start(struct ku_wait *wait)
{
	struct ku_bid *bid = (struct ku_bid *)wait;
	struct ku_pool *pool = bid->pool;

	if (pool->destroyed)
		return KUSTOS_ECLOSED;
	enum kustos_err err = make_shares(bid);
	if (err != KUSTOS_OK)
		return err;
	ku_pool_room_want(pool); /* in the same flight, before the listing */
	ku_pool_note_want(pool);
	err = bid_begin(bid);
	if (err == KUSTOS_OK) {
		KU_LIST_PUSH(pool->bids, bid);
		ku_pool_get(pool);
		return KUSTOS_OK;
	}
	free_shares(bid);
	set_state(bid, KU_BID_OUT);
	if (pool->bids == NULL)
		rest(pool);
	return err;
}

static void bid_give_up(struct ku_wait *wait, enum kustos_err why)
{
	ku_bid_end((struct ku_bid *)wait, why);
}

static const struct ku_wait_calls bid_calls = { .start = bid_start,
	.give_up = bid_give_up,
	.tell = ku_hold_wait_tell };

/* Can there ever be "count" shares, and can one session have their nodes? */
static enum kustos_err check_count(const struct ku_pool *pool, int count)
{
	/* The length of a lease's path. */
	size_t len = strlen(pool->note.path) + strlen("/leases/") +
		KU_PROTECTION_LEN + strlen(pool->lease_kind.leaf) + NUMBER_LEN;

	if (count < 1 || (pool->room_path == NULL && count > pool->room))
		return KUSTOS_EINVAL;
	return ku_footprint_allows(count, len) ? KUSTOS_OK : KUSTOS_ELIMIT;
}

enum kustos_err ku_pool_acquire(struct ku_pool *pool, int count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	struct ku_bid bid = { .pool = pool, .want.count = count };
	enum kustos_err err = check_count(pool, count);

	if (err != KUSTOS_OK)
		return err;
	return ku_hold_wait_block(&bid.want, pool->client, &bid_calls, deadline,
		cancel, out);
}

enum kustos_err ku_pool_acquire_async(struct ku_pool *pool, int count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, kustos_granted_many_fn *granted_many,
	void *arg)
{
	enum kustos_err err = check_count(pool, count);

	if (err != KUSTOS_OK)
		return err;
	struct ku_bid *bid = calloc(1, sizeof(*bid));
	if (bid == NULL)
		return KUSTOS_ENOMEM;
	bid->pool = pool;
	bid->want.count = count;
	bid->want.granted = granted;
	bid->want.granted_many = granted_many;
	bid->want.arg = arg;
	return ku_hold_wait_async(&bid->want, pool->client, &bid_calls,
		deadline, cancel);
}

static enum kustos_err acquire(void *object, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	return ku_pool_acquire(object, 1, deadline, cancel, out);
}

static enum kustos_err acquire_async(void *object, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg)
{
	return ku_pool_acquire_async(object, 1, deadline, cancel, granted, NULL,
		arg);
}

struct kustos_lockable ku_pool_lockable(struct ku_pool *pool)
{
	struct kustos_lockable lockable = { 0 };

	if (pool == NULL)
		return lockable;
	lockable.client = pool->client;
	lockable.path = ku_program_path(pool->client, pool->note.path);
	lockable.object = pool;
	lockable.acquire = acquire;
	lockable.acquire_async = acquire_async;
	return lockable;
}
