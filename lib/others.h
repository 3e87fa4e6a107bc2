/*
 * others.h - whether another client has changed the children of a node since
 * they were listed.  The node's stat tells, and is smaller than a long listing.
 *
 * A server counts each child that comes or goes in the node's cversion.  So no
 * other client has changed them if the cversion has grown by just as many
 * changes as we have made.
 *
 * Everything here is called, and calls back, with the client locked.
 */
#ifndef KU_OTHERS_H
#define KU_OTHERS_H

#include "wire.h"

#include <stdbool.h>

/* From so many names on, ask before they are listed again. */
#define KU_OTHERS_FROM 32

struct kustos_stat;
struct ku_others;

/* The question was answered; or, if not "answered", the connection was lost. */
typedef void ku_others_fn(struct ku_others *others, bool answered);

struct ku_others { /* a field of whoever lists the children */
	/* Constant. */
	struct kustos_client *client;
	const char *path; /* full */
	ku_others_fn *told;
	void *owner; /* for "told" to use */

	int64_t czxid;	  /* of the node, as it was listed */
	uint32_t changes; /* its cversion then, plus our changes since */
	bool none; /* the answer: no other changes; the owner resets it */
	struct ku_request question;
};

/* The children are listed now, and this is the node's stat; NULL: no node. */
void ku_others_listed(struct ku_others *others, const struct kustos_stat *stat);

/* We have made or deleted "count" children since they were listed. */
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

/* Take back a question that was not sent.  Returns false if there is none, or
   if "told" is still to be called. */
bool ku_others_end(struct ku_others *others);

#endif
