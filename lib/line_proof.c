/*
 * line_proof.c - the proof that a granted place leaves in the data of a long
 * line's node, and what others learn from it.
 *
 * A proof is written only over another proof or over empty data, and only over
 * the very version of the data that was read.  To read it between the grant and
 * the release would take time that others wait for, so it is read before the
 * grant.  That is in vain if the predecessor leaves a proof of its own
 * meanwhile.  So only every other place leaves one: a place that finds the
 * proof of its second nearest.  A place that finds the proof of its nearest, or
 * of its third nearest, has neighbours that leave one, and leaves none itself.
 * A proof of the third nearest is as good to learn from, as the second nearest
 * is gone by then.
 */
#include "line_impl.h"

#include <stdlib.h>
#include <string.h>

/* --- What others left ----------------------------------------------------- */

/* Is "name" the data of the line's node? */
static bool proves(const struct ku_zk_reply *reply, const char *name)
{
	return reply->rc == KU_ZK_OK && name != NULL &&
		reply->len == (int)strlen(name) &&
		memcmp(reply->data, name, strlen(name)) == 0;
}

/* May the data be overwritten?  Empty data may be, and so may anybody's
   proof. */
static bool is_free(const struct ku_line *line, const struct ku_zk_reply *reply)
{
	struct ku_contender one;
	char name[256];

	if (reply->len <= 0)
		return true;
	if ((size_t)reply->len >= sizeof(name))
		return false;
	memcpy(name, reply->data, (size_t)reply->len);
	name[reply->len] = '\0';
	return ku_contender_parse(line->rule, name, &one);
}

bool ku_proof_fits(const struct ku_line *line, const struct ku_zk_reply *reply)
{
	/* In a request, version -1 means any version. */
	return reply->rc == KU_ZK_OK && is_free(line, reply) &&
		reply->stat->version != -1;
}

/* The second nearest is gone, and there were more: had it been granted? */
static void read_of_others(struct ku_place *place,
	const struct ku_request *request, const struct ku_zk_reply *reply)
{
	struct ku_line *line = place->line;
	struct ku_proof *proof = place->proof;

	if (!ku_session_ready(line->client))
		return; /* once connected */
	int left = 0;	/* how many may still be there at the most */
	while (left < KU_NEAR && !proves(reply, place->near[left]))
		left++;
	if (left == KU_NEAR || place->known != request->connection) {
		ku_line_list(line);
		return;
	}
	proof->decided = true;
	proof->allowed = proof->allowed && left == 1;
	place->gap = left;
	ku_place_settle(place);
}

/* --- What we leave -------------------------------------------------------- */

static void said_farewell(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_place *place = request->owner;

	if (reply->rc != KU_ZK_OK) {
		ku_op_undo(place->op);
		return;
	}
	ku_place_tell_parted(place, KUSTOS_OK);
	ku_place_over(place);
}

/* Delete the node, and leave its name as the proof that it was granted. */
static void say_farewell(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct ku_proof *proof = place->proof;
	const char *name = ku_path_leaf(place->path);

	proof->ops[0] = (struct ku_zk_request){
		.kind = KU_ZK_SET,
		.path = line->path,
		.data = name,
		.len = (int)strlen(name),
		.version = proof->version,
	};
	proof->ops[1] = (struct ku_zk_request){
		.kind = KU_ZK_DELETE,
		.path = place->path,
		.version = -1,
	};
	proof->request.done = said_farewell;
	ku_wire_multi(line->client, &proof->request, proof->ops, 2);
}

void ku_place_delete_node(struct ku_place *place)
{
	struct ku_proof *proof = place->proof;

	if (proof != NULL && ku_request_busy(&proof->request) && !place->lost)
		return; /* called again when it is answered */
	if (proof != NULL && proof->allowed && !place->lost &&
		ku_session_ready(place->line->client))
		say_farewell(place);
	else
		ku_op_undo(place->op);
}

bool ku_place_withdraw_proof(struct ku_place *place)
{
	struct ku_proof *proof = place->proof;

	return proof != NULL && !place->over &&
		ku_wire_withdraw(place->line->client, &proof->request);
}

bool ku_place_lingers(const struct ku_place *place)
{
	const struct ku_proof *proof = place->proof;

	return proof != NULL && ku_request_busy(&proof->request) &&
		proof->request.what.kind == KU_ZK_GET && place->op->done;
}

/* --- Both ----------------------------------------------------------------- */

static void proof_read(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_place *place = request->owner;
	struct ku_line *line = place->line;
	struct ku_proof *proof = place->proof;

	if (reply->rc == KU_ZK_OK)
		line->children = reply->stat->num_children;
	proof->allowed = !proof->stale && ku_proof_fits(line, reply);
	proof->stale = false;
	if (proof->allowed)
		proof->version = reply->stat->version;
	if (place->state == KU_PLACE_LOOKING)
		read_of_others(place, request, reply);
	else if (place->state == KU_PLACE_LEAVING && place->over)
		ku_place_free(place);
	else if (place->state == KU_PLACE_LEAVING && place->op->done)
		ku_place_delete_node(place);
}

bool ku_place_read_proof(struct ku_place *place)
{
	struct ku_line *line = place->line;

	if (place->proof == NULL)
		place->proof = calloc(1, sizeof(*place->proof));
	if (place->proof == NULL || ku_request_busy(&place->proof->request))
		return false;
	place->proof->request.owner = place;
	place->proof->request.done = proof_read;
	ku_wire_read(line->client, &place->proof->request, KU_ZK_GET,
		line->path, false);
	return true;
}

void ku_place_prepare_proof(struct ku_place *place)
{
	struct ku_proof *proof = place->proof;

	if (proof != NULL && proof->decided)
		return;
	if (proof != NULL)
		proof->allowed = false;
	(void)ku_place_read_proof(place);
}

void ku_proof_outdate(struct kustos_client *client, struct ku_proof *proof)
{
	(void)ku_wire_withdraw(client, &proof->request);
	proof->stale = ku_request_busy(&proof->request);
	proof->decided = proof->allowed = false;
}
