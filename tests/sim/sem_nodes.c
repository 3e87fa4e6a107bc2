/* sem_nodes.c - track the semaphore's nodes as the leader has them. */
#include "sem_actor.h"

#include "model_impl.h"
#include "sim_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How soon a connected client knows of a change. */
#define KNOWN_NS (20 * KU_NS_PER_MS)

/* Some nodes are deleted from outside within this time. */
#define REMOVED_NS (50 * KU_NS_PER_MS)

struct place *sem_find(struct shared *s, const char *path)
{
	for (int i = s->place_count - 1; i >= 0; i--)
		if (strcmp(s->places[i]->path, path) == 0)
			return s->places[i];
	return NULL;
}

struct place *sem_some(struct shared *s, bool ours)
{
	for (int i = s->first_there; i < s->place_count; i++)
		if (s->places[i]->fate == FATE_THERE &&
			(s->places[i]->client < OURS) == ours)
			return s->places[i];
	return NULL;
}

static bool is_below(const char *path, const char *parent)
{
	size_t len = strlen(parent);

	return strncmp(path, parent, len) == 0 && path[len] == '/';
}

static struct place *add_place(struct shared *s)
{
	struct place *place = sim_calloc(1, sizeof(*place));

	s->places = sim_room(s->places, s->place_count, &s->place_room,
		sizeof(*s->places));
	s->places[s->place_count++] = place;
	return place;
}

static void doctor(void *arg, uint64_t tag)
{
	struct sim *sim = arg;

	(void)tag;
	sem_shared(sim)->figures.saturated++;
	model_set_created(sim_model(sim), LEASES,
		INT32_MAX -
			(int32_t)sim_random_below(&sem_shared(sim)->random,
				40));
}

static void remove_it(void *arg, uint64_t index)
{
	struct sim *sim = arg;
	struct place *place = sem_shared(sim)->places[index];

	if (place->fate == FATE_THERE && !sim_draining(sim))
		(void)model_delete(sim_model(sim), place->path);
}

/* A new lease: a turn that tries may find no room, as somebody else has a
   node. */
static void tell_turns(struct sim *sim, const struct place *place)
{
	for (int i = 0; i < OURS; i++) {
		struct actor *a = sem_actor_of(sim, i);
		int busy = 0;

		for (int k = 0; k < SLOTS; k++)
			busy += a->turns[k] != NULL;
		for (int k = 0; k < SLOTS; k++) {
			struct turn *turn = a->turns[k];

			/* A node that was given up may be made all the same,
			   and is deleted then. */
			if (turn != NULL &&
				(i != place->client || busy > 1 ||
					++turn->made > turn->count))
				turn->contended = true;
		}
	}
}

static void created(struct sim *sim, const char *path, int64_t zxid,
	int64_t owner)
{
	struct shared *s = sem_shared(sim);
	bool lock = is_below(path, LOCKS);

	/* Now and then, let the numbers begin near their end. */
	if (strcmp(path, LEASES) == 0 && sim_random_below(&s->random, 4) == 0)
		sched_add(sim_sched(sim), SCHED_NOBODY, sim_now(sim), doctor,
			sim, 0);
	if (!lock && !is_below(path, LEASES))
		return;
	struct place *place = add_place(s);
	snprintf(place->path, sizeof(place->path), "%s", path);
	place->lock = lock;
	place->client = ledger_client(&s->ledger, owner, MACHINES);
	place->token = zxid;
	place->owner = owner;
	s->figures.queued += lock && place->client < OURS;
	s->made += !lock && place->client < OURS;
	if (lock)
		return;
	tell_turns(sim, place);
	if (place->client < OURS && sim_random_below(&s->random, 60) == 0)
		sched_add(sim_sched(sim), SCHED_NOBODY,
			sim_now(sim) +
				sim_random_between(&s->random, 0, REMOVED_NS),
			remove_it, sim, (uint64_t)(s->place_count - 1));
}

static void deleted(struct sim *sim, const char *path)
{
	struct shared *s = sem_shared(sim);
	struct place *place = sem_find(s, path);

	if (place == NULL)
		return;
	place->fate = ledger_fate(&s->ledger, path, place->owner);
	place->gone_at = sim_now(sim);
	ledger_gone(&s->ledger);
	s->excuses += place->client < OURS && place->fate != FATE_DELETED;
	while (s->first_there < s->place_count &&
		s->places[s->first_there]->fate != FATE_THERE)
		s->first_there++;
}

/* The number has changed. */
static void number_changed(struct sim *sim, bool there)
{
	struct shared *s = sem_shared(sim);
	int len = (int)strlen(NUMBER);
	const struct node *node = tree_find(&sim_model(sim)->tree, NUMBER, len,
		path_hash(NUMBER, len));
	const struct blob *data = there && node != NULL ? node->data : NULL;
	int room = data != NULL && data->len == 4 ? data->bytes[3] : 0;

	s->changes = sim_room(s->changes, s->change_count, &s->change_room,
		sizeof(*s->changes));
	s->changes[s->change_count++] = (struct number){ sim_now(sim), room };
	s->figures.changes++;
}

void sem_change(struct sim *sim, enum model_change_kind kind, const char *path,
	int64_t zxid, int64_t owner, int64_t parent_czxid, bool sequential)
{
	(void)parent_czxid;
	(void)sequential;
	if (strcmp(path, NUMBER) == 0)
		number_changed(sim, kind != CHANGE_DELETE);
	else if (kind == CHANGE_CREATE)
		created(sim, path, zxid, owner);
	else if (kind == CHANGE_DELETE)
		deleted(sim, path);
}

int sem_room_now(const struct shared *s)
{
	if (!s->shared)
		return s->room;
	return s->change_count > 0 ? s->changes[s->change_count - 1].room : 0;
}

int64_t sem_known_ns(struct sim *sim)
{
	return subjects_known_ns(sim, KNOWN_NS);
}

int sem_room(struct sim *sim)
{
	struct shared *s = sem_shared(sim);
	int64_t since = sim_now(sim) - sem_known_ns(sim);
	int most = sem_room_now(s);

	/* Each value was valid until the next change. */
	for (int i = s->change_count - 2; s->shared && i >= 0; i--) {
		if (s->changes[i + 1].at < since)
			break;
		if (s->changes[i].room > most)
			most = s->changes[i].room;
	}
	return most;
}

void sem_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value)
{
	struct shared *s = sem_shared(sim);

	if (what == NOTE_SERVE && client < OURS && path != NULL &&
		strcmp(path, LEASES) == 0)
		s->figures.looks++;
	ledger_note(&s->ledger, what, client, path, value);
}
