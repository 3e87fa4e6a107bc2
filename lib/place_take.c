/* place_take.c - take a place: make its node, and again if need be. */

#include "line_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nobody comes between a writer and the reader that it becomes, if the writer's
   node was still there when the reader's was made.  That is known if it was
   still watched then, or if a listing taken now has it. */
static void grant_beside(struct ku_place *place)
{
	place->state = KU_PLACE_LOOKING;
	if (ku_place_has_writer(place) && !ku_lookout_sees(place->writer->own))
		ku_place_look(place);
	else
		ku_place_grant(place); /* fails if it is too late */
}

/* No place of ours stands before it: does any other? */
static void begin(struct ku_place *place)
{
	if (!ku_place_follows(place)) {
		ku_place_activate(place);
		return;
	}
	place->state = KU_PLACE_LOOKING;
	ku_place_grant(place);
}

void ku_place_made(struct ku_place *place)
{
	struct ku_op *op = place->op;

	ku_op_slim(op);
	place->path = op->out_path;
	place->czxid = op->out_stat.czxid;
	place->session_id = op->out_stat.ephemeral_owner;
}

/* The creation has ended: the node is there, or could not be made. */
static void created(struct ku_op *op)
{
	struct ku_place *place = op->owner;
	struct ku_line *line = place->line;

	if (place->state == KU_PLACE_LEAVING) {
		ku_place_ended(place);
		return;
	}
	if (op->err != KUSTOS_OK) {
		ku_place_fail(place, op->err);
		return;
	}
	ku_place_made(place);
	place->state = KU_PLACE_BEHIND;
	bool numbered = ku_name_sequence(place->path, &place->number);
	bool ordered = numbered &&
		(line->rule->counts || ku_number_sound(place->number));
	ku_line_insert(line, place);
	place->waited = false;
	if (ordered &&
		(ku_place_is_behind(place) ||
			(ku_place_is_led(place) && place->prev->waited)))
		ku_place_tell_queued(place);
	if (!ordered)
		ku_place_fail(place, KUSTOS_ESATURATED);
	else if (place->beside != 0)
		grant_beside(place);
	else if (!ku_place_rests(place))
		begin(place);
	else if (place->once)
		ku_place_fail(place, KUSTOS_EBUSY);
}

static enum kustos_err make_op(struct ku_place *place)
{
	struct ku_line *line = place->line;
	const struct ku_place_kind *kind = place->kind;
	const char *path = ku_line_path(line);
	int flags = KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_PROTECTED |
		KUSTOS_CREATE_PARENTS;

	if (line->rule->seat)
		return ku_seat_make_op(place);
	char *prefix = malloc(strlen(path) + strlen(kind->leaf) + 13);

	if (prefix == NULL)
		return KUSTOS_ENOMEM;
	char *end = stpcpy(stpcpy(stpcpy(prefix, path), "/"), kind->leaf);
	if (place->beside != 0)
		snprintf(end, 11, "%010" PRId32, place->number);
	else
		flags |= KUSTOS_CREATE_SEQUENTIAL;
	enum kustos_err err = ku_create_new(line->client, prefix, flags,
		place->data, place->len, &place->op);
	free(prefix);
	if (err == KUSTOS_OK)
		place->op->bare = place->op->plain = kind->bare;
	return err;
}

/* Return the last place of ours that a new one of this kind has to wait for, or
   NULL. */
static const struct ku_place *in_the_way(const struct ku_line *line,
	const struct ku_place_kind *kind)
{
	const struct ku_place *last = line->last;

	if (last != NULL && last->kind->shares && kind->shares)
		last = last->writer;
	return last;
}

/* Have a node made.  If no place of ours waits before it, the listing that
   tells who does is sent behind the creation in the same flight, unless the
   number will probably tell that.  On failure "place" has left. */
static enum kustos_err create(struct ku_place *place)
{
	struct ku_line *line = place->line;

	if (line->rule->seat)
		return ku_seat_enter(place);
	place->starting = true;
	enum kustos_err err = make_op(place);
	if (err == KUSTOS_OK)
		err = ku_op_start(&place->op, created, place);
	if (err != KUSTOS_OK)
		ku_place_fail(place, err);
	place->starting = false;
	if (place->state == KU_PLACE_LEAVING)
		return place->err;
	if (place->beside == 0 && !line->gathering &&
		place->op->request.slot != NULL && !line->followed &&
		(line->waiting == 1 ||
			(place->kind->shares &&
				in_the_way(line, place->kind) == NULL)))
		ku_line_list_behind(line);
	return KUSTOS_OK;
}

void ku_place_restart(struct ku_place *place)
{
	struct ku_place *behind = place->next;
	enum ku_way way = ku_place_way(place);
	bool certain = place->own != NULL && place->own->gone;

	ku_place_stop_writing(place); /* into the old one */
	place->revoked = false;
	place->version = 0;
	if (place->line->rule->seat) {
		ku_seat_restart(place);
		return;
	}
	if (place->proof != NULL)
		ku_proof_outdate(place->line->client, place->proof);
	ku_place_forget(place);
	ku_line_remove(place->line, place);
	/* Delete even a node that a listing did not show: the listing may be
	   wrong, and a deletion that is not needed does no harm. */
	place->op->ended = NULL;
	if (place->session_id == place->line->client->session.id && !certain)
		ku_op_undo(place->op);
	else
		ku_op_drop(place->op);
	place->op = NULL;
	place->path = NULL;
	place->state = KU_PLACE_CREATING;
	ku_places_move_up(behind, way);
	if (create(place) != KUSTOS_OK)
		place->kind->events->failed(place, place->err);
}

/* Places of ours that have left, and whose nodes stay only until it is known
   whether they may leave a proof, go now: a single try must not find them
   there. */
static void hurry(struct ku_line *line)
{
	struct ku_ring *away = &line->client->lines.away;

	for (struct ku_ring *r = away->next; r != away; r = r->next) {
		struct ku_place *place = ku_ring_place(r);

		if (place->line == line && ku_place_lingers(place) &&
			place->session_id == line->client->session.id)
			ku_op_undo(place->op);
	}
}

/* Is a place of ours certainly in the way? */
static bool is_taken(const struct ku_line *line,
	const struct ku_place_kind *kind)
{
	const struct ku_place *place = in_the_way(line, kind);

	return place != NULL && place->session_id == line->client->session.id;
}

static struct ku_place *place_new(struct ku_line *line,
	const struct ku_place_kind *kind, const void *data, size_t len,
	void *owner)
{
	struct ku_place *place = calloc(1, sizeof(*place));
	char *copy = malloc(len + 1);

	if (place == NULL || copy == NULL) {
		free(place);
		free(copy);
		return NULL;
	}
	memcpy(copy, len > 0 ? data : "", len);
	place->line = line;
	place->kind = kind;
	place->bare = kind->bare;
	place->data = copy;
	place->len = len;
	place->owner = owner;
	place->owned = true;
	return place;
}

static enum kustos_err join(struct ku_place *place, struct ku_place **out)
{
	ku_lines_join(place);
	enum kustos_err err = create(place);
	if (err != KUSTOS_OK)
		ku_place_leave(place);
	else
		*out = place;
	return err;
}

/* A single try needs a connection. */
static enum kustos_err can_be_at_once(const struct kustos_client *client,
	bool once)
{
	if (!once || ku_session_ready(client) || client->closing != KU_OPEN)
		return KUSTOS_OK;
	return client->session.auth_failed ? KUSTOS_EAUTH
					   : KUSTOS_EDISCONNECTED;
}

enum kustos_err ku_place_take(struct ku_line *line,
	const struct ku_place_kind *kind, const void *data, size_t len,
	bool once, void *owner, struct ku_place **out)
{
	enum kustos_err err = can_be_at_once(line->client, once);

	if (err != KUSTOS_OK)
		return err;
	if (once && is_taken(line, kind))
		return KUSTOS_EBUSY;
	if (once)
		hurry(line);
	struct ku_place *place = place_new(line, kind, data, len, owner);
	if (place == NULL)
		return KUSTOS_ENOMEM;
	place->once = once;
	return join(place, out);
}

enum kustos_err ku_place_beside(struct ku_place *writer,
	const struct ku_place_kind *kind, const void *data, size_t len,
	bool once, void *owner, struct ku_place **out)
{
	enum kustos_err err = can_be_at_once(writer->line->client, once);

	if (err != KUSTOS_OK)
		return err;
	if (writer->state != KU_PLACE_HELD)
		return KUSTOS_ELOST;
	struct ku_place *place = place_new(writer->line, kind, data, len,
		owner);
	if (place == NULL)
		return KUSTOS_ENOMEM;
	place->once = once;
	place->beside = writer->czxid;
	place->number = writer->number;
	/* So that it is known whether the writer's node is still there when
	   ours is made. */
	ku_place_watch_own(writer);
	return join(place, out);
}

enum kustos_err ku_place_adopt(struct ku_line *line,
	const struct ku_place_kind *kind, const void *data, size_t len,
	const char *path, const struct kustos_stat *stat, void *owner,
	struct ku_place **out)
{
	/* In a seat, a try of ours that is under way may have made it. */
	if (stat->ephemeral_owner != line->client->session.id || line->busy ||
		ku_lines_have(line->client, path))
		return KUSTOS_EBUSY;
	struct ku_place *place = place_new(line, kind, data, len, owner);
	char *full = ku_path_join(line->client->config.prefix, path);
	enum kustos_err err = place != NULL && full != NULL ? make_op(place)
							    : KUSTOS_ENOMEM;
	if (err == KUSTOS_OK)
		err = ku_op_adopt(place->op, full, stat);
	free(full);
	if (err != KUSTOS_OK && place != NULL) {
		ku_op_let_go(&place->op);
		free(place->data);
		free(place);
	}
	if (err != KUSTOS_OK)
		return err;
	place->version = stat->version;
	place->op->ended = created;
	place->op->owner = place;
	ku_lines_join(place);
	*out = place;
	line->passed.czxid = 0; /* no grant, and so no event, in here */
	if (line->rule->seat)
		ku_seat_adopted(place);
	else
		created(place->op);
	return KUSTOS_OK;
}

void *ku_place_owner(const struct ku_place *place)
{
	return place->owner;
}

bool ku_place_waited(const struct ku_place *place)
{
	return place->waited;
}

const char *ku_place_path(const struct ku_place *place)
{
	return ku_program_path(place->line->client, place->path);
}

int64_t ku_place_token(const struct ku_place *place)
{
	/* A place that queued behind the writer may have a smaller czxid than
	   the reader's node, but is granted later: so the reader has the
	   writer's. */
	return place->beside != 0 ? place->beside : place->czxid;
}
