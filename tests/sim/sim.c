/* sim.c - one run of one scenario. */
#include "sim_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A client looks again within this time, even if its watch was lost unheard. */
#define UNHEARD_NS (140000 * KU_NS_PER_MS)

struct sched *sim_sched(struct sim *sim)
{
	return &sim->sched;
}

struct model *sim_model(struct sim *sim)
{
	return sim->model;
}

const struct sim_scenario *sim_scenario_of(struct sim *sim)
{
	return sim->scenario;
}

const struct ku_clock *sim_clock(struct sim *sim)
{
	return &sim->sched.clock;
}

int64_t sim_now(struct sim *sim)
{
	return sim->sched.now_ns;
}

int64_t sim_began(struct sim *sim)
{
	return sim->sched.running ? sim->sched.began_ns : sim_now(sim);
}

bool sim_stalls(const struct sim *sim)
{
	return (sim->faults & 1u << SIM_STALL) != 0;
}

void *sim_state(struct sim *sim)
{
	return sim->state;
}

void *sim_actor_state(struct sim *sim, int index)
{
	return sim->actors + (size_t)index * sim->scenario->actor->size;
}

struct sim_random *sim_actor_random(struct sim *sim, int index)
{
	return &sim->actor_random[index];
}

bool sim_draining(struct sim *sim)
{
	return sim->draining;
}

int64_t sim_unheard_ns(const struct sim *sim)
{
	return (sim->faults & 1u << SIM_FORGET) != 0 ? UNHEARD_NS : 0;
}

int64_t sim_drain_since(struct sim *sim)
{
	return sim->drain_since;
}

bool sim_paused(struct sim *sim, int index)
{
	return sim->sched.lanes[index].paused;
}

void sim_fail(struct sim *sim, const char *invariant, const char *format, ...)
{
	va_list args;

	if (sim->failed)
		return;
	sim->failed = true;
	snprintf(sim->result->invariant, sizeof(sim->result->invariant), "%s",
		invariant);
	va_start(args, format);
	vsnprintf(sim->result->message, sizeof(sim->result->message), format,
		args);
	va_end(args);
}

/* What the model tells */

static void tell_change(void *arg, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential)
{
	struct sim *sim = arg;

	sim->scenario->change(sim, kind, path, zxid, owner, parent_czxid,
		sequential);
}

static void tell_broken(void *arg, const char *rule, const char *detail)
{
	sim_fail(arg, rule, "%s", detail);
}

static void set_hooks(struct sim *sim)
{
	struct model_hooks hooks = {
		.arg = sim,
		.note = trace_note,
		.change = sim->scenario->change ? tell_change : NULL,
		.broken = tell_broken,
	};

	model_set_hooks(sim->model, &hooks);
}

/* Actors */

static void step_due(void *arg, uint64_t index)
{
	struct sim *sim = arg;
	struct sim_random *r = &sim->actor_random[index];
	int64_t mean = sim->scenario->step_ms * KU_NS_PER_MS;

	sim->scenario->actor->step(sim_actor_state(sim, (int)index));
	sched_add(&sim->sched, (int)index,
		sim_now(sim) + sim_random_between(r, 0, 2 * mean), step_due,
		sim, index);
}

static void tick_due(void *arg, uint64_t tag)
{
	struct sim *sim = arg;
	int index = (int)(tag & 0xffff);

	if (sim->tick_number[index] != tag >> 16)
		return;
	sim->tick_at[index] = INT64_MAX;
	sim->scenario->actor->tick(sim_actor_state(sim, index), sim_now(sim));
}

/* After an event of client "index": schedule its next timer, if that has
   moved. */
static void ask_timer(struct sim *sim, int index)
{
	int64_t due = sim->scenario->actor->next_due(
		sim_actor_state(sim, index));

	if (due == sim->tick_at[index])
		return;
	sim->tick_at[index] = due;
	sim->tick_number[index]++;
	if (due != INT64_MAX)
		sched_add(&sim->sched, index, due, tick_due, sim,
			sim->tick_number[index] << 16 | (uint64_t)index);
}

static void start_actors(struct sim *sim)
{
	const struct sim_scenario *scenario = sim->scenario;
	int i;

	for (i = 0; i < scenario->clients; i++) {
		sim_random_seed(&sim->actor_random[i], sim->options.seed,
			1000 + (uint64_t)i);
		sim->tick_at[i] = INT64_MAX;
	}
	for (i = 0; i < scenario->clients; i++) {
		scenario->actor->init(sim, i, sim_actor_state(sim, i));
		sched_add(&sim->sched, i,
			sim_now(sim) +
				sim_random_between(&sim->actor_random[i], 0,
					scenario->step_ms * KU_NS_PER_MS),
			step_due, sim, (uint64_t)i);
		if (scenario->actor->next_due != NULL)
			ask_timer(sim, i);
	}
}

/* Steps */

static void check(struct sim *sim, bool final)
{
	const struct sim_invariant *invariant = sim->scenario->invariants;
	const char *(*fn)(struct sim *);
	const char *wrong;
	int i;

	for (i = 0; i < sim->scenario->invariant_count; i++, invariant++) {
		fn = final ? invariant->final : invariant->check;
		wrong = fn != NULL && !sim->failed ? fn(sim) : NULL;
		if (wrong != NULL)
			sim_fail(sim, invariant->name, "%s", wrong);
	}
}

static void run_one(struct sim *sim)
{
	if (!sched_run(&sim->sched)) {
		sim_fail(sim, "simulator", "there is nothing left to do");
		return;
	}
	sim->step++;
	if (sim->sched.ran >= 0 && sim->scenario->actor->next_due != NULL)
		ask_timer(sim, sim->sched.ran);
	check(sim, false);
}

/* A client that has stalled has seen a time in the future: run until that has
   come. */
static void catch_up(struct sim *sim)
{
	int64_t until = sim_now(sim);
	int i;

	for (i = 0; i < sim->scenario->clients; i++) {
		if (sim->sched.lanes[i].ahead > until)
			until = sim->sched.lanes[i].ahead;
	}
	while (!sim->failed && sim_now(sim) < until)
		run_one(sim);
}

static void drain(struct sim *sim)
{
	const struct sim_scenario *scenario = sim->scenario;
	int64_t until;

	sim->draining = true;
	sim->drain_since = sim_now(sim);
	nemesis_stop(sim);
	catch_up(sim);
	sim->drain_since = sim_now(sim);
	if (scenario->drain != NULL)
		scenario->drain(sim);
	until = sim_now(sim) + scenario->settle_ms * KU_NS_PER_MS +
		sim_unheard_ns(sim);
	while (!sim->failed && !scenario->settled(sim)) {
		if (sim_now(sim) > until)
			sim_fail(sim, "settles",
				"not settled %d ms after the "
				"last fault",
				scenario->settle_ms);
		else
			run_one(sim);
	}
	if (!sim->failed)
		check(sim, true);
}

static void set_up(struct sim *sim)
{
	const struct sim_scenario *scenario = sim->scenario;
	size_t clients = (size_t)scenario->clients;
	struct model_config config;

	sched_init(&sim->sched, scenario->clients);
	model_config_init(&config);
	config.seed = sim->options.seed;
	config.servers = scenario->servers;
	config.clients = scenario->clients;
	config.lag_holds_touches = scenario->cut_off;
	config.delay_max_ns = scenario->timeout_ms * KU_NS_PER_MS;
	sim->model = model_create(&sim->sched, &config);
	model_set_bugs(sim->model, mutation_model_bugs());
	set_hooks(sim);
	sim->actors = sim_calloc(clients, scenario->actor->size);
	sim->actor_random = sim_calloc(clients, sizeof(*sim->actor_random));
	sim->tick_at = sim_calloc(clients, sizeof(*sim->tick_at));
	sim->tick_number = sim_calloc(clients, sizeof(*sim->tick_number));
	sim->state = sim_calloc(1, scenario->state_size + 1);
	if (sim->options.trace || sim->options.print)
		sim->lines = sim_calloc(SIM_TRACE_LINES, sizeof(*sim->lines));
}

static void tear_down(struct sim *sim)
{
	const struct sim_scenario *scenario = sim->scenario;
	int i;

	for (i = 0; i < scenario->clients && scenario->actor->fini; i++)
		scenario->actor->fini(sim_actor_state(sim, i));
	if (scenario->end != NULL)
		scenario->end(sim);
	model_free(sim->model);
	sched_free(&sim->sched);
	free(sim->actors);
	free(sim->actor_random);
	free(sim->tick_at);
	free(sim->tick_number);
	free(sim->state);
	free(sim->lines);
}

void sim_run(const struct sim_scenario *scenario,
	const struct sim_options *options, struct sim_result *result)
{
	struct sim sim;

	memset(&sim, 0, sizeof(sim));
	memset(result, 0, sizeof(*result));
	sim.scenario = scenario;
	sim.options = *options;
	sim.result = result;
	set_up(&sim);
	if (scenario->begin != NULL)
		scenario->begin(&sim);
	start_actors(&sim);
	nemesis_start(&sim);
	while (!sim.failed && sim.step < options->steps)
		run_one(&sim);
	if (!sim.failed && !options->no_drain && scenario->settled != NULL)
		drain(&sim);
	result->failed = sim.failed;
	result->draining = sim.draining;
	result->step = sim.step;
	result->hash = sim.hash;
	result->requests = model_figures(sim.model)->requests;
	result->late = model_figures(sim.model)->late;
	result->ns = sim_now(&sim) - 1000 * KU_NS_PER_S;
	result->faults = sim.faults;
	if (sim.lines != NULL)
		result->trace = trace_text(&sim);
	tear_down(&sim);
}
