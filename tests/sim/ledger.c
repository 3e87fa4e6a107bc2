/* ledger.c - which client owns a node, and why a node was deleted. */
#include "ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number_of(int64_t session)
{
	return (int)(session >> 8 & 0xffffff);
}

static void session_begins(struct ledger *l, int client, int64_t session)
{
	int number = number_of(session);

	l->client_of = sim_room(l->client_of, number, &l->session_room,
		sizeof(*l->client_of));
	l->client_of[number] = client;
}

void ledger_note(struct ledger *l, enum model_note what, int client,
	const char *path, int64_t value)
{
	if (what == NOTE_SESSION_NEW)
		session_begins(l, client, value);
	else if (what == NOTE_SESSION_END)
		l->ended = value;
	else if (what == NOTE_FAULT && client >= 0 && value > 0xffff)
		l->killed[client] = value;
	else if (what == NOTE_FAULT && client < 0 && path != NULL)
		snprintf(l->removing, sizeof(l->removing), "%s", path);
}

int ledger_client(const struct ledger *l, int64_t owner, int nobody)
{
	int number = number_of(owner);

	return owner == 0 || number >= l->session_room ? nobody
						       : l->client_of[number];
}

bool ledger_killed(const struct ledger *l, int64_t owner)
{
	for (int i = 0; i < LEDGER_CLIENTS; i++)
		if (owner != 0 && l->killed[i] == owner)
			return true;
	return false;
}

enum fate ledger_fate(const struct ledger *l, const char *path, int64_t owner)
{
	if (strcmp(l->removing, path) == 0)
		return FATE_REMOVED;
	if (owner == 0 || owner != l->ended)
		return FATE_DELETED;
	return ledger_killed(l, owner) ? FATE_KILLED : FATE_EXPIRED;
}

void ledger_gone(struct ledger *l)
{
	l->removing[0] = '\0';
}

void ledger_free(struct ledger *l)
{
	free(l->client_of);
}
