/*
 * line_follow.c - a place whose number says that nobody is before it.
 *
 * The number of a new node counts the children that the line's node ever had.  So if
 * that of ours is the next after that of a place of ours which was granted, and has
 * left, nobody came between; and nobody was left before that one, nor can have come
 * there since.  The answer to the creation grants it: it need not be listed.
 *
 * And of this session: what another has left may be there yet, first in the line, and
 * what was sent under it may arrive.  In one session its deletion was sent before.
 *
 * Where the server refuses that deletion, the node of the one which has left stays
 * until the session ends.  It keeps everybody else out, and so those after it, but it
 * is nobody's any more: the program was told that it was released, or lost, before it
 * could be followed.  So two places of ours are never granted at once for that.
 *
 * But for a reader that the one which has left may have become: that is a place of
 * ours, too, and stands where it stood.
 *
 * Numbers begin anew when the line's node is deleted and made again.  Then that has
 * had as many children since as the number says.  They are made by one transaction
 * each, as a rule, and those are numbered: so while the nodes of the two places are
 * fewer apart than that, it is the same line's node.  A margin is for who makes
 * several in one.
 *
 * Whether to ask for a listing as well is decided before the number is known.  Where
 * the last was the next, this will be, as a rule; and if not, a listing follows.
 */

#include "line_impl.h"

/* So many children are made by one transaction, at the most. */
#define BUNDLE 64

void ku_line_passed(const struct ku_place *place)
{
	struct ku_line *line = place->line;

	line->passed.number = place->number;
	line->passed.czxid = place->czxid;
	line->passed.session_id = place->session_id;
	line->passed.shares = place->kind->shares;
}

bool ku_place_follows(const struct ku_place *place)
{
	struct ku_line *line = place->line;
	uint64_t apart = (uint64_t)(place->czxid - line->passed.czxid);

	line->followed = !line->rule->counts && line->passed.czxid != 0 &&
		line->passed.session_id == place->session_id &&
		place->number == (int64_t)line->passed.number + 1 &&
		apart < (uint64_t)place->number / BUNDLE;
	return line->followed && ku_place_blocker(place) == NULL &&
		(place->kind->shares || !line->passed.shares);
}
