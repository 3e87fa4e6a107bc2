/* latch_crash.c - processes that die, and others that resume their sessions. */
#include "latch_actor.h"
#include "model_impl.h"
#include "sim_impl.h"

#include <string.h>

/* Is there a candidate that would take this node over after a crash? */
static bool has_heir(const struct actor *a, const struct post *post)
{
	char says[16] = "";

	(void)model_data(sim_model(a->it.sim), post->path, says, sizeof(says));
	for (int i = 0; i < CANDIDATES; i++) {
		const struct candidate *c = &a->candidates[i];

		if (c->latch != NULL && c->line == post->line &&
			strcmp(says, c->id) == 0)
			return true;
	}
	return false;
}

/* Return how many more nodes than candidates the actor has; -1 if it has a node
   that nobody would take over. */
static int surplus(const struct actor *a)
{
	const struct shared *s = latch_shared(a->it.sim);
	int more = 0;

	for (int i = 0; i < s->posts.count; i++) {
		const struct post *post = s->posts.list[i];

		if (!post->there || post->owner != a->it.client->session.id)
			continue;
		if (post->touched || !has_heir(a, post))
			return -1;
		more++;
	}
	for (int i = 0; i < CANDIDATES; i++)
		more -= a->candidates[i].latch != NULL;
	return more < 0 ? 0 : more;
}

static bool may_crash(const struct actor *a)
{
	return !a->it.gone && !a->it.closing && !sim_draining(a->it.sim) &&
		!latch_shared(a->it.sim)->one_node && a->dummy[0] == '\0' &&
		!a->dummying && surplus(a) >= 0;
}

/* Have all its candidates found their nodes again after the crash? */
static bool is_back(const struct actor *a)
{
	for (int i = 0; i < CANDIDATES; i++)
		if (a->candidates[i].resumes && a->candidates[i].gains == 0)
			return false;
	return !a->crashed;
}

bool latch_minds(struct sim *sim, int64_t owner)
{
	int index = ledger_client(&latch_shared(sim)->ledger, owner, -1);

	return index >= 0 && is_back(latch_actor_of(sim, index));
}

bool latch_crashes(const struct actor *a)
{
	return may_crash(a) &&
		sim_random_below(subject_random(&a->it), 400) == 0;
}

static void crash_due(void *arg, uint64_t index)
{
	struct actor *a = latch_actor_of(arg, (int)index);

	if (may_crash(a))
		latch_crash(a);
}

void latch_made(struct sim *sim, int64_t owner)
{
	int index = ledger_client(&latch_shared(sim)->ledger, owner, -1);
	struct actor *a = index >= 0 ? latch_actor_of(sim, index) : NULL;

	if (a != NULL && !a->it.gone && a->it.client->session.id == owner &&
		may_crash(a) && surplus(a) > 0 &&
		sim_random_below(subject_random(&a->it), 8) == 0)
		sched_add(sim_sched(sim), index, sim_now(sim), crash_due, sim,
			(uint64_t)index);
}

void latch_crash(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);

	memset(a->led, 0, sizeof(a->led));
	memcpy(a->before, a->candidates, sizeof(a->before));
	for (int i = 0; i < CANDIDATES; i++) {
		const struct candidate *c = &a->candidates[i];

		if (c->latch == NULL || latch_term_of(c) == 0)
			continue;
		a->led[c->line] = latch_term_of(c);
		a->cautious[c->line] = c->cautious;
	}
	latch_shared(a->it.sim)->figures.crashes++;
	a->crashed = true;
	a->rest = (int)sim_random_below(r,
		sim_random_below(r, 4) == 0 ? 300 : 8);
	subject_crash(&a->it);
}

void latch_resume(struct actor *a)
{
	a->crashed = false;
	if (!subject_resume(&a->it))
		return;
	for (int i = 0; i < CANDIDATES; i++) {
		struct candidate *c = &a->candidates[i];

		memset(c, 0, sizeof(*c));
		if (a->before[i].latch == NULL)
			continue;
		c->actor = a;
		c->number = a->before[i].number;
		c->line = a->before[i].line;
		c->cautious = a->before[i].cautious;
		memcpy(c->id, a->before[i].id, sizeof(c->id));
		c->resumes = true;
		latch_begin(c);
	}
}

/* Check the first gain in a line after a crash.  It may be the gain of another
   candidate than the one that led: that one may have given its node up again,
   if it is cautious.  What others wrote into the node before the crash does not
   count any more. */
void latch_check_resumed(struct candidate *c)
{
	struct actor *a = c->actor;
	struct shared *s = latch_shared(a->it.sim);
	int64_t led = a->led[c->line];
	const struct post *post = post_of(s, led);

	if (c->resumes && c->post != NULL)
		c->post->seized = false;
	a->led[c->line] = 0;
	if (post == NULL || post->owner != a->it.client->session.id)
		return;
	s->figures.resumed++;
	s->figures.led_on += c->token == led;
	if (c->token != led && !post->outside && !post->touched &&
		(post->there || (!a->cautious[c->line] && c->epoch == 1)))
		sim_fail(a->it.sim, "resumed", "%s leads, and not with %s",
			c->id, post->path);
}
