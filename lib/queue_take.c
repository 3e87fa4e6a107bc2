/* queue_take.c - items that are taken out of a queue. */

#include "queue_impl.h"

#include <string.h>

/* Items that nobody has asked for yet are read ahead: up to this many bytes, if
   they are as large as those before. */
#define AHEAD_BYTES (256 * 1024)

/* What was read counts until this long after the last answer. */
#define FRESH_MS 1000

/* How many items of the head to choose from after the first defeat, and at the
   most. */
#define SPREAD_MIN 8
#define SPREAD_MAX 512

static struct ku_queue *queue_of(struct ku_mirror *list)
{
	return KU_OWNER(struct ku_queue, take.list, list);
}

/* How many items are asked for and not yet being taken?  Count the calls up to
   one that only wants to look. */
static size_t wanted(const struct ku_take_side *take)
{
	size_t sum = take->first != NULL && take->first->peek ? 1 : 0;

	for (const struct ku_taker *t = take->first;
		t != NULL && !t->peek && sum < 2 * KU_TAKE_MAX; t = t->next)
		sum += t->max;
	return sum > take->taking.count ? sum - take->taking.count : 0;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Return the index in the head of the item to be tried next. */
static size_t choose(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;
	size_t among = least(take->spread, ku_head_count(&take->head));
	size_t at = (size_t)ku_random_below(&q->client->random, among);

	return at > 0 && !ku_take_due(q, at) ? 0 : at;
}

/* Read as many items as are wanted, and some ahead. */
static void read_more(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;
	size_t want = least(wanted(take), KU_TAKE_MAX);

	if (take->spread == 0 && !ku_queue_keyed(q))
		want = least(want + take->ahead, KU_TAKE_MAX);
	if (take->caught.count == 0)
		take->at = choose(q);
	while (take->caught.count < want && ku_head_count(&take->head) > 0) {
		size_t last = ku_head_count(&take->head) - 1;
		size_t at = least(take->at, last);

		if (!ku_take_due(q, at))
			return;
		struct ku_item item = ku_head_take(&take->head, at);
		take->chosen++;
		take->blank = false; /* there was something */
		if (!ku_catch_read(q, &item)) {
			ku_head_put_back(&take->head, &item);
			if (take->caught.count == 0)
				ku_take_fail(q, KUSTOS_ENOMEM);
			return;
		}
	}
}

/* Put the item back into the head; one of ours is left to the next listing. */
static void give_back(struct ku_queue *q, struct ku_catch *c)
{
	if (c->own) {
		q->take.blank = false;
		q->take.own_next = -1;
	} else {
		ku_head_put_back(&q->take.head, &c->item);
	}
	ku_catch_drop(c);
}

/* Stop reading these, and put them back.  The caller puts back those that come
   behind them, too. */
static void put_back(struct ku_queue *q, struct ku_catches *from)
{
	while (from->count > 0)
		give_back(q, ku_catch_pop(from));
}

void ku_take_put_back(struct ku_queue *q)
{
	put_back(q, &q->take.caught);
}

void ku_take_unchoose(struct ku_queue *q)
{
	if (!ku_queue_keyed(q))
		return;
	ku_take_put_back(q);
	q->take.stale = true;
	q->take.blank = false;
}

/* The transaction */

void ku_take_heard(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;
	int64_t now = ku_now(q->client);

	/* After a long silence the queue's node may be another, so what was
	   read or listed before the silence counts no more. */
	if (now - take->active_ns > FRESH_MS * KU_NS_PER_MS) {
		take->era++;
		take->own_next = -1;
	}
	take->active_ns = now;
}

/* Is the take just tried again, perhaps with other items? */
static bool is_harmless(enum kustos_err err)
{
	return err == KUSTOS_OK || err == KUSTOS_ENONODE ||
		err == KUSTOS_EBADVERSION || err == KUSTOS_ENOTEMPTY ||
		err == KUSTOS_ECHANGED;
}

static void over(struct ku_deed *deed, enum kustos_err err,
	const struct ku_zk_reply *reply)
{
	struct ku_queue *q = deed->owner;
	struct ku_take_side *take = &q->take;

	(void)reply;
	take->busy = false;
	ku_take_heard(q);
	if (err == KUSTOS_OK)
		ku_others_ours(&take->others, (uint32_t)take->taking.count);
	while (err == KUSTOS_OK && take->taking.count > 0)
		ku_catch_append(&take->taken, ku_catch_pop(&take->taking));
	if (!take->list.current)
		take->stale = true; /* nothing watches the items either */
	if (err == KUSTOS_OK)
		take->spread = take->spread > SPREAD_MIN ? take->spread / 2 : 0;
	if (err == KUSTOS_EUNKNOWN)
		ku_take_forget(q);
	if (take->taking.count > 0)
		put_back(q, &take->caught);
	put_back(q, &take->taking);
	if (err == KUSTOS_ECHANGED && !ku_session_ready(q->client))
		ku_take_fail_tries(q, KUSTOS_EDISCONNECTED);
	else if (!is_harmless(err) && err != KUSTOS_EUNKNOWN)
		ku_take_fail(q, err);
	if (q->over)
		ku_queue_return(q);
	ku_take_step(q);
	ku_queue_settled(q);
	ku_queue_end_if_idle(q);
}

/* Somebody else has taken this item, or has changed it or given it a child,
   which shows when it is read again.  The other items may be gone as well. */
static bool refused(struct ku_deed *deed, int at, int rc)
{
	struct ku_queue *q = deed->owner;
	struct ku_take_side *take = &q->take;
	struct ku_catches rest;
	bool changed = rc == KU_ZK_BADVERSION || rc == KU_ZK_NOTEMPTY;

	ku_catches_init(&rest);
	for (int i = 1; take->taking.count > 0; i++) { /* ops[0]: the receipt */
		struct ku_catch *c = ku_catch_pop(&take->taking);

		if (i == at && !changed)
			ku_catch_drop(c);
		else
			ku_catch_append(&rest, c);
	}
	put_back(q, &rest);
	put_back(q, &take->caught);
	if (rc == KU_ZK_NONODE)
		take->spread = take->spread == 0
			? SPREAD_MIN
			: least(2 * take->spread, SPREAD_MAX);
	return false;
}

static void lost(struct ku_deed *deed)
{
	struct ku_queue *q = deed->owner;

	ku_take_fail_tries(q, KUSTOS_EDISCONNECTED);
}

/* Is what was read still valid, unless others have changed the items? */
static bool fit(struct ku_deed *deed)
{
	struct ku_queue *q = deed->owner;
	const struct kustos_client *client = q->client;
	bool fresh = !q->over && ku_session_ready(client) &&
		ku_now(client) - q->take.active_ns <= FRESH_MS * KU_NS_PER_MS;

	for (const struct ku_catch *c = q->take.taking.first; c != NULL;
		c = c->next)
		fresh = fresh && c->era == q->take.era &&
			c->request.connection == client->session.connection;
	return fresh;
}

static const struct ku_deed_calls calls = {
	.over = over,
	.refused = refused,
	.fit = fit,
	.lost = lost,
};

/* Delete the first items that were read: as many as "most", or as a server
   takes at once, as their names may be long. */
static void take_them(struct ku_queue *q, size_t most)
{
	struct ku_take_side *take = &q->take;
	size_t bytes = 1, whole = KU_RECEIPT_SIZE, count = 0;

	take->deed.op_count = 1;
	for (; count < most; count++) {
		struct ku_catch *c = take->caught.first;
		const struct ku_zk_request op = {
			.kind = KU_ZK_DELETE,
			.path = c->path,
			.version = c->version,
		};

		whole += ku_request_size(&op);
		if (count > 0 && whole > KU_REQUEST_LIMIT)
			break;
		bytes += c->got->len;
		take->ops[take->deed.op_count++] = op;
		ku_catch_append(&take->taking, ku_catch_pop(&take->caught));
	}
	take->ahead = least(count, count * AHEAD_BYTES / bytes);
	take->busy = true;
	take->begun++;
	ku_receipt_do(&take->receipt, &take->deed);
}

/* What to do next */

/* Show the first item to the call that only wants to look. */
static void show(struct ku_queue *q)
{
	struct ku_taker *taker = q->take.first;
	struct ku_catch *c = ku_catch_pop(&q->take.caught);

	taker->items[taker->count++] = c->got;
	c->got = NULL;
	give_back(q, c);
	put_back(q, &q->take.caught);
	ku_taker_finish(taker, KUSTOS_OK);
	q->take.again = true; /* for the next call nothing is on its way yet */
}

/* No items are known: list them, or wait until somebody puts one. */
static void look(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;
	bool again = !take->blank;
	struct ku_taker *next;

	for (struct ku_taker *t = take->first; t != NULL; t = next) {
		next = t->next;
		if (!t->wait.once)
			continue;
		if (!again && t->since < take->list.asked)
			ku_taker_finish(t, KUSTOS_EEMPTY);
		else
			again = true;
	}
	take->blank = !again; /* until the new listing is there */
	if (again)
		ku_mirror_look(&take->list);
	else /* the list rests if the last call that waited gave up */
		ku_mirror_keep(&take->list);
	ku_take_watch_unfit(q);
}

/* Use the items that were read: as many as are asked for, or all there are. */
static void use(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;
	bool peek = take->first->peek;
	size_t count = peek ? 1 : least(wanted(take), take->caught.count);
	struct ku_catch *c = take->caught.first;

	for (size_t i = 0; i < count; i++, c = c->next)
		if (c->got == NULL)
			return; /* its answer is awaited */
	if (peek)
		show(q);
	else
		take_them(q, count);
}

/* A call that wants to look sees nothing that was read before it came. */
static void freshen(struct ku_queue *q)
{
	struct ku_taker *taker = q->take.first;

	if (!taker->peek || taker->ready)
		return;
	taker->ready = true;
	put_back(q, &q->take.caught);
}

/* Hand out what was taken, and read more items.  Then, unless items are being
   taken, take or show those that were read; if there are none, list them. */
static void step(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;

	ku_take_serve(q);
	if (take->first == NULL || q->over) {
		take->others.none = false;
		if (ku_queue_keyed(q))
			put_back(q, &take->caught);
		ku_mirror_rest(&take->list);
		take->blank = take->blank && take->list.current;
		take->stale = take->stale || !take->list.current;
		return;
	}
	if (!take->busy)
		freshen(q);
	bool idle = !take->busy && take->caught.count == 0;
	if (idle && !ku_take_refresh(q))
		return;
	take->others.none = false;
	if (idle || !ku_take_stale(q))
		read_more(q);
	if (take->busy || take->first == NULL)
		return;
	if (take->caught.count > 0)
		use(q);
	else
		look(q);
}

/* Step, and step again if that is asked for meanwhile. */
void ku_take_step(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;

	take->again = true;
	if (take->stepping)
		return;
	take->stepping = true;
	ku_queue_get(q);
	while (take->again) {
		take->again = false;
		step(q);
	}
	take->stepping = false;
	ku_queue_drop(q);
}

/* What a listing shows */

/* Fill the head.  If the queue's node is new, numbers begin anew: forget all
   unfit items.  Otherwise forget those that are not listed. */
static bool load(struct ku_queue *q, const struct ku_zk_reply *reply)
{
	struct ku_take_side *take = &q->take;
	bool there = reply->rc == KU_ZK_OK;
	int64_t czxid = there ? reply->stat->czxid : 0;

	if (czxid != take->others.czxid)
		ku_unfits_forget_all(&take->unfits);
	ku_take_listed(q, there ? reply->stat : NULL);
	if (!ku_head_load(&take->head, q->kind, reply->names,
		    there ? reply->name_count : 0, ku_take_skips, q))
		return false;
	ku_unfits_forget_unlisted(&take->unfits);
	return true;
}

/* Was the process paused, so that we are shown a listing after the news that
   the connection was lost?  By the time we are connected another item may come
   first. */
static bool is_late(const struct ku_queue *q)
{
	return ku_queue_keyed(q) && !ku_session_ready(q->client);
}

static void shows(struct ku_mirror *list, const struct ku_zk_reply *reply)
{
	struct ku_queue *q = queue_of(list);
	struct ku_take_side *take = &q->take;

	take->blank = false;
	bool late = reply != NULL && is_late(q);
	/* No listing is used while items are read or taken; and without keys,
	   none before the head is used up. */
	take->stale = reply == NULL || late || take->busy ||
		take->caught.count > 0 ||
		(ku_head_count(&take->head) > 0 && !ku_queue_keyed(q));
	if (late) {
		ku_take_step(q);
		return;
	}
	if (take->stale)
		return; /* it was not asked for: the head is of an older one */
	if (reply->rc != KU_ZK_OK && reply->rc != KU_ZK_NONODE) {
		ku_take_fail(q, ku_rc_err(reply->rc));
	} else if (!load(q, reply)) {
		ku_take_fail(q, KUSTOS_ENOMEM);
	} else {
		ku_own_listed(q, reply->stat);
		take->blank = !ku_take_due(q, 0);
		if (!take->blank)
			ku_mirror_rest(list);
	}
	ku_take_step(q);
}

static void list_failed(struct ku_mirror *list)
{
	ku_take_fail_tries(queue_of(list), KUSTOS_EDISCONNECTED);
}

static void list_over(struct ku_mirror *list)
{
	ku_queue_drop(queue_of(list));
}

static void receipt_ended(struct ku_receipt *receipt)
{
	ku_queue_drop(KU_OWNER(struct ku_queue, take.receipt, receipt));
}

void ku_take_init(struct ku_queue *q)
{
	static const struct ku_mirror_calls mirror_calls = {
		.shows = shows,
		.over = list_over,
		.failed = list_failed,
	};
	struct ku_take_side *take = &q->take;

	ku_catch_init(q);
	take->deed.calls = &calls;
	take->deed.owner = q;
	take->deed.ops = take->ops;
	ku_receipt_init(&take->receipt, q->client, q->receipts, receipt_ended);
	ku_queue_get(q);
	ku_order_init(q);
	ku_mirror_init(&take->list, q->client, &mirror_calls, q->path);
	take->list.kind = KU_ZK_CHILDREN;
	ku_queue_get(q);
}

void ku_take_end(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;

	ku_take_fail(q, KUSTOS_ECLOSED);
	ku_catch_end(q);
	ku_order_end(q);
	ku_mirror_end(&take->list);
}

void ku_take_free(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;

	ku_head_free(&take->head);
	ku_order_free(q);
}
