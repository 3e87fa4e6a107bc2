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
 * If another client deletes a node that nobody here watches, this goes
 * unnoticed.  So when little room is left footprint_look.c checks which nodes
 * still exist.
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
	size_t ephemeral_bytes;		   /* of known nodes */
	size_t asked_bytes;		   /* of nodes asked for */
	void *ephemerals;		   /* set of nodes by path (tsearch) */
	struct ku_ephemeral *first, *last; /* in the order of looks */
	unsigned round;			   /* of looks */
	struct ku_op *look;		   /* that is under way, or NULL */
	size_t looked_bytes;		   /* of what the last round found */
};

/* Count the bytes of the ephemeral nodes that "request" is to make: add them to
   f->asked_bytes, and store them in "*asked", for the caller to subtract again.
   If "request" makes a single node, its name will grow by "more" characters and
   a number.  Returns false, and counts nothing, if the nodes would not fit. */
bool ku_footprint_ask(struct ku_footprint *f,
	const struct ku_zk_request *request, size_t more, size_t *asked);

/* Return whether one session may have "count" nodes whose paths have "len"
   characters or more. */
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

/* footprint_look.c: as ku_footprint_ask(); and if there is little room or none,
   begin to check which nodes still exist.  Locked. */
bool ku_footprint_reserve(struct kustos_client *client,
	const struct ku_zk_request *request, size_t more, size_t *asked);

#endif
