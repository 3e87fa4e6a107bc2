/*
 * place_write.c - what is written into a place's node while it is granted.
 *
 * If the kind of a place is jealous, only its owner writes there.  So the
 * version is known, and a conditional write fails if somebody else has taken
 * the node over.  If the reply to a write is lost, the node is read: its data
 * is what this write or the one before it has put there, or the node is not
 * ours any more.  So every write is carried through, even if nobody waits for
 * it any longer.
 */

#include "line_impl.h"

#include <stdlib.h>
#include <string.h>

static void writing_begin(struct ku_writing *writing);

static void writing_free(struct ku_writing *writing)
{
	ku_op_let_go(&writing->op);
	free(writing->data);
	free(writing);
}

/* The first write has ended: begin the next one, and call back. */
static void writing_end(struct ku_writing *writing, enum kustos_err err)
{
	struct ku_place *place = writing->place;
	ku_place_written_fn *done = writing->done;
	void *owner = writing->owner;

	place->writings = writing->next;
	writing_free(writing);
	if (place->writings != NULL)
		writing_begin(place->writings);
	if (done != NULL)
		done(owner, err);
}

static enum kustos_err writing_send(struct ku_writing *writing,
	enum ku_zk_kind kind, ku_op_ended_fn *ended)
{
	struct ku_place *place = writing->place;

	ku_op_let_go(&writing->op);
	enum kustos_err err = ku_op_new(place->line->client, kind,
		ku_place_path(place), 0, &writing->op);
	if (err == KUSTOS_OK && kind == KU_ZK_SET)
		err = ku_op_data(writing->op, writing->data, writing->len);
	if (err != KUSTOS_OK)
		return err;
	writing->op->version = place->version;
	return ku_op_start(&writing->op, ended, writing);
}

bool ku_place_wrote(const struct ku_place *place, const char *data, int len,
	int version)
{
	const struct ku_writing *writing = place->writings;

	return writing != NULL && version == place->version + 1 &&
		len == (int)writing->len &&
		memcmp(data, writing->data, writing->len) == 0;
}

/* Memory is too short to read the node, but the write was sent: its outcome is
   unknown. */
static enum kustos_err unseen(enum kustos_err err)
{
	return err == KUSTOS_ENOMEM ? KUSTOS_EUNKNOWN : err;
}

static void was_read(struct ku_op *op)
{
	struct ku_writing *writing = op->owner;
	struct ku_place *place = writing->place;
	enum kustos_err err = op->err;

	/* The write was not done, and will not be: repeat it, or learn why it
	   cannot be. */
	if (err == KUSTOS_OK && op->out_stat.czxid == place->czxid &&
		op->out_stat.version == place->version) {
		writing_begin(writing);
		return;
	}
	if (err == KUSTOS_OK &&
		ku_place_wrote(place, op->out_data, op->out_len,
			op->out_stat.version))
		place->version = op->out_stat.version;
	else if (err == KUSTOS_OK || err == KUSTOS_ENONODE)
		err = KUSTOS_ELOST;
	writing_end(writing, unseen(err));
}

static void was_set(struct ku_op *op)
{
	struct ku_writing *writing = op->owner;
	enum kustos_err err = op->err;

	if (err == KUSTOS_EUNKNOWN) {
		err = unseen(writing_send(writing, KU_ZK_GET, was_read));
		if (err == KUSTOS_OK)
			return;
	}
	if (err == KUSTOS_OK)
		writing->place->version = op->out_stat.version;
	else if (err == KUSTOS_ENONODE || err == KUSTOS_EBADVERSION)
		err = KUSTOS_ELOST;
	writing_end(writing, err);
}

static void writing_begin(struct ku_writing *writing)
{
	enum kustos_err err = writing_send(writing, KU_ZK_SET, was_set);

	if (err != KUSTOS_OK)
		writing_end(writing, err);
}

enum kustos_err ku_place_write(struct ku_place *place, const void *data,
	size_t len, ku_place_written_fn *done, void *owner)
{
	struct ku_writing **at = &place->writings;
	struct ku_writing *writing = calloc(1, sizeof(*writing));
	char *copy = malloc(len + 1);

	if (writing == NULL || copy == NULL) {
		free(writing);
		free(copy);
		return KUSTOS_ENOMEM;
	}
	memcpy(copy, len > 0 ? data : "", len);
	writing->place = place;
	writing->data = copy;
	writing->len = len;
	writing->done = done;
	writing->owner = owner;
	while (*at != NULL)
		at = &(*at)->next;
	*at = writing;
	if (place->writings == writing)
		writing_begin(writing);
	return KUSTOS_OK;
}

void ku_place_unheed(struct ku_place *place, const void *owner)
{
	for (struct ku_writing *w = place->writings; w != NULL; w = w->next)
		if (w->owner == owner)
			w->done = NULL;
}

void ku_place_stop_writing(struct ku_place *place)
{
	struct ku_writing *writing;

	while ((writing = place->writings) != NULL) {
		place->writings = writing->next;
		writing_free(writing);
	}
}
