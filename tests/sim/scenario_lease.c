/*
 * scenario_lease.c - the lease where it is tight.
 *
 * The session timeout is two ticks, so that a follower tells the leader of its
 * clients only every quarter of the timeout.  Clients pause for about a
 * timeout, and followers are cut off just when such a client is back.  The rule
 * is "lease" of scenario_client.c.
 */
#include "subject.h"

#define CLIENTS 3
#define SERVERS 3
#define TIMEOUT_MS 1000 /* two ticks of the model */
#define TIMEOUT (TIMEOUT_MS * KU_NS_PER_MS)

struct actor {
	struct subject it;
	int pending;
	int64_t stepped; /* when it last did something */
};

static void init(struct sim *sim, int index, void *self)
{
	struct actor *a = self;

	subject_init(&a->it, sim, index, NULL);
	(void)subject_open(&a->it);
}

static void ended(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct actor *a = arg;

	(void)err;
	(void)result;
	a->pending--;
}

static void cut_off(void *arg, uint64_t index)
{
	struct sim *sim = arg;
	int server = model_server_of(sim_model(sim), (int)index);

	if (server > 0 && !sim_draining(sim))
		model_lag(sim_model(sim), server, sim_now(sim) + 2 * TIMEOUT);
}

/* After a client's pause, for which the leader has not heard of it, cut its
   server off from the leader. */
static void mind_pause(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	int64_t now = sim_now(a->it.sim);

	if (a->stepped != 0 && now - a->stepped > TIMEOUT / 3)
		sched_add(sim_sched(a->it.sim), SCHED_NOBODY,
			now + sim_random_between(r, 0, TIMEOUT / 4), cut_off,
			a->it.sim, (uint64_t)a->it.index);
	a->stepped = now;
}

static void step(void *self)
{
	struct actor *a = self;

	if (sim_draining(a->it.sim) || a->it.gone)
		return;
	mind_pause(a);
	if (a->pending < 4 &&
		kustos_sync_async(a->it.client, "/", KUSTOS_FOREVER, NULL,
			ended, a) == KUSTOS_OK)
		a->pending++;
}

static const char *check_lease(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++) {
		const struct actor *a = sim_actor_state(sim, i);
		const struct ku_session *s = &a->it.client->session;

		if ((s->state == KUSTOS_STATE_CONNECTED ||
			    s->state == KUSTOS_STATE_SUSPENDED) &&
			ku_lease_left(&s->lease, sim_now(sim)) > 0 &&
			!model_session_alive(sim_model(sim), s->id))
			return "held for certain, but the session is over";
	}
	return NULL;
}

static bool settled(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++) {
		const struct actor *a = sim_actor_state(sim, i);

		if (a->pending > 0)
			return false;
	}
	return true;
}

static const struct sim_actor actor = {
	SUBJECT_ACTOR,
	.fini = subject_fini,
};

static const struct sim_invariant rules[] = {
	{ "lease", check_lease, NULL },
};

const struct sim_scenario scenario_lease = {
	.name = "lease",
	.about = "the real client, and sessions of two ticks",
	.clients = CLIENTS,
	.servers = SERVERS,
	.timeout_ms = TIMEOUT_MS,
	.step_ms = 20,
	.faults.rate = { [SIM_CUT] = 300,
		[SIM_PAUSE] = 2000,
		[SIM_LAG] = 300,
		[SIM_THROTTLE] = 2000 },
	.cut_off = true,
	.actor = &actor,
	.drain = subjects_drain,
	.settled = settled,
	.settle_ms = 60000,
	.invariants = rules,
	.invariant_count = 1,
};
