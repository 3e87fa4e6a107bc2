/*
 * candidate_impl.h - the internals of a candidate, for the files that are
 * called candidate.
 *
 * An errand is what a leader is asked to do besides leading; it takes requests
 * and time.  Errands are done one after the other, each for the term in which
 * it was begun.  The end of that term, or of the candidate, ends the errand.
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
	bool kept;		/* the program has yet to resign it */
	struct ku_errand *heir; /* goes on once the program was told of the
				   end */
	struct ku_term *next;	/* of those that are over, with nothing left to
				   tell */
};

struct ku_errand_calls {
	/* Begin.  Locked. */
	void (*begin)(struct ku_errand *errand);

	/* The program was told of the end of the term, whose place still
	   exists. */
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
	struct ku_term *term;	    /* NULL: it has not begun */
	ku_candidate_done_fn *done; /* NULL: a thread waits */
	void *arg;
	struct ku_errand *next;
};

struct ku_lead_wait;

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
	bool resumes; /* has yet to look for the node of a former process */
	char *data;   /* of the next term's node */
	size_t len;
	bool started, failed, stopped, destroyed;
	bool may_delete; /* we may delete our node: that is known */
	bool silent;	 /* the end of the last term is not reported */
	bool moving;	 /* the last term is handed over: no other begins */
	enum kustos_err err;
	struct ku_term *term; /* that waits or leads */
	struct ku_term *told; /* of whose gain the program was told */
	struct ku_term *over;
	struct ku_lead_wait *lead_waits;
	struct ku_errand *errands;
	struct ku_search *search; /* NULL: none is under way */
	int orphans; /* hand-overs that nobody waits for any more */
	struct ku_timer again;
	struct ku_call call;
	bool telling; /* a thread, "teller", calls the program */
	pthread_t teller;
	bool calling; /* and "gained" or "lost" is running */
};

/* Return KUSTOS_OK if it leads, KUSTOS_EBUSY if it may lead later, or why it
   will not.  Locked. */
enum kustos_err ku_candidate_leads(const struct ku_candidate *c);

/* End the waits of all who wait until it leads.  Locked. */
void ku_candidate_wake(struct ku_candidate *c, enum kustos_err err);

/* "term" is over: tell the program, and then have "heir" go on, unless that is
   NULL.  The place stays until then.  Locked. */
void ku_term_end(struct ku_candidate *c, struct ku_term *term,
	struct ku_errand *heir);

/* A term that was kept for an heir may be freed.  Locked. */
void ku_candidate_bury(struct ku_candidate *c, struct ku_term *term);

/* Stand in line again, unless it already does, or must not.  Locked. */
void ku_candidate_line_up(struct ku_candidate *c);

/* An attempt failed with "err": retry in a while, if that can help.  Locked. */
void ku_candidate_put_off(struct ku_candidate *c, enum kustos_err err);

/* Begin a term with the node "found" of a former process; or with a new node,
   if that is NULL. */
void ku_term_begin(struct ku_candidate *c, const struct ku_sighting *found);

/*
 * candidate_search.c.  Locked.
 */

/* Look for the node of a former process, and begin a term with it; or with a
   new node, if there is none.  If that cannot be found out, the search is
   repeated in a while. */
void ku_candidate_search(struct ku_candidate *c);
void ku_candidate_stop_search(struct ku_candidate *c);

/*
 * candidate_errand.c.  Locked, but for the first two.
 */

/* Do "errand", which is malloc'ed and has its calls filled in.  If "done" is
   NULL this thread waits for the end; else "done" is called.  Frees the
   errand. */
enum kustos_err ku_errand_do(struct ku_candidate *c, struct ku_errand *errand,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_candidate_done_fn *done, void *arg);

/* It has ended. */
void ku_errand_end(struct ku_errand *errand, enum kustos_err err);

/* "heir" hands the term over: end the errands that wait behind it. */
void ku_errands_skip(const struct ku_errand *heir);

/* The connection is lost: end the errands that must not wait for it. */
void ku_errands_away(struct ku_candidate *c);

/* The term, or the candidate, is over: end all errands. */
void ku_errands_fail(struct ku_candidate *c, enum kustos_err why);

#endif
