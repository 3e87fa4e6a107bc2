/*
 * kustos/election.h - one leader at a time, among all processes that use the
 * same path.  There are two kinds, which do not see each other: the latch,
 * which works with Curator's LeaderLatch, and the selector, which works with
 * its LeaderSelector.
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
 * Once it is started, a latch takes part until it is closed.  It stands in the
 * line of candidates, leads when it is first, and goes to the tail of the line
 * when it has lost its leadership or its place.  Disconnects, the end of a
 * session and a deleted path do not end it.
 *
 * Whoever asks for leadership (kustos_participant_revoke()) has it given up:
 * "on_lost" is called, and others lead when that has returned.  But with
 * "one_node" nobody stands in line, so the same latch may lead again, and
 * usually does: to have others lead, close it, and make another one later.  No
 * other client may write anything else into the node: then leadership is lost
 * at once.
 *
 * A clock decides whether it leads (<kustos/hold.h>): it stops leading before
 * another can begin, even if no server can be reached.
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

/* Called when leadership was gained, or lost.  The two are called in turns,
   never both at once: each loss follows its gain.  A term that is over before
   its gain could be reported is not reported.  The callback for a loss runs
   within a moment of the loss; if the callback for the gain still runs
   elsewhere, it follows as soon as that returns.  "hold" is the hold of the
   term: use it for its token, which grows from leader to leader, for the time
   left, and for transactions that only the leader can do (kustos_hold_multi).
   It belongs to the latch: do not release it, and do not use it after the
   callback for its loss has returned (if there is none, the callback for its
   gain), or after the latch was closed; callbacks of the hold that have not
   begun by then are left out. */
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

	/* Not 0: no line.  "path" itself is the node; whoever makes it leads,
	   and the others watch it.  Many programs elect a leader in this form.
	   It takes one node instead of one for each candidate, and one request
	   less to lead.  But there is no order, each change wakes all
	   candidates (<kustos/simple.h>), and a leader cannot hand over.  Such
	   a latch does not see Curator's latches on the same path. */
	int one_node;

	/* Not 0: if the client has resumed the session of an earlier process
	   (struct kustos_client_options), take over that process's node in this
	   line, preferably the one with the same id.  A leader then leads on,
	   in the same term, and nobody else leads in between; a waiter keeps
	   its turn.  An older node of that session with the same id, which the
	   process had no more use for, is deleted: so latches of one line need
	   different ids.  If no session was resumed, or it has no such node,
	   the option has no effect.  The latch writes its id into the node
	   again, whatever the node says.  With "one_node" there is at most one
	   such node, that of a leader: "path" itself.

	   A node that nobody takes over stays for as long as the session lives,
	   that is, as long as this process lives, and nobody behind it leads
	   until then.  So recreate each latch that the other process had in
	   this line, with its id, and close none before it leads: the program
	   is not notified whether a latch has found its node.  To give up
	   before that, close the client, too: the nodes go with the session.
	   If you do not want all of the latches, do not resume the session; it
	   ends by its timeout.  With "one_node", a latch without this option
	   waits in the same way for a node that its own session keeps there;
	   if the answer to its creation is lost just then, it cannot tell that
	   node from its own, and leads by it.

	   The other process must have ended.  If it is still alive, it loses
	   the node as soon as it reaches a server again, or when its lease
	   ends, whichever comes first; then this latch loses it, too, and both
	   stand in line anew.  Until then both may think that they lead, in one
	   term. */
	int resume;

	int reserved; /* 0 */
};

#define KUSTOS_LATCH_OPTIONS_INIT                                           \
	{                                                                   \
		sizeof(struct kustos_latch_options), 0, 0, 0, 0, 0, 0, 0, 0 \
	}

/* Make a latch on "path".  The node is made when it is first needed.  "options"
   may be NULL for the defaults.  Sends nothing.  Returns KUSTOS_OK,
   KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_create(
	struct kustos_client *client, const char *path,
	const struct kustos_latch_options *options, struct kustos_latch **out);

/* Close "latch" without calling its callback for a loss, and free it.  Call
   this before its client is closed.  NULL is allowed.  Waits for a callback
   that runs on another thread. */
KUSTOS_API void kustos_latch_destroy(struct kustos_latch *latch);

/* Take part from now on.  Returns KUSTOS_OK, also if it takes part already;
   KUSTOS_ECLOSED if it was closed. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_start(
	struct kustos_latch *latch);

/* How a latch that leads is closed. */
enum kustos_close_mode {
	KUSTOS_CLOSE_SILENT = 0, /* without calling its callback for a loss */
	KUSTOS_CLOSE_NOTIFY = 1	 /* that is called before others can lead */
};

/* Take part no more, for good.  Waits for a callback that runs on another
   thread.  Does nothing if the latch is closed already. */
KUSTOS_API void kustos_latch_close(struct kustos_latch *latch,
	enum kustos_close_mode mode);

/* Return 1 if the latch certainly leads at this instant. */
KUSTOS_API int kustos_latch_leads(struct kustos_latch *latch);

KUSTOS_API enum kustos_latch_state kustos_latch_state(
	struct kustos_latch *latch);

/* Return why the latch failed, or the error that its last try to take part met;
   KUSTOS_OK if there was none. */
KUSTOS_API enum kustos_err kustos_latch_error(struct kustos_latch *latch);

/* Wait until the latch leads.  KUSTOS_NOW: only look.  Returns KUSTOS_OK;
   KUSTOS_EBUSY if "deadline" is KUSTOS_NOW and the latch does not lead;
   KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; KUSTOS_ECLOSED; or why the latch failed.
   */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_wait(
	struct kustos_latch *latch, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Return the term: the token of the hold with which the latch leads, which
   grows from leader to leader; 0 if the latch does not lead at this instant.
   The terms of Curator's leaders are the czxids of their nodes as well,
   although Curator does not ask for them. */
KUSTOS_API int64_t kustos_latch_term(struct kustos_latch *latch);

/* While the latch leads, store "data" instead of its id: others who look at it,
   and observers (kustos_observe), see "data".  So they do in its later terms.
   Only the leader's own node is written to.  The first form waits; the second
   calls "done" if it returns KUSTOS_OK.  KUSTOS_NOW: only if there is a
   connection, and for as long as there is.  Returns KUSTOS_OK; KUSTOS_ENOTHELD
   if the latch does not lead; KUSTOS_ELOST if leadership was lost before the
   change was known to be done; KUSTOS_ETOOBIG; KUSTOS_EDISCONNECTED;
   KUSTOS_EDEADLK as below, while leadership is handed over; KUSTOS_ETIMEDOUT,
   KUSTOS_ECANCELED or KUSTOS_ECLOSED, after which the change may still be made;
   and as kustos_set(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_set_data(
	struct kustos_latch *latch, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_set_data_async(
	struct kustos_latch *latch, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);

/* Hand over to the first waiting candidate whose data is "id", or, if "id" is
   NULL, to the next one; then stand in line again, at the tail.  Nobody leads
   in between.  Candidates between the two lose their places and stand in line
   again behind the new leader; our latches and Curator's do that by themselves.
   The latch leads on until the other one was seen to wait.  Then its callback
   for the loss is called, and when that has returned the other leads.  Where
   callbacks run in kustos_client_dispatch(), another thread than the one that
   waits here must call that.

   Returns KUSTOS_OK: the other was the first when we left.  Before anything was
   done: KUSTOS_EABSENT if no candidate waits, or none with that id;
   KUSTOS_EUNSUPPORTED with "one_node"; KUSTOS_ENOAUTH if the latch may not
   delete its own node, which would stay in the way of all until its session
   ends, or if it may not read the data of the next candidate ("id" NULL), or of
   some candidate while none that it may read has that id; KUSTOS_ETOOBIG if
   there are more candidates between the two than one transaction can delete;
   KUSTOS_ENOTHELD if the latch does not lead; KUSTOS_EDEADLK in the callbacks
   of the latch and of its hold, where only the second form can be used.
   KUSTOS_ELOST if leadership was lost meanwhile.  KUSTOS_ECHANGED if the other
   left, or took another id, during the hand-over; then whoever is first leads.
   KUSTOS_EUNKNOWN if the answer was lost and nothing shows the outcome.

   After KUSTOS_ETIMEDOUT (also if "deadline" is KUSTOS_NOW and the connection
   is away meanwhile), KUSTOS_ECANCELED, KUSTOS_ECLOSED, KUSTOS_ENOMEM and
   errors of the server, kustos_latch_leads() tells whether the latch had
   stopped leading; if it had, whoever is first leads, once the latch's own node
   is gone. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_hand_over(
	struct kustos_latch *latch, const char *id, kustos_deadline deadline,
	struct kustos_cancel *cancel);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_latch_hand_over_async(
	struct kustos_latch *latch, const char *id, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);

/*
 * The selector: a latch whose work is a function.  The selector leads while the
 * function runs, and gives leadership up when it returns.
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
 * It shares its path with Curator's LeaderSelector and with every mutex there:
 * ours, and kazoo's Election with Curator's names.  Latches and selectors on
 * the same path do not see each other.
 *
 * Whoever asks for leadership (kustos_participant_revoke()) has it given up:
 * "lead" is asked to return, and nobody else leads until it has.  No other
 * client may write anything else into the node: then leadership is lost.
 *
 * When leadership is lost, "lead" is asked to return.  Until it has, the
 * selector does not stand in line again, so its terms never overlap.  "lead"
 * runs on a thread of Kustos, even if the client dispatches by a descriptor.
 * Nothing else waits for that thread, and there is none while the selector does
 * not lead.
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
	KUSTOS_SELECTOR_LOST = 6 /* leads no more; "lead" has not returned */
};

/* Return "IDLE" and so on; never NULL, never freed. */
KUSTOS_API const char *kustos_selector_state_name(
	enum kustos_selector_state state);

/* Lead, and return to give leadership up.  "cancel" fires when it is time to
   return: leadership was lost, or is being handed over,
   kustos_selector_interrupt() was called, or the selector is being closed.
   Pass it to every call that waits.  "hold" is the hold of the term: use it for
   its token, which grows from leader to leader, for the time left, for its
   callbacks, and for transactions that only the leader can do.  Both belong to
   the selector, and are gone when this function has returned, as are callbacks
   of the hold that have not begun by then; do not release "hold". */
typedef void kustos_selector_fn(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel);

/* Set by KUSTOS_SELECTOR_OPTIONS_INIT, then changed at will.  All strings are
   copied. */
struct kustos_selector_options {
	size_t size; /* of this struct, as the program knows it */

	/* Who we are, for others to read: the data of the node.  NULL or "":
	   the client's default data or, if it has none, the local address, as
	   with Curator. */
	const char *id;

	kustos_selector_fn *lead; /* needed */
	void *arg;

	/* Not 0: stand in line again each time that "lead" has returned. */
	int requeues;

	/* Not 0: give leadership up as soon as the connection is away, instead
	   of keeping it for as long as nobody else can have it. */
	int cautious;

	enum kustos_dialect dialect;

	/* Not 0: as in struct kustos_latch_options.  If the other process led,
	   "lead" is called with the same term. */
	int resume;
};

#define KUSTOS_SELECTOR_OPTIONS_INIT                                   \
	{                                                              \
		sizeof(struct kustos_selector_options), 0, 0, 0, 0, 0, \
			KUSTOS_DIALECT_CURATOR, 0                      \
	}

/* Make a selector on "path".  The node is made when it is first needed.  Sends
   nothing.  Returns KUSTOS_OK, KUSTOS_EINVAL (also if "lead" is NULL),
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_selector_create(
	struct kustos_client *client, const char *path,
	const struct kustos_selector_options *options,
	struct kustos_selector **out);

/* Close "selector" and free it.  Call this before its client is closed.  NULL
   is allowed.  If it is called in "lead" itself, it does not wait: "hold" and
   "cancel" exist until "lead" has returned, but the selector must not be used
   any more. */
KUSTOS_API void kustos_selector_destroy(struct kustos_selector *selector);

/* Stand in line for the first time.  Returns KUSTOS_OK, also if it was started
   before, and KUSTOS_ECLOSED if it was closed. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_selector_start(
	struct kustos_selector *selector);

/* Stand in line once more, after the selector has led; if "lead" runs, as soon
   as that has returned.  Returns KUSTOS_OK, also if it stands in line already;
   KUSTOS_EINVAL if it was not started; KUSTOS_ECLOSED if it was closed. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_selector_requeue(
	struct kustos_selector *selector);

/* Ask "lead" to return, by its cancel object.  The selector leads until it
   does.  Returns KUSTOS_OK, also if leadership was lost and "lead" has not
   returned; or KUSTOS_ENOTHELD if "lead" does not run. */
KUSTOS_API enum kustos_err kustos_selector_interrupt(
	struct kustos_selector *selector);

/* Take part no more, for good.  "lead" is asked to return, and this call waits
   for it, before others can lead.  In "lead" itself this call waits for
   nothing.  Does nothing if the selector is closed already. */
KUSTOS_API void kustos_selector_close(struct kustos_selector *selector);

/* Return 1 if the selector certainly leads at this instant; 0 once it was
   closed, even while "lead" has not returned: what "lead" still has is shown by
   its hold. */
KUSTOS_API int kustos_selector_leads(struct kustos_selector *selector);

KUSTOS_API enum kustos_selector_state kustos_selector_state(
	struct kustos_selector *selector);

/* Return why the selector failed, or the error that its last try to take part
   met; KUSTOS_OK if there was none. */
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
	kustos_end_fn *done, void *arg);

/* As kustos_latch_hand_over(), but instead of a callback for the loss "lead" is
   asked to return; when it has, the other leads.  In "lead" only the second
   form can be used (KUSTOS_EDEADLK), and "lead" must return when it is asked
   to.  Mutexes on that path that wait between the two stand in line again as
   well.  The selector that hands over stands in line again if it is queued to.
   */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_selector_hand_over(
	struct kustos_selector *selector, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_selector_hand_over_async(
	struct kustos_selector *selector, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);

KUSTOS_END
#endif
