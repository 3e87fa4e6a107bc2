/* mutex_end.c - how a run comes to its end: everybody is served, then nothing is
   left, then all is closed. */
#include "mutex_actor.h"

#include "model_impl.h"

/* Once faults are over: to be served; then, to be tidy. */
#define SERVED_NS (7 * TIMEOUT_NS)
#define TIDY_NS (4 * TIMEOUT_NS)

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

/* Has a client forgotten all that it was asked? */
static bool is_idle(const struct kustos_client *client)
{
	const struct ku_ring *here = &client->lines.here;
	const struct ku_ring *away = &client->lines.away;

	return here->next == here && away->next == away &&
		client->waits == NULL && client->ops.oldest == NULL;
}

static bool all_tidy(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);
	struct place *left = line_some(s, false, 0);
	int watches = server_watches(sim);
	bool busy = false;

	for (int i = 0; i < s->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		if (!a->gone && a->client->watches.entries != NULL)
			watches++;
		if (!a->gone && !is_idle(a->client))
			busy = true;
	}
	if (left == NULL && watches == 0 && !busy)
		return true;
	if (sim_now(sim) <= s->idle_since + TIDY_NS)
		return false;
	if (left != NULL)
		sim_fail(sim, "orphan", "%s", left->path);
	else if (watches > 0)
		sim_fail(sim, "watches", "%d are left", watches);
	else
		sim_fail(sim, "orphan", "a client is not idle");
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
