/*
 * mutex_foreign.c - one who is not ours: it puts contenders of all styles into
 * the lines, and other children, writes into any node, and takes only its own
 * away again.
 */
#include "mutex_actor.h"

#include <stdio.h>
#include <string.h>

#define PENDING_MAX 4

const struct kustos_acl foreign_anyone = { KUSTOS_PERM_ALL, "world", "anyone" };

static struct sim_random *random_of(struct actor *a)
{
	return sim_actor_random(a->sim, a->index);
}

static void event(void *arg, enum ku_zk_event event, enum ku_zk_state state,
	const char *path)
{
	struct actor *a = arg;

	(void)path;
	if (event != KU_ZK_EVENT_SESSION)
		return;
	a->connected = state == KU_ZK_STATE_CONNECTED;
	a->ended = state == KU_ZK_STATE_EXPIRED;
}

static void done(void *arg, const struct ku_zk_reply *reply)
{
	struct actor *a = arg;

	(void)reply;
	a->pending--;
}

void foreign_submit(struct actor *a, const struct ku_zk_request *request)
{
	if (ku_zk_sim.submit(a->zk, request, done, a) == KU_ZK_OK)
		a->pending++;
}

static void open_handle(struct actor *a)
{
	struct ku_zk_open open = {
		.addresses = model_addresses(sim_model(a->sim)),
		.timeout_ms = TIMEOUT_MS,
		.event = event,
		.arg = a,
	};

	a->connected = a->ended = false;
	a->pending = 0;
	if (ku_zk_sim.open(model_client(sim_model(a->sim), a->index), &open,
		    &a->zk) != KUSTOS_OK)
		sim_fail(a->sim, "simulator", "cannot open a handle");
}

static void close_handle(struct actor *a)
{
	ku_zk_sim.close(a->zk);
	a->zk = NULL;
	a->connected = false;
}

/* Two at once take the numbers past their end (only in one transaction). */
static void create(struct actor *a)
{
	const struct recipe *recipe = mutex_recipe_of(a->sim);
	struct sim_random *r = random_of(a);
	char path[128];
	struct ku_zk_request one = {
		.kind = KU_ZK_CREATE,
		.path = path,
		.len = -1,
		.mode = sim_random_below(r, 2) ? KU_ZK_EPHEMERAL_SEQUENTIAL
					       : KU_ZK_PERSISTENT_SEQUENTIAL,
		.acl = &foreign_anyone,
		.acl_count = 1,
	};
	struct ku_zk_request two[] = { one, one };
	struct ku_zk_request both = {
		.kind = KU_ZK_MULTI,
		.ops = two,
		.op_count = 2,
	};

	snprintf(path, sizeof(path), "%s/%s",
		mutex_lines[sim_random_below(r, LINES)],
		recipe->names[sim_random_below(r,
			(uint64_t)recipe->name_count)]);
	foreign_submit(a, sim_random_below(r, 4) == 0 ? &both : &one);
}

static void delete_some(struct actor *a)
{
	struct sim_random *r = random_of(a);
	struct place *place = line_some(mutex_shared(a->sim), true,
		sim_random_next(r));
	struct ku_zk_request request = { .kind = KU_ZK_DELETE, .version = -1 };

	if (place == NULL)
		return;
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

/* What nobody waits for: a node changes that is somebody's, or a line. */
static void set_some(struct actor *a)
{
	struct sim_random *r = random_of(a);
	struct place *place = line_some(mutex_shared(a->sim),
		sim_random_below(r, 4) == 0, sim_random_next(r));
	const char *line = mutex_lines[sim_random_below(r, LINES)];
	uint64_t one_in = mutex_shared(a->sim)->crowd ? 50 : 3;
	const char *data = sim_random_below(r, 2) ? "__REVOKE__" : "whatever";

	if (sim_random_below(r, one_in) == 0)
		foreign_set(a, line, data);
	else if (place != NULL)
		foreign_set(a, place->path, data);
}

void foreign_step(struct actor *a)
{
	const struct recipe *recipe = mutex_recipe_of(a->sim);

	if (a->zk != NULL && a->ended)
		close_handle(a);
	if (a->zk == NULL &&
		(!sim_draining(a->sim) ||
			line_some(mutex_shared(a->sim), true, 0) != NULL))
		open_handle(a);
	if (!a->connected || a->pending >= PENDING_MAX)
		return;
	if (sim_draining(a->sim)) {
		delete_some(a);
		return;
	}
	if (recipe->meddle != NULL && sim_random_below(random_of(a), 4) == 0) {
		recipe->meddle(a);
		return;
	}
	switch (sim_random_below(random_of(a), 8)) {
	case 0:
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
	if (line_some(mutex_shared(a->sim), true, 0) != NULL)
		return false;
	if (a->zk != NULL)
		close_handle(a);
	return true;
}
