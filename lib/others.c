/* others.c - has another client changed the children of a node? */

#include "others.h"
#include "client.h"

void ku_others_listed(struct ku_others *others, const struct kustos_stat *stat)
{
	others->czxid = stat != NULL ? stat->czxid : 0;
	others->changes = stat != NULL ? (uint32_t)stat->cversion : 0;
}

static void answered(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_others *others = request->owner;
	enum ku_outcome outcome = ku_outcome(reply->rc);

	others->none = reply->rc == KU_ZK_OK &&
		reply->stat->czxid == others->czxid &&
		(uint32_t)reply->stat->cversion == others->changes;
	others->told(others,
		outcome == KU_OUTCOME_DONE || outcome == KU_OUTCOME_REFUSED);
}

void ku_others_ask(struct ku_others *others)
{
	others->question.owner = others;
	others->question.done = answered;
	ku_wire_read(others->client, &others->question, KU_ZK_EXISTS,
		others->path, false);
}

bool ku_others_end(struct ku_others *others)
{
	return ku_wire_withdraw(others->client, &others->question);
}
