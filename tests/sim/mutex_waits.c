/* mutex_waits.c - rules about turns that wait, and about how they end. */
#include "mutex_actor.h"

/* How long a try may take. */
#define TRY_NS (TIMEOUT_NS / 2)

/* How soon a turn is granted that has nobody to wait for, while it is
   connected. */
#define SERVED_NS (2 * TIMEOUT_NS)

/* May there be anybody for whom this turn has to wait? */
static bool is_behind(const struct turn *turn)
{
	const struct actor *a = turn->actor;

	if (turn->from != NULL)
		return turn->from->state != TURN_HOLDING;
	return !turn->shares ||
		line_busy(mutex_shared(a->it.sim), turn->line, true,
			a->it.client->session.id);
}

/* A reader must not wait if nobody writes or wants to write.  A writer that
   becomes a reader must not wait at all. */
void rules_waiting(struct turn *turn)
{
	struct actor *a = turn->actor;
	const struct ku_session *session = &a->it.client->session;
	int64_t now = sim_now(a->it.sim);
	bool may_wait = a->it.awake_since == INT64_MAX ||
		session->state != KUSTOS_STATE_CONNECTED || is_behind(turn);

	if (may_wait)
		turn->alone_since = 0;
	else if (turn->alone_since == 0)
		turn->alone_since = now;
	else if (now > rules_by(a, turn->alone_since) + SERVED_NS)
		sim_fail(a->it.sim, "served", "turn %d waits for nobody",
			turn->number);
}

/* Has the client been disconnected since the call began?  Then a try must have
   ended. */
static bool is_cut_off(const struct turn *turn)
{
	const struct actor *a = turn->actor;
	int64_t since = a->it.away_since > turn->ask.last ? a->it.away_since
							  : turn->ask.last;

	return a->it.away_since != INT64_MAX &&
		sim_began(a->it.sim) > rules_by(a, since) + ASK_LATE_NS;
}

/* Is the turn past the time at which it should have ended? */
static bool is_overdue(const struct turn *turn)
{
	const struct ask *ask = &turn->ask;

	return ask_is_overdue(ask, TRY_NS) ||
		(ask->deadline == KUSTOS_NOW && !ask->fired && !ask->closed &&
			turn->actor->it.awake_since != INT64_MAX &&
			is_cut_off(turn));
}

/* Was the writer's hold, beside which this reader was to stand, lost or given
   back? */
static bool may_be_late(const struct turn *turn)
{
	return turn->from != NULL &&
		(turn->doomed || turn->from->state == TURN_OVER ||
			turn->actor->excuses > turn->had_excuse ||
			rules_reason(turn->from));
}

static bool may_end(const struct turn *turn, enum kustos_err err)
{
	const struct actor *a = turn->actor;

	if (turn->wrong)
		return err == KUSTOS_EINVAL;
	switch (err) {
	case KUSTOS_OK:
		return !turn->doomed;
	case KUSTOS_ELOST:
		return may_be_late(turn);
	case KUSTOS_EBUSY:
		return turn->ask.deadline == KUSTOS_NOW && turn->contended;
	case KUSTOS_ESATURATED:
		return turn->ask.began <=
			mutex_shared(a->it.sim)->sound[turn->line];
	default:
		return ask_may_end(&turn->ask, err);
	}
}

void rules_ended(struct turn *turn, enum kustos_err err)
{
	struct sim *sim = turn->actor->it.sim;
	struct shared *s = mutex_shared(sim);

	s->figures.busy += err == KUSTOS_EBUSY;
	s->figures.saturated += err == KUSTOS_ESATURATED;
	s->figures.refused += err == KUSTOS_ELOST;
	if (!may_end(turn, err))
		sim_fail(sim, "end", "turn %d: %s", turn->number,
			kustos_err_name(err));
	else if (is_overdue(turn))
		sim_fail(sim, "in time", "turn %d: %s", turn->number,
			kustos_err_name(err));
}

static void check_wait(const struct turn *turn)
{
	if (turn != NULL && turn->state == TURN_WAITING && is_overdue(turn))
		sim_fail(turn->actor->it.sim, "in time", "turn %d still waits",
			turn->number);
}

const char *rules_waits(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);

	for (int i = 0; i < s->count; i++)
		for (int k = 0; k < SLOTS; k++)
			check_wait(mutex_actor_of(sim, i)->turns[k]);
	return NULL;
}
