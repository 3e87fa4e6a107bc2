/*
 * ledger.h - which client owns a node, and why a node was deleted.  It follows
 * what the leader does with sessions, and what the faults do from outside.
 */
#ifndef SIM_LEDGER_H
#define SIM_LEDGER_H

#include "sim.h"

#define LEDGER_CLIENTS 16 /* more than any scenario has */

struct ledger {
	int *client_of; /* indexed by the session's number */
	int session_room;
	int64_t ended;			/* last session that ended */
	int64_t killed[LEDGER_CLIENTS]; /* last one ended from outside */
	char removing[128];		/* last node deleted from outside */
};

/* What became of a node. */
enum fate {
	FATE_THERE,
	FATE_DELETED, /* by a request, which should be its owner's */
	FATE_REMOVED, /* deleted from outside, by a fault */
	FATE_KILLED,  /* its session was ended from outside, by a fault */
	FATE_EXPIRED  /* its session ended otherwise */
};

/* Pass on everything that a scenario's "note" gets. */
void ledger_note(struct ledger *l, enum model_note what, int client,
	const char *path, int64_t value);

/* Return which client's session "owner" is, or "nobody" if no client's. */
int ledger_client(const struct ledger *l, int64_t owner, int nobody);

/* Was this session ended from outside? */
bool ledger_killed(const struct ledger *l, int64_t owner);

/* A node is being deleted: return why. */
enum fate ledger_fate(const struct ledger *l, const char *path, int64_t owner);

/* The node that was being deleted from outside is gone: forget it. */
void ledger_gone(struct ledger *l);

void ledger_free(struct ledger *l);

#endif
