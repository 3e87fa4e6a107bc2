/*
 * candidate_impl.h - the insides of a candidate, for the files that are called
 * candidate.
 *
 * What a leader is asked to do besides leading, an errand, takes requests and
 * time.  Errands are done one after the other, each for the term in which it
 * was begun; that term's end, and the candidate's, end it.
 */
#ifndef KU_CANDIDATE_IMPL_H
#define KU_CANDIDATE_IMPL_H

#include "candidate.h"
#include "client.h"
#include "hold.h"
#include "survey.h"

struct ku_errand;
struct ku_search;

/* A place in the line, from the wish to have one until the program was told
   that it is over. */
struct ku_term {
	struct ku_candidate *candidate;
	struct ku_place *place; /* NULL: given up */
	struct kustos_hold *hold;
	bool granted;
	bool over;
	bool mourned;		/* the program was told that it is over */
	bool kept;		/* the program has still to give it up */
	struct ku_errand *heir; /* what is to be done once its end was told */
	struct ku_term *next;	/* of those that are over, and nobody was told
				   of */
};

struct ku_errand_calls {
	/* Begin, or take the next step.  Locked. */
	void (*begin)(struct ku_errand *errand);

	/* The end of its term was told: its place is still there. */
	void (*inherit)(struct ku_errand *errand);

	/* End what is under way.  Locked. */
	void (*cease)(struct ku_errand *errand);

	/* Free all but the errand itself.  Locked. */
	void (*clean)(struct ku_errand *errand);
};

struct ku_errand {
	struct ku_wait wait; /* first: cast back from it */
	const struct ku_errand_calls *calls;
	struct ku_candidate *candidate;
	struct ku_term *term; /* NULL: it has not begun */
	bool joined;	      /* those of its candidate */
	bool begun;
	bool once;		    /* do not wait for a connection */
	ku_candidate_done_fn *done; /* NULL: a thread waits */
	void *arg;
	struct ku_errand *next;
};

struct ku_vigil;

struct ku_candidate {
	/* Constant. */
	struct kustos_client *client;
	struct ku_line *line;
	struct ku_place_kind kind;
	const struct ku_rule *rule;
	ku_candidate_fn *gained, *lost;
	void *arg;
	bool cautious, keeps;

	/* Guarded by the client's lock. */
	bool resumes; /* has still to look for a node of a process before us */
	char *data;   /* of the next term's node */
	size_t len;
	bool started, failed, stopped, destroyed;
	bool may_delete; /* its node: that is known */
	bool silent;	 /* the end of the last term is not told */
	bool moving;	 /* that is handed over: no other begins meanwhile */
	enum kustos_err err;
	struct ku_term *term; /* that waits or leads */
	struct ku_term *told; /* of whose gain the program was told */
	struct ku_term *over;
	struct ku_vigil *vigils;
	struct ku_errand *errands;
	struct ku_search *search; /* NULL: none is under way */
	int orphans; /* hand-overs that nobody waits for any more */
	struct ku_timer again;
	struct ku_call call;
	bool telling; /* on this thread */
	pthread_t teller;
	bool calling; /* and the program is at it */
};

/* Return KUSTOS_OK if it leads, KUSTOS_EBUSY if it may one day, or why not.
   Locked. */
enum kustos_err ku_candidate_leads(const struct ku_candidate *c);

/* End all waits until it leads.  Locked. */
void ku_candidate_wake(struct ku_candidate *c, enum kustos_err err);

/* "term" is over: tell the program, and then its heir, which may be NULL; the
   place stays until then.  Locked. */
void ku_term_end(struct ku_candidate *c, struct ku_term *term,
	struct ku_errand *heir);

/* A term that was kept for an heir may go.  Locked. */
void ku_candidate_bury(struct ku_candidate *c, struct ku_term *term);

/* Stand in line again, unless it does, or must not.  Locked. */
void ku_candidate_line_up(struct ku_candidate *c);

/* That met "err": try again in a while, if that can be of use.  Locked. */
void ku_candidate_put_off(struct ku_candidate *c, enum kustos_err err);

/* Begin a term with a new node; or with this one, of a process before us. */
void ku_term_begin(struct ku_candidate *c, const struct ku_sighting *found);

/*
 * candidate_search.c.  Locked.
 */

/* Look for a node of a process before us, and begin a term with it; or with a
   new one, if there is none.  Tries again in a while if that cannot be known. */
void ku_candidate_search(struct ku_candidate *c);
void ku_candidate_stop_search(struct ku_candidate *c);

/*
 * candidate_errand.c.  Locked, but for the first two.
 */

/* Do "errand", which is malloc'ed and filled up to its calls: with a thread that
   waits, or with "done".  Frees it. */
enum kustos_err ku_errand_do(struct ku_candidate *c, struct ku_errand *errand,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_candidate_done_fn *done, void *arg);

/* It has ended. */
void ku_errand_end(struct ku_errand *errand, enum kustos_err err);

/* It hands its term over: end those that wait for it. */
void ku_errands_skip(const struct ku_errand *heir);

/* The connection is away: end those that are not to wait for it. */
void ku_errands_away(struct ku_candidate *c);

/* Their term, or all, is over: end them. */
void ku_errands_fail(struct ku_candidate *c, enum kustos_err why);

#endif
