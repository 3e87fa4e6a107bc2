/* survey.c - read the nodes of all contenders in a line, at once. */

#include "survey.h"
#include "client.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
	const struct ku_sighting *x = a;
	const struct ku_sighting *y = b;

	if (x->contender.number == y->contender.number)
		return strcmp(x->path, y->path);
	return ku_number_before(x->contender.number, y->contender.number) ? -1
									  : 1;
}

static ku_op_ended_fn was_read;

/* We may not read the node's data: ask whether it is there.  Newer servers do
   not tell even that.  A contender that hides itself must not hide the
   others. */
static enum kustos_err read_less(struct ku_survey *survey, struct ku_op *read)
{
	struct ku_sighting *one = survey->list;

	while (one->op != read)
		one++;
	enum kustos_err err = ku_op_new(survey->client, KU_ZK_EXISTS, one->path,
		0, &one->op);
	if (err == KUSTOS_OK) {
		one->op->once = read->once;
		err = ku_op_start(&one->op, was_read, survey);
	}
	ku_op_drop(read);
	return err;
}

static void was_read(struct ku_op *op)
{
	struct ku_survey *survey = op->owner;
	enum kustos_err err = op->err;

	if (err == KUSTOS_ENOAUTH && op->kind == KU_ZK_GET) {
		err = read_less(survey, op);
		if (err == KUSTOS_OK)
			return;
	}
	if (err != KUSTOS_OK && err != KUSTOS_ENONODE && err != KUSTOS_ENOAUTH)
		survey->err = err;
	if (--survey->pending == 0)
		survey->done(survey);
}

static enum kustos_err make_reads(struct ku_survey *survey)
{
	enum kustos_err err = KUSTOS_OK;

	for (size_t i = 0; i < survey->count && err == KUSTOS_OK; i++)
		err = ku_op_new(survey->client, KU_ZK_GET, survey->list[i].path,
			0, &survey->list[i].op);
	return err;
}

enum kustos_err ku_survey_init(struct ku_survey *survey,
	struct kustos_client *client, const struct ku_rule *rule,
	const char *path, const struct kustos_names *names)
{
	*survey = (struct ku_survey){ .client = client };
	survey->list = calloc(names->count + 1, sizeof(*survey->list));
	if (survey->list == NULL)
		return KUSTOS_ENOMEM;
	for (size_t i = 0; i < names->count; i++) {
		struct ku_sighting *one = &survey->list[survey->count];
		const char *name = names->names[i];

		if (!ku_contender_parse(rule, name, &one->contender)) {
			survey->foreign++;
			continue;
		}
		one->path = ku_path_child(path, name);
		if (one->path == NULL)
			return KUSTOS_ENOMEM;
		survey->count++;
	}
	qsort(survey->list, survey->count, sizeof(*survey->list), by_number);
	return make_reads(survey);
}

enum kustos_err ku_survey_init_node(struct ku_survey *survey,
	struct kustos_client *client, const char *path)
{
	*survey = (struct ku_survey){ .client = client };
	survey->list = calloc(1, sizeof(*survey->list));
	if (survey->list == NULL)
		return KUSTOS_ENOMEM;
	survey->list[0].contender.style = KUSTOS_STYLE_NODE;
	survey->list[0].path = strdup(path);
	if (survey->list[0].path == NULL)
		return KUSTOS_ENOMEM;
	survey->count = 1;
	return make_reads(survey);
}

void ku_survey_read(struct ku_survey *survey)
{
	enum kustos_err err = KUSTOS_OK;

	survey->pending = 1; /* this function */
	for (size_t i = 0; i < survey->count && err == KUSTOS_OK; i++) {
		survey->pending++;
		err = ku_op_start(&survey->list[i].op, was_read, survey);
	}
	if (err != KUSTOS_OK) {
		survey->pending--;
		survey->err = err;
	}
	if (--survey->pending == 0)
		survey->done(survey);
}

void ku_survey_free(struct ku_survey *survey)
{
	for (size_t i = 0; i < survey->count; i++) {
		free(survey->list[i].path);
		ku_op_let_go(&survey->list[i].op);
	}
	free(survey->list);
	survey->list = NULL;
	survey->count = 0;
}
