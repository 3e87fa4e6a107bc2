/* sem_rules.c - the rules about a semaphore. */
#include "sem_actor.h"

#include "model_impl.h"

/* How long a try may take. */
#define TRY_NS (TIMEOUT_NS / 2)

/* How long a lease's node may exist that nobody holds or waits for. */
#define STRAY_NS (2 * TIMEOUT_NS)

static bool is_excused(const struct place *place)
{
	return place->fate == FATE_REMOVED || place->fate == FATE_KILLED;
}

bool sem_reason(const struct turn *turn)
{
	bool reason = turn->stale || !subject_sure(&turn->actor->it) ||
		turn->actor->it.client->session.epoch != turn->epoch;

	for (int i = 0; i < turn->count; i++)
		reason = reason || turn->places[i] == NULL ||
			turn->places[i]->fate != FATE_THERE;
	return reason;
}

/* Return how many of its leases the turn holds, by the client's own clock. */
static int held_by(struct turn *turn)
{
	struct actor *a = turn->actor;
	int held = 0;

	if (turn->state != TURN_HOLDING || !subject_sure(&a->it))
		return 0;
	for (int i = 0; i < turn->count; i++) {
		const struct place *place = turn->places[i];

		if (place == NULL || is_excused(place) ||
			kustos_hold_state(turn->holds[i]) == KUSTOS_HOLD_LOST)
			continue;
		held++;
		if (place->fate != FATE_THERE)
			sim_fail(a->it.sim, "own node",
				"turn %d: held without %s", turn->number,
				place->path);
	}
	return held;
}

static int all_held(struct sim *sim)
{
	struct shared *s = sem_shared(sim);
	const struct actor *curator = sem_actor_of(sim, CURATOR);
	int held = 0;

	for (int i = 0; i < s->count; i++)
		for (int k = 0; k < SLOTS; k++)
			if (sem_actor_of(sim, i)->turns[k] != NULL)
				held += held_by(sem_actor_of(sim, i)->turns[k]);
	if (curator->step == STEP_HOLDS) {
		const struct place *place = sem_find(s, curator->lease);

		held += place != NULL && place->fate == FATE_THERE;
	}
	return held;
}

void sem_check_count(struct sim *sim)
{
	int held = all_held(sim);
	int room = sem_room(sim);

	sem_shared(sim)->figures.full += held == room;
	if (held > room)
		sim_fail(sim, "leases", "%d are held, and there is room for %d",
			held, room);
}

static void check_one(struct turn *turn, int which)
{
	struct actor *a = turn->actor;
	struct place *place = turn->places[which];

	if (place == NULL || place->lock)
		sim_fail(a->it.sim, "own node", "turn %d: %s was never made",
			turn->number, kustos_hold_path(turn->holds[which]));
	else if (place->held)
		sim_fail(a->it.sim, "own node", "turn %d: %s is another's",
			turn->number, place->path);
	else if (place->owner != a->it.client->session.id)
		sim_fail(a->it.sim, "own node",
			"turn %d: %s is another session's", turn->number,
			place->path);
	else if (place->fate != FATE_THERE && !is_excused(place))
		sim_fail(a->it.sim, "own node", "turn %d: %s is gone",
			turn->number, place->path);
	else if (place->fate == FATE_REMOVED &&
		place->gone_at < sim_now(a->it.sim) - sem_known_ns(a->it.sim))
		sim_fail(a->it.sim, "own node", "turn %d: %s is long gone",
			turn->number, place->path);
	else if (kustos_hold_token(turn->holds[which]) != place->token)
		sim_fail(a->it.sim, "token", "turn %d: %lld of %s",
			turn->number,
			(long long)kustos_hold_token(turn->holds[which]),
			place->path);
	else
		place->held = true;
}

void sem_granted(struct turn *turn)
{
	for (int i = 0; i < turn->count; i++) {
		if (kustos_hold_state(turn->holds[i]) == KUSTOS_HOLD_LOST)
			turn->stale = true;
		else
			check_one(turn, i);
	}
	if (!turn->stale && !subject_sure(&turn->actor->it))
		sim_fail(turn->actor->it.sim, "lease", "turn %d: without one",
			turn->number);
	sem_check_count(turn->actor->it.sim);
}

/* How it ends */

static bool is_overdue(const struct turn *turn)
{
	return ask_is_overdue(&turn->ask, TRY_NS);
}

static bool may_end(const struct turn *turn, enum kustos_err err)
{
	return ask_may_end(&turn->ask, err) ||
		(err == KUSTOS_EBUSY && turn->contended &&
			turn->ask.deadline == KUSTOS_NOW);
}

void sem_ended(struct turn *turn, enum kustos_err err)
{
	struct sim *sim = turn->actor->it.sim;

	sem_shared(sim)->figures.busy += err == KUSTOS_EBUSY;
	if (!may_end(turn, err))
		sim_fail(sim, "end", "turn %d: %s", turn->number,
			kustos_err_name(err));
	else if (is_overdue(turn))
		sim_fail(sim, "in time", "turn %d: %s", turn->number,
			kustos_err_name(err));
}

/* After each event */

static bool has_lock(struct shared *s, int64_t session)
{
	for (int i = s->first_there; i < s->place_count; i++)
		if (s->places[i]->lock && s->places[i]->fate == FATE_THERE &&
			s->places[i]->owner == session)
			return true;
	return false;
}

/* A lease's node that is not held keeps others waiting: only a session that has
   a lock may leave it there. */
static const char *check_stray(struct sim *sim, struct place *place)
{
	struct actor *a = sem_actor_of(sim, place->client);
	bool may_be = place->held || a->it.gone ||
		a->it.awake_since == INT64_MAX ||
		a->it.away_since != INT64_MAX ||
		place->owner != a->it.client->session.id ||
		has_lock(sem_shared(sim), place->owner);

	if (may_be)
		place->stray_since = 0;
	else if (place->stray_since == 0)
		place->stray_since = sim_now(sim);
	return place->stray_since > 0 &&
			sim_now(sim) > place->stray_since + STRAY_NS
		? "a lease's node is there that nobody needs"
		: NULL;
}

/* A client whose lease has ended gives up what it was about to get, and makes
   other nodes if its session has survived. */
static void count_loss(struct actor *a)
{
	int64_t epoch = a->it.gone ? 0 : a->it.client->session.epoch;

	if (epoch > a->epoch && a->epoch > 0)
		sem_shared(a->it.sim)->excuses++;
	a->epoch = epoch;
}

static const char *check_leases(struct sim *sim)
{
	struct shared *s = sem_shared(sim);
	const char *wrong = NULL;

	for (int i = 0; i < s->count; i++) {
		subject_mind(&sem_actor_of(sim, i)->it);
		count_loss(sem_actor_of(sim, i));
	}
	for (int i = s->first_there; i < s->place_count; i++) {
		struct place *place = s->places[i];

		if (place->fate == FATE_THERE && !place->lock &&
			place->client < OURS && wrong == NULL)
			wrong = check_stray(sim, place);
	}
	/* If the number is fixed, check the count after each event; otherwise
	   only at each grant. */
	if (!s->shared)
		sem_check_count(sim);
	else
		(void)all_held(sim);
	return wrong;
}

static const char *check_waits(struct sim *sim)
{
	struct shared *s = sem_shared(sim);

	for (int i = 0; i < s->count; i++)
		for (int k = 0; k < SLOTS; k++) {
			const struct turn *turn = sem_actor_of(sim, i)->turns[k];

			if (turn != NULL && turn->state == TURN_WAITING &&
				is_overdue(turn))
				sim_fail(sim, "in time", "turn %d still waits",
					turn->number);
		}
	return NULL;
}

static const char *final_turns(struct sim *sim)
{
	struct shared *s = sem_shared(sim);

	for (int i = 0; i < s->turn_count; i++)
		if (s->turns[i]->state != TURN_OVER)
			return "an acquisition never ended";
	return NULL;
}

const struct sim_invariant sem_rules[SEM_RULE_COUNT] = {
	{ "leases", check_leases, NULL },
	{ "in time", check_waits, final_turns },
};
