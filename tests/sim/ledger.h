/*
 * ledger.h - what the leader says of sessions, and what was done from outside:
 * whose a node is, and what became of it.
 */
#ifndef SIM_LEDGER_H
#define SIM_LEDGER_H

#include "sim.h"

#define LEDGER_CLIENTS 16 /* a scenario has not as many */

struct ledger {
	int *client_of; /* by the number of the session */
	int session_room;
	int64_t ended;			/* session that ended last */
	int64_t killed[LEDGER_CLIENTS]; /* session ended from outside, last */
	char removing[128];		/* node deleted from outside, last */
};

/* What became of a node. */
enum fate {
	FATE_THERE,
	FATE_DELETED, /* somebody asked for it: its owner, it is to be hoped */
	FATE_REMOVED, /* from outside */
	FATE_KILLED,  /* its session was ended from outside */
	FATE_EXPIRED  /* its session ended */
};

/* Take what a scenario's "note" is told. */
void ledger_note(struct ledger *l, enum model_note what, int client,
	const char *path, int64_t value);

/* Return whose session "owner" is; "nobody" if it is none. */
int ledger_client(const struct ledger *l, int64_t owner, int nobody);

/* Was this session ended from outside? */
bool ledger_killed(const struct ledger *l, int64_t owner);

/* A node is being deleted: why? */
enum fate ledger_fate(const struct ledger *l, const char *path, int64_t owner);

/* Forget what is being deleted from outside: it is gone. */
void ledger_gone(struct ledger *l);

void ledger_free(struct ledger *l);

#endif
