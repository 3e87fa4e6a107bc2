/* receipt_fence.c - what a receipt says, and versions of it that are used up. */

#include "receipt.h"
#include "client.h"

#include <stdio.h>
#include <string.h>

/* What stands in a receipt that has this version, if we alone have written to it. */
int ku_receipt_stamp(char out[KU_STAMP_SIZE], int version)
{
	return snprintf(out, KU_STAMP_SIZE, "%d", version);
}

/* Does it hold these bytes?  If it may not be read its length says what can be known. */
static bool holds(const struct ku_receipt *r, const struct ku_zk_reply *reply,
	const char *stamp, int len)
{
	return reply->stat->data_length == len &&
		(r->question.what.kind == KU_ZK_EXISTS ||
			memcmp(reply->data, stamp, (size_t)len) == 0);
}

static int fence_stamp(char out[KU_FENCE_STAMP_SIZE], int version)
{
	out[0] = 'f';
	return 1 + ku_receipt_stamp(out + 1, version);
}

bool ku_receipt_is_fence(const struct ku_receipt *r,
	const struct ku_zk_reply *reply)
{
	char own[KU_FENCE_STAMP_SIZE];
	int len = fence_stamp(own, reply->stat->version);

	return holds(r, reply, own, len);
}

/* Has nobody else?  Nor is it if others write back what they have read. */
bool ku_receipt_is_ours(const struct ku_receipt *r,
	const struct ku_zk_reply *reply)
{
	char own[KU_STAMP_SIZE];
	int len = ku_receipt_stamp(own, reply->stat->version);

	return reply->stat->version == 0 || holds(r, reply, own, len) ||
		ku_receipt_is_fence(r, reply);
}

/* The version behind that of the last whose answer was lost. */
int ku_receipt_behind_lost(const struct ku_receipt *r)
{
	int behind = 0;

	for (const struct ku_deed *deed = r->first; deed != NULL;
		deed = deed->next)
		if (deed->state == KU_DEED_LOST && deed->version >= behind)
			behind = deed->version + 1;
	return behind;
}

/* What is not done yet might still be, from an older connection: use its versions up. */
void ku_receipt_fence(struct ku_receipt *r, int from, int to,
	ku_request_fn *fenced)
{
	int len = fence_stamp(r->fence_stamp, to);

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
	r->question.what = (struct ku_zk_request){
		.kind = KU_ZK_MULTI,
		.version = -1,
		.ops = r->fence,
		.op_count = to - from,
	};
	r->question.owner = r;
	r->question.done = fenced;
	ku_wire_send(r->client, &r->question);
}

bool ku_receipt_fence_useless(const struct ku_zk_reply *reply)
{
	int rc;

	(void)ku_culprit(reply, &rc);
	return ku_outcome(rc) == KU_OUTCOME_REFUSED && rc != KU_ZK_BADVERSION &&
		rc != KU_ZK_NONODE;
}
