/*
 * desk_impl.h - the internals of a desk, for the files that are called desk.
 *
 *   head -- custody claims --> ready --> lent -- ack --> (gone)
 *    ^           |                |        |
 *    +- another has it, or lost --+--------+
 *
 * Two folders are listed in one flight, first the markers and then the items,
 * so that others seldom have marked what the second listing shows.  The listing
 * of items (the head) serves until it is used up, and both folders are watched.
 * Items that others have marked are tried again when the markers have changed.
 *
 * Where keys decide the order, a listing serves no more once the items have
 * changed.  But a consumer that is alone changes them itself, by each ack.  So
 * it first asks whether others have changed them (others.h).
 *
 * Of several consumers, each would try the first item.  So a consumer that was
 * beaten chooses its next item at random from the first few, from more of them
 * each time, and from fewer after each success.  A consumer that is alone takes
 * strictly the first.
 */
#ifndef KU_DESK_IMPL_H
#define KU_DESK_IMPL_H

#include "client.h"
#include "custody.h"
#include "desk.h"
#include "hold.h"
#include "inside.h"
#include "mirror.h"
#include "queue_head.h"
#include "unfit.h"
#include "witness.h"

/* The most items that are tried for at a time. */
#define KU_DESK_TRIES 64

struct ku_borrower { /* a thread, or a callback, that waits for an item */
	struct ku_wait wait; /* first: cast back from it */
	struct ku_desk *desk;
	uint64_t since; /* how many listings were asked for before it */
	uint64_t marks; /* the same, of the markers */
	struct ku_lent *lent;
	ku_lend_fn *done;
	void *arg;
	struct ku_borrower *prev, *next;
};

struct ku_giver {	     /* one that waits for the end of an ack */
	struct ku_wait wait; /* first */
	struct ku_lent *lent;
	enum ku_ack how;
	kustos_end_fn *done;
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
	struct ku_news *news; /* told if nobody can have it */
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
	struct ku_inside *inside; /* "unfit" */
	struct ku_mirror items, marks;
	struct ku_head head;
	bool changed; /* the items have changed since the head was filled */
	int chosen;   /* how many items of the head were chosen */
	size_t gone;  /* how many of them in a row had gone */
	struct kustos_names *marked; /* sorted; NULL: none are known */
	uint64_t marks_shown;	     /* marks.asked when they were shown */
	int64_t marked_in;	     /* the session in which they were read */
	bool blocked; /* items were passed over because others had them */
	unsigned spread;
	struct ku_lent *first, *last;
	int tried, ready;
	struct ku_borrower *asking, *asking_last;
	struct ku_op *folder; /* the creation of one */
	char *folder_item;    /* to move this item there; NULL: for all items */
	struct ku_timer timer;
	bool resting; /* until the timer fires nothing is tried */
	struct ku_unfits unfits;
	struct ku_witness witness;
};

/* Called with the client locked, as all that follows. */
void ku_desk_get(struct ku_desk *desk);
void ku_desk_put(struct ku_desk *desk);

/* Try for as many items as are wanted and are there. */
void ku_desk_pump(struct ku_desk *desk);

/* Make what the program is told if nobody can have the item "name".  It is made
   before that is known: afterwards the item may have been moved, and memory may
   be short.  NULL: memory is short. */
struct ku_news *ku_news_new(struct ku_desk *desk, const char *name);

/* Tell the program, and take "news" over. */
void ku_news_tell(struct ku_news *news, enum ku_unfit why, bool moved);

/* Have this folder made; nothing is tried meanwhile.  If it is for "item" alone
   and cannot be made, that item is passed over.  NULL: it is for all items. */
void ku_desk_make_folder(struct ku_desk *desk, const char *path,
	const char *item);

/* desk_look.c */

/* How many more items are wanted, beside those that are tried for and not put
   off? */
int ku_desk_wanted(const struct ku_desk *desk);

/* Is this one, which is tried for, still wanted beside the others? */
bool ku_desk_wants(const struct ku_desk *desk, const struct ku_lent *lent);
void ku_desk_init_look(struct ku_desk *desk);

/* Take an item that may be tried out of the head.  Returns false if there is
   none. */
bool ku_desk_choose(struct ku_desk *desk, struct ku_item *out);

/* Are the known markers from an earlier session, and being read again? */
bool ku_desk_awaits_marks(const struct ku_desk *desk);

/* The head is empty: list again, or wait for a change. */
void ku_desk_look(struct ku_desk *desk);

/* As far as is known, are there no items but those that the head has? */
bool ku_desk_has_listed(const struct ku_desk *desk);

/* Are items that were passed over still another's, as far as is known to a
   caller that began to wait after "since" listings of markers had been asked
   for? */
bool ku_desk_knows_marks(const struct ku_desk *desk, uint64_t since);

/* The head no longer shows all items that may be tried: drop it, and list
   again. */
void ku_desk_relook(struct ku_desk *desk);

/* Try nothing for a moment. */
void ku_desk_rest(struct ku_desk *desk);

/* desk_try.c */

/* Try to claim this item.  Returns false if memory is short. */
bool ku_desk_try(struct ku_desk *desk, const struct ku_item *item);

/* Is this item tried for, ready, or lent; or to be passed over as unfit? */
bool ku_desk_knows(struct ku_desk *desk, const struct ku_item *item);

/* The server refuses us something for this item: pass it over for a while. */
void ku_desk_deny(struct ku_desk *desk, const char *name);

/* Take it off the desk's list, and free it with its item. */
void ku_lent_free(struct ku_lent *lent);

/* desk_give.c: the ack of this one has ended. */
void ku_lent_given(struct ku_lent *lent, enum kustos_err err);

/* Not connected: tell the callers that wait for an ack, but not for a
   connection. */
void ku_givers_away(struct ku_desk *desk);

/* desk_lend.c: give ready items to the borrowers; and end with "err" all
   borrowers, or those that wait only for a listing, once one was asked for. */
void ku_desk_serve(struct ku_desk *desk);
void ku_desk_fail(struct ku_desk *desk, enum kustos_err err);
void ku_desk_fail_tries(struct ku_desk *desk, enum kustos_err err);

/* There is nothing: end the borrowers that wait only for a listing, and have
   had it.  Returns whether others came after that listing was asked for. */
bool ku_desk_tell_empty(struct ku_desk *desk);

/* Not connected: tell the borrowers that do not want to wait for a
   connection. */
void ku_desk_away(struct ku_desk *desk);

#endif
