/*
 * election.c - the calls of <kustos/election.h>, passed on to a candidate.
 */
#include <kustos/election.h>

#include "recipe.h"

#include <stdlib.h>
#include <string.h>

struct kustos_latch {
	struct kustos_client *client;
	struct ku_candidate *candidate;
	bool one_node;
	kustos_latch_fn *on_gained, *on_lost;
	void *arg;
};

const char *kustos_latch_state_name(enum kustos_latch_state state)
{
	static const char *const names[] = { "IDLE", "WAITING", "LEADS",
		"UNSURE", "FAILED", "CLOSED" };

	if ((unsigned)state >= sizeof(names) / sizeof(names[0]))
		return "UNKNOWN";
	return names[state];
}

static void gained(void *arg, struct kustos_hold *hold)
{
	struct kustos_latch *latch = arg;

	latch->on_gained(latch->arg, latch, hold);
}

static void lost(void *arg, struct kustos_hold *hold)
{
	struct kustos_latch *latch = arg;

	latch->on_lost(latch->arg, latch, hold);
}

enum kustos_err kustos_latch_create(struct kustos_client *client,
	const char *path, const struct kustos_latch_options *options,
	struct kustos_latch **out)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || out == NULL ||
		!ku_recipe_options(&o, sizeof(o), options) || o.reserved != 0)
		return KUSTOS_EINVAL;
	struct kustos_latch *latch = calloc(1, sizeof(*latch));
	if (latch == NULL)
		return KUSTOS_ENOMEM;
	latch->client = client;
	latch->on_gained = o.on_gained;
	latch->on_lost = o.on_lost;
	latch->arg = o.arg;
	latch->one_node = o.one_node != 0;
	struct ku_candidate_wish wish = {
		.rule = o.one_node != 0 ? &ku_rule_seat : &ku_rule_latch,
		.leaf = "latch-",
		.data = o.id,
		.len = o.id != NULL ? strlen(o.id) : 0,
		.gained = o.on_gained != NULL ? gained : NULL,
		.lost = o.on_lost != NULL ? lost : NULL,
		.arg = latch,
		.cautious = o.cautious != 0,
		.jealous = true,
		.resumes = o.resume != 0,
	};
	err = ku_candidate_create(client, path, &wish, &latch->candidate);
	if (err == KUSTOS_OK)
		*out = latch;
	else
		free(latch);
	return err;
}

static enum kustos_err check(const struct kustos_latch *latch)
{
	return latch != NULL ? ku_recipe_check(latch->client) : KUSTOS_EINVAL;
}

void kustos_latch_destroy(struct kustos_latch *latch)
{
	if (check(latch) != KUSTOS_OK)
		return;
	ku_candidate_destroy(latch->candidate);
	free(latch);
}

enum kustos_err kustos_latch_start(struct kustos_latch *latch)
{
	enum kustos_err err = check(latch);

	return err != KUSTOS_OK ? err : ku_candidate_start(latch->candidate);
}

void kustos_latch_close(struct kustos_latch *latch, enum kustos_close_mode mode)
{
	if (check(latch) == KUSTOS_OK)
		ku_candidate_stop(latch->candidate,
			mode != KUSTOS_CLOSE_SILENT);
}

enum kustos_latch_state kustos_latch_state(struct kustos_latch *latch)
{
	static const enum kustos_latch_state states[] = {
		[KU_CANDIDATE_IDLE] = KUSTOS_LATCH_IDLE,
		[KU_CANDIDATE_WAITS] = KUSTOS_LATCH_WAITING,
		[KU_CANDIDATE_LEADS] = KUSTOS_LATCH_LEADS,
		[KU_CANDIDATE_UNSURE] = KUSTOS_LATCH_UNSURE,
		[KU_CANDIDATE_FAILED] = KUSTOS_LATCH_FAILED,
		[KU_CANDIDATE_STOPPED] = KUSTOS_LATCH_CLOSED,
	};

	if (check(latch) != KUSTOS_OK)
		return KUSTOS_LATCH_CLOSED;
	return states[ku_candidate_state(latch->candidate)];
}

int kustos_latch_leads(struct kustos_latch *latch)
{
	enum kustos_latch_state state = kustos_latch_state(latch);

	return state == KUSTOS_LATCH_LEADS || state == KUSTOS_LATCH_UNSURE;
}

enum kustos_err kustos_latch_error(struct kustos_latch *latch)
{
	enum kustos_err err = check(latch);

	return err != KUSTOS_OK ? err : ku_candidate_error(latch->candidate);
}

enum kustos_err kustos_latch_wait(struct kustos_latch *latch,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = check(latch);

	return err != KUSTOS_OK
		? err
		: ku_candidate_wait(latch->candidate, deadline, cancel);
}

int64_t kustos_latch_term(struct kustos_latch *latch)
{
	return check(latch) == KUSTOS_OK ? ku_candidate_term(latch->candidate)
					 : 0;
}

/* If "done" is NULL, wait for the end. */
static enum kustos_err set_data(struct kustos_latch *latch, const void *data,
	size_t len, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	enum kustos_err err = check(latch);

	if (err == KUSTOS_OK && data == NULL && len > 0)
		err = KUSTOS_EINVAL;
	return err != KUSTOS_OK ? err
				: ku_candidate_set_data(latch->candidate, data,
					  len, deadline, cancel, done, arg);
}

enum kustos_err kustos_latch_set_data(struct kustos_latch *latch,
	const void *data, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	return set_data(latch, data, len, deadline, cancel, NULL, NULL);
}

enum kustos_err kustos_latch_set_data_async(struct kustos_latch *latch,
	const void *data, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg)
{
	return done == NULL
		? KUSTOS_EINVAL
		: set_data(latch, data, len, deadline, cancel, done, arg);
}

static enum kustos_err hand_over(struct kustos_latch *latch, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	enum kustos_err err = check(latch);

	if (err == KUSTOS_OK && latch->one_node)
		err = KUSTOS_EUNSUPPORTED; /* no node tells who waits */
	return err != KUSTOS_OK ? err
				: ku_candidate_hand_over(latch->candidate, id,
					  id != NULL ? strlen(id) : 0, deadline,
					  cancel, done, arg);
}

enum kustos_err kustos_latch_hand_over(struct kustos_latch *latch,
	const char *id, kustos_deadline deadline, struct kustos_cancel *cancel)
{
	return hand_over(latch, id, deadline, cancel, NULL, NULL);
}

enum kustos_err kustos_latch_hand_over_async(struct kustos_latch *latch,
	const char *id, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	return done == NULL ? KUSTOS_EINVAL
			    : hand_over(latch, id, deadline, cancel, done, arg);
}
