/* muster_guard.c - watch the own node while its member waits or is in: if
   somebody deletes it, the others do not count the member, or do not wait for
   it. */

#include "muster_impl.h"

#include <stdlib.h>

static void guarded(struct ku_request *request, const struct ku_zk_reply *reply)
{
	struct ku_muster *m = request->owner;
	bool there = reply->rc == KU_ZK_OK;
	bool gone = reply->rc == KU_ZK_NONODE;
	/* A read of an earlier node is answered before this one is there. */
	bool in = m->state == KU_MUSTER_IN && m->own.there;

	if (!there) {
		if (gone || m->guard.fresh)
			ku_watch_failed(m->client, &m->guard.watch);
		ku_watch_unset(m->client, KU_ZK_WATCH_DATA, m->guard.path);
	}
	free(m->guard.path);
	m->guard.path = NULL;
	bool blind = m->guard.watch.entry == NULL;
	if (m->state == KU_MUSTER_ENTERING && blind)
		ku_muster_look_later(m);
	else if (in && gone)
		ku_muster_forget(m);
	else if (in && there && request->what.watch)
		ku_muster_guard(m); /* it was changed meanwhile */
	ku_muster_put(m);
}

/* Read the own node, with a watch if there can be one. */
static void read_own(struct ku_muster *m)
{
	m->guard.path = ku_path_child(m->path, m->own.name);
	m->guard.fresh = m->guard.watch.entry == NULL;
	bool watch = m->guard.path != NULL &&
		(!m->guard.fresh ||
			ku_watch_add(m->client, &m->guard.watch,
				KU_ZK_WATCH_DATA, m->guard.path) == KUSTOS_OK);
	if (m->guard.path == NULL || (!watch && m->state != KU_MUSTER_IN)) {
		free(m->guard.path); /* it is not guarded */
		m->guard.path = NULL;
		return;
	}
	m->guard.request.owner = m;
	m->guard.request.done = guarded;
	ku_muster_get(m);
	ku_wire_read(m->client, &m->guard.request, KU_ZK_GET, m->guard.path,
		watch);
}

void ku_muster_guard(struct ku_muster *m)
{
	if (m->guard.watch.entry == NULL && m->guard.path == NULL)
		read_own(m);
}

void ku_muster_guard_again(struct ku_muster *m)
{
	if (!m->own.there)
		return;
	if (m->guard.path == NULL && ku_session_ready(m->client))
		read_own(m);
	ku_muster_set_safety(m);
}

void ku_muster_unguard(struct ku_muster *m)
{
	if (ku_wire_withdraw(m->client, &m->guard.request)) {
		ku_watch_failed(m->client, &m->guard.watch);
		free(m->guard.path);
		m->guard.path = NULL;
		ku_muster_put(m);
	}
	ku_watch_forget(&m->guard.watch);
}

static void event(struct ku_watch *watch, enum ku_watch_event event)
{
	struct ku_muster *m = KU_OWNER(struct ku_muster, guard.watch, watch);

	if (m->state == KU_MUSTER_ENTERING)
		ku_muster_look(m);
	else if (m->state != KU_MUSTER_IN)
		return;
	else if (event == KU_WATCH_DELETED)
		ku_muster_forget(m);
	else if (event == KU_WATCH_CHANGED)
		ku_muster_guard(m);
}

void ku_muster_init_guard(struct ku_muster *m)
{
	m->guard.watch.fn = event;
}
