/* place.c - a place's grant, and its way out. */

#include "line_impl.h"

#include <stdlib.h>
#include <string.h>

void ku_place_over(struct ku_place *place)
{
	struct kustos_client *client = place->line->client;

	ku_line_renew(place);
	place->over = true;
	if (place->parting != NULL)
		ku_parting_end(place->parting);
	if (client->ops.flushing > 0)
		pthread_cond_broadcast(&client->ops.ended);
	ku_place_free(place);
}

void ku_place_ended(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct ku_op *op = place->op;
	bool stays = op->kind == KU_ZK_DELETE && ku_delete_refused(op->err);

	if (op->kind == KU_ZK_CREATE && op->err == KUSTOS_OK) {
		ku_op_undo(op);
		return;
	}
	if (stays && !line->stuck)
		ku_log(line->client, KUSTOS_LOG_ERROR,
			"%s cannot be deleted, and stays in the way until the "
			"session ends: %s",
			op->path, kustos_strerror(op->err));
	if (op->kind == KU_ZK_DELETE)
		ku_place_tell_parted(place, op->err);
	line->stuck = stays || (line->stuck && op->err != KUSTOS_OK);
	ku_place_over(place);
}

void ku_place_part(struct ku_place *place, struct ku_parting *parting)
{
	if (place->state == KU_PLACE_LEAVING)
		return;
	parting->of = place;
	parting->err = KUSTOS_ELOST; /* until something else is known */
	place->parting = parting;
}

void ku_place_tell_parted(struct ku_place *place, enum kustos_err err)
{
	if (place->parting != NULL)
		place->parting->err = err != KUSTOS_ENONODE ? err : KUSTOS_OK;
}

void ku_parting_end(struct ku_parting *parting)
{
	if (parting->of != NULL)
		parting->of->parting = NULL;
	parting->of = NULL;
}

enum ku_way ku_place_way(const struct ku_place *place)
{
	if (place->kind->shares)
		return KU_WAY_SHARED;
	return place->state == KU_PLACE_HELD && !place->lost ? KU_WAY_FREE
							     : KU_WAY_UNKNOWN;
}

/* A place of ours that stood before "place" waits no more. */
static void move_up(struct ku_place *place, bool anew)
{
	if (!ku_place_waits(place))
		return;
	if (anew)
		place->known = 0;
	if (ku_place_rests(place))
		return;
	/* A listing has told its gap, and is about to be acted on; what is
	   watched still belongs to the gap before that. */
	if (place->line->deciding && place->news)
		return;
	/* One listing tells of all places that share. */
	if (anew || (place->state == KU_PLACE_BEHIND && place->kind->shares))
		ku_place_look(place);
	else if (place->state == KU_PLACE_BEHIND || place->known == 0)
		ku_place_activate(place);
	else
		ku_place_try(place);
}

void ku_places_move_up(struct ku_place *first, enum ku_way way)
{
	struct ku_cursor cursor;
	struct ku_place *place;
	bool more = true;

	if (first == NULL)
		return;
	struct ku_line *line = first->line;
	ku_cursor_begin(&cursor, line, first);
	while (more && (place = ku_cursor_take(&cursor)) != NULL) {
		more = place->kind->shares && way != KU_WAY_SHARED;
		move_up(place, way == KU_WAY_UNKNOWN);
	}
	ku_cursor_end(&cursor, line);
}

/* Take "place" out of its line, and have its node deleted. */
static void withdraw(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct kustos_client *client = line->client;
	struct ku_place *behind = place->next;
	bool held = place->state == KU_PLACE_HELD;
	enum ku_way way = ku_place_way(place);

	ku_place_stop_writing(place);
	if (line->rule->seat) {
		ku_seat_withdraw(place);
		return;
	}
	if (held)
		ku_line_passed(place);
	else
		ku_line_count(place, -1);
	if (place->proof != NULL)
		(void)ku_wire_withdraw(client, &place->proof->request);
	ku_place_forget(place);
	ku_lines_leave(place);
	if (place->path == NULL) {
		/* The node is still to be made, or is gone with its session. */
		if (place->op != NULL && !place->op->done)
			ku_op_unwant(place->op);
		else
			ku_place_over(place);
		return;
	}
	ku_line_remove(line, place);
	if (place->session_id != client->session.id)
		ku_place_over(place);
	else if (held)
		ku_place_delete_node(place);
	else
		ku_op_undo(place->op);
	ku_places_move_up(behind, way); /* "place" may be freed */
}

void ku_place_leave(struct ku_place *place)
{
	place->owned = false;
	if (place->state == KU_PLACE_LEAVING)
		ku_place_free(place);
	else
		withdraw(place);
}

void ku_place_fail(struct ku_place *place, enum kustos_err err)
{
	place->err = err;
	withdraw(place);
	if (!place->starting)
		place->kind->events->failed(place, err);
}

void ku_place_lose(struct ku_place *place)
{
	place->lost = true;
	withdraw(place);
	place->kind->events->lost(place);
}

void ku_place_gone(struct ku_place *place)
{
	if (place->state == KU_PLACE_HELD)
		ku_place_lose(place);
	else if (place->beside != 0)
		ku_place_fail(place, KUSTOS_ELOST);
	else
		ku_place_restart(place);
}

bool ku_place_has_writer(const struct ku_place *place)
{
	const struct ku_place *writer = place->writer;

	return writer != NULL && writer->czxid == place->beside &&
		writer->state == KU_PLACE_HELD;
}

void ku_place_tell_queued(struct ku_place *place)
{
	/* The places that it leads get no decision of their own. */
	do {
		const struct ku_place_events *events = place->kind->events;

		if (place->waited)
			return;
		place->waited = true;
		if (!place->once && events->queued != NULL)
			events->queued(place);
		place = place->next;
	} while (place != NULL && ku_place_is_led(place));
}

void ku_place_grant(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct kustos_client *client = line->client;
	enum kustos_state state = ku_session_state(client);

	/* The lease ended before the answer came; we look again on the next
	   connection. */
	if (state != KUSTOS_STATE_CONNECTED ||
		place->session_id != client->session.id)
		return;
	if (place->beside != 0 && !ku_place_has_writer(place)) {
		ku_place_fail(place, KUSTOS_ELOST);
		return;
	}
	place->state = KU_PLACE_HELD;
	ku_line_count(place, -1);
	ku_place_unwatch_ahead(place);
	if (place->kind->revocable)
		ku_place_watch_own(place);
	if (line->children > KU_LINE_LONG && !place->kind->shares)
		ku_place_prepare_proof(place);
	if (!ku_lookout_sees(place->own) && !ku_timer_is_set(&line->guard))
		ku_set_timer_ms(client, &line->guard, KU_HELD_WATCH_MS);
	ku_places_move_up(place->next, ku_place_way(place));
	bool revoked = place->revoked;
	place->kind->events->granted(place);
	if (revoked && place->state == KU_PLACE_HELD)
		place->kind->events->revoked(place);
}

void ku_place_try(struct ku_place *place)
{
	const struct kustos_client *client = place->line->client;

	if (place->state != KU_PLACE_NEXT || ku_place_blocker(place) != NULL ||
		place->known != client->session.connection ||
		!ku_lookout_sees(place->own))
		return;
	for (int i = 0; i < place->gap; i++)
		if (place->ahead[i] == NULL || !place->ahead[i]->gone)
			return;
	ku_place_grant(place);
}
