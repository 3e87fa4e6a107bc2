/* raw_watch.c - track watches: each fires at most once, and none is
   forgotten. */
#include "raw.h"
#include "watches.h"

#include <stdio.h>
#include <string.h>

static struct raw_armed *find(struct raw_actor *actor, const char *path)
{
	int i;

	for (i = 0; i < actor->armed_count; i++) {
		if (strcmp(actor->armed[i].path, path) == 0)
			return &actor->armed[i];
	}
	return NULL;
}

static struct raw_armed *add(struct raw_actor *actor, const char *path)
{
	struct raw_armed *armed = find(actor, path);

	if (armed != NULL)
		return armed;
	if (actor->armed_count == RAW_ARMED_MAX) {
		sim_fail(actor->sim, "scenario", "too many watches");
		return &actor->armed[0];
	}
	armed = &actor->armed[actor->armed_count++];
	memset(armed, 0, sizeof(*armed));
	snprintf(armed->path, sizeof(armed->path), "%s", path);
	return armed;
}

static void disarm(struct raw_actor *actor, struct raw_armed *armed, int kinds)
{
	armed->kinds &= ~kinds;
	if (armed->kinds == 0)
		*armed = actor->armed[--actor->armed_count];
}

void raw_arm(struct raw_actor *actor, const struct raw_request *request,
	const struct ku_zk_reply *reply)
{
	struct raw_armed *armed;

	if (request->kind == KU_ZK_UNWATCH) {
		armed = find(actor, request->path);
		if (reply->rc == KU_ZK_OK && armed != NULL)
			disarm(actor, armed, WATCH_DATA | WATCH_EXIST);
		return;
	}
	if (!request->watch ||
		(reply->rc != KU_ZK_OK &&
			(reply->rc != KU_ZK_NONODE ||
				request->kind != KU_ZK_EXISTS)))
		return;
	armed = add(actor, request->path);
	if (reply->rc != KU_ZK_OK) {
		armed->kinds |= WATCH_EXIST;
	} else if (request->kind == KU_ZK_CHILDREN) {
		armed->kinds |= WATCH_CHILD;
		armed->pzxid = reply->stat->pzxid;
	} else {
		armed->kinds |= WATCH_DATA;
		armed->mzxid = reply->stat->mzxid;
	}
}

void raw_fired(struct raw_actor *actor, enum ku_zk_event event,
	const char *path)
{
	struct raw_armed *armed = find(actor, path);
	int kinds = WATCH_DATA | WATCH_EXIST;

	if (event == KU_ZK_EVENT_CHILDREN)
		kinds = WATCH_CHILD;
	if (event == KU_ZK_EVENT_DELETED)
		kinds |= WATCH_CHILD;
	if (armed == NULL || (armed->kinds & kinds) == 0) {
		sim_fail(actor->sim, "watch-once",
			"client %d: event %d on %s "
			"without a watch",
			actor->index, (int)event, path);
		return;
	}
	disarm(actor, armed, kinds);
}

/* Has a change happened that this watch should have told?  Everything must be
   at rest. */
static bool forgotten(struct sim *sim, const struct raw_armed *armed)
{
	struct kustos_stat stat;
	bool there = model_stat(sim_model(sim), armed->path, &stat);

	if ((armed->kinds & (WATCH_DATA | WATCH_CHILD)) && !there)
		return true;
	if ((armed->kinds & WATCH_EXIST) && there)
		return true;
	if ((armed->kinds & WATCH_DATA) && stat.mzxid > armed->mzxid)
		return true;
	return (armed->kinds & WATCH_CHILD) && stat.pzxid > armed->pzxid;
}

const char *raw_watches_final(struct sim *sim)
{
	struct raw_actor *actor;
	int i;
	int k;

	for (i = 0; i < sim_scenario_of(sim)->clients; i++) {
		actor = sim_actor_state(sim, i);
		for (k = 0; k < actor->armed_count; k++) {
			if (actor->zk != NULL && !actor->ended &&
				forgotten(sim, &actor->armed[k]))
				return "a watch was forgotten";
		}
	}
	return NULL;
}
