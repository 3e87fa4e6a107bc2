/* raw.c - the actor of the raw scenarios: a client that uses lib/zk.h
   directly. */
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kustos_acl anyone = { KUSTOS_PERM_ALL, "world", "anyone" };

static void lock_reply(struct raw_actor *actor, struct raw_request *request,
	const struct ku_zk_reply *reply);

/* Check every completion: it belongs to a pending request of the open handle,
   and completions come in the order of the requests. */
static void done(void *arg, const struct ku_zk_reply *reply)
{
	struct raw_request *request = arg;
	struct raw_actor *actor = request->actor;
	struct raw_request copy = *request;

	if (!request->used) {
		sim_fail(actor->sim, "done-once",
			"client %d: a request was completed twice",
			actor->index);
		return;
	}
	request->used = false;
	if (copy.life != actor->life)
		sim_fail(actor->sim, "closed",
			"client %d: completed after close", actor->index);
	if (copy.number != ++actor->answered)
		sim_fail(actor->sim, "done-order",
			"client %d: request %llu completed as number %llu",
			actor->index, (unsigned long long)copy.number,
			(unsigned long long)actor->answered);
	raw_arm(actor, &copy, reply);
	if (copy.lock)
		lock_reply(actor, &copy, reply);
}

static bool submit(struct raw_actor *actor, const struct ku_zk_request *what,
	bool lock)
{
	struct raw_request *request = actor->requests;
	int i;

	for (i = 0; i < RAW_PENDING_MAX && request->used; i++)
		request++;
	if (i == RAW_PENDING_MAX || actor->zk == NULL)
		return false;
	request->actor = actor;
	request->zk = actor->zk;
	request->kind = what->kind;
	request->lock = lock;
	request->watch = what->watch;
	request->life = actor->life;
	snprintf(request->path, sizeof(request->path), "%s",
		what->path ? what->path : "");
	if (ku_zk_sim.submit(actor->zk, what, done, request) != KU_ZK_OK)
		return false;
	request->used = true;
	request->number = ++actor->sent;
	return true;
}

/* The lock */

static void lock_create(struct raw_actor *actor)
{
	char path[72];
	struct ku_zk_request request = {
		.kind = KU_ZK_CREATE,
		.path = path,
		.len = -1,
		.mode = KU_ZK_EPHEMERAL_SEQUENTIAL,
		.acl = &anyone,
		.acl_count = 1,
	};

	snprintf(path, sizeof(path), RAW_LOCK "/_c_%d-%llu-lock-", actor->index,
		(unsigned long long)++actor->tries);
	if (submit(actor, &request, true))
		actor->state = RAW_CREATING;
}

static void lock_list(struct raw_actor *actor)
{
	struct ku_zk_request request = {
		.kind = KU_ZK_CHILDREN,
		.path = RAW_LOCK,
	};

	actor->state = submit(actor, &request, true) ? RAW_LISTING : RAW_IDLE;
}

static void lock_release(struct raw_actor *actor)
{
	struct ku_zk_request request = {
		.kind = KU_ZK_DELETE,
		.path = actor->node,
		.version = -1,
	};

	if (submit(actor, &request, true))
		actor->state = RAW_RELEASING;
}

static const char *order_of(const char *name)
{
	const char *last = strrchr(name, '-');

	return last ? last + 1 : name;
}

static void lock_rank(struct raw_actor *actor, const struct ku_zk_reply *reply)
{
	const char *mine = strrchr(actor->node, '/') + 1;
	const char *before = NULL;
	bool there = false;
	int i;
	struct ku_zk_request watch = {
		.kind = KU_ZK_GET,
		.path = actor->before,
		.watch = true,
	};

	for (i = 0; i < reply->name_count; i++) {
		const char *name = reply->names[i];

		there = there || strcmp(name, mine) == 0;
		if (strcmp(order_of(name), order_of(mine)) < 0 &&
			(before == NULL ||
				strcmp(order_of(name), order_of(before)) > 0))
			before = name;
	}
	if (!there) {
		actor->state = RAW_IDLE;
	} else if (before == NULL) {
		actor->state = RAW_HOLDING;
		actor->holds++;
	} else {
		snprintf(actor->before, sizeof(actor->before), RAW_LOCK "/%s",
			before);
		actor->state = submit(actor, &watch, true) ? RAW_WAITING
							   : RAW_IDLE;
	}
}

static void make_lock_parent(struct raw_actor *actor)
{
	struct ku_zk_request request = {
		.kind = KU_ZK_CREATE,
		.path = "/raw",
		.len = -1,
		.acl = &anyone,
		.acl_count = 1,
	};

	(void)submit(actor, &request, false);
	request.path = RAW_LOCK;
	request.mode = KU_ZK_CONTAINER;
	(void)submit(actor, &request, false);
}

static void lock_reply(struct raw_actor *actor, struct raw_request *request,
	const struct ku_zk_reply *reply)
{
	switch (request->kind) {
	case KU_ZK_CREATE:
		if (reply->rc == KU_ZK_NONODE)
			make_lock_parent(actor);
		actor->state = RAW_IDLE;
		if (reply->rc == KU_ZK_OK) {
			snprintf(actor->node, sizeof(actor->node), "%s",
				reply->path);
			lock_list(actor);
		}
		break;
	case KU_ZK_CHILDREN:
		actor->state = RAW_IDLE;
		if (reply->rc == KU_ZK_OK)
			lock_rank(actor, reply);
		break;
	case KU_ZK_GET:
		if (reply->rc != KU_ZK_OK && actor->state == RAW_WAITING)
			lock_list(actor);
		break;
	default:
		actor->state = RAW_IDLE;
	}
}

static void lock_step(struct raw_actor *actor)
{
	if (actor->state == RAW_IDLE && actor->connected)
		lock_create(actor);
	else if (actor->state == RAW_HOLDING)
		lock_release(actor);
}

/* The mixture */

static void mixed_multi(struct raw_actor *actor, const char *path)
{
	struct ku_zk_request ops[3] = {
		{ .kind = KU_ZK_CHECK, .path = "/raw", .version = -1 },
		{ .kind = KU_ZK_SET,
			.path = path,
			.data = "m",
			.len = 1,
			.version = -1 },
		{ .kind = KU_ZK_DELETE,
			.path = path,
			.version = (int)sim_random_below(actor->random, 3) },
	};
	struct ku_zk_request multi = {
		.kind = KU_ZK_MULTI,
		.ops = ops,
		.op_count = 3,
	};

	(void)submit(actor, &multi, false);
}

static void mixed_step(struct raw_actor *actor)
{
	static const enum ku_zk_kind kinds[] = {
		KU_ZK_CREATE,
		KU_ZK_CREATE,
		KU_ZK_DELETE,
		KU_ZK_GET,
		KU_ZK_GET,
		KU_ZK_SET,
		KU_ZK_EXISTS,
		KU_ZK_EXISTS,
		KU_ZK_CHILDREN,
		KU_ZK_SYNC,
		KU_ZK_UNWATCH,
		KU_ZK_MULTI,
	};
	uint64_t r = sim_random_next(actor->random);
	char path[16];
	struct ku_zk_request request = {
		.kind = kinds[r % (sizeof(kinds) / sizeof(kinds[0]))],
		.path = path,
		.data = "data",
		.len = 4,
		.version = -1,
		.mode = r >> 60 & 1,
		.acl = &anyone,
		.acl_count = 1,
		.unwatch = KU_ZK_WATCH_DATA,
	};

	snprintf(path, sizeof(path), "/raw/%u", (unsigned)(r >> 8) % RAW_NODES);
	if (request.kind == KU_ZK_CHILDREN)
		strcpy(path, "/raw");
	if (request.kind == KU_ZK_GET || request.kind == KU_ZK_EXISTS ||
		request.kind == KU_ZK_CHILDREN)
		request.watch = r >> 50 & 1;
	if (request.kind == KU_ZK_MULTI)
		mixed_multi(actor, path);
	else
		(void)submit(actor, &request, false);
}

/* The handle */

static void on_event(void *arg, enum ku_zk_event event, enum ku_zk_state state,
	const char *path)
{
	struct raw_actor *actor = arg;

	if (event != KU_ZK_EVENT_SESSION) {
		raw_fired(actor, event, path);
		if (actor->state == RAW_WAITING &&
			strcmp(path, actor->before) == 0)
			lock_list(actor);
		return;
	}
	actor->connected = state == KU_ZK_STATE_CONNECTED;
	actor->ended = state == KU_ZK_STATE_EXPIRED ||
		state == KU_ZK_STATE_AUTH_FAILED;
	if (actor->connected && actor->state == RAW_WAITING)
		lock_list(actor);
}

static void open_handle(struct raw_actor *actor)
{
	struct model *model = sim_model(actor->sim);
	struct ku_zk_open open = {
		.addresses = model_addresses(model),
		.timeout_ms = sim_scenario_of(actor->sim)->timeout_ms,
		.event = on_event,
		.arg = actor,
	};

	actor->connected = false;
	actor->ended = false;
	actor->sent = 0;
	actor->answered = 0;
	actor->armed_count = 0;
	actor->state = RAW_IDLE;
	(void)ku_zk_sim.open(model_client(model, actor->index), &open,
		&actor->zk);
}

static void close_handle(struct raw_actor *actor)
{
	struct ku_zk *zk = actor->zk;
	int i;

	actor->zk = NULL;
	ku_zk_sim.close(zk);
	actor->life++;
	actor->state = RAW_IDLE;
	actor->connected = false;
	for (i = 0; i < RAW_PENDING_MAX; i++)
		actor->requests[i].used = false;
}

static void init(struct sim *sim, int index, void *self)
{
	struct raw_actor *actor = self;

	actor->sim = sim;
	actor->index = index;
	actor->random = sim_actor_random(sim, index);
	open_handle(actor);
}

static void step(void *self)
{
	struct raw_actor *actor = self;
	struct raw_state_shared *shared = sim_state(actor->sim);

	if (shared->stop)
		return;
	if (actor->zk == NULL)
		open_handle(actor);
	else if (actor->ended || sim_random_below(actor->random, 500) == 0)
		close_handle(actor);
	else if (sim_random_below(actor->random, 2) == 0)
		lock_step(actor);
	else
		mixed_step(actor);
}

const struct sim_actor raw_actor_ops = {
	.size = sizeof(struct raw_actor),
	.init = init,
	.step = step,
};
