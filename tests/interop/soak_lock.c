/*
 * soak_lock.c - the mutex, and the read/write lock.
 */
#include "soak_line.h"

#include <stdio.h>
#include <string.h>

#define LINE "/line"

static bool shared;
static int64_t last_token;

static void prepare(const char *server)
{
	shared = soak.scene == &soak_rwlock;
	last_token = 0;
	line_prepare(server, LINE);
}

static void ask(struct contender *c)
{
	if (soak.closing)
		return;
	/* kazoo's readers wait for later writers, and so perhaps for ever. */
	c->side = !shared				      ? ""
		: c->peer.kind != PEER_KAZOO && soak_below(2) ? "read"
							      : "write";
	peer_tell(&c->peer, "acquire " LINE " %d %s", soak_patience_ms(),
		c->side);
	c->doing = WAITS;
}

static void look(struct contender *c)
{
	if (!soak_is_ours(c) || !line_look(c, LINE))
		return;
	peer_tell(&c->peer, "node " LINE " %s", c->side);
	c->doing = SAYS;
}

static void give(struct contender *c)
{
	peer_tell(&c->peer, "release " LINE " %s", c->side);
	c->doing = GIVES;
}

static bool read_together(const char *name, const char *other)
{
	return strstr(name, "__READ__") != NULL &&
		strstr(other, "__READ__") != NULL;
}

/* It was asked which node it has. */
static void hear_node(struct contender *c)
{
	char name[256];
	long long token;

	c->doing = HOLDS;
	if (soak_said(c, "lost")) {
		soak.losses++;
		c->until_ms = 0;
		return;
	}
	ck_assert_msg(sscanf(c->peer.reply, "node " LINE "/%255s %lld", name,
			      &token) == 2,
		"it said \"%s\"", c->peer.reply);
	line_judge(c, name, 1, read_together);
	if (strcmp(c->side, "read") == 0)
		return;
	ck_assert(token >= last_token);
	last_token = token;
}

static void answer(struct contender *c)
{
	if (c->doing == SAYS)
		hear_node(c);
	else if (c->doing == WAITS && soak_said(c, "acquired"))
		soak_hold(c);
	else
		soak_rest(c, c->doing == GIVES);
}

static void verdict(const char *server)
{
	line_end();
	test_within(raw_count_children(server, LINE) == 0, PATIENCE_MS);
}

#define LOCK                                                            \
	.kinds = { PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO, PEER_KUSTOS,  \
		PEER_KUSTOS },                                          \
	.line = LINE, .prepare = prepare, .ask = ask, .answer = answer, \
	.look = look, .give = give, .verdict = verdict

const struct soak_scene soak_mutex = { .name = "mutex", LOCK };
const struct soak_scene soak_rwlock = { .name = "rwlock", LOCK };
