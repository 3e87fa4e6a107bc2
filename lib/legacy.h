/*
 * legacy.h - which of the nodes that a former process has left a candidate goes
 * on with, and which it deletes; pure.  What it takes is a survey whose reads
 * have ended.
 */
#ifndef KU_LEGACY_H
#define KU_LEGACY_H

#include "survey.h"

/* The candidate. */
struct ku_successor {
	int64_t session_id; /* which it has resumed */
	const char *data;   /* of its node */
	size_t len;
};

/* Was memory too short for one of the reads?  A node that we may not read is
   not ours. */
bool ku_legacy_patchy(const struct ku_survey *survey);

/* Is it a node of this session, which the former process may have left? */
bool ku_legacy_left(const struct ku_successor *successor,
	const struct ku_sighting *one);

/* Return the node to go on with, or NULL: one with our data, and of those the
   newest; else any. */
const struct ku_sighting *ku_legacy_choose(const struct ku_successor *successor,
	const struct ku_survey *survey);

/* Is "one" to be deleted, if "chosen" was chosen?  The former process had no
   more use for the others with our data. */
bool ku_legacy_spare(const struct ku_successor *successor,
	const struct ku_sighting *one, const struct ku_sighting *chosen);

#endif
