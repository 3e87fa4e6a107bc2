/*
 * line_impl.h - the insides of a line, for the files that are called line.
 *
 *   CREATING --has a node--> BEHIND    another place of ours waits before it,
 *                              |       or for the same: nothing to do
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
 * Where every child counts, and several may hold (ku_rank()), a place that waits
 * is FAR, and looks again when the children change: few wait there, as a rule
 * one, and what they wait for may go in any order.
 *
 * All states lead to LEAVING.  A waiting place whose node is gone, with its
 * session or without, starts over with CREATING.
 *
 * What is known of those before a place is a "gap": how many of others for whom
 * it has to wait stand between it and the nearest exclusive place of ours
 * before it, or the beginning, and the names of the nearest.  Nobody can
 * come in between later, as numbers only grow: so a gap only shrinks, and a gap
 * of no one stays so.  (But for a reader that a writer leaves in its place: of that
 * only other writers have to know, and they trust nothing but a listing while
 * others stand before them.)  What is known holds on
 * the connection on which it was learned: on another one events that were
 * missed may come in any order.
 *
 * A place is granted
 *   - by a listing of this connection in which it is the first; or
 *   - by its number, which says that nobody can be before it: line_follow.c; or
 *   - without either, when all of this is true on one connection: a gap of
 *     KU_WATCHED at the most was seen; all of those were seen to be gone; the
 *     places of ours for which it waits, which were granted, have been released;
 *     and its own node was seen, with a watch that has not fired.  Events come in
 *     the order of what they tell of, so its node was there when the last of them
 *     went.
 *
 * The nearest are watched from the beginning, long before they matter: when
 * the second goes, there is time for one request before the nearest goes, and
 * not for two, one after the other.
 *
 * A wide gap shrinks without a listing if one of the nearest is known to have
 * been *granted* before it went: then nobody was left before that one.  In a
 * long line, who releases may leave the name of its node in the data of the
 * line's node, in the transaction that deletes it.  So the name of the second
 * there is the proof that at most the nearest is left; and the name of the
 * nearest, that nobody is.  That a node is gone proves nothing: its owner may
 * have given up waiting.
 */
#ifndef KU_LINE_IMPL_H
#define KU_LINE_IMPL_H

#include "client.h"
#include "line.h"

/* So many of those before a place are watched. */
#define KU_WATCHED 2
/* With so many children a proof costs less than the listing it saves. */
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
	struct ku_place *place; /* NULL: nobody wants to know any more */
	struct ku_request request;
	struct ku_watch watch;
	char *path;
	int64_t connection; /* on which it was seen; 0: not yet */
	bool gone;
	bool deleted; /* by us, soon: its watch goes by itself */
};

/* Reads the proof of another for a place that waits, sees for one that is
   granted whether it may leave its own, and does so when that goes. */
struct ku_proof {
	struct ku_request request;
	struct ku_zk_request ops[2];
	bool allowed; /* the line's node had this version, and no data but a
			 proof */
	bool decided; /* whether it is allowed, before the grant */
	int version;
	bool stale; /* what is being read is of an earlier node's time */
};

/* What is written into the node, and who wants to know. */
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
	void *owner; /* of the events */
	enum ku_place_state state;
	bool owned;    /* ku_place_leave() is still to come */
	bool over;     /* nothing of it is left on the server */
	bool once;     /* fail instead of waiting */
	bool waited;   /* was not granted at first sight */
	bool starting; /* in ku_place_take() */
	bool granted;
	bool lost;
	bool revoked;	     /* somebody asked for it */
	enum kustos_err err; /* why it ended while starting */
	int64_t asked_mzxid; /* that request was told, or is kept here */

	int64_t beside; /* czxid of the writer of ours whose number it
				takes; 0: none */

	/* Its node. */
	struct ku_op *op; /* its creation, and later its deletion */
	char *data;
	size_t len;
	char *path; /* full, the op's; NULL: no node */
	int32_t number;
	bool tried;	/* a seat: it was beaten to the node, */
	uint8_t beaten; /* and so often since, up to some limit */
	int64_t czxid;
	int64_t session_id;
	int32_t version;	      /* of its data, as we wrote or found it */
	struct ku_writing *writings;  /* the oldest first */
	struct ku_place *prev, *next; /* of ours in this line, by number */
	struct ku_place *writer;      /* the exclusive one before it there */

	/* What stands before it. */
	int64_t known; /* the connection on which that was seen, or 0 */
	int gap;
	char *near[KU_NEAR];
	struct ku_lookout *own;
	struct ku_lookout *ahead[KU_WATCHED];

	struct ku_proof *proof; /* once it needs one */

	/* What the last listing said, and whether that is still to be heeded.
	   */
	enum ku_verdict verdict;
	bool news;

	struct ku_parting *parting; /* who waits for its end, or NULL */

	struct ku_ring ring; /* of client->lines: here, or away */
	uint64_t left;	     /* how many left before it */
};

/* Goes through places that may end meanwhile. */
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
	int waiting;		       /* that have none yet, or wait */
	int lasting;		       /* of those, who do not try once */
	bool gathering;		       /* more are taken just now */
	bool busy;    /* a seat: the creation of one of ours has not ended */
	bool serving; /* somebody sees to it that the next one begins */
	struct ku_cursor *cursors; /* that go through them now */

	struct { /* the last that was granted, and has left */
		int32_t number;
		int64_t czxid; /* 0: none */
		int64_t session_id;
		bool shares;
	} passed;
	bool followed; /* the newest number was the next after that one's */

	struct ku_request listings[2]; /* the second: beside the first */
	bool deciding;		       /* of all that the last one told of */
	int64_t connection;	       /* on which it was last looked at */
	int children;		       /* as last seen, of all kinds */
	bool mixed;
	bool unreadable;       /* which was logged */
	bool stuck;	       /* a node of ours stays; the same */
	struct ku_watch watch; /* of the children, where all count */
	struct ku_timer again; /* look again */
	struct ku_timer guard; /* watch the nodes of holders */
};

/* line.c */

/* Go through places from "first" on: begin, take one after the other until
   NULL, and end.  The line stays meanwhile. */
void ku_cursor_begin(struct ku_cursor *cursor, struct ku_line *line,
	struct ku_place *first);
struct ku_place *ku_cursor_take(struct ku_cursor *cursor);
void ku_cursor_end(struct ku_cursor *cursor, struct ku_line *line);

/* Put "place" among those that have nodes, and out of them. */
void ku_line_insert(struct ku_line *line, struct ku_place *place);
void ku_line_remove(struct ku_line *line, struct ku_place *place);

/* Count "place" among those that take part; among those that leave. */
void ku_lines_join(struct ku_place *place);
void ku_lines_leave(struct ku_place *place);

/* Free a place that has left, once nobody needs it any more. */
void ku_place_free(struct ku_place *place);

/* Call "fn" for each place that takes part now; it may end any of them.  If the
   lease has run out by then, that is declared at the end. */
void ku_lines_each(struct kustos_client *client, void (*fn)(struct ku_place *));

/* place.c */

/* Others stand before its node. */
void ku_place_queue(struct ku_place *place);

void ku_place_grant(struct ku_place *place);
void ku_place_fail(struct ku_place *place, enum kustos_err err);
void ku_place_lose(struct ku_place *place);

/* Is the writer still granted whose place this one takes? */
bool ku_place_has_writer(const struct ku_place *place);

/* Its node is gone, and not by us. */
void ku_place_gone(struct ku_place *place);

/* The server has nothing of it any more. */
void ku_place_over(struct ku_place *place);

/* Its creation, which was in vain, or its deletion has ended with "err". */
void ku_place_ended(struct ku_place *place, enum kustos_err err);

/* Those behind one of ours that is granted now, or has left, move up: from
   "first" to the next exclusive one, which the others wait for.  If that one
   "shared", only "first" may.  "anew": what is known of those before them is
   not true any more. */
void ku_line_move_up(struct ku_line *line, struct ku_place *first, bool shared,
	bool anew);

/* Grant a place that is next, if all of the conditions above are met. */
void ku_place_try(struct ku_place *place);

/* place_write.c */

/* Is this what is just being written? */
bool ku_place_wrote(const struct ku_place *place, const char *data, int len,
	int version);

/* Nothing more is written, and nobody is told. */
void ku_place_stop_writing(struct ku_place *place);

/* Return whether it has a node and waits. */
static inline bool ku_place_waits(const struct ku_place *place)
{
	return place->path != NULL && place->state < KU_PLACE_HELD;
}

/* Return the place of ours that "place" has to wait for before all others, or
   NULL. */
static inline struct ku_place *ku_place_blocker(const struct ku_place *place)
{
	struct ku_place *writer = place->writer;

	if (!place->kind->shares)
		return place->prev;
	return writer != NULL && writer->number == place->number
		? writer->writer
		: writer;
}

/* Return whether that one waits itself: then there is nothing to do. */
static inline bool ku_place_is_behind(const struct ku_place *place)
{
	const struct ku_place *blocker = ku_place_blocker(place);

	return blocker != NULL && ku_place_waits(blocker);
}

/* Return whether one of ours that waits for the same does what is to be done:
   the listing that grants that one will tell of this one, too. */
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

/* Count those who wait up or down by "place". */
static inline void ku_line_count(struct ku_place *place, int by)
{
	place->line->waiting += by;
	place->line->lasting += place->once ? 0 : by;
}

/* line_crowd.c */

/* See that the children are watched by the listing that is about to be sent.
   Returns false if that cannot be. */
bool ku_line_watch_children(struct ku_line *line);

/* It was answered: they are watched, if that has left a watch there. */
void ku_line_keep_watching(struct ku_line *line);

/* It was not answered well. */
void ku_line_unwatch_children(struct ku_line *line);

/* "place" waits there for room. */
void ku_place_wait_for_room(struct ku_place *place);

/* place_take.c */

/* Make a new node, in place of one that is gone. */
void ku_place_restart(struct ku_place *place);

/* line_look.c */

/* Find out who stands before "place". */
void ku_place_look(struct ku_place *place);

/* The node that was watched before it is gone. */
void ku_place_advance(struct ku_place *place);

/* A place that was behind another of ours is not any more. */
void ku_place_activate(struct ku_place *place);

/* List the line, on behalf of all its places.  A listing that is still to come
   serves as well: it was taken after all that has come before it, and so after
   the nodes that are known were made. */
void ku_line_list(struct ku_line *line);

/* The same, but taken after what has been sent by now; if it can be: as a rule
   for a node that is being made. */
void ku_line_list_behind(struct ku_line *line);

/* Take listings back that have not been sent, as the client is closed: without a
   session that would wait for them.  The line stays until the client is freed. */
void ku_line_unlist(struct ku_line *line);

/* Watch what has to be watched, given what is known of the gap. */
void ku_place_settle(struct ku_place *place);

/* Look again after a while; and one day, in case an event went astray. */
void ku_line_set_safety(struct ku_line *line);
void ku_line_again(struct ku_line *line, int64_t ms);
void ku_line_init_timers(struct ku_line *line);

/* Forget what is known of those before it. */
void ku_place_forget(struct ku_place *place);

/* line_proof.c */

/* Read what is left in the line's node.  Returns false if it cannot be done
   now: memory is short, or it is being done. */
bool ku_place_read_proof(struct ku_place *place);

/* It is granted: see whether it may leave a proof, unless that is known. */
void ku_place_see_proof(struct ku_place *place);

/* It was granted and has left: see that its node goes. */
void ku_place_go(struct ku_place *place);

/* It has left, and its session is over: do not do the above if that is still to be
   sent.  Returns whether it was. */
bool ku_place_unsay(struct ku_place *place);

/* It has left.  Does it wait to see what it may leave before its node goes? */
bool ku_place_lingers(const struct ku_place *place);

/* It starts over: what is known is of an earlier node's time. */
void ku_proof_outdate(struct kustos_client *client, struct ku_proof *proof);

/* line_follow.c */

/* It was granted, and leaves. */
void ku_line_passed(const struct ku_place *place);

/* Does its number say that nobody stands before it? */
bool ku_place_follows(const struct ku_place *place);

/* line_watch.c */

/* Watch the place's own node, if it is not watched. */
void ku_place_watch_own(struct ku_place *place);

/* Watch the nearest "count" of those that stand before the place, and no
   others. */
void ku_place_watch_ahead(struct ku_place *place, int count);

/* Watch the node that is fought for. */
void ku_place_watch_seat(struct ku_place *place);

/* Watch none of them. */
void ku_place_unwatch_ahead(struct ku_place *place);

/* Stop.  "deleted": the node is about to be deleted by us. */
void ku_lookout_drop(struct ku_lookout **lookout, bool deleted);

/* Is its node there, as far as this connection knows? */
bool ku_lookout_sees(const struct ku_lookout *lookout);

/* seat.c: the same for places in a line of one. */

/* Begin.  Returns why it has failed already, or KUSTOS_OK. */
enum kustos_err ku_seat_enter(struct ku_place *place);

/* The node for which it waits is gone: "seen" by a look, or an event. */
void ku_seat_freed(struct ku_place *place, bool seen);

/* The node was read.  Returns whether it is that of this place, which is
   granted. */
bool ku_seat_seen(struct ku_place *place, const struct ku_zk_reply *reply);

/* Look at the node again, for whoever is concerned. */
void ku_seat_look_again(struct ku_line *line);

/* Its node is gone before it was granted: try again. */
void ku_seat_restart(struct ku_place *place);

/* End its part in the line, see that its node goes, and that the next of ours
   tries. */
void ku_seat_withdraw(struct ku_place *place);

#endif
