/*
 * scenario_mutex.c - mutexes of many clients on shared lines, under all faults.
 *
 * Each actor has a client with a few mutex objects on one or two lines, asks
 * for holds with all kinds of deadlines, cancels some, holds for a while or not
 * at all, and now and then closes its client and opens another.  A foreigner
 * puts contenders of other libraries between them.  In some seeds many wait in
 * one line.  Among them may be loners, which have one turn at a time and try
 * again as soon as they have released it.  The rules:
 *
 *   one holder   at most one client holds a line by its own clock; its node
 *                exists, and no other node stands before it
 *   own node     that node is of this session, and was not deleted by mistake
 *   token        the token grows from holder to holder; a local hand-over keeps
 *                it
 *   told         a loss is told once, at once, for a reason, and never after
 *                the release
 *   in time      each acquisition ends once, when its deadline or cancel object
 *                says, with an error that fits
 *   served       after the faults everybody who waits is served
 *   orphan       after that neither nodes nor watches of our clients are left
 *   creations    at most one node for each acquisition, except for lost nodes
 *
 * No clock can know what is done from outside (nodes deleted, sessions ended):
 * in these cases the loss must be told soon.
 */
#include "mutex_actor.h"
#include "turn_slots.h"

#include <stdlib.h>

static struct mutex_figures last_figures;

struct mutex_figures mutex_last_figures(void)
{
	return last_figures;
}

struct shared *mutex_shared(struct sim *sim)
{
	return sim_state(sim);
}

struct actor *mutex_actor_of(struct sim *sim, int index)
{
	return sim_actor_state(sim, index);
}

const struct recipe *mutex_recipe_of(struct sim *sim)
{
	return mutex_shared(sim)->recipe;
}

static void open_client(struct actor *a)
{
	a->ending = false;
	if (subject_open(&a->it))
		objects_make(a);
}

/* End all turns, so that the lines become empty ... */
static void give_up_all(void *arg, uint64_t tag)
{
	struct actor *a = arg;

	(void)tag;
	mutex_shared(a->it.sim)->hush = !sim_draining(a->it.sim);
	for (int i = 0; i < SLOTS; i++) {
		if (a->turns[i] == NULL)
			continue;
		if (a->turns[i]->state == TURN_WAITING)
			turn_cancel(a->turns[i]);
		else
			turn_release(a->turns[i]);
	}
}

/* ... and then start one turn in each client. */
static void ask(void *arg, uint64_t tag)
{
	struct actor *a = arg;

	(void)tag;
	if (!a->it.gone && !a->ending && !a->it.closing &&
		a->turns[0] == NULL && !sim_draining(a->it.sim))
		turn_start(a, 0, false);
}

static void servers_stop(void *arg, uint64_t tag)
{
	struct sim *sim = arg;

	(void)tag;
	mutex_shared(sim)->hush = false;
	for (int i = 0; i < SERVERS && !sim_draining(sim); i++)
		model_server_stop(sim_model(sim), i);
}

static void servers_start(void *arg, uint64_t tag)
{
	struct sim *sim = arg;

	(void)tag;
	for (int i = 0; i < SERVERS; i++)
		model_server_start(sim_model(sim), i);
}

/* All servers go down while nodes are being made, and stay down longer than a
   client waits before it opens a new handle.  The old session lives on, as
   sessions expire only while there is a leader.  So when the client comes back,
   nodes of its old session still exist, and are no longer its own. */
static void plan_outage(struct sim *sim, struct sim_random *r, int64_t quiet)
{
	struct sched *sched = sim_sched(sim);
	int64_t near = quiet + 100 * KU_NS_PER_MS;
	int64_t down = near + sim_random_between(r, 100, 1000) * 1000;

	for (int i = 0; i < mutex_shared(sim)->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		sched_add(sched, i, quiet, give_up_all, a, 0);
		sched_add(sched, i, near, ask, a, 0);
	}
	sched_add(sched, SCHED_NOBODY, down, servers_stop, sim, 0);
	sched_add(sched, SCHED_NOBODY, down + 5 * TIMEOUT_NS / 2, servers_start,
		sim, 0);
}

/* Choose what the run of this seed is like. */
static void choose(struct sim *sim)
{
	struct sim_random *r = sim_actor_random(sim, 0);
	struct shared *s = mutex_shared(sim);
	bool foreign = sim_random_below(r, 2) == 0;

	s->random.state = sim_random_next(r);
	s->crowd = sim_random_below(r, 5) < 2;
	s->count = (int)sim_random_between(r, s->crowd ? CROWD : 2, OURS);
	s->slots = s->crowd ? SLOTS : 5;
	mutex_actor_of(sim, FOREIGNER)->active = foreign;
	bool loners = s->crowd && sim_random_below(r, 2) == 0;
	for (int i = CROWD; i < OURS; i++)
		mutex_actor_of(sim, i)->loner = loners;
	int64_t first = sim_now(sim) +
		sim_random_between(r, 1, 2 * TIMEOUT_MS) * KU_NS_PER_MS;
	int outages = sim_random_below(r, 3) == 0 ? 2 : 0;
	for (int i = 0; i < outages; i++)
		plan_outage(sim, r, first + i * 4 * TIMEOUT_NS);
}

static void init(struct sim *sim, int index, void *self)
{
	struct actor *a = self;

	subject_init(&a->it, sim, index, objects_free);
	if (index == 0)
		choose(sim);
	if (index >= mutex_shared(sim)->count)
		return;
	a->active = true;
	open_client(a);
}

/* Cancel the oldest turn: giving up near the beginning of a line is more likely
   to find errors than in its middle. */
static void cancel_oldest(struct actor *a)
{
	struct turn *oldest = NULL;

	for (int i = 0; i < SLOTS; i++) {
		struct turn *turn = a->turns[i];

		if (turn != NULL && turn->state == TURN_WAITING &&
			(oldest == NULL || turn->number < oldest->number))
			oldest = turn;
	}
	if (oldest != NULL)
		turn_cancel(oldest);
}

static void step_ours(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	struct shared *s = mutex_shared(a->it.sim);
	int slot = (int)sim_random_below(r, (uint64_t)s->slots);

	if (a->it.gone && !sim_draining(a->it.sim)) {
		open_client(a);
	} else if (a->it.gone || a->it.closing) {
		return;
	} else if (a->ending) {
		slots_close(a, turn_release, turn_cancel);
	} else if (sim_draining(a->it.sim)) {
		for (int i = 0; i < SLOTS; i++)
			if (a->turns[i] != NULL)
				turn_step(a->turns[i]);
	} else if (sim_random_below(r, 2000) == 0) {
		a->ending = true;
	} else if (sim_random_below(r, 500) == 0) {
		object_replace(a);
	} else if (s->crowd && sim_random_below(r, 8) == 0) {
		cancel_oldest(a);
	} else if (a->turns[slot] != NULL) {
		turn_step(a->turns[slot]);
	} else if (s->hush) {
		return;
	} else if (s->crowd) {
		int slots = a->loner ? 1 : s->slots;

		for (int i = 0; i < slots && !a->ending; i++)
			if (a->turns[i] == NULL)
				turn_start(a, i, false);
	} else if (sim_random_below(r, 3) == 0) {
		turn_start(a, slot, false);
	}
}

static void step(void *self)
{
	struct actor *a = self;

	if (!a->active)
		return;
	if (a->it.index == FOREIGNER)
		foreign_step(a);
	else
		step_ours(a);
}

static void fini(void *self)
{
	struct actor *a = self;

	a->ending = true;
	slots_fini(a, turn_release, turn_cancel);
}

void mutex_end(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);

	last_figures = s->figures;
	for (int i = 0; i < s->place_count; i++)
		free(s->places[i]);
	for (int i = 0; i < s->turn_count; i++) {
		kustos_cancel_destroy(s->turns[i]->ask.cancel);
		free(s->turns[i]);
	}
	free(s->places);
	free(s->turns);
	ledger_free(&s->ledger);
}

const struct sim_actor mutex_client = {
	SUBJECT_ACTOR,
	.fini = fini,
};

static void begin(struct sim *sim)
{
	mutex_shared(sim)->recipe = &mutex_recipe;
}

const struct sim_scenario scenario_mutex = {
	.name = "mutex",
	.about = "mutexes of many clients on shared lines, all faults",
	.begin = begin,
	LOCK_SCENARIO,
};
