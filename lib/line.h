/*
 * line.h - places in lines of sequence nodes: what mutexes, read/write locks,
 * semaphores and elections have in common.
 *
 * A line is a node.  Each contender makes a child of it, whose name carries a
 * number and which goes with the session.  A place is one such child of ours,
 * from the wish to have one until the server has confirmed that it is gone.
 * line_impl.h describes its states.
 *
 * Everything here is called, and calls back, with the client locked.  The
 * functions of struct ku_place_events may call anything in this file.
 */
#ifndef KU_LINE_H
#define KU_LINE_H

#include "rank.h"

#include <kustos/base.h>

struct kustos_client;
struct ku_line;
struct ku_place;

/* A ring of places; its head is not part of a place. */
struct ku_ring {
	struct ku_ring *prev, *next;
};

/* All lines and places of a client. */
struct ku_lines {
	void *tree;	     /* of struct ku_line, by path (tsearch) */
	struct ku_ring here; /* places that take part */
	struct ku_ring away; /* those that leave, the oldest first */
	uint64_t left;	     /* how many have ever left */
};

struct ku_place_events {
	/* It has a node, and others stand before that.  Called once for each
	   node.  May be NULL. */
	void (*queued)(struct ku_place *place);

	/* Nobody that it has to wait for stands before it. */
	void (*granted)(struct ku_place *place);

	/* It ends without having been granted, and leaves nothing behind. */
	void (*failed)(struct ku_place *place, enum kustos_err err);

	/* It was granted, and another may hold the lock by now. */
	void (*lost)(struct ku_place *place);

	/* It is granted, and somebody asks for its release.  NULL if its kind
	   is not revocable. */
	void (*revoked)(struct ku_place *place);

	/* It is granted, and the connection is lost.  May be NULL. */
	void (*unsure)(struct ku_place *place);

	/* It looks at the line, and its company is KU_COMPANY_UNKNOWN: find the
	   company out, unless that is under way.  NULL if the company is never
	   unknown. */
	void (*wonders)(struct ku_place *place);
};

/* It is not known yet how many may hold beside a place of this kind.  None is
   granted before that is known, and ku_line_look() was called. */
#define KU_COMPANY_UNKNOWN (-2)

/* What all places of one kind have in common.  It lives as long as they do. */
struct ku_place_kind {
	const struct ku_place_events *events;
	const char *leaf; /* what the name has before its number, "lock-" */
	bool shares;	  /* waits for exclusive ones only */
	int company;	  /* where the rule counts all children: how many may
			     hold beside it; may change */
	bool bare;	  /* the name begins with kazoo's bare UUID instead of
			     Curator's; missing parents become plain nodes */
	bool revocable;
	bool jealous; /* when somebody else writes into its node, it is lost, or
			 starts over if it waits; but a request to release it is
			 told */
};

/* Find or make the line at "path", which is as the caller knows paths, without
   the prefix.  "rule" says who stands in the line.  A rule is constant, except
   that one with extra marks is copied.  Give the line back with ku_line_put().
   Returns KUSTOS_OK, KUSTOS_EINVAL or KUSTOS_ENOMEM. */
enum kustos_err ku_line_get(struct kustos_client *client, const char *path,
	const struct ku_rule *rule, struct ku_line **out);
void ku_line_put(struct ku_line *line);

/* Return whether the node at "path", as the caller knows paths, is that of a
   place of ours.  This includes places that leave, places whose node may have
   been made but is not known yet, and places in other lines at the same path,
   as marks may differ. */
bool ku_lines_have(const struct kustos_client *client, const char *path);

/* Return its path as the caller knows paths. */
const char *ku_line_path(const struct ku_line *line);

/* Return how many places of ours there are that have not been left, granted
   ones among them. */
int ku_line_places(const struct ku_line *line);

/* Return whether, when last seen, it had contenders that do not see our
   nodes. */
bool ku_line_mixed(const struct ku_line *line);

/* Something has changed that decides who is granted: have the waiting places
   look again. */
void ku_line_look(struct ku_line *line);

/* Several places are being taken.  As long as "more" are to come, leave the
   listing to the last one. */
void ku_line_gather(struct ku_line *line, bool more);

/* Take a place at the tail of "line", with a node that stores "data".  With
   "once" it fails with KUSTOS_EBUSY unless it is granted at first sight;
   otherwise it waits until it is granted or given up.  No event comes before
   this function has returned.  Returns KUSTOS_OK, or why it could not be
   started. */
enum kustos_err ku_place_take(struct ku_line *line,
	const struct ku_place_kind *kind, const void *data, size_t len,
	bool once, void *owner, struct ku_place **out);

/* Take the place of a former process that had this session, with the node that
   it has left at "path", as the caller knows paths.  Returns as
   ku_place_take(); KUSTOS_EBUSY if the node is not of this session, or is that
   of a place of ours. */
enum kustos_err ku_place_adopt(struct ku_line *line,
	const struct ku_place_kind *kind, const void *data, size_t len,
	const char *path, const struct kustos_stat *stat, void *owner,
	struct ku_place **out);

/* Take a place beside "writer", which is granted: a new node with the same
   number.  The place is granted as soon as its node is there, if "writer" is
   still granted then, and fails with KUSTOS_ELOST if not.  With "once" it does
   not wait for a connection either.  Returns as ku_place_take(). */
enum kustos_err ku_place_beside(struct ku_place *writer,
	const struct ku_place_kind *kind, const void *data, size_t len,
	bool once, void *owner, struct ku_place **out);

/* Give it up, in whatever state it is, also after it has failed or was lost.
   Its node is deleted, whatever happens to the connection.  This function waits
   for nothing, and no event is called any more.  "place" must not be used after
   this. */
void ku_place_leave(struct ku_place *place);

/* How a caller that gives a place up learns that its node is gone, or stays. */
struct ku_parting {
	struct ku_place *of; /* NULL: do not wait any more */
	enum kustos_err err; /* KUSTOS_OK: the server has confirmed that the
				node is gone; KUSTOS_ELOST: it has not before
				the session was over; else why the node stays
				until the session ends */
};

/* Have "parting" learn of the end of "place", which is about to leave but has
   not yet left.  End that with ku_parting_end() before "parting" goes out of
   scope. */
void ku_place_part(struct ku_place *place, struct ku_parting *parting);
void ku_parting_end(struct ku_parting *parting);

void *ku_place_owner(const struct ku_place *place);

/* Since its node was made, has it not been granted at first sight? */
bool ku_place_waited(const struct ku_place *place);

/* Find the first place that left, of those whose nodes may still be there, and
   return how many places had left before it.  UINT64_MAX if there is no such
   place. */
uint64_t ku_lines_oldest_leaving(const struct ku_lines *lines);

/* Of a place that was granted: the path of its node as the caller knows paths,
   and its token, which is the czxid of its node, or of the node of the writer
   beside which it stands. */
const char *ku_place_path(const struct ku_place *place);
int64_t ku_place_token(const struct ku_place *place);

/* The write has ended, with KUSTOS_ELOST if the node is gone or is another's.
   The place still exists. */
typedef void ku_place_written_fn(void *owner, enum kustos_err err);

/* Write "data" into the node of a granted place, after the writes that are
   under way.  "done" is called when the write has ended, perhaps before this
   function returns, unless the place is left first.  It is not called after
   ku_place_unheed(). */
enum kustos_err ku_place_write(struct ku_place *place, const void *data,
	size_t len, ku_place_written_fn *done, void *owner);
void ku_place_unheed(struct ku_place *place, const void *owner);

/*
 * What the client reports to all lines: line_session.c.
 */
void ku_lines_init(struct kustos_client *client);
void ku_lines_connected(struct kustos_client *client);
void ku_lines_suspended(struct kustos_client *client);
void ku_lines_lost(struct kustos_client *client);
void ku_lines_session_over(struct kustos_client *client);
void ku_lines_close(struct kustos_client *client);
void ku_lines_free(struct kustos_client *client);

#endif
