/* heir.c - to whom a leader hands over, and which nodes are deleted for
   that. */

#include "heir.h"

#include <string.h>

static bool is_gone(const struct ku_sighting *one)
{
	return one->op->err == KUSTOS_ENONODE;
}

static bool is_wanted(const struct ku_sighting *one,
	const struct ku_heir_wish *wish)
{
	return wish->id == NULL ||
		(one->op->out_len == (int)wish->len &&
			memcmp(one->op->out_data, wish->id, wish->len) == 0);
}

int ku_heir_own(const struct ku_survey *survey, const char *path)
{
	for (size_t i = 0; i < survey->count; i++)
		if (strcmp(survey->list[i].path, path) == 0 &&
			!is_gone(&survey->list[i]))
			return (int)i;
	return -1;
}

int ku_heir_find(const struct ku_survey *survey, int own,
	const struct ku_heir_wish *wish)
{
	for (int i = own + 1; i < (int)survey->count; i++) {
		const struct ku_sighting *one = &survey->list[i];
		bool hides = ku_survey_hides(one);

		if (is_gone(one) || (hides && wish->id != NULL))
			continue; /* it has left, or may have any id */
		if (hides)
			return -1;
		if (is_wanted(one, wish))
			return i;
	}
	return -1;
}

enum kustos_err ku_heir_missing(const struct ku_survey *survey, int own)
{
	for (int i = own + 1; i < (int)survey->count; i++)
		if (ku_survey_hides(&survey->list[i]))
			return KUSTOS_ENOAUTH;
	return KUSTOS_EABSENT;
}

size_t ku_heir_deletion(const struct ku_survey *survey, int own, int heir,
	const struct ku_heir_wish *wish, struct kustos_op *ops)
{
	const struct ku_sighting *named = &survey->list[heir];
	size_t count = 0;

	ops[count++] = (struct kustos_op){ .kind = KUSTOS_OP_CHECK,
		.path = named->path,
		.version = wish->id == NULL ? -1
					    : named->op->out_stat.version };
	for (int i = heir - 1; i >= own; i--)
		if (!is_gone(&survey->list[i]))
			ops[count++] = (struct kustos_op){
				.kind = KUSTOS_OP_DELETE,
				.path = survey->list[i].path,
				.version = -1
			};
	return count;
}

bool ku_heir_unsettled(enum kustos_err err)
{
	/* Somebody, or we, left; or the id changed. */
	return err == KUSTOS_EUNKNOWN || err == KUSTOS_ENONODE ||
		err == KUSTOS_EBADVERSION;
}

/* Our node was deleted by the transaction whose reply was lost, or with the
   session, or given up by us when the session was not certain any more. */
enum kustos_err ku_heir_outcome(const struct ku_survey *survey,
	const struct ku_heir_wish *wish, bool unsure, bool certain)
{
	if (!unsure)
		return KUSTOS_ELOST;
	/* A candidate that has left since the listing may have been the
	   first. */
	bool first = ku_heir_find(survey, -1, wish) == 0;
	return first && certain ? KUSTOS_OK : KUSTOS_EUNKNOWN;
}
