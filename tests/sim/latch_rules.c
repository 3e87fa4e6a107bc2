/*
 * latch_rules.c - track the nodes in the lines, and check the rules about
 * latches that lead.  Nodes are ordered by their creation, not by the numbers
 * in their names.
 */
#include "latch_actor.h"
#include "model_impl.h"
#include "sim_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How soon the program is told of an end.  Nothing may delay that. */
#define TOLD_NS (5 * KU_NS_PER_MS)

const char *const latch_lines[LINES] = { PREFIX "/a", PREFIX "/b" };

/* A node is deleted by its owner: its latch must have told the program before,
   unless its lease had ended. */
static void check_stopped(struct sim *sim, const struct post *post)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = latch_actor_of(sim, i);

		for (int k = 0; k < CANDIDATES; k++) {
			struct candidate *c = &a->candidates[k];

			if (c->latch == NULL || c->closing ||
				c->gains == c->losses || c->post != post)
				continue;
			if (subject_sure(&a->it) &&
				a->it.client->session.epoch == c->epoch &&
				!post->touched && !c->cautious)
				sim_fail(sim, "told",
					"%s has not been told, and %s goes",
					c->id, post->path);
		}
	}
}

/* Return the line of a candidate's node, or -1. */
static int line_of(const struct shared *s, const char *path)
{
	if (!s->one_node)
		return posts_line(latch_lines, path);
	for (int i = 0; i < LINES; i++)
		if (strcmp(path, latch_lines[i]) == 0)
			return i;
	return -1;
}

/* In an election of one node: was a node deleted from outside so recently that
   its owner may not know yet?  It may write to the next owner's node, and
   delete it. */
static bool is_doubtful(struct sim *sim, int line)
{
	const struct shared *s = latch_shared(sim);

	return s->one_node && s->removed[line] != 0 &&
		sim_now(sim) <= s->removed[line] + TIMEOUT_NS;
}

static void add_post(struct sim *sim, const char *path, int line, int64_t zxid,
	int64_t owner)
{
	struct shared *s = latch_shared(sim);

	posts_add(&s->posts, path, line, zxid, owner);
	post_of(s, zxid)->touched = is_doubtful(sim, line);
	latch_made(sim, owner);
}

static void remove_post(struct sim *sim, const char *path)
{
	struct shared *s = latch_shared(sim);
	enum fate fate;
	struct post *post = posts_remove(&s->posts, &s->ledger, path, &fate);

	if (post != NULL && fate == FATE_REMOVED) {
		s->removed[post->line] = sim_now(sim);
	} else if (post != NULL && is_doubtful(sim, post->line)) {
		/* Then the owner of this node may not know it, either. */
		s->removed[post->line] = sim_now(sim);
		post->outside = true;
	}
	ledger_gone(&s->ledger);
	if (post != NULL)
		posts_note_heir(sim, &s->posts, post);
	if (post != NULL && !post->outside && fate == FATE_DELETED)
		check_stopped(sim, post);
}

void latch_change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential)
{
	int line = line_of(latch_shared(sim), path);

	(void)parent_czxid;
	(void)sequential;
	if (line < 0)
		return;
	if (kind == CHANGE_CREATE)
		add_post(sim, path, line, zxid, owner);
	else if (kind == CHANGE_DELETE)
		remove_post(sim, path);
}

void latch_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value)
{
	ledger_note(&latch_shared(sim)->ledger, what, client, path, value);
	posts_note(&latch_shared(sim)->posts, what, path, value);
}

/* Rules */

int64_t latch_term_of(const struct candidate *c)
{
	const struct actor *a = c->actor;

	if (c->latch == NULL || a->it.gone || a->it.closing ||
		!subject_sure(&a->it))
		return 0;
	return kustos_latch_term(c->latch);
}

void latch_check_loss(struct candidate *c)
{
	const struct actor *a = c->actor;
	const struct post *post = c->post;

	if (post->there && !post->touched && subject_sure(&a->it) &&
		a->it.client->session.epoch == c->epoch && !c->closing &&
		!c->handing && !c->cautious)
		sim_fail(a->it.sim, "reason",
			"%s was told of a loss for nothing", c->id);
}

/* Return the first node before "post" of another session, or NULL.  A node that
   the client itself has given up no longer counts for it, even while it still
   exists. */
static struct post *post_before(struct shared *s, const struct post *post)
{
	struct post *first = posts_first(&s->posts, post->line, post->owner);

	return first != NULL && first->term < post->term ? first : NULL;
}

/* Check a latch that says that it leads. */
static void check_leader(struct candidate *c, int64_t term)
{
	struct sim *sim = c->actor->it.sim;
	struct shared *s = latch_shared(sim);
	struct post *post = post_of(s, term);
	struct post *before = post != NULL ? post_before(s, post) : NULL;

	if (post == NULL || post->line != c->line)
		sim_fail(sim, "one leader", "%s leads, without a node", c->id);
	else if (post->outside)
		return;
	else if (!post->there)
		sim_fail(sim, "one leader", "%s leads, and %s is gone", c->id,
			post->path);
	else if (before != NULL)
		sim_fail(sim, "one leader", "%s leads, behind %s", c->id,
			before->path);
	else if (term != c->believed &&
		(c->resumes ? term < s->granted[c->line]
			    : term <= s->granted[c->line]))
		sim_fail(sim, "term", "%s: %lld after %lld", c->id,
			(long long)term, (long long)s->granted[c->line]);
	if (term != c->believed && post != NULL)
		post->led_zxid = model_zxid(sim_model(sim));
	if (s->granted[c->line] < term)
		s->granted[c->line] = term;
	c->believed = term;
}

static const char *check_leaders(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = latch_actor_of(sim, i);
		int leaders[LINES] = { 0 };

		for (int k = 0; k < CANDIDATES; k++) {
			struct candidate *c = &a->candidates[k];
			int64_t term = latch_term_of(c);

			if (term == 0)
				continue;
			check_leader(c, term);
			if (leaders[c->line]++ > 0)
				return "two of one client lead";
		}
	}
	return NULL;
}

static const char *check_told(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = latch_actor_of(sim, i);

		for (int k = 0; k < CANDIDATES; k++) {
			struct candidate *c = &a->candidates[k];
			bool knows = c->latch == NULL || c->closing ||
				c->gains == c->losses || a->it.closing ||
				latch_term_of(c) == c->token;

			if (knows || sim_paused(sim, i)) {
				c->silent_since = 0;
				continue;
			}
			if (c->silent_since == 0)
				c->silent_since = sim_now(sim);
			if (sim_now(sim) - c->silent_since > TOLD_NS)
				return "it leads no more, and was not told";
		}
	}
	return NULL;
}

static const char *final_errands(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++)
		if (latch_actor_of(sim, i)->errands != 0)
			return "an errand never ended";
	return NULL;
}

const struct sim_invariant latch_rules[LATCH_RULE_COUNT] = {
	{ "one leader", check_leaders, NULL },
	{ "told", check_told, NULL },
	{ "ends once", NULL, final_errands },
};

/* The end */

/* Is the line settled?  Each candidate has a node (in an election of one node,
   one candidate has it), and there are no other nodes.  The first leads, has
   been told so, and nobody else has written into its node since. */
static bool line_settled(struct sim *sim, int line)
{
	struct shared *s = latch_shared(sim);
	struct post *first = post_first(s, line);
	int posts = 0, candidates = 0, leaders = 0;

	for (int i = 0; i < s->posts.count; i++)
		posts += s->posts.list[i]->there &&
			s->posts.list[i]->line == line;
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = latch_actor_of(sim, i);

		for (int k = 0; k < CANDIDATES; k++) {
			struct candidate *c = &a->candidates[k];

			if (c->latch == NULL || c->line != line)
				continue;
			candidates++;
			leaders += first != NULL && !first->seized &&
				c->gains > c->losses && c->post == first &&
				latch_term_of(c) == first->term;
		}
	}
	int some = candidates > 0;

	return posts == (s->one_node ? some : candidates) && leaders == some;
}

/* Does the observer know the first node of its line, and the node's data? */
static bool watcher_settled(struct sim *sim, const struct watcher *w)
{
	struct post *first = post_first(latch_shared(sim), w->line);
	struct kustos_stat stat;

	if (w->observer == NULL)
		return true;
	if (first == NULL || !model_stat(sim_model(sim), first->path, &stat))
		return w->told && !w->somebody;
	return w->somebody && w->term == first->term && w->mzxid == stat.mzxid;
}

static bool all_settled(struct sim *sim)
{
	for (int i = 0; i < LINES; i++)
		if (!line_settled(sim, i))
			return false;
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = latch_actor_of(sim, i);

		for (int k = 0; k < LINES; k++)
			if (!watcher_settled(sim, &a->watchers[k]))
				return false;
		if (a->errands > 0 || a->dummying || a->dummy[0] != '\0')
			return false;
	}
	return true;
}

bool latch_settled(struct sim *sim)
{
	struct shared *s = latch_shared(sim);
	bool over;

	if (!s->closing && !all_settled(sim))
		return false;
	s->closing = true;
	over = subjects_close(sim);
	for (int i = 0; i < LINES; i++)
		over = over && post_first(s, i) == NULL;
	return over;
}

static struct latch_figures last;

struct latch_figures latch_last_figures(void)
{
	return last;
}

void latch_end(struct sim *sim)
{
	struct shared *s = latch_shared(sim);

	last = s->figures;
	posts_free(&s->posts);
	ledger_free(&s->ledger);
}
