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
 * In a line of one there is at most one such node, and only its czxid tells
 * that no other object of this client has made it.
 *
 * A new node of ours beside one that stays would wait for the end of our own
 * session.  So if some nodes could not be looked at, the search is repeated.
 */

#include "candidate_impl.h"
#include "legacy.h"

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

static struct ku_successor successor_of(const struct ku_candidate *c)
{
	return (struct ku_successor){ .session_id = c->client->session.id,
		.data = c->data,
		.len = c->len };
}

static bool is_resumed(const struct ku_candidate *c)
{
	return c->client->session.id == c->client->config.resume.id;
}

/* Was this node, whose name tells nothing, made by this client? */
static bool is_made(const struct ku_candidate *c, const struct ku_sighting *one)
{
	int64_t czxid = ku_footprint_czxid(&c->client->footprint,
		one->op->path);

	return c->rule->seat &&
		(czxid == 0 || czxid == one->op->out_stat.czxid);
}

/* Mark the nodes with which this client deals already: they are its places, or
   were made late, and are to be deleted (stray.h). */
static void mark_known(const struct ku_candidate *c, struct ku_survey *survey)
{
	struct ku_successor us = successor_of(c);

	for (size_t i = 0; i < survey->count; i++) {
		struct ku_sighting *one = &survey->list[i];

		one->known = ku_legacy_left(&us, one) &&
			(ku_lines_have(c->client, one->path) ||
				is_made(c, one) ||
				ku_strays_have(c->client, one->op->path));
	}
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

/* Choose the node to go on with, or NULL, and delete those for which the former
   process had no more use. */
static enum kustos_err sort_out(struct ku_candidate *c,
	struct ku_survey *survey, const struct ku_sighting **found)
{
	struct ku_successor us = successor_of(c);
	enum kustos_err err = KUSTOS_OK;

	mark_known(c, survey);
	*found = ku_legacy_choose(&us, survey);
	for (size_t i = 0; i < survey->count && err == KUSTOS_OK; i++)
		if (ku_legacy_spare(&us, &survey->list[i], *found))
			err = dismiss(c, &survey->list[i]);
	return err;
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

	if (!is_resumed(c)) {
		ku_candidate_stop_search(c);
		ku_term_begin(c, NULL);
		return;
	}
	/* A node that was found meanwhile may be gone, although it was read. */
	if (!ku_legacy_patchy(survey) &&
		search->strays == c->client->strays.found)
		err = sort_out(c, survey, &found);
	if (err != KUSTOS_OK) {
		search_again(c, err);
		return;
	}
	begin(c, found);
	ku_candidate_stop_search(c);
}

static void read_nodes(struct ku_search *search)
{
	search->survey.done = surveyed;
	search->survey.owner = search;
	ku_survey_read(&search->survey);
}

static void listed(struct ku_op *op)
{
	struct ku_search *search = op->owner;
	struct ku_candidate *c = search->candidate;
	bool resumed = is_resumed(c);
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
	read_nodes(search);
}

/* Begin to list the line; or, in a line of one, to read its node. */
static enum kustos_err begin_search(struct ku_search *search)
{
	struct ku_candidate *c = search->candidate;
	const char *path = ku_line_path(c->line);
	enum kustos_err err;

	if (c->rule->seat) {
		err = ku_survey_init_node(&search->survey, c->client, path);
		if (err == KUSTOS_OK)
			read_nodes(search);
		return err;
	}
	err = ku_op_new(c->client, KU_ZK_CHILDREN, path, 0, &search->listing);
	if (err == KUSTOS_OK)
		err = ku_op_start(&search->listing, listed, search);
	return err;
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
		err = begin_search(search);
	}
	if (err != KUSTOS_OK)
		search_again(c, err);
}
