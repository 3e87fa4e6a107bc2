/*
 * kustos/election.h - one leader at a time, among all processes that use the
 * same path: ours, and Curator's LeaderLatch.
 * Link with -lkustos-election (pkg-config kustos-election).
 *
 *	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
 *	o.id = "host-7";
 *	o.on_gained = begin_work;
 *	o.on_lost = stop_work;
 *	kustos_latch_create(client, "/elections/scheduler", &o, &latch);
 *	kustos_latch_start(latch);
 *
 * A latch that was started takes part until it is closed: it stands in the line
 * of candidates, leads when it is first, and stands in line again, at the tail,
 * when it has lost its leadership or its place.  Disconnects, the end of a
 * session and a path that was deleted do not end it.
 *
 * Whether it leads is told by a clock (<kustos/hold.h>): it stops leading
 * before another can begin, even if no server can be reached.
 *
 * Threads: every call is safe from any thread and any callback.
 */
#ifndef KUSTOS_ELECTION_H
#define KUSTOS_ELECTION_H

#include <kustos/base.h>
#include <kustos/hold.h>

KUSTOS_BEGIN

struct kustos_latch; /* opaque; lives from _create() to _destroy() */
struct kustos_client;
struct kustos_cancel;

enum kustos_latch_state {
	KUSTOS_LATCH_IDLE = 0,	  /* not started */
	KUSTOS_LATCH_WAITING = 1, /* stands in line, or tries to */
	KUSTOS_LATCH_LEADS = 2,
	KUSTOS_LATCH_UNSURE = 3, /* leads, but the connection is away */
	KUSTOS_LATCH_FAILED = 4, /* refused for good: kustos_latch_error() */
	KUSTOS_LATCH_CLOSED = 5
};

/* Return "IDLE" and so on; never NULL, never freed. */
KUSTOS_API const char *kustos_latch_state_name(enum kustos_latch_state state);

/* Leadership was gained, or lost.  Called in turns, never both at once: each
   loss follows its gain, and is told within a moment of it, also while the
   callback for a gain still runs elsewhere; then it follows as soon as that
   returns.  "hold" is that of the term: for its token, which grows from leader
   to leader, the time left, and transactions that only the leader can do
   (kustos_hold_multi).  It is the latch's: not to be released, and gone when
   the callback for its loss has returned. */
typedef void kustos_latch_fn(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold);

/* Set by KUSTOS_LATCH_OPTIONS_INIT, then changed at will.  All strings are
   copied. */
struct kustos_latch_options {
	size_t size; /* of this struct, as the program knows it */

	/* Who we are, for others to read: the data of the node.  NULL: "". */
	const char *id;

	kustos_latch_fn *on_gained, *on_lost; /* each may be NULL */
	void *arg;

	/* Not 0: give leadership up as soon as the connection is away, instead
	   of keeping it for as long as nobody else can have it. */
	int cautious;
};

#define KUSTOS_LATCH_OPTIONS_INIT                                  \
	{                                                          \
		sizeof(struct kustos_latch_options), 0, 0, 0, 0, 0 \
	}

/* Make a latch on "path", which is made when it is first needed.  "options"
   NULL takes the defaults.  Sends nothing.  Returns KUSTOS_OK, KUSTOS_EINVAL,
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_create(
	struct kustos_client *client, const char *path,
	const struct kustos_latch_options *options, struct kustos_latch **out);

/* Close "latch" without a word, and free it, before its client is closed.  NULL
   is allowed.  A callback on another thread is waited for. */
KUSTOS_API void kustos_latch_destroy(struct kustos_latch *latch);

/* Take part from now on.  Returns KUSTOS_OK, also if it does; KUSTOS_ECLOSED if
   it was closed. */
KUSTOS_API enum kustos_err kustos_latch_start(struct kustos_latch *latch);

/* Take part no more, for good.  Who leads and wishes to "notify" has its
   callback for the loss called before others can lead; a callback on another
   thread is waited for.  Harmless if it is closed. */
KUSTOS_API void kustos_latch_close(struct kustos_latch *latch, int notify);

/* Return 1 if it certainly leads at this instant. */
KUSTOS_API int kustos_latch_leads(struct kustos_latch *latch);

KUSTOS_API enum kustos_latch_state kustos_latch_state(
	struct kustos_latch *latch);

/* Return why it failed, or what its last try to take part met: KUSTOS_OK if
   nothing. */
KUSTOS_API enum kustos_err kustos_latch_error(struct kustos_latch *latch);

/* Wait until it leads.  KUSTOS_NOW: does it?  Returns KUSTOS_OK;
   KUSTOS_EBUSY if "deadline" is KUSTOS_NOW and it does not; KUSTOS_ETIMEDOUT;
   KUSTOS_ECANCELED; KUSTOS_ECLOSED; or why it failed. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_wait(
	struct kustos_latch *latch, kustos_deadline deadline,
	struct kustos_cancel *cancel);

KUSTOS_END
#endif
