/* footprint_look.c - check which of a session's ephemeral nodes still exist. */

#include "client.h"

#include <string.h>

/* The first look comes when less than 1/ROOM_PART of the room is left, the next
   when another 1/MORE_PART was added. */
#define ROOM_PART 8
#define MORE_PART 32

static bool is_crowded(const struct ku_footprint *f)
{
	return f->ephemeral_bytes >
		KU_FOOTPRINT_LIMIT - KU_FOOTPRINT_LIMIT / ROOM_PART &&
		f->ephemeral_bytes >
		f->looked_bytes + KU_FOOTPRINT_LIMIT / MORE_PART;
}

static void look_at_next(struct kustos_client *client);

/* Answers come in the order of their requests, so a node that was made after
   this look is counted after it, and not removed here. */
static void looked(struct ku_op *op)
{
	struct kustos_client *client = op->client;
	struct ku_footprint *f = &client->footprint;
	bool goes_on = op->err == KUSTOS_OK || op->err == KUSTOS_ENONODE;

	if (op->err == KUSTOS_ENONODE ||
		(op->err == KUSTOS_OK &&
			op->out_stat.ephemeral_owner != op->request.session_id))
		ku_footprint_remove(f, op->path);
	ku_op_let_go(&f->look);
	if (goes_on)
		look_at_next(client);
}

/* One at a time, as there is no hurry. */
static void look_at_next(struct kustos_client *client)
{
	struct ku_footprint *f = &client->footprint;
	const char *path = ku_footprint_next(f);

	if (path == NULL) {
		f->looked_bytes = f->ephemeral_bytes;
		return;
	}
	path = ku_program_path(client, path);
	if (ku_op_new(client, KU_ZK_EXISTS, path, 0, &f->look) == KUSTOS_OK)
		(void)ku_op_start(&f->look, looked, NULL); /* or another time */
}

bool ku_footprint_reserve(struct kustos_client *client,
	const struct ku_zk_request *request, size_t more, size_t *asked)
{
	struct ku_footprint *f = &client->footprint;
	bool fits = ku_footprint_ask(f, request, more, asked);

	if (f->looked_bytes > f->ephemeral_bytes) /* some have gone since */
		f->looked_bytes = f->ephemeral_bytes;
	if (f->look == NULL && (!fits || is_crowded(f))) {
		f->round++;
		look_at_next(client);
	}
	return fits;
}
