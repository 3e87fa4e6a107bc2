/* barrier_rules.c - track the barriers' nodes, and check how calls end. */
#include "barrier_actor.h"

#include "model_impl.h"
#include "muster_rule.h"
#include "sim_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shared *bar_shared(struct sim *sim)
{
	return sim_state(sim);
}

struct actor *bar_actor_of(struct sim *sim, int index)
{
	return sim_actor_state(sim, index);
}

/* The nodes */

/* Somebody has deleted "ready".  A member may have gone in by its own count, as
   its time was over, while another was the first to write "ready".  It then
   never learns which members "ready" named. */
static void tamper(struct sim *sim)
{
	struct shared *s = bar_shared(sim);

	s->tampered = true;
	for (int i = 0; i < s->members; i++)
		bar_actor_of(sim, i)->told = 0;
}

void bar_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value)
{
	struct shared *s = bar_shared(sim);

	ledger_note(&s->ledger, what, client, path, value);
	if (what == NOTE_FAULT && client < 0 && path != NULL &&
		strcmp(path, READY) == 0)
		tamper(sim);
}

static void count_them(struct shared *s, int64_t zxid)
{
	int there = 0;

	for (int i = 0; i < s->node_count; i++)
		there += s->nodes[i].there;
	for (int i = 0; there >= s->count && i < s->node_count; i++)
		if (s->nodes[i].there && s->nodes[i].full == 0)
			s->nodes[i].full = zxid;
}

static void add_node(struct shared *s, const char *path, int64_t zxid,
	int64_t owner)
{
	s->nodes = sim_room(s->nodes, s->node_count, &s->node_room,
		sizeof(*s->nodes));
	struct spot *node = &s->nodes[s->node_count++];
	memset(node, 0, sizeof(*node));
	snprintf(node->path, sizeof(node->path), "%s", path);
	node->there = true;
	node->czxid = zxid;
	node->actor = ledger_client(&s->ledger, owner, -1);
	count_them(s, zxid);
}

/* "ready" names the transaction up to which the members of a round came.  A
   member that belongs to the round by that, and still waits to go in, goes in
   with this round or with a later one. */
static void hear_ready(struct sim *sim)
{
	struct shared *s = bar_shared(sim);
	char text[KU_MUSTER_TEXT_SIZE] = "";

	if (!model_data(sim_model(sim), READY, text, sizeof(text)))
		return;
	int64_t told = ku_muster_parse(text, (int)strlen(text), INT64_MAX);
	for (int i = 0; i < s->node_count; i++) {
		const struct spot *node = &s->nodes[i];

		if (!node->there || node->actor < 0 || node->czxid > told)
			continue;
		struct actor *a = bar_actor_of(sim, node->actor);
		if (a->phase == ENTERING && i >= a->first_node &&
			(a->told < node->czxid || told < a->told))
			a->told = told;
	}
}

void bar_change(struct sim *sim, enum model_change_kind kind, const char *path,
	int64_t zxid, int64_t owner, int64_t parent_czxid, bool sequential)
{
	struct shared *s = bar_shared(sim);
	bool created = kind == CHANGE_CREATE;

	(void)parent_czxid;
	(void)sequential;
	if (kind != CHANGE_DELETE && strcmp(path, READY) == 0)
		hear_ready(sim);
	if (kind == CHANGE_SET)
		return;
	if (strcmp(path, GATE) == 0) {
		s->gate_there = created;
		if (created)
			s->gate_made_at = sim_now(sim);
	} else if (strcmp(path, READY) == 0) {
		s->ready_there = created;
	} else if (strncmp(path, STEP "/", strlen(STEP "/")) != 0) {
		return;
	} else if (created) {
		add_node(s, path, zxid, owner);
	} else {
		for (int i = 0; i < s->node_count; i++)
			if (strcmp(s->nodes[i].path, path) == 0)
				s->nodes[i].there = false;
	}
}

/* The actor's nodes no longer count. */
void bar_part(struct actor *a)
{
	struct shared *s = bar_shared(a->it.sim);

	for (int i = 0; i < s->node_count; i++)
		if (s->nodes[i].actor == a->it.index)
			s->nodes[i].parting = true;
}

/* How it ends */

static bool may_end(const struct ask *call, enum kustos_err err)
{
	return ask_may_end(call, err) ||
		(err == KUSTOS_EBUSY && call->deadline == KUSTOS_NOW);
}

void bar_call_over(struct actor *a, struct ask *call, const char *what,
	enum kustos_err err)
{
	sim_say(a->it.sim, a->it.index, what, kustos_err_name(err), 0);
	if (!may_end(call, err))
		sim_fail(a->it.sim, "end", "%s of %d: %s", what, a->it.index,
			kustos_err_name(err));
	ask_end(call, what);
}

/* Return the last node of this call that was part of a complete round, or
   NULL. */
static struct spot *full_node(struct actor *a)
{
	struct shared *s = bar_shared(a->it.sim);

	for (int i = s->node_count - 1; i >= a->first_node; i--)
		if (s->nodes[i].actor == a->it.index && s->nodes[i].full != 0)
			return &s->nodes[i];
	return NULL;
}

void bar_entered(void *arg, enum kustos_err err)
{
	struct actor *a = arg;
	struct shared *s = bar_shared(a->it.sim);

	bar_call_over(a, &a->step, "entered", err);
	a->phase = err == KUSTOS_OK ? IN : OUT;
	s->figures[err == KUSTOS_OK ? FIGURE_IN : FIGURE_GAVE_UP]++;
	const struct spot *own = full_node(a);
	a->round = own != NULL ? own->full : 0;
	if (err != KUSTOS_OK)
		bar_part(a);
	else if (own == NULL)
		sim_fail(a->it.sim, "in together",
			"%d is in before all were there", a->it.index);
}

void bar_left(void *arg, enum kustos_err err)
{
	struct actor *a = arg;
	struct shared *s = bar_shared(a->it.sim);

	/* KUSTOS_ELOST: it went in as its time was over, without telling the
	   others. */
	if (err == KUSTOS_ELOST)
		s->figures[FIGURE_LOST]++;
	bar_call_over(a, &a->step, "left",
		err == KUSTOS_ELOST ? KUSTOS_OK : err);
	a->phase = OUT;
	s->figures[err == KUSTOS_OK ? FIGURE_OUT : FIGURE_GAVE_UP]++;
	for (int i = 0; err == KUSTOS_OK && i < s->node_count; i++) {
		const struct spot *node = &s->nodes[i];

		if (node->there && !node->parting &&
			(node->full == a->round || node->czxid <= a->told) &&
			node->actor != a->it.index)
			sim_fail(a->it.sim, "out together",
				"%d is out, but not %d: %s", a->it.index,
				node->actor, node->path);
	}
	bar_part(a);
	a->served = a->served || (a->late && err == KUSTOS_OK);
}

void bar_passed(void *arg, enum kustos_err err)
{
	struct actor *a = arg;
	struct shared *s = bar_shared(a->it.sim);

	bar_call_over(a, &a->wait, "passed", err);
	if (err != KUSTOS_OK)
		return;
	s->figures[FIGURE_PASSED]++;
	if (s->gate_there &&
		s->gate_made_at <
			a->wait.began - subjects_known_ns(a->it.sim, KNOWN_NS))
		sim_fail(a->it.sim, "open", "%d passes, and it is closed",
			a->it.index);
}
