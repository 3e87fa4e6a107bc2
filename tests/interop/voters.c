/*
 * voters.c - processes that take part in one election.
 */
#include "voters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ids[VOTERS_MAX] = { "ann", "bob", "carl", "dora",
	"eve", "fred" };

void voters_elect(struct voters *v, int i)
{
	peer_do(&v->peers[i], "ok", "elect " VOTERS_LINE " %s %s", ids[i],
		v->how);
	v->line[v->in_line++] = i;
	line_await(VOTERS_LINE, v->in_line);
}

int voters_take_first(struct voters *v)
{
	int first = v->line[0];

	v->in_line--;
	memmove(v->line, v->line + 1, sizeof(*v->line) * (size_t)v->in_line);
	return first;
}

int voters_resign(struct voters *v)
{
	int first = voters_take_first(v);

	peer_do(&v->peers[first], "resigned", "resign " VOTERS_LINE);
	return first;
}

void voters_enter(struct voters *v, const enum peer_kind *kinds, int first,
	int count, const char *how, int session_ms)
{
	enum peer_kind in_turns[VOTERS_MAX] = { PEER_KUSTOS };
	int kind_count = 0;

	memset(v, 0, sizeof(*v));
	v->count = count;
	v->how = how;
	while (kinds[kind_count] != PEER_KINDS)
		kind_count++;
	ck_assert_int_gt(kind_count, 0);
	for (int i = 0; i < count; i++)
		in_turns[i] = kinds[(first + i) % kind_count];
	peers_start(v->peers, in_turns, count, session_ms);
	for (int i = 0; i < count; i++)
		voters_elect(v, i);
}

void voters_look(struct voters *v)
{
	struct peer *p = &v->peers[0];
	char count[16], *rest = NULL;

	line_await(VOTERS_LINE, v->in_line);
	snprintf(count, sizeof(count), "%d", v->in_line);
	peer_do(p, count, "candidates " VOTERS_LINE);
	(void)strtok_r(p->reply, " ", &rest);
	(void)strtok_r(NULL, " ", &rest); /* the leader, named first */
	for (int i = 0; i < v->in_line; i++) {
		const char *word = strtok_r(NULL, " ", &rest);

		ck_assert_ptr_nonnull(word);
		for (int k = 0; k < v->count; k++)
			if (strcmp(word, ids[k]) == 0)
				v->line[i] = k;
	}
}

void voters_agree(struct voters *v)
{
	char count[16], all[256];
	size_t len;

	line_await(VOTERS_LINE, v->in_line);
	peer_do(&v->peers[v->line[0]], "leads", "leads " VOTERS_LINE " 30000");
	for (int i = 1; i < v->in_line; i++)
		peer_do(&v->peers[v->line[i]], "no", "leads " VOTERS_LINE " 0");
	snprintf(count, sizeof(count), "%d", v->in_line);
	len = (size_t)snprintf(all, sizeof(all), "%s %s", count,
		ids[v->line[0]]);
	for (int i = 0; i < v->in_line; i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, " %s",
			ids[v->line[i]]);
	for (int i = 0; i < v->count; i++) {
		struct peer *p = &v->peers[i];

		if (p->child.pid == 0)
			continue; /* it was killed */
		peer_do(p, count, "candidates " VOTERS_LINE);
		ck_assert_msg(strcmp(p->reply, all) == 0,
			"%s says \"%s\" and not \"%s\"", peer_name(p->kind),
			p->reply, all);
	}
}

void voters_take_turns(struct voters *v)
{
	voters_agree(v);
	for (int i = 0; i < v->count; i++) {
		int first = voters_resign(v);

		voters_agree(v);
		voters_elect(v, first);
		voters_agree(v);
	}
	while (v->in_line > 1) {
		voters_resign(v);
		voters_agree(v);
	}
	voters_resign(v);
	line_await(VOTERS_LINE, 0);
}

int64_t voters_kill(struct voters *v, int session_ms)
{
	struct peer *dead = &v->peers[voters_take_first(v)];
	struct peer *next = &v->peers[v->line[0]];
	int64_t killed_ns = test_now_us() * 1000;
	int64_t led_ns;

	peer_kill(dead);
	peer_do(next, "leads", "leads " VOTERS_LINE " 30000");
	led_ns = strtoll(next->reply + strlen("leads "), NULL, 10);
	/* Clients send something every third of the timeout, so a session
	   cannot end earlier after the kill. */
	ck_assert_int_gt(led_ns, killed_ns + session_ms * INT64_C(500000));
	return (led_ns - killed_ns) / 1000000;
}
