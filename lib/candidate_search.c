/*
 * candidate_search.c - a candidate goes on with the node of a former process.
 *
 * Its client has resumed the session of that process, so the nodes of that
 * session are still there, but belong to no place of ours.  One that is in our
 * line is taken over: preferably one with our data, else any.  Its data is
 * written anew, so that its version changes: if the former process is still
 * alive after all, it finds at its next look that it has lost the node.
 *
 * There may be several nodes with our data: the process may have died when it
 * had a new node and the old one was not yet deleted.  So the newest is taken:
 * the term of an older one is over, and those behind it may have led since.
 * The others would stay as long as the session, and keep everybody behind them
 * waiting; so they are deleted.
 *
 * A new node of ours beside one that stays would wait for the end of our own
 * session.  So if some nodes could not be looked at, the search is repeated.
 */

#include "candidate_impl.h"

#include <stdlib.h>
#include <string.h>

struct ku_search {
	struct ku_candidate *candidate;
	struct ku_op *listing;
	struct ku_survey survey;
	uint64_t strays; /* found before the listing */
};

void ku_candidate_stop_search(struct ku_candidate *c)
{
	struct ku_search *search = c->search;

	c->search = NULL;
	if (search == NULL)
		return;
	ku_op_let_go(&search->listing);
	ku_survey_free(&search->survey);
	free(search);
}

/* Is it a node of this session, which the former process may have left? */
static bool is_left(const struct ku_candidate *c, const struct ku_op *op)
{
	return op->err == KUSTOS_OK && op->kind == KU_ZK_GET &&
		op->out_stat.ephemeral_owner == c->client->session.id;
}

/* Does this client deal with the node at "one" already: is it one of its places,
   or was it made late, and is to be deleted (stray.h)? */
static bool is_known(const struct ku_candidate *c,
	const struct ku_sighting *one)
{
	return ku_lines_have(c->client, one->path) ||
		ku_strays_have(c->client, one->op->path);
}

static bool says_our_data(const struct ku_candidate *c, const struct ku_op *op)
{
	return op->out_len == (int)c->len &&
		memcmp(op->out_data, c->data, c->len) == 0;
}

/* The write into the node has ended; if it failed, the node is not ours. */
static void claimed(void *owner, enum kustos_err err)
{
	struct ku_term *term = owner;
	struct ku_candidate *c = term->candidate;

	if (err == KUSTOS_OK || term->over)
		return;
	ku_term_end(c, term, NULL);
	ku_candidate_line_up(c);
}

/* Begin a term with "found", or with a new node if that is NULL.  If "found"
   turns out to be a place of ours, the search is repeated; if it is gone,
   another node is made. */
static void begin(struct ku_candidate *c, const struct ku_sighting *found)
{
	ku_term_begin(c, found);
	if (found == NULL || c->term == NULL)
		return;
	enum kustos_err err = ku_place_write(c->term->place, c->data, c->len,
		claimed, c->term);
	if (err != KUSTOS_OK)
		claimed(c->term, err);
}

/* Delete "one", whatever happens to the connection. */
static enum kustos_err dismiss(struct ku_candidate *c,
	const struct ku_sighting *one)
{
	struct ku_place *place;
	enum kustos_err err = ku_place_adopt(c->line, &c->kind, c->data, c->len,
		one->path, &one->op->out_stat, NULL, &place);

	if (err == KUSTOS_OK)
		ku_place_leave(place);
	return err;
}

/* Delete the nodes with our data that the former process had no more use for:
   all but "found". */
static enum kustos_err dismiss_rest(struct ku_candidate *c,
	const struct ku_survey *survey, const struct ku_sighting *found)
{
	enum kustos_err err = KUSTOS_OK;

	for (size_t i = 0; i < survey->count && err == KUSTOS_OK; i++) {
		const struct ku_sighting *one = &survey->list[i];

		if (one != found && is_left(c, one->op) &&
			says_our_data(c, one->op) && !is_known(c, one))
			err = dismiss(c, one);
	}
	return err;
}

/* Is "one" a better choice than "other"? */
static bool is_better(const struct ku_candidate *c,
	const struct ku_sighting *one, const struct ku_sighting *other)
{
	if (other == NULL || !says_our_data(c, one->op))
		return other == NULL;
	return !says_our_data(c, other->op) ||
		one->op->out_stat.czxid > other->op->out_stat.czxid;
}

/* Choose the node to be taken over, or NULL. */
static const struct ku_sighting *choose(const struct ku_candidate *c,
	const struct ku_survey *survey)
{
	const struct ku_sighting *found = NULL;

	for (size_t i = 0; i < survey->count; i++) {
		const struct ku_sighting *one = &survey->list[i];

		if (!is_left(c, one->op) || is_known(c, one))
			continue;
		if (is_better(c, one, found))
			found = one;
	}
	return found;
}

/* Was memory too short for one of the reads?  A node that we may not read is
   not ours. */
static bool is_patchy(const struct ku_survey *survey)
{
	for (size_t i = 0; i < survey->count; i++)
		if (survey->list[i].op == NULL || !survey->list[i].op->done ||
			survey->list[i].op->err == KUSTOS_ENOMEM)
			return true;
	return false;
}

static void search_again(struct ku_candidate *c, enum kustos_err err)
{
	ku_candidate_stop_search(c);
	c->resumes = true;
	ku_candidate_put_off(c, err);
}

static void surveyed(struct ku_survey *survey)
{
	struct ku_search *search = survey->owner;
	struct ku_candidate *c = search->candidate;
	const struct ku_sighting *found = NULL;
	enum kustos_err err = KUSTOS_ENOMEM;

	/* A node that was found meanwhile may be gone, although it was read. */
	if (!is_patchy(survey) && search->strays == c->client->strays.found) {
		found = choose(c, survey);
		err = dismiss_rest(c, survey, found);
	}
	if (err != KUSTOS_OK) {
		search_again(c, err);
		return;
	}
	begin(c, found);
	ku_candidate_stop_search(c);
}

static void listed(struct ku_op *op)
{
	struct ku_search *search = op->owner;
	struct ku_candidate *c = search->candidate;
	bool resumed = c->client->session.id == c->client->config.resume.id;
	enum kustos_err err = op->err;

	if (err == KUSTOS_OK && resumed)
		err = ku_survey_init(&search->survey, c->client, c->rule,
			ku_line_path(c->line), op->out_names);
	if (err == KUSTOS_ENONODE || !resumed) {
		ku_candidate_stop_search(c);
		ku_term_begin(c, NULL);
		return;
	}
	if (err != KUSTOS_OK) {
		search_again(c, err);
		return;
	}
	search->survey.done = surveyed;
	search->survey.owner = search;
	ku_survey_read(&search->survey);
}

void ku_candidate_search(struct ku_candidate *c)
{
	struct ku_search *search = calloc(1, sizeof(*search));
	enum kustos_err err = KUSTOS_ENOMEM;

	c->resumes = false; /* once */
	c->search = search;
	if (search != NULL) {
		search->candidate = c;
		search->strays = c->client->strays.found;
		err = ku_op_new(c->client, KU_ZK_CHILDREN,
			ku_line_path(c->line), 0, &search->listing);
	}
	if (err == KUSTOS_OK)
		err = ku_op_start(&search->listing, listed, search);
	if (err != KUSTOS_OK)
		search_again(c, err);
}
