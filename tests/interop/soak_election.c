/*
 * soak_election.c - the latch, with Curator's; and the selector, with Curator's
 * and kazoo's.  While one of ours says that it leads, its node is the first of
 * the line.  Every other term of ours ends with a hand-over to the next one.
 */
#include "soak_line.h"

#include <stdio.h>

#define LINE "/election"

static int64_t last_term;
static int yields, handed; /* hand-overs: begun, and certainly done */

static void prepare(const char *server)
{
	last_term = yields = handed = 0;
	line_prepare(server, LINE);
}

/* A selector that has lost its leadership does not stand in line again; a latch
   of Curator's or a thread of kazoo's may have given up. */
static int patience_ms(const struct contender *c)
{
	return soak.scene == &soak_latch && soak_is_ours(c)
		? soak_patience_ms()
		: 1 + soak_below(2 * SOAK_SESSION_MS);
}

static void ask(struct contender *c)
{
	if (soak.closing)
		return;
	peer_tell(&c->peer, "elect " LINE " c%d %s", c->number,
		soak.scene == &soak_latch ? "latch" : "select");
	peer_tell(&c->peer, "leads " LINE " %d", patience_ms(c));
	c->doing = WAITS;
}

static void look(struct contender *c)
{
	if (!soak_is_ours(c) || !line_look(c, LINE))
		return;
	peer_tell(&c->peer, "term " LINE);
	c->doing = SAYS;
}

/* Ours may hand over to the next one before. */
static void give(struct contender *c)
{
	if (soak_is_ours(c) && soak_below(2)) {
		peer_tell(&c->peer, "yield " LINE " %d", soak_patience_ms());
		yields++;
	}
	peer_tell(&c->peer, "resign " LINE);
	c->doing = GIVES;
}

/* It was asked for its term.  If that is a new one, it may have begun after the
   look. */
static void hear_term(struct contender *c)
{
	long long term;

	c->doing = HOLDS;
	if (soak_said(c, "lost")) {
		soak.losses++;
		c->until_ms = 0;
		return;
	}
	ck_assert_msg(sscanf(c->peer.reply, "term %lld", &term) == 1,
		"it said \"%s\"", c->peer.reply);
	soak.losses += c->term != 0 && c->term != term;
	if (c->term == term)
		line_judge_first(c, term);
	c->term = term;
	ck_assert(term >= last_term);
	last_term = term;
}

static void answer(struct contender *c)
{
	if (c->doing == SAYS) {
		hear_term(c);
	} else if (c->doing == WAITS && soak_said(c, "leads")) {
		c->term = 0;
		c->served = true;
		soak_hold(c);
	} else if (c->doing == WAITS && soak_said(c, "no")) {
		c->served = false;
		give(c);
	} else if (soak_said(c, "resigned")) {
		soak_rest(c, c->served);
	} else {
		handed += soak_said(c, "yielded success");
	}
}

static void verdict(const char *server)
{
	fprintf(stderr, "%s: %d of %d hand-overs done\n", soak.scene->name,
		handed, yields);
	line_end();
	test_within(raw_count_children(server, LINE) == 0, PATIENCE_MS);
}

#define ELECTION                                                        \
	.line = LINE, .prepare = prepare, .ask = ask, .answer = answer, \
	.look = look, .give = give, .verdict = verdict

const struct soak_scene soak_latch = { .name = "latch",
	.kinds = { PEER_KUSTOS, PEER_CURATOR, PEER_KUSTOS, PEER_CURATOR,
		PEER_KUSTOS },
	ELECTION };
const struct soak_scene soak_selector = { .name = "selector",
	.kinds = { PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO, PEER_KUSTOS,
		PEER_KUSTOS },
	ELECTION };
