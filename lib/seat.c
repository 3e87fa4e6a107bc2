/*
 * seat.c - places in a line of one: a node that belongs to whoever makes it.
 *
 * There is no order.  All contenders try to make the node at the line's own
 * path, which has no number and no GUID in its name, and goes with the session.
 * The others watch it, and try again when it goes.
 *
 *   BEHIND --first of ours--> CREATING --made--> HELD
 *                              ^    |
 *                  it is gone  |    | it was there
 *                              |    v
 *                              NEXT, which watches it
 *
 * The name does not tell whose the node is, but two things do: the session that
 * owns it, and its czxid, which no two nodes share.  Only one of a client's
 * places tries at a time, and the next does not try before the outcome of that
 * try is known.  So a node of this session that was not known before belongs to
 * the place that tried.  Whatever takes time between a decision and its request
 * (the deletion of a node that may be gone, the watch of a node that was made)
 * compares the czxid first.
 *
 * When the node goes, that wakes up everybody.  A place that has been beaten to
 * the node waits a little the next time, at random, and looks before it tries:
 * one server answers a look, but a try goes through all.
 *
 * What outcomes and looks mean is in seat_rule.c.
 */

#include "line_impl.h"
#include "seat_rule.h"

#include <stdlib.h>
#include <string.h>

static void seat_tried(struct ku_op *op);

enum kustos_err ku_seat_make_op(struct ku_place *place)
{
	struct ku_line *line = place->line;

	return ku_create_new(line->client, ku_line_path(line),
		KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_PARENTS, place->data,
		place->len, &place->op);
}

/* Try to make the node. */
static enum kustos_err try_once(struct ku_place *place)
{
	struct ku_line *line = place->line;

	ku_place_forget(place);
	place->state = KU_PLACE_CREATING;
	line->busy = true;
	enum kustos_err err = ku_seat_make_op(place);
	if (err == KUSTOS_OK)
		err = ku_op_start(&place->op, seat_tried, place);
	if (err != KUSTOS_OK)
		line->busy = false; /* it has not begun */
	return err;
}

/* Have the first place of ours try, if none is trying and it has not tried
   yet. */
static void serve(struct ku_line *line)
{
	if (line->serving)
		return; /* further up */
	line->serving = true;
	line->refs++;
	while (!line->busy && line->first != NULL &&
		line->first->state == KU_PLACE_BEHIND) {
		struct ku_place *first = line->first;
		enum kustos_err err = try_once(first);

		if (err != KUSTOS_OK)
			ku_place_fail(first, err);
	}
	line->serving = false;
	ku_line_put(line);
}

static void try_again(struct ku_place *place)
{
	place->state = KU_PLACE_BEHIND;
	serve(place->line);
}

enum kustos_err ku_seat_enter(struct ku_place *place)
{
	struct ku_line *line = place->line;

	place->starting = true;
	place->state = KU_PLACE_BEHIND;
	ku_line_insert(line, place);
	if (place->once && (line->busy || line->first != place))
		ku_place_fail(place, KUSTOS_EBUSY);
	else
		serve(line);
	place->starting = false;
	return place->state == KU_PLACE_LEAVING ? place->err : KUSTOS_OK;
}

/* The node belongs to another: watch it. */
static void look(struct ku_place *place)
{
	place->state = KU_PLACE_NEXT;
	ku_place_watch_seat(place); /* once connected */
}

static void beaten(struct ku_place *place)
{
	ku_op_let_go(&place->op);
	if (place->once) {
		ku_place_fail(place, KUSTOS_EBUSY);
		return;
	}
	place->beaten = (uint8_t)ku_seat_beaten(place->beaten);
	look(place);
}

static void seat_tried(struct ku_op *op)
{
	struct ku_place *place = op->owner;
	struct ku_line *line = place->line;
	enum ku_seat_try outcome = ku_seat_try(op->err);

	line->refs++;
	if (op->kind == KU_ZK_CREATE)
		line->busy = false;
	if (place->state == KU_PLACE_LEAVING) {
		ku_place_ended(place);
		serve(line);
	} else if (outcome == KU_SEAT_MADE) {
		ku_place_made(place);
		place->known = line->client->session.connection;
		place->state = KU_PLACE_LOOKING; /* at its own, if this fails */
		ku_place_grant(place);
	} else if (outcome == KU_SEAT_BEATEN) {
		beaten(place);
	} else {
		ku_place_fail(place, op->err);
	}
	ku_line_put(line);
}

/* Only the first place of ours looks at the node.  One that has waited for the
   node will try when this place has left. */
void ku_seat_adopted(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct ku_place *waiter = line->first;

	if (waiter != NULL) {
		ku_place_forget(waiter);
		waiter->state = KU_PLACE_BEHIND;
	}
	place->number = -1; /* before all others */
	ku_line_insert(line, place);
	place->number = 0;
	place->op->ended = seat_tried;
	ku_place_made(place);
	place->state = KU_PLACE_LOOKING;
	ku_place_watch_own(place); /* granted if it is still there */
}

void ku_seat_freed(struct ku_place *place, bool seen)
{
	struct ku_line *line = place->line;
	int64_t pause = ku_seat_pause_ms(place->beaten, seen,
		&line->client->random);

	if (pause == 0)
		try_again(place);
	else /* and then look */
		ku_line_again(line, pause);
}

bool ku_seat_seen(struct ku_place *place, const struct ku_zk_reply *reply)
{
	enum ku_seat_sight sight = ku_seat_sight(place->path != NULL,
		place->czxid, reply->stat);

	if (sight == KU_SEAT_OWN && place->state == KU_PLACE_HELD)
		return true;
	if (sight == KU_SEAT_NO_LOCK) {
		ku_place_fail(place, KUSTOS_EEXISTS);
	} else if (sight == KU_SEAT_TAKEN) {
		ku_line_set_safety(place->line);
	} else if (sight == KU_SEAT_REPLACED) {
		place->own->gone = true;
		ku_place_gone(place);
	} else if (place->state == KU_PLACE_LOOKING) {
		ku_place_note_request(place, reply);
		ku_place_grant(place);
	}
	return false;
}

void ku_seat_look_again(struct ku_line *line)
{
	struct ku_place *first = line->first;

	if (first == NULL)
		return;
	if (first->state == KU_PLACE_LOOKING && ku_lookout_sees(first->own))
		ku_place_grant(first); /* seen after the lease had ended */
	else if (first->path != NULL)
		ku_place_watch_own(first);
	else if (first->state != KU_PLACE_NEXT)
		return;
	else if (line->unreadable)
		try_again(first);
	else
		look(first);
}

void ku_seat_restart(struct ku_place *place)
{
	ku_place_forget(place);
	ku_op_let_go(&place->op);
	place->path = NULL;
	try_again(place);
}

void ku_seat_withdraw(struct ku_place *place)
{
	struct ku_line *line = place->line;
	const struct ku_session *session = &line->client->session;
	enum ku_seat_end end = ku_seat_end(&(const struct ku_seat_leaver){
		.trying = place->op != NULL && !place->op->done,
		.made = place->path != NULL,
		.gone = (place->own != NULL && place->own->gone) ||
			place->session_id != session->id,
		.seen = place->known == session->connection ||
			ku_lookout_sees(place->own),
	});

	line->refs++;
	if (place->state != KU_PLACE_HELD)
		ku_line_count(place, -1);
	ku_place_forget(place);
	ku_lines_leave(place);
	ku_line_remove(line, place);
	if (end == KU_SEAT_UNWANTED) {
		ku_op_unwant(place->op);
	} else if (end == KU_SEAT_OVER) {
		ku_place_over(place);
	} else {
		place->op->doubtful = end == KU_SEAT_LOOK_FIRST;
		ku_op_undo(place->op);
	}
	serve(line);
	ku_line_put(line);
}
