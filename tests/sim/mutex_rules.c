/* mutex_rules.c - rules about a lock when it is granted, and while it is
   held. */
#include "mutex_actor.h"

#include "model_impl.h"
#include "sim_impl.h"

/* How soon a connected client knows what its server knows.  If messages may be
   late, only this is certain: a client does not act on what it was told more
   than a timeout ago, as its lease has ended. */
#define KNOWN_NS (20 * KU_NS_PER_MS)
#define KNOWN_LATE_NS TIMEOUT_NS

bool rules_excused(const struct place *place)
{
	return place->fate == FATE_REMOVED || place->fate == FATE_KILLED;
}

bool rules_reason(const struct turn *turn)
{
	return turn->stale || turn->place == NULL ||
		turn->place->fate != FATE_THERE ||
		!subject_sure(&turn->actor->it) ||
		turn->actor->it.client->session.epoch != turn->epoch;
}

int64_t rules_by(const struct actor *a, int64_t at_ns)
{
	return at_ns > a->it.awake_since ? at_ns : a->it.awake_since;
}

/* A grant */

int64_t rules_known_ns(const struct sim *sim)
{
	return sim->faults &
			(1u << SIM_DELAY_REPLY | 1u << SIM_HOLE |
				1u << SIM_SLOW)
		? KNOWN_LATE_NS
		: KNOWN_NS;
}

/* Must the client know that the node was deleted?  It must, some time after its
   server has applied the deletion.  Time that passed in the present step, in
   which the client may have stalled, does not count. */
static bool is_known_gone(struct actor *a, const struct place *place)
{
	struct shared *s = mutex_shared(a->it.sim);
	int server = model_server_of(sim_model(a->it.sim), a->it.index);
	int64_t since = sim_began(a->it.sim) - rules_known_ns(a->it.sim);

	return place->fate != FATE_THERE && server >= 0 &&
		place->gone_zxid <= s->applied[server] &&
		place->gone_at < since && a->it.awake_since < since;
}

static void check_place(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct place *place = turn->place;
	struct place *before = line_before(mutex_shared(a->it.sim), place);

	if (is_known_gone(a, place))
		sim_fail(a->it.sim, "own node", "turn %d: %s is long gone",
			turn->number, place->path);
	else if (place->owner != a->it.client->session.id)
		sim_fail(a->it.sim, "own node",
			"turn %d: %s is another session's", turn->number,
			place->path);
	else if (place->fate != FATE_THERE && !rules_excused(place))
		sim_fail(a->it.sim, "own node", "turn %d: %s is gone",
			turn->number, place->path);
	else if (place->fate == FATE_THERE && before != NULL)
		sim_fail(a->it.sim, "one holder", "turn %d: %s is before %s",
			turn->number, before->path, place->path);
	else if (kustos_hold_token(turn->hold) != place->token)
		sim_fail(a->it.sim, "token", "turn %d: %lld of %s",
			turn->number, (long long)kustos_hold_token(turn->hold),
			place->path);
	else if (place->number < 0 || place->number == INT32_MAX)
		sim_fail(a->it.sim, "saturated", "turn %d: %s", turn->number,
			place->path);
}

/* Is its token greater than all tokens granted before?  A reader need not
   exceed other readers, and a copy may equal the token of its writer. */
static bool is_later(const struct place *place, const int64_t granted[2])
{
	int64_t token = place->token;

	return (place->shares || token > granted[true]) &&
		(place->copies ? token >= granted[false]
			       : token > granted[false]);
}

static void check_token(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct shared *s = mutex_shared(a->it.sim);
	struct place *place = turn->place;
	int64_t *granted = s->granted[place->line];

	if (place->grants++ > 0) {
		s->figures.handed_over++;
		if (place->grants > 1 + turn->local_handoffs)
			sim_fail(a->it.sim, "fair",
				"turn %d: hand-over %d of %s", turn->number,
				place->grants - 1, place->path);
	} else if (!rules_excused(place)) {
		if (!is_later(place, granted))
			sim_fail(a->it.sim, "token",
				"turn %d: %lld after writer %lld, reader %lld",
				turn->number, (long long)place->token,
				(long long)granted[false],
				(long long)granted[true]);
		if (place->token > granted[place->shares])
			granted[place->shares] = place->token;
	}
}

/* Turns that share a node must be served in their order. */
static void check_order(struct turn *turn)
{
	struct actor *a = turn->actor;

	for (int i = 0; i < SLOTS && turn->local_handoffs > 0; i++) {
		struct turn *other = a->turns[i];

		if (other != NULL && other->object == turn->object &&
			other->shares == turn->shares &&
			other->state == TURN_WAITING && !other->ask.fired &&
			!other->ask.closed && other->number < turn->number)
			sim_fail(a->it.sim, "order", "turn %d before turn %d",
				turn->number, other->number);
	}
}

/* A reader's node beside a writer's must have been made while the writer's
   existed. */
static void check_beside(struct turn *turn)
{
	struct actor *a = turn->actor;
	const struct place *place = turn->place;
	const struct place *writer = turn->from->place;

	mutex_shared(a->it.sim)->figures.downgraded++;
	if (place->late || (place->copies && place->twin != writer))
		sim_fail(a->it.sim, "downgrade",
			"turn %d: %s had gone before %s", turn->number,
			writer->path, place->path);
	else if (place->owner != writer->owner)
		sim_fail(a->it.sim, "downgrade",
			"turn %d: %s is of a new session", turn->number,
			place->path);
}

/* While it is held, nobody for whom it would have to wait may come before
   it. */
static void check_still_first(struct turn *turn)
{
	struct shared *s = mutex_shared(turn->actor->it.sim);
	const struct place *place = turn->place;
	const struct place *before = place->fate == FATE_THERE && !place->late
		? line_before(s, place)
		: NULL;

	if (before != NULL && kustos_hold_state(turn->hold) != KUSTOS_HOLD_LOST)
		sim_fail(turn->actor->it.sim, "one holder",
			"turn %d: %s came before %s", turn->number,
			before->path, place->path);
}

void rules_held(struct turn *turn)
{
	struct actor *a = turn->actor;
	const struct ku_session *session = &a->it.client->session;
	/* Ask in this order: later answers may only show less than earlier
	   ones. */
	enum kustos_hold_state state = kustos_hold_state(turn->hold);
	bool connected = session->state == KUSTOS_STATE_CONNECTED;
	int64_t remaining = kustos_hold_remaining_ms(turn->hold);
	int64_t left = ku_lease_left(&session->lease, sim_now(a->it.sim));

	if (remaining > (state == KUSTOS_HOLD_LOST ? 0 : left / KU_NS_PER_MS))
		sim_fail(a->it.sim, "lease", "turn %d: %d ms remain",
			turn->number, (int)remaining);
	else if (state != KUSTOS_HOLD_LOST &&
		connected != (state == KUSTOS_HOLD_HELD))
		sim_fail(a->it.sim, "lease", "turn %d: %s while %s",
			turn->number, kustos_hold_state_name(state),
			kustos_state_name(session->state));
	else if (kustos_hold_token(turn->hold) != turn->place->token)
		sim_fail(a->it.sim, "token", "turn %d: it changed",
			turn->number);
	else
		check_still_first(turn);
}

void rules_granted(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct shared *s = mutex_shared(a->it.sim);

	s->figures.granted++;
	s->figures.shared += turn->shares;
	if (turn->place == NULL || turn->place->line != turn->line) {
		sim_fail(a->it.sim, "own node", "turn %d: %s was never made",
			turn->number, kustos_hold_path(turn->hold));
		return;
	}
	turn->place->released = false;
	check_order(turn);
	if (kustos_hold_state(turn->hold) == KUSTOS_HOLD_LOST) {
		turn->stale = true;
		return;
	}
	if (!subject_sure(&a->it))
		sim_fail(a->it.sim, "lease", "turn %d: held without a lease",
			turn->number);
	if (turn->from != NULL)
		check_beside(turn);
	check_place(turn);
	check_token(turn);
}
