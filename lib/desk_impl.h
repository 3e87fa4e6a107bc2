/*
 * desk_impl.h - the insides of a desk, for the files that are called desk.
 *
 *   head -- had by custody --> ready --> lent -- ack --> (gone)
 *    ^           |                |        |
 *    +- another has it, or lost --+--------+
 *
 * Two folders are listed, in one flight: the markers, and the items behind them,
 * so that what the second shows is seldom marked by others.  The listing serves
 * until it is used up (the head), and the two are watched.  What was marked by
 * others is tried again when the markers have changed.
 *
 * Where a key decides the order a listing that has changed serves no more.  But one
 * consumer alone changes it himself, by each ack; so he asks first whether there are
 * others (others.h).
 *
 * Of several consumers each would try the first item.  So who was beaten chooses
 * the next at random from the first few, from more of them each time, and from
 * fewer after each success: who is alone has strictly the first.
 */
#ifndef KU_DESK_IMPL_H
#define KU_DESK_IMPL_H

#include "client.h"
#include "custody.h"
#include "desk.h"
#include "hold.h"
#include "mirror.h"
#include "queue_head.h"
#include "unfit.h"
#include "witness.h"

/* So many are tried for at a time. */
#define KU_DESK_TRIES 64

struct ku_borrower { /* a thread, or a callback, that waits for an item */
	struct ku_wait wait; /* first: cast back from it */
	struct ku_desk *desk;
	bool once;	/* the deadline is KUSTOS_NOW */
	uint64_t since; /* listings that had been asked for */
	uint64_t marks; /* the same, of the markers */
	struct ku_lent *lent;
	ku_lend_fn *done;
	void *arg;
	struct ku_borrower *prev, *next;
};

struct ku_giver {	     /* the same that waits for the end of an ack */
	struct ku_wait wait; /* first */
	struct ku_lent *lent;
	bool again;
	bool once; /* the deadline is KUSTOS_NOW */
	ku_give_fn *done;
	void *arg;
};

enum ku_lent_state { KU_LENT_TRIED, KU_LENT_READY, KU_LENT_OUT, KU_LENT_LOST };

struct ku_lent {
	struct ku_desk *desk;
	struct ku_custody *custody;
	enum ku_lent_state state;
	struct kustos_hold *hold; /* NULL: it is being given back */
	struct kustos_item *item; /* once it is ready */
	int deliveries;
	uint32_t number;      /* in its name */
	struct ku_news *news; /* should nobody be able to have it */
	struct ku_giver *giver;
	struct ku_lent *prev, *next; /* all of the desk's, oldest first */
};

struct ku_desk {
	/* Constant. */
	struct kustos_client *client;
	struct ku_depot *depot;
	int ahead, stale;
	ku_desk_unfit_fn *unfit;
	void *arg;

	/* Guarded by the client's lock. */
	int refs; /* of the program, of mirrors, of what is lent, of others */
	bool ended;
	bool pumping;
	bool telling; /* a callback runs, and there */
	pthread_t teller;
	struct ku_mirror items, marks;
	struct ku_head head;
	bool changed; /* the items have, since it was filled */
	int chosen;   /* so many of what was in it were */
	size_t gone;  /* so many in a row were not there any more */
	struct kustos_names *marked; /* sorted; NULL: none are known */
	uint64_t marks_shown;	     /* by so many listings */
	int64_t marked_in;	     /* the session in which they were read */
	bool blocked; /* items were passed over that others had */
	unsigned spread;
	struct ku_lent *first, *last;
	int tried, ready;
	struct ku_borrower *asking, *asking_last;
	struct ku_op *folder; /* one is being made */
	char *folder_item; /* for this one, that nobody is to have; NULL: for all */
	struct ku_timer timer;
	bool resting; /* until the timer goes off nothing is tried */
	struct ku_unfits unfits;
	struct ku_witness witness;
};

/* Locked, as all that follows. */
void ku_desk_get(struct ku_desk *desk);
void ku_desk_put(struct ku_desk *desk);

/* Try for items, as many as are wanted and are there. */
void ku_desk_pump(struct ku_desk *desk);

/* What the program is told of the item "name", should nobody be able to have it: made
   before that is known, as by then it may be moved, and memory short.  NULL: it is. */
struct ku_news *ku_news_new(struct ku_desk *desk, const char *name);

/* Tell it, and take it over. */
void ku_news_tell(struct ku_news *news, enum ku_unfit why, bool moved);

/* Have this folder made; nothing is tried meanwhile.  If it is for "item" alone, and
   may not be made, that is passed over; NULL: it is for all. */
void ku_desk_make_folder(struct ku_desk *desk, const char *path,
	const char *item);

/* desk_look.c */

/* How many are wanted beside those that are tried for, and not put off? */
int ku_desk_wanted(const struct ku_desk *desk);
void ku_desk_init_look(struct ku_desk *desk);

/* Take an item out of the head that may be tried. */
bool ku_desk_choose(struct ku_desk *desk, struct ku_item *out);

/* Are the markers that are known those of a session before, and being read? */
bool ku_desk_awaits_marks(const struct ku_desk *desk);

/* The head has nothing: look, or wait for a change. */
void ku_desk_look(struct ku_desk *desk);

/* Is what the head does not have not there, as far as is known? */
bool ku_desk_has_listed(const struct ku_desk *desk);

/* And what was passed over still another's?  So many listings of markers had been
   asked for when somebody began to wait. */
bool ku_desk_knows_marks(const struct ku_desk *desk, uint64_t since);

/* What the head has is not all that is to be had: look again. */
void ku_desk_relook(struct ku_desk *desk);

/* Try nothing for a moment. */
void ku_desk_rest(struct ku_desk *desk);

/* desk_try.c */

/* Try to have this item.  Returns false if memory is short. */
bool ku_desk_try(struct ku_desk *desk, const struct ku_item *item);

/* Is it in our hands? */
bool ku_desk_has(const struct ku_desk *desk, const struct ku_item *item);

/* Either. */
bool ku_desk_knows(struct ku_desk *desk, const struct ku_item *item);

/* Something is refused to us for this item: others may be had meanwhile. */
void ku_desk_deny(struct ku_desk *desk, const char *name);

/* Take it off the desk's list, and free it with its item. */
void ku_lent_free(struct ku_lent *lent);

/* desk_give.c: the ack of this one has ended. */
void ku_lent_given(struct ku_lent *lent, enum kustos_err err);

/* Not connected: as ku_desk_away(), of those who wait for the end of an ack. */
void ku_givers_away(struct ku_desk *desk);

/* desk_lend.c: give what is ready to those who wait; and end those who wait for
   nothing but a look, or all. */
void ku_desk_serve(struct ku_desk *desk);
void ku_desk_fail(struct ku_desk *desk, enum kustos_err err, bool once);

/* There is nothing: end those who wait for nothing but a look, and have had it.  Return
   whether others came while it was being read. */
bool ku_desk_tell_empty(struct ku_desk *desk);

/* Not connected: tell those who do not want to wait for that. */
void ku_desk_away(struct ku_desk *desk);

#endif
