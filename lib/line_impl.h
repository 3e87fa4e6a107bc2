/*
 * line_impl.h - the internals of a line, for the line, place and seat files.
 *
 * This comment describes the states of a place, and argues why a grant is safe.
 * "Ours" are the nodes and places of this client; "others" are the contenders
 * of other clients.
 *
 *   CREATING --has a node--> BEHIND    a place of ours before it still waits,
 *                              |       or acts for it as well: nothing to do
 *                              v
 *                           LOOKING    asks who stands before it
 *                            |   |
 *         more than two,     |   |   two at most
 *     or only a listing will do  |
 *                            v   v
 *              LOOKING <-- FAR   NEXT --they go--> HELD
 *              (one of the two   (all who stand
 *              nearest goes)     before it are watched)
 *
 * Where every child counts and several places may hold (ku_rank()), a waiting
 * place is FAR, and looks again whenever the children change.  Few places wait
 * in such a line, as a rule one, and the nodes that they wait for may go in any
 * order.
 *
 * All states lead to LEAVING.  A waiting place whose node is gone, with or
 * without its session, starts over with CREATING.
 *
 * What is known of the contenders before a place is its "gap": how many others
 * it has to wait for between it and the nearest exclusive place of ours before
 * it (or the beginning of the line), and the names of the nearest of them.
 * Sequence numbers only grow, so nobody can enter a gap later: a gap only
 * shrinks, and an empty gap stays empty.  The exception is a reader that a
 * writer leaves in its place.  Only other writers have to know of that reader,
 * and a writer trusts nothing but a listing while others stand before it.  A
 * gap is known only on the connection on which it was learned: on another
 * connection, the events that were missed may come in any order.
 *
 * A place is granted
 *   - by a listing of this connection in which it is the first; or
 *   - by its number, which says that nobody can be before it: line_follow.c; or
 *   - without either, when all of this is true on one connection:
 *       - a gap of at most KU_WATCHED was seen, and every node in that gap was
 *         seen to be gone;
 *       - the places of ours that it waits for were granted, and have been
 *         released;
 *       - its own node was seen, with a watch that has not fired.
 *     Events come in the order of the changes that they report, so the place's
 *     own node was still there when the last node of the gap went.
 *
 * The two nearest are watched from the beginning, long before they matter: when
 * the second goes, there is time for one request before the nearest goes, but
 * not for two in turn.
 *
 * A wide gap shrinks without a listing if one of the nearest is known to have
 * been *granted* before it went: then nobody was left before that one.  In a
 * long line, a releaser may leave the name of its node in the data of the
 * line's node, in the transaction that deletes its node.  So if a place finds
 * the name of its second nearest there, at most the nearest is left; if it
 * finds the name of its nearest, nobody is left.  That a node is gone proves
 * nothing, as its owner may have given up waiting.
 */
#ifndef KU_LINE_IMPL_H
#define KU_LINE_IMPL_H

#include "client.h"
#include "line.h"

/* How many of the contenders before a place are watched: the nearest. */
#define KU_WATCHED 2
/* In a line with more children than this, a proof costs less than the listing
   that it saves. */
#define KU_LINE_LONG 32

enum ku_place_state {
	KU_PLACE_CREATING,
	KU_PLACE_BEHIND,
	KU_PLACE_LOOKING,
	KU_PLACE_FAR,
	KU_PLACE_NEXT,
	KU_PLACE_HELD,
	KU_PLACE_LEAVING
};

/* A node that is watched for a place: its own, or one before it. */
struct ku_lookout {
	struct ku_place *place; /* NULL: no longer wanted */
	struct ku_request request;
	struct ku_watch watch;
	char *path;
	int64_t connection; /* on which it was seen; 0: not yet */
	bool gone;
	bool deleted; /* our own, soon: that clears its watch */
};

/* The proofs of a place.  While the place waits, the request reads another's
   proof.  Once it is granted, the request finds out whether the place may leave
   a proof of its own; on release it writes that proof. */
struct ku_proof {
	struct ku_request request;
	struct ku_zk_request ops[2];
	bool allowed; /* the line's node had this version, and its data was
			 empty or a proof */
	bool decided; /* "allowed" was known before the grant */
	int version;
	bool stale; /* the read under way was sent for an earlier node of this
		       place */
};

/* A write into the node of a place, and the callback that learns of its end. */
struct ku_writing {
	struct ku_place *place;
	struct ku_op *op;
	char *data;
	size_t len;
	ku_place_written_fn *done; /* NULL: nobody */
	void *owner;
	struct ku_writing *next;
};

struct ku_place {
	struct ku_line *line;
	const struct ku_place_kind *kind;
	void *owner; /* for the events' callbacks */
	enum ku_place_state state;
	bool owned;    /* ku_place_leave() is still to come */
	bool over;     /* nothing of it is left on the server */
	bool once;     /* fail instead of waiting */
	bool waited;   /* was not granted at first sight */
	bool starting; /* in ku_place_take() */
	bool lost;
	bool revoked;	     /* somebody asked for its release */
	bool bare;	     /* as its kind, which may be gone before it */
	enum kustos_err err; /* why it ended while starting */
	int64_t asked_mzxid; /* of the request that was reported, or is kept in
				"revoked" */

	int64_t beside; /* czxid of our writer whose number it takes; 0: none */

	/* Its node. */
	struct ku_op *op; /* its creation, and later its deletion */
	char *data;
	size_t len;
	char *path; /* full, the op's; NULL: no node */
	int32_t number;
	uint8_t beaten; /* in a seat: how often others made the node first, up
			   to a limit */
	int64_t czxid;
	int64_t session_id;
	int32_t version; /* of the data that we wrote, or that was there when we
			    took the node over: 0 in a node that we have
			    made, even if another has written by the time
			    that it is found */
	struct ku_writing *writings;  /* the oldest first */
	struct ku_place *prev, *next; /* of ours in this line, by number */
	struct ku_place *writer;      /* the nearest exclusive one before it */

	/* What stands before it. */
	int64_t known; /* the connection on which that was seen, or 0 */
	int gap;
	char *near[KU_NEAR];
	struct ku_lookout *own;
	struct ku_lookout *ahead[KU_WATCHED];

	struct ku_proof *proof; /* once it needs one */

	/* What the last listing said, and whether that has still to be acted
	   on. */
	enum ku_verdict verdict;
	bool news;

	struct ku_parting *parting; /* who waits for its end, or NULL */

	struct ku_ring ring; /* of client->lines: here, or away */
	uint64_t left;	     /* how many places left before it did */
};

/* Which places move up when one of ours before them is granted, or leaves. */
enum ku_way {
	KU_WAY_SHARED, /* it shares: only the first behind it */
	KU_WAY_FREE,   /* nobody is before it: up to and including the next
			  exclusive one, which all behind that wait for */
	KU_WAY_UNKNOWN /* the same; but it was not granted, so its gap is added
			  to theirs, and what they know is true no more */
};

/* An iteration over places, any of which may end meanwhile. */
struct ku_cursor {
	struct ku_place *next;
	struct ku_cursor *outer;
};

struct ku_line {
	struct kustos_client *client;
	char *path; /* full */
	const struct ku_rule *rule;
	int refs;
	struct ku_place *first, *last; /* those that have nodes */
	int places;		       /* those that take part */
	int waiting;		       /* places without a node yet, or that
					  wait */
	int lasting;		       /* those of them that do not just try
					  once */
	bool gathering;		       /* more places are about to be taken */
	bool busy;    /* in a seat: a creation of ours has not ended */
	bool serving; /* a caller further up starts the next one */
	struct ku_cursor *cursors; /* iterations over them under way */

	struct { /* the last place that was granted and has left */
		int32_t number;
		int64_t czxid; /* 0: none */
		int64_t session_id;
		bool shares;
	} passed;
	bool followed; /* the newest number came right after that one's */

	struct ku_request listings[2]; /* two: one may be sent while the other
					  is under way */
	bool deciding;		       /* the places act on what the last one
					  said */
	int64_t connection;	       /* on which it was last looked at */
	int children;		       /* as last seen, of all kinds */
	bool mixed;
	bool unreadable; /* which was logged */
	bool stuck;	 /* a node of ours cannot be deleted: logged */
	struct ku_request renewal; /* a read of the line's node */
	struct ku_watch watch;	   /* of the children, where all count */
	struct ku_timer again;	   /* look again */
	struct ku_timer guard;	   /* watch the nodes of holders */
};

/* line.c */

/* Iterate over places from "first" on: begin, take one after the other until
   NULL, and end.  The line is not freed meanwhile. */
void ku_cursor_begin(struct ku_cursor *cursor, struct ku_line *line,
	struct ku_place *first);
struct ku_place *ku_cursor_take(struct ku_cursor *cursor);
void ku_cursor_end(struct ku_cursor *cursor, struct ku_line *line);

/* Add "place" to the places that have nodes, and remove it from them. */
void ku_line_insert(struct ku_line *line, struct ku_place *place);
void ku_line_remove(struct ku_line *line, struct ku_place *place);

/* Add "place" to those that take part; move it to those that leave. */
void ku_lines_join(struct ku_place *place);
void ku_lines_leave(struct ku_place *place);

/* Free a place that has left, once nobody needs it any more. */
void ku_place_free(struct ku_place *place);

/* Call "fn" for each place that takes part now; "fn" may end any of them.  If
   the lease has run out by the end, the loss is declared then. */
void ku_lines_each(struct kustos_client *client, void (*fn)(struct ku_place *));

/* place.c */

/* Others stand before its node: report that, once for each node. */
void ku_place_tell_queued(struct ku_place *place);

/* Grant it.  But do nothing if its session is not connected: it is looked at
   again on the next connection.  And fail it if it stands beside a writer that
   is no longer granted. */
void ku_place_grant(struct ku_place *place);

/* Withdraw it, and call "failed" or "lost".  A place that is still being taken
   only keeps the error: ku_place_take() returns it. */
void ku_place_fail(struct ku_place *place, enum kustos_err err);
void ku_place_lose(struct ku_place *place);

/* Is the writer beside which this place stands still granted? */
bool ku_place_has_writer(const struct ku_place *place);

/* Its node is gone, and it was not deleted by us. */
void ku_place_gone(struct ku_place *place);

/* Nothing of it is left on the server. */
void ku_place_over(struct ku_place *place);

/* It has left, and its operation has ended: the creation, whose node is to be
   deleted if there is one, or that deletion. */
void ku_place_ended(struct ku_place *place);

/* Its deletion has ended so: tell who waits for that.  Whom nothing is told
   hears that the session was over first. */
void ku_place_tell_parted(struct ku_place *place, enum kustos_err err);

/* What it means for those behind a place of ours that it is granted, or leaves
   in its present state. */
enum ku_way ku_place_way(const struct ku_place *place);

/* Have those behind it move up, from "first" on, which may be NULL. */
void ku_places_move_up(struct ku_place *first, enum ku_way way);

/* Grant a place that is NEXT, if all conditions at the top of this file are
   met. */
void ku_place_try(struct ku_place *place);

/* place_write.c */

/* Is this what the write under way would put there? */
bool ku_place_wrote(const struct ku_place *place, const char *data, int len,
	int version);

/* Write nothing more, and call nobody back. */
void ku_place_stop_writing(struct ku_place *place);

/* Return whether it has a node and waits. */
static inline bool ku_place_waits(const struct ku_place *place)
{
	return place->path != NULL && place->state < KU_PLACE_HELD;
}

/* Return the place of ours that "place" has to wait for first, or NULL. */
static inline struct ku_place *ku_place_blocker(const struct ku_place *place)
{
	struct ku_place *writer = place->writer;

	if (!place->kind->shares)
		return place->prev;
	return writer != NULL && writer->number == place->number
		? writer->writer
		: writer;
}

/* Return whether that place waits itself: then there is nothing to do for this
   one. */
static inline bool ku_place_is_behind(const struct ku_place *place)
{
	const struct ku_place *blocker = ku_place_blocker(place);

	return blocker != NULL && ku_place_waits(blocker);
}

/* Return whether a reader of ours in front waits for the same, and acts for
   this one: the listing that grants that reader will tell of this one, too. */
static inline bool ku_place_is_led(const struct ku_place *place)
{
	const struct ku_place *prev = place->prev;

	return place->kind->shares && !place->once && place->beside == 0 &&
		prev != NULL && prev->kind->shares &&
		prev->writer == place->writer && ku_place_waits(prev);
}

/* Return whether there is nothing to do for it, for either reason. */
static inline bool ku_place_rests(const struct ku_place *place)
{
	return ku_place_is_behind(place) || ku_place_is_led(place);
}

/* Return the place whose ring "ring" is. */
static inline struct ku_place *ku_ring_place(struct ku_ring *ring)
{
	return KU_OWNER(struct ku_place, ring, ring);
}

/* Add "by" to the counts of waiting places, on behalf of "place". */
static inline void ku_line_count(struct ku_place *place, int by)
{
	place->line->waiting += by;
	place->line->lasting += place->once ? 0 : by;
}

/* line_crowd.c */

/* Have the listing that is about to be sent watch the children.  Returns false
   if that is not possible. */
bool ku_line_watch_children(struct ku_line *line);

/* "place" waits for room in such a line. */
void ku_place_wait_for_room(struct ku_place *place);

/* place_take.c */

/* Its creation has succeeded: it has a node. */
void ku_place_made(struct ku_place *place);

/* Make a new node, in place of one that is gone. */
void ku_place_restart(struct ku_place *place);

/* line_look.c */

/* Find out who stands before "place". */
void ku_place_look(struct ku_place *place);

/* A node before "place", which was watched, is gone. */
void ku_place_advance(struct ku_place *place);

/* "place" is no longer behind another of ours. */
void ku_place_activate(struct ku_place *place);

/* List the line, on behalf of all its places.  A listing whose answer is still
   to come serves as well: its answer is newer than everything that has arrived
   before, and so newer than the nodes that are known. */
void ku_line_list(struct ku_line *line);

/* The same, but with a listing that is sent after everything that was sent so
   far, if that is possible: as a rule for a node that is being made. */
void ku_line_list_behind(struct ku_line *line);

/* The client is closed: take back the reads that have not been sent.
   Without a session, the close would wait for them.  The line stays until the
   client is freed. */
void ku_line_unlist(struct ku_line *line);

/* Watch what has to be watched, given what is known of the gap. */
void ku_place_settle(struct ku_place *place);

/* Look again after a long while, in case an event was missed; or after "ms". */
void ku_line_set_safety(struct ku_line *line);
void ku_line_again(struct ku_line *line, int64_t ms);
void ku_line_init_timers(struct ku_line *line);

/* Forget what is known of its node and of the contenders before it, and watch
   none of them. */
void ku_place_forget(struct ku_place *place);

/* line_proof.c */

/* Read the proof in the line's node.  Returns false if that is not possible
   now: memory is short, or a read is under way. */
bool ku_place_read_proof(struct ku_place *place);

/* It is granted: find out whether it may leave a proof, unless that is
   known. */
void ku_place_prepare_proof(struct ku_place *place);

/* It was granted and has left: have its node deleted. */
void ku_place_delete_node(struct ku_place *place);

/* It has left, and its session is over: withdraw the request for its proof, if
   that has not been sent.  Returns whether it was withdrawn. */
bool ku_place_withdraw_proof(struct ku_place *place);

/* It has left.  Does its node stay until it is known whether it may leave a
   proof? */
bool ku_place_lingers(const struct ku_place *place);

/* Is this the line's node, with data that is empty or a proof? */
bool ku_proof_fits(const struct ku_line *line, const struct ku_zk_reply *reply);

/* The place starts over: what its proof knows is of an earlier node's time. */
void ku_proof_outdate(struct kustos_client *client, struct ku_proof *proof);

/* line_renew.c: it has left.  If it was the last one in a line whose numbers
   are running out, have them start over. */
void ku_line_renew(const struct ku_place *place);

/* line_follow.c */

/* A place that was granted leaves: remember its number. */
void ku_line_passed(const struct ku_place *place);

/* Does the number of "place" say that nobody stands before it? */
bool ku_place_follows(const struct ku_place *place);

/* line_watch.c */

/* Watch the place's own node, if it is not watched. */
void ku_place_watch_own(struct ku_place *place);

/* The own node of a place that is not granted was read: note whether somebody
   has asked for its release, to be told of once it is granted. */
void ku_place_note_request(struct ku_place *place,
	const struct ku_zk_reply *reply);

/* Watch the nearest "count" of the nodes before the place, and no others. */
void ku_place_watch_ahead(struct ku_place *place, int count);

/* Watch the one node of a seat. */
void ku_place_watch_seat(struct ku_place *place);

/* Watch none of them. */
void ku_place_unwatch_ahead(struct ku_place *place);

/* Stop watching its own node, which is gone, or about to be deleted by us. */
void ku_place_unwatch_own(struct ku_place *place);

/* Was its node seen on this connection, with a watch that has not fired? */
bool ku_lookout_sees(const struct ku_lookout *lookout);

/* seat.c: the same for places in a line of one node, which all contend for. */

/* Begin.  Returns why it has failed already, or KUSTOS_OK. */
enum kustos_err ku_seat_enter(struct ku_place *place);

/* Make the operation that creates its node.  Returns KUSTOS_OK, or why not. */
enum kustos_err ku_seat_make_op(struct ku_place *place);

/* Its operation has adopted the node: take that, and look whether it is still
   there.  No place of ours has it, or tries. */
void ku_seat_adopted(struct ku_place *place);

/* The node that it waits for is gone.  "seen": by a look; else by an event. */
void ku_seat_freed(struct ku_place *place, bool seen);

/* The node was read.  Returns whether it is the node of this place, and the
   place is granted. */
bool ku_seat_seen(struct ku_place *place, const struct ku_zk_reply *reply);

/* Look at the node again, for the first place of ours. */
void ku_seat_look_again(struct ku_line *line);

/* Its node is gone before it was granted: try again. */
void ku_seat_restart(struct ku_place *place);

/* Take it out of the line, have its node deleted, and let the next place of
   ours try. */
void ku_seat_withdraw(struct ku_place *place);

#endif
