/*
 * soak_queue.c - a queue whose items are taken at most once: each item that was
 * certainly put is taken, and none is taken twice.
 *
 * Ours put and take, and one of Curator's puts.  Consumers are stopped and cut
 * off, but not killed: nobody could tell what one had taken that is killed
 * before it says so.  Curator's process takes nothing for the same reason: it
 * does not notice that it has taken an item if the answer is lost.
 *
 * Servers are not killed either, because those of 3.8.0 can lose what they have
 * confirmed then (kustos(7)), and this could not be told from a loss of ours.
 */
#include "soak_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE "/queue"
#define RECEIPTS QUEUE "-receipts"
#define AT_ONCE 4

static bool drained; /* it was seen to be empty, with no producer left */

static void prepare(const char *server)
{
	(void)server;
	drained = false;
	items_reset();
}

static bool takes(const struct contender *c)
{
	return c->number % 2 == 0;
}

static void put(struct contender *c)
{
	if (soak.closing || items_many())
		return;
	items_offer(c, soak_is_ours(c) ? 1 + soak_below(AT_ONCE) : 1);
	if (soak_is_ours(c))
		peer_tell(&c->peer, "supply simple " QUEUE " %d %d %d", c->from,
			c->to, soak_patience_ms());
	else
		peer_tell(&c->peer, "put simple " QUEUE " %d 0", c->from);
	c->doing = WAITS;
}

static void ask(struct contender *c)
{
	if (!takes(c)) {
		put(c);
		return;
	}
	peer_tell(&c->peer, "fetch simple " QUEUE " %d %d",
		1 + soak_below(AT_ONCE),
		soak_below(2) ? 30 : 1 + soak_below(SOAK_SESSION_MS / 2));
	c->doing = WAITS;
}

static void answer(struct contender *c)
{
	char *rest = NULL, *item;
	int count = 1;

	(void)strtok_r(c->peer.reply, " ", &rest);
	item = strtok_r(NULL, " ", &rest);
	if (item != NULL)
		count = atoi(item);
	if (takes(c))
		c->empty = count == 0 ? c->empty + 1 : 0;
	else
		items_put(c, count);
	while (takes(c) && (item = strtok_r(NULL, " ", &rest)) != NULL)
		item_gone(atoi(item));
	soak_rest(c, count > 0);
}

static bool may_be_killed(const struct contender *c)
{
	return !takes(c);
}

/* Consumers give up while an item is on its way to them, and get it with the
   next call.  So each has to find nothing, twice, after the queue was empty. */
static bool over(const char *server)
{
	for (int i = 0; i < SOAK_COUNT; i++) {
		struct contender *c = &soak.contenders[i];

		if (!takes(c) && c->doing != RESTS)
			return false;
		if (!drained)
			c->empty = 0;
		else if (takes(c) && c->empty < 2)
			return false;
	}
	if (drained)
		return true;
	drained = soak_empty(server, QUEUE);
	return false;
}

/* Whoever is killed leaves its receipt. */
static void verdict(const char *server)
{
	test_within(soak_empty(server, QUEUE), PATIENCE_MS);
	ck_assert_int_le(raw_count_children(server, RECEIPTS),
		soak.killed_ours);
	items_verdict(false);
}

const struct soak_scene soak_queue = {
	.name = "queue",
	.kinds = { PEER_KUSTOS, PEER_KUSTOS, PEER_KUSTOS, PEER_CURATOR,
		PEER_KUSTOS },
	.spares_servers = true,
	.line = QUEUE,
	.prepare = prepare,
	.ask = ask,
	.answer = answer,
	.may_be_killed = may_be_killed,
	.over = over,
	.verdict = verdict,
};
