/* rw_recipe.c - the parts of the locks' scenario that only a read/write lock
   has: two sides, and writers that become readers. */
#include "mutex_actor.h"
#include "sim_impl.h"

#include <kustos/rwlock.h>

#include <inttypes.h>
#include <stdio.h>

static const struct mark marks[] = {
	{ "__READ__", true },
	{ "__WRIT__", false },
	{ "__rlock__", true },
	{ "__lock__", false },
};

/* Names as Curator makes them; as kazoo does with Curator's patterns; and
   kazoo's own.  The last ones are not contenders. */
static const char *const names[] = {
	"_c_01234567-89ab-4cde-8f01-23456789abcd-__WRIT__",
	"_c_01234567-89ab-4cde-8f01-23456789abcd-__READ__",
	"0123456789abcdef0123456789abcdef-__WRIT__",
	"0123456789abcdef0123456789abcdef-__READ__",
	"0123456789abcdef0123456789abcdef__lock__",
	"0123456789abcdef0123456789abcdef__rlock__",
	"_c_01234567-89ab-4cde-8f01-23456789abcd-lock-",
	"_c_01234567-89ab-4cde-8f01-23456789abcd-__READ__-",
	"x-0123456789abcdef-",
};

static enum kustos_err make(struct actor *a, struct object *object)
{
	struct kustos_rwlock_options options = KUSTOS_RWLOCK_OPTIONS_INIT;
	struct sim_random *r = subject_random(&a->it);
	struct kustos_rwlock *rw = NULL;

	options.local_handoffs = object->local_handoffs;
	object->kazoo = sim_random_below(r, 8) == 0;
	options.dialect = object->kazoo ? KUSTOS_DIALECT_KAZOO
					: KUSTOS_DIALECT_CURATOR;
	options.holder_record = sim_random_below(r, 4) == 0;
	if (sim_random_below(r, 4) == 0) {
		options.on_revoke = turn_asked;
		options.on_revoke_arg = a;
	}
	enum kustos_err err = kustos_rwlock_create(a->it.client,
		mutex_lines[object->line], &options, &rw);
	object->lock = rw;
	return err;
}

static void free_lock(struct object *object)
{
	kustos_rwlock_destroy(object->lock);
}

static enum kustos_err ask(struct turn *turn, const struct object *object,
	kustos_granted_fn *granted)
{
	if (turn->from != NULL)
		return kustos_rwlock_downgrade_async(object->lock,
			turn->from->hold, turn->ask.deadline, turn->ask.cancel,
			granted, turn);
	return kustos_rwlock_acquire_async(object->lock,
		turn->shares ? KUSTOS_READ : KUSTOS_WRITE, turn->ask.deadline,
		turn->ask.cancel, granted, turn);
}

/* Some clients read more, others write more. */
static void choose(struct turn *turn)
{
	struct actor *a = turn->actor;

	turn->shares = (int)sim_random_below(subject_random(&a->it), 4) <=
		a->it.index % 3;
	if (turn->shares)
		turn->local_handoffs = 0;
}

/* Return the object of the turn, or NULL if it is gone; seldom any object of
   the client. */
static struct object *object_of(struct turn *turn)
{
	struct actor *a = turn->actor;

	if (sim_random_below(subject_random(&a->it), 20) == 0)
		return &a->objects[sim_random_below(subject_random(&a->it),
			OBJECTS)];
	for (int i = 0; i < OBJECTS; i++)
		if (a->objects[i].number == turn->object)
			return &a->objects[i];
	return NULL;
}

/* Things that happen within this time get into each other's way. */
#define SOON_NS KU_NS_PER_MS

static void cut(void *arg, uint64_t client)
{
	struct sim *sim = arg;

	if (!sim_draining(sim))
		model_cut(sim_model(sim), (int)client, true);
}

/* Disturb a writer while it becomes a reader: its node changes, so that the
   watch fires, and goes; or the connection breaks; or both. */
static void hinder(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct actor *foreigner = mutex_actor_of(a->it.sim, FOREIGNER);
	struct sim_random *r = subject_random(&a->it);

	if (turn->place != NULL && sim_random_below(r, 2) == 0) {
		if (foreigner->he.connected && sim_random_below(r, 2) == 0)
			foreign_set(foreigner, turn->place->path, "whatever");
		line_remove_soon(a->it.sim, turn->place, SOON_NS);
	}
	if (a->it.sim->faults & 1u << SIM_CUT && sim_random_below(r, 2) == 0)
		sched_add(sim_sched(a->it.sim), SCHED_NOBODY,
			sim_now(a->it.sim) + sim_random_between(r, 0, SOON_NS),
			cut, a->it.sim, (uint64_t)a->it.index);
}

static void keep_until(struct turn *turn, int64_t until)
{
	if (turn->until < until)
		turn->until = until;
}

/* Become a reader.  Mostly keep the writer's hold until that is done, but not
   always. */
static void downgrade(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct sim_random *r = subject_random(&a->it);
	struct object *object = object_of(turn);
	int64_t most = sim_random_below(r, 8) == 0 ? 4 * TIMEOUT_NS
						   : 50 * KU_NS_PER_MS;
	int64_t until = sim_now(a->it.sim) + sim_random_between(r, 0, most);
	int slot = 0;

	while (slot < SLOTS && a->turns[slot] != NULL)
		slot++;
	if (slot == SLOTS || object == NULL || object->lock == NULL)
		return;
	if (sim_random_below(r, 8) != 0)
		keep_until(turn, until);
	turn_beside(a, slot, turn, object);
}

static void downgrade_now(void *arg, uint64_t tag)
{
	struct turn *turn = arg;

	(void)tag;
	if (turn->state == TURN_HOLDING && !sim_draining(turn->actor->it.sim))
		downgrade(turn);
}

/* The writer has become a reader: mostly release the writer's hold. */
static void downgraded(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct sim_random *r = subject_random(&a->it);
	struct turn *from = turn->from;

	if (turn->until < sim_now(a->it.sim) && sim_random_below(r, 2) == 0)
		turn->until = sim_now(a->it.sim) +
			sim_random_between(r, 0, 100 * KU_NS_PER_MS);
	if (from->state == TURN_HOLDING && sim_random_below(r, 4) != 0)
		turn_release(from);
}

static void holds(struct turn *turn)
{
	struct actor *a = turn->actor;
	struct sim_random *r = subject_random(&a->it);
	int64_t soon = sim_now(a->it.sim) + sim_random_between(r, 0, SOON_NS);

	if (turn->from != NULL)
		downgraded(turn);
	if (a->it.closing || a->ending ||
		sim_random_below(r, turn->shares ? 64 : 3) != 0)
		return;
	if (sim_random_below(r, 4) != 0) {
		downgrade(turn);
		return;
	}
	hinder(turn);
	keep_until(turn, soon + SOON_NS);
	sched_add(sim_sched(a->it.sim), a->it.index, soon, downgrade_now, turn,
		0);
}

/* As the foreigner: a writer becomes a reader as Curator's do since 5.5, with
   the number of its own node and while that node is there. */
static void meddle(struct actor *a)
{
	static const char *const leaves[] = {
		"_c_fedcba98-7654-4321-8fed-cba987654321-__READ__",
		"fedcba9876543210fedcba9876543210-__READ__",
	};
	struct shared *s = mutex_shared(a->it.sim);
	struct sim_random *r = subject_random(&a->it);
	struct place *place = line_some(s, true, sim_random_next(r));
	char path[128];
	struct ku_zk_request leave = { .kind = KU_ZK_DELETE, .version = -1 };
	struct ku_zk_request beside = {
		.kind = KU_ZK_CREATE,
		.path = path,
		.len = -1,
		.mode = KU_ZK_EPHEMERAL,
		.acl = &stranger_acl,
		.acl_count = 1,
	};

	if (place == NULL || place->shares || place->number < 0 ||
		place->number == INT32_MAX || !line_is_first(s, place))
		return;
	snprintf(path, sizeof(path), "%s/%s%010" PRId32,
		mutex_lines[place->line], leaves[sim_random_below(r, 2)],
		place->number);
	foreign_submit(a, &beside);
	leave.path = place->path;
	if (sim_random_below(r, 2) == 0)
		foreign_submit(a, &leave);
}

const struct recipe rw_recipe = {
	.marks = marks,
	.mark_count = sizeof(marks) / sizeof(marks[0]),
	.names = names,
	.name_count = sizeof(names) / sizeof(names[0]),
	.make = make,
	.free = free_lock,
	.ask = ask,
	.choose = choose,
	.holds = holds,
	.meddle = meddle,
};
