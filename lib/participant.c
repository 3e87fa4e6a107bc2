/* participant.c - who stands in a line, seen and touched from outside. */

#include "client.h"
#include "rank.h"
#include "recipe.h"

#include <kustos/node.h>
#include <kustos/participant.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One participant, and the read that tells about it. */
struct entry {
	struct ku_contender contender;
	char *path;
	struct ku_op *op;
};

/* All reads are sent at once, and ended together. */
struct survey {
	struct ku_wait wait; /* first: cast back from it */
	struct entry *entries;
	size_t count;
	size_t foreign;
	size_t pending; /* reads that have not ended */
	enum kustos_err err;
};

void kustos_participants_free(struct kustos_participants *list)
{
	if (list == NULL)
		return;
	for (size_t i = 0; i < list->count; i++) {
		free((char *)list->list[i].path);
		free((void *)list->list[i].data);
	}
	free(list->list);
	free(list);
}

static int by_number(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;

	if (x->contender.number == y->contender.number)
		return strcmp(x->path, y->path);
	return ku_number_before(x->contender.number, y->contender.number) ? -1
									  : 1;
}

/* Keep the names of those that take part, in their order. */
static enum kustos_err sort_names(struct survey *survey, const char *parent,
	const struct kustos_names *names)
{
	survey->entries = calloc(names->count + 1, sizeof(*survey->entries));
	if (survey->entries == NULL)
		return KUSTOS_ENOMEM;
	for (size_t i = 0; i < names->count; i++) {
		struct entry *entry = &survey->entries[survey->count];
		const char *name = names->names[i];

		if (!ku_contender_parse(&ku_rule_any, name,
			    &entry->contender)) {
			survey->foreign++;
			continue;
		}
		entry->path = malloc(strlen(parent) + strlen(name) + 2);
		if (entry->path == NULL)
			return KUSTOS_ENOMEM;
		stpcpy(stpcpy(stpcpy(entry->path, parent), "/"), name);
		survey->count++;
	}
	qsort(survey->entries, survey->count, sizeof(*survey->entries),
		by_number);
	return KUSTOS_OK;
}

static void was_read(struct ku_op *op)
{
	struct survey *survey = op->owner;

	if (op->err != KUSTOS_OK && op->err != KUSTOS_ENONODE)
		survey->err = op->err;
	if (--survey->pending == 0)
		ku_wait_end(&survey->wait, survey->err);
}

static enum kustos_err start_reads(struct ku_wait *wait)
{
	struct survey *survey = (struct survey *)wait;
	enum kustos_err err = KUSTOS_OK;

	survey->pending = 1; /* this function */
	for (size_t i = 0; i < survey->count && err == KUSTOS_OK; i++) {
		survey->pending++;
		err = ku_op_owned(survey->entries[i].op);
	}
	if (err != KUSTOS_OK) {
		survey->pending--;
		survey->err = err;
	}
	if (--survey->pending == 0)
		ku_wait_end(wait, survey->err);
	return KUSTOS_OK;
}

static void stop_reads(struct ku_wait *wait, enum kustos_err why)
{
	struct survey *survey = (struct survey *)wait;

	for (size_t i = 0; i < survey->count; i++)
		if (survey->entries[i].op->started)
			ku_op_finish(survey->entries[i].op, why);
}

static const struct ku_wait_calls read_calls = { start_reads, stop_reads,
	NULL };

/* Read all of them at once. */
static enum kustos_err read_all(struct survey *survey, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	for (size_t i = 0; i < survey->count; i++) {
		struct entry *entry = &survey->entries[i];
		enum kustos_err err = ku_op_new(survey->wait.client, KU_ZK_GET,
			entry->path, 0, &entry->op);

		if (err != KUSTOS_OK)
			return err;
		entry->op->ended = was_read;
		entry->op->owner = survey;
	}
	survey->wait.calls = &read_calls;
	return ku_wait_block(&survey->wait, deadline, cancel);
}

/* So many at the front are compared with all. */
#define FRONT 16

/* Does one of the two not see the other? */
static bool are_mixed(const struct kustos_participant *a,
	const struct kustos_participant *b)
{
	bool one_line = ku_kind_line(a->kind) == ku_kind_line(b->kind) ||
		a->style == KUSTOS_STYLE_KAZOO;

	return !one_line || !ku_style_sees(a->style, b->style) ||
		!ku_style_sees(b->style, a->style);
}

static int is_mixed(const struct kustos_participants *list)
{
	for (size_t i = 0; i < list->count; i++)
		for (size_t j = 0; j < list->count && j < FRONT; j++)
			if (are_mixed(&list->list[i], &list->list[j]))
				return 1;
	return 0;
}

#define KINDS 4

/* Mark who holds: for none of those before does it wait. */
static void mark_holders(struct kustos_participants *list)
{
	struct ku_contender seen[2][KINDS]; /* the first of each; by style */
	bool there[2][KINDS] = { { false } };

	for (size_t i = 0; i < list->count; i++) {
		struct kustos_participant *p = &list->list[i];
		struct ku_contender one = { (int32_t)p->number, p->style,
			p->kind };
		int kazoo = p->style == KUSTOS_STYLE_KAZOO;

		p->holds = 1;
		for (int k = 0; k < 2 * KINDS; k++)
			if (there[k / KINDS][k % KINDS] &&
				ku_contender_blocks(&seen[k / KINDS][k % KINDS],
					&one))
				p->holds = 0;
		if (there[kazoo][p->kind])
			continue;
		there[kazoo][p->kind] = true;
		seen[kazoo][p->kind] = one;
	}
}

static enum kustos_err hand_out(struct survey *survey,
	struct kustos_participants **out)
{
	struct kustos_participants *all = calloc(1, sizeof(*all));
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now); /* as the server's ctime */
	int64_t now_ms = now.tv_sec * INT64_C(1000) +
		now.tv_nsec / KU_NS_PER_MS;
	if (all == NULL)
		return KUSTOS_ENOMEM;
	all->list = calloc(survey->count + 1, sizeof(*all->list));
	if (all->list == NULL) {
		free(all);
		return KUSTOS_ENOMEM;
	}
	for (size_t i = 0; i < survey->count; i++) {
		struct entry *entry = &survey->entries[i];

		if (entry->op->err != KUSTOS_OK)
			continue; /* it has left */
		all->list[all->count] = (struct kustos_participant){
			.path = entry->path,
			.number = entry->contender.number,
			.style = entry->contender.style,
			.kind = entry->contender.kind,
			.data = entry->op->out_data,
			.len = entry->op->out_len > 0
				? (size_t)entry->op->out_len
				: 0,
			.stat = entry->op->out_stat,
			.age_ms = now_ms > entry->op->out_stat.ctime_ms
				? now_ms - entry->op->out_stat.ctime_ms
				: 0,
		};
		entry->path = entry->op->out_data = NULL;
		all->count++;
	}
	all->foreign = survey->foreign;
	all->mixed = is_mixed(all);
	mark_holders(all);
	*out = all;
	return KUSTOS_OK;
}

static void survey_free(struct survey *survey)
{
	for (size_t i = 0; i < survey->count; i++) {
		free(survey->entries[i].path);
		ku_op_free(survey->entries[i].op);
	}
	free(survey->entries);
}

static enum kustos_err survey(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_participants **out)
{
	struct survey survey = { .wait.client = client };
	struct kustos_names *names = NULL;
	enum kustos_err err = kustos_children(client, path, deadline, cancel,
		&names, NULL);

	if (err != KUSTOS_OK)
		return err;
	err = sort_names(&survey, strcmp(path, "/") == 0 ? "" : path, names);
	if (err == KUSTOS_OK)
		err = read_all(&survey, deadline, cancel);
	if (err == KUSTOS_OK)
		err = hand_out(&survey, out);
	survey_free(&survey);
	kustos_names_free(names);
	return err;
}

enum kustos_err kustos_participants(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_participants **out)
{
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (out == NULL)
		return KUSTOS_EINVAL;
	/* One call, for a close that waits for it. */
	ku_lock(client);
	ku_enter(client);
	ku_unlock(client);
	err = survey(client, path, deadline, cancel, out);
	ku_lock(client);
	ku_leave(client);
	ku_unlock(client);
	return err;
}

enum kustos_err kustos_participant_revoke(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	static const char request[] = "__REVOKE__";

	return kustos_set(client, path, request, sizeof(request) - 1, -1,
		deadline, cancel, NULL);
}

enum kustos_err kustos_participant_break(struct kustos_client *client,
	const struct kustos_participant *shown, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	struct kustos_stat now;

	if (shown == NULL)
		return KUSTOS_EINVAL;
	enum kustos_err err = kustos_exists(client, shown->path, deadline,
		cancel, &now);
	if (err != KUSTOS_OK)
		return err;
	if (now.czxid != shown->stat.czxid ||
		now.ephemeral_owner != shown->stat.ephemeral_owner)
		return KUSTOS_ECHANGED;
	/* A name is given once, so a node there is this one; a version that
	   has changed since is that of a request to give it back. */
	return kustos_delete(client, shown->path, -1, deadline, cancel);
}

enum kustos_err kustos_line_clean(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	enum kustos_err err = kustos_delete(client, path, -1, deadline, cancel);

	return err == KUSTOS_ENOTEMPTY || err == KUSTOS_ENONODE ? KUSTOS_OK
								: err;
}
