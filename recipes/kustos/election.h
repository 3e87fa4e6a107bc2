/*
 * kustos/election.h - one leader at a time, among all processes that use the
 * same path.  Two kinds, which do not see each other: the latch, which is also
 * Curator's LeaderLatch, and the selector, which is also its LeaderSelector.
 * Link with -lkustos-election (pkg-config kustos-election).
 *
 *	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
 *	o.id = "host-7";
 *	o.on_gained = begin_work;
 *	o.on_lost = stop_work;
 *	if (kustos_latch_create(client, "/elections/scheduler", &o, &latch) ||
 *		kustos_latch_start(latch))
 *		return 1;
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
#include <kustos/participant.h>

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
   the callback for its loss has returned; its own callbacks that have not begun
   by then are left out. */
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

	/* Not 0: no line.  "path" itself is the node, whoever makes it leads,
	   and the others watch it: the form that many programs have of their
	   own.  One node instead of one for each, and one request less to
	   lead; but no order, all are woken by each change
	   (<kustos/simple.h>), and nobody can be handed over to.  It does not
	   see Curator's latches on the same path. */
	int one_node;

	/* Not 0: if the client has resumed the session of a process before us
	   (struct kustos_client_options), take its node in this line over, best
	   the one with the same id: who led leads on, in the same term, and
	   nobody else in between; who waited keeps its turn.  An older one of
	   its nodes with that id, which it had no more use for, goes: so latches of one
	   line need ids of their own.  Else, and if there is none, as without.
	   It says its id again, if the other had said something else.  Not
	   looked at with "one_node".  A node that nobody takes over stays for as long
	   as the session lives, which is as long as we do, and nobody behind it
	   leads until then.  So bring back each latch that the other process
	   had in this line, with its id, and close none before it leads:
	   whether it has found its node is not told.  Who gives up before that
	   closes the client, too: the nodes go with the session.  And who does
	   not want all of them does not resume the session, which ends by its
	   timeout.
	   The other process must have ended.  Should it live, it loses the node
	   as soon as it is in touch with a server again, or its lease ends,
	   whichever comes first; then so do we, and both stand in line anew.
	   Until then both may think that they lead, in one term. */
	int resume;
};

#define KUSTOS_LATCH_OPTIONS_INIT                                        \
	{                                                                \
		sizeof(struct kustos_latch_options), 0, 0, 0, 0, 0, 0, 0 \
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

/* Return its term: the token of the hold with which it leads, which grows from
   leader to leader; 0 if it does not lead at this instant.  The terms of
   Curator's leaders are the czxids of their nodes as well, though they do not
   ask for them. */
KUSTOS_API int64_t kustos_latch_term(struct kustos_latch *latch);

/* The end of a call that was asked to use a callback.  Called once, on the
   threads that callbacks have, also if the latch was destroyed meanwhile. */
typedef void kustos_latch_done_fn(void *arg, enum kustos_err err);

/* Say something else, while it leads: others who look at it, and observers
   (kustos_observe), see "data" instead of its id.  So do its later terms.
   Nobody's data is written over but its own leader's.  The first form waits; of
   the second "done" is called if it returns KUSTOS_OK.  KUSTOS_NOW: only if it
   is connected, and for as long as it is.  Returns KUSTOS_OK; KUSTOS_ENOTHELD if
   it does not lead; KUSTOS_ELOST if it was lost before that could be known to be
   done; KUSTOS_ETOOBIG; KUSTOS_EDISCONNECTED; KUSTOS_EDEADLK as below, while it
   is handed over; KUSTOS_ETIMEDOUT, KUSTOS_ECANCELED or KUSTOS_ECLOSED, after
   which it may still be done; and as kustos_set(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_set_data(
	struct kustos_latch *latch, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_set_data_async(
	struct kustos_latch *latch, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_latch_done_fn *done, void *arg);

/* Hand over to the first of those who wait whose data is "id", or, if that is
   NULL, to whoever is next; and stand in line again, at the tail.  Nobody leads
   in between: those before it stand in line again as well, behind it; ours and
   Curator's do that by themselves.  While it is seen that the other waits it
   leads on; then its callback for the loss is called, and when that has
   returned the other leads.  Where callbacks run in kustos_client_dispatch(),
   another thread than one that waits here has to call that.
   Returns KUSTOS_OK: the other was the first when we left.  Before anything was
   done: KUSTOS_EABSENT if nobody of that name waits; KUSTOS_EUNSUPPORTED with
   "one_node"; KUSTOS_ENOAUTH if it may not delete its own node, which would stay
   in the way of all until its session ends, or if only those might have that name
   whose data it may not read, or who is next is one of them; KUSTOS_ETOOBIG if more stand
   between the two than one transaction can delete; KUSTOS_ENOTHELD if it does not
   lead; KUSTOS_EDEADLK in the callbacks of the latch and of its hold, where only
   the second form can be used.  KUSTOS_ELOST if leadership was lost meanwhile;
   KUSTOS_ECHANGED if the other has left, or taken another id, while it was handed
   over, so that it is whoever is first that leads; KUSTOS_EUNKNOWN if the answer was lost and
   nothing tells.
   KUSTOS_ETIMEDOUT (also if "deadline" is KUSTOS_NOW and the connection is away
   meanwhile), KUSTOS_ECANCELED, KUSTOS_ECLOSED, KUSTOS_ENOMEM and errors of the
   server: kustos_latch_leads() tells whether it had stopped, and then it
   is whoever is first that leads, once its own node is gone. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_hand_over(
	struct kustos_latch *latch, const char *id, kustos_deadline deadline,
	struct kustos_cancel *cancel);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_hand_over_async(
	struct kustos_latch *latch, const char *id, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_latch_done_fn *done, void *arg);

/*
 * The selector: a latch whose work is a function.  It leads while that runs, and
 * gives leadership up by returning.
 *
 *	static void lead(void *arg, struct kustos_selector *selector,
 *		struct kustos_hold *hold, struct kustos_cancel *cancel)
 *	{
 *		while (!kustos_cancel_fired(cancel))
 *			do_some_work();
 *	}
 *
 *	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
 *	o.lead = lead;
 *	o.requeues = 1;
 *	if (kustos_selector_create(client, "/elections/reports", &o, &selector) ||
 *		kustos_selector_start(selector))
 *		return 1;
 *
 *   IDLE --start--> WAITING --its turn--> LEADS <---> UNSURE
 *    ^                 ^                   |             |
 *    |                 |                   |             v
 *    +-----------------+-- lead returns ---+----------- LOST
 *
 * It shares its path with Curator's LeaderSelector and with all that is a mutex
 * there: ours, and kazoo's Election with Curator's names.  Latches on the same
 * path do not see it, nor it them.
 *
 * Nobody else may write into its node: whoever does asks it to go.
 *
 * When leadership is lost, "lead" is asked to return; until it has, the selector
 * does not stand in line again, so its terms never overlap.  "lead" runs on a
 * thread of Kustos' own, which nothing else waits for, also if the client
 * dispatches by a descriptor; there is none while nobody leads.
 */
struct kustos_selector; /* opaque; lives from _create() to _destroy() */

enum kustos_selector_state {
	KUSTOS_SELECTOR_IDLE = 0,    /* not started, or has led and is not
					queued again */
	KUSTOS_SELECTOR_WAITING = 1, /* stands in line, or tries to */
	KUSTOS_SELECTOR_LEADS = 2,
	KUSTOS_SELECTOR_UNSURE = 3, /* leads, but the connection is away */
	KUSTOS_SELECTOR_FAILED = 4, /* refused for good:
				       kustos_selector_error() */
	KUSTOS_SELECTOR_CLOSED = 5,
	KUSTOS_SELECTOR_LOST = 6 /* leads no more, but has not returned */
};

/* Return "IDLE" and so on; never NULL, never freed. */
KUSTOS_API const char *kustos_selector_state_name(
	enum kustos_selector_state state);

/* Lead, and return to give it up.  "cancel" fires when it is time to return:
   leadership was lost, or is being handed over, kustos_selector_interrupt()
   was called, or the selector is being closed; every call that waits takes it.
   "hold" is that of the term: for its token, which grows from leader to leader,
   the time left, its own callbacks, and transactions that only the leader can
   do.  Both are the selector's, and gone when this has returned, with callbacks
   that have not begun; "hold" is not to be released. */
typedef void kustos_selector_fn(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel);

/* Set by KUSTOS_SELECTOR_OPTIONS_INIT, then changed at will.  All strings are
   copied. */
struct kustos_selector_options {
	size_t size; /* of this struct, as the program knows it */

	/* Who we are, for others to read: the data of the node.  NULL or "":
	   the client's default data, or our address, as Curator has it. */
	const char *id;

	kustos_selector_fn *lead; /* needed */
	void *arg;

	/* Not 0: stand in line again each time that "lead" has returned. */
	int requeues;

	/* Not 0: leadership is lost as soon as the connection is away, instead
	   of being kept for as long as nobody else can have it. */
	int cautious;

	enum kustos_dialect dialect;

	/* Not 0: as in struct kustos_latch_options.  Who led has "lead" called
	   with the same term. */
	int resume;
};

#define KUSTOS_SELECTOR_OPTIONS_INIT                                   \
	{                                                              \
		sizeof(struct kustos_selector_options), 0, 0, 0, 0, 0, \
			KUSTOS_DIALECT_CURATOR, 0                      \
	}

/* Make a selector on "path", which is made when it is first needed.  Sends
   nothing.  Returns KUSTOS_OK, KUSTOS_EINVAL (also without "lead"),
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_selector_create(
	struct kustos_client *client, const char *path,
	const struct kustos_selector_options *options,
	struct kustos_selector **out);

/* Close "selector" and free it, before its client is closed.  NULL is allowed.
   In "lead" itself it is freed when that has returned. */
KUSTOS_API void kustos_selector_destroy(struct kustos_selector *selector);

/* Stand in line for the first time.  Returns KUSTOS_OK, also if it did so
   before, and KUSTOS_ECLOSED if it was closed. */
KUSTOS_API enum kustos_err kustos_selector_start(
	struct kustos_selector *selector);

/* Stand in line once more, after it has led; while "lead" runs, as soon as that
   has returned.  Returns KUSTOS_OK, also if it stands there; KUSTOS_EINVAL if
   it was not started; KUSTOS_ECLOSED if it was closed. */
KUSTOS_API enum kustos_err kustos_selector_requeue(
	struct kustos_selector *selector);

/* Ask "lead" to return, by its cancel object.  It leads until it does.  Returns
   KUSTOS_OK, also if it was lost and has not returned; or KUSTOS_ENOTHELD if
   "lead" does not run. */
KUSTOS_API enum kustos_err kustos_selector_interrupt(
	struct kustos_selector *selector);

/* Take part no more, for good: "lead" is asked to return, and waited for,
   before others can lead.  In "lead" itself nothing is waited for.  Harmless if
   it is closed. */
KUSTOS_API void kustos_selector_close(struct kustos_selector *selector);

/* Return 1 if it certainly leads at this instant; 0 once it was closed, also while
   "lead" has not returned, which still has what its hold says. */
KUSTOS_API int kustos_selector_leads(struct kustos_selector *selector);

KUSTOS_API enum kustos_selector_state kustos_selector_state(
	struct kustos_selector *selector);

/* Return why it failed, or what its last try to take part met: KUSTOS_OK if
   nothing. */
KUSTOS_API enum kustos_err kustos_selector_error(
	struct kustos_selector *selector);

/* As kustos_latch_term(). */
KUSTOS_API int64_t kustos_selector_term(struct kustos_selector *selector);

/* Return 1 if the line was last seen with participants that do not wait for
   ours (kazoo's stock names in Curator's dialect, and the other way round):
   then another may lead as well. */
KUSTOS_API int kustos_selector_mixed(struct kustos_selector *selector);

/* As kustos_latch_set_data(), also in "lead". */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_selector_set_data(
	struct kustos_selector *selector, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_selector_set_data_async(
	struct kustos_selector *selector, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_latch_done_fn *done, void *arg);

/* As kustos_latch_hand_over(), with this for the callback: "lead" is asked to
   return, and when it has the other leads.  In "lead" only the second form can be
   used, and then it is to return when it is asked to (KUSTOS_EDEADLK).  Mutexes of
   that path that wait between the two line up again as well.  Who hands over
   stands in line again if it is queued to. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_selector_hand_over(
	struct kustos_selector *selector, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_selector_hand_over_async(
	struct kustos_selector *selector, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_latch_done_fn *done, void *arg);

KUSTOS_END
#endif
