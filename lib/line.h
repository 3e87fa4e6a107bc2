/*
 * line.h - places in lines of sequence nodes: what mutexes, read/write locks,
 * semaphores and elections have in common.
 *
 * A line is a node; who lines up makes a child of it that carries a number and
 * goes with the session.  A place is one such child of ours, from the wish to
 * have one until the server has confirmed that it is gone.  line_impl.h has
 * its states.
 *
 * Everything here is called, and calls back, with the client locked.  The
 * functions of struct ku_place_events may call anything of this file.
 */
#ifndef KU_LINE_H
#define KU_LINE_H

#include "rank.h"

#include <kustos/base.h>

struct kustos_client;
struct ku_line;
struct ku_place;

/* A ring of places, with one that is none as its head. */
struct ku_ring {
	struct ku_ring *prev, *next;
};

/* All lines and places of a client. */
struct ku_lines {
	void *tree;	     /* of struct ku_line, by path (tsearch) */
	struct ku_ring here; /* places that take part */
	struct ku_ring away; /* and those that leave, the oldest first */
	uint64_t left;	     /* how many ever left */
};

struct ku_place_events {
	/* It has a node, before which others stand.  Once for each node.  May
	   be NULL. */
	void (*queued)(struct ku_place *place);

	/* Nobody stands before it. */
	void (*granted)(struct ku_place *place);

	/* It ends without having been granted; nothing of it stays. */
	void (*failed)(struct ku_place *place, enum kustos_err err);

	/* It was granted and may be another's by now. */
	void (*lost)(struct ku_place *place);

	/* It is granted, and somebody asks for it.  NULL if its kind is not
	   revocable. */
	void (*revoked)(struct ku_place *place);

	/* It is granted, and the connection is away.  May be NULL. */
	void (*unsure)(struct ku_place *place);

	/* It looks, and KU_COMPANY_UNKNOWN is its company: find out, if that is not
	   under way.  NULL if it never is. */
	void (*wonders)(struct ku_place *place);
};

/* How many may hold beside a place of this kind is to be told: none is granted before
   that, and ku_line_look(). */
#define KU_COMPANY_UNKNOWN (-2)

/* What all places of one kind have in common.  Lives as long as they do. */
struct ku_place_kind {
	const struct ku_place_events *events;
	const char *leaf; /* what the name has before its number, "lock-" */
	bool shares;	  /* waits for the exclusive ones only */
	int company;	  /* where the rule counts all: so many may hold beside
			     it; it may change */
	bool bare;	  /* begins with kazoo's bare UUID, under a plain
			     parent, instead of Curator's */
	bool revocable;
	bool jealous; /* is lost, or starts over if it waits, when somebody else
			 writes into its node */
};

/* Find or make the line at "path", which is the caller's, without prefix, and
   of which "rule" says who stands there: a constant one, but with extra marks,
   which is copied.  To be given back with ku_line_put().  Returns KUSTOS_OK,
   KUSTOS_EINVAL or KUSTOS_ENOMEM. */
enum kustos_err ku_line_get(struct kustos_client *client, const char *path,
	const struct ku_rule *rule, struct ku_line **out);
void ku_line_put(struct ku_line *line);

/* Return whether the node at "path", as the caller knows paths, is that of a place
   of ours: of one that leaves as well, of one whose node may have been made, but
   that is not known yet, and of one in another line at the same path, as marks may
   differ. */
bool ku_lines_have(const struct kustos_client *client, const char *path);

/* Return its path as the caller knows paths. */
const char *ku_line_path(const struct ku_line *line);

/* Return whether it was last seen with contenders that are blind to ours. */
bool ku_line_mixed(const struct ku_line *line);

/* Something has changed that decides who is granted: let those who wait look
   again. */
void ku_line_look(struct ku_line *line);

/* Several places are taken: leave the listing to the last of them. */
void ku_line_gather(struct ku_line *line, bool more);

/* Take a place at the tail of "line", with a node that stores "data".  With
   "once" it fails with KUSTOS_EBUSY unless it is granted at first sight; else
   it waits until it is granted or given up.  No event comes before this has
   returned.  Returns KUSTOS_OK or why it could not be started. */
enum kustos_err ku_place_take(struct ku_line *line,
	const struct ku_place_kind *kind, const void *data, size_t len,
	bool once, void *owner, struct ku_place **out);

/* Take the place of a former process that had this session: its node is there.
   "path" is that of the node, as the caller knows paths.  Returns as
   ku_place_take(); KUSTOS_EBUSY if it is not this session's, or is that of a
   place of ours. */
enum kustos_err ku_place_adopt(struct ku_line *line,
	const struct ku_place_kind *kind, const void *data, size_t len,
	const char *path, const struct kustos_stat *stat, void *owner,
	struct ku_place **out);

/* Take a place beside "writer", which is granted: a new node with the same
   number.  It is granted as soon as it is there, if "writer" is still granted
   then, and fails with KUSTOS_ELOST if not.  "once": and does not wait for a
   connection.  Returns as ku_place_take(). */
enum kustos_err ku_place_beside(struct ku_place *writer,
	const struct ku_place_kind *kind, const void *data, size_t len,
	bool once, void *owner, struct ku_place **out);

/* Give it up, in whatever state it is, also after it has failed or was lost.
   Its node goes, whatever happens to the connection; nothing is waited for, and
   nothing is called any more.  "place" must not be used after this. */
void ku_place_leave(struct ku_place *place);

/* What somebody waits for who has left: that the node is gone, or stays. */
struct ku_parting {
	struct ku_place *of; /* NULL: not to be waited for any more */
	enum kustos_err err; /* why its node stays, for as long as the session */
};

/* Have "parting" learn of the end of "place", which is about to leave, and has not
   yet; and see to it no more, in time before it is gone. */
void ku_place_part(struct ku_place *place, struct ku_parting *parting);
void ku_parting_end(struct ku_parting *parting);

void *ku_place_owner(const struct ku_place *place);

/* Has it, since its node was made, not been granted at first sight? */
bool ku_place_waited(const struct ku_place *place);

/* Of the places that have left and whose nodes may still be there, return how
   many had left before the first, or UINT64_MAX if there are none. */
uint64_t ku_lines_oldest_leaving(const struct ku_lines *lines);

/* Of a place that was granted: its node's path as the caller knows paths, and
   token: its czxid, or that of the writer beside which it stands. */
const char *ku_place_path(const struct ku_place *place);
int64_t ku_place_token(const struct ku_place *place);

/* The write has ended: with KUSTOS_ELOST if the node is gone, or another's.  The
   place is still there. */
typedef void ku_place_written_fn(void *owner, enum kustos_err err);

/* Write "data" into the node of a place that is granted, after what is being
   written.  "done" is called, perhaps from in here, unless the place is left
   first; and not any more after ku_place_unheed(). */
enum kustos_err ku_place_write(struct ku_place *place, const void *data,
	size_t len, ku_place_written_fn *done, void *owner);
void ku_place_unheed(struct ku_place *place, const void *owner);

/*
 * What the client tells all lines: line_session.c.
 */
void ku_lines_init(struct kustos_client *client);
void ku_lines_connected(struct kustos_client *client);
void ku_lines_suspended(struct kustos_client *client);
void ku_lines_lost(struct kustos_client *client);
void ku_lines_session_over(struct kustos_client *client);
void ku_lines_close(struct kustos_client *client);
void ku_lines_free(struct kustos_client *client);

#endif
