/* ask.c - one call that an actor has made and waits for. */
#include "ask.h"

#include "sim_impl.h"

void ask_begin(struct ask *ask, struct subject *it, kustos_deadline deadline)
{
	ask->it = it;
	ask->on = true;
	ask->fired = ask->closed = false;
	ask->began = ask->last = sim_now(it->sim);
	ask->deadline = deadline;
	if (kustos_cancel_create(&ask->cancel) != KUSTOS_OK)
		sim_fail(it->sim, "simulator", "cannot make a cancel object");
}

kustos_deadline ask_some_deadline(struct subject *it, int64_t soon_ns)
{
	struct sim_random *r = subject_random(it);
	int64_t now = sim_now(it->sim);
	int64_t timeout_ms = sim_scenario_of(it->sim)->timeout_ms;

	switch (sim_draining(it->sim) ? 9 : sim_random_below(r, 10)) {
	case 0:
		return KUSTOS_NOW;
	case 1:
	case 2:
		return now + sim_random_between(r, 1, soon_ns);
	case 3:
		return now +
			sim_random_between(r, 1, 2 * timeout_ms * KU_NS_PER_MS);
	default:
		return KUSTOS_FOREVER;
	}
}

void ask_fire(struct ask *ask)
{
	if (!ask->on || ask->fired)
		return;
	ask->fired = true;
	ask->last = sim_now(ask->it->sim);
	kustos_cancel_fire(ask->cancel);
}

void ask_close(struct ask *ask)
{
	ask->closed = true;
	ask->last = sim_now(ask->it->sim);
}

bool ask_is_bounded(const struct ask *ask)
{
	return ask->deadline != KUSTOS_NOW && ask->deadline != KUSTOS_FOREVER;
}

bool ask_is_overdue(const struct ask *ask, int64_t try_ns)
{
	const struct sim *sim = ask->it->sim;
	bool anew = sim_stalls(sim) ||
		(sim->faults & (1u << SIM_THROTTLE)) != 0;
	int64_t by = ask->last;
	bool tries = false;

	if (ask->it->awake_since == INT64_MAX)
		return false;
	if (!ask->fired && !ask->closed) {
		tries = ask->deadline == KUSTOS_NOW;
		if (!tries && !ask_is_bounded(ask))
			return false;
		if (!tries && ask->deadline > by)
			by = ask->deadline;
	}
	if (tries && !anew)
		by += try_ns;
	if (by < ask->it->awake_since)
		by = ask->it->awake_since;
	/* After a pause or a refusal the client may have to send its requests
	   again. */
	if (tries && anew)
		by += try_ns;
	return sim_began(ask->it->sim) > by + ASK_LATE_NS;
}

bool ask_may_end(const struct ask *ask, enum kustos_err err)
{
	switch (err) {
	case KUSTOS_OK:
		return true;
	case KUSTOS_EDISCONNECTED:
		return ask->deadline == KUSTOS_NOW;
	case KUSTOS_ETIMEDOUT:
		return ask_is_bounded(ask) &&
			sim_now(ask->it->sim) >= ask->deadline;
	case KUSTOS_ECANCELED:
		return ask->fired;
	case KUSTOS_ECLOSED:
		return ask->closed || ask->it->closing;
	default:
		return false;
	}
}

void ask_end(struct ask *ask, const char *what)
{
	if (!ask->on)
		sim_fail(ask->it->sim, "end", "%s of %d ended twice", what,
			ask->it->index);
	ask->on = false;
	kustos_cancel_destroy(ask->cancel);
	ask->cancel = NULL;
}
