/* mutex_rules.c - what must hold of a mutex, and how a run comes to its end. */
#include "mutex_actor.h"

#include "model_impl.h"

/* How late something may be that happens by a timer: a step in the same
   instant, and the answer to a try. */
#define LATE_NS (2 * KU_NS_PER_MS)
#define TRY_NS (TIMEOUT_NS / 2)

/* After this silence a client counts as disconnected, and is not granted
   anything. */
#define KNOWN_NS (TIMEOUT_NS / 3)

/* Once faults are over: to be served; then, to be tidy. */
#define SERVED_NS (7 * TIMEOUT_NS)
#define TIDY_NS (4 * TIMEOUT_NS)

bool rules_sure(struct actor *a)
{
	const struct ku_session *session = &a->client->session;

	return (session->state == KUSTOS_CONNECTED ||
		       session->state == KUSTOS_SUSPENDED) &&
		ku_lease_left(&session->lease, sim_now(a->sim)) > 0;
}

/* The clock knows nothing of what is done from outside. */
static bool is_excused(const struct place *place)
{
	return place->fate == FATE_REMOVED || place->fate == FATE_KILLED;
}

bool rules_reason(struct turn *turn)
{
	return turn->stale || turn->place == NULL ||
		turn->place->fate != FATE_THERE || !rules_sure(turn->actor) ||
		turn->actor->client->session.epoch != turn->epoch;
}

/* A grant */

/* Could it be known that a node was deleted?  It could, a while after the
   server that the client talks to had applied it. */
static bool is_known_gone(struct actor *a, const struct place *place)
{
	int64_t before = sim_now(a->sim) - KNOWN_NS;
	int server = model_server_of(sim_model(a->sim), a->index);

	return place->fate != FATE_THERE && place->gone_at < before &&
		a->awake_since < before && server >= 0 &&
		sim_model(a->sim)->servers[server].lag_until < before;
}

static void check_place(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct place *place = turn->place;
	struct place *before = line_before(mutex_shared(a->sim), place);

	if (is_known_gone(a, place))
		sim_fail(a->sim, "own node", "turn %d: %s is long gone",
			turn->number, place->path);
	else if (place->owner != a->client->session.id)
		sim_fail(a->sim, "own node", "turn %d: %s is another session's",
			turn->number, place->path);
	else if (place->fate != FATE_THERE && !is_excused(place))
		sim_fail(a->sim, "own node", "turn %d: %s is gone",
			turn->number, place->path);
	else if (place->fate == FATE_THERE && before != NULL)
		sim_fail(a->sim, "one holder", "turn %d: %s is before %s",
			turn->number, before->path, place->path);
	else if (place->number < 0 || place->number == INT32_MAX)
		sim_fail(a->sim, "saturated", "turn %d: %s", turn->number,
			place->path);
}

static void check_token(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct shared *s = mutex_shared(a->sim);
	struct place *place = turn->place;
	int64_t *last = &s->token[place->line];

	if (place->grants++ > 0) {
		s->figures.handed_over++;
		if (place->grants > 1 + turn->object->local_handoffs)
			sim_fail(a->sim, "fair", "turn %d: hand-over %d of %s",
				turn->number, place->grants - 1, place->path);
	} else if (!is_excused(place)) {
		if (place->czxid <= *last)
			sim_fail(a->sim, "token", "turn %d: %lld after %lld",
				turn->number, (long long)place->czxid,
				(long long)*last);
		*last = place->czxid;
	}
}

/* Turns that share a node are served in their order. */
static void check_order(struct turn *turn)
{
	struct object *object = turn->object;
	struct actor *a = turn->actor;

	for (int i = 0; i < SLOTS && object->local_handoffs > 0; i++) {
		struct turn *other = a->turns[i];

		if (other != NULL && other->object == object &&
			other->state == TURN_WAITING && !other->fired &&
			other->number < turn->number)
			sim_fail(a->sim, "order", "turn %d before turn %d",
				turn->number, other->number);
	}
}

void rules_held(struct turn *turn)
{
	struct actor *a = turn->actor;
	const struct ku_session *session = &a->client->session;
	int64_t left = ku_lease_left(&session->lease, sim_now(a->sim));
	int64_t remaining = kustos_hold_remaining_ms(turn->hold);
	enum kustos_hold_state state = kustos_hold_state(turn->hold);
	bool connected = session->state == KUSTOS_CONNECTED;

	if (remaining > (state == KUSTOS_HOLD_LOST ? 0 : left / KU_NS_PER_MS))
		sim_fail(a->sim, "lease", "turn %d: %d ms remain", turn->number,
			(int)remaining);
	else if (state != KUSTOS_HOLD_LOST &&
		connected != (state == KUSTOS_HOLD_HELD))
		sim_fail(a->sim, "lease", "turn %d: %s while %s", turn->number,
			kustos_hold_state_name(state),
			kustos_state_name(session->state));
	else if (kustos_hold_token(turn->hold) != turn->place->czxid)
		sim_fail(a->sim, "token", "turn %d: it changed", turn->number);
}

void rules_granted(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct shared *s = mutex_shared(a->sim);

	s->figures.granted++;
	if (turn->place == NULL || turn->place->line != turn->line) {
		sim_fail(a->sim, "own node", "turn %d: %s was never made",
			turn->number, kustos_hold_path(turn->hold));
		return;
	}
	turn->place->released = false;
	check_order(turn);
	if (kustos_hold_state(turn->hold) == KUSTOS_HOLD_LOST) {
		turn->stale = true;
		return;
	}
	if (!rules_sure(a))
		sim_fail(a->sim, "lease", "turn %d: held without a lease",
			turn->number);
	check_place(turn);
	check_token(turn);
}

/* An end */

/* A paused client cannot do anything in time. */
static int64_t by(const struct actor *a, int64_t at_ns)
{
	return at_ns > a->awake_since ? at_ns : a->awake_since;
}

static bool is_bounded(const struct turn *turn)
{
	return turn->deadline != KUSTOS_NOW && turn->deadline != KUSTOS_FOREVER;
}

/* Past the time at which it should have ended? */
static bool is_overdue(const struct turn *turn)
{
	const struct actor *a = turn->actor;
	int64_t now = sim_now(a->sim);

	if (a->awake_since == INT64_MAX)
		return false;
	if (turn->fired)
		return now > by(a, turn->began) + LATE_NS;
	if (turn->deadline == KUSTOS_NOW)
		return now > by(a, turn->began) + TRY_NS;
	if (!is_bounded(turn))
		return false;
	return now > by(a,
			     turn->deadline > turn->began ? turn->deadline
							  : turn->began) +
		LATE_NS;
}

static bool may_end(const struct turn *turn, enum kustos_err err)
{
	const struct actor *a = turn->actor;

	switch (err) {
	case KUSTOS_OK:
		return true;
	case KUSTOS_EBUSY:
		return turn->deadline == KUSTOS_NOW && turn->contended;
	case KUSTOS_EDISCONNECTED:
		return turn->deadline == KUSTOS_NOW;
	case KUSTOS_ETIMEDOUT:
		return is_bounded(turn) && sim_now(a->sim) >= turn->deadline;
	case KUSTOS_ECANCELED:
		return turn->fired;
	case KUSTOS_ESATURATED:
		return turn->began <= mutex_shared(a->sim)->sound[turn->line];
	default:
		return false;
	}
}

void rules_ended(struct turn *turn, enum kustos_err err)
{
	struct sim *sim = turn->actor->sim;
	struct shared *s = mutex_shared(sim);

	s->figures.busy += err == KUSTOS_EBUSY;
	s->figures.saturated += err == KUSTOS_ESATURATED;
	if (!may_end(turn, err))
		sim_fail(sim, "end", "turn %d: %s", turn->number,
			kustos_err_name(err));
	else if (is_overdue(turn))
		sim_fail(sim, "in time", "turn %d: %s", turn->number,
			kustos_err_name(err));
}

/* After each event */

static void mind_pause(struct actor *a)
{
	if (sim_paused(a->sim, a->index))
		a->awake_since = INT64_MAX;
	else if (a->awake_since == INT64_MAX)
		a->awake_since = sim_now(a->sim);
}

/* A loss is told at once; one from outside as soon as it can be known. */
static const char *check_told(struct turn *turn, bool held)
{
	struct actor *a = turn->actor;
	int64_t now = sim_now(a->sim);
	bool gone = turn->place->fate != FATE_THERE;

	if (turn->told > 0 || a->awake_since == INT64_MAX) {
		turn->lost_since = 0;
		return NULL;
	}
	if (!held && turn->lost_since == 0)
		turn->lost_since = now;
	if (!held && now > turn->lost_since + LATE_NS)
		return "a hold was lost, and nobody was told";
	if (gone && now > by(a, turn->place->gone_at) + TIMEOUT_NS)
		return "the node of a hold is gone, and nobody was told";
	return NULL;
}

static const char *check_hold(struct turn *turn, int holders[LINES])
{
	struct actor *a = turn->actor;
	const struct ku_session *session = &a->client->session;

	/* Asking may declare a loss; and nobody is to be helped by being asked,
	   so what can be told without is told without. */
	bool held = rules_sure(a) &&
		kustos_hold_state(turn->hold) != KUSTOS_HOLD_LOST;
	const char *wrong = check_told(turn, held);

	if (wrong != NULL || !held)
		return wrong;
	if (session->epoch != turn->epoch)
		return "held in an epoch after that of its grant";
	if (is_excused(turn->place))
		return NULL;
	if (turn->place->fate != FATE_THERE)
		return "held, by its own clock, without a node";
	if (holders[turn->line]++ > 0)
		return "two hold it, each by its own clock";
	return NULL;
}

static const char *check_holds(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);
	int holders[LINES] = { 0 };
	const char *wrong = NULL;

	for (int i = 0; i < s->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		mind_pause(a);
		for (int k = 0; k < SLOTS && wrong == NULL; k++)
			if (a->turns[k] != NULL &&
				a->turns[k]->state == TURN_HOLDING &&
				a->turns[k]->place != NULL)
				wrong = check_hold(a->turns[k], holders);
	}
	return wrong;
}

static const char *check_waits(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);

	for (int i = 0; i < s->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		for (int k = 0; k < SLOTS; k++)
			if (a->turns[k] != NULL &&
				a->turns[k]->state == TURN_WAITING &&
				is_overdue(a->turns[k]))
				return "a wait did not end when it should";
	}
	return NULL;
}

/* The end: everybody is served, then nothing is left, then all is closed. */

void mutex_drain(struct sim *sim)
{
	mutex_shared(sim)->drain_since = sim_now(sim);
	for (int i = 0; i < MACHINES; i++)
		sched_resume(sim_sched(sim), i);
}

static bool everybody_served(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);
	bool late = sim_now(sim) > s->drain_since + SERVED_NS;
	bool served = foreign_done(mutex_actor_of(sim, FOREIGNER));

	for (int i = 0; i < s->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		for (int k = 0; k < SLOTS; k++) {
			if (a->turns[k] == NULL)
				continue;
			served = false;
			if (late)
				sim_fail(sim, "served", "turn %d still waits",
					a->turns[k]->number);
		}
	}
	return served;
}

static int server_watches(struct sim *sim)
{
	int n = 0;

	for (int i = 0; i < SERVERS; i++)
		n += (int)sim_model(sim)->servers[i].watches.count;
	return n;
}

static bool all_tidy(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);
	struct place *left = line_some(s, false, 0);
	int watches = server_watches(sim);

	for (int i = 0; i < s->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		if (!a->gone && a->client->watches.entries != NULL)
			watches++;
	}
	if (left == NULL && watches == 0)
		return true;
	if (sim_now(sim) <= s->idle_since + TIDY_NS)
		return false;
	if (left != NULL)
		sim_fail(sim, "orphan", "%s", left->path);
	else
		sim_fail(sim, "watches", "%d are left", watches);
	return false;
}

/* A client makes one node for each acquisition, but for those that it lost. */
static void check_made(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);

	for (int i = 0; i < s->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		if (a->made > a->started + a->excuses)
			sim_fail(sim, "creations",
				"client %d: %d nodes for %d turns and %d "
				"losses",
				i, a->made, a->started, a->excuses);
	}
}

bool mutex_settled(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);
	bool gone = true;

	if (s->idle_since == 0) {
		if (everybody_served(sim))
			s->idle_since = sim_now(sim);
		return false;
	}
	if (s->empty_since == 0) {
		if (all_tidy(sim))
			s->empty_since = sim_now(sim);
		check_made(sim);
		return false;
	}
	for (int i = 0; i < s->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		if (!a->gone && !a->closing)
			mutex_close(a, KUSTOS_FOREVER);
		gone = gone && a->gone;
	}
	return gone;
}

static const char *final_turns(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);

	for (int i = 0; i < s->turn_count; i++)
		if (s->turns[i]->state != TURN_OVER)
			return "an acquisition never ended";
	return NULL;
}

const struct sim_invariant mutex_rules[MUTEX_RULE_COUNT] = {
	{ "one holder", check_holds, NULL },
	{ "in time", check_waits, final_turns },
};
