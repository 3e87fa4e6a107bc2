/*
 * subject.c - a real Kustos client that runs on the model: the first member of
 * a scenario's actor.
 */
#include "subject.h"

#include "model_impl.h"
#include "sim_impl.h"

#include <string.h>

#define MAY_BE_LATE                                               \
	(1u << SIM_DELAY_REPLY | 1u << SIM_HOLE | 1u << SIM_LAG | \
		1u << SIM_PAUSE | 1u << SIM_STALL | 1u << SIM_SLOW)

void subject_init(struct subject *it, struct sim *sim, int index,
	void (*let_go)(void *actor))
{
	it->sim = sim;
	it->index = index;
	it->let_go = let_go;
	it->gone = true;
	it->away_since = INT64_MAX;
}

static void woken(void *arg)
{
	struct subject *it = arg;

	it->due = true;
}

static bool open_client(struct subject *it, const struct kustos_ticket *resume)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct model *model = sim_model(it->sim);
	struct ku_env env = {
		.api = &ku_zk_sim,
		.api_env = model_client(model, it->index),
		.clock = *sim_clock(it->sim),
		.wake = woken,
		.wake_arg = it,
		.seed = sim_random_next(subject_random(it)) | 1,
		.in_flight = it->in_flight,
		.apart = it->apart,
	};

	options.hosts = model_addresses(model);
	options.session_timeout_ms = sim_scenario_of(it->sim)->timeout_ms;
	options.retry = kustos_retry_forever(50);
	options.resume = resume;
	it->closing = false;
	it->due = true;
	it->gone = ku_client_open(&options, &env, &it->client) != KUSTOS_OK;
	if (it->gone)
		sim_fail(it->sim, "simulator", "cannot open a client");
	return !it->gone;
}

bool subject_open(struct subject *it)
{
	return open_client(it, NULL);
}

bool subject_resume(struct subject *it)
{
	bool can = it->ticket.session_id != 0;

	return open_client(it, can ? &it->ticket : NULL);
}

void subject_close(struct subject *it, kustos_deadline budget)
{
	if (it->closing)
		return;
	it->closing = true;
	it->due = true;
	if (it->let_go != NULL)
		it->let_go(it);
	ku_client_close_start(it->client, budget, &it->gone);
}

kustos_deadline subject_some_budget(struct subject *it)
{
	int64_t timeout_ms = sim_scenario_of(it->sim)->timeout_ms;

	return sim_random_below(subject_random(it), 2) != 0
		? KUSTOS_NOW
		: sim_now(it->sim) + timeout_ms * KU_NS_PER_MS;
}

struct sim_random *subject_random(const struct subject *it)
{
	return sim_actor_random(it->sim, it->index);
}

bool subject_sure(const struct subject *it)
{
	const struct ku_session *session = &it->client->session;

	return (session->state == KUSTOS_STATE_CONNECTED ||
		       session->state == KUSTOS_STATE_SUSPENDED) &&
		ku_lease_left(&session->lease, sim_now(it->sim)) > 0;
}

bool subject_ran_out(const struct subject *it)
{
	return sim_stalls(it->sim) &&
		ku_lease_left(&it->client->session.lease, sim_now(it->sim)) <=
		0;
}

void subject_mind(struct subject *it)
{
	int64_t now = sim_now(it->sim);

	if (it->gone || it->client->session.state == KUSTOS_STATE_CONNECTED)
		it->away_since = INT64_MAX;
	else if (it->away_since == INT64_MAX)
		it->away_since = now;
	if (sim_paused(it->sim, it->index))
		it->awake_since = INT64_MAX;
	else if (it->awake_since == INT64_MAX)
		it->awake_since = now;
}

int64_t subject_next_due(void *actor)
{
	struct subject *it = actor;

	if (it->gone)
		return INT64_MAX;
	return it->due ? sim_now(it->sim) : ku_timers_next(&it->client->timers);
}

void subject_tick(void *actor, int64_t now_ns)
{
	struct subject *it = actor;

	(void)now_ns;
	if (it->gone)
		return;
	it->due = false;
	(void)ku_client_step(it->client);
}

static void close_now(struct subject *it)
{
	subject_close(it, KUSTOS_NOW);
	if (!it->gone)
		it->client->close_budget = 0; /* time does not go on any more */
	while (!it->gone)
		(void)ku_client_step(it->client);
}

void subject_crash(struct subject *it)
{
	if (kustos_client_ticket(it->client, &it->ticket) != KUSTOS_OK)
		memset(&it->ticket, 0, sizeof(it->ticket));
	model_crash(sim_model(it->sim), it->index);
	close_now(it);
}

void subject_fini(void *actor)
{
	struct subject *it = actor;

	if (!it->gone)
		close_now(it);
}

/* All of them */

int64_t subjects_known_ns(struct sim *sim, int64_t at_best)
{
	return sim->faults & MAY_BE_LATE
		? sim_scenario_of(sim)->timeout_ms * KU_NS_PER_MS
		: at_best;
}

static int count(struct sim *sim)
{
	return sim_scenario_of(sim)->clients;
}

static struct subject *subject_of(struct sim *sim, int index)
{
	return sim_actor_state(sim, index);
}

void subjects_drain(struct sim *sim)
{
	for (int i = 0; i < count(sim); i++)
		sched_resume(sim_sched(sim), i);
}

static bool is_idle(const struct kustos_client *client)
{
	const struct ku_ring *here = &client->lines.here;
	const struct ku_ring *away = &client->lines.away;

	return here->next == here && away->next == away &&
		client->waits == NULL && client->ops.oldest == NULL;
}

bool subjects_idle(struct sim *sim)
{
	bool idle = true;

	for (int i = 0; i < count(sim); i++) {
		const struct subject *it = subject_of(sim, i);

		idle = idle && (it->gone || is_idle(it->client));
	}
	return idle;
}

int subjects_watches(struct sim *sim)
{
	struct model *model = sim_model(sim);
	int n = 0;

	for (int i = 0; i < sim_scenario_of(sim)->servers; i++)
		n += (int)model->servers[i].watches.count;
	for (int i = 0; i < count(sim); i++) {
		const struct subject *it = subject_of(sim, i);

		n += !it->gone && it->client->watches.entries != NULL;
	}
	return n;
}

bool subjects_close(struct sim *sim)
{
	bool gone = true;

	for (int i = 0; i < count(sim); i++) {
		struct subject *it = subject_of(sim, i);

		if (!it->gone)
			subject_close(it, KUSTOS_FOREVER);
		gone = gone && it->gone;
	}
	return gone;
}
