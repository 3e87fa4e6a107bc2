/* latch_acts.c - calls to latches, and their callbacks. */
#include "latch_actor.h"
#include "sim_impl.h"

#include <kustos/node.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool one_in(const struct actor *a, uint64_t n)
{
	return sim_random_below(subject_random(&a->it), n) == 0;
}

static kustos_deadline some_deadline(const struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);

	switch (sim_random_below(r, 8)) {
	case 0:
		return KUSTOS_NOW;
	case 1:
	case 2:
		return sim_now(a->it.sim) +
			sim_random_between(r, 0, 20 * KU_NS_PER_MS);
	default:
		return sim_now(a->it.sim) +
			sim_random_between(r, 0, 4 * TIMEOUT_NS);
	}
}

/* --- Errands -------------------------------------------------------------- */

static void count_handing(struct latch_figures *f, enum kustos_err err)
{
	f->handings++;
	f->handed += err == KUSTOS_OK;
	f->absent += err == KUSTOS_EABSENT;
	f->changed += err == KUSTOS_ECHANGED;
}

static void ended(void *arg, enum kustos_err err)
{
	struct errand *e = arg;
	struct actor *a = e->actor;
	struct latch_figures *f = &latch_shared(a->it.sim)->figures;
	bool same = e->candidate->number == e->number;

	sim_say(a->it.sim, a->it.index, e->hands ? "handed over" : "edited",
		kustos_err_name(err), e->number);
	a->errands--;
	if (e->hands && same)
		e->candidate->handing = false;
	if (e->hands) {
		count_handing(f, err);
		if (err == KUSTOS_OK)
			posts_check_heir(a->it.sim, e->post, e->heir);
	} else {
		f->edits++;
		f->edited += err == KUSTOS_OK;
	}
	free(e);
}

static struct errand *errand_new(struct candidate *c, bool hands)
{
	struct errand *e = sim_calloc(1, sizeof(*e));

	e->actor = c->actor;
	e->candidate = c;
	e->number = c->number;
	e->hands = hands;
	e->post = c->post;
	c->actor->errands++;
	return e;
}

static void errand_begun(struct errand *e, enum kustos_err err)
{
	if (err == KUSTOS_OK)
		return;
	e->actor->errands--;
	if (e->hands)
		e->candidate->handing = false;
	free(e);
}

static void edit(struct candidate *c)
{
	struct errand *e = errand_new(c, false);
	struct actor *a = c->actor;
	const char *data = c->fickle && one_in(a, 2) ? "edited" : c->id;
	size_t len = c->fickle && one_in(a, 4) ? 0 : strlen(data);

	errand_begun(e,
		kustos_latch_set_data_async(c->latch, data, len,
			some_deadline(a), NULL, ended, e));
}

/* Name somebody who is, was or will be a candidate, perhaps in the other
   line. */
static void choose_heir(struct candidate *c, char *heir, size_t size)
{
	struct actor *a = c->actor;
	struct sim_random *r = subject_random(&a->it);
	struct actor *other = latch_actor_of(a->it.sim,
		(int)sim_random_below(r, CLIENTS));
	struct candidate
		*one = &other->candidates[sim_random_below(r, CANDIDATES)];

	heir[0] = '\0';
	if (!one_in(a, 4))
		snprintf(heir, size, "%s", one->id);
}

static void hand_over(struct candidate *c)
{
	struct actor *a = c->actor;

	if (c->handing || c->gains == c->losses)
		return; /* else "post" may belong to another term */
	struct errand *e = errand_new(c, true);
	choose_heir(c, e->heir, sizeof(e->heir));
	c->handing = true;
	errand_begun(e,
		kustos_latch_hand_over_async(c->latch,
			e->heir[0] != '\0' ? e->heir : NULL, some_deadline(a),
			NULL, ended, e));
}

/* --- Latches -------------------------------------------------------------- */

/* May the latch be closed?  One that resumes another process's node must find
   that node first, or the node would stay as long as the session does. */
static bool may_leave(const struct candidate *c)
{
	return c->latch != NULL && (!c->resumes || c->gains > 0);
}

static void leave(struct candidate *c, bool notify)
{
	struct kustos_latch *latch = c->latch;

	if (latch == NULL)
		return;
	c->closing = true;
	if (notify)
		kustos_latch_close(latch, KUSTOS_CLOSE_NOTIFY);
	c->latch = NULL;
	kustos_latch_destroy(latch);
}

static void gained(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	struct candidate *c = arg;
	struct actor *a = c->actor;
	struct shared *s = latch_shared(a->it.sim);

	(void)latch;
	sim_say(a->it.sim, a->it.index, "gained", kustos_hold_path(hold),
		c->number);
	s->figures.gains++;
	c->gains++;
	if (c->gains != c->losses + 1)
		sim_fail(a->it.sim, "turns", "%s: gain %d after %d losses",
			c->id, c->gains, c->losses);
	c->token = kustos_hold_token(hold);
	c->post = post_of(s, c->token);
	c->epoch = a->it.client->session.epoch;
	latch_check_resumed(c);
	if (c->post == NULL ||
		strcmp(c->post->path, kustos_hold_path(hold)) != 0)
		sim_fail(a->it.sim, "token", "%s: %s", c->id,
			kustos_hold_path(hold));
	else if (sim_draining(a->it.sim))
		return;
	else if (one_in(a, 8))
		hand_over(c);
	else if (one_in(a, 40))
		leave(c, one_in(a, 2));
}

/* A candidate, perhaps the heir, leaves just as the leader hands over. */
static void heir_leaves(struct candidate *c)
{
	struct actor *a = c->actor;
	struct sim_random *r = subject_random(&a->it);
	struct actor *other = latch_actor_of(a->it.sim,
		(int)sim_random_below(r, CLIENTS));
	struct candidate
		*one = &other->candidates[sim_random_below(r, CANDIDATES)];

	if (other->it.gone || other->it.closing ||
		sim_paused(a->it.sim, other->it.index) || one == c ||
		!may_leave(one) || one->line != c->line)
		return;
	leave(one, false);
	other->it.due = true;
}

static void lost(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	struct candidate *c = arg;
	struct actor *a = c->actor;

	(void)latch;
	sim_say(a->it.sim, a->it.index, "lost", kustos_hold_path(hold),
		c->number);
	latch_shared(a->it.sim)->figures.losses++;
	c->losses++;
	if (c->gains != c->losses)
		sim_fail(a->it.sim, "turns", "%s: loss %d after %d gains",
			c->id, c->losses, c->gains);
	else if (kustos_hold_token(hold) != c->token)
		sim_fail(a->it.sim, "turns", "%s: the loss of another term",
			c->id);
	else
		latch_check_loss(c);
	if (sim_draining(a->it.sim) || c->closing)
		return;
	if (c->handing && one_in(a, 4))
		heir_leaves(c);
	else if (one_in(a, 40))
		leave(c, one_in(a, 2));
}

void latch_begin(struct candidate *c)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	struct actor *a = c->actor;

	o.id = c->id;
	o.on_gained = gained;
	o.on_lost = lost;
	o.arg = c;
	o.cautious = c->cautious;
	o.resume = c->resumes;
	o.one_node = latch_shared(a->it.sim)->one_node;
	if (kustos_latch_create(a->it.client, latch_lines[c->line], &o,
		    &c->latch) != KUSTOS_OK ||
		kustos_latch_start(c->latch) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot make a latch");
}

static void enter(struct candidate *c, struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);

	memset(c, 0, sizeof(*c));
	c->actor = a;
	c->number = ++latch_shared(a->it.sim)->candidates;
	c->line = sim_random_below(r, 4) == 0;
	c->cautious = sim_random_below(r, 4) == 0;
	/* Most say their id, so that an heir can be named. */
	c->fickle = sim_random_below(r, 4) == 0;
	snprintf(c->id, sizeof(c->id), "n%d", c->number);
	latch_begin(c);
}

/* --- Others --------------------------------------------------------------- */

static void observed(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	struct watcher *w = arg;

	(void)err;
	latch_shared(w->actor->it.sim)->figures.told++;
	w->told = true;
	w->somebody = first != NULL;
	w->term = first != NULL ? first->stat.czxid : 0;
	w->mzxid = first != NULL ? first->stat.mzxid : 0;
}

static void watch(struct actor *a)
{
	struct watcher *w =
		&a->watchers[sim_random_below(subject_random(&a->it), LINES)];

	if (w->observer != NULL) {
		kustos_observer_destroy(w->observer);
		memset(w, 0, sizeof(*w));
		return;
	}
	w->actor = a;
	w->line = (int)(w - a->watchers);
	if (kustos_observe(a->it.client, latch_lines[w->line], observed, w,
		    &w->observer) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot observe");
}

struct touch {
	struct sim *sim;
	struct post *post;
};

static void touched(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct touch *touch = arg;
	struct post *post = touch->post;

	if (err == KUSTOS_OK && post->led_zxid != 0 && post->there &&
		result->stat->mzxid > post->led_zxid) {
		post->seized = true;
		latch_shared(touch->sim)->figures.seized++;
	}
	free(touch);
}

/* Write, as a stranger, into the first node of a line. */
static void touch_first(struct actor *a)
{
	struct shared *s = latch_shared(a->it.sim);
	struct post *post = post_first(s,
		(int)sim_random_below(subject_random(&a->it), LINES));
	struct touch *touch;

	if (post == NULL || s->one_node || !latch_minds(a->it.sim, post->owner))
		return; /* else the write might come after a takeover */
	touch = sim_calloc(1, sizeof(*touch));
	touch->sim = a->it.sim;
	touch->post = post;
	post->touched = true;
	const char *data = a->it.index % 2 ? "__REVOKE__" : "whatever";
	if (kustos_set_async(a->it.client, post->path, data, strlen(data), -1,
		    sim_now(a->it.sim) + TIMEOUT_NS, NULL, touched,
		    touch) != KUSTOS_OK)
		free(touch);
}

static void dummy_made(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct actor *a = arg;

	a->dummying = false;
	if (err == KUSTOS_OK)
		snprintf(a->dummy, sizeof(a->dummy), "%s", result->path);
}

static void dummy_gone(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct actor *a = arg;

	(void)result;
	a->dummying = false;
	if (err == KUSTOS_OK || err == KUSTOS_ENONODE)
		a->dummy[0] = '\0';
}

/* Make a dummy: a candidate's node with no latch behind it.  It stays for a
   while; if somebody deletes it, it is not made again. */
static void stand_there(struct actor *a)
{
	char path[128];

	snprintf(path, sizeof(path),
		"%s/_c_01234567-89ab-4cde-8f01-23456789abcd-latch-",
		latch_lines[sim_random_below(subject_random(&a->it), LINES)]);
	a->dummying = kustos_create_async(a->it.client, path, "dummy", 5,
			      KUSTOS_CREATE_EPHEMERAL |
				      KUSTOS_CREATE_SEQUENTIAL |
				      KUSTOS_CREATE_PROTECTED,
			      KUSTOS_FOREVER, NULL, dummy_made, a) == KUSTOS_OK;
}

void latch_tidy(struct actor *a)
{
	if (a->dummy[0] == '\0' || a->dummying)
		return;
	a->dummying = kustos_delete_async(a->it.client, a->dummy, -1,
			      KUSTOS_FOREVER, NULL, dummy_gone, a) == KUSTOS_OK;
}

void latch_act(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	struct candidate *c = &a->candidates[sim_random_below(r, CANDIDATES)];

	switch (sim_random_below(r, 40)) {
	case 0:
		watch(a);
		return;
	case 1:
		touch_first(a);
		return;
	case 2:
		if (!a->dummying && a->dummy[0] == '\0' && one_in(a, 8) &&
			!latch_shared(a->it.sim)->one_node)
			stand_there(a);
		return;
	case 3:
		if (may_leave(c) && one_in(a, 4))
			leave(c, one_in(a, 2));
		return;
	}
	if (a->dummy[0] != '\0' && one_in(a, 16))
		latch_tidy(a);
	else if (c->latch == NULL)
		enter(c, a);
	else if (one_in(a, 2) && c->gains > c->losses)
		hand_over(c);
	else if (one_in(a, 2))
		edit(c);
}

void latch_leave_all(void *arg)
{
	struct actor *a = arg;

	for (int i = 0; i < CANDIDATES; i++)
		leave(&a->candidates[i], one_in(a, 2));
	for (int i = 0; i < LINES; i++) {
		kustos_observer_destroy(a->watchers[i].observer);
		memset(&a->watchers[i], 0, sizeof(a->watchers[i]));
	}
}
