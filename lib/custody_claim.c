/* custody_claim.c - have an item, or find out that it is not to be had. */

#include "custody_impl.h"
#include "item.h"

#include <stdlib.h>
#include <string.h>

static void claim(struct ku_custody *c);

/* Not an answer: later, or not at all. */
static void give_up(struct ku_custody *c, enum ku_outcome outcome, int rc)
{
	if (rc == KU_ZK_CLOSING)
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_ECLOSED);
	else if (outcome == KU_OUTCOME_EXPIRED)
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_ELOST);
	else if (outcome == KU_OUTCOME_REFUSED)
		ku_custody_missed(c, KU_MISSED_REFUSED, ku_rc_err(rc));
	else
		ku_custody_missed(c, KU_MISSED_LATER, KUSTOS_EDISCONNECTED);
}

static bool keep_data(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	size_t len = reply->len > 0 ? (size_t)reply->len : 0;
	char *data = malloc(len + 1);

	if (data == NULL)
		return false;
	if (len > 0)
		memcpy(data, reply->data, len);
	data[len] = '\0';
	free(c->data);
	c->data = data;
	c->len = reply->len;
	c->stat = *reply->stat;
	return true;
}

/* Where an item that is moved is made, among the operations; a claim has but two. */
#define MADE 2

/* Is it this item that is not to be had?  It may not be written; or not be made where
   it belongs. */
static bool is_denied(const struct ku_custody *c, int at, int rc)
{
	return c->state == KU_CUSTODY_MOVING ? at == MADE
					     : at == 1 && rc == KU_ZK_NOAUTH;
}

/* Somebody else has the marker; or had it, since the item was read, or made it a
   child; or a folder is missing: that of the markers, or the other one. */
static void refused(struct ku_custody *c, const struct ku_zk_reply *reply,
	int item)
{
	int rc, at = ku_culprit(reply, &rc);
	/* What else is asked for has no version, and no children. */
	bool changed = rc == KU_ZK_BADVERSION || rc == KU_ZK_NOTEMPTY;

	c->depot->doubts = false;
	if (at == 0 && rc == KU_ZK_NODEEXISTS)
		ku_custody_missed(c, KU_MISSED_TAKEN, KUSTOS_OK);
	else if (at == 0 && rc == KU_ZK_NONODE)
		ku_custody_missed(c, KU_MISSED_MARKS, KUSTOS_OK);
	else if (at == item && rc == KU_ZK_NONODE)
		ku_custody_missed(c, KU_MISSED_GONE, KUSTOS_OK);
	else if (changed && c->stale)
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_EDISCONNECTED);
	else if (changed)
		ku_custody_read(c);
	else if (at == MADE && rc == KU_ZK_NONODE)
		ku_custody_missed(c,
			c->dead ? KU_MISSED_DEADS : KU_MISSED_CORRUPTS,
			KUSTOS_OK);
	else if (is_denied(c, at, rc))
		ku_custody_missed(c, KU_MISSED_DENIED, ku_rc_err(rc));
	else
		ku_custody_missed(c, KU_MISSED_REFUSED, ku_rc_err(rc));
}

static void moved(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	enum ku_outcome outcome = ku_outcome(reply->rc);

	if (outcome == KU_OUTCOME_DONE)
		ku_custody_missed(c,
			c->dead ? KU_MISSED_DEAD : KU_MISSED_CORRUPT,
			KUSTOS_OK);
	else if (outcome == KU_OUTCOME_REFUSED)
		refused(c, reply, 3);
	else if (outcome == KU_OUTCOME_UNKNOWN && reply->rc != KU_ZK_CLOSING)
		ku_custody_read(c); /* it was, if the item is gone */
	else
		give_up(c, outcome, reply->rc);
}

/* Nobody is to have it: move it to "folder", which may be NULL.  Returns false if
   that cannot be; but if only memory is short, later, and nobody has it meanwhile. */
static bool move(struct ku_custody *c, const char *folder)
{
	char *head = folder != NULL
		? ku_item_again(c->depot->kind, &c->item, false)
		: NULL;

	free(c->new_path);
	c->new_path = head != NULL ? ku_path_child(folder, head) : NULL;
	free(head);
	if (c->new_path == NULL && folder != NULL) {
		ku_custody_missed(c, KU_MISSED_LATER, KUSTOS_ENOMEM);
		return true;
	}
	if (c->new_path == NULL)
		return false;
	c->ops[0] = ku_custody_make(c, c->mark_path, KU_ZK_EPHEMERAL);
	c->ops[1] = ku_custody_delete(c->mark_path, -1);
	c->ops[2] = ku_custody_make(c, c->new_path,
		KU_ZK_PERSISTENT_SEQUENTIAL);
	c->ops[3] = ku_custody_delete(c->item_path, c->stat.version);
	if (!ku_custody_fits(c, 4))
		return false;
	c->state = KU_CUSTODY_MOVING;
	ku_custody_do(c, 4, moved);
	return true;
}

static bool is_dead(const struct ku_custody *c)
{
	return c->depot->deliveries > 0 &&
		c->stat.version >= c->depot->deliveries;
}

/* Had for nobody it would count as delivered. */
static void leave(struct ku_custody *c)
{
	ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_EDISCONNECTED);
}

static void was_read(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	enum ku_outcome outcome = ku_outcome(reply->rc);

	if (reply->rc == KU_ZK_NONODE) {
		ku_custody_missed(c, KU_MISSED_GONE, KUSTOS_OK);
		return;
	}
	if (reply->rc == KU_ZK_NOAUTH) {
		ku_custody_missed(c, KU_MISSED_DENIED, KUSTOS_ENOAUTH);
		return;
	}
	if (outcome != KU_OUTCOME_DONE || c->left) {
		give_up(c, outcome, reply->rc);
		return;
	}
	/* What was chosen before it may be lost. */
	if (c->stale) {
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_EDISCONNECTED);
		return;
	}
	if (!keep_data(c, reply)) {
		ku_custody_missed(c, KU_MISSED_LATER, KUSTOS_ENOMEM);
		return;
	}
	/* It can be neither deleted nor moved. */
	if (c->stat.num_children > 0) {
		ku_custody_missed(c, KU_MISSED_LEFT, KUSTOS_OK);
		return;
	}
	bool corrupt = !ku_item_fits(c->depot->kind, c->data, c->len);
	c->dead = is_dead(c);
	if (c->dead && move(c, c->depot->dead))
		return;
	c->dead = false;
	if (corrupt && move(c, c->depot->corrupt))
		return;
	if (corrupt)
		ku_custody_missed(c, KU_MISSED_LEFT, KUSTOS_OK);
	else if (c->put_off && !c->calls->wanted(c))
		leave(c);
	else
		claim(c);
}

void ku_custody_read(struct ku_custody *c)
{
	c->state = KU_CUSTODY_READING;
	c->ambiguous = c->stale = false;
	ku_custody_look(c, KU_ZK_GET, c->item_path, was_read);
}

/* The marker is ours: is that worth something still? */
static void have(struct ku_custody *c, int64_t token)
{
	struct kustos_client *client = c->depot->client;
	enum kustos_state state = ku_session_state(client);

	c->depot->doubts = false;
	c->token = token;
	c->marked = true;
	c->lost = c->ambiguous = false;
	c->stat.version += c->counted;
	if (c->left || c->session_id != client->session.id ||
		(state != KUSTOS_CONNECTED && state != KUSTOS_SUSPENDED)) {
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_ELOST);
		return;
	}
	c->state = KU_CUSTODY_HELD;
	c->calls->claimed(c);
}

static void see_mark(struct ku_custody *c);

/* It may be there, so nobody gives up yet. */
static void see_mark_now(struct ku_custody *c)
{
	c->ambiguous = true;
	see_mark(c);
}

static void see_mark_later(struct ku_custody *c, int rc)
{
	c->ambiguous = true;
	if (rc == KU_ZK_CLOSING || c->depot->client->closing != KU_OPEN)
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_ECLOSED);
	else if (ku_session_ready(c->depot->client))
		ku_custody_pause(c, see_mark);
	else
		see_mark(c);
}

/* Its answer would have counted it. */
static void have_found(struct ku_custody *c, int64_t token)
{
	ku_footprint_add(&c->depot->client->footprint, c->mark_path, token);
	have(c, token);
}

/* That of a claim before, which we have given back, may be there still. */
static bool is_ours(const struct ku_custody *c, const struct ku_zk_reply *reply)
{
	size_t len = strlen(c->id);

	return reply->stat->ephemeral_owner == c->session_id &&
		reply->len == (int)len && memcmp(reply->data, c->id, len) == 0;
}

static void try_again(struct ku_custody *c)
{
	if (!c->left && c->calls->wanted(c))
		ku_custody_read(c);
	else
		leave(c);
}

/* All that was lost at once is chosen anew, in its order.  But a server may be there
   that never takes it. */
static void was_not_done(struct ku_custody *c)
{
	c->ambiguous = false;
	if (!c->doubted) {
		c->depot->doubts = true;
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_EDISCONNECTED);
		return;
	}
	c->put_off = true;
	ku_custody_pause(c, try_again);
}

/* The claim's answer was lost: whose marker is it? */
static void saw_mark(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	enum ku_outcome outcome = ku_outcome(reply->rc);

	if (outcome == KU_OUTCOME_REFUSED && reply->rc != KU_ZK_NONODE)
		give_up(c, outcome, reply->rc);
	else if (outcome != KU_OUTCOME_DONE && outcome != KU_OUTCOME_REFUSED)
		see_mark_later(c, reply->rc);
	else if (c->request.session_id != c->session_id)
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_ELOST);
	else if (outcome == KU_OUTCOME_REFUSED)
		was_not_done(c);
	else if (is_ours(c, reply))
		have_found(c, reply->stat->czxid);
	else
		ku_custody_missed(c, KU_MISSED_TAKEN, KUSTOS_OK);
}

static void see_mark(struct ku_custody *c)
{
	ku_custody_look(c, KU_ZK_GET, c->mark_path, saw_mark);
}

static void claimed(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	enum ku_outcome outcome = ku_outcome(reply->rc);

	c->session_id = c->request.session_id;
	if (outcome == KU_OUTCOME_DONE && c->counted)
		/* Of this very transaction. */
		have(c, reply->results[1].stat.mzxid);
	else if (outcome == KU_OUTCOME_DONE)
		see_mark_now(c); /* which says its czxid */
	else if (outcome == KU_OUTCOME_REFUSED)
		refused(c, reply, 1);
	else if (outcome == KU_OUTCOME_UNKNOWN)
		see_mark_later(c, reply->rc);
	else
		give_up(c, outcome, reply->rc);
}

static void claim(struct ku_custody *c)
{
	struct kustos_client *client = c->depot->client;

	c->state = KU_CUSTODY_CLAIMING;
	c->ops[0] = ku_custody_make(c, c->mark_path, KU_ZK_EPHEMERAL);
	c->ops[1] = (struct ku_zk_request){
		.kind = KU_ZK_SET,
		.path = c->item_path,
		.data = c->data,
		.len = c->len,
		.version = c->stat.version,
	};
	c->counted = ku_custody_fits(c, 2);
	if (!c->counted)
		c->ops[1] = (struct ku_zk_request){ .kind = KU_ZK_CHECK,
			.path = c->item_path,
			.version = c->stat.version };
	const struct ku_zk_request whole = { .kind = KU_ZK_MULTI,
		.ops = c->ops,
		.op_count = 2 };
	if (ku_footprint_reserve(client, &whole, 0, &c->asked))
		ku_custody_do(c, 2, claimed);
	else
		ku_custody_missed(c, KU_MISSED_REFUSED, KUSTOS_ELIMIT);
}
