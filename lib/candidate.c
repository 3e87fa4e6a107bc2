/* candidate.c - terms: begun, granted, ended, and told of. */

#include "candidate.h"
#include "client.h"
#include "hold.h"

#include <stdlib.h>
#include <string.h>

/* When to try again what failed although we are connected. */
#define AGAIN_MS 1000

/* A place in the line, from the wish to have one until the program was told
   that it is over. */
struct term {
	struct ku_candidate *candidate;
	struct ku_place *place; /* NULL: given up */
	struct kustos_hold *hold;
	bool granted;
	bool over;
	struct term *next; /* of those that are over, and nobody was told of */
};

/* A thread that waits until it leads. */
struct vigil {
	struct ku_wait wait; /* first: cast back from it */
	struct ku_candidate *candidate;
	bool once;
	struct vigil *prev, *next;
};

struct ku_candidate {
	/* Constant. */
	struct kustos_client *client;
	struct ku_line *line;
	struct ku_place_kind kind;
	char *data;
	size_t len;
	ku_candidate_fn *gained, *lost;
	void *arg;
	bool cautious;

	/* Guarded by the client's lock. */
	bool started, failed, stopped, destroyed;
	bool silent; /* the end of the last term is not told */
	enum kustos_err err;
	struct term *term; /* that waits or leads */
	struct term *told; /* of whose gain the program was told */
	struct term *over;
	struct vigil *vigils;
	struct ku_timer again;
	struct ku_call call;
	bool telling; /* on this thread */
	pthread_t teller;
};

static void unlink_vigil(struct vigil *vigil)
{
	if (vigil->prev != NULL)
		vigil->prev->next = vigil->next;
	else
		vigil->candidate->vigils = vigil->next;
	if (vigil->next != NULL)
		vigil->next->prev = vigil->prev;
}

static void end_vigils(struct ku_candidate *c, enum kustos_err err)
{
	while (c->vigils != NULL) {
		struct vigil *vigil = c->vigils;

		unlink_vigil(vigil);
		ku_wait_end(&vigil->wait, err);
	}
}

static void term_released(struct kustos_hold *hold, void *owner)
{
	struct term *term = owner;

	(void)hold;
	if (term->place != NULL)
		ku_place_leave(term->place);
}

/* Free a term that is over.  Unlocks meanwhile. */
static void term_free(struct kustos_client *client, struct term *term)
{
	ku_unlock(client);
	if (term->granted)
		(void)ku_hold_release(term->hold);
	else
		ku_hold_free(term->hold);
	free(term);
	ku_lock(client);
}

/* The term is over.  If the program knows of it, its place is kept until it
   has been told. */
static void term_end(struct ku_candidate *c, struct term *term)
{
	c->term = NULL;
	term->over = true;
	if (c->told != term) {
		ku_place_leave(term->place);
		term->place = NULL;
		term->next = c->over;
		c->over = term;
	}
	ku_dispatch_push(c->client, &c->call, true);
}

static void put_off(struct ku_candidate *c, enum kustos_err err)
{
	c->err = err;
	if (err == KUSTOS_ECLOSED || err == KUSTOS_EAUTH) {
		c->failed = true;
		end_vigils(c, err);
		return;
	}
	ku_set_timer(c->client, &c->again,
		ku_now(c->client) + AGAIN_MS * KU_NS_PER_MS);
}

static void term_begin(struct ku_candidate *c)
{
	struct term *term = calloc(1, sizeof(*term));
	struct kustos_hold *hold = ku_hold_new(c->client);
	enum kustos_err err = KUSTOS_ENOMEM;

	if (term != NULL && hold != NULL) {
		term->candidate = c;
		term->hold = hold;
		err = ku_place_take(c->line, &c->kind, c->data, c->len, false,
			term, &term->place);
	}
	if (err == KUSTOS_OK) {
		c->term = term;
		return;
	}
	ku_hold_free(hold);
	free(term);
	put_off(c, err);
}

static void again_due(struct ku_timer *timer)
{
	term_begin((struct ku_candidate *)((char *)timer -
		offsetof(struct ku_candidate, again)));
}

static void granted(struct ku_place *place)
{
	struct term *term = ku_place_owner(place);
	struct ku_candidate *c = term->candidate;

	term->granted = true;
	ku_hold_grant(term->hold, place, term_released, term);
	c->err = KUSTOS_OK;
	end_vigils(c, KUSTOS_OK);
	ku_dispatch_push(c->client, &c->call, false);
}

static void failed(struct ku_place *place, enum kustos_err err)
{
	struct term *term = ku_place_owner(place);
	struct ku_candidate *c = term->candidate;

	term_end(c, term);
	put_off(c, err);
}

static void lost(struct ku_place *place)
{
	struct term *term = ku_place_owner(place);
	struct ku_candidate *c = term->candidate;

	ku_hold_lose(term->hold);
	if (term->over)
		return; /* and the program is just being told */
	term_end(c, term);
	term_begin(c);
}

/* The connection is away. */
static void unsure(struct ku_place *place)
{
	struct term *term = ku_place_owner(place);
	struct ku_candidate *c = term->candidate;

	if (!c->cautious || term->over)
		return;
	term_end(c, term);
	term_begin(c);
}

static const struct ku_place_events events = {
	.granted = granted,
	.failed = failed,
	.lost = lost,
	.unsure = unsure,
};

static void candidate_free(struct ku_candidate *c)
{
	ku_timer_unset(&c->client->timers, &c->again);
	ku_timers_release(&c->client->timers, 1);
	ku_line_put(c->line);
	free(c->data);
	free(c);
}

/* Call the program.  Unlocks meanwhile. */
static void call_program(struct ku_candidate *c, ku_candidate_fn *fn,
	struct term *term)
{
	if (fn == NULL)
		return;
	ku_unlock(c->client);
	fn(c->arg, term->hold);
	ku_lock(c->client);
}

/* Tell the program the next thing that it does not know.  Returns false if
   there is none. */
static bool tell_one(struct ku_candidate *c)
{
	struct term *term = c->told;

	if (term != NULL && term != c->term) { /* it is over */
		if (!c->silent)
			call_program(c, c->lost, term);
		c->told = NULL;
		term_free(c->client, term);
		return true;
	}
	if (c->over != NULL) {
		term = c->over;
		c->over = term->next;
		term_free(c->client, term);
		return true;
	}
	if (term != NULL || c->term == NULL || !c->term->granted)
		return false;
	c->told = c->term;
	call_program(c, c->gained, c->told);
	return true;
}

/* Tell all there is to tell.  Frees what was destroyed meanwhile, and returns
   whether it is still there. */
static bool tell_all(struct ku_candidate *c)
{
	c->telling = true;
	c->teller = pthread_self();
	while (tell_one(c))
		;
	c->telling = false;
	pthread_cond_broadcast(&c->client->state_changed);
	if (!c->destroyed)
		return true;
	candidate_free(c);
	return false;
}

static void run_call(struct kustos_client *client, struct ku_call *call)
{
	struct ku_candidate *c = (struct ku_candidate *)((char *)call -
		offsetof(struct ku_candidate, call));

	(void)client;
	if (!c->telling) /* else whoever tells tells this, too */
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
	c->data = data;
	c->len = wish->len;
	c->gained = wish->gained;
	c->lost = wish->lost;
	c->arg = wish->arg;
	c->cautious = wish->cautious;
	c->again.fn = again_due;
	c->call.fn = run_call;
	ku_lock(client);
	if (ku_timers_reserve(&client->timers, 1)) {
		err = ku_line_get(client, path, wish->rule, &c->line);
		if (err != KUSTOS_OK)
			ku_timers_release(&client->timers, 1);
	}
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
		if (!c->started)
			term_begin(c);
		c->started = true;
	}
	ku_unlock(c->client);
	return err;
}

/* End it.  Locked; unlocks meanwhile.  Returns whether it is still there. */
static bool stop(struct ku_candidate *c, bool notify)
{
	struct term *term = c->term;

	if (!c->stopped) {
		c->stopped = true;
		c->silent = c->silent || !notify;
		ku_timer_unset(&c->client->timers, &c->again);
		end_vigils(c, KUSTOS_ECLOSED);
		if (term != NULL)
			term_end(c, term);
	}
	if (!c->telling && !tell_all(c))
		return false;
	while (c->telling && !pthread_equal(c->teller, pthread_self()))
		ku_cond_wait(c->client, &c->client->state_changed,
			KUSTOS_FOREVER);
	return true;
}

void ku_candidate_stop(struct ku_candidate *c, bool notify)
{
	struct kustos_client *client = c->client;

	ku_lock(client);
	(void)stop(c, notify);
	ku_unlock(client);
}

void ku_candidate_destroy(struct ku_candidate *c)
{
	struct kustos_client *client = c->client;

	ku_lock(client);
	c->silent = true;
	if (stop(c, false)) {
		ku_dispatch_pull(client, &c->call);
		if (c->telling)
			c->destroyed = true; /* we are in its callback */
		else
			candidate_free(c);
	}
	ku_unlock(client);
}

/* Return what it is now.  Locked. */
static enum ku_candidacy state_of(const struct ku_candidate *c)
{
	if (c->stopped)
		return KU_CANDIDATE_STOPPED;
	if (c->failed)
		return KU_CANDIDATE_FAILED;
	if (!c->started)
		return KU_CANDIDATE_IDLE;
	if (c->term == NULL || !c->term->granted)
		return KU_CANDIDATE_WAITS;
	switch (ku_hold_state(c->term->hold)) {
	case KUSTOS_HOLD_HELD:
		return KU_CANDIDATE_LEADS;
	case KUSTOS_HOLD_UNSURE:
		return KU_CANDIDATE_UNSURE;
	default:
		return KU_CANDIDATE_WAITS;
	}
}

enum ku_candidacy ku_candidate_state(struct ku_candidate *c)
{
	ku_lock(c->client);
	enum ku_candidacy state = state_of(c);
	ku_unlock(c->client);
	return state;
}

enum kustos_err ku_candidate_error(struct ku_candidate *c)
{
	ku_lock(c->client);
	enum kustos_err err = c->err;
	ku_unlock(c->client);
	return err;
}

/* Return KUSTOS_OK if it leads, KUSTOS_EBUSY if it may one day, or why not.
   Locked. */
static enum kustos_err leads(const struct ku_candidate *c)
{
	switch (state_of(c)) {
	case KU_CANDIDATE_LEADS:
	case KU_CANDIDATE_UNSURE:
		return KUSTOS_OK;
	case KU_CANDIDATE_STOPPED:
		return KUSTOS_ECLOSED;
	case KU_CANDIDATE_FAILED:
		return c->err;
	default:
		return KUSTOS_EBUSY;
	}
}

static enum kustos_err vigil_start(struct ku_wait *wait)
{
	struct vigil *vigil = (struct vigil *)wait;
	struct ku_candidate *c = vigil->candidate;
	enum kustos_err err = leads(c);

	if (err == KUSTOS_OK)
		ku_wait_end(wait, KUSTOS_OK);
	if (err != KUSTOS_EBUSY || vigil->once)
		return err;
	vigil->next = c->vigils;
	if (vigil->next != NULL)
		vigil->next->prev = vigil;
	c->vigils = vigil;
	return KUSTOS_OK;
}

static void vigil_give_up(struct ku_wait *wait, enum kustos_err why)
{
	unlink_vigil((struct vigil *)wait);
	ku_wait_end(wait, why);
}

enum kustos_err ku_candidate_wait(struct ku_candidate *c,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	static const struct ku_wait_calls calls = { vigil_start, vigil_give_up,
		NULL };
	struct vigil vigil = { .candidate = c, .once = deadline == KUSTOS_NOW };

	vigil.wait.client = c->client;
	vigil.wait.calls = &calls;
	return ku_wait_block(&vigil.wait, deadline, cancel);
}
