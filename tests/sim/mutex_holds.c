/* mutex_holds.c - rules about all holds, checked after each event. */
#include "mutex_actor.h"

#include "model_impl.h"

/* A loss must be told at once; a loss from outside within a timeout. */
static const char *check_told(struct turn *turn, bool held)
{
	struct actor *a = turn->actor;
	int64_t now = sim_now(a->it.sim);
	bool gone = turn->place->fate != FATE_THERE;

	if (turn->told > 0 || a->it.awake_since == INT64_MAX) {
		turn->lost_since = 0;
		return NULL;
	}
	if (!held && turn->lost_since == 0)
		turn->lost_since = now;
	if (!held && now > turn->lost_since + ASK_LATE_NS)
		return "a hold was lost, and nobody was told";
	if (gone && now > rules_by(a, turn->place->gone_at) + TIMEOUT_NS)
		return "the node of a hold is gone, and nobody was told";
	return NULL;
}

/* An answer may have renewed the lease, and then the client stood still within
   the same step, so that no event has shown it. */
bool rules_was_safe(const struct turn *turn)
{
	const struct ku_session *session = &turn->actor->it.client->session;

	return session->heard_ns > turn->warned_at &&
		ku_lease_left(&session->lease, session->heard_ns) >
		turn->risk_ns;
}

/* A risk must be told at once, too.  The library checks only now and then
   whether the risk has passed. */
static const char *check_risk(struct turn *turn)
{
	struct actor *a = turn->actor;
	int64_t now = sim_now(a->it.sim);
	int64_t left = ku_lease_left(&a->it.client->session.lease, now);

	if (!turn->minds_risk || a->it.awake_since == INT64_MAX)
		return NULL;
	if (left > turn->risk_ns) {
		turn->risk_since = 0;
		turn->was_safe = true;
		if (turn->safe_since == 0)
			turn->safe_since = now;
		if (now > turn->safe_since + 10 * ASK_LATE_NS)
			turn->warned = false;
		return NULL;
	}
	turn->safe_since = 0;
	turn->was_safe = turn->was_safe || rules_was_safe(turn);
	if (turn->risk_since == 0)
		turn->risk_since = now;
	return !turn->warned &&
			now > rules_by(a, turn->risk_since) + ASK_LATE_NS
		? "a hold is at risk, and nobody was told"
		: NULL;
}

/* The turns that hold a lock, each by its own clock. */
struct holders {
	int count;
	const struct turn *turns[OURS * SLOTS];
};

static bool may_overlap(const struct turn *one, const struct turn *other)
{
	return one->line != other->line || (one->shares && other->shares) ||
		one->from == other || other->from == one;
}

static const char *count_holder(struct holders *holders,
	const struct turn *turn)
{
	for (int i = 0; i < holders->count; i++) {
		const struct turn *other = holders->turns[i];

		if (!may_overlap(turn, other))
			return "two hold it, each by its own clock";
		mutex_shared(turn->actor->it.sim)
			->figures.together += other->line == turn->line;
	}
	holders->turns[holders->count++] = turn;
	return NULL;
}

static const char *check_hold(struct turn *turn, struct holders *holders)
{
	struct actor *a = turn->actor;
	const struct ku_session *session = &a->it.client->session;

	/* kustos_hold_state() may declare a loss.  The check must not help the
	   client to find it, so ask only if the clock says that it is held. */
	bool held = subject_sure(&a->it) &&
		kustos_hold_state(turn->hold) != KUSTOS_HOLD_LOST;
	const char *wrong = check_told(turn, held);

	if (wrong == NULL && held)
		wrong = check_risk(turn);
	if (wrong != NULL || !held)
		return wrong;
	if (session->epoch != turn->epoch)
		return "held in an epoch after that of its grant";
	if (rules_excused(turn->place))
		return NULL;
	if (turn->place->fate != FATE_THERE)
		return "held, by its own clock, without a node";
	return count_holder(holders, turn);
}

/* Remember what each server had applied some time ago. */
static void mind_servers(struct sim *sim, struct shared *s)
{
	if (sim_now(sim) < s->next_look)
		return;
	s->next_look = sim_now(sim) + rules_known_ns(sim);
	for (int i = 0; i < SERVERS; i++) {
		s->applied[i] = s->applying[i];
		s->applying[i] = sim_model(sim)->servers[i].zxid;
	}
}

static const char *check_holds(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);
	struct holders holders;
	const char *wrong = NULL;

	holders.count = 0;
	mind_servers(sim, s);
	for (int i = 0; i < s->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		subject_mind(&a->it);
		for (int k = 0; k < SLOTS && wrong == NULL; k++)
			if (a->turns[k] != NULL &&
				a->turns[k]->state == TURN_HOLDING &&
				a->turns[k]->place != NULL)
				wrong = check_hold(a->turns[k], &holders);
	}
	return wrong;
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
	{ "in time", rules_waits, final_turns },
};
