/*
 * others.h - whether anybody else has changed the children of a node since they were
 * listed: which its stat tells, and that is smaller than a long listing.
 *
 * A server counts each child that comes or goes in the node's cversion.  So nobody
 * else has if that has grown by what we have done, and no more.
 *
 * Everything here is called, and calls back, with the client locked.
 */
#ifndef KU_OTHERS_H
#define KU_OTHERS_H

#include "wire.h"

#include <stdbool.h>

/* So many names are not listed again if a question can save it. */
#define KU_OTHERS_FROM 32

struct kustos_stat;
struct ku_others;

/* It is known, or, not "answered", the connection was lost. */
typedef void ku_others_fn(struct ku_others *others, bool answered);

struct ku_others { /* a field of whoever lists the children */
	/* Constant. */
	struct kustos_client *client;
	const char *path; /* full */
	ku_others_fn *told;
	void *owner; /* for "told" to use */

	int64_t czxid;	  /* of the node, as it was listed */
	uint32_t changes; /* its cversion then, and what we have done since */
	bool none; /* there are none, as was just said; the owner forgets it */
	struct ku_request question;
};

/* So the node is now that its children are listed; NULL: it is not there. */
void ku_others_listed(struct ku_others *others, const struct kustos_stat *stat);

/* So many children were made or deleted by us since they were listed. */
static inline void ku_others_ours(struct ku_others *others, uint32_t count)
{
	others->changes += count;
}

/* Ask.  "told" is called once, and not from in here. */
void ku_others_ask(struct ku_others *others);

/* Is that under way? */
static inline bool ku_others_asked(const struct ku_others *others)
{
	return ku_request_busy(&others->question);
}

/* Take back a question that was not sent.  Returns false if there is none, or "told"
   is still called. */
bool ku_others_end(struct ku_others *others);

#endif
