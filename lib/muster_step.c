/* muster_step.c - a member of a double barrier takes its next step. */

#include "muster_impl.h"

static void tell_others(struct ku_muster *m)
{
	m->telling = true;
	m->round = m->round_ready = m->pzxid;
	enum kustos_err err = ku_muster_tell(m);
	if (err != KUSTOS_OK)
		ku_muster_finish(m, err);
}

/* Go in: "ready" is there, or was made for us. */
static void pass(struct ku_muster *m)
{
	m->round = m->ready.there ? m->ready.round : m->pzxid;
	m->round_ready = m->ready.there ? m->ready.stat.mzxid : m->pzxid;
	ku_muster_finish(m, KUSTOS_OK);
}

/* Make the own node, as if for the first time. */
static void join(struct ku_muster *m)
{
	if (m->missed) {
		ku_muster_rejoin_later(m);
		return;
	}
	bool stuck = m->own.stuck != NULL;
	enum kustos_err err = stuck ? ku_muster_clear(m) : ku_muster_join(m);

	if (err != KUSTOS_OK)
		ku_muster_finish(m, err);
	else if (m->call != NULL && !stuck)
		ku_muster_look(m);
}

/* An old "ready" misleads Curator's and kazoo's members. */
static void tidy(struct ku_muster *m)
{
	m->tidied = true;
	if (ku_muster_write(m, KU_ZK_DELETE) != KUSTOS_OK)
		ku_muster_step(m);
}

static enum ku_muster_step decide(const struct ku_muster *m)
{
	struct ku_muster_view view = {
		.names = m->names,
		.pzxid = m->pzxid,
		.count = m->count,
		.own = m->own.name,
		.own_czxid = m->own.czxid,
		.ready = m->ready.there,
		.ready_round = m->ready.round,
		.came = m->came,
		.tidied = m->tidied,
	};

	return ku_muster_decide(&view);
}

/* Remember what was seen before something happens. */
static void note(struct ku_muster *m)
{
	m->noted.absent = !m->ready.there;
	m->noted.traffic = m->traffic;
}

/* Wait until something happens.  A look that reads sets no watch, so look again
   without reading first. */
static void wait_for_event(struct ku_muster *m, bool watched)
{
	if (!watched) {
		m->reads = false;
		ku_muster_look(m);
		return;
	}
	note(m);
	m->noted.early = false;
	m->noted.connection = m->client->session.connection;
	ku_muster_guard(m);
	if (m->call->wait.once)
		ku_muster_finish(m, KUSTOS_EBUSY);
	else if (m->watch.entry != NULL)
		ku_muster_set_safety(m);
}

/* May all have met without our hearing of it, since we last saw that they had
   not, or since we came? */
static bool may_have_missed(const struct ku_muster *m)
{
	struct ku_muster_traffic then = m->noted.traffic;

	if (m->noted.connection == m->client->session.connection)
		return false;
	if (then.cversion == 0) /* nothing was seen before */
		return m->pzxid > m->own.czxid;
	then.members += !m->noted.absent; /* an old "ready" is written again */
	return ku_muster_may_have_met(m->count, then, m->traffic);
}

/* Has it stayed so for so long that we had better come again? */
static bool has_missed(struct ku_muster *m)
{
	int64_t now = ku_now(m->client);

	if (m->doubted == 0 && !m->ready.there && may_have_missed(m))
		m->doubted = now;
	return m->doubted != 0 &&
		now - m->doubted >= KU_MUSTER_SAFETY_MS * KU_NS_PER_MS;
}

static void enter(struct ku_muster *m)
{
	bool watched = !m->reads;

	/* The "ready" that has come is not for us. */
	if (m->ready.there && m->ready.round < m->own.czxid)
		m->heard = m->came = m->reads = false;
	switch (decide(m)) {
	case KU_MUSTER_ABSENT:
		if (m->late) {
			ku_muster_forget(m);
			join(m);
		} else {
			/* If "ready" comes and goes between this look and the
			   next, an event tells. */
			note(m);
			m->noted.early = true;
			ku_muster_look(m);
		}
		break;
	case KU_MUSTER_WAIT:
		m->missed = has_missed(m);
		if (m->missed)
			ku_muster_undo(m);
		else
			wait_for_event(m, watched);
		break;
	case KU_MUSTER_PASS:
		if (m->ready.there &&
			m->ready.read_mzxid != m->ready.stat.mzxid) {
			/* It may be late: read it.  That it may go before it
			   is read does not matter if all are there. */
			m->came = m->came ||
				m->names->count >= (size_t)m->count;
			m->reads = true;
			ku_muster_look(m);
			break;
		}
		pass(m);
		break;
	case KU_MUSTER_TELL:
		tell_others(m);
		break;
	case KU_MUSTER_TIDY:
		tidy(m);
		break;
	}
}

/* Everybody is out.  "ready" goes first: a member that sees the last node gone
   sees "ready" gone, too. */
static void end_round(struct ku_muster *m)
{
	if (m->ready.there && m->ready.stat.mzxid <= m->round_ready &&
		!m->tidied && !m->misleads) {
		m->tidied = true;
		/* If that fails, the next round sees to it. */
		(void)ku_muster_write(m, KU_ZK_DELETE);
	}
	ku_muster_undo(m);
	if (m->call != NULL && m->own.op == NULL && m->op == NULL)
		ku_muster_finish(m, KUSTOS_OK);
}

/* If "ready" was written again for later members, these are of our round,
   too. */
static void extend_round(struct ku_muster *m)
{
	if (m->own.there && m->ready.there && m->ready.round > m->round) {
		m->round = m->ready.round;
		m->round_ready = m->ready.stat.mzxid;
	}
}

static void leave(struct ku_muster *m)
{
	extend_round(m);
	const char *awaited = ku_muster_awaited(m->names, m->own.name, m->skip);

	if (awaited == NULL)
		end_round(m);
	else if (ku_muster_await(m, awaited) && !m->call->wait.once &&
		!ku_muster_stays(m->names, m->own.name))
		ku_muster_undo(m);
}

void ku_muster_step(struct ku_muster *m)
{
	bool enters = m->state == KU_MUSTER_ENTERING;

	if (m->call == NULL)
		return;
	if (enters && m->own.op == NULL && m->op == NULL)
		join(m);
	else if (enters && (!m->own.there || m->op != NULL))
		return; /* the step follows the operation's end */
	else if (ku_muster_busy(m))
		return;
	else if (m->names == NULL)
		ku_muster_look(m);
	else if (enters)
		enter(m);
	else
		leave(m);
}
