/*
 * turn_slots.h - an actor's SLOTS, in each of which may be a turn: something that
 * it asked for and waits for, or holds.
 *
 * For scenarios whose "struct actor" has "it" and "turns", and whose "struct turn"
 * has "actor", "state" and "ask", which are to be declared before.
 */
#ifndef SIM_TURN_SLOTS_H
#define SIM_TURN_SLOTS_H

#include "ask.h"

typedef void turn_fn(struct turn *turn);

/* It has ended: take it off its slot. */
static inline void slots_over(struct turn *turn)
{
	turn->state = TURN_OVER;
	ask_end(&turn->ask, "a turn");
	for (int i = 0; i < SLOTS; i++)
		if (turn->actor->turns[i] == turn)
			turn->actor->turns[i] = NULL;
}

/* Give up and give back everything; then close the client.  Or close it at once,
   under those who wait.  To be called again until it is closing. */
static inline void slots_close(struct actor *a, turn_fn *release,
	turn_fn *cancel)
{
	bool abrupt = sim_random_below(subject_random(&a->it), 4) == 0;
	bool busy = false;

	for (int i = 0; i < SLOTS; i++) {
		if (a->turns[i] == NULL)
			continue;
		if (a->turns[i]->state == TURN_HOLDING)
			release(a->turns[i]);
		else if (!abrupt)
			cancel(a->turns[i]);
		busy = busy || a->turns[i] != NULL;
	}
	if (!busy || abrupt)
		subject_close(&a->it, subject_some_budget(&a->it));
}

/* A run that failed stops anywhere: end the client in a hurry. */
static inline void slots_fini(struct actor *a, turn_fn *release,
	turn_fn *cancel)
{
	if (a->it.gone)
		return;
	for (int i = 0; i < SLOTS; i++)
		if (a->turns[i] != NULL && a->turns[i]->state == TURN_WAITING)
			cancel(a->turns[i]);
	if (!a->it.closing)
		(void)ku_client_step(a->it.client);
	for (int i = 0; i < SLOTS; i++)
		if (a->turns[i] != NULL && a->turns[i]->state == TURN_HOLDING)
			release(a->turns[i]);
	subject_fini(a);
}

#endif
