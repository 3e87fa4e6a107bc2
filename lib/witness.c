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

static hear_fn *hear_of(const struct ku_witness *w, enum ku_witnessed what)
{
	if (what == KU_WITNESS_CLOSING)
		return w->closing;
	return what == KU_WITNESS_LOST && w->lost != NULL ? w->lost : w->away;
}

void ku_witnesses_tell(struct kustos_client *client, enum ku_witnessed what)
{
	struct ku_witnesses *all = &client->witnesses;

	for (struct ku_witness *w = all->first; w != NULL; w = all->upcoming) {
		hear_fn *hear = hear_of(w, what);

		all->upcoming = w->next;
		if (hear != NULL)
			hear(w);
	}
}
