/*
 * mutex_foreign.c - the foreigner: an actor that does what other libraries do.
 * It puts contenders of all styles, and other children, into the lines, writes
 * into any node, and deletes only its own nodes.
 */
#include "mutex_actor.h"

#include <stdio.h>
#include <string.h>

#define PENDING_MAX 4

static void done(void *arg, const struct ku_zk_reply *reply)
{
	struct actor *a = arg;

	(void)reply;
	a->he.pending--;
}

void foreign_submit(struct actor *a, const struct ku_zk_request *request)
{
	(void)stranger_submit(&a->he, request, done, a);
}

/* Take the node of a simple lock, which is the line itself. */
static void seat_take(struct actor *a)
{
	struct ku_zk_request request = {
		.kind = KU_ZK_CREATE,
		.path = mutex_lines[sim_random_below(subject_random(&a->it),
			LINES)],
		.len = -1,
		.mode = KU_ZK_EPHEMERAL,
		.acl = &stranger_acl,
		.acl_count = 1,
	};

	foreign_submit(a, &request);
}

/* Only two nodes in one transaction take the numbers past their end. */
static void create(struct actor *a)
{
	const struct recipe *recipe = mutex_recipe_of(a->it.sim);
	struct sim_random *r = subject_random(&a->it);
	char path[128];
	struct ku_zk_request one = {
		.kind = KU_ZK_CREATE,
		.path = path,
		.len = -1,
		.mode = sim_random_below(r, 2) ? KU_ZK_EPHEMERAL_SEQUENTIAL
					       : KU_ZK_PERSISTENT_SEQUENTIAL,
		.acl = &stranger_acl,
		.acl_count = 1,
	};
	struct ku_zk_request two[] = { one, one };
	struct ku_zk_request both = {
		.kind = KU_ZK_MULTI,
		.ops = two,
		.op_count = 2,
	};

	const char *name = recipe->names[sim_random_below(r,
		(uint64_t)recipe->name_count)];
	const char *line = mutex_lines[sim_random_below(r, LINES)];
	snprintf(path, sizeof(path), "%s/%s", line, name);
	foreign_submit(a, sim_random_below(r, 4) == 0 ? &both : &one);
}

static void delete_some(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	struct place *place = line_some(mutex_shared(a->it.sim), true,
		sim_random_next(r));
	struct ku_zk_request request = { .kind = KU_ZK_DELETE, .version = -1 };

	if (place == NULL)
		return;
	if (mutex_recipe_of(a->it.sim)->seat) { /* by now it may be ours */
		stranger_close(&a->he);
		return;
	}
	request.path = place->path;
	foreign_submit(a, &request);
}

void foreign_set(struct actor *a, const char *path, const char *data)
{
	struct ku_zk_request request = {
		.kind = KU_ZK_SET,
		.path = path,
		.version = -1,
		.data = data,
		.len = (int)strlen(data),
	};

	foreign_submit(a, &request);
}

/* Write into somebody's node, or into a line's node: a change that nobody waits
   for. */
static void set_some(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	uint64_t which = sim_random_next(r);
	struct place *place = line_some(mutex_shared(a->it.sim),
		sim_random_below(r, 4) == 0, which);
	const char *line = mutex_lines[sim_random_below(r, LINES)];
	uint64_t one_in = mutex_shared(a->it.sim)->crowd ? 50 : 3;
	const char *data = sim_random_below(r, 2) ? "__REVOKE__" : "whatever";

	if (sim_random_below(r, one_in) == 0)
		foreign_set(a, line, data);
	else if (place != NULL)
		foreign_set(a, place->path, data);
}

void foreign_step(struct actor *a)
{
	const struct recipe *recipe = mutex_recipe_of(a->it.sim);

	if (a->he.zk != NULL && a->he.ended)
		stranger_close(&a->he);
	if (a->he.zk == NULL &&
		(!sim_draining(a->it.sim) ||
			line_some(mutex_shared(a->it.sim), true, 0) != NULL))
		stranger_open(&a->he, a->it.sim, a->it.index);
	if (!a->he.connected || a->he.pending >= PENDING_MAX)
		return;
	if (sim_draining(a->it.sim)) {
		delete_some(a);
		return;
	}
	if (recipe->meddle != NULL &&
		sim_random_below(subject_random(&a->it), 4) == 0) {
		recipe->meddle(a);
		return;
	}
	switch (sim_random_below(subject_random(&a->it), 8)) {
	case 0:
		if (recipe->seat)
			seat_take(a);
		else
			create(a);
		break;
	case 1:
	case 2:
		set_some(a);
		break;
	default:
		delete_some(a);
	}
}

bool foreign_done(struct actor *a)
{
	if (line_some(mutex_shared(a->it.sim), true, 0) != NULL)
		return false;
	stranger_close(&a->he);
	return true;
}
