/* mutex_actor.c - calls to a lock: one acquisition, from its start to its
   release. */
#include "mutex_actor.h"
#include "turn_slots.h"

#include <stdio.h>
#include <stdlib.h>

/* Objects */

static void make_object(struct actor *a, struct object *object)
{
	struct shared *s = mutex_shared(a->it.sim);
	struct sim_random *r = subject_random(&a->it);

	object->number = s->object_count++;
	object->line = s->crowd ? 0 : (int)sim_random_below(r, 4) / 3;
	object->local_handoffs = s->crowd || sim_random_below(r, 2) ? 0 : 2;
	if (mutex_recipe_of(a->it.sim)->make(a, object) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot make a lock");
}

void objects_make(struct actor *a)
{
	for (int i = 0; i < OBJECTS; i++)
		make_object(a, &a->objects[i]);
}

/* Acquisitions that wait end now; holds stay. */
static void free_object(struct actor *a, struct object *object)
{
	for (int i = 0; i < SLOTS; i++) {
		struct turn *turn = a->turns[i];

		if (turn == NULL || turn->object != object->number ||
			turn->state != TURN_WAITING)
			continue;
		ask_close(&turn->ask);
	}
	mutex_recipe_of(a->it.sim)->free(object);
	object->lock = NULL;
}

void object_replace(struct actor *a)
{
	struct object *object =
		&a->objects[sim_random_below(subject_random(&a->it), OBJECTS)];

	sim_say(a->it.sim, a->it.index, "destroy", mutex_lines[object->line],
		0);
	free_object(a, object);
	make_object(a, object);
}

void objects_free(void *actor)
{
	struct actor *a = actor;

	for (int i = 0; i < OBJECTS; i++)
		free_object(a, &a->objects[i]);
}

/* Turns */

static struct turn *turn_new(struct actor *a, const struct object *object)
{
	struct shared *s = mutex_shared(a->it.sim);
	struct turn *turn = sim_calloc(1, sizeof(*turn));

	s->turns = sim_room(s->turns, s->turn_count, &s->turn_room,
		sizeof(*s->turns));
	turn->actor = a;
	turn->object = object->number;
	turn->kazoo = object->kazoo;
	turn->local_handoffs = object->local_handoffs;
	turn->line = object->line;
	turn->had_excuse = a->excuses;
	turn->number = s->turn_count;
	s->turns[s->turn_count++] = turn;
	return turn;
}

static kustos_deadline some_deadline(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);

	switch (sim_random_below(r, mutex_shared(a->it.sim)->crowd ? 64 : 8)) {
	case 0:
		return KUSTOS_NOW;
	case 1:
	case 2:
		return sim_now(a->it.sim) +
			sim_random_between(r, 1, 100 * KU_NS_PER_MS);
	case 3:
		return sim_now(a->it.sim) +
			sim_random_between(r, 1, 2 * TIMEOUT_NS);
	case 4:
		return sim_random_below(r, 10) == 0 ? 1 : KUSTOS_FOREVER;
	default:
		return KUSTOS_FOREVER;
	}
}

/* How long to hold: mostly no time, seldom longer than a session lasts. */
static int64_t some_time(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);

	if (a->loner)
		return sim_random_between(r, 0, 5 * KU_NS_PER_MS);
	switch (sim_random_below(r, 16)) {
	case 0:
		return sim_random_between(r, 0, 2 * TIMEOUT_NS);
	case 1:
	case 2:
		return sim_random_between(r, 0, 200 * KU_NS_PER_MS);
	case 3:
	case 4:
	case 5:
	case 6:
		return sim_random_between(r, 0, 5 * KU_NS_PER_MS);
	default:
		return 0;
	}
}

static void say(struct turn *turn, const char *what)
{
	sim_say(turn->actor->it.sim, turn->actor->it.index, what,
		turn->place ? turn->place->path : mutex_lines[turn->line],
		turn->number);
}

/* Make a single try while the release is still on its way. */
static void try_again(struct actor *a)
{
	for (int i = 0; i < SLOTS; i++)
		if (a->turns[i] != NULL)
			return;
	if (!a->it.closing && !a->ending && !sim_draining(a->it.sim))
		turn_start(a, 0, true);
}

void turn_release(struct turn *turn)
{
	struct actor *a = turn->actor;
	bool reason = rules_reason(turn);
	bool sure = subject_sure(&a->it) &&
		a->it.client->session.epoch == turn->epoch;

	say(turn, "release");
	if (turn->place != NULL) {
		turn->place->released = true;
		/* A node behind this one goes at the same time.  Its owner may
		   learn that only when its turn has come. */
		if (sim_random_below(subject_random(&a->it), 40) == 0)
			line_remove_behind(a->it.sim, turn->place, 2);
	}
	turn->state = TURN_OVER;
	enum kustos_err err = kustos_hold_release(turn->hold);
	turn->hold = NULL;
	slots_over(turn);
	if (err != KUSTOS_OK && err != KUSTOS_ELOST)
		sim_fail(a->it.sim, "release", "turn %d: %s", turn->number,
			kustos_err_name(err));
	else if (err == KUSTOS_ELOST && !reason && !subject_ran_out(&a->it))
		sim_fail(a->it.sim, "release", "turn %d: lost for no reason",
			turn->number);
	else if (err == KUSTOS_OK && (!sure || turn->told > 0))
		sim_fail(a->it.sim, "release",
			"turn %d: given back after a loss", turn->number);
	else if (a->loner)
		try_again(a);
}

void turn_asked(void *arg, struct kustos_hold *hold)
{
	struct actor *a = arg;
	struct turn *turn = NULL;

	for (int i = 0; i < SLOTS; i++)
		if (a->turns[i] != NULL && a->turns[i]->hold == hold)
			turn = a->turns[i];
	sim_say(a->it.sim, a->it.index, "revoked", NULL,
		turn ? turn->number : -1);
	mutex_shared(a->it.sim)->figures.revoked++;
	if (turn == NULL || turn->state != TURN_HOLDING)
		sim_fail(a->it.sim, "told", "a hold is asked for that is none");
	else if (turn->place != NULL && !turn->place->asked)
		sim_fail(a->it.sim, "told", "turn %d: nobody has asked for it",
			turn->number);
	else if (sim_random_below(subject_random(&a->it), 2) == 0)
		turn_release(turn);
}

static void lost(void *arg, struct kustos_hold *hold)
{
	struct turn *turn = arg;
	struct actor *a = turn->actor;

	say(turn, "lost");
	mutex_shared(a->it.sim)->figures.lost++;
	if (turn->state != TURN_HOLDING || hold != turn->hold)
		sim_fail(a->it.sim, "told", "turn %d: lost after its release",
			turn->number);
	else if (++turn->told > 1)
		sim_fail(a->it.sim, "told", "turn %d: lost twice",
			turn->number);
	else if (!rules_reason(turn))
		sim_fail(a->it.sim, "told", "turn %d: lost for no reason",
			turn->number);
	else if (kustos_hold_state(hold) != KUSTOS_HOLD_LOST)
		sim_fail(a->it.sim, "told", "turn %d: lost, and yet not lost",
			turn->number);
	else if (sim_random_below(subject_random(&a->it), 2) == 0)
		turn_release(turn);
}

static void at_risk(void *arg, struct kustos_hold *hold)
{
	struct turn *turn = arg;
	struct sim *sim = turn->actor->it.sim;

	say(turn, "at risk");
	if (turn->state != TURN_HOLDING || hold != turn->hold)
		sim_fail(sim, "told", "turn %d: at risk after its release",
			turn->number);
	else if (kustos_hold_remaining_ms(hold) * KU_NS_PER_MS > turn->risk_ns)
		sim_fail(sim, "told", "turn %d: at risk with %d ms left",
			turn->number, (int)kustos_hold_remaining_ms(hold));
	else if (turn->warned && !turn->was_safe && !rules_was_safe(turn))
		sim_fail(sim, "told", "turn %d: at risk twice", turn->number);
	turn->warned = true;
	turn->warned_at = sim_now(sim);
	turn->was_safe = false;
}

/* Ask to be warned when the hold is at risk. */
static void mind_risk(struct turn *turn)
{
	struct actor *a = turn->actor;
	int64_t ms = sim_random_between(subject_random(&a->it), 0, TIMEOUT_MS);

	turn->risk_ns = ms * KU_NS_PER_MS;
	turn->minds_risk = true;
	if (kustos_hold_at_risk(turn->hold, ms, at_risk, turn) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot listen for risk");
}

static void hold_it(struct turn *turn, struct kustos_hold *hold)
{
	struct actor *a = turn->actor;
	struct shared *s = mutex_shared(a->it.sim);
	const struct recipe *recipe = mutex_recipe_of(a->it.sim);

	turn->state = TURN_HOLDING;
	turn->hold = hold;
	turn->epoch = a->it.client->session.epoch;
	turn->until = sim_now(a->it.sim) + (a->it.closing ? 0 : some_time(a));
	turn->place = recipe->seat ? line_find_token(s, kustos_hold_path(hold),
					     kustos_hold_token(hold))
				   : line_find(s, kustos_hold_path(hold));
	say(turn, "granted");
	rules_granted(turn);
	if (turn->place != NULL &&
		turn->until > sim_now(a->it.sim) + TIMEOUT_NS &&
		sim_random_below(subject_random(&a->it), 4) == 0)
		line_remove_soon(a->it.sim, turn->place, REMOVED_NS);
	if (kustos_hold_on_lost(hold, lost, turn) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot listen for a loss");
	if (turn->state == TURN_HOLDING &&
		sim_random_below(subject_random(&a->it), 4) == 0)
		mind_risk(turn);
	if (turn->state == TURN_HOLDING && recipe->holds != NULL)
		recipe->holds(turn);
	if (turn->state == TURN_HOLDING && turn->until <= sim_now(a->it.sim))
		turn_release(turn);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct turn *turn = arg;
	struct actor *a = turn->actor;

	if (turn->state != TURN_WAITING) {
		sim_fail(a->it.sim, "ends once", "turn %d ended twice",
			turn->number);
		return;
	}
	rules_ended(turn, err);
	if ((err == KUSTOS_OK) != (hold != NULL)) {
		sim_fail(a->it.sim, "ends once", "turn %d: %s with%s a hold",
			turn->number, kustos_err_name(err), hold ? "" : "out");
		return;
	}
	if (hold != NULL) {
		hold_it(turn, hold);
		return;
	}
	say(turn, kustos_err_name(err));
	slots_over(turn);
}

/* Is there anybody in the line now whom this turn has to wait for? */
static bool is_contended(struct turn *turn)
{
	struct actor *a = turn->actor;

	/* An operation whose outcome is unknown may have made the node. */
	if (mutex_recipe_of(a->it.sim)->seat &&
		a->it.client->ops.oldest != NULL)
		return true;
	for (int i = 0; i < SLOTS; i++) {
		struct turn *other = a->turns[i];

		if (other != NULL && other != turn &&
			other->line == turn->line &&
			!(other->shares && turn->shares))
			return other->contended = true;
	}
	return line_busy(mutex_shared(a->it.sim), turn->line, turn->shares,
		a->it.client->session.id);
}

/* Start the acquisition, in a free slot. */
static void turn_ask(struct turn *turn, int slot, const struct object *object)
{
	struct actor *a = turn->actor;

	ask_begin(&turn->ask, &a->it, turn->ask.deadline);
	a->turns[slot] = turn;
	a->started++;
	mutex_shared(a->it.sim)->figures.started++;
	turn->contended = is_contended(turn);
	say(turn,
		turn->from != NULL			      ? "beside"
			: turn->ask.deadline == KUSTOS_NOW    ? "try"
			: turn->ask.deadline < KUSTOS_FOREVER ? "wait"
							      : "acquire");
	enum kustos_err err = mutex_recipe_of(a->it.sim)->ask(turn, object,
		granted);
	if (err != KUSTOS_OK) {
		rules_ended(turn, err);
		say(turn, kustos_err_name(err));
		slots_over(turn);
	}
}

void turn_start(struct actor *a, int slot, bool once)
{
	const struct recipe *recipe = mutex_recipe_of(a->it.sim);
	struct sim_random *r = subject_random(&a->it);
	struct object *object = &a->objects[sim_random_below(r, OBJECTS)];
	struct turn *turn = turn_new(a, object);

	turn->ask.deadline = once ? KUSTOS_NOW : some_deadline(a);
	turn->fickle = sim_random_below(r, 3) == 0;
	if (recipe->choose != NULL)
		recipe->choose(turn);
	turn_ask(turn, slot, object);
}

void turn_beside(struct actor *a, int slot, struct turn *from,
	struct object *object)
{
	struct turn *turn = turn_new(a, object);

	turn->from = from;
	turn->shares = true;
	turn->local_handoffs = 0;
	turn->ask.deadline = some_deadline(a);
	turn->fickle = sim_random_below(subject_random(&a->it), 3) == 0;
	turn->wrong = from->shares || from->line != object->line ||
		from->kazoo != object->kazoo;
	turn->doomed = kustos_hold_state(from->hold) == KUSTOS_HOLD_LOST;
	turn_ask(turn, slot, object);
}

void turn_cancel(struct turn *turn)
{
	if (turn->ask.fired)
		return;
	say(turn, "cancel");
	ask_fire(&turn->ask);
}

void turn_step(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct sim_random *r = subject_random(&a->it);
	const struct recipe *recipe = mutex_recipe_of(a->it.sim);

	if (turn->state == TURN_HOLDING) {
		rules_held(turn);
		if (recipe->holds != NULL && !sim_draining(a->it.sim))
			recipe->holds(turn);
		if (turn->until <= sim_now(a->it.sim) ||
			sim_draining(a->it.sim))
			turn_release(turn);
		return;
	}
	rules_waiting(turn);
	if (!sim_draining(a->it.sim) && turn->fickle &&
		sim_random_below(r, 20) == 0)
		turn_cancel(turn);
}
