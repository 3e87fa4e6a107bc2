/*
 * soak_semaphore.c - the semaphore.  kazoo's does not take part: its nodes have
 * another place, so neither would see the other.
 */
#include "soak_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEM "/semaphore"
#define LEASES SEM "/leases"
#define LOCKS SEM "/locks"
#define MAX 3

static void prepare(const char *server)
{
	line_prepare(server, SEM);
}

static void ask(struct contender *c)
{
	/* Curator takes several one by one, keeps what it has, and so may wait
	   for another who waits for it. */
	int count = soak_is_ours(c) ? 1 + soak_below(MAX) : 1;

	if (soak.closing)
		return;
	peer_tell(&c->peer, "lease " SEM " %d %d %d", MAX, count,
		soak_patience_ms());
	c->doing = WAITS;
}

static void look(struct contender *c)
{
	if (!soak_is_ours(c) || !line_look(c, LEASES))
		return;
	peer_tell(&c->peer, "leases " SEM);
	c->doing = SAYS;
}

static void give(struct contender *c)
{
	peer_tell(&c->peer, "return " SEM);
	c->doing = GIVES;
}

/* It was asked which nodes it has. */
static void hear_leases(struct contender *c)
{
	char *rest = NULL;
	int count;

	c->doing = HOLDS;
	if (soak_said(c, "lost")) {
		soak.losses++;
		c->until_ms = 0;
		return;
	}
	ck_assert_msg(soak_said(c, "leases"), "it said \"%s\"", c->peer.reply);
	(void)strtok_r(c->peer.reply, " ", &rest);
	count = atoi(strtok_r(NULL, " ", &rest));
	ck_assert_int_gt(count, 0);
	while (count-- > 0)
		line_judge(c, strtok_r(NULL, " ", &rest), MAX, NULL);
}

static void answer(struct contender *c)
{
	if (c->doing == SAYS)
		hear_leases(c);
	else if (c->doing == WAITS && soak_said(c, "leased"))
		soak_hold(c);
	else
		soak_rest(c, c->doing == GIVES);
}

static void verdict(const char *server)
{
	line_end();
	test_within(soak_empty(server, LEASES) && soak_empty(server, LOCKS),
		PATIENCE_MS);
}

const struct soak_scene soak_semaphore = {
	.name = "semaphore",
	.kinds = { PEER_KUSTOS, PEER_CURATOR, PEER_KUSTOS, PEER_CURATOR,
		PEER_KUSTOS },
	.line = LEASES,
	.prepare = prepare,
	.ask = ask,
	.answer = answer,
	.look = look,
	.give = give,
	.verdict = verdict,
};
