/* sem_turns.c - calls to a semaphore: one acquisition, of one lease or several,
   from its start to its release. */
#include "sem_actor.h"
#include "turn_slots.h"

#include <stdlib.h>

void sem_make(struct actor *a)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct shared *s = sem_shared(a->it.sim);

	if (s->shared)
		o.max_path = NUMBER;
	else
		o.max = s->room;
	if (kustos_semaphore_create(a->it.client, SEM, &o, &a->sem) !=
		KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot make a semaphore");
}

void sem_free(void *actor)
{
	struct actor *a = actor;

	for (int i = 0; i < SLOTS; i++) {
		struct turn *turn = a->turns[i];

		if (turn == NULL || turn->state != TURN_WAITING)
			continue;
		ask_close(&turn->ask);
	}
	kustos_semaphore_destroy(a->sem);
	a->sem = NULL;
}

static struct turn *turn_new(struct actor *a)
{
	struct shared *s = sem_shared(a->it.sim);
	struct turn *turn = sim_calloc(1, sizeof(*turn));

	s->turns = sim_room(s->turns, s->turn_count, &s->turn_room,
		sizeof(*s->turns));
	turn->actor = a;
	turn->number = s->turn_count;
	s->turns[s->turn_count++] = turn;
	return turn;
}

static kustos_deadline some_deadline(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);

	switch (sim_random_below(r, 8)) {
	case 0:
	case 1:
		return KUSTOS_NOW;
	case 2:
		return sim_now(a->it.sim) +
			sim_random_between(r, 1, 100 * KU_NS_PER_MS);
	case 3:
		return sim_now(a->it.sim) +
			sim_random_between(r, 1, 2 * TIMEOUT_NS);
	default:
		return KUSTOS_FOREVER;
	}
}

/* How long to hold: mostly no time, seldom longer than a session lasts. */
static int64_t some_time(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);

	switch (sim_random_below(r, 16)) {
	case 0:
		return sim_random_between(r, 0, 2 * TIMEOUT_NS);
	case 1:
	case 2:
	case 3:
		return sim_random_between(r, 0, 200 * KU_NS_PER_MS);
	case 4:
	case 5:
	case 6:
	case 7:
		return sim_random_between(r, 0, 5 * KU_NS_PER_MS);
	default:
		return 0;
	}
}

static void say(struct turn *turn, const char *what)
{
	sim_say(turn->actor->it.sim, turn->actor->it.index, what, LEASES,
		turn->number);
}

void sem_release(struct turn *turn)
{
	struct actor *a = turn->actor;
	bool reason = sem_reason(turn);

	say(turn, "release");
	turn->state = TURN_OVER;
	for (int i = 0; i < turn->count; i++) {
		if (turn->places[i] != NULL)
			turn->places[i]->held = false;
		enum kustos_err err = kustos_hold_release(turn->holds[i]);
		if (err != KUSTOS_OK && err != KUSTOS_ELOST)
			sim_fail(a->it.sim, "release", "turn %d: %s",
				turn->number, kustos_err_name(err));
		else if (err == KUSTOS_ELOST && !reason &&
			!subject_ran_out(&a->it))
			sim_fail(a->it.sim, "release",
				"turn %d: lost for no reason", turn->number);
	}
	slots_over(turn);
}

static void lost(void *arg, struct kustos_hold *hold)
{
	struct turn *turn = arg;
	struct actor *a = turn->actor;

	say(turn, "lost");
	sem_shared(a->it.sim)->figures.lost++;
	if (turn->state != TURN_HOLDING)
		sim_fail(a->it.sim, "told", "turn %d: lost after its release",
			turn->number);
	else if (kustos_hold_state(hold) != KUSTOS_HOLD_LOST)
		sim_fail(a->it.sim, "told", "turn %d: lost, and yet not lost",
			turn->number);
	else if (!sem_reason(turn))
		sim_fail(a->it.sim, "told", "turn %d: lost for no reason",
			turn->number);
	else if (turn->count == 1 &&
		sim_random_below(subject_random(&a->it), 2) == 0)
		sem_release(turn);
}

/* Count the earlier calls to the same object that wait, and are passed over. */
static void count_passed(const struct turn *turn)
{
	const struct actor *a = turn->actor;
	struct sem_figures *f = &sem_shared(a->it.sim)->figures;

	for (int i = 0; i < SLOTS; i++) {
		const struct turn *other = a->turns[i];

		if (other == NULL || other->state != TURN_WAITING ||
			other->ask.deadline == KUSTOS_NOW)
			continue;
		f->together += other->ask.began == turn->ask.began;
		f->passed += other->number < turn->number &&
			turn->ask.deadline != KUSTOS_NOW;
	}
}

static void hold_them(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct shared *s = sem_shared(a->it.sim);

	turn->state = TURN_HOLDING;
	turn->epoch = a->it.client->session.epoch;
	turn->until = sim_now(a->it.sim) + (a->it.closing ? 0 : some_time(a));
	count_passed(turn);
	s->figures.granted++;
	s->figures.many += turn->count > 1;
	for (int i = 0; i < turn->count; i++)
		turn->places[i] = sem_find(s, kustos_hold_path(turn->holds[i]));
	say(turn, "granted");
	sem_granted(turn);
	for (int i = 0; i < turn->count && turn->state == TURN_HOLDING; i++)
		if (kustos_hold_on_lost(turn->holds[i], lost, turn) !=
			KUSTOS_OK)
			sim_fail(a->it.sim, "simulator", "cannot listen");
	if (turn->state == TURN_HOLDING && turn->until <= sim_now(a->it.sim))
		sem_release(turn);
}

static void granted_many(void *arg, enum kustos_err err,
	struct kustos_hold *const *holds, int count)
{
	struct turn *turn = arg;
	struct actor *a = turn->actor;

	if (turn->state != TURN_WAITING) {
		sim_fail(a->it.sim, "ends once", "turn %d ended twice",
			turn->number);
		return;
	}
	sem_ended(turn, err);
	if (err != KUSTOS_OK) {
		if (holds != NULL || count != 0)
			sim_fail(a->it.sim, "all or none", "turn %d: %d leases",
				turn->number, count);
		say(turn, kustos_err_name(err));
		slots_over(turn);
		return;
	}
	if (count != turn->count) {
		sim_fail(a->it.sim, "all or none", "turn %d: %d leases of %d",
			turn->number, count, turn->count);
		return;
	}
	for (int i = 0; i < count; i++)
		turn->holds[i] = holds[i];
	hold_them(turn);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	granted_many(arg, err, hold != NULL ? &hold : NULL, hold != NULL);
}

static enum kustos_err ask(struct turn *turn)
{
	struct kustos_semaphore *sem = turn->actor->sem;

	if (turn->count == 1)
		return kustos_semaphore_acquire_async(sem, turn->ask.deadline,
			turn->ask.cancel, granted, turn);
	return kustos_semaphore_acquire_many_async(sem, turn->count,
		turn->ask.deadline, turn->ask.cancel, granted_many, turn);
}

/* May anybody else have a lease, or take one? */
static bool is_contended(struct turn *turn)
{
	const struct actor *a = turn->actor;
	struct shared *s = sem_shared(a->it.sim);

	for (int i = 0; i < SLOTS; i++)
		if (a->turns[i] != NULL && a->turns[i] != turn)
			return a->turns[i]->contended = true;
	for (int i = s->first_there; i < s->place_count; i++)
		if (s->places[i]->fate == FATE_THERE && !s->places[i]->lock)
			return true;
	return s->shared;
}

void sem_start(struct actor *a, int slot)
{
	struct shared *s = sem_shared(a->it.sim);
	struct sim_random *r = subject_random(&a->it);
	struct turn *turn = turn_new(a);

	turn->ask.deadline = some_deadline(a);
	turn->fickle = sim_random_below(r, 3) == 0;
	turn->count = 1;
	if (sim_random_below(r, 3) == 0)
		turn->count = (int)sim_random_between(r, 1,
			s->shared ? MOST : s->room);
	ask_begin(&turn->ask, &a->it, turn->ask.deadline);
	a->turns[slot] = turn;
	s->figures.started++;
	s->figures.tries += turn->ask.deadline == KUSTOS_NOW;
	s->asked += turn->count;
	turn->contended = is_contended(turn);
	say(turn, turn->ask.deadline == KUSTOS_NOW ? "try" : "acquire");
	enum kustos_err err = ask(turn);
	if (err != KUSTOS_OK) {
		sem_ended(turn, err);
		say(turn, kustos_err_name(err));
		slots_over(turn);
	}
}

void sem_cancel(struct turn *turn)
{
	if (turn->ask.fired)
		return;
	say(turn, "cancel");
	ask_fire(&turn->ask);
}

void sem_step(struct turn *turn)
{
	struct actor *a = turn->actor;

	if (turn->state == TURN_HOLDING) {
		if (turn->until <= sim_now(a->it.sim) ||
			sim_draining(a->it.sim))
			sem_release(turn);
	} else if (!sim_draining(a->it.sim) && turn->fickle &&
		sim_random_below(subject_random(&a->it), 20) == 0) {
		sem_cancel(turn);
	}
}
