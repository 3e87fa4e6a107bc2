/*
 * kustos/participant.h - who holds a line, who waits in it, and what can be
 * done to it from outside.
 * Link with -lkustos (pkg-config kustos).
 *
 * A line is a node whose children stand in the order of the numbers that the
 * server gave them.  These calls need no mutex or other object; they read and
 * change the lines of every library whose names they know.  An ephemeral node,
 * which has no children, is a simple lock (<kustos/simple.h>): a line with one
 * participant, its holder; those who wait for it cannot be seen.
 *
 * Threads: every call is safe from any thread.  Those that take a deadline have
 * no form with a callback: an event loop calls them from a thread of its own,
 * or uses kustos_observe().
 */
#ifndef KUSTOS_PARTICIPANT_H
#define KUSTOS_PARTICIPANT_H

#include <kustos/base.h>

KUSTOS_BEGIN

struct kustos_client;
struct kustos_cancel;

/* How we name nodes.  Processes see each other only if they can read each
   other's names.  A line in which some cannot is logged. */
enum kustos_dialect { KUSTOS_DIALECT_CURATOR = 0, KUSTOS_DIALECT_KAZOO = 1 };

/* Whose naming convention a node's name follows. */
enum kustos_style {
	KUSTOS_STYLE_CURATOR = 0, /* _c_<uuid>-lock-N (or __READ__N, __WRIT__N,
				     latch-N, lease-N); ours by default */
	KUSTOS_STYLE_LOCK = 1,	  /* any other name with one of these ends:
				     Go's, kazoo's with Curator's pattern */
	KUSTOS_STYLE_KAZOO = 2,	  /* <hex32>__lock__N, __rlock__N */
	KUSTOS_STYLE_SESSION = 3, /* x-<session>-N: ZooKeeper's own recipes */
	KUSTOS_STYLE_NODE = 4,	  /* the path itself: a simple lock */
	KUSTOS_STYLE_EXTRA = 5	  /* none of these, but it has an extra
				     mark */
};

/* Return "curator" and so on; never NULL, never freed. */
KUSTOS_API const char *kustos_style_name(enum kustos_style style);

/* What a participant waits for: a lock for all locks before it, a writer for
   readers and writers, a reader for writers, a candidate for candidates.  A
   semaphore's lease waits for none: callers that wait for room are in another
   line, except the first of them.  Kinds that are not named together do not see
   each other. */
enum kustos_kind {
	KUSTOS_KIND_LOCK = 0,
	KUSTOS_KIND_READ = 1,
	KUSTOS_KIND_WRITE = 2,
	KUSTOS_KIND_CANDIDATE = 3,
	KUSTOS_KIND_LEASE = 4
};

/* Return "lock" and so on; never NULL, never freed. */
KUSTOS_API const char *kustos_kind_name(enum kustos_kind kind);

/* One participant.  May grow at its end. */
struct kustos_participant {
	const char *path; /* of its node, as the client knows paths */
	int64_t number;	  /* its place in the order; 0 for a simple lock */
	enum kustos_style style;
	enum kustos_kind kind;
	int holds;	  /* 1: none for which it waits is before it */
	const void *data; /* followed by a zero byte; NULL: null data, or, if
			     stat.data_length is not 0, it may not be read */
	size_t len;
	struct kustos_stat stat; /* czxid, session (ephemeral_owner), ctime;
				    czxid 0: nothing of it may be read, and it
				    is not known whether it is still there */
	int64_t age_ms; /* since its creation, as far as this machine's clock
			   agrees with the server's; never negative */
};

/* The participants of a line.  May grow at its end. */
struct kustos_participants {
	size_t count;
	struct kustos_participant **list; /* in order, the holder first */
	size_t foreign; /* children with names of no known style */
	int mixed;	/* 1: some of them do not wait for others of them */
};

/* List the participants of the line at "path".  Free "*out" with
   kustos_participants_free().  Participants that leave during the call may be
   left out.  Returns KUSTOS_ENONODE if there is no such node, and as
   kustos_get(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_participants(
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_participants **out);

/* The same.  Nodes whose names have one of "extra_marks" before the number, as
   in <kustos/mutex.h>, are participants as well, of the kind lock.  NULL: only
   nodes of known styles.  Returns KUSTOS_EINVAL also if one of the marks is
   empty or contains a slash. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_participants_marked(
	struct kustos_client *client, const char *path, const char *extra_marks,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_participants **out);

/* Free "list".  NULL is allowed. */
KUSTOS_API void kustos_participants_free(struct kustos_participants *list);

/* Ask a participant to give up its place, in the manner of Curator: a request
   that it may ignore.  "path" is that of its node.  The participant is asked
   only once, even if an answer is lost.  Returns KUSTOS_ENONODE if it has left,
   and as kustos_set(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_participant_revoke(
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* Take a participant's place away by deleting its node.  If the participant is
   the holder, the next one is granted, and the former holder may not notice at
   once.  "shown" is one that the library has returned, not a copy of it.
   Nothing is deleted unless the node is still the one that "shown" describes:
   same czxid, same session.  (It is checked immediately before it is deleted.
   Another node may get its name in between if the name has no unique part: that
   of a simple lock, or of a peer's node in a line that is made anew just then.)
   Returns KUSTOS_ECHANGED if it is another node, KUSTOS_ENONODE if it is gone,
   and as kustos_delete(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_participant_break(
	struct kustos_client *client, const struct kustos_participant *shown,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* Delete the node of the line at "path" if it has no children, and is not
   itself a simple lock that somebody holds.  (That is checked immediately
   before; a lock that is taken in between is deleted.)  Returns KUSTOS_OK, also
   if it stays or is not there; and as kustos_exists() and kustos_delete(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_line_clean(
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel);

struct kustos_observer; /* opaque; lives from _observe() to its _destroy() */

/* Called with the first participant in a line, which leads or holds it.
   "first" is as in a list of participants, and valid only during the call; NULL
   if there is nobody.  stat.czxid is the term, stat.ephemeral_owner the
   session.  "err" is KUSTOS_OK, or the reason why the line cannot be seen, and
   then "first" is NULL: KUSTOS_ENOAUTH and the like, while the observer tries
   again; KUSTOS_EAUTH, for good. */
typedef void kustos_observe_fn(void *arg, enum kustos_err err,
	const struct kustos_participant *first);

/* Have "fn" called with the first participant in the line at "path", once that
   is known, and then whenever it is another, or its data has changed.  An
   observer takes no part in the line, and the node at "path" need not be there.
   Changes that follow each other quickly may be reported as one, but the final
   state is always reported, whatever happens to the connection and the session.
   The last report may be old while the client is not CONNECTED.  An observer
   knows no extra marks: participants that only those name are not seen.
   Returns KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_observe(
	struct kustos_client *client, const char *path, kustos_observe_fn *fn,
	void *arg, struct kustos_observer **out);

/* Stop and free "observer".  Call this before its client is closed.  NULL is
   allowed.  On return "fn" is not running and will not run again, unless it is
   itself the caller. */
KUSTOS_API void kustos_observer_destroy(struct kustos_observer *observer);

KUSTOS_END
#endif
