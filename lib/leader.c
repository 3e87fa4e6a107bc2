/*
 * leader.c - terms as calls of a function.
 *
 * A term has a hold from the moment the candidate reports it until the function
 * has returned and the term was resigned.  The candidate keeps a term that is
 * lost, and its hold, until then.  The next term is begun by the thread that
 * resigned the last one, so terms cannot overlap.
 *
 * A cancel object's mutex is taken before the client's, so nobody fires one
 * with the client locked: "firing" keeps it alive meanwhile.
 */
#include "leader.h"
#include "client.h"
#include "recipe.h"

#include <kustos/cancel.h>

#include <stdlib.h>

struct ku_leader {
	/* Constant. */
	struct kustos_client *client;
	struct ku_candidate *candidate;
	ku_leader_fn *fn;
	void *arg;
	bool requeues;

	/* Guarded by the client's lock. */
	struct kustos_hold *hold; /* of the term; NULL: none */
	struct kustos_cancel *cancel;
	int firing; /* threads that fire it */
	bool lost;  /* before it was resigned */
	bool started, stopped, destroyed;
	bool queued;  /* to stand in line once more */
	bool running; /* on the thread "runner" */
	pthread_t runner;
	bool returned; /* its function has returned, in this term */
	struct ku_call call;
};

static void notify(struct ku_leader *l)
{
	pthread_cond_broadcast(&l->client->state_changed);
}

/* Have the function asked to return.  Locked; unlocks meanwhile. */
static enum kustos_err interrupt(struct ku_leader *l)
{
	if (l->hold == NULL)
		return KUSTOS_ENOTHELD;
	l->firing++;
	ku_unlock(l->client);
	kustos_cancel_fire(l->cancel);
	ku_lock(l->client);
	l->firing--;
	notify(l);
	return KUSTOS_OK;
}

static void gained(void *arg, struct kustos_hold *hold)
{
	struct ku_leader *l = arg;
	struct kustos_cancel *cancel = NULL;
	enum kustos_err err = kustos_cancel_create(&cancel);

	ku_lock(l->client);
	bool begins = err == KUSTOS_OK && !l->stopped;
	if (begins) {
		l->hold = hold;
		l->cancel = cancel;
		l->lost = l->returned = false;
		if (!l->running)
			ku_dispatch_push(l->client, &l->call, KU_LENGTHY);
	}
	ku_unlock(l->client);
	if (begins)
		return;
	kustos_cancel_destroy(cancel);
	ku_candidate_resign(l->candidate, err);
}

static void lost(void *arg, struct kustos_hold *hold)
{
	struct ku_leader *l = arg;

	(void)hold;
	ku_lock(l->client);
	l->lost = true;
	(void)interrupt(l);
	ku_unlock(l->client);
}

/* Run one term.  Locked; unlocks meanwhile. */
static void serve(struct ku_leader *l)
{
	struct kustos_client *client = l->client;
	struct kustos_cancel *cancel = l->cancel;
	bool late = l->lost; /* too late to begin at all */

	ku_unlock(client);
	if (!late)
		l->fn(l->arg, l->hold, cancel);
	ku_lock(client);
	l->returned = true;
	notify(l);
	ku_unlock(client);
	ku_candidate_resign(l->candidate, KUSTOS_OK);
	ku_lock(client);
	while (l->firing > 0)
		ku_cond_wait(client, &client->state_changed, KUSTOS_FOREVER);
	bool again = (late || l->requeues || l->queued) && !l->stopped;
	l->queued = false;
	l->hold = NULL;
	l->cancel = NULL;
	ku_unlock(client);
	kustos_cancel_destroy(cancel);
	if (again)
		(void)ku_candidate_start(l->candidate);
	ku_lock(client);
}

static void leader_free(struct ku_leader *l)
{
	ku_candidate_destroy(l->candidate);
	free(l);
}

static void run(struct ku_leader *l)
{
	l->running = true;
	l->runner = pthread_self();
	while (l->hold != NULL)
		serve(l);
	l->running = false;
	notify(l);
}

static void run_call(struct kustos_client *client, struct ku_call *call)
{
	struct ku_leader *l = KU_OWNER(struct ku_leader, call, call);

	run(l);
	if (!l->destroyed)
		return;
	ku_unlock(client);
	leader_free(l);
	ku_lock(client);
}

enum kustos_err ku_leader_create(struct kustos_client *client, const char *path,
	const struct ku_leader_wish *wish, struct ku_leader **out)
{
	struct ku_candidate_wish candidate = wish->candidate;
	struct ku_leader *l = calloc(1, sizeof(*l));
	char *data = NULL;
	enum kustos_err err = KUSTOS_OK;

	if (l == NULL)
		return KUSTOS_ENOMEM;
	l->client = client;
	l->fn = wish->fn;
	l->arg = wish->arg;
	l->requeues = wish->requeues;
	l->call.fn = run_call;
	candidate.gained = gained;
	candidate.lost = lost;
	candidate.arg = l;
	candidate.keeps = true;
	if (candidate.len == 0) {
		err = ku_recipe_data(client, &data, &candidate.len);
		candidate.data = data;
	}
	if (err == KUSTOS_OK)
		err = ku_candidate_create(client, path, &candidate,
			&l->candidate);
	free(data);
	if (err == KUSTOS_OK)
		*out = l;
	else
		free(l);
	return err;
}

enum kustos_err ku_leader_start(struct ku_leader *l)
{
	ku_lock(l->client);
	bool first = !l->started;
	bool stopped = l->stopped;
	l->started = true;
	ku_unlock(l->client);
	if (stopped)
		return KUSTOS_ECLOSED;
	return first ? ku_candidate_start(l->candidate) : KUSTOS_OK;
}

enum kustos_err ku_leader_requeue(struct ku_leader *l)
{
	enum kustos_err err = KUSTOS_OK;

	ku_lock(l->client);
	bool now = l->started && !l->stopped && l->hold == NULL;
	if (l->stopped)
		err = KUSTOS_ECLOSED;
	else if (!l->started)
		err = KUSTOS_EINVAL;
	else if (!now)
		l->queued = true;
	ku_unlock(l->client);
	return now ? ku_candidate_start(l->candidate) : err;
}

enum kustos_err ku_leader_interrupt(struct ku_leader *l)
{
	ku_lock(l->client);
	enum kustos_err err = interrupt(l);
	ku_unlock(l->client);
	return err;
}

struct ku_candidate *ku_leader_candidate(struct ku_leader *l)
{
	return l->candidate;
}

/* Is this the thread of its function? */
static bool is_runner(const struct ku_leader *l)
{
	return l->running && pthread_equal(l->runner, pthread_self());
}

enum kustos_err ku_leader_hand_over(struct ku_leader *l, const void *id,
	size_t len, kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_candidate_done_fn *done, void *arg)
{
	ku_lock(l->client);
	bool inside = is_runner(l);
	ku_unlock(l->client);
	return inside && done == NULL
		? KUSTOS_EDEADLK
		: ku_candidate_hand_over(l->candidate, id, len, deadline,
			  cancel, done, arg);
}

/* Must ku_leader_stop() wait for the function, and for the end of the term?
   The end waits for callbacks of the hold, and we may be in one of them. */
static bool must_wait(const struct ku_leader *l)
{
	if (is_runner(l))
		return false;
	if (l->hold == NULL)
		return l->running;
	return !l->returned || !ku_candidate_inside(l->candidate);
}

void ku_leader_stop(struct ku_leader *l)
{
	struct kustos_client *client = l->client;

	ku_begin(client);
	l->stopped = true;
	(void)interrupt(l);
	ku_unlock(client);
	ku_candidate_stop(l->candidate, true);
	ku_lock(client);
	if (ku_dispatch_pull(client, &l->call)) {
		l->lost = true; /* there may be no thread left to run it */
		run(l);
	}
	while (must_wait(l))
		ku_cond_wait(client, &client->state_changed, KUSTOS_FOREVER);
	ku_end(client);
}

void ku_leader_destroy(struct ku_leader *l)
{
	struct kustos_client *client = l->client;

	ku_begin(client);
	ku_unlock(client);
	ku_leader_stop(l);
	ku_lock(client);
	bool inside = l->running;
	l->destroyed = true;
	ku_unlock(client);
	if (!inside)
		leader_free(l);
	ku_lock(client);
	ku_end(client);
}

enum ku_candidacy ku_leader_state(struct ku_leader *l, bool *in_term)
{
	ku_lock(l->client);
	enum ku_candidacy state = ku_candidate_state_now(l->candidate);
	*in_term = l->hold != NULL;
	ku_unlock(l->client);
	return state;
}
