/* witness.c - notify parts of the core of losses and of the end. */

#include "client.h"

void ku_witness_add(struct kustos_client *client, struct ku_witness *witness)
{
	struct ku_witnesses *all = &client->witnesses;

	KU_LIST_PUSH(all->first, witness);
}

void ku_witness_remove(struct kustos_client *client, struct ku_witness *witness)
{
	struct ku_witnesses *all = &client->witnesses;

	if (all->upcoming == witness)
		all->upcoming = witness->next;
	KU_LIST_REMOVE(all->first, witness);
}

typedef void hear_fn(struct ku_witness *witness);

static hear_fn *away_of(const struct ku_witness *w)
{
	return w->away;
}

static hear_fn *lost_of(const struct ku_witness *w)
{
	return w->lost;
}

static hear_fn *closing_of(const struct ku_witness *w)
{
	return w->closing;
}

static void tell(struct kustos_client *client,
	hear_fn *(*choose)(const struct ku_witness *w))
{
	struct ku_witnesses *all = &client->witnesses;

	for (struct ku_witness *w = all->first; w != NULL; w = all->upcoming) {
		all->upcoming = w->next;
		if (choose(w) != NULL)
			choose(w)(w);
	}
}

void ku_witnesses_away(struct kustos_client *client)
{
	tell(client, away_of);
}

void ku_witnesses_lost(struct kustos_client *client)
{
	tell(client, lost_of);
}

void ku_witnesses_closing(struct kustos_client *client)
{
	tell(client, closing_of);
}
