/* client_rules.c - track what the server sees of the clients, and check the
   rules. */
#include "client_actor.h"

#include "sim_impl.h"

#include <stdio.h>
#include <string.h>

/* What the server sees */

void rules_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value)
{
	ledger_note(&shared_of(sim)->ledger, what, client, path, value);
}

/* Find the operation that a path belongs to, and which of its nodes it is. */
static struct op *op_of(struct shared *s, const char *path, int *which)
{
	const char *mark = strstr(path, "/pair");
	int number;

	*which = 0;
	if (mark != NULL) {
		char letter = 'a';

		if (sscanf(mark, "/pair%d%c", &number, &letter) != 2)
			return NULL;
		*which = letter - 'a';
	} else {
		mark = strstr(path, "op");
		while (mark != NULL && sscanf(mark, "op%d-", &number) != 1)
			mark = strstr(mark + 1, "op");
		if (mark == NULL)
			return NULL;
	}
	return number < s->count ? s->ops[number] : NULL;
}

void rules_change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential)
{
	int which;
	struct op *op = op_of(shared_of(sim), path, &which);

	(void)parent_czxid;
	(void)sequential;
	if (op == NULL)
		return;
	if (kind == CHANGE_DELETE) {
		op->live[which]--;
		return;
	}
	if (kind != CHANGE_CREATE)
		return;
	/* One that is made late has to go again: undeleted(). */
	if (op->live[which] > 0 && op->owner[which] == owner &&
		(sim->faults & 1u << SIM_LATE) == 0)
		sim_fail(sim, "one node", "op %d: a second one, %s", op->number,
			path);
	op->live[which]++;
	op->zxid[which] = zxid;
	op->owner[which] = owner;
}

/* Invariants */

static const char *check_lease(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = sim_actor_state(sim, i);

		if (a->it.gone || a->it.closing)
			continue;
		int64_t id = a->it.client->session.id;
		if (id != a->session) {
			a->session = id;
			a->session_since = sim_now(sim);
		}
		if (id != 0 && !ledger_killed(&shared_of(sim)->ledger, id) &&
			subject_sure(&a->it) &&
			!model_session_alive(sim_model(sim), id))
			return "held for certain, but the session is over";
	}
	return NULL;
}

static const char *check_told(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = sim_actor_state(sim, i);
		bool believes = a->told == KUSTOS_STATE_CONNECTED ||
			a->told == KUSTOS_STATE_SUSPENDED;

		if (a->it.gone || a->it.closing || sim_paused(sim, i) ||
			!believes || subject_sure(&a->it)) {
			a->lost_since = 0;
			continue;
		}
		if (a->lost_since == 0)
			a->lost_since = sim_now(sim);
		else if (sim_now(sim) - a->lost_since > KU_NS_PER_MS)
			return "the lease ended, and nobody was told";
	}
	return NULL;
}

/* The end */

static bool all_ended(struct sim *sim)
{
	for (int i = 0; i < CLIENTS; i++) {
		struct actor *a = sim_actor_state(sim, i);

		if (!a->it.gone &&
			(a->pending > 0 || a->it.client->ops.oldest != NULL))
			return false;
	}
	return true;
}

/* Must its node be deleted in the end?  A client that is closed may leave nodes
   of creations that were given up. */
static bool is_condemned(const struct op *op)
{
	const struct actor *a = op->actor;

	return op->guaranteed ||
		(op->given_up != 0 && op->given_up == a->opened && !a->it.gone);
}

/* Is there a second node of a living session? */
static bool is_double(const struct op *op)
{
	return op->live[0] > 1 && op->owner[0] != 0;
}

static bool undeleted(struct sim *sim)
{
	struct shared *s = shared_of(sim);

	for (int i = 0; i < s->count; i++)
		if (is_double(s->ops[i]) ||
			(is_condemned(s->ops[i]) && s->ops[i]->live[0] > 0))
			return true;
	return false;
}

/* Is there a node left whose session has not ended yet? */
static bool nodes_left(struct sim *sim)
{
	struct shared *s = shared_of(sim);

	for (int i = 0; i < s->count; i++) {
		struct op *op = s->ops[i];

		if (op->live[0] > 0 && op->owner[0] != 0 &&
			model_session_alive(sim_model(sim), op->owner[0]))
			return true;
	}
	return false;
}

bool rules_settled(struct sim *sim)
{
	if (!shared_of(sim)->closing && (!all_ended(sim) || undeleted(sim)))
		return false;
	shared_of(sim)->closing = true;
	return subjects_close(sim) && !nodes_left(sim);
}

static const char *final_ops(struct sim *sim)
{
	struct shared *s = shared_of(sim);

	for (int i = 0; i < s->count; i++)
		if (s->ops[i]->ended != 1)
			return "an operation never called back";
	return NULL;
}

static const char *final_counter(struct sim *sim)
{
	struct shared *s = shared_of(sim);
	struct kustos_stat stat = { 0 };

	if (!model_stat(sim_model(sim), "/counter", &stat))
		return s->made == 0 ? NULL : "the counter is gone";
	if (stat.version < s->made)
		return "a change was reported that was not made";
	if (stat.version > s->made + s->perhaps)
		return "a change was made that was reported as refused";
	return NULL;
}

static const char *final_pairs(struct sim *sim)
{
	struct shared *s = shared_of(sim);

	for (int i = 0; i < s->count; i++)
		if (s->ops[i]->kind == OP_PAIR &&
			s->ops[i]->zxid[0] != s->ops[i]->zxid[1])
			return "half of a transaction was applied";
	return NULL;
}

const struct sim_invariant rules[RULE_COUNT] = {
	{ "lease", check_lease, NULL },
	{ "told", check_told, NULL },
	{ "ends once", NULL, final_ops },
	{ "no guess", NULL, final_counter },
	{ "all or none", NULL, final_pairs },
};
