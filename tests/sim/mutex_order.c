/* mutex_order.c - which contenders exist in the lines, and in which order. */
#include "mutex_actor.h"

#include <string.h>

struct place *line_find(struct shared *s, const char *path)
{
	for (int i = s->place_count - 1; i >= 0; i--) {
		struct place *place = s->places[i];

		if (strcmp(place->path, path) == 0)
			return place;
	}
	return NULL;
}

struct place *line_find_token(struct shared *s, const char *path, int64_t token)
{
	for (int i = s->place_count - 1; i >= 0; i--) {
		struct place *place = s->places[i];

		if (place->token == token && strcmp(place->path, path) == 0)
			return place;
	}
	return NULL;
}

bool line_blocks(const struct place *place, bool shares)
{
	return !(place->shares && shares);
}

/* Return the index at which to begin to look for existing places. */
static int first_there(struct shared *s)
{
	while (s->first_there < s->place_count &&
		s->places[s->first_there]->fate != FATE_THERE)
		s->first_there++;
	return s->first_there;
}

static bool is_there(const struct place *place, int line)
{
	return place->line == line && place->fate == FATE_THERE;
}

/* Does "place" have to wait for "other"?  Nobody has to wait for a reader that
   was made too late to keep its writer's position: others may have been granted
   meanwhile. */
static bool is_before(const struct place *other, const struct place *place)
{
	return is_there(other, place->line) && other->order < place->order &&
		line_blocks(other, place->shares) && !other->late;
}

struct place *line_before(struct shared *s, const struct place *place)
{
	for (int i = first_there(s); i < s->place_count; i++) {
		struct place *other = s->places[i];

		/* A node that was given back may still be there.  A client that
		   is granted by a proof, or after another place of the same
		   session, may know of the release before the node goes. */
		if (is_before(other, place) && !other->released &&
			other->owner != place->owner)
			return other;
	}
	return NULL;
}

bool line_is_first(struct shared *s, const struct place *place)
{
	for (int i = first_there(s); i < s->place_count; i++)
		if (is_before(s->places[i], place))
			return false;
	return true;
}

void line_remove_behind(struct sim *sim, const struct place *place, int count)
{
	struct shared *s = mutex_shared(sim);

	for (int i = (int)place->serial + 1; i < s->place_count; i++) {
		struct place *other = s->places[i];

		if (!is_there(other, place->line) || --count > 0)
			continue;
		if (other->client != FOREIGNER && !sim_draining(sim))
			(void)model_delete(sim_model(sim), other->path);
		return;
	}
}

bool line_busy(struct shared *s, int line, bool shares, int64_t session)
{
	for (int i = first_there(s); i < s->place_count; i++) {
		struct place *other = s->places[i];

		if (is_there(other, line) && line_blocks(other, shares) &&
			!(other->released && !other->kept &&
				other->owner == session))
			return true;
	}
	return false;
}

struct place *line_some(struct shared *s, bool foreign, uint64_t random)
{
	struct place *found = NULL;
	uint64_t n = 0;

	for (int i = first_there(s); i < s->place_count; i++) {
		struct place *place = s->places[i];

		if (place->fate == FATE_THERE &&
			(place->client == FOREIGNER) == foreign &&
			random % ++n == 0)
			found = place;
	}
	return found;
}
