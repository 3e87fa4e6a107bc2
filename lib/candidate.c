/* candidate.c - terms: begun, granted, ended, and reported to the program. */

#include "candidate_impl.h"

#include <stdlib.h>
#include <string.h>

/* When to retry what failed although we are connected. */
#define AGAIN_MS 1000

static void term_released(struct kustos_hold *hold, void *owner)
{
	struct ku_term *term = owner;

	(void)hold;
	if (term->place != NULL)
		ku_place_leave(term->place);
}

/* Free a term that is over.  Unlocks meanwhile. */
static void term_free(struct ku_candidate *c, struct ku_term *term)
{
	if (term->granted) {
		ku_unlock(c->client);
		(void)ku_hold_release(term->hold);
		ku_lock(c->client);
	} else {
		ku_hold_free(term->hold);
	}
	free(term);
}

/* Have a thread report all news to the program, unless one is doing so: that
   one goes on until there is no more. */
static void tell_soon(struct ku_candidate *c, bool urgent)
{
	if (!c->telling)
		ku_dispatch_push(c->client, &c->call,
			urgent ? KU_URGENT : KU_ORDINARY);
}

void ku_candidate_bury(struct ku_candidate *c, struct ku_term *term)
{
	if (c->told == term)
		return; /* the thread that reports frees it */
	term->next = c->over;
	c->over = term;
	tell_soon(c, true);
}

/* If the program knows of the term, or an errand inherits it, its place is kept
   until that is done. */
void ku_term_end(struct ku_candidate *c, struct ku_term *term,
	struct ku_errand *heir)
{
	c->term = NULL;
	c->moving = heir != NULL;
	term->over = true;
	term->heir = heir;
	if (term->kept)
		c->started = false; /* until the program has resigned it */
	if (heir != NULL)
		ku_errands_skip(heir);
	if (c->told == term) {
		tell_soon(c, true);
	} else if (heir != NULL) {
		heir->calls->inherit(heir);
	} else {
		ku_place_leave(term->place);
		term->place = NULL;
		ku_candidate_bury(c, term);
	}
	if (heir == NULL)
		ku_errands_fail(c, KUSTOS_ELOST);
}

void ku_candidate_put_off(struct ku_candidate *c, enum kustos_err err)
{
	c->err = err;
	if (err == KUSTOS_ECLOSED || err == KUSTOS_EAUTH) {
		c->failed = true; /* all waits end by themselves */
		return;
	}
	ku_set_timer_ms(c->client, &c->again, AGAIN_MS);
}

void ku_term_begin(struct ku_candidate *c, const struct ku_sighting *found)
{
	struct ku_term *term = calloc(1, sizeof(*term));
	struct kustos_hold *hold = ku_hold_new(c->client);
	enum kustos_err err = KUSTOS_ENOMEM;

	if (term != NULL && hold != NULL) {
		term->candidate = c;
		term->hold = hold;
		c->term = term; /* it may be granted at once */
		err = found != NULL
			? ku_place_adopt(c->line, &c->kind, c->data, c->len,
				  found->path, &found->op->out_stat, term,
				  &term->place)
			: ku_place_take(c->line, &c->kind, c->data, c->len,
				  false, term, &term->place);
	}
	if (err == KUSTOS_OK)
		return;
	c->term = NULL;
	ku_hold_free(hold);
	free(term);
	if (found != NULL)
		c->resumes = true; /* a new node would stand behind that one */
	ku_candidate_put_off(c, err);
}

static void term_begin(struct ku_candidate *c)
{
	ku_term_begin(c, NULL);
}

static void again_due(struct ku_timer *timer)
{
	struct ku_candidate *c = KU_OWNER(struct ku_candidate, again, timer);

	if (c->resumes)
		ku_candidate_search(c);
	else
		term_begin(c);
}

void ku_candidate_line_up(struct ku_candidate *c)
{
	if (c->started && !c->moving && !c->stopped && !c->failed &&
		c->term == NULL && !ku_timer_is_set(&c->again))
		term_begin(c);
}

/* It stands in line: this attempt has met no error. */
static void queued(struct ku_place *place)
{
	struct ku_term *term = ku_place_owner(place);

	if (term != NULL) /* else it is being dismissed (candidate_search.c) */
		term->candidate->err = KUSTOS_OK;
}

static void granted(struct ku_place *place)
{
	struct ku_term *term = ku_place_owner(place);
	struct ku_candidate *c = term->candidate;

	term->granted = true;
	ku_hold_grant_place(term->hold, place, term_released, term);
	c->err = KUSTOS_OK;
	ku_candidate_wake(c, KUSTOS_OK);
	if (c->gained != NULL || c->lost != NULL)
		tell_soon(c, c->keeps);
}

static void failed(struct ku_place *place, enum kustos_err err)
{
	struct ku_term *term = ku_place_owner(place);

	if (term == NULL)
		return; /* dismissed, as above */
	struct ku_candidate *c = term->candidate;
	ku_term_end(c, term, NULL);
	ku_candidate_put_off(c, err);
}

static void lost(struct ku_place *place)
{
	struct ku_term *term = ku_place_owner(place);
	struct ku_candidate *c = term->candidate;

	ku_hold_lose(term->hold);
	if (term->over)
		return; /* and the program is being told */
	ku_term_end(c, term, NULL);
	ku_candidate_line_up(c);
}

/* Leadership is given up, but not lost: the place stays until the program knows
   of it. */
static void give_up(struct ku_term *term)
{
	struct ku_candidate *c = term->candidate;

	if (term->over)
		return;
	ku_term_end(c, term, NULL);
	ku_candidate_line_up(c);
}

/* The connection is lost. */
static void unsure(struct ku_place *place)
{
	struct ku_term *term = ku_place_owner(place);
	struct ku_candidate *c = term->candidate;

	ku_errands_away(c);
	if (c->cautious)
		give_up(term);
}

/* Somebody asks for leadership. */
static void revoked(struct ku_place *place)
{
	give_up(ku_place_owner(place));
}

static const struct ku_place_events events = {
	.queued = queued,
	.granted = granted,
	.failed = failed,
	.lost = lost,
	.unsure = unsure,
	.revoked = revoked,
};

static void candidate_free(struct ku_candidate *c)
{
	ku_dispatch_pull(c->client, &c->call);
	ku_timer_unset(&c->client->timers, &c->again);
	ku_line_put(c->line);
	free(c->data);
	free(c);
}

/* Call the program.  Unlocks meanwhile. */
static void call_program(struct ku_candidate *c, ku_candidate_fn *fn,
	struct ku_term *term)
{
	if (fn == NULL)
		return;
	c->calling = true;
	ku_unlock(c->client);
	fn(c->arg, term->hold);
	ku_lock(c->client);
	c->calling = false;
	pthread_cond_broadcast(&c->client->state_changed);
}

/* Tell the program the next thing that it does not know.  Returns false if
   there is none. */
static bool tell_one(struct ku_candidate *c)
{
	struct ku_term *term = c->told;

	if (term != NULL && term->over && !term->mourned) {
		term->mourned = true;
		if (!c->silent)
			call_program(c, c->lost, term);
		return true;
	}
	if (term != NULL && term != c->term && !term->kept) { /* it is over */
		/* Wait for the callbacks of the hold; they may end the
		   candidate, or the heir. */
		ku_hold_hush(term->hold);
		c->told = NULL;
		if (term->heir != NULL)
			term->heir->calls->inherit(term->heir);
		else
			term_free(c, term);
		return true;
	}
	if (c->over != NULL) {
		term = c->over;
		c->over = term->next;
		term_free(c, term);
		return true;
	}
	if (term != NULL || c->term == NULL || !c->term->granted)
		return false;
	c->told = c->term;
	c->told->kept = c->keeps;
	call_program(c, c->gained, c->told);
	return true;
}

/* Begin to report news on this thread, unless a thread is doing so. */
static bool begin_telling(struct ku_candidate *c)
{
	if (c->telling)
		return false;
	c->telling = true;
	c->teller = pthread_self();
	return true;
}

/* Report all news.  Frees the candidate if it was destroyed meanwhile, and
   returns whether it still exists. */
static bool tell_all(struct ku_candidate *c)
{
	while (tell_one(c))
		;
	c->telling = false;
	pthread_cond_broadcast(&c->client->state_changed);
	if (!c->destroyed || c->orphans > 0)
		return true;
	candidate_free(c);
	return false;
}

static void run_call(struct kustos_client *client, struct ku_call *call)
{
	struct ku_candidate *c = KU_OWNER(struct ku_candidate, call, call);

	(void)client;
	if (begin_telling(c))
		(void)tell_all(c);
}

enum kustos_err ku_candidate_create(struct kustos_client *client,
	const char *path, const struct ku_candidate_wish *wish,
	struct ku_candidate **out)
{
	struct ku_candidate *c = calloc(1, sizeof(*c));
	char *data = malloc(wish->len + 1);
	enum kustos_err err = KUSTOS_ENOMEM;

	if (c == NULL || data == NULL)
		goto out;
	memcpy(data, wish->len > 0 ? wish->data : "", wish->len);
	c->client = client;
	c->kind.events = &events;
	c->kind.leaf = wish->leaf;
	c->kind.bare = wish->bare;
	c->kind.jealous = wish->jealous;
	c->rule = wish->rule;
	c->data = data;
	c->len = wish->len;
	c->gained = wish->gained;
	c->lost = wish->lost;
	c->arg = wish->arg;
	c->cautious = wish->cautious;
	c->keeps = wish->keeps;
	c->resumes = wish->resumes && client->config.resume.id != 0;
	c->again.fn = again_due;
	c->call.fn = run_call;
	ku_lock(client);
	err = ku_line_get(client, path, wish->rule, &c->line);
	ku_unlock(client);
	if (err == KUSTOS_OK) {
		*out = c;
		return KUSTOS_OK;
	}
out:
	free(data);
	free(c);
	return err;
}

enum kustos_err ku_candidate_start(struct ku_candidate *c)
{
	enum kustos_err err = KUSTOS_ECLOSED;

	ku_lock(c->client);
	if (!c->stopped) {
		err = KUSTOS_OK;
		if (!c->started && c->resumes)
			ku_candidate_search(c);
		else if (!c->started && !c->moving)
			term_begin(c);
		c->started = true;
	}
	ku_unlock(c->client);
	return err;
}

bool ku_candidate_inside(const struct ku_candidate *c)
{
	return (c->telling && pthread_equal(c->teller, pthread_self())) ||
		(c->told != NULL && ku_hold_inside(c->told->hold));
}

/* Must stop() wait for another thread that reports?  Not if that thread waits
   for the callback that we are in; but it must while "gained" or "lost" is
   running. */
static bool must_wait(const struct ku_candidate *c)
{
	return c->telling && !pthread_equal(c->teller, pthread_self()) &&
		(c->calling || !ku_candidate_inside(c));
}

/* End it.  Locked; unlocks meanwhile.  Returns whether it still exists. */
static bool stop(struct ku_candidate *c)
{
	struct ku_term *term = c->term;
	bool tells = begin_telling(c);

	if (!c->stopped) {
		c->stopped = true;
		ku_timer_unset(&c->client->timers, &c->again);
		ku_candidate_wake(c, KUSTOS_ECLOSED);
		ku_errands_fail(c, KUSTOS_ECLOSED);
		ku_candidate_stop_search(c);
		if (term != NULL)
			ku_term_end(c, term, NULL);
	}
	if (tells && !tell_all(c))
		return false;
	while (must_wait(c))
		ku_cond_wait(c->client, &c->client->state_changed,
			KUSTOS_FOREVER);
	return true;
}

void ku_candidate_stop(struct ku_candidate *c, bool notify)
{
	struct kustos_client *client = c->client;

	ku_begin(client);
	if (!c->stopped)
		c->silent = !notify;
	(void)stop(c);
	ku_end(client);
}

void ku_candidate_destroy(struct ku_candidate *c)
{
	struct kustos_client *client = c->client;

	ku_begin(client);
	c->silent = true;
	if (stop(c)) {
		if (c->telling || c->orphans > 0)
			c->destroyed = true; /* e.g. we are in its callback */
		else
			candidate_free(c);
	}
	ku_end(client);
}

void ku_candidate_resign(struct ku_candidate *c, enum kustos_err err)
{
	struct kustos_client *client = c->client;

	ku_lock(client);
	struct ku_term *term = c->told;
	bool tells = begin_telling(c); /* else another thread goes on */
	term->kept = false;
	term->mourned = true; /* there is nothing to tell */
	if (!term->over) {
		c->started = false;
		ku_term_end(c, term, NULL);
	}
	if (err != KUSTOS_OK && !c->stopped) {
		c->started = true;
		ku_candidate_put_off(c, err);
	}
	if (tells)
		(void)tell_all(c);
	ku_unlock(client);
}
