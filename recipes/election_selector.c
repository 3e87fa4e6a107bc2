/*
 * election_selector.c - the calls of a selector in <kustos/election.h>,
 * passed on to a leader.
 */
#include <kustos/election.h>

#include "recipe.h"

#include <stdlib.h>
#include <string.h>

struct kustos_selector {
	struct kustos_client *client;
	struct ku_leader *leader;
	kustos_selector_fn *lead;
	void *arg;
};

const char *kustos_selector_state_name(enum kustos_selector_state state)
{
	static const char *const names[] = { "IDLE", "WAITING", "LEADS",
		"UNSURE", "FAILED", "CLOSED", "LOST" };

	if ((unsigned)state >= sizeof(names) / sizeof(names[0]))
		return "UNKNOWN";
	return names[state];
}

static void lead(void *arg, struct kustos_hold *hold,
	struct kustos_cancel *cancel)
{
	struct kustos_selector *s = arg;

	s->lead(s->arg, s, hold, cancel);
}

static bool read_options(const struct kustos_selector_options *from,
	struct kustos_selector_options *to)
{
	return ku_recipe_options(to, sizeof(*to), from) && to->lead != NULL &&
		ku_recipe_dialect(to->dialect);
}

enum kustos_err kustos_selector_create(struct kustos_client *client,
	const char *path, const struct kustos_selector_options *options,
	struct kustos_selector **out)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || out == NULL || !read_options(options, &o))
		return KUSTOS_EINVAL;
	struct kustos_selector *s = calloc(1, sizeof(*s));
	if (s == NULL)
		return KUSTOS_ENOMEM;
	s->client = client;
	s->lead = o.lead;
	s->arg = o.arg;
	bool kazoo = o.dialect == KUSTOS_DIALECT_KAZOO;
	struct ku_leader_wish wish = {
		.candidate = {
			.rule = &ku_rule_lock,
			.leaf = kazoo ? "__lock__" : "lock-",
			.bare = kazoo,
			.data = o.id,
			.len = o.id != NULL ? strlen(o.id) : 0,
			.cautious = o.cautious != 0,
			.jealous = true,
			.resumes = o.resume != 0,
		},
		.fn = lead,
		.arg = s,
		.requeues = o.requeues != 0,
	};
	err = ku_leader_create(client, path, &wish, &s->leader);
	if (err == KUSTOS_OK)
		*out = s;
	else
		free(s);
	return err;
}

static enum kustos_err check(const struct kustos_selector *s)
{
	return s != NULL ? ku_recipe_check(s->client) : KUSTOS_EINVAL;
}

void kustos_selector_destroy(struct kustos_selector *s)
{
	if (check(s) != KUSTOS_OK)
		return;
	ku_leader_destroy(s->leader);
	free(s);
}

enum kustos_err kustos_selector_start(struct kustos_selector *s)
{
	enum kustos_err err = check(s);

	return err != KUSTOS_OK ? err : ku_leader_start(s->leader);
}

enum kustos_err kustos_selector_requeue(struct kustos_selector *s)
{
	enum kustos_err err = check(s);

	return err != KUSTOS_OK ? err : ku_leader_requeue(s->leader);
}

enum kustos_err kustos_selector_interrupt(struct kustos_selector *s)
{
	enum kustos_err err = check(s);

	return err != KUSTOS_OK ? err : ku_leader_interrupt(s->leader);
}

void kustos_selector_close(struct kustos_selector *s)
{
	if (check(s) == KUSTOS_OK)
		ku_leader_stop(s->leader);
}

enum kustos_selector_state kustos_selector_state(struct kustos_selector *s)
{
	static const enum kustos_selector_state states[] = {
		[KU_CANDIDATE_IDLE] = KUSTOS_SELECTOR_IDLE,
		[KU_CANDIDATE_WAITS] = KUSTOS_SELECTOR_WAITING,
		[KU_CANDIDATE_LEADS] = KUSTOS_SELECTOR_LEADS,
		[KU_CANDIDATE_UNSURE] = KUSTOS_SELECTOR_UNSURE,
		[KU_CANDIDATE_FAILED] = KUSTOS_SELECTOR_FAILED,
		[KU_CANDIDATE_STOPPED] = KUSTOS_SELECTOR_CLOSED,
	};
	enum kustos_selector_state state;
	bool in_term;

	if (check(s) != KUSTOS_OK)
		return KUSTOS_SELECTOR_CLOSED;
	state = states[ku_leader_state(s->leader, &in_term)];
	if (in_term &&
		(state == KUSTOS_SELECTOR_IDLE ||
			state == KUSTOS_SELECTOR_WAITING))
		return KUSTOS_SELECTOR_LOST;
	return state;
}

int kustos_selector_leads(struct kustos_selector *s)
{
	enum kustos_selector_state state = kustos_selector_state(s);

	return state == KUSTOS_SELECTOR_LEADS ||
		state == KUSTOS_SELECTOR_UNSURE;
}

enum kustos_err kustos_selector_error(struct kustos_selector *s)
{
	enum kustos_err err = check(s);

	return err != KUSTOS_OK
		? err
		: ku_candidate_error(ku_leader_candidate(s->leader));
}

int64_t kustos_selector_term(struct kustos_selector *s)
{
	return check(s) == KUSTOS_OK
		? ku_candidate_term(ku_leader_candidate(s->leader))
		: 0;
}

int kustos_selector_mixed(struct kustos_selector *s)
{
	return check(s) == KUSTOS_OK &&
		ku_candidate_mixed(ku_leader_candidate(s->leader));
}

/* If "done" is NULL, wait for the end. */
static enum kustos_err set_data(struct kustos_selector *s, const void *data,
	size_t len, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	enum kustos_err err = check(s);

	if (err == KUSTOS_OK && data == NULL && len > 0)
		err = KUSTOS_EINVAL;
	return err != KUSTOS_OK
		? err
		: ku_candidate_set_data(ku_leader_candidate(s->leader), data,
			  len, deadline, cancel, done, arg);
}

enum kustos_err kustos_selector_set_data(struct kustos_selector *s,
	const void *data, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	return set_data(s, data, len, deadline, cancel, NULL, NULL);
}

enum kustos_err kustos_selector_set_data_async(struct kustos_selector *s,
	const void *data, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg)
{
	return done == NULL
		? KUSTOS_EINVAL
		: set_data(s, data, len, deadline, cancel, done, arg);
}

static enum kustos_err hand_over(struct kustos_selector *s, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	enum kustos_err err = check(s);

	return err != KUSTOS_OK ? err
				: ku_leader_hand_over(s->leader, id,
					  id != NULL ? strlen(id) : 0, deadline,
					  cancel, done, arg);
}

enum kustos_err kustos_selector_hand_over(struct kustos_selector *s,
	const char *id, kustos_deadline deadline, struct kustos_cancel *cancel)
{
	return hand_over(s, id, deadline, cancel, NULL, NULL);
}

enum kustos_err kustos_selector_hand_over_async(struct kustos_selector *s,
	const char *id, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	return done == NULL ? KUSTOS_EINVAL
			    : hand_over(s, id, deadline, cancel, done, arg);
}
