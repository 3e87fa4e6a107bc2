/* ending.c - the last phase of a run, for scenarios that may leave nothing
   behind. */
#include "ending.h"

#include "sim_impl.h"
#include "subject.h"

static bool is_tidy(struct sim *sim, const struct ending *ending,
	const struct ending_rules *rules)
{
	const char *left = rules->left(sim);
	int watches = subjects_watches(sim);

	/* A watch that the server has forgotten cannot be removed there, and
	   libzookeeper_mt sets it again at the next reconnect. */
	if ((sim->faults & 1u << SIM_FORGET) != 0)
		watches = 0;
	if (left == NULL && watches == 0 && subjects_idle(sim))
		return true;
	if (sim_now(sim) <=
		ending->served + rules->tidy_ns + sim_unheard_ns(sim))
		return false;
	if (left != NULL)
		sim_fail(sim, "orphan", "%s", left);
	else if (watches > 0)
		sim_fail(sim, "watches", "%d are left", watches);
	else
		sim_fail(sim, "orphan", "a client is not idle");
	return false;
}

bool ending_settled(struct sim *sim, struct ending *ending,
	const struct ending_rules *rules)
{
	if (ending->served == 0) {
		if (rules->served(sim))
			ending->served = sim_now(sim);
		return false;
	}
	if (ending->tidy == 0) {
		if (is_tidy(sim, ending, rules))
			ending->tidy = sim_now(sim);
		return false;
	}
	return subjects_close(sim);
}
