/*
 * candidate_over.c - a leader hands over to one of those who wait.
 *
 *   LISTING -> READING their ids -> trying -> telling the program of the end
 *      ^                                         |
 *      +-- somebody has left, or is renamed - DELETING
 *
 * All candidates, Curator's latches too, follow one rule: the lowest number
 * leads.  So the leader deletes, in one transaction, the nodes of those that
 * stand between it and its heir, and its own node last.  Then the heir is the
 * first, with the next greater term, and need not even know of the hand-over.
 * Those between find their nodes gone, and stand in line again at the tail, as
 * after any loss of their nodes.  Nobody leads in between.
 *
 * The order in the transaction matters.  A candidate that knows of nobody but
 * us before it may be granted by the event of our node's deletion alone, if its
 * own node was still there then (line_impl.h).  Events come in the order of the
 * changes that they report.  So our node goes last: by then, those between know
 * that their nodes are gone.
 *
 * The leader goes on leading until three things are known:
 * - The heir waits, and we may read its node.  If we may not read a node, the
 *   server does not check for us that it is there.  (We need not be able to
 *   read the nodes between.)
 * - The transaction is not too large.
 * - We may delete our node.  If we may not, it would stay, and keep all others
 *   waiting until our session ends.  The first time, we find this out by a
 *   transaction that deletes the node and then fails: without the right to
 *   delete, it fails earlier, in another way.
 *
 * Then the program is told that it leads no more, and only then are the nodes
 * deleted.  If the heir has left by that time, whoever is first leads.
 */

#include "candidate_impl.h"
#include "heir.h"

#include <stdlib.h>
#include <string.h>

/* The caller's part of a hand-over. */
struct request {
	struct ku_errand errand; /* first: cast back from it */
	struct handing *handing; /* NULL: no longer waited for */
};

struct handing {
	struct ku_candidate *candidate;
	struct ku_term *term;
	struct request *request; /* NULL: nobody waits */
	char *id;		 /* of the wish */
	struct ku_heir_wish wish;
	int64_t epoch;
	struct ku_op *listing;
	struct ku_survey survey;
	bool stopped; /* and the program knows */
	bool unsure;  /* whether an earlier transaction was applied */
	struct ku_op *trial, *deletion; /* transactions */
};

static void look(struct handing *h);

static void handing_free(struct handing *h)
{
	ku_op_let_go(&h->listing);
	ku_survey_free(&h->survey);
	ku_op_let_go(&h->trial);
	ku_op_let_go(&h->deletion);
	free(h->id);
	free(h);
}

/* If the term was stopped, let go of it, and stand in line again. */
static void relinquish(struct handing *h)
{
	if (!h->stopped)
		return;
	h->term->heir = NULL;
	h->candidate->moving = false;
	ku_candidate_bury(h->candidate, h->term);
	ku_candidate_line_up(h->candidate);
}

static void end(struct handing *h, enum kustos_err err)
{
	relinquish(h);
	if (h->request != NULL) {
		ku_errand_end(&h->request->errand, err);
	} else {
		h->candidate->orphans--;
		handing_free(h);
	}
}

static void deleted(struct ku_op *op)
{
	struct handing *h = op->owner;

	if (op->err == KUSTOS_EUNKNOWN)
		h->unsure = true;
	if (h->request != NULL && ku_heir_unsettled(op->err))
		look(h);
	else
		end(h, op->err);
}

/* Make a transaction in place of the one that is there. */
static enum kustos_err make_multi(struct handing *h,
	const struct kustos_op *ops, size_t count, struct ku_op **out)
{
	struct ku_task *task;
	enum kustos_err err = ku_task_new_multi(h->candidate->client, ops,
		count, &task);

	ku_op_let_go(out);
	if (err == KUSTOS_OK)
		*out = &task->op;
	return err;
}

/* Make the transaction that deletes the nodes. */
static enum kustos_err make_deletion(struct handing *h, int own, int heir)
{
	struct kustos_op *ops = calloc((size_t)(heir - own + 1), sizeof(*ops));

	if (ops == NULL)
		return KUSTOS_ENOMEM;
	size_t count = ku_heir_deletion(&h->survey, own, heir, &h->wish, ops);
	enum kustos_err err = make_multi(h, ops, count, &h->deletion);
	free(ops);
	return err;
}

static void decide(struct handing *h);

static void tried(struct ku_op *op)
{
	struct handing *h = op->owner;

	if (op->err == KUSTOS_EUNKNOWN) {
		look(h); /* nothing was changed, whatever the outcome */
	} else if (op->err == KUSTOS_ENONODE) {
		h->candidate->may_delete = true;
		decide(h);
	} else {
		end(h, op->err);
	}
}

/* Try to delete our node in a transaction that fails after that, as the node
   has no children. */
static enum kustos_err try_to_delete(struct handing *h)
{
	const char *own = ku_place_path(h->term->place);
	char *child = ku_path_join(own, "/x");
	struct kustos_op ops[] = {
		{ .kind = KUSTOS_OP_DELETE, .path = own, .version = -1 },
		{ .kind = KUSTOS_OP_CHECK, .path = child, .version = -1 },
	};

	if (child == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = make_multi(h, ops, 2, &h->trial);
	free(child);
	return err == KUSTOS_OK ? ku_op_start(&h->trial, tried, h) : err;
}

/* Has the session been certain since this began? */
static bool is_certain(const struct handing *h)
{
	const struct ku_session *session = &h->candidate->client->session;

	return session->epoch == h->epoch && session->lost_epoch != h->epoch;
}

/* Make the deletion; KUSTOS_ETOOBIG if it is too large to be sent. */
static enum kustos_err foresee(struct handing *h, int own, int heir)
{
	enum kustos_err err = make_deletion(h, own, heir);

	if (err != KUSTOS_OK)
		return err;
	const struct ku_op *op = h->deletion;
	const struct ku_zk_request whole = { .ops = op->ops,
		.op_count = op->op_count };
	return ku_request_size(&whole) <= KU_REQUEST_LIMIT ? KUSTOS_OK
							   : KUSTOS_ETOOBIG;
}

/* The program knows that it leads no more: send the deletion.  Those between us
   and the heir can only have become fewer, unless the heir has left, and
   another has its id. */
static enum kustos_err send_deletion(struct handing *h, int own, int heir)
{
	enum kustos_err err = foresee(h, own, heir);

	if (err == KUSTOS_ETOOBIG)
		return KUSTOS_ECHANGED;
	return err == KUSTOS_OK ? ku_op_start(&h->deletion, deleted, h) : err;
}

/* It is known who waits, and the program leads: may it stop? */
static enum kustos_err prepare(struct handing *h, int own, int heir)
{
	enum kustos_err err = foresee(h, own, heir);

	if (err != KUSTOS_OK)
		return err;
	if (!h->candidate->may_delete)
		return try_to_delete(h);
	h->stopped = true;
	ku_term_end(h->candidate, h->term, &h->request->errand);
	return KUSTOS_OK;
}

/* It is known who waits: go on. */
static void decide(struct handing *h)
{
	const struct ku_survey *survey = &h->survey;
	int own = ku_heir_own(survey, ku_place_path(h->term->place));
	int heir = own >= 0 ? ku_heir_find(survey, own, &h->wish) : -1;
	enum kustos_err err = KUSTOS_OK;

	if (own < 0) {
		end(h,
			ku_heir_outcome(survey, &h->wish, h->unsure,
				is_certain(h)));
	} else if (heir < 0) {
		end(h,
			h->stopped ? KUSTOS_ECHANGED
				   : ku_heir_missing(survey, own));
	} else if (h->stopped) {
		err = send_deletion(h, own, heir);
	} else {
		err = prepare(h, own, heir);
	}
	if (err != KUSTOS_OK)
		end(h, err);
}

static void surveyed(struct ku_survey *survey)
{
	struct handing *h = survey->owner;

	if (survey->err != KUSTOS_OK)
		end(h, survey->err);
	else
		decide(h);
}

static void listed(struct ku_op *op)
{
	struct handing *h = op->owner;
	struct ku_candidate *c = h->candidate;
	enum kustos_err err = op->err;

	if (err == KUSTOS_ENONODE) /* the heir may have led, and left */
		err = h->unsure ? KUSTOS_EUNKNOWN : KUSTOS_ELOST;
	if (err == KUSTOS_OK) {
		ku_survey_free(&h->survey);
		err = ku_survey_init(&h->survey, c->client, c->rule,
			ku_line_path(c->line), op->out_names);
	}
	if (err != KUSTOS_OK) {
		end(h, err);
		return;
	}
	h->survey.done = surveyed;
	h->survey.owner = h;
	ku_survey_read(&h->survey);
}

/* See who waits. */
static void look(struct handing *h)
{
	struct ku_candidate *c = h->candidate;
	enum kustos_err err;

	ku_op_let_go(&h->listing);
	err = ku_op_new(c->client, KU_ZK_CHILDREN, ku_line_path(c->line), 0,
		&h->listing);
	if (err == KUSTOS_OK)
		err = ku_op_start(&h->listing, listed, h);
	if (err != KUSTOS_OK)
		end(h, err);
}

static void begin(struct ku_errand *errand)
{
	struct handing *h = ((struct request *)errand)->handing;

	h->candidate = errand->candidate;
	h->term = errand->term;
	h->epoch = errand->wait.client->session.epoch;
	look(h);
}

/* The program knows that it leads no more. */
static void inherit(struct ku_errand *errand)
{
	decide(((struct request *)errand)->handing);
}

/* Is the transaction on its way?  Then it is not known which of our other
   places are still there.  None of them must take itself for the next before
   that is known. */
static bool is_deleting(const struct handing *h)
{
	return h->deletion != NULL && !h->deletion->done &&
		h->deletion->request.slot != NULL;
}

static void cease(struct ku_errand *errand)
{
	struct request *request = (struct request *)errand;
	struct handing *h = request->handing;

	if (is_deleting(h)) {
		h->candidate->orphans++;
		h->request = NULL;
		request->handing = NULL;
		return;
	}
	relinquish(h); /* clean() ends the rest */
}

static void clean(struct ku_errand *errand)
{
	struct handing *h = ((struct request *)errand)->handing;

	if (h != NULL)
		handing_free(h);
}

static const struct ku_errand_calls calls = {
	.begin = begin,
	.inherit = inherit,
	.cease = cease,
	.clean = clean,
};

enum kustos_err ku_candidate_hand_over(struct ku_candidate *c, const void *id,
	size_t len, kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_candidate_done_fn *done, void *arg)
{
	struct request *request = calloc(1, sizeof(*request));
	struct handing *h = calloc(1, sizeof(*h));
	char *copy = id != NULL ? malloc(len + 1) : NULL;

	if (request == NULL || h == NULL || (copy == NULL && id != NULL)) {
		free(request);
		free(h);
		free(copy);
		return KUSTOS_ENOMEM;
	}
	if (id != NULL)
		memcpy(copy, id, len);
	h->request = request;
	h->id = copy;
	h->wish = (struct ku_heir_wish){ .id = copy, .len = len };
	request->handing = h;
	request->errand.calls = &calls;
	return ku_errand_do(c, &request->errand, deadline, cancel, done, arg);
}
