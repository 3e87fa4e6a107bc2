/*
 * op_resolve.c - what became of a write whose answer was lost.
 *
 *   create  Protected: found by its GUID (op_create.c).  Ephemeral: the node is
 *           ours if this session owns it and did not know it before.  Others:
 *           if the node is there, nothing tells who made it.  The same is true
 *           if the creation is forbidden when it is sent again; but if any node
 *           will do, whoever made it, the node is looked for then.  A
 *           sequential node without a GUID, ephemeral or not, cannot even be
 *           looked for.
 *   set     With a version: if the node has the next version but other data,
 *           ours was not applied.  With any version: sent again.  If the node
 *           is gone by then, or the set is forbidden, the outcome is unknown.
 *   delete  Sent again; a node that is gone was deleted.  If the node has
 *           another version by then, or the delete is forbidden, the outcome
 *           is unknown.  But if a guaranteed delete is forbidden, the node is
 *           looked for, and logged if it is there.
 *   multi   Unknown.
 *
 * An unknown outcome is reported as KUSTOS_EUNKNOWN, never guessed.
 */

#include "client.h"
#include "maker.h"

#include <string.h>

static bool is_write(const struct ku_op *op)
{
	return op->kind == KU_ZK_CREATE || op->kind == KU_ZK_SET ||
		op->kind == KU_ZK_DELETE || op->kind == KU_ZK_MULTI;
}

void ku_op_resolve(struct ku_op *op)
{
	int64_t session_id = op->request.session_id;
	bool unfindable = op->kind == KU_ZK_MULTI ||
		(op->kind == KU_ZK_CREATE &&
			(op->flags & KUSTOS_CREATE_SEQUENTIAL) != 0 &&
			(op->flags & KUSTOS_CREATE_PROTECTED) == 0);

	if (is_write(op)) {
		if (op->ambiguous && op->session_id != session_id)
			op->moved = true;
		op->ambiguous = true;
		op->session_id = session_id;
	}
	if (unfindable)
		ku_op_finish(op, KUSTOS_EUNKNOWN);
	else
		ku_op_again(op, KUSTOS_EDISCONNECTED);
}

/* The node has another version: was it our set that changed it? */
static void looked_after_set(struct ku_op *op, const struct ku_zk_reply *reply)
{
	if (ku_op_unanswered(op, reply))
		return;
	bool may_be_ours = reply->rc != KU_ZK_OK ||
		reply->stat->version != op->version + 1 ||
		(reply->len == op->len &&
			(op->len <= 0 ||
				memcmp(reply->data, op->data,
					(size_t)op->len) == 0));
	ku_op_finish(op, may_be_ours ? KUSTOS_EUNKNOWN : KUSTOS_EBADVERSION);
}

/* The node was there already: did our creation make it? */
static void looked_after_create(struct ku_op *op,
	const struct ku_zk_reply *reply)
{
	struct ku_footprint *footprint = &op->client->footprint;

	if (ku_op_unanswered(op, reply))
		return;
	if (reply->rc == KU_ZK_NONODE && op->unwanted) {
		ku_op_finish(op, KUSTOS_ECANCELED);
		return;
	}
	if (reply->rc == KU_ZK_NONODE) {
		op->ambiguous = false; /* it cannot come any more */
		ku_op_again(op, KUSTOS_EDISCONNECTED);
		return;
	}
	if (reply->rc != KU_ZK_OK) {
		ku_op_finish(op, KUSTOS_EUNKNOWN);
		return;
	}
	const struct ku_maker_clues clues = {
		.tried_in = op->session_id,
		.moved = op->moved,
		.now = op->request.session_id,
		.known = ku_footprint_czxid(footprint, op->path),
	};
	switch (ku_maker_of(reply->stat, &clues)) {
	case KU_MAKER_US:
		ku_footprint_add(footprint, op->path, reply->stat->czxid);
		op->out_stat = *reply->stat;
		ku_op_finish(op, KUSTOS_OK);
		break;
	case KU_MAKER_ANOTHER:
		ku_op_finish(op, KUSTOS_EEXISTS);
		break;
	case KU_MAKER_GHOST:
		ku_op_again(op, KUSTOS_EEXISTS);
		break;
	case KU_MAKER_UNKNOWN:
		ku_op_finish(op, KUSTOS_EUNKNOWN);
		break;
	}
}

void ku_op_look_created(struct ku_op *op)
{
	ku_op_ask(op, KU_ZK_EXISTS, op->path, looked_after_create);
}

/* What forbids the write may have come after the write was done. */
static bool may_be_late(int rc)
{
	return rc == KU_ZK_NOAUTH || rc == KU_ZK_QUOTAEXCEEDED;
}

static bool resolve_create(struct ku_op *op, int rc)
{
	if (rc != KU_ZK_NODEEXISTS && !may_be_late(rc))
		return false;
	if ((op->flags & KUSTOS_CREATE_EPHEMERAL) != 0 ||
		(op->any && rc != KU_ZK_NODEEXISTS))
		ku_op_look_created(op);
	else
		ku_op_finish(op, op->any ? KUSTOS_EEXISTS : KUSTOS_EUNKNOWN);
	return true;
}

static bool resolve_set(struct ku_op *op, int rc)
{
	if (rc == KU_ZK_BADVERSION)
		ku_op_ask(op, KU_ZK_GET, op->path, looked_after_set);
	else if (rc == KU_ZK_NONODE || may_be_late(rc))
		ku_op_finish(op, KUSTOS_EUNKNOWN); /* it may have been set */
	else
		return false;
	return true;
}

/* The node may not be deleted any more: is it still there?  If so,
   KUSTOS_ENOAUTH has it logged. */
static void looked_after_delete(struct ku_op *op,
	const struct ku_zk_reply *reply)
{
	if (ku_op_unanswered(op, reply))
		return;
	ku_op_finish(op,
		reply->rc == KU_ZK_NONODE ? KUSTOS_OK : KUSTOS_ENOAUTH);
}

static bool resolve_delete(struct ku_op *op, int rc)
{
	if (rc == KU_ZK_NONODE)
		ku_op_finish(op, KUSTOS_OK);
	else if (rc == KU_ZK_BADVERSION) /* perhaps a newer node's */
		ku_op_finish(op, KUSTOS_EUNKNOWN);
	else if (rc == KU_ZK_NOAUTH && op->guaranteed)
		ku_op_ask(op, KU_ZK_EXISTS, op->path, looked_after_delete);
	else if (rc == KU_ZK_NOAUTH)
		ku_op_finish(op, KUSTOS_EUNKNOWN);
	else
		return false;
	return true;
}

bool ku_op_resolve_refusal(struct ku_op *op, const struct ku_zk_reply *reply)
{
	switch (op->kind) {
	case KU_ZK_CREATE:
		return resolve_create(op, reply->rc);
	case KU_ZK_SET:
		return resolve_set(op, reply->rc);
	case KU_ZK_DELETE:
		return resolve_delete(op, reply->rc);
	default:
		return false;
	}
}

static void looked_before_delete(struct ku_op *op,
	const struct ku_zk_reply *reply)
{
	if (ku_op_unanswered(op, reply))
		return;
	if (reply->rc != KU_ZK_OK || reply->stat->czxid != op->czxid) {
		enum kustos_err err = KUSTOS_OK; /* a newer one is not ours */

		if (op->wary && !op->ambiguous)
			err = reply->rc != KU_ZK_OK ? ku_rc_err(reply->rc)
						    : KUSTOS_ECHANGED;
		ku_op_finish(op, err);
		return;
	}
	op->ambiguous = op->doubtful = false;
	ku_op_try(op);
}

void ku_op_look(struct ku_op *op)
{
	ku_op_ask(op, KU_ZK_EXISTS, op->path, looked_before_delete);
}
