/* muster_guard.c - the node of a member that waits is watched: somebody may delete
   it, and then the others do not count it. */

#include "muster_impl.h"

#include <stdlib.h>

static void guarded(struct kustos_client *client, struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_muster *m = request->owner;

	if (reply->rc != KU_ZK_OK) {
		ku_watch_failed(client, &m->own_watch);
		ku_watch_unset(client, KU_ZK_WATCH_DATA, m->guarded);
	}
	free(m->guarded);
	m->guarded = NULL;
	/* What was guarded may be an earlier node. */
	if (m->state == KU_MUSTER_ENTERING && m->own_watch.entry == NULL)
		ku_muster_look_later(m);
	ku_muster_put(m);
}

void ku_muster_guard(struct ku_muster *m)
{
	if (m->own_watch.entry != NULL || m->guarded != NULL)
		return;
	m->guarded = ku_path_child(m->path, m->name);
	if (m->guarded == NULL ||
		ku_watch_add(m->client, &m->own_watch, KU_ZK_WATCH_DATA,
			m->guarded) != KUSTOS_OK) {
		free(m->guarded); /* then it is not */
		m->guarded = NULL;
		return;
	}
	m->guard.what = (struct ku_zk_request){
		.kind = KU_ZK_GET,
		.path = m->guarded,
		.version = -1,
		.watch = true,
	};
	m->guard.owner = m;
	m->guard.done = guarded;
	ku_muster_get(m);
	ku_wire_send(m->client, &m->guard);
}

void ku_muster_unguard(struct ku_muster *m)
{
	if (ku_wire_withdraw(m->client, &m->guard)) {
		ku_watch_failed(m->client, &m->own_watch);
		free(m->guarded);
		m->guarded = NULL;
		ku_muster_put(m);
	}
	ku_watch_forget(&m->own_watch);
}

static void event(struct kustos_client *client, struct ku_watch *watch,
	enum ku_watch_event event)
{
	struct ku_muster *m = (struct ku_muster *)((char *)watch -
		offsetof(struct ku_muster, own_watch));

	(void)client;
	if (m->state == KU_MUSTER_ENTERING)
		ku_muster_look(m);
	else if (m->state == KU_MUSTER_IN && m->there &&
		event == KU_WATCH_DELETED)
		ku_muster_forget(m);
}

void ku_muster_init_guard(struct ku_muster *m)
{
	m->own_watch.fn = event;
}
