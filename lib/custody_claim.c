/* custody_claim.c - claim an item, or find out why it cannot be claimed. */

#include "custody_impl.h"
#include "item.h"

#include <stdlib.h>
#include <string.h>

static void claim(struct ku_custody *c);

/* The answer says nothing about the item: report whether to try later, or why
   not. */
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

/* The index of the operation that makes a moved item anew; a claim has only
   two. */
#define MADE 2

/* Does the refusal concern only this item?  We may not write it; or it cannot
   be made in the folder where it belongs. */
static bool is_denied(const struct ku_custody *c, int at, int rc)
{
	return c->state == KU_CUSTODY_MOVING ? at == MADE
					     : at == 1 && rc == KU_ZK_NOAUTH;
}

/* Somebody else has the marker; or has had it since the item was read, or has
   given the item a child; or a folder is missing, that of the markers or the
   one to move to.  "item" is the index of the operation on the item. */
static void refused(struct ku_custody *c, const struct ku_zk_reply *reply,
	int item)
{
	int rc, at = ku_culprit(reply, &rc);
	/* Only the item has a version or children that can matter here. */
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
		ku_custody_read(c); /* if the item is gone, it was moved */
	else
		give_up(c, outcome, reply->rc);
}

/* Nobody is to have the item: move it to "folder", which may be NULL.  Returns
   false if it cannot be moved.  If only memory is short it returns true: the
   item is tried again later, and nobody gets it meanwhile. */
static bool move_aside(struct ku_custody *c, const char *folder)
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

/* Nobody wants the item any more: claimed, it would count as delivered to
   nobody. */
static void miss_unwanted(struct ku_custody *c)
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
	/* Claims that were sent before it may be lost, and come first. */
	if (c->stale) {
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_EDISCONNECTED);
		return;
	}
	if (!keep_data(c, reply)) {
		ku_custody_missed(c, KU_MISSED_LATER, KUSTOS_ENOMEM);
		return;
	}
	/* An item with children can be neither deleted nor moved. */
	if (c->stat.num_children > 0) {
		ku_custody_missed(c, KU_MISSED_LEFT, KUSTOS_OK);
		return;
	}
	bool corrupt = !ku_item_fits(c->depot->kind, c->data, c->len);
	c->dead = is_dead(c);
	if (c->dead && move_aside(c, c->depot->dead))
		return;
	c->dead = false;
	if (corrupt && move_aside(c, c->depot->corrupt))
		return;
	if (corrupt)
		ku_custody_missed(c, KU_MISSED_LEFT, KUSTOS_OK);
	else if (!c->calls->wanted(c))
		miss_unwanted(c);
	else
		claim(c);
}

void ku_custody_read(struct ku_custody *c)
{
	c->state = KU_CUSTODY_READING;
	c->ambiguous = c->stale = false;
	ku_custody_look(c, KU_ZK_GET, c->item_path, was_read);
}

/* The marker is ours: is the item still wanted, and the session still ours? */
static void have(struct ku_custody *c, int64_t token)
{
	struct kustos_client *client = c->depot->client;
	enum kustos_state state = ku_session_state(client);

	c->depot->doubts = false;
	c->token = token;
	c->marked = true;
	c->lost = c->ambiguous = false;
	c->stat.version += c->counted;
	c->check = (struct ku_hold_check){
		.path = ku_program_path(client, c->item_path),
		.version = c->counted ? c->stat.version : -1,
	};
	if (c->left || c->session_id != client->session.id ||
		(state != KUSTOS_STATE_CONNECTED &&
			state != KUSTOS_STATE_SUSPENDED)) {
		ku_custody_missed(c, KU_MISSED_LOST, KUSTOS_ELOST);
		return;
	}
	c->state = KU_CUSTODY_HELD;
	ku_custody_guard(c);
	c->calls->claimed(c);
}

static void see_mark(struct ku_custody *c);

/* The marker may be there, so do not give up yet. */
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

/* Count the marker's node in the footprint, as the answer to the claim would
   have. */
static void have_found(struct ku_custody *c, int64_t token)
{
	ku_footprint_add(&c->depot->client->footprint, c->mark_path, token);
	have(c, token);
}

/* Is it the marker of this claim?  That of an earlier claim, which we have
   given back, may still be there. */
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
		miss_unwanted(c);
}

/* The claim was lost and not done.  Claims that were lost together are chosen
   anew, in their order.  But a server may never take this one: if others were
   lost before it, put it off. */
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
		/* The set has the zxid of the marker's creation. */
		have(c, reply->results[1].stat.mzxid);
	else if (outcome == KU_OUTCOME_DONE)
		see_mark_now(c); /* to learn its czxid */
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
