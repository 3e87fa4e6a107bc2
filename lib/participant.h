/*
 * participant.h - what is known of the participants of a line, for the files of
 * the core.
 */
#ifndef KU_PARTICIPANT_H
#define KU_PARTICIPANT_H

#include "rank.h"

#include <kustos/participant.h>

/* Return how old a node is, as far as our clock agrees with the server's. */
int64_t ku_participant_age_ms(const struct kustos_stat *stat);

/* Return the name of the first contender among "names", and its parts in
   "first"; or NULL if none of them is a contender's. */
const char *ku_participant_first(const char *const *names, int count,
	struct ku_contender *first);

#endif
