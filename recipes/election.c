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

	if (latch->on_gained != NULL)
		latch->on_gained(latch->arg, latch, hold);
}

static void lost(void *arg, struct kustos_hold *hold)
{
	struct kustos_latch *latch = arg;

	if (latch->on_lost != NULL)
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
		!ku_recipe_options(&o, sizeof(o), options))
		return KUSTOS_EINVAL;
	struct kustos_latch *latch = calloc(1, sizeof(*latch));
	if (latch == NULL)
		return KUSTOS_ENOMEM;
	latch->client = client;
	latch->on_gained = o.on_gained;
	latch->on_lost = o.on_lost;
	latch->arg = o.arg;
	struct ku_candidate_wish wish = {
		.rule = &ku_rule_latch,
		.leaf = "latch-",
		.data = o.id,
		.len = o.id != NULL ? strlen(o.id) : 0,
		.gained = gained,
		.lost = lost,
		.arg = latch,
		.cautious = o.cautious != 0,
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

void kustos_latch_close(struct kustos_latch *latch, int notify)
{
	if (check(latch) == KUSTOS_OK)
		ku_candidate_stop(latch->candidate, notify != 0);
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
