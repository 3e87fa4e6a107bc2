/*
 * scenario_semaphore.c - a semaphore that many clients share, under all faults.
 *
 * Each actor has a client with one semaphore, asks for one lease or several
 * with all kinds of deadlines, cancels some, holds for a while or not at all,
 * and now and then closes its client and opens another.  Another actor takes
 * leases as Curator's clients do.  In some seeds the number of leases is fixed,
 * in the others it stands in a node and changes all the time.  The rules:
 *
 *   leases       never more leases are held, each by its holder's own clock,
 *                than there may be; if the number changes, this is checked at
 *                each grant
 *   all or none  an acquisition ends with all of its leases or with none
 *   own node     each lease has a node of this session, and no two have the
 *                same
 *   told         a loss is told while the lease is held, and for a reason
 *   in time      each acquisition ends once, when its deadline or cancel object
 *                says, with an error that fits
 *   stray        if a lease's node is held by nobody, its session has a lock
 *   served       after the faults everybody who waits is served
 *   orphan       after that neither nodes nor watches of our clients are left
 *   creations    at most two nodes for each lease, except for lost nodes
 */
#include "sem_actor.h"
#include "turn_slots.h"

#include <stdlib.h>

/* After the faults end: the time until all are served, and then until nothing
   is left. */
#define SERVED_NS (7 * TIMEOUT_NS)
#define TIDY_NS (4 * TIMEOUT_NS)

static struct sem_figures last_figures;

struct sem_figures sem_last_figures(void)
{
	return last_figures;
}

struct shared *sem_shared(struct sim *sim)
{
	return sim_state(sim);
}

struct actor *sem_actor_of(struct sim *sim, int index)
{
	return sim_actor_state(sim, index);
}

static void open_client(struct actor *a)
{
	a->ending = false;
	if (subject_open(&a->it))
		sem_make(a);
}

/* Choose what the run of this seed is like. */
static void choose(struct sim *sim)
{
	struct sim_random *r = sim_actor_random(sim, 0);
	struct shared *s = sem_shared(sim);

	s->random.state = sim_random_next(r);
	s->count = (int)sim_random_between(r, 2, OURS);
	s->shared = sim_random_below(r, 2) == 0;
	s->room = (int)sim_random_between(r, 1, MOST);
	sem_actor_of(sim, CURATOR)->active = sim_random_below(r, 2) == 0;
	sem_actor_of(sim, CURATOR)->room = s->shared ? 0 : s->room;
	sem_actor_of(sim, ADMIN)->active = s->shared;
}

static void init(struct sim *sim, int index, void *self)
{
	struct actor *a = self;

	subject_init(&a->it, sim, index, sem_free);
	if (index == 0)
		choose(sim);
	if (index >= sem_shared(sim)->count)
		return;
	a->active = true;
	open_client(a);
}

/* Ask once; or, now and then, as often as the client may, at the same moment. */
static void ask_some(struct actor *a, int slot)
{
	bool all = sim_random_below(subject_random(&a->it), 4) == 0;

	for (int i = 0; i < SLOTS; i++)
		if (i == slot || (all && a->turns[i] == NULL))
			sem_start(a, i);
}

static void step_ours(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	int slot = (int)sim_random_below(r, SLOTS);

	if (a->it.gone && !sim_draining(a->it.sim)) {
		open_client(a);
	} else if (a->it.gone || a->it.closing) {
		return;
	} else if (a->ending) {
		slots_close(a, sem_release, sem_cancel);
	} else if (sim_draining(a->it.sim)) {
		for (int i = 0; i < SLOTS; i++)
			if (a->turns[i] != NULL)
				sem_step(a->turns[i]);
	} else if (sim_random_below(r, 2000) == 0) {
		a->ending = true;
	} else if (sim_random_below(r, 500) == 0) {
		sem_free(a);
		sem_make(a);
	} else if (a->turns[slot] != NULL) {
		sem_step(a->turns[slot]);
	} else if (sim_random_below(r, 3) == 0) {
		ask_some(a, slot);
	}
}

static void step(void *self)
{
	struct actor *a = self;

	if (!a->active)
		return;
	if (a->it.index >= OURS)
		sem_foreign_step(a);
	else
		step_ours(a);
}

static void fini(void *self)
{
	slots_fini(self, sem_release, sem_cancel);
}

static void end(struct sim *sim)
{
	struct shared *s = sem_shared(sim);

	last_figures = s->figures;
	for (int i = 0; i < s->place_count; i++)
		free(s->places[i]);
	for (int i = 0; i < s->turn_count; i++) {
		kustos_cancel_destroy(s->turns[i]->ask.cancel);
		free(s->turns[i]);
	}
	free(s->places);
	free(s->turns);
	free(s->changes);
	ledger_free(&s->ledger);
}

/* The end */

static bool served(struct sim *sim)
{
	struct shared *s = sem_shared(sim);
	bool late = sim_now(sim) > sim_drain_since(sim) + SERVED_NS;
	bool all = true;

	for (int i = OURS; i < MACHINES; i++)
		all = sem_foreign_done(sem_actor_of(sim, i)) && all;
	for (int i = 0; i < s->count; i++)
		for (int k = 0; k < SLOTS; k++) {
			const struct turn *turn = sem_actor_of(sim, i)->turns[k];

			all = all && turn == NULL;
			if (turn != NULL && late)
				sim_fail(sim, "served", "turn %d still waits",
					turn->number);
		}
	/* Destroy the semaphores first: without them nothing may be left. */
	for (int i = 0; all && i < s->count; i++) {
		struct actor *a = sem_actor_of(sim, i);

		if (!a->it.gone && !a->it.closing)
			sem_free(a);
	}
	return all;
}

/* A lease may have one node when it is tried for, and one when it is waited
   for, except for nodes that were lost. */
static void check_made(struct sim *sim)
{
	const struct shared *s = sem_shared(sim);

	if (s->made > 2 * s->asked + MOST * s->excuses)
		sim_fail(sim, "creations", "%d nodes for %d leases, %d losses",
			s->made, s->asked, s->excuses);
}

static const char *left(struct sim *sim)
{
	const struct place *place = sem_some(sem_shared(sim), true);

	check_made(sim);
	return place != NULL ? place->path : NULL;
}

static bool settled(struct sim *sim)
{
	static const struct ending_rules rules = { served, left, TIDY_NS };

	return ending_settled(sim, &sem_shared(sim)->ending, &rules);
}

static const struct sim_actor actor = {
	SUBJECT_ACTOR,
	.fini = fini,
};

const struct sim_scenario scenario_semaphore = {
	.name = "semaphore",
	.about = "one semaphore of many clients, all faults",
	.clients = MACHINES,
	.step_ms = 20,
	.faults.rate = {
		SUBJECT_FAULTS,
		[SIM_DELETE] = 1000,
	},
	SUBJECT_SCENARIO,
	.prefix = PREFIX,
	.end = end,
	.settled = settled,
	.settle_ms = 60000,
	.note = sem_note,
	.change = sem_change,
	.invariants = sem_rules,
	.invariant_count = SEM_RULE_COUNT,
};
