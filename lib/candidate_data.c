/* candidate_data.c - a leader changes the data of its node. */

#include "candidate_impl.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct edit {
	struct ku_errand errand; /* first: cast back from it */
	char *data;
	size_t len;
};

static void written(void *owner, enum kustos_err err)
{
	struct edit *edit = owner;
	struct ku_candidate *c = edit->errand.candidate;
	char *data = edit->data;

	if (err == KUSTOS_OK) {
		edit->data = c->data;
		c->data = data;
		c->len = edit->len;
	}
	ku_errand_end(&edit->errand, err);
}

static void begin(struct ku_errand *errand)
{
	struct edit *edit = (struct edit *)errand;
	enum kustos_err err = ku_place_write(errand->term->place, edit->data,
		edit->len, written, edit);

	if (err != KUSTOS_OK)
		ku_errand_end(errand, err);
}

/* A write under way goes on; it just calls nobody back. */
static void cease(struct ku_errand *errand)
{
	if (errand->term != NULL && errand->term->place != NULL)
		ku_place_unheed(errand->term->place, errand);
}

static void clean(struct ku_errand *errand)
{
	free(((struct edit *)errand)->data);
}

static const struct ku_errand_calls calls = {
	.begin = begin,
	.cease = cease,
	.clean = clean,
};

enum kustos_err ku_candidate_set_data(struct ku_candidate *c, const void *data,
	size_t len, kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_candidate_done_fn *done, void *arg)
{
	if (len > INT_MAX / 2)
		return KUSTOS_ETOOBIG;
	struct edit *edit = calloc(1, sizeof(*edit));
	char *copy = malloc(len + 1);

	if (edit == NULL || copy == NULL) {
		free(edit);
		free(copy);
		return KUSTOS_ENOMEM;
	}
	memcpy(copy, len > 0 ? data : "", len);
	edit->errand.calls = &calls;
	edit->data = copy;
	edit->len = len;
	return ku_errand_do(c, &edit->errand, deadline, cancel, done, arg);
}
