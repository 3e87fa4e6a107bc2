/* line_session.c - what becomes of places when the connection breaks, or the
   session is lost or ends. */

#include "line_impl.h"

#include <search.h>

static void place_connected(struct ku_place *place)
{
	struct ku_line *line = place->line;
	struct kustos_client *client = line->client;

	bool seat = line->rule->seat;

	if (place->path == NULL && place->state != KU_PLACE_NEXT)
		return; /* its creation goes on */
	if (!seat && place->state != KU_PLACE_HELD &&
		!(place->state == KU_PLACE_BEHIND && ku_place_rests(place)))
		place->state = KU_PLACE_LOOKING;
	if (line->connection == client->session.connection)
		return;
	line->connection = client->session.connection;
	ku_line_again(line, ku_session_spread_ms(client));
}

void ku_lines_connected(struct kustos_client *client)
{
	ku_lines_each(client, place_connected);
}

static void place_suspended(struct ku_place *place)
{
	place->line->connection = 0; /* the same one may come back */
	if (place->once && place->state < KU_PLACE_HELD)
		ku_place_fail(place, KUSTOS_EDISCONNECTED);
	else if (place->state == KU_PLACE_HELD &&
		place->kind->events->unsure != NULL)
		place->kind->events->unsure(place);
}

void ku_lines_suspended(struct kustos_client *client)
{
	ku_lines_each(client, place_suspended);
}

static void place_lost(struct ku_place *place)
{
	if (place->state == KU_PLACE_HELD)
		ku_place_lose(place);
	else if (place->beside != 0)
		ku_place_fail(place, KUSTOS_ELOST); /* its writer is lost */
}

void ku_lines_lost(struct kustos_client *client)
{
	ku_lines_each(client, place_suspended);
	ku_lines_each(client, place_lost);
}

static void place_start_over(struct ku_place *place)
{
	if (place->path != NULL)
		ku_place_gone(place);
}

/* The nodes went with the session, so deletions that have not been sent are not
   needed any more. */
static void end_unsent(struct kustos_client *client)
{
	struct ku_ring *away = &client->lines.away;
	struct ku_ring *next;

	for (struct ku_ring *r = away->next; r != away; r = next) {
		next = r->next;
		if (ku_place_withdraw_proof(ku_ring_place(r)))
			ku_place_over(ku_ring_place(r));
	}
}

void ku_lines_session_over(struct kustos_client *client)
{
	ku_lines_each(client, place_start_over);
	end_unsent(client);
}

static void place_close(struct ku_place *place)
{
	if (place->state < KU_PLACE_HELD)
		ku_place_fail(place, KUSTOS_ECLOSED);
}

static void unlist(const void *node, VISIT visit, int depth)
{
	(void)depth;
	if (visit == preorder || visit == leaf)
		ku_line_unlist(*(struct ku_line *const *)node);
}

/* A queued listing would be for places that have mostly left by now. */
void ku_lines_close(struct kustos_client *client)
{
	ku_lines_each(client, place_close);
	twalk(client->lines.tree, unlist);
}

/* Nothing is in flight any more, and no event is called. */
static void free_ring(struct ku_ring *head)
{
	while (head->next != head) {
		struct ku_place *place = ku_ring_place(head->next);

		ku_place_forget(place);
		place->owned = false;
		place->over = true;
		ku_place_free(place);
	}
}

void ku_lines_free(struct kustos_client *client)
{
	struct ku_lines *lines = &client->lines;

	free_ring(&lines->here);
	free_ring(&lines->away);
	while (lines->tree != NULL) {
		struct ku_line *line = *(struct ku_line **)lines->tree;

		line->refs = 1;
		ku_line_put(line);
	}
}
