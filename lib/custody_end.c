/* custody_end.c - an item is acknowledged, or put back. */

#include "custody_impl.h"

#include <stdlib.h>

static void send_end(struct ku_custody *c);
static void see_item(struct ku_custody *c);

/* The ack was not done: send it again, unless the session is over. */
static void again(struct ku_custody *c)
{
	if (c->lost || c->session_id != c->depot->client->session.id)
		ku_custody_ended(c, KUSTOS_ELOST);
	else
		send_end(c);
}

/* A request was not answered.  At a close, callers that waited were told
   already. */
static void no_answer(struct ku_custody *c, int rc,
	void (*next)(struct ku_custody *custody))
{
	if (rc == KU_ZK_CLOSING || c->depot->client->closing != KU_OPEN)
		ku_custody_ended(c, KUSTOS_ECLOSED);
	else if (ku_session_ready(c->depot->client))
		ku_custody_pause(c, next);
	else
		next(c); /* once there is a connection */
}

static bool is_no_answer(int rc)
{
	enum ku_outcome outcome = ku_outcome(rc);

	return outcome != KU_OUTCOME_DONE && outcome != KU_OUTCOME_REFUSED;
}

static void see_mark(struct ku_custody *c);

/* The item is gone.  If our ack deleted it, the marker is gone as well. */
static void saw_mark(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	if (is_no_answer(reply->rc)) {
		no_answer(c, reply->rc, see_mark);
		return;
	}
	bool same = c->request.session_id == c->session_id;
	if (reply->rc == KU_ZK_OK && reply->stat->czxid == c->token) {
		ku_custody_ended(c, KUSTOS_ELOST);
		return;
	}
	c->marked = false;
	/* In another session, the marker may have gone with the old one. */
	ku_custody_ended(c,
		same && reply->rc == KU_ZK_NONODE ? KUSTOS_OK
						  : KUSTOS_EUNKNOWN);
}

static void see_mark(struct ku_custody *c)
{
	ku_custody_look(c, KU_ZK_EXISTS, c->mark_path, saw_mark);
}

/* The answer was lost: is the item still there? */
static void saw_item(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	if (is_no_answer(reply->rc))
		no_answer(c, reply->rc, see_item);
	else if (reply->rc == KU_ZK_OK && reply->stat->czxid == c->stat.czxid)
		again(c);
	else if (reply->rc == KU_ZK_OK || reply->rc == KU_ZK_NONODE)
		see_mark(c); /* it is gone, or its name is another item's */
	else
		ku_custody_ended(c, KUSTOS_EUNKNOWN);
}

static void see_item(struct ku_custody *c)
{
	ku_custody_look(c, KU_ZK_EXISTS, c->item_path, saw_item);
}

/* The server refused the ack: the marker is gone, so another may have the item;
   or the item is not as the claim left it; or for another reason. */
static void refused(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	int rc, at = ku_culprit(reply, &rc);

	if (at == 0 && rc == KU_ZK_NONODE)
		c->marked = false;
	/* A marker is there: ours, or that of the consumer that has the item
	   now.  So the deletion of ours has to look first. */
	if (at == 1)
		c->undo->doubtful = true;
	if ((at == 0 && rc == KU_ZK_NONODE) ||
		(at == 1 && (rc == KU_ZK_NONODE || rc == KU_ZK_BADVERSION)))
		ku_custody_ended(c, KUSTOS_ELOST);
	else
		ku_custody_ended(c, ku_rc_err(rc));
}

static void end_answered(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	switch (ku_outcome(reply->rc)) {
	case KU_OUTCOME_DONE:
		c->marked = false;
		/* Count only this case as our change.  An ack that is found out
		   later may be in a listing by then; and an item that is put
		   back is in none yet. */
		if (c->new_path == NULL)
			ku_others_ours(&c->depot->others, 1);
		ku_custody_ended(c, KUSTOS_OK);
		break;
	case KU_OUTCOME_REFUSED:
		refused(c, reply);
		break;
	case KU_OUTCOME_AGAIN:
		ku_custody_pause(c, again);
		break;
	case KU_OUTCOME_UNKNOWN:
	case KU_OUTCOME_EXPIRED:
		c->ambiguous = true;
		no_answer(c, reply->rc, see_item);
		break;
	}
}

static int prepare(struct ku_custody *c)
{
	c->ops[0] = ku_custody_delete(c->mark_path, -1);
	c->ops[1] = ku_custody_delete(c->item_path, c->stat.version);
	if (c->new_path != NULL)
		c->ops[2] = ku_custody_make(c, c->new_path,
			KU_ZK_PERSISTENT_SEQUENTIAL);
	return c->new_path != NULL ? 3 : 2;
}

static void see_own(struct ku_custody *c);

/* The marker was looked at before an ack: is it ours? */
static void saw_own(struct ku_custody *c, const struct ku_zk_reply *reply)
{
	bool there = reply->rc == KU_ZK_OK;

	if (is_no_answer(reply->rc) && c->lost) {
		ku_custody_ended(c, KUSTOS_ELOST);
	} else if (is_no_answer(reply->rc)) {
		no_answer(c, reply->rc, see_own);
	} else if (!there && reply->rc != KU_ZK_NONODE) {
		ku_custody_ended(c, ku_rc_err(reply->rc));
	} else if (!there || reply->stat->czxid != c->token) {
		c->marked = false;
		ku_custody_ended(c, KUSTOS_ELOST);
	} else if (c->lost || c->request.session_id != c->session_id) {
		ku_custody_ended(c, KUSTOS_ELOST);
	} else {
		ku_custody_do(c, prepare(c), end_answered);
	}
}

static void see_own(struct ku_custody *c)
{
	ku_custody_look(c, KU_ZK_EXISTS, c->mark_path, saw_own);
}

/* If the claim has not written the item, the item's version does not tell
   whether another has claimed it since: look at the marker first. */
static void send_end(struct ku_custody *c)
{
	if (c->state == KU_CUSTODY_HELD)
		ku_custody_unguard(c);
	c->state = KU_CUSTODY_ENDING;
	c->ambiguous = false;
	if (c->counted)
		ku_custody_do(c, prepare(c), end_answered);
	else
		see_own(c);
}

enum kustos_err ku_custody_ack(struct ku_custody *c)
{
	if (c->state != KU_CUSTODY_HELD)
		return KUSTOS_ELOST;
	free(c->new_path);
	c->new_path = NULL;
	send_end(c);
	return KUSTOS_OK;
}

enum kustos_err ku_custody_again(struct ku_custody *c)
{
	if (c->state != KU_CUSTODY_HELD)
		return KUSTOS_ELOST;
	char *head = ku_item_again(c->depot->kind, &c->item, c->depot->plain);
	char *path = head != NULL ? ku_path_child(c->depot->items, head) : NULL;
	free(head);
	if (path == NULL)
		return KUSTOS_ENOMEM;
	free(c->new_path);
	c->new_path = path;
	if (!ku_custody_fits(c, prepare(c)))
		return KUSTOS_ETOOBIG;
	send_end(c);
	return KUSTOS_OK;
}
