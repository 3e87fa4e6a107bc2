/*
 * line_renew.c - the node of a line whose numbers are running out is deleted
 * when the line is empty, so that they start over.
 *
 * A program may keep data of its own in that node: then it stays.  So it is
 * read first, and what is deleted is the very version that was read.  In
 * kazoo's dialect it stays as well: a stock kazoo lock makes the node once, and
 * fails if it is gone later.
 */
#include "line_impl.h"

/* From this number on an empty line is deleted. */
#define RENEW_NUMBER (INT32_C(1) << 30)

static bool is_running_out(int32_t number)
{
	return number > RENEW_NUMBER || !ku_number_sound(number);
}

/* Nothing of ours is in it, or is about to be. */
static bool is_empty(const struct ku_line *line)
{
	return line->first == NULL && line->waiting == 0;
}

/* Delete the node, if it still has this version; refused if it has
   children. */
static void remove_version(struct ku_line *line, int32_t version)
{
	struct ku_op *op;

	if (ku_op_new(line->client, KU_ZK_DELETE, ku_line_path(line), 0, &op) !=
		KUSTOS_OK)
		return;
	op->version = version;
	op->once = true; /* whoever leaves next tries again */
	(void)ku_op_start_unowned(op);
}

static void was_read(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_line *line = request->owner;

	if (is_empty(line) && ku_proof_fits(line, reply))
		remove_version(line, reply->stat->version);
	ku_line_put(line);
}

void ku_line_renew(const struct ku_place *place)
{
	struct ku_line *line = place->line;

	if (place->path == NULL || place->bare ||
		!is_running_out(place->number) || !is_empty(line) ||
		!ku_session_ready(line->client) ||
		ku_request_busy(&line->renewal))
		return;
	line->renewal.owner = line;
	line->renewal.done = was_read;
	line->refs++;
	ku_wire_read(line->client, &line->renewal, KU_ZK_GET, line->path,
		false);
}
