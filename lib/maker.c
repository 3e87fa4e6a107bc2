/* maker.c - who made a node that a creation of ours has found there, after a
   try whose answer was lost. */

#include "maker.h"

enum ku_maker ku_maker_of(const struct kustos_stat *node,
	const struct ku_maker_clues *clues)
{
	int64_t owner = node->ephemeral_owner;
	int64_t now = clues->now;

	if (owner == clues->tried_in && owner != now)
		return KU_MAKER_GHOST;
	/* Perhaps a ghost of a session before that one. */
	if (clues->moved && owner != 0 && owner != now)
		return KU_MAKER_UNKNOWN;
	if (owner != now || clues->tried_in != now ||
		clues->known == node->czxid)
		return KU_MAKER_ANOTHER;
	/* If a transaction of ours made a node here whose czxid is not known,
	   this may be that one, or one that the creation made later. */
	return clues->known == 0 ? KU_MAKER_UNKNOWN : KU_MAKER_US;
}
