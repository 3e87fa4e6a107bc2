/* line_crowd.c - lines in which every child counts, and several may hold: the
   children of the line are watched as a whole. */

#include "line_impl.h"

/* When to look again if the line cannot be watched. */
#define NO_WATCH_MS 1000

void ku_line_look(struct ku_line *line)
{
	for (struct ku_place *p = line->first; p != NULL; p = p->next)
		if (ku_place_waits(p) && !ku_place_rests(p))
			ku_place_look(p);
}

void ku_line_gather(struct ku_line *line, bool more)
{
	line->gathering = more;
}

/* A listing whose answer is still to come is newer than this event: events and
   answers come in the order of the changes that they report. */
static void children_event(struct ku_watch *watch, enum ku_watch_event event)
{
	struct ku_line *line = KU_OWNER(struct ku_line, watch, watch);

	if (event != KU_WATCH_GONE) /* else once connected */
		ku_line_look(line);
}

bool ku_line_watch_children(struct ku_line *line)
{
	line->watch.fn = children_event;
	return line->watch.entry != NULL ||
		ku_watch_add(line->client, &line->watch, KU_ZK_WATCH_CHILDREN,
			line->path) == KUSTOS_OK;
}

void ku_place_wait_for_room(struct ku_place *place)
{
	struct ku_line *line = place->line;

	place->state = KU_PLACE_FAR;
	if (line->watch.entry != NULL)
		ku_line_set_safety(line);
	else
		ku_line_again(line, NO_WATCH_MS);
}
