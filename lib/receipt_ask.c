/* receipt_ask.c - ask the receipt which of the deeds were done whose answers
   were lost. */

#include "receipt_impl.h"
#include "client.h"

static void recount(struct ku_receipt *r, int version)
{
	struct ku_deed *next;

	for (struct ku_deed *deed = r->first; deed != NULL; deed = next) {
		next = deed->next;
		if (deed->state != KU_DEED_LOST)
			continue;
		if (deed->version < version)
			ku_deed_finish(deed, KUSTOS_OK, NULL);
		else
			deed->state = KU_DEED_IDLE;
	}
	r->next_version = version;
	r->unsure = false;
}

static void ask(struct ku_receipt *r, enum ku_zk_kind kind);

/* The fence was applied: no deed that was sent with one of its versions can be
   done any more. */
static void fence_done(struct ku_receipt *r)
{
	recount(r, r->fence_from);
	r->next_version = r->fence_to;
	r->used_up += r->fence_to - r->fence_from;
	r->fence_to = 0;
}

static void fenced(struct ku_request *request, const struct ku_zk_reply *reply)
{
	struct ku_receipt *r = request->owner;
	enum ku_outcome outcome = ku_outcome(reply->rc);

	ku_receipt_enter(r);
	r->state = KU_RECEIPT_READY;
	if (outcome == KU_OUTCOME_DONE)
		fence_done(r);
	else if (ku_receipt_fence_useless(reply))
		recount(r, r->fence_from);
	else if (outcome != KU_OUTCOME_REFUSED && ku_session_ready(r->client))
		ku_receipt_pause(r);
	/* else the next step asks again, at once or when connected */
	ku_receipt_leave(r);
}

static void learn(struct ku_receipt *r, const struct ku_zk_reply *reply)
{
	int version = reply->stat->version, to = ku_receipt_behind_lost(r);

	if (ku_receipt_is_fenced(r, reply)) {
		fence_done(r);
	} else if (to > version && to - version <= KU_FENCE_MAX) {
		r->state = KU_RECEIPT_ASKING;
		ku_receipt_fence(r, version, to, fenced);
	} else {
		recount(r, version);
	}
}

static void told(struct ku_request *request, const struct ku_zk_reply *reply)
{
	struct ku_receipt *r = request->owner;
	enum ku_outcome outcome = ku_outcome(reply->rc);

	if (reply->rc == KU_ZK_NOAUTH && !r->over &&
		request->what.kind == KU_ZK_GET) {
		ask(r, KU_ZK_EXISTS); /* older servers answer that to anybody */
		return;
	}
	ku_receipt_enter(r);
	r->state = KU_RECEIPT_READY;
	if (outcome == KU_OUTCOME_DONE && ku_receipt_is_ours(r, reply)) {
		learn(r, reply);
	} else if (outcome == KU_OUTCOME_DONE ||
		outcome == KU_OUTCOME_REFUSED) {
		ku_receipt_lose(r, reply->rc != KU_ZK_NONODE);
	} else if (ku_session_ready(r->client)) {
		ku_receipt_pause(r);
	} /* else the next step asks again, once connected */
	ku_receipt_leave(r);
}

static void ask(struct ku_receipt *r, enum ku_zk_kind kind)
{
	r->state = KU_RECEIPT_ASKING;
	r->question.owner = r;
	r->question.done = told;
	ku_wire_read(r->client, &r->question, kind, r->path, false);
}

void ku_receipt_ask(struct ku_receipt *r)
{
	ask(r, KU_ZK_GET);
}
