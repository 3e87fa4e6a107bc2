/*
 * line_follow.c - a place whose number says that nobody is before it.
 *
 * The number of a new node counts the children that the line's node ever had.
 * Suppose that a place of ours was granted and has left, and that our new node
 * has the next number after it.  Then nobody came between the two.  Nobody was
 * left before the first one either, as it was granted, and nobody can have come
 * there since.  So the answer to the creation grants the new place, without a
 * listing.
 *
 * Both have to be of the same session.  The node that another session has left
 * may still be there, first in the line, and what was sent under that session
 * may still arrive.  Within one session, the deletion of the first node was
 * sent before the creation of the second.
 *
 * If the server refuses that deletion, the first node stays until the session
 * ends, and keeps everybody else out.  The places that follow it are granted
 * nonetheless, which is safe: the node is nobody's any more, as the program was
 * told that the place was released, or lost, before it could be followed.  So
 * two places of ours are never granted at once because of this.
 *
 * If the first place was a reader, other readers may still be before it.  So
 * only a reader follows a reader.  A writer that has left may have become a
 * reader, which stands where the writer stood: that is a place of ours, of
 * which ku_place_blocker() knows.
 *
 * Numbers begin anew when the line's node is deleted and made again.  Then the
 * new node of the line has had as many children as the number says.  As a rule
 * each child is made by a transaction of its own, and transactions are numbered
 * (the zxid).  So if the zxids of the two places' nodes are less apart than the
 * number, both belong to the same line's node.  A margin (BUNDLE) allows for
 * programs that make several children in one transaction.
 *
 * Whether to send a listing along with the creation is decided before the
 * number is known.  If the last new place came right after its predecessor,
 * this one will, too, as a rule; if it does not, a listing follows.
 */

#include "line_impl.h"

/* How many children one transaction makes at the most. */
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
