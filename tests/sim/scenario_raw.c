/* scenario_raw.c - the scenarios of clients that use lib/zk.h directly, and
   their rules. */
#include "raw.h"

#include <stdlib.h>
#include <string.h>

/* Sequence numbers are unique below one incarnation of a parent, and grow. */
static void change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential)
{
	struct raw_state_shared *shared = sim_state(sim);
	size_t len = strlen(path);
	int64_t number;
	int i;

	if (kind == CHANGE_CREATE && owner != 0 &&
		!model_session_alive(sim_model(sim), owner))
		sim_fail(sim, "ephemeral",
			"%s was created for a session that "
			"has ended, by %lld",
			path, (long long)zxid);
	if (kind != CHANGE_CREATE || !sequential || len < 10)
		return;
	number = strtoll(path + len - 10, NULL, 10);
	for (i = 0; i < shared->line_count; i++) {
		if (shared->lines[i % 64].parent == parent_czxid)
			break;
	}
	if (i == shared->line_count) {
		i = shared->line_count < 64 ? shared->line_count++
					    : (int)(zxid % 64);
		shared->lines[i].parent = parent_czxid;
		shared->lines[i].last = -1;
	}
	if (number <= shared->lines[i].last)
		sim_fail(sim, "sequence", "%s follows number %lld", path,
			(long long)shared->lines[i].last);
	shared->lines[i].last = number;
}

static void note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value)
{
	struct raw_state_shared *shared = sim_state(sim);

	(void)client;
	(void)path;
	if (what == NOTE_SESSION_END)
		shared->ended = value;
}

static const char *no_orphans(struct sim *sim)
{
	struct raw_state_shared *shared = sim_state(sim);
	int64_t ended = shared->ended;

	shared->ended = 0;
	if (ended != 0 && model_ephemerals(sim_model(sim), ended) > 0)
		return "an ephemeral outlived its session";
	return NULL;
}

/* At rest every accepted request has been completed. */
static const char *all_done(struct sim *sim)
{
	const struct raw_actor *actor;
	int i;
	int k;

	for (i = 0; i < sim_scenario_of(sim)->clients; i++) {
		actor = sim_actor_state(sim, i);
		for (k = 0; k < RAW_PENDING_MAX; k++) {
			if (actor->requests[k].used)
				return "a request was never completed";
		}
	}
	return NULL;
}

/* The naive lock breaks this rule if there are faults. */
static const char *one_holder(struct sim *sim)
{
	const struct raw_actor *actor;
	int holders = 0;
	int i;

	for (i = 0; i < sim_scenario_of(sim)->clients; i++) {
		actor = sim_actor_state(sim, i);
		holders += actor->state == RAW_HOLDING;
	}
	return holders > 1 ? "two clients hold the lock" : NULL;
}

static void drain(struct sim *sim)
{
	struct raw_state_shared *shared = sim_state(sim);

	shared->stop = true;
}

/* Wait long enough for every connection to be made, and for every unused
   session to end. */
static bool settled(struct sim *sim)
{
	struct raw_state_shared *shared = sim_state(sim);
	int64_t rest = 3 * sim_scenario_of(sim)->timeout_ms * KU_NS_PER_MS;

	if (shared->rest_at == 0)
		shared->rest_at = sim_now(sim) + rest;
	return sim_now(sim) >= shared->rest_at;
}

static const struct sim_invariant invariants[] = {
	{ "ephemeral", no_orphans, no_orphans }, { "done", NULL, all_done },
	{ "watch-kept", NULL, raw_watches_final },
	{ "one-holder", one_holder, NULL }, /* the last: "raw" lacks it */
};

#define RAW_COMMON                                                     \
	.clients = 5, .servers = 3, .timeout_ms = 4000, .step_ms = 20, \
	.prefix = "/raw", .actor = &raw_actor_ops,                     \
	.state_size = sizeof(struct raw_state_shared), .drain = drain, \
	.settled = settled, .settle_ms = 20000, .note = note,          \
	.change = change, .invariants = invariants

#define RAW_FAULTS                                                            \
	{                                                                     \
		{                                                             \
			[SIM_LOSE_REPLY] = 2000, [SIM_DELAY_REPLY] = 500,     \
			[SIM_CUT] = 200, [SIM_HOLE] = 100, [SIM_EXPIRE] = 60, \
			[SIM_PAUSE] = 100, [SIM_DELETE] = 200,                \
			[SIM_REMOVE_PARENT] = 20, [SIM_STOP_SERVER] = 50,     \
			[SIM_LAG] = 100, [SIM_THROTTLE] = 2000,               \
		}                                                             \
	}

const struct sim_scenario scenario_raw = {
	.name = "raw",
	.about = "the contract of lib/zk.h, by clients that use it directly",
	.faults = RAW_FAULTS,
	.swarm = true,
	.invariant_count = 3,
	RAW_COMMON,
};

const struct sim_scenario scenario_calm = {
	.name = "calm",
	.about = "the same without faults",
	.invariant_count = 4,
	RAW_COMMON,
};

const struct sim_scenario scenario_naive = {
	.name = "naive",
	.about = "broken: a lock that believes a flag; it has two holders",
	.faults = RAW_FAULTS,
	.swarm = true,
	.invariant_count = 4,
	RAW_COMMON,
};
