/*
 * queue_room.c - how much may be put: into a queue with a bound, and into
 * memory, for items put in the background that wait to be sent.
 *
 * The bound is soft, as Curator's is: a client that puts counts first, and two
 * that count at the same time may both find the last free room.  So a client
 * that found room for many takes a part of it.  It counts again, in the same
 * flight, when it has used that part, or when it has nothing more on its way.
 * The children are watched only while the queue is full and a call waits.
 */

#include "queue_impl.h"

/* The pause before counting again when the server gave no answer; and when the
   children may not be listed, so that no event tells of a change. */
#define PUT_OFF_MS 100
#define UNSEEN_MS 1000

/* A client takes one of so many shares of the room, so as many clients may
   count at the same time, and there is room for what all of them take. */
#define SHARES 16

/* End the calls that want room with "err"; but those that may wait do so while
   the queue is full. */
static void turn_away(struct ku_queue *q, enum kustos_err err)
{
	struct ku_put *next;

	for (struct ku_put *put = q->put.first; put != NULL; put = next) {
		next = put->next;
		if ((err != KUSTOS_EFULL || put->wait.once) &&
			put->gathered < put->count)
			ku_put_decided(put, 0, err);
	}
}

/* The server says that the queue has "count" items. */
static void counted(struct ku_queue *q, int64_t count)
{
	struct ku_put_side *side = &q->put;
	int64_t room = side->max_items - count;

	side->room = (room + SHARES - 1) / SHARES - side->sent;
	if (room > side->sent) {
		ku_mirror_rest(&side->full);
		/* Else our share is on its way, and is counted next time. */
		if (side->room > 0)
			ku_put_pump(q);
		if (side->sent == 0)
			side->room = 0; /* others may use it up meanwhile */
		return;
	}
	turn_away(q, KUSTOS_EFULL);
	if (side->first != NULL)
		ku_mirror_keep(&side->full);
	else
		ku_mirror_rest(&side->full);
}

static void count_in(struct ku_queue *q, int64_t ms)
{
	ku_set_timer_ms(q->client, &q->put.pause, ms);
}

static void answered(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_queue *q = request->owner;
	enum ku_outcome outcome = ku_outcome(reply->rc);

	if (q->over)
		; /* no call waits for the count */
	else if (outcome == KU_OUTCOME_DONE)
		counted(q, reply->stat->num_children);
	else if (reply->rc == KU_ZK_NONODE)
		counted(q, 0);
	else if (outcome == KU_OUTCOME_REFUSED)
		turn_away(q, ku_rc_err(reply->rc)); /* it might be full */
	else if (ku_session_ready(q->client))
		count_in(q, PUT_OFF_MS);
	else
		ku_room_count(q); /* once connected */
	ku_queue_drop(q);
}

static void pause_over(struct ku_timer *timer)
{
	struct ku_queue *q = KU_OWNER(struct ku_queue, put.pause, timer);

	if (q->client->closing == KU_OPEN)
		ku_put_pump(q);
}

void ku_room_count(struct ku_queue *q)
{
	struct ku_put_side *side = &q->put;

	/* Nothing of ours is on its way any more.  If it was not put, no event
	   tells that there is room. */
	if (side->full.wanted && side->sent == 0)
		ku_mirror_look(&side->full);
	if (ku_request_busy(&side->count) || side->full.wanted ||
		(ku_timer_is_set(&side->pause) && !side->unseen))
		return;
	ku_timer_unset(&q->client->timers, &side->pause);
	side->unseen = false;
	side->count.owner = q;
	side->count.done = answered;
	ku_queue_get(q);
	ku_wire_read(q->client, &side->count, KU_ZK_EXISTS, q->path, false);
}

static void shows(struct ku_mirror *full, const struct ku_zk_reply *reply)
{
	struct ku_queue *q = full->owner;

	if (reply == NULL || !full->wanted)
		return;
	if (reply->rc == KU_ZK_OK || reply->rc == KU_ZK_NONODE) {
		counted(q, reply->rc == KU_ZK_OK ? reply->name_count : 0);
		return;
	}
	ku_mirror_rest(full);
	q->put.unseen = true; /* a put meanwhile counts without this pause */
	count_in(q, UNSEEN_MS);
}

static void over(struct ku_mirror *full)
{
	ku_queue_drop(full->owner);
}

void ku_room_init(struct ku_queue *q)
{
	static const struct ku_mirror_calls calls = {
		.shows = shows,
		.over = over,
	};

	q->put.pause.fn = pause_over;
	ku_mirror_init(&q->put.full, q->client, &calls, q->path);
	q->put.full.kind = KU_ZK_CHILDREN;
	q->put.full.frugal = true;
	q->put.full.owner = q;
	ku_queue_get(q);
}

/* Let a call that waits for memory go on. */
static void roomer_end(struct ku_roomer *roomer, enum kustos_err err)
{
	struct ku_put_side *side = &roomer->queue->put;

	KU_ROW_REMOVE(side->rooms, side->rooms_last, roomer);
	ku_wait_end(&roomer->wait, err);
}

void ku_room_end(struct ku_queue *q)
{
	if (ku_wire_withdraw(q->client, &q->put.count))
		ku_queue_drop(q);
	ku_timer_unset(&q->client->timers, &q->put.pause);
	while (q->put.rooms != NULL)
		roomer_end(q->put.rooms, KUSTOS_ECLOSED);
	ku_mirror_end(&q->put.full);
}

/* Memory */

void ku_room_freed(struct ku_queue *q)
{
	while (q->put.rooms != NULL && q->put.bytes < q->put.max_bytes)
		roomer_end(q->put.rooms, KUSTOS_OK);
}

static enum kustos_err start(struct ku_wait *wait)
{
	struct ku_roomer *roomer = (struct ku_roomer *)wait;
	struct ku_put_side *side = &roomer->queue->put;

	KU_ROW_APPEND(side->rooms, side->rooms_last, roomer);
	ku_queue_get(roomer->queue);
	ku_room_freed(roomer->queue);
	return KUSTOS_OK;
}

static void give_up(struct ku_wait *wait, enum kustos_err why)
{
	roomer_end((struct ku_roomer *)wait, why);
}

enum kustos_err ku_room_wait(struct ku_queue *q, struct ku_roomer *roomer,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	static const struct ku_wait_calls calls = {
		.start = start,
		.give_up = give_up,
	};

	ku_lock(q->client);
	bool room = q->put.bytes < q->put.max_bytes;
	ku_unlock(q->client);
	if (room)
		return KUSTOS_OK;
	if (deadline == KUSTOS_NOW || !q->client->env.threads)
		return KUSTOS_EFULL;
	roomer->queue = q;
	roomer->wait.client = q->client;
	roomer->wait.calls = &calls;
	return ku_wait_stay(&roomer->wait, deadline, cancel);
}

void ku_room_leave(struct ku_roomer *roomer)
{
	struct kustos_client *client = roomer->wait.client;

	if (client == NULL)
		return; /* it did not have to wait */
	ku_lock(client);
	if (roomer->wait.started)
		ku_queue_drop(roomer->queue);
	ku_wait_leave(&roomer->wait);
	ku_unlock(client);
}
