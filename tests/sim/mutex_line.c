/*
 * mutex_line.c - track the lines as the leader has them, and what becomes of
 * each contender.  Contenders are ordered by their creation, not by the numbers
 * in their names, so that this file cannot make the library's mistakes with
 * numbers.  The exception is a reader with the number of a writer, which stands
 * where that writer stands.
 */
#include "mutex_actor.h"

#include "model_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most that a line has been used before. */
#define USED 1000000

const char *const mutex_lines[LINES] = { PREFIX "/a", PREFIX "/b" };

static int line_of(const struct recipe *recipe, const char *path)
{
	char end = recipe->seat ? '\0' : '/';

	for (int i = 0; i < LINES; i++) {
		size_t len = strlen(mutex_lines[i]);

		if (strncmp(path, mutex_lines[i], len) == 0)
			return path[len] == end ? i : -1;
	}
	return -1;
}

static bool ends_with(const char *begin, const char *end, const char *what)
{
	size_t len = strlen(what);

	return (size_t)(end - begin) >= len &&
		strncmp(end - len, what, len) == 0;
}

/* "x-<16 hexadecimal digits>-" or "x-<decimal>-", whole. */
static bool is_session_name(const char *begin, const char *end)
{
	const char *p = begin + 2;
	int hex = 0, dec = 0;

	if (strncmp(begin, "x-", 2) != 0 || end - begin < 4 || end[-1] != '-')
		return false;
	if (*p == '-')
		p++;
	for (; p < end - 1; p++) {
		hex += isxdigit((unsigned char)*p) != 0;
		dec += isdigit((unsigned char)*p) != 0;
	}
	return hex == 16 || dec == (int)(end - 1 - begin - 2) ||
		(begin[2] == '-' && dec == (int)(end - 1 - begin - 3));
}

static bool fits(const struct mark *mark, const char *name, const char *end)
{
	return mark->text != NULL ? ends_with(name, end, mark->text)
				  : is_session_name(name, end);
}

/* Is this the name of a contender?  If so, set its number and side. */
static bool is_contender(const struct recipe *recipe, const char *name,
	int32_t *number, bool *shares)
{
	const char *end = name + strlen(name);

	if (end - name < 10)
		return false;
	const char *digits = end - 10;
	if (digits[0] == '-') {
		*number = (int32_t)strtol(digits, NULL, 10);
	} else if (digits > name + 1 && digits[-1] == '-' &&
		digits[-2] == '-') {
		digits--;
		*number = (int32_t)strtol(digits, NULL, 10);
	} else {
		*number = (int32_t)strtol(digits, NULL, 10);
	}
	for (int i = 0; i < recipe->mark_count; i++) {
		if (!fits(&recipe->marks[i], name, digits))
			continue;
		*shares = recipe->marks[i].shares;
		return true;
	}
	return false;
}

static struct place *add_place(struct shared *s)
{
	struct place *place = sim_calloc(1, sizeof(*place));

	s->places = sim_room(s->places, s->place_count, &s->place_room,
		sizeof(*s->places));
	place->serial = (uint64_t)s->place_count;
	s->places[s->place_count++] = place;
	return place;
}

/* A new place: turns that wait in the same line are contended now. */
static void tell_turns(struct sim *sim, const struct place *place)
{
	for (int i = 0; i < OURS; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		for (int k = 0; k < SLOTS; k++) {
			struct turn *turn = a->turns[k];

			if (turn == NULL || turn->line != place->line ||
				!line_blocks(place, turn->shares))
				continue;
			if (turn->from == NULL)
				turn->alone_since = 0;
			if (i != place->client ||
				turn->shares != place->shares ||
				++turn->made > 1)
				turn->contended = true;
		}
	}
}

static void doctor(void *arg, uint64_t line)
{
	struct sim *sim = arg;
	struct shared *s = mutex_shared(sim);

	s->sound[line] = INT64_MAX;
	model_set_created(sim_model(sim), mutex_lines[line],
		INT32_MAX - (int32_t)sim_random_below(&s->random, 40));
}

/* A new line: pretend that it was used for long, or that its numbers are near
   their end. */
static void line_made(struct sim *sim, const char *path)
{
	struct shared *s = mutex_shared(sim);

	for (int i = 0; i < LINES; i++) {
		if (strcmp(path, mutex_lines[i]) != 0)
			continue;
		s->private_data[i] = false;
		if (s->sound[i] == INT64_MAX)
			s->sound[i] = sim_now(sim);
		if (sim_random_below(&s->random, 2) == 0)
			model_set_created(sim_model(sim), path,
				(int32_t)sim_random_below(&s->random, USED));
		if (!s->crowd && sim_random_below(&s->random, 4) == 0)
			sched_add(sim_sched(sim), SCHED_NOBODY, sim_now(sim),
				doctor, sim, (uint64_t)i);
	}
}

static void remove_it(void *arg, uint64_t serial)
{
	struct sim *sim = arg;
	struct place *place = mutex_shared(sim)->places[serial];

	if (place->fate == FATE_THERE && !sim_draining(sim))
		(void)model_delete(sim_model(sim), place->path);
}

void line_remove_soon(struct sim *sim, const struct place *place,
	int64_t within_ns)
{
	struct sim_random *r = &mutex_shared(sim)->random;

	sched_add(sim_sched(sim), SCHED_NOBODY,
		sim_now(sim) + sim_random_between(r, 0, within_ns), remove_it,
		sim, place->serial);
}

/* This reader has the number of a writer, and stands where that writer stands.
   If the writer had left already, the reader's position means nothing any
   more. */
static void find_twin(struct shared *s, struct place *place)
{
	s->figures.copies++;
	place->copies = true;
	for (int i = (int)place->serial - 1; i >= 0 && !place->twin; i--) {
		struct place *other = s->places[i];

		if (other->line == place->line && !other->shares &&
			other->number == place->number)
			place->twin = other;
	}
	place->late = place->twin == NULL || place->twin->fate != FATE_THERE;
	if (place->twin == NULL)
		return;
	place->order = place->twin->order;
	place->token = place->twin->token;
}

static void created(struct sim *sim, const char *path, int64_t zxid,
	int64_t owner, bool sequential)
{
	struct shared *s = mutex_shared(sim);
	const struct recipe *recipe = mutex_recipe_of(sim);
	int line = line_of(recipe, path);
	bool shares = false;
	int32_t number = 0;

	if (line < 0) {
		line_made(sim, path);
		return;
	}
	if (!recipe->seat &&
		!is_contender(recipe, strrchr(path, '/') + 1, &number, &shares))
		return;
	struct place *place = add_place(s);
	snprintf(place->path, sizeof(place->path), "%s", path);
	place->line = line;
	place->number = number;
	place->shares = shares;
	place->token = zxid;
	place->order = place->serial;
	place->owner = owner;
	place->client = ledger_client(&s->ledger, owner, FOREIGNER);
	if (!sequential && !recipe->seat)
		find_twin(s, place);
	tell_turns(sim, place);
	if (place->client == FOREIGNER)
		return;
	mutex_actor_of(sim, place->client)->made++;
	if (sim_random_below(&s->random, 150) == 0)
		line_remove_soon(sim, place, REMOVED_NS);
}

/* Was the former node with this path deleted from outside so recently that its
   holder may not know, and may delete this node by mistake? */
static bool is_mistaken(struct sim *sim, const struct place *place)
{
	struct shared *s = mutex_shared(sim);

	for (int i = (int)place->serial - 1; i >= 0; i--) {
		const struct place *other = s->places[i];

		if (other->line != place->line)
			continue;
		if (sim_now(sim) > other->gone_at + TIMEOUT_NS)
			return false;
		if (other->fate == FATE_REMOVED)
			return true;
	}
	return false;
}

static enum fate fate_of(struct sim *sim, const struct place *place)
{
	enum fate fate = ledger_fate(&mutex_shared(sim)->ledger, place->path,
		place->owner);

	return fate == FATE_DELETED && mutex_recipe_of(sim)->seat &&
			is_mistaken(sim, place)
		? FATE_REMOVED
		: fate;
}

static void deleted(struct sim *sim, const char *path, int64_t zxid)
{
	struct shared *s = mutex_shared(sim);
	struct place *place = line_find(s, path);

	if (place == NULL)
		return;
	place->fate = fate_of(sim, place);
	place->gone_at = sim_now(sim);
	place->gone_zxid = zxid;
	ledger_gone(&s->ledger);
	if (place->client != FOREIGNER && place->fate != FATE_DELETED)
		mutex_actor_of(sim, place->client)->excuses++;
}

/* Our clients leave names in the data of a line's node, but must not overwrite
   the data of a program. */
static void line_set(struct sim *sim, int line)
{
	struct shared *s = mutex_shared(sim);
	const char *path = mutex_lines[line];
	int len = (int)strlen(path);
	const struct node *node = tree_find(&sim_model(sim)->tree, path, len,
		path_hash(path, len));
	const char *data = node->data != NULL ? node->data->bytes : "";
	int32_t number;
	bool shares;

	if (is_contender(mutex_recipe_of(sim), data, &number, &shares)) {
		s->figures.proofs++;
		if (s->private_data[line])
			sim_fail(sim, "data", "%s was written over", path);
	} else {
		s->private_data[line] = data[0] != '\0';
	}
}

static void set(struct sim *sim, const char *path)
{
	struct place *place = line_find(mutex_shared(sim), path);

	if (place != NULL)
		place->asked = true;
	for (int i = 0; i < LINES && !mutex_recipe_of(sim)->seat; i++)
		if (strcmp(path, mutex_lines[i]) == 0)
			line_set(sim, i);
}

void line_change(struct sim *sim, enum model_change_kind kind, const char *path,
	int64_t zxid, int64_t owner, int64_t parent_czxid, bool sequential)
{
	(void)parent_czxid;
	if (kind == CHANGE_CREATE)
		created(sim, path, zxid, owner, sequential);
	else if (kind == CHANGE_DELETE)
		deleted(sim, path, zxid);
	else
		set(sim, path);
}

static bool is_line(const char *path)
{
	return path != NULL &&
		(strcmp(path, mutex_lines[0]) == 0 ||
			strcmp(path, mutex_lines[1]) == 0);
}

/* A server refused a request about the node "path", as it had too many.  If
   that was a deletion, nodes that the client has made since stand behind this
   one. */
static void was_kept(struct sim *sim, int client, const char *path)
{
	struct place *place = line_find(mutex_shared(sim), path);

	if (place == NULL || place->client != client)
		return;
	place->kept = true;
	for (int k = 0; k < SLOTS; k++) {
		struct turn *turn = mutex_actor_of(sim, client)->turns[k];

		if (turn != NULL && turn->line == place->line &&
			line_blocks(place, turn->shares))
			turn->contended = true;
	}
}

void line_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value)
{
	struct shared *s = mutex_shared(sim);

	if (what == NOTE_SERVE && client < OURS && is_line(path))
		s->figures.looks++;
	if (what == NOTE_SERVE && client < OURS && path != NULL &&
		value == KU_ZK_THROTTLEDOP)
		was_kept(sim, client, path);
	ledger_note(&s->ledger, what, client, path, value);
}
