/*
 * turn_slots.h - the SLOTS of an actor.  Each may have a turn: an acquisition
 * that waits, or that holds something.
 *
 * Include it after the declarations of a "struct actor" with "it" and "turns",
 * and of a "struct turn" with "actor", "state" and "ask".
 */
#ifndef SIM_TURN_SLOTS_H
#define SIM_TURN_SLOTS_H

#include "ask.h"

typedef void turn_fn(struct turn *turn);

/* A turn has ended: free its slot. */
static inline void slots_over(struct turn *turn)
{
	turn->state = TURN_OVER;
	ask_end(&turn->ask, "a turn");
	for (int i = 0; i < SLOTS; i++)
		if (turn->actor->turns[i] == turn)
			turn->actor->turns[i] = NULL;
}

/* Cancel and release all turns, and then close the client; or close it at once,
   while turns wait.  To be called again until the client is closing. */
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

/* A failed run may stop anywhere: end the client in a hurry. */
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
