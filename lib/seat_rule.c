/* seat_rule.c - what a place in a line of one makes of the outcome of a try, of
   a look at the node, and of its own end. */

#include "seat_rule.h"

/* However often a place was beaten, it waits no longer than 1 << BEATEN_MAX
   ms. */
#define BEATEN_MAX 4

enum ku_seat_try ku_seat_try(enum kustos_err err)
{
	switch (err) {
	case KUSTOS_OK:
		return KU_SEAT_MADE;
	case KUSTOS_EEXISTS:
	case KUSTOS_EUNKNOWN:
		/* It is not known whose the node is: a ghost's, or a
		   program's. */
		return KU_SEAT_BEATEN;
	default:
		return KU_SEAT_REFUSED;
	}
}

enum ku_seat_sight ku_seat_sight(bool made, int64_t czxid,
	const struct kustos_stat *node)
{
	if (made)
		return node->czxid == czxid ? KU_SEAT_OWN : KU_SEAT_REPLACED;
	return node->ephemeral_owner != 0 ? KU_SEAT_TAKEN : KU_SEAT_NO_LOCK;
}

int ku_seat_beaten(int beaten)
{
	return beaten <= BEATEN_MAX ? beaten + 1 : beaten;
}

int64_t ku_seat_pause_ms(int beaten, bool seen, struct ku_random *random)
{
	if (seen || beaten <= 1)
		return 0;
	return 1 +
		(int64_t)ku_random_below(random, UINT64_C(1) << (beaten - 1));
}

enum ku_seat_end ku_seat_end(const struct ku_seat_leaver *leaver)
{
	if (!leaver->made)
		return leaver->trying ? KU_SEAT_UNWANTED : KU_SEAT_OVER;
	if (leaver->gone)
		return KU_SEAT_OVER;
	/* Unless it was seen on this connection, somebody may have deleted it
	   since, and another may have made it. */
	return leaver->seen ? KU_SEAT_DELETE : KU_SEAT_LOOK_FIRST;
}
