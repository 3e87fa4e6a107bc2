/*
 * heir.h - to whom a leader hands over, and which nodes are deleted for that;
 * pure.  What it takes is a survey whose reads have ended.
 */
#ifndef KU_HEIR_H
#define KU_HEIR_H

#include "survey.h"

/* Whom the leader was asked for. */
struct ku_heir_wish {
	const char *id; /* the data of its node; NULL: whoever is next */
	size_t len;
};

/* Return the index of the node at "path", or -1 if that is gone. */
int ku_heir_own(const struct ku_survey *survey, const char *path);

/* Return the index of the heir's node, behind "own", or -1.  A node that we may
   not read is no heir: a server that refuses the read refuses to check the
   node, too. */
int ku_heir_find(const struct ku_survey *survey, int own,
	const struct ku_heir_wish *wish);

/* Return why there is none: KUSTOS_ENOAUTH if it may be a node that we may not
   read, or KUSTOS_EABSENT. */
enum kustos_err ku_heir_missing(const struct ku_survey *survey, int own);

/* Fill in the parts of the transaction that deletes the nodes between "own" and
   "heir", and ours last, provided that the heir still has the id that was asked
   for.  Returns how many there are, at most heir - own + 1. */
size_t ku_heir_deletion(const struct ku_survey *survey, int own, int heir,
	const struct ku_heir_wish *wish, struct kustos_op *ops);

/* That transaction ended with "err": may another one do it, or may it have been
   done, so that the nodes must be looked at again? */
bool ku_heir_unsettled(enum kustos_err err);

/* Our node is gone.  Return whether the heir leads.  "unsure": the outcome of a
   transaction is not known; "certain": our session has been certain ever
   since. */
enum kustos_err ku_heir_outcome(const struct ku_survey *survey,
	const struct ku_heir_wish *wish, bool unsure, bool certain);

#endif
