/* participant.c - the participants of a line, seen and acted on from
   outside. */

#include "participant.h"
#include "client.h"
#include "recipe.h"
#include "survey.h"

#include <kustos/node.h>
#include <kustos/participant.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void kustos_participants_free(struct kustos_participants *list)
{
	if (list == NULL)
		return;
	for (size_t i = 0; i < list->count; i++) {
		free((char *)list->list[i]->path);
		free((void *)list->list[i]->data);
	}
	free(list);
}

/* How many at the front are compared with all. */
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
			if (are_mixed(list->list[i], list->list[j]))
				return 1;
	return 0;
}

#define KINDS 5

/* Mark the holders: those that wait for none of the participants before
   them. */
static void mark_holders(struct kustos_participants *list)
{
	struct ku_contender seen[2][KINDS]; /* the first of each; [1]: kazoo */
	bool there[2][KINDS] = { { false } };

	for (size_t i = 0; i < list->count; i++) {
		struct kustos_participant *p = list->list[i];
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

/* kazoo's writers have the same names as its plain locks.  If readers of
   kazoo's stand beside them, they are writers. */
static void tell_writers(struct kustos_participants *list)
{
	bool read = false;

	for (size_t i = 0; i < list->count; i++)
		read = read ||
			(list->list[i]->style == KUSTOS_STYLE_KAZOO &&
				list->list[i]->kind == KUSTOS_KIND_READ);
	for (size_t i = 0; i < list->count && read; i++)
		if (list->list[i]->style == KUSTOS_STYLE_KAZOO &&
			list->list[i]->kind == KUSTOS_KIND_LOCK)
			list->list[i]->kind = KUSTOS_KIND_WRITE;
}

/* Does "a" stand before "b"?  A writer stands before the reader it becomes. */
static bool is_before(const struct ku_contender *a,
	const struct ku_contender *b)
{
	if (a->number == b->number)
		return !ku_contender_shares(a);
	return ku_number_before(a->number, b->number);
}

const char *ku_participant_first(const char *const *names, int count,
	struct ku_contender *first)
{
	const char *name = NULL;
	struct ku_contender one;

	for (int i = 0; i < count; i++) {
		if (!ku_contender_parse(&ku_rule_any, names[i], &one) ||
			(name != NULL && !is_before(&one, first)))
			continue;
		name = names[i];
		*first = one;
	}
	return name;
}

int64_t ku_participant_age_ms(const struct kustos_stat *stat)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now); /* as the server's ctime */
	int64_t age_ms = now.tv_sec * INT64_C(1000) +
		now.tv_nsec / KU_NS_PER_MS - stat->ctime_ms;
	return age_ms > 0 ? age_ms : 0;
}

/* A list, its participants, and the pointers to them, in one allocation.  The
   pointers are the last, where nothing after them can be misaligned. */
struct sheet {
	struct kustos_participants all; /* first: freed by its address */
	struct kustos_participant one[];
};

static struct kustos_participants *make_list(size_t room)
{
	struct sheet *sheet = calloc(1,
		sizeof(*sheet) +
			room * (sizeof(*sheet->one) + sizeof(*sheet->all.list)));

	if (sheet == NULL)
		return NULL;
	sheet->all.list = (struct kustos_participant **)(sheet->one + room);
	for (size_t i = 0; i < room; i++)
		sheet->all.list[i] = &sheet->one[i];
	return &sheet->all;
}

static enum kustos_err hand_out(struct ku_survey *survey,
	struct kustos_participants **out)
{
	struct kustos_participants *all = make_list(survey->count);

	if (all == NULL)
		return KUSTOS_ENOMEM;
	for (size_t i = 0; i < survey->count; i++) {
		struct ku_sighting *entry = &survey->list[i];

		if (entry->op->err == KUSTOS_ENONODE)
			continue; /* it has left */
		*all->list[all->count++] = (struct kustos_participant){
			.path = entry->path,
			.number = entry->contender.number,
			.style = entry->contender.style,
			.kind = entry->contender.kind,
			.data = entry->op->out_data,
			.len = entry->op->out_len > 0
				? (size_t)entry->op->out_len
				: 0,
			.stat = entry->op->out_stat,
			.age_ms = entry->op->err == KUSTOS_OK
				? ku_participant_age_ms(&entry->op->out_stat)
				: 0,
		};
		entry->path = entry->op->out_data = NULL;
	}
	all->foreign = survey->foreign;
	tell_writers(all);
	all->mixed = is_mixed(all);
	mark_holders(all);
	*out = all;
	return KUSTOS_OK;
}

/* A caller that waits for a survey. */
struct viewer {
	struct ku_wait wait; /* first: cast back from it */
	struct ku_survey survey;
};

static void surveyed(struct ku_survey *survey)
{
	struct viewer *viewer = survey->owner;

	ku_wait_end(&viewer->wait, survey->err);
}

static enum kustos_err start_reads(struct ku_wait *wait)
{
	ku_survey_read(&((struct viewer *)wait)->survey);
	return KUSTOS_OK;
}

/* The caller takes back reads that are under way, once it is awake. */
static const struct ku_wait_calls read_calls = {
	.start = start_reads,
	.give_up = ku_wait_end,
};

/* Read all nodes at once; if "names" is NULL, the node at "path" itself. */
static enum kustos_err view(struct kustos_client *client, const char *path,
	const struct ku_rule *rule, const struct kustos_names *names,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_participants **out)
{
	struct viewer viewer = { .wait = { .client = client,
					 .calls = &read_calls } };
	enum kustos_err err = names != NULL
		? ku_survey_init(&viewer.survey, client, rule, path, names)
		: ku_survey_init_node(&viewer.survey, client, path);

	for (size_t i = 0; err == KUSTOS_OK && i < viewer.survey.count; i++)
		viewer.survey.list[i].op->once = deadline == KUSTOS_NOW;
	viewer.survey.done = surveyed;
	viewer.survey.owner = &viewer;
	if (err == KUSTOS_OK)
		err = ku_wait_block(&viewer.wait, deadline, cancel);
	if (err == KUSTOS_OK)
		err = hand_out(&viewer.survey, out);
	ku_lock(client);
	ku_survey_free(&viewer.survey);
	ku_unlock(client);
	return err;
}

static enum kustos_err list_and_view(struct kustos_client *client,
	const char *path, const struct ku_rule *rule, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_participants **out)
{
	struct kustos_names *names = NULL;
	struct kustos_stat stat;
	enum kustos_err err = kustos_children(client, path, deadline, cancel,
		&names, &stat);

	if (err == KUSTOS_OK)
		err = view(client, path, rule,
			stat.ephemeral_owner == 0 ? names : NULL, deadline,
			cancel, out);
	kustos_names_free(names);
	return err;
}

/* Make many calls one, for a close that waits for calls. */
static enum kustos_err begin(struct kustos_client *client)
{
	enum kustos_err err = ku_recipe_check(client);

	if (err == KUSTOS_OK) {
		ku_begin(client);
		ku_unlock(client);
	}
	return err;
}

static enum kustos_err end(struct kustos_client *client, enum kustos_err err)
{
	ku_lock(client);
	ku_end(client);
	return err;
}

enum kustos_err kustos_participants_marked(struct kustos_client *client,
	const char *path, const char *extra_marks, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_participants **out)
{
	struct ku_rule rule = ku_rule_any;

	if (out == NULL ||
		(extra_marks != NULL && !ku_marks_valid(extra_marks)))
		return KUSTOS_EINVAL;
	rule.extra = extra_marks;
	enum kustos_err err = begin(client);
	if (err != KUSTOS_OK)
		return err;
	return end(client,
		list_and_view(client, path, &rule, deadline, cancel, out));
}

enum kustos_err kustos_participants(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_participants **out)
{
	return kustos_participants_marked(client, path, NULL, deadline, cancel,
		out);
}

static const char request[] = "__REVOKE__";
#define REQUEST_LEN (sizeof(request) - 1)

/* Returns KUSTOS_OK if the request is in the node, KUSTOS_EBADVERSION if the
   node has other data, KUSTOS_EUNKNOWN if that may not be read. */
static enum kustos_err is_asked(struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	char *data = NULL;
	size_t len;
	enum kustos_err err = kustos_get(client, path, deadline, cancel, &data,
		&len, NULL);

	if (err == KUSTOS_OK &&
		(len != REQUEST_LEN || memcmp(data, request, len) != 0))
		err = KUSTOS_EBADVERSION;
	kustos_free(data);
	return err == KUSTOS_ENOAUTH ? KUSTOS_EUNKNOWN : err;
}

/* Each write of the request into the node asks its owner again.  So the write
   names a version, and is applied once only, however often it has to be
   sent. */
enum kustos_err kustos_participant_revoke(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	struct kustos_stat now;
	enum kustos_err err = begin(client);

	if (err != KUSTOS_OK)
		return err;
	do {
		err = kustos_exists(client, path, deadline, cancel, &now);
		if (err == KUSTOS_OK)
			err = kustos_set(client, path, request, REQUEST_LEN,
				now.version, deadline, cancel, NULL);
		if (err == KUSTOS_EUNKNOWN)
			err = is_asked(client, path, deadline, cancel);
	} while (err == KUSTOS_EBADVERSION);
	return end(client, err);
}

/* Delete the node, which was just seen.  It is deleted in any version, as a
   version that has changed since is that of a request to release it.  But
   whatever takes time lets a simple lock become another's, so the czxid is
   compared before the deletion is sent again, or late. */
static enum kustos_err delete_shown(struct kustos_client *client,
	const struct kustos_participant *shown, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	struct ku_task *task = NULL;
	enum kustos_err err = ku_task_new(client, KU_ZK_DELETE, shown->path, 0,
		&task);

	if (err == KUSTOS_OK) {
		task->op.wary = true;
		task->op.czxid = shown->stat.czxid;
		err = ku_task_wait(task, deadline, cancel);
	}
	ku_task_free(task);
	return err;
}

enum kustos_err kustos_participant_break(struct kustos_client *client,
	const struct kustos_participant *shown, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	struct kustos_stat now;
	enum kustos_err err = shown != NULL ? begin(client) : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	/* A server that lags would show again what it showed before. */
	err = kustos_sync(client, shown->path, deadline, cancel);
	if (err == KUSTOS_OK)
		err = kustos_exists(client, shown->path, deadline, cancel,
			&now);
	if (err == KUSTOS_OK &&
		(now.czxid != shown->stat.czxid ||
			now.ephemeral_owner != shown->stat.ephemeral_owner))
		err = KUSTOS_ECHANGED;
	if (err == KUSTOS_OK)
		err = delete_shown(client, shown, deadline, cancel);
	return end(client, err);
}

enum kustos_err kustos_line_clean(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	struct kustos_stat stat;
	enum kustos_err err = kustos_exists(client, path, deadline, cancel,
		&stat);

	if (err == KUSTOS_OK && stat.ephemeral_owner != 0)
		return KUSTOS_OK; /* a simple lock that somebody holds */
	if (err == KUSTOS_OK)
		err = kustos_delete(client, path, -1, deadline, cancel);
	return err == KUSTOS_ENOTEMPTY || err == KUSTOS_ENONODE ? KUSTOS_OK
								: err;
}
