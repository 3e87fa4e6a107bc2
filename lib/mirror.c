/* mirror.c - the content or the children of a node, kept up to date. */

#include "mirror.h"
#include "client.h"

/* When to read again a node that could not be read, or not be watched. */
#define PUT_OFF_MS 100
#define NO_WATCH_MS 1000
/* When to read again a node that is watched: after this, plus up to as long
   again.  It is longer than a queue leaves alone an item that it cannot have,
   so that nothing is read for both reasons.  And when to read again a node that
   may not be read. */
#define SAFETY_MS 65000
#define REFUSED_MS 30000

static void answered(struct ku_request *request,
	const struct ku_zk_reply *reply);

static void again_in(struct ku_mirror *m, int64_t ms)
{
	if (m->wanted)
		ku_set_timer_ms(m->client, &m->again, ms);
}

/* Send a read.  If the client is not connected, it waits until it is. */
static void ask(struct ku_mirror *m, enum ku_zk_kind kind, bool watch)
{
	m->request.owner = m;
	m->request.done = answered;
	m->asked++;
	m->blind = false;
	ku_witness_add(m->client, &m->witness);
	ku_wire_read(m->client, &m->request, kind, m->path, watch);
}

/* Enter the watch that a read of this kind leaves.  If it was on when the read
   was sent and is off now, the event of an older watch took it off: at the
   server it is still on. */
static bool watch(struct ku_mirror *m, enum ku_zk_kind kind)
{
	enum ku_zk_watch_kind what = ku_zk_watch_of(kind);

	if (m->watch.entry != NULL && m->watched == what)
		return true;
	ku_watch_remove(m->client, &m->watch);
	m->watched = what;
	m->fresh = true;
	if (ku_watch_add(m->client, &m->watch, what, m->path) == KUSTOS_OK)
		return true;
	m->fresh = false;
	return false;
}

/* Read, and watch, if a watch can be entered. */
static void look(struct ku_mirror *m, enum ku_zk_kind kind)
{
	m->fresh = false;
	ask(m, kind, watch(m, kind));
}

static void read_it(struct ku_mirror *m)
{
	if (!m->wanted || m->current || ku_request_busy(&m->request) ||
		m->client->closing != KU_OPEN)
		return; /* what is current is read again in a while all the same */
	ku_timer_unset(&m->client->timers, &m->again);
	look(m, m->kind);
}

/* A watch may be lost without notice. */
static void set_safety(struct ku_mirror *m)
{
	if (m->wanted && m->current && !m->lax)
		again_in(m, ku_watch_doubt_ms(m->client, SAFETY_MS));
}

static void again_due(struct ku_timer *timer)
{
	struct ku_mirror *m = KU_OWNER(struct ku_mirror, again, timer);

	if (ku_session_ready(m->client))
		m->current = false;
	read_it(m);
	set_safety(m);
}

static void node_event(struct ku_watch *w, enum ku_watch_event event)
{
	struct ku_mirror *m = KU_OWNER(struct ku_mirror, watch, w);

	(void)event;
	m->current = false;
	m->calls->shows(m, NULL);
	read_it(m);
}

/* The read was to set a watch, and has not. */
static void watch_was_not_set(struct ku_mirror *m)
{
	if (m->fresh)
		ku_watch_failed(m->client, &m->watch);
}

/* The read has failed. */
static void failed(struct ku_mirror *m, const struct ku_zk_reply *reply)
{
	watch_was_not_set(m);
	if (ku_outcome(reply->rc) == KU_OUTCOME_REFUSED) {
		m->calls->shows(m, reply);
		again_in(m, REFUSED_MS);
		return;
	}
	if (m->calls->failed != NULL)
		m->calls->failed(m);
	if (ku_session_ready(m->client))
		again_in(m, PUT_OFF_MS);
	else
		read_it(m); /* once connected */
}

/* Nobody cares any more. */
static void unwatch(struct ku_mirror *m)
{
	if (m->frugal && !ku_request_busy(&m->request)) {
		ku_watch_remove(m->client, &m->watch);
		m->current = false;
	}
}

/* Is the server being told, behind this read, to drop the watch that the read
   left?  That happens if an event took our watch off the table, and another
   watcher of the same node then gave up and found nobody else there. */
static bool is_taken_off(const struct ku_mirror *m)
{
	const struct ku_zk_request *read = &m->request.what;

	return read->watch && m->watch.entry == NULL &&
		ku_watch_is_ending(m->client, ku_zk_watch_of(read->kind),
			m->path);
}

/* The node was read, or is missing; a watch tells when that changes. */
static void show(struct ku_mirror *m, const struct ku_zk_reply *reply)
{
	if (m->wanted && is_taken_off(m)) {
		look(m, m->request.what.kind);
		return;
	}
	m->current = m->request.what.watch && watch(m, m->request.what.kind);
	m->blind = !m->current;
	if (m->blind)
		again_in(m, NO_WATCH_MS);
	m->calls->shows(m, reply);
	if (!m->wanted)
		unwatch(m);
	else
		set_safety(m);
}

static void show_missing(struct ku_mirror *m, const struct ku_zk_reply *reply)
{
	watch_was_not_set(m);
	m->wanted = false;
	m->calls->shows(m, reply);
}

static void finish(struct ku_mirror *m)
{
	ku_watch_remove(m->client, &m->watch);
	m->calls->over(m);
}

/* The node has just been created.  Another kind of read follows, and may not
   need the watch of this one.  Enter that watch first, so that look() then
   takes it off at the server, too: the end of a session may have taken it off
   the table before this read went out and left it at the server. */
static void look_at_new(struct ku_mirror *m)
{
	if (m->request.what.watch)
		(void)watch(m, m->request.what.kind);
	look(m, m->kind);
}

/* If the last read has "found" something to watch it has left a watch: the
   server is told to drop it, even if an event has taken it off the table
   meanwhile. */
static void last_answer(struct ku_mirror *m, bool found)
{
	if (found)
		ku_watch_take_back(m->client, &m->watch, &m->request.what);
	else
		watch_was_not_set(m);
	finish(m);
}

static void answered(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_mirror *m = request->owner;
	bool exists = request->what.kind == KU_ZK_EXISTS;
	bool missing = reply->rc == KU_ZK_NONODE;

	ku_witness_remove(m->client, &m->witness);
	if (m->ended) {
		last_answer(m, reply->rc == KU_ZK_OK || (missing && exists));
	} else if (missing && m->brief) {
		show_missing(m, reply);
	} else if (missing && !exists) {
		watch_was_not_set(m);
		look(m, KU_ZK_EXISTS); /* it watches a missing node, too */
	} else if (reply->rc == KU_ZK_OK && exists) {
		look_at_new(m);
	} else if (reply->rc == KU_ZK_OK || missing) {
		show(m, reply);
	} else {
		failed(m, reply);
	}
}

static struct ku_mirror *of_witness(struct ku_witness *witness)
{
	return KU_OWNER(struct ku_mirror, witness, witness);
}

/* A read that had no room to be sent now waits for the next connection, and
   some callers do not want to wait. */
static void away(struct ku_witness *witness)
{
	struct ku_mirror *m = of_witness(witness);

	if (m->request.waiting && m->calls->failed != NULL)
		m->calls->failed(m);
}

/* A read that waits for a connection must not hold up the close. */
static void closing(struct ku_witness *witness)
{
	struct ku_mirror *m = of_witness(witness);

	if (m->request.waiting)
		ku_mirror_rest(m);
}

void ku_mirror_init(struct ku_mirror *m, struct kustos_client *client,
	const struct ku_mirror_calls *calls, char *path)
{
	m->client = client;
	m->calls = calls;
	m->path = path;
	m->kind = KU_ZK_GET;
	m->watch.fn = node_event;
	m->again.fn = again_due;
	m->witness.away = away;
	m->witness.closing = closing;
}

void ku_mirror_want(struct ku_mirror *m)
{
	bool rested = !m->wanted;

	m->wanted = true;
	read_it(m);
	if (rested)
		set_safety(m);
}

void ku_mirror_keep(struct ku_mirror *m)
{
	if (!m->wanted || !m->blind)
		ku_mirror_want(m);
}

void ku_mirror_look(struct ku_mirror *m)
{
	m->current = false;
	ku_mirror_want(m);
}

void ku_mirror_rest(struct ku_mirror *m)
{
	m->wanted = false;
	ku_timer_unset(&m->client->timers, &m->again);
	if (ku_wire_withdraw(m->client, &m->request)) {
		ku_witness_remove(m->client, &m->witness);
		watch_was_not_set(m);
	}
	unwatch(m);
}

void ku_mirror_forget(struct ku_mirror *m)
{
	ku_mirror_rest(m);
	if (!ku_request_busy(&m->request))
		ku_watch_forget(&m->watch);
	ku_mirror_end(m);
}

void ku_mirror_end(struct ku_mirror *m)
{
	ku_mirror_rest(m);
	m->ended = true;
	if (!ku_request_busy(&m->request))
		finish(m);
}
