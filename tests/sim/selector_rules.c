/* selector_rules.c - track the nodes in the lines, and check the rules. */
#include "model_impl.h"
#include "selector_actor.h"
#include "sim_impl.h"

/* How soon a function is asked to return. */
#define ASKED_NS (5 * KU_NS_PER_MS)

const char *const sel_lines[LINES] = { PREFIX "/a", PREFIX "/b" };

/* Is the term certainly alive, by the client's own clock? */
static bool is_sure(const struct chief *c)
{
	const struct actor *a = c->actor;

	return !a->it.gone && !a->it.closing && subject_sure(&a->it) &&
		a->it.client->session.epoch == c->epoch && !c->cautious;
}

/* A node is deleted by its owner: no function may be running in its term. */
static void check_kept(struct sim *sim, const struct post *post)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = sel_actor_of(sim, i);

		for (int k = 0; k < CHIEFS; k++) {
			const struct chief *c = &a->chiefs[k];

			if (c->leads && c->token == post->term && is_sure(c))
				sim_fail(sim, "kept", "%d leads, and %s goes",
					c->number, post->path);
		}
	}
}

void sel_change(struct sim *sim, enum model_change_kind kind, const char *path,
	int64_t zxid, int64_t owner, int64_t parent_czxid, bool sequential)
{
	struct shared *s = sel_shared(sim);
	int line = posts_line(sel_lines, path);
	struct post *post = NULL;
	enum fate fate = FATE_THERE;

	(void)parent_czxid;
	(void)sequential;
	if (line >= 0 && kind == CHANGE_CREATE)
		posts_add(&s->posts, path, line, zxid, owner);
	else if (line >= 0 && kind == CHANGE_DELETE)
		post = posts_remove(&s->posts, &s->ledger, path, &fate);
	if (post != NULL)
		posts_note_heir(sim, &s->posts, post);
	if (post != NULL && !post->outside && fate == FATE_DELETED)
		check_kept(sim, post);
}

void sel_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value)
{
	ledger_note(&sel_shared(sim)->ledger, what, client, path, value);
	posts_note(&sel_shared(sim)->posts, what, path, value);
}

/* Rules */

void sel_check_begin(struct chief *c)
{
	struct sim *sim = c->actor->it.sim;
	struct shared *s = sel_shared(sim);
	const struct post *post = posts_of(&s->posts, c->token);

	if (c->leads)
		sim_fail(sim, "terms", "%d leads already", c->number);
	else if (post == NULL || post->line != c->line)
		sim_fail(sim, "one leader", "%d leads, without a node",
			c->number);
	else if (c->token <= s->granted[c->line] && !post->outside &&
		kustos_selector_leads(c->selector))
		sim_fail(sim, "term", "%d: %lld after %lld", c->number,
			(long long)c->token, (long long)s->granted[c->line]);
	if (s->granted[c->line] < c->token)
		s->granted[c->line] = c->token;
}

/* Check a chief that says that it leads. */
static void check_leader(struct sim *sim, const struct chief *c)
{
	struct shared *s = sel_shared(sim);
	const struct post *post = posts_of(&s->posts, c->token);
	const struct post *before;

	if (post == NULL || post->outside)
		return;
	before = posts_first(&s->posts, c->line, post->owner);
	if (!post->there)
		sim_fail(sim, "one leader", "%d leads, and %s is gone",
			c->number, post->path);
	else if (before != NULL && before->term < post->term)
		sim_fail(sim, "one leader", "%d leads, behind %s", c->number,
			before->path);
}

/* A term is over: check that its function is asked to return. */
static void check_asked(struct sim *sim, struct chief *c)
{
	if (kustos_cancel_fired(c->cancel) ||
		sim_paused(sim, c->actor->it.index)) {
		c->silent_since = 0;
		return;
	}
	if (c->silent_since == 0)
		c->silent_since = sim_now(sim);
	if (sim_now(sim) - c->silent_since > ASKED_NS)
		sim_fail(sim, "asked",
			"%d leads no more, and was not asked to return",
			c->number);
}

static const char *check_chiefs(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = sel_actor_of(sim, i);

		for (int k = 0; k < CHIEFS; k++) {
			struct chief *c = &a->chiefs[k];

			if (!c->leads || a->leaves)
				continue;
			if (subject_sure(&a->it) &&
				kustos_selector_leads(c->selector)) {
				check_leader(sim, c);
				c->silent_since = 0;
			} else if (!c->closed) {
				check_asked(sim, c);
			}
		}
	}
	return NULL;
}

static bool is_left(struct sim *sim, int line)
{
	return posts_first(&sel_shared(sim)->posts, line, 0) != NULL;
}

static const char *final_posts(struct sim *sim)
{
	for (int i = 0; i < LINES; i++)
		if (is_left(sim, i))
			return "a node is left";
	return NULL;
}

static const char *final_errands(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++)
		if (sel_actor_of(sim, i)->errands != 0)
			return "an errand never ended";
	return NULL;
}

const struct sim_invariant sel_rules[SELECTOR_RULE_COUNT] = {
	{ "one leader", check_chiefs, NULL },
	{ "ends once", NULL, final_errands },
	{ "orphan", NULL, final_posts },
};

/* The end */

/* Has each selector that stands in line again by itself led several times?  And
   is each other one idle? */
static bool all_served(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = sel_actor_of(sim, i);

		for (int k = 0; k < CHIEFS; k++) {
			const struct chief *c = &a->chiefs[k];

			if (c->selector == NULL || c->closed)
				continue;
			if (c->requeues ? c->served < 3 : c->to_come > 0)
				return false;
		}
	}
	return true;
}

bool sel_settled(struct sim *sim)
{
	struct shared *s = sel_shared(sim);

	if (!s->closing && !all_served(sim))
		return false;
	s->closing = true;
	if (!subjects_close(sim))
		return false;
	return !is_left(sim, 0) && !is_left(sim, 1);
}

void sel_end(struct sim *sim)
{
	struct shared *s = sel_shared(sim);

	figures_keep(s->figures, SELECTOR_FIGURES);
	posts_free(&s->posts);
	ledger_free(&s->ledger);
}
