/*
 * soak_claims.c - items of kazoo's LockingQueue, which are claimed and
 * acknowledged: each item that was certainly put is acknowledged once, unless
 * an acknowledgment had an outcome that nobody can know.  It is handed out to
 * nobody who asks after that, and nobody certainly has an item that somebody
 * else was given.
 *
 * Ours put and claim, and one of kazoo's puts.  Servers are not killed
 * (soak_queue.c says why).
 */
#include "soak_items.h"

#include <stdio.h>
#include <string.h>

#define QUEUE "/claims"
#define ENTRIES QUEUE "/entries"
#define TAKEN QUEUE "/taken"
#define RECEIPTS QUEUE "-receipts"
#define AT_ONCE 4
#define AHEAD 3 /* claimed before they are asked for, less 1 */

static bool drained; /* it was seen to be empty, with no producer left */
static int64_t now;  /* counts what was asked and answered */

static void prepare(const char *server)
{
	(void)server;
	drained = false;
	now = 0;
	items_reset();
}

static bool claims(const struct contender *c)
{
	return c->number % 2 == 0;
}

static void put(struct contender *c)
{
	if (soak.closing || items_many())
		return;
	items_offer(c, 1 + soak_below(AT_ONCE));
	if (soak_is_ours(c))
		peer_tell(&c->peer, "supply locking " QUEUE " %d %d %d",
			c->from, c->to, soak_patience_ms());
	else
		peer_tell(&c->peer, "feed " QUEUE " %d %d locking", c->from,
			c->to);
	c->doing = WAITS;
}

static void ask(struct contender *c)
{
	if (!claims(c)) {
		put(c);
		return;
	}
	if (drained)
		return;
	c->asked = ++now;
	peer_tell(&c->peer, "claim locking " QUEUE " %d %d",
		soak_below(2) ? 30 : 1 + soak_below(SOAK_SESSION_MS / 2),
		c->number % AHEAD);
	c->doing = WAITS;
}

/* Somebody else was given its item: then it must say that it has lost it. */
static void look(struct contender *c)
{
	if (!c->rivaled)
		return;
	peer_tell(&c->peer, "has " QUEUE);
	c->doing = SAYS;
}

static void give(struct contender *c)
{
	static const char *const ends[] = { "unclaim", "requeue", "ack", "ack",
		"ack", "ack", "ack", "ack" };

	c->end = ends[soak_below(8)];
	if (strcmp(c->end, "unclaim") == 0)
		peer_tell(&c->peer, "unclaim " QUEUE);
	else
		peer_tell(&c->peer, "%s " QUEUE " %d", c->end,
			soak_patience_ms());
	c->doing = GIVES;
}

/* It was given an item.  The others had not lost that before. */
static void hear_claimed(struct contender *c)
{
	const struct item *item = item_of(c->item);

	ck_assert_msg(item->gone == 0 || item->foreign || item->when > c->asked,
		"%d is handed out, and was acknowledged before", c->item);
	for (int i = 0; i < SOAK_COUNT; i++) {
		struct contender *d = &soak.contenders[i];

		if (d != c && d->doing == HOLDS &&
			strcmp(d->node, c->node) == 0 && d->item == c->item)
			d->rivaled = true;
	}
	c->rivaled = false;
	soak_hold(c);
	if (soak.closing || soak_below(8))
		c->until_ms = test_now_ms() + soak_below(10);
}

static void hear_end(struct contender *c)
{
	struct item *item = item_of(c->item);
	bool acks = strcmp(c->end, "ack") == 0;

	c->node[0] = '\0';
	if (acks && soak_said(c, "acked")) {
		item_gone(c->item);
		item->when = ++now;
	} else if (acks && soak_said(c, "unknown")) {
		item->unsure = true;
	}
	soak.losses += soak_said(c, "lost");
	soak_rest(c, true);
}

static void answer(struct contender *c)
{
	int count = c->to - c->from;

	if (!claims(c)) {
		ck_assert(soak_said(c, "ok") ||
			sscanf(c->peer.reply, "supplied %d", &count) == 1);
		items_put(c, count);
		soak_rest(c, count > 0);
	} else if (c->doing == SAYS) {
		ck_assert_msg(soak_said(c, "lost"),
			"%d has %s, and another was given it", c->number,
			c->node);
		c->rivaled = false;
		c->until_ms = 0;
		c->doing = HOLDS;
		soak.looks++;
	} else if (c->doing == GIVES) {
		hear_end(c);
	} else if (sscanf(c->peer.reply, "claimed %d %63s", &c->item,
			   c->node) == 2) {
		hear_claimed(c);
	} else {
		soak_rest(c, false);
	}
}

/* It may have been about to acknowledge. */
static void killed(const struct contender *c)
{
	if (c->doing == GIVES && claims(c))
		item_of(c->item)->unsure |= strcmp(c->end, "ack") == 0;
}

static bool over(const char *server)
{
	for (int i = 0; i < SOAK_COUNT; i++)
		if (!claims(&soak.contenders[i]) &&
			soak.contenders[i].doing != RESTS)
			return false;
	if (!drained)
		drained = soak_empty(server, ENTRIES);
	return drained && soak_all_rest();
}

/* Whoever is killed leaves its receipt. */
static void verdict(const char *server)
{
	test_within(soak_empty(server, ENTRIES) && soak_empty(server, TAKEN),
		PATIENCE_MS);
	ck_assert_int_le(raw_count_children(server, RECEIPTS),
		soak.killed_ours);
	items_verdict(true);
}

const struct soak_scene soak_claims = {
	.name = "claims",
	.kinds = { PEER_KUSTOS, PEER_KUSTOS, PEER_KUSTOS, PEER_KAZOO,
		PEER_KUSTOS },
	.spares_servers = true,
	.line = ENTRIES,
	.prepare = prepare,
	.ask = ask,
	.answer = answer,
	.look = look,
	.give = give,
	.killed = killed,
	.over = over,
	.verdict = verdict,
};
