/*
 * maker.h - who made a node that a creation of ours has found there, after a
 * try whose answer was lost; pure.
 */
#ifndef KU_MAKER_H
#define KU_MAKER_H

#include <kustos/node.h>
#include <stdbool.h>

struct ku_maker_clues {
	int64_t tried_in; /* the session of the last such try */
	bool moved;	  /* there were such tries in several sessions */
	int64_t now;	  /* our session, in which the node was seen */
	int64_t known;	  /* ku_footprint_czxid() of its path */
};

enum ku_maker {
	KU_MAKER_US,
	KU_MAKER_ANOTHER, /* perhaps another creation of this client's */
	KU_MAKER_GHOST,	  /* it is of the session in which we tried: it goes */
	KU_MAKER_UNKNOWN
};

enum ku_maker ku_maker_of(const struct kustos_stat *node,
	const struct ku_maker_clues *clues);

#endif
