/* legacy.c - which of the nodes that a former process has left a candidate goes
   on with, and which it deletes. */

#include "legacy.h"

#include <string.h>

bool ku_legacy_patchy(const struct ku_survey *survey)
{
	for (size_t i = 0; i < survey->count; i++)
		if (survey->list[i].op == NULL || !survey->list[i].op->done ||
			survey->list[i].op->err == KUSTOS_ENOMEM)
			return true;
	return false;
}

bool ku_legacy_left(const struct ku_successor *successor,
	const struct ku_sighting *one)
{
	return one->op->err == KUSTOS_OK && one->op->kind == KU_ZK_GET &&
		one->op->out_stat.ephemeral_owner == successor->session_id;
}

/* Is it for us to take over or to delete? */
static bool is_free(const struct ku_successor *successor,
	const struct ku_sighting *one)
{
	return ku_legacy_left(successor, one) && !one->known;
}

static bool says_our_data(const struct ku_successor *successor,
	const struct ku_sighting *one)
{
	return one->op->out_len == (int)successor->len &&
		memcmp(one->op->out_data, successor->data, successor->len) == 0;
}

/* Is "one" a better choice than "other"? */
static bool is_better(const struct ku_successor *successor,
	const struct ku_sighting *one, const struct ku_sighting *other)
{
	if (other == NULL || !says_our_data(successor, one))
		return other == NULL;
	return !says_our_data(successor, other) ||
		one->op->out_stat.czxid > other->op->out_stat.czxid;
}

const struct ku_sighting *ku_legacy_choose(const struct ku_successor *successor,
	const struct ku_survey *survey)
{
	const struct ku_sighting *chosen = NULL;

	for (size_t i = 0; i < survey->count; i++) {
		const struct ku_sighting *one = &survey->list[i];

		if (is_free(successor, one) &&
			is_better(successor, one, chosen))
			chosen = one;
	}
	return chosen;
}

bool ku_legacy_spare(const struct ku_successor *successor,
	const struct ku_sighting *one, const struct ku_sighting *chosen)
{
	return one != chosen && is_free(successor, one) &&
		says_our_data(successor, one);
}
