/*
 * footprint.h - what one session makes a server keep, and the two sums that
 * must fit one frame.
 *
 * A reconnect sends the paths of all watches in one request, and the end of a
 * session deletes all its ephemeral nodes in one transaction.  Either, grown
 * past the server's frame limit, can never succeed: the client would reconnect
 * for ever, or the session would never end.  So both are counted and refused
 * before that.
 *
 * A node that somebody else deletes, and that nobody watches, goes unnoticed.  So
 * when there is little room left it is looked which of them are still there.
 */
#ifndef KU_FOOTPRINT_H
#define KU_FOOTPRINT_H

#include "zk.h"

#define KU_FOOTPRINT_LIMIT 700000 /* bytes, of the frame's 1048575 */

struct kustos_client;
struct ku_ephemeral;
struct ku_op;

struct ku_footprint {
	size_t watch_bytes;
	size_t ephemeral_bytes;		   /* of the nodes known */
	size_t asked_bytes;		   /* of those asked for */
	void *ephemerals;		   /* set of nodes by path (tsearch) */
	struct ku_ephemeral *first, *last; /* those to be looked at before */
	unsigned round;			   /* of looks */
	struct ku_op *look;		   /* that is under way, or NULL */
	size_t looked_bytes;		   /* of those that a round has left */
};

/* Count the ephemeral nodes that "request" is to make as asked for, until
   "*asked" is taken from f->asked_bytes again.  The name of one that is made alone
   will be longer by "more", and by its number.  Returns false, and counts nothing,
   if they would not fit. */
bool ku_footprint_ask(struct ku_footprint *f,
	const struct ku_zk_request *request, size_t more, size_t *asked);

/* Return whether one session may have "count" nodes, of which none is called by less
   than "len" characters. */
bool ku_footprint_allows(int count, size_t len);

/* "request" was answered: count what it made or deleted. */
void ku_footprint_answered(struct ku_footprint *f,
	const struct ku_zk_request *request, const struct ku_zk_reply *reply);

/* Return the czxid with which "path" was last known to be an ephemeral node of
   this session; 0 if it was known, but not its czxid; -1 if it was not. */
int64_t ku_footprint_czxid(const struct ku_footprint *f, const char *path);

/* Add a node found to be ours after all. */
void ku_footprint_add(struct ku_footprint *f, const char *path, int64_t czxid);

/* Return the next path to be looked at in this round; NULL: there is none. */
const char *ku_footprint_next(struct ku_footprint *f);

/* The node is gone. */
void ku_footprint_remove(struct ku_footprint *f, const char *path);

/* The session is over. */
void ku_footprint_clear(struct ku_footprint *f);

/* footprint_look.c: ku_footprint_ask(), and if there is little room or none, look
   which nodes are still there.  Locked. */
bool ku_footprint_reserve(struct kustos_client *client,
	const struct ku_zk_request *request, size_t more, size_t *asked);

#endif
