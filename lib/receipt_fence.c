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

/* Has nobody else?  Nor is it if others write back what they have read.  If it may not
   be read its length says what can be known. */
bool ku_receipt_is_ours(const struct ku_receipt *r,
	const struct ku_zk_reply *reply)
{
	char own[KU_STAMP_SIZE];
	int len = ku_receipt_stamp(own, reply->stat->version);

	if (reply->data != NULL && reply->data[0] == 'f' &&
		reply->stat->data_length == len + 1)
		return true;
	return reply->stat->version == 0 ||
		(reply->stat->data_length == len &&
			(r->question.what.kind == KU_ZK_EXISTS ||
				memcmp(reply->data, own, (size_t)len) == 0));
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
	r->fence_from = from;
	r->fence_to = to;
	r->fence_stamp[0] = 'f';
	for (int i = from; i < to; i++)
		r->fence[i - from] = (struct ku_zk_request){
			.kind = KU_ZK_SET,
			.path = r->path,
			.data = r->fence_stamp,
			.len = 1 + ku_receipt_stamp(r->fence_stamp + 1, to),
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

/* Which operation of a transaction was refused, and how? */
int ku_receipt_refused_at(const struct ku_zk_reply *reply, int *rc)
{
	for (int i = 0; i < reply->result_count; i++) {
		*rc = reply->results[i].rc;
		if (*rc != KU_ZK_OK && *rc != KU_ZK_RUNTIMEINCONSISTENCY)
			return i;
	}
	*rc = reply->rc;
	return -1;
}
