/* muster_look.c - what a member of a double barrier sees. */

#include "muster_impl.h"

#include <stdlib.h>

/* The pauses before looking again if a look failed, and if no watch can be
   set. */
#define PUT_OFF_MS 100
#define NO_WATCH_MS 1000
/* By then members that leave have heard that a node has gone, and have left. */
#define HEARD_MS 1000

bool ku_muster_busy(const struct ku_muster *m)
{
	return ku_request_busy(&m->listing) || ku_request_busy(&m->sight);
}

static void send(struct ku_muster *m, struct ku_request *request,
	enum ku_zk_kind kind, const char *path, bool watch, ku_request_fn *done)
{
	request->owner = m;
	request->done = done;
	ku_muster_get(m);
	ku_wire_read(m->client, request, kind, path, watch);
}

static void later(struct ku_muster *m, int64_t ms)
{
	ku_set_timer_ms(m->client, &m->timer, ms);
}

void ku_muster_set_safety(struct ku_muster *m)
{
	later(m, ku_watch_doubt_ms(m->client, KU_MUSTER_SAFETY_MS));
}

void ku_muster_rejoin_later(struct ku_muster *m)
{
	later(m, HEARD_MS);
}

static void forget_names(struct ku_muster *m)
{
	kustos_names_free(m->names);
	m->names = NULL;
}

/* Register the watch on "path", before the read is sent that sets it. */
static bool watch(struct ku_muster *m, const char *path)
{
	m->fresh = m->watch.entry == NULL;
	if (!m->fresh)
		return true;
	if (ku_watch_add(m->client, &m->watch, KU_ZK_WATCH_DATA, path) ==
		KUSTOS_OK)
		return true;
	later(m, NO_WATCH_MS);
	return false;
}

/* The read was to set a watch, and did not. */
static void watch_was_not_set(struct ku_muster *m)
{
	if (m->fresh)
		ku_watch_failed(m->client, &m->watch);
}

/* The read may have set a watch.  If its call has ended, nobody wants that
   watch. */
static void watch_was_set(struct ku_muster *m)
{
	const struct ku_zk_request *read = &m->sight.what;

	if (m->stale)
		ku_watch_take_back(m->client, &m->watch, read);
	else
		(void)ku_watch_keep(m->client, &m->watch, read);
}

/* Is what was seen complete and still wanted?  If not, and a call waits, look
   again. */
static bool is_heeded(struct ku_muster *m)
{
	if (ku_muster_busy(m))
		return false;
	if (m->call != NULL && !m->again)
		return true;
	if (m->stale || m->call == NULL)
		ku_watch_remove(m->client, &m->watch);
	m->again = m->stale = false;
	forget_names(m);
	if (m->call != NULL)
		ku_muster_look(m);
	return false;
}

void ku_muster_look_later(struct ku_muster *m)
{
	if (ku_session_ready(m->client))
		later(m, PUT_OFF_MS);
	else
		ku_muster_look(m);
}

/* Nothing was seen: the server refused, or could not be asked. */
static void failed(struct ku_muster *m, int rc)
{
	forget_names(m);
	if (ku_outcome(rc) == KU_OUTCOME_REFUSED)
		ku_muster_finish(m, ku_rc_err(rc));
	else if (m->call->wait.once)
		ku_muster_finish(m, KUSTOS_EDISCONNECTED);
	else
		ku_muster_look_later(m);
}

static bool is_answer(int rc)
{
	return rc == KU_ZK_OK || rc == KU_ZK_NONODE;
}

static void listed(struct ku_request *request, const struct ku_zk_reply *reply)
{
	static const char *const none[] = { "" };
	struct ku_muster *m = request->owner;
	bool found = reply->rc == KU_ZK_OK;

	m->list_rc = reply->rc;
	forget_names(m);
	if (is_answer(reply->rc))
		m->names = found
			? ku_names_copy(reply->names, reply->name_count)
			: ku_names_copy(none, 0);
	if (m->names != NULL)
		ku_muster_sort(m->names);
	m->pzxid = found ? reply->stat->pzxid : 0;
	m->traffic = (struct ku_muster_traffic){ 0 };
	if (found)
		m->traffic = (struct ku_muster_traffic){
			.children = reply->stat->num_children,
			.cversion = reply->stat->cversion,
			.members = m->names != NULL ? (int32_t)m->names->count
						    : 0,
		};
	(void)is_heeded(m); /* in case no other request is under way */
	ku_muster_put(m);
}

/* "ready" was seen: for whom is it?  For all members that came before it was
   written, until its data is read: that may name fewer if one of ours wrote it,
   and says nothing if a peer did.  If one of ours wrote it and we may not read
   it, it is for nobody. */
static void see_ready(struct ku_muster *m, const struct ku_zk_reply *reply)
{
	const struct kustos_stat *stat = reply->stat;
	bool ours = ku_muster_may_parse(stat->data_length);
	int64_t round = stat->mzxid;

	if (m->blind && ours)
		round = 0;
	else if (m->reads && !m->blind)
		round = ku_muster_parse(reply->data, reply->len, stat->mzxid);
	m->ready.stat = *stat;
	if ((m->reads && !m->blind) || !ours) {
		m->ready.read_mzxid = stat->mzxid;
		m->ready.read_round = round;
	}
	m->ready.round = m->ready.read_mzxid == stat->mzxid
		? m->ready.read_round
		: round;
}

/* "ready" was made, and has gone again.  If all may have been there without us
   before our node was, nobody knows whether we are of that round, as some of
   them may have gone by then.  Then come again after a while: members that wait
   for us to leave would wait for ever. */
static void see_what_came(struct ku_muster *m)
{
	struct ku_muster_traffic then = m->noted.traffic;

	m->heard = false;
	m->came = ku_muster_may_have_met(m->count, then, m->traffic);
	then.members--;
	if (m->came && m->noted.early &&
		ku_muster_may_have_met(m->count, then, m->traffic)) {
		m->came = false;
		m->doubted = ku_now(m->client);
	}
}

static void saw(struct ku_muster *m, const struct ku_zk_reply *reply)
{
	bool answered = is_answer(reply->rc);

	if (answered)
		watch_was_set(m);
	else
		watch_was_not_set(m);
	if (!is_heeded(m))
		return;
	if (reply->rc == KU_ZK_NOAUTH && m->state == KU_MUSTER_LEAVING &&
		!m->blind) {
		m->blind = true; /* a member that leaves can do without */
		ku_muster_look(m);
		return;
	}
	if (!answered || !is_answer(m->list_rc)) {
		failed(m, answered ? m->list_rc : reply->rc);
		return;
	}
	if (m->names == NULL) { /* memory is short */
		later(m, PUT_OFF_MS);
		return;
	}
	/* "ready" has gone before it was read: nobody knows whether it was for
	   us. */
	if (m->ready.there && m->reads &&
		m->ready.read_mzxid != m->ready.stat.mzxid &&
		reply->rc != KU_ZK_OK)
		m->doubted = ku_now(m->client);
	m->ready.there = reply->rc == KU_ZK_OK;
	if (m->ready.there)
		see_ready(m, reply);
	else if (m->heard)
		see_what_came(m);
	/* A node that an earlier session made is not there any more. */
	if (m->own.there && m->own.session_id != m->sight.session_id)
		ku_muster_forget(m);
	ku_muster_step(m);
}

static void sighted(struct ku_request *request, const struct ku_zk_reply *reply)
{
	struct ku_muster *m = request->owner;

	saw(m, reply);
	ku_muster_put(m);
}

void ku_muster_look(struct ku_muster *m)
{
	bool enters = m->state == KU_MUSTER_ENTERING;

	if (ku_muster_busy(m)) {
		m->again = true;
		return;
	}
	ku_timer_unset(&m->client->timers, &m->timer);
	if (!enters)
		ku_watch_remove(m->client, &m->watch);
	forget_names(m);
	m->late = m->own.there;
	m->skip = 0;
	m->misleads = false;
	m->fresh = false;
	send(m, &m->listing, KU_ZK_CHILDREN, m->path, false, listed);
	if (m->reads && !m->blind)
		send(m, &m->sight, KU_ZK_GET, m->ready_path, false, sighted);
	else
		send(m, &m->sight, KU_ZK_EXISTS, m->ready_path,
			enters && watch(m, m->ready_path), sighted);
}

/* This is the answer about the member whose end is awaited. */
static void know_member(struct ku_muster *m, const struct ku_zk_reply *reply)
{
	if (reply->rc == KU_ZK_NONODE) {
		ku_muster_look(m);
	} else if (reply->rc != KU_ZK_OK) {
		failed(m, reply->rc);
	} else if (reply->stat->czxid > m->round) {
		ku_watch_remove(m->client, &m->watch);
		m->misleads = m->misleads ||
			reply->stat->czxid < m->ready.stat.czxid;
		m->skip++;
		ku_muster_step(m);
	} else if (m->call->wait.once) {
		ku_muster_finish(m, KUSTOS_EBUSY);
	} else if (m->watch.entry != NULL) {
		ku_muster_set_safety(m);
	} else {
		later(m, NO_WATCH_MS);
	}
}

static void was_looked_for(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_muster *m = request->owner;

	if (is_heeded(m))
		know_member(m, reply);
	ku_muster_put(m);
}

static void was_read(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_muster *m = request->owner;

	if (reply->rc == KU_ZK_OK)
		watch_was_set(m);
	else
		watch_was_not_set(m);
	if (!is_heeded(m)) {
		/* Another look follows, or no call waits. */
	} else if (reply->rc == KU_ZK_NOAUTH) {
		/* A node that we may not read cannot be watched.  Look whether
		   it is there. */
		m->fresh = false;
		send(m, &m->sight, KU_ZK_EXISTS, m->awaited, false,
			was_looked_for);
	} else {
		know_member(m, reply);
	}
	ku_muster_put(m);
}

bool ku_muster_await(struct ku_muster *m, const char *name)
{
	if (m->watch.entry != NULL)
		return true;
	free(m->awaited);
	m->awaited = ku_path_child(m->path, name);
	if (m->awaited == NULL) {
		later(m, PUT_OFF_MS);
		return false;
	}
	send(m, &m->sight, KU_ZK_GET, m->awaited,
		!m->call->wait.once && watch(m, m->awaited), was_read);
	return true;
}

/* Only one event says something by itself: that "ready" was made. */
static void event(struct ku_watch *w, enum ku_watch_event event)
{
	struct ku_muster *m = KU_OWNER(struct ku_muster, watch, w);

	if (m->call == NULL || m->missed)
		return; /* no call waits, or not before our node comes again */
	if (event == KU_WATCH_CREATED && m->noted.absent)
		m->heard = m->reads = true;
	if (m->op == NULL) /* else the look follows its end, if needed */
		ku_muster_look(m);
}

static void timer_due(struct ku_timer *timer)
{
	struct ku_muster *m = KU_OWNER(struct ku_muster, timer, timer);

	if (m->own.op == NULL) /* members that leave have had their time */
		m->missed = false;
	if (m->call != NULL)
		ku_muster_look(m);
	else
		ku_muster_guard_again(m);
}

void ku_muster_init_look(struct ku_muster *m)
{
	m->watch.fn = event;
	m->timer.fn = timer_due;
}

static void withdraw(struct ku_muster *m, struct ku_request *request)
{
	if (!ku_wire_withdraw(m->client, request))
		return;
	if (request == &m->sight)
		watch_was_not_set(m);
	ku_muster_put(m);
}

void ku_muster_rest(struct ku_muster *m)
{
	ku_timer_unset(&m->client->timers, &m->timer);
	withdraw(m, &m->listing);
	withdraw(m, &m->sight);
	m->again = m->stale = ku_muster_busy(m);
	forget_names(m);
	if (!m->again)
		ku_watch_remove(m->client, &m->watch);
}
