/*
 * scenario_client.c - the real client, many of them, under all faults.
 *
 * Each actor holds a struct kustos_client that runs on the model, and starts
 * all kinds of operations.  The rules:
 *
 *   ends once     every operation calls back exactly once, at the latest when
 *                 its client is closed
 *   lease         while a client says that its session is certainly alive, the
 *                 server has not expired it
 *   told          a loss is told the instant the lease ends
 *   one node      a protected creation makes at most one node in one session,
 *                 and it returns the path of a node that it made
 *   no guess      a counter changed by its version counts every change that was
 *                 reported as made, and none that was reported as refused
 *   all or none   of two nodes created in one transaction both or none exist
 *   settles       after the faults all operations end, nodes with a guaranteed
 *                 delete go, so do nodes of creations that were given up, and
 *                 nothing of a closed client is left
 */
#include "client_actor.h"

#include <stdlib.h>

enum outage { OUTAGE_NEAR, OUTAGE_BEGINS, OUTAGE_ENDS };

static void told(void *arg, const struct kustos_session *now)
{
	struct actor *a = arg;

	sim_say(a->it.sim, a->it.index, kustos_state_name(now->state), NULL,
		now->epoch);
	if (now->epoch < a->told_epoch)
		sim_fail(a->it.sim, "told", "epoch %d after %d",
			(int)now->epoch, (int)a->told_epoch);
	a->told = now->state;
	a->told_epoch = now->epoch;
}

static void open_client(struct actor *a)
{
	a->told = KUSTOS_STATE_CONNECTING;
	a->told_epoch = 0;
	a->opened++;
	if (subject_open(&a->it) &&
		kustos_client_listen(a->it.client, told, a, &a->listener) !=
			KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot listen to a client");
}

static void outage(void *arg, uint64_t phase);

static void plan_outage(struct sim *sim, struct sim_random *r)
{
	struct sched *sched = sim_sched(sim);
	int64_t at = sim_now(sim);

	at += sim_random_between(r, 1, 2000) * KU_NS_PER_MS;
	sched_add(sched, SCHED_NOBODY, at, outage, sim, OUTAGE_NEAR);
	at += sim_random_between(r, 0, 2 * KU_NS_PER_MS);
	sched_add(sched, SCHED_NOBODY, at, outage, sim, OUTAGE_BEGINS);
	at += 5 * TIMEOUT_MS / 2 * KU_NS_PER_MS;
	sched_add(sched, SCHED_NOBODY, at, outage, sim, OUTAGE_ENDS);
}

static void init(struct sim *sim, int index, void *self)
{
	struct sim_random *r = sim_actor_random(sim, index);
	struct actor *a = self;

	subject_init(&a->it, sim, index, NULL);
	open_client(a);
	if (index != 0)
		return;
	op_start_counter(op_new(a, OP_READ));
	if (sim_random_below(r, 4) == 0)
		plan_outage(sim, r);
}

/* Open a new client.  The former one must have ended all its operations. */
static void open_again(struct actor *a)
{
	if (a->pending != 0)
		sim_fail(a->it.sim, "ends once",
			"%d operations outlived their client", a->pending);
	open_client(a);
}

/* Now and then a client only reads for a while: a follower answers reads
   without its leader. */
static enum op_kind some_kind(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);

	if (sim_now(a->it.sim) < a->reads_until)
		return OP_READ;
	if (sim_random_below(r, 300) == 0)
		a->reads_until = sim_now(a->it.sim) +
			2 * TIMEOUT_MS * KU_NS_PER_MS;
	return (enum op_kind)sim_random_below(r, OP_KINDS);
}

static void cut_off(void *arg, uint64_t index)
{
	struct sim *sim = arg;
	int server = model_server_of(sim_model(sim), (int)index);

	if (server > 0 && !sim_draining(sim))
		model_lag(sim_model(sim), server,
			sim_now(sim) + TIMEOUT_MS * KU_NS_PER_MS);
}

/* Soon after a client's long pause its server is cut off from the leader.  So
   the leader does not hear of the client for even longer. */
static void mind_pause(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	int64_t now = sim_now(a->it.sim);
	bool paused = a->stepped != 0 &&
		now - a->stepped > TIMEOUT_MS * KU_NS_PER_MS / 3;

	a->stepped = now;
	if (paused && sim_random_below(r, 2) == 0)
		sched_add(sim_sched(a->it.sim), SCHED_NOBODY,
			now + sim_random_between(r, 0, 300 * KU_NS_PER_MS),
			cut_off, a->it.sim, (uint64_t)a->it.index);
}

static void step(void *self)
{
	struct actor *a = self;
	struct sim_random *r = subject_random(&a->it);

	if (sim_draining(a->it.sim) || (a->it.closing && !a->it.gone))
		return;
	mind_pause(a);
	if (a->it.gone)
		open_again(a);
	else if (sim_random_below(r, 2000) == 0)
		subject_close(&a->it, subject_some_budget(&a->it));
	else if (a->pending < 20)
		op_start(op_new(a, some_kind(a)));
}

static void burst(struct actor *a)
{
	if (!a->it.gone && !a->it.closing &&
		!sim_paused(a->it.sim, a->it.index))
		op_start(op_new(a, OP_PROTECTED));
}

/* All servers go down while creations are under way, and stay so for longer
   than a client waits before it opens a new handle.  Sessions survive that:
   they expire only while there is a leader. */
static void outage(void *arg, uint64_t phase)
{
	struct sim *sim = arg;

	for (int i = 0; phase == OUTAGE_NEAR && i < CLIENTS; i++)
		for (int k = 0; k < 5; k++)
			burst(sim_actor_state(sim, i));
	for (int i = 0; phase == OUTAGE_BEGINS && i < SERVERS; i++)
		if (!sim_draining(sim))
			model_server_stop(sim_model(sim), i);
	for (int i = 0; phase == OUTAGE_ENDS && i < SERVERS; i++)
		model_server_start(sim_model(sim), i);
}

static void end(struct sim *sim)
{
	struct shared *s = shared_of(sim);

	for (int i = 0; i < s->count; i++)
		free(s->ops[i]);
	free(s->ops);
	ledger_free(&s->ledger);
}

static const struct sim_actor actor = {
	SUBJECT_ACTOR,
	.fini = subject_fini,
};

const struct sim_scenario scenario_client = {
	.name = "client",
	.about = "the real client, all operations, all faults",
	.clients = CLIENTS,
	.step_ms = 5,
	.faults.rate = {
		[SIM_LOSE_REPLY] = 8000, [SIM_DELAY_REPLY] = 1000,
		[SIM_CUT] = 500, [SIM_HOLE] = 200, [SIM_EXPIRE] = 60,
		[SIM_PAUSE] = 2000, [SIM_DELETE] = 300,
		[SIM_REMOVE_PARENT] = 60, [SIM_STOP_SERVER] = 100,
		[SIM_LAG] = 4000, [SIM_THROTTLE] = 2000,
	},
	SUBJECT_SCENARIO,
	.prefix = "/jobs",
	.end = end,
	.settled = rules_settled,
	.settle_ms = 60000,
	.note = rules_note,
	.change = rules_change,
	.invariants = rules,
	.invariant_count = RULE_COUNT,
};
