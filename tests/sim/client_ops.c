/* client_ops.c - the operations that the actors start, and how they may end. */
#include "client_actor.h"

#include <stdio.h>
#include <string.h>

struct shared *shared_of(struct sim *sim)
{
	return sim_state(sim);
}

static kustos_deadline some_deadline(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);

	if (sim_random_below(r, 4) == 0)
		return sim_now(a->it.sim) +
			sim_random_between(r, 0, 500 * KU_NS_PER_MS);
	return KUSTOS_FOREVER;
}

struct op *op_new(struct actor *a, enum op_kind kind)
{
	struct shared *s = shared_of(a->it.sim);
	struct op *op = sim_calloc(1, sizeof(*op));

	s->ops = sim_room(s->ops, s->count, &s->room, sizeof(*s->ops));
	op->actor = a;
	op->kind = kind;
	op->number = s->count;
	s->ops[s->count++] = op;
	return op;
}

/* Errors that leave the outcome of an operation unknown. */
static bool is_open(enum kustos_err err)
{
	return err == KUSTOS_EUNKNOWN || err == KUSTOS_ETIMEDOUT ||
		err == KUSTOS_ECANCELED || err == KUSTOS_ECLOSED ||
		err == KUSTOS_EDISCONNECTED;
}

static void check_created(struct op *op, const struct kustos_result *result)
{
	struct actor *a = op->actor;
	int64_t owner = result->stat->ephemeral_owner;
	int64_t session = a->it.client->session.id;

	if (op->zxid[0] == 0)
		sim_fail(a->it.sim, "one node", "op %d: %s was never made",
			op->number, result->path);
	else if (result->stat->czxid != op->zxid[0])
		sim_fail(a->it.sim, "one node",
			"op %d: %s is not the node made", op->number,
			result->path);
	else if (op->kind != OP_PLAIN && session != 0 && owner != session &&
		a->session_since < sim_now(a->it.sim))
		sim_fail(a->it.sim, "one node",
			"op %d: %s is another session's", op->number,
			result->path);
}

static void count_done(struct op *op, enum kustos_err err)
{
	struct shared *s = shared_of(op->actor->it.sim);

	if (err == KUSTOS_OK)
		s->made++;
	else if (is_open(err))
		s->perhaps++;
}

/* Was its outcome left unknown?  The client must then delete the node itself,
   as nobody else knows its name. */
static bool is_given_up(const struct op *op)
{
	return (op->kind == OP_PROTECTED || op->kind == OP_PLAIN) &&
		(op->err == KUSTOS_ETIMEDOUT || op->err == KUSTOS_EUNKNOWN);
}

static void guarantee(struct op *op, const struct kustos_result *result)
{
	struct actor *a = op->actor;
	struct sim_random *r = subject_random(&a->it);

	if (sim_random_below(r, 2) == 0)
		return;
	op->guaranteed = kustos_delete_guaranteed(a->it.client, result->path,
				 result->stat->czxid) == KUSTOS_OK;
}

static void done(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct op *op = arg;
	struct actor *a = op->actor;

	sim_say(a->it.sim, a->it.index, kustos_err_name(err), NULL, op->number);
	op->err = err;
	a->pending--;
	if (++op->ended > 1)
		sim_fail(a->it.sim, "ends once", "op %d ended twice",
			op->number);
	if (op->kind == OP_COUNT)
		count_done(op, err);
	/* Nobody else makes nodes of that name, so it has met its own. */
	if (err == KUSTOS_EEXISTS && op->kind != OP_READ)
		sim_fail(a->it.sim, "no guess", "op %d met itself", op->number);
	if (is_given_up(op))
		op->given_up = a->opened;
	if (err != KUSTOS_OK)
		return;
	if (op->kind <= OP_PLAIN)
		check_created(op, result);
	if (op->kind == OP_PROTECTED)
		guarantee(op, result);
	if (op->kind == OP_PAIR && (op->zxid[0] == 0 || op->zxid[1] == 0))
		sim_fail(a->it.sim, "all or none", "op %d: not made",
			op->number);
}

static void started(struct op *op, enum kustos_err err)
{
	if (err == KUSTOS_OK) {
		op->actor->pending++;
		return;
	}
	op->ended = 1;
	op->err = err;
}

static void start_create(struct op *op, const char *path, int flags)
{
	started(op,
		kustos_create_async(op->actor->it.client, path, "x", 1, flags,
			some_deadline(op->actor), NULL, done, op));
}

static void start_pair(struct op *op)
{
	char one[64], two[64];
	struct kustos_op ops[] = {
		{ .kind = KUSTOS_OP_CREATE, .path = one, .data = "x", .len = 1 },
		{ .kind = KUSTOS_OP_CREATE, .path = two, .data = "x", .len = 1 },
	};

	snprintf(one, sizeof(one), "/pair%da", op->number);
	snprintf(two, sizeof(two), "/pair%db", op->number);
	started(op,
		kustos_multi_async(op->actor->it.client, ops, 2,
			some_deadline(op->actor), NULL, done, op));
}

/* The counter's version was read: now increment it. */
static void counter_read(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct op *op = arg;
	char data[32];

	if (err != KUSTOS_OK || op->actor->it.closing) {
		op->actor->pending--;
		op->ended++;
		return;
	}
	snprintf(data, sizeof(data), "%d", op->number);
	if (kustos_set_async(op->actor->it.client, "/counter", data,
		    strlen(data), result->stat->version,
		    some_deadline(op->actor), NULL, done, op) != KUSTOS_OK) {
		op->actor->pending--;
		op->ended++;
	}
}

void op_start(struct op *op)
{
	struct kustos_client *client = op->actor->it.client;
	kustos_deadline deadline = some_deadline(op->actor);
	char path[64];

	snprintf(path, sizeof(path), "/jobs/op%d-", op->number);
	switch (op->kind) {
	case OP_PROTECTED:
		start_create(op, path,
			KUSTOS_CREATE_PROTECTED | KUSTOS_CREATE_EPHEMERAL |
				KUSTOS_CREATE_SEQUENTIAL |
				KUSTOS_CREATE_PARENTS);
		break;
	case OP_EPHEMERAL:
		start_create(op, path,
			KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_PARENTS);
		break;
	case OP_PLAIN:
		start_create(op, path,
			KUSTOS_CREATE_PROTECTED | KUSTOS_CREATE_PARENTS);
		break;
	case OP_READ:
		started(op,
			kustos_children_async(client, "/jobs", deadline, NULL,
				done, op));
		break;
	case OP_COUNT:
		started(op,
			kustos_get_async(client, "/counter", deadline, NULL,
				counter_read, op));
		break;
	case OP_PAIR:
		start_pair(op);
		break;
	default:
		snprintf(path, sizeof(path), "/jobs/op%d-", op->number / 2);
		started(op,
			kustos_delete_async(client, path, -1, deadline, NULL,
				done, op));
	}
}

void op_start_counter(struct op *op)
{
	start_create(op, "/counter", 0);
}
