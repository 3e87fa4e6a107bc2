/*
 * nemesis.c - choose from the seed which faults happen, and when.
 *
 * Each kind of fault has its own stream of random numbers, so that leaving one
 * kind out does not change when the others happen.
 */
#include "sim_impl.h"

#define PERIOD_NS (1000 * KU_NS_PER_S)
#define STALL_PPM 20000	   /* of the readings of a clock */
#define FORGET_PPM 200000  /* of the reconnects */
#define SLOW_PPM 5000	   /* of the completions and events */
#define RELAPSE_PPM 400000 /* of the new connections */
#define LATE_PPM 10000	   /* of the writes at followers */

static const char *const names[SIM_FAULT_COUNT] = {
	"lose-reply",
	"delay-reply",
	"cut",
	"hole",
	"expire",
	"pause",
	"delete",
	"remove-parent",
	"stop-server",
	"lag",
	"throttle",
	"stall",
	"forget",
	"slow",
	"relapse",
	"late",
};

const char *sim_fault_name(enum sim_fault fault)
{
	return names[fault];
}

/* How long a fault lasts: mostly short, at times longer than a session. */
static int64_t some_time(struct sim *sim, struct sim_random *r)
{
	int64_t timeout = sim->scenario->timeout_ms * KU_NS_PER_MS;

	if (sim_random_below(r, 2) == 0)
		return sim_random_between(r, 0, timeout / 8);
	return sim_random_between(r, 0, timeout * 3 / 2);
}

/* How long a client stalls: the same, but also much shorter. */
static int64_t stalled(void *arg)
{
	struct sim *sim = arg;
	struct sim_random *r = &sim->fault_random[SIM_STALL];
	int64_t ns;

	if (!sim_random_ppm(r, STALL_PPM))
		return 0;
	ns = some_time(sim, r);
	if (sim_random_below(r, 2) == 0)
		ns >>= sim_random_below(r, 20);
	sim_say(sim, sim->sched.ran, "stall", NULL, ns);
	if (sim_random_below(r, 2) == 0)
		model_look_at_time(sim->model, sim->sched.ran,
			sim_now(sim) + ns);
	return ns;
}

static void restart(void *arg, uint64_t server)
{
	struct sim *sim = arg;

	model_server_start(sim->model, (int)server);
}

static int some_client(struct sim *sim, struct sim_random *r)
{
	return (int)sim_random_below(r, (uint64_t)sim->scenario->clients);
}

/* A server lags.  That matters to a client that comes from a server which knew
   more, so sometimes a client is cut off as well. */
static void fall_behind(struct sim *sim, int server, int64_t until,
	struct sim_random *r)
{
	model_lag(sim->model, server, until);
	if (sim_random_below(r, 4) == 0)
		model_cut(sim->model, some_client(sim, r), false);
}

static void strike_server(struct sim *sim, enum sim_fault fault,
	struct sim_random *r)
{
	int server = (int)sim_random_below(r, (uint64_t)sim->scenario->servers);
	int64_t until = sim_now(sim) + some_time(sim, r);

	if (fault == SIM_LAG) {
		fall_behind(sim, server, until, r);
		return;
	}
	model_server_stop(sim->model, server);
	sched_add(&sim->sched, SCHED_NOBODY, until, restart, sim,
		(uint64_t)server);
}

static void strike_client(struct sim *sim, enum sim_fault fault,
	struct sim_random *r)
{
	int client = some_client(sim, r);
	int64_t until = sim_now(sim) + some_time(sim, r);
	int server = model_server_of(sim->model, client);

	switch (fault) {
	case SIM_CUT:
		model_cut(sim->model, client, sim_random_below(r, 2) == 0);
		break;
	case SIM_HOLE:
		model_hole(sim->model, client, server < 0 ? 0 : server, until);
		break;
	case SIM_EXPIRE:
		(void)model_expire(sim->model, client);
		break;
	default:
		sim_say(sim, client, "pause", NULL, until);
		sched_pause(&sim->sched, client, until);
	}
}

static void strike(struct sim *sim, enum sim_fault fault, struct sim_random *r)
{
	const char *prefix = sim->scenario->prefix;
	uint64_t random = sim_random_next(r);
	const char *path;

	switch (fault) {
	case SIM_DELETE:
		path = prefix ? model_choose(sim->model, prefix, random) : NULL;
		if (path != NULL)
			(void)model_delete(sim->model, path);
		break;
	case SIM_REMOVE_PARENT:
		if (prefix != NULL)
			(void)model_delete(sim->model, prefix);
		break;
	case SIM_STOP_SERVER:
	case SIM_LAG:
		strike_server(sim, fault, r);
		break;
	default:
		strike_client(sim, fault, r);
	}
}

static void wait_for_next(struct sim *sim, enum sim_fault fault);

static void due(void *arg, uint64_t tag)
{
	struct sim *sim = arg;
	enum sim_fault fault = (enum sim_fault)tag;

	if (sim->draining)
		return;
	strike(sim, fault, &sim->fault_random[fault]);
	wait_for_next(sim, fault);
}

static void wait_for_next(struct sim *sim, enum sim_fault fault)
{
	int64_t mean = PERIOD_NS / sim->scenario->faults.rate[fault];

	sched_add(&sim->sched, SCHED_NOBODY,
		sim_now(sim) +
			sim_random_between(&sim->fault_random[fault], 0,
				2 * mean),
		due, sim, (uint64_t)fault);
}

/* Use no random number of the other faults, so that these happen as without
   stalls. */
static void start_stalls(struct sim *sim)
{
	if (!sim->options.stalls ||
		(sim->options.without & (1u << SIM_STALL)) != 0)
		return;
	sim->faults |= 1u << SIM_STALL;
	sim_random_seed(&sim->fault_random[SIM_STALL], sim->options.seed,
		100 + SIM_STALL);
	sched_set_stall(&sim->sched, stalled, sim);
}

/* The same for the faults that the model causes, with random numbers of its
   own. */
static void start_others(struct sim *sim)
{
	unsigned with = sim->options.with & ~sim->options.without;

	sim->faults |= with &
		(1u << SIM_FORGET | 1u << SIM_SLOW | 1u << SIM_RELAPSE |
			1u << SIM_LATE);
	model_set_odd_faults(sim->model,
		sim->faults & (1u << SIM_FORGET) ? FORGET_PPM : 0,
		sim->faults & (1u << SIM_SLOW) ? SLOW_PPM : 0);
	model_set_relapse(sim->model,
		sim->faults & (1u << SIM_RELAPSE) ? RELAPSE_PPM : 0);
	model_set_late(sim->model,
		sim->faults & (1u << SIM_LATE) ? LATE_PPM : 0);
}

void nemesis_start(struct sim *sim)
{
	const unsigned *rate = sim->scenario->faults.rate;
	struct sim_random swarm;
	unsigned i;

	sim_random_seed(&swarm, sim->options.seed, 99);
	sim->faults = 0;
	for (i = 0; i < SIM_STALL; i++) {
		bool on = !sim->scenario->swarm ||
			sim_random_below(&swarm, 2) == 0;

		sim_random_seed(&sim->fault_random[i], sim->options.seed,
			100 + i);
		if (on && rate[i] != 0 &&
			(sim->options.without & (1u << i)) == 0)
			sim->faults |= 1u << i;
	}
	model_set_reply_faults(sim->model,
		sim->faults & (1u << SIM_LOSE_REPLY) ? rate[SIM_LOSE_REPLY] : 0,
		sim->faults & (1u << SIM_DELAY_REPLY) ? rate[SIM_DELAY_REPLY]
						      : 0);
	model_set_throttle(sim->model,
		sim->faults & (1u << SIM_THROTTLE) ? rate[SIM_THROTTLE] : 0);
	start_stalls(sim);
	start_others(sim);
	for (i = SIM_CUT; i < SIM_THROTTLE; i++) {
		if (sim->faults & (1u << i))
			wait_for_next(sim, (enum sim_fault)i);
	}
}

void nemesis_stop(struct sim *sim)
{
	sched_set_stall(&sim->sched, NULL, NULL);
	model_heal(sim->model);
}
