/* receipt_fence.c - the data of a receipt, and versions of it that are used
   up. */

#include "receipt_impl.h"
#include "client.h"

#include <stdio.h>
#include <string.h>

/* The text says how many versions were used up, too, as soon as there are any.
   Each of the other versions is a deed that was done. */
static int stamp(char *out, int version, int used_up)
{
	return used_up == 0
		? snprintf(out, KU_STAMP_SIZE, "%d", version)
		: snprintf(out, KU_STAMP_SIZE, "%d-%d", version, used_up);
}

static int fence_stamp(char out[KU_FENCE_STAMP_SIZE], int version, int used_up)
{
	out[0] = 'f';
	return 1 + stamp(out + 1, version, used_up);
}

int ku_receipt_stamp(const struct ku_receipt *r, int version,
	char out[KU_STAMP_SIZE])
{
	return stamp(out, version, r->used_up);
}

/* Does the receipt hold these bytes?  If we may not read it, only its length
   tells. */
static bool holds(const struct ku_receipt *r, const struct ku_zk_reply *reply,
	const char *bytes, int len)
{
	return reply->stat->data_length == len &&
		(r->question.what.kind == KU_ZK_EXISTS ||
			memcmp(reply->data, bytes, (size_t)len) == 0);
}

static bool holds_fence(const struct ku_receipt *r,
	const struct ku_zk_reply *reply, int used_up)
{
	char own[KU_FENCE_STAMP_SIZE];
	int len = fence_stamp(own, reply->stat->version, used_up);

	return holds(r, reply, own, len);
}

bool ku_receipt_is_fenced(const struct ku_receipt *r,
	const struct ku_zk_reply *reply)
{
	return reply->stat->version == r->fence_to &&
		holds_fence(r, reply, r->used_up + r->fence_to - r->fence_from);
}

/* If others write back what they have read, that does not fit the version any
   more.  A node that was made anew has another czxid; its version is no sign,
   as it begins at 0 again. */
bool ku_receipt_is_ours(const struct ku_receipt *r,
	const struct ku_zk_reply *reply)
{
	char own[KU_STAMP_SIZE];
	int len = ku_receipt_stamp(r, reply->stat->version, own);

	return reply->stat->czxid == r->node->out_stat.czxid &&
		(reply->stat->version == 0 || holds(r, reply, own, len) ||
			holds_fence(r, reply, r->used_up) ||
			ku_receipt_is_fenced(r, reply));
}

int ku_receipt_behind_lost(const struct ku_receipt *r)
{
	int behind = 0;

	for (const struct ku_deed *deed = r->first; deed != NULL;
		deed = deed->next)
		if (deed->state == KU_DEED_LOST && deed->version >= behind)
			behind = deed->version + 1;
	return behind;
}

/* A deed that is not done yet might still be done, from an older connection:
   use its version up. */
void ku_receipt_fence(struct ku_receipt *r, int from, int to,
	ku_request_fn *fenced)
{
	int len = fence_stamp(r->fence_stamp, to, r->used_up + to - from);

	r->fence_from = from;
	r->fence_to = to;
	for (int i = from; i < to; i++)
		r->fence[i - from] = (struct ku_zk_request){
			.kind = KU_ZK_SET,
			.path = r->path,
			.data = r->fence_stamp,
			.len = len,
			.version = i,
		};
	r->question.owner = r;
	r->question.done = fenced;
	ku_wire_multi(r->client, &r->question, r->fence, to - from);
}

bool ku_receipt_fence_useless(const struct ku_zk_reply *reply)
{
	int rc;

	(void)ku_culprit(reply, &rc);
	return ku_outcome(rc) == KU_OUTCOME_REFUSED && rc != KU_ZK_BADVERSION &&
		rc != KU_ZK_NONODE;
}
