/* mutex_rules.c - what must hold of a mutex at all times. */
#include "mutex_actor.h"

#include "model_impl.h"
#include "sim_impl.h"

/* How late something may be that happens by a timer: a step in the same
   instant, and the answer to a try. */
#define LATE_NS (2 * KU_NS_PER_MS)
#define TRY_NS (TIMEOUT_NS / 2)

/* How soon a client that is in touch knows what its server knows.  If messages
   may be late, only this is certain: what it was told longer ago it does not
   go by, as its lease has ended. */
#define KNOWN_NS (20 * KU_NS_PER_MS)
#define KNOWN_LATE_NS TIMEOUT_NS

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

static int64_t known_ns(const struct sim *sim)
{
	return sim->faults & (1u << SIM_DELAY_REPLY | 1u << SIM_HOLE)
		? KNOWN_LATE_NS
		: KNOWN_NS;
}

/* Could it be known that a node was deleted?  It could, a while after the
   server that the client talks to had applied it. */
static bool is_known_gone(struct actor *a, const struct place *place)
{
	struct shared *s = mutex_shared(a->sim);
	int server = model_server_of(sim_model(a->sim), a->index);

	return place->fate != FATE_THERE && server >= 0 &&
		place->gone_zxid <= s->applied[server] &&
		a->awake_since < sim_now(a->sim) - known_ns(a->sim);
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
		if (place->grants > 1 + turn->local_handoffs)
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
	struct actor *a = turn->actor;

	for (int i = 0; i < SLOTS && turn->local_handoffs > 0; i++) {
		struct turn *other = a->turns[i];

		if (other != NULL && other->mutex == turn->mutex &&
			other->state == TURN_WAITING && !other->fired &&
			!other->closed && other->number < turn->number)
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
	if (turn->fired || turn->closed)
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
	case KUSTOS_ECLOSED:
		return turn->closed;
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

/* So is a risk.  Whether it has passed is looked at now and then only. */
static const char *check_risk(struct turn *turn)
{
	struct actor *a = turn->actor;
	int64_t now = sim_now(a->sim);
	int64_t left = ku_lease_left(&a->client->session.lease, now);

	if (!turn->minds_risk || a->awake_since == INT64_MAX)
		return NULL;
	if (left > turn->risk_ns) {
		turn->risk_since = 0;
		turn->was_safe = true;
		if (turn->safe_since == 0)
			turn->safe_since = now;
		if (now > turn->safe_since + 10 * LATE_NS)
			turn->warned = false;
		return NULL;
	}
	turn->safe_since = 0;
	if (turn->risk_since == 0)
		turn->risk_since = now;
	return !turn->warned && now > by(a, turn->risk_since) + LATE_NS
		? "a hold is at risk, and nobody was told"
		: NULL;
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

	if (wrong == NULL && held)
		wrong = check_risk(turn);
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

/* Remember what each server had applied a while ago. */
static void mind_servers(struct sim *sim, struct shared *s)
{
	if (sim_now(sim) < s->next_look)
		return;
	s->next_look = sim_now(sim) + known_ns(sim);
	for (int i = 0; i < SERVERS; i++) {
		s->applied[i] = s->applying[i];
		s->applying[i] = sim_model(sim)->servers[i].zxid;
	}
}

static const char *check_holds(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);
	int holders[LINES] = { 0 };
	const char *wrong = NULL;

	mind_servers(sim, s);
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
