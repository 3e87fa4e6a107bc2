/* gate_turn.c - take places, and give them to those who wait. */

#include "gate_impl.h"

#include <stdlib.h>

/* For how long, at the most, the threads of one gate hand over to each
   other. */
#define LOCAL_NS (50 * INT64_C(1000000))

/* Take "guest" out of the queue, and end its wait. */
static void dequeue(struct ku_guest *guest, enum kustos_err err)
{
	struct ku_gate *gate = guest->gate;

	KU_ROW_REMOVE(gate->first, gate->last, guest);
	guest->turn = NULL;
	gate->refs--; /* the program or its turn has another */
	ku_wait_end(&guest->want.wait, err);
}

/* Give the place up for good. */
static void turn_end(struct ku_turn *turn)
{
	struct ku_gate *gate = turn->gate;

	if (gate->turn == turn)
		gate->turn = NULL;
	if (turn->parting != NULL)
		ku_place_part(turn->place, turn->parting);
	ku_place_leave(turn->place);
	free(turn);
	ku_gate_put(gate);
}

static void turn_released(struct kustos_hold *hold, void *owner);

/* Take a place beside that of the guest's writer. */
static enum kustos_err take_beside(struct ku_turn *turn,
	const struct ku_guest *guest, const char *data, size_t len)
{
	struct ku_gate *gate = turn->gate;
	struct kustos_hold *hold = guest->writer;
	struct ku_turn *writer = ku_hold_owner(hold, turn_released);

	if (writer == NULL || writer->gate->line != gate->line ||
		writer->gate->kind.shares ||
		writer->gate->kind.bare != gate->kind.bare)
		return KUSTOS_EINVAL;
	if (ku_hold_state(hold) == KUSTOS_HOLD_LOST)
		return KUSTOS_ELOST;
	/* The writer is not handed over to the next thread, which must not
	   write while this one reads. */
	writer->handed = writer->gate->local_handoffs;
	return ku_place_beside(writer->place, &gate->kind, data, len,
		guest->want.wait.once, turn, &turn->place);
}

/* Does each guest have a turn of its own? */
static bool are_apart(const struct ku_gate *gate)
{
	return gate->local_handoffs == 0;
}

/* Take a place for "guest"; or, if turns are shared, for the guest that is
   first when the place is granted. */
static enum kustos_err turn_begin(struct ku_guest *guest)
{
	struct ku_gate *gate = guest->gate;
	struct ku_turn *turn = calloc(1, sizeof(*turn));
	const char *data;
	char *record;
	size_t len;

	if (turn == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = ku_payload_get(&gate->payload, &data, &len,
		&record);
	turn->gate = gate;
	turn->guest = are_apart(gate) ? guest : NULL;
	if (err == KUSTOS_OK && guest->writer != NULL)
		err = take_beside(turn, guest, data, len);
	else if (err == KUSTOS_OK)
		err = ku_place_take(gate->line, &gate->kind, data, len,
			guest->want.wait.once, turn, &turn->place);
	free(record);
	if (err != KUSTOS_OK) {
		free(turn);
		return err;
	}
	gate->refs++;
	if (are_apart(gate))
		guest->turn = turn;
	else
		gate->turn = turn;
	return KUSTOS_OK;
}

/* Have a turn begun for the first guest; a guest for which that fails gets the
   error. */
static void serve(struct ku_gate *gate)
{
	gate->refs++;
	while (!are_apart(gate) && gate->turn == NULL && gate->first != NULL) {
		struct ku_guest *guest = gate->first;
		enum kustos_err err = turn_begin(guest);

		if (err != KUSTOS_OK)
			dequeue(guest, err);
	}
	ku_gate_put(gate);
}

static void hand_over(struct ku_turn *turn, struct ku_guest *guest)
{
	turn->parting = NULL;
	turn->hold = guest->want.hold;
	turn->guest = NULL;
	ku_hold_grant_place(turn->hold, turn->place, turn_released, turn);
	dequeue(guest, KUSTOS_OK);
}

/* May the next thread have it before another process gets its turn? */
static bool may_hand_over(const struct ku_turn *turn)
{
	const struct ku_gate *gate = turn->gate;

	return gate->first != NULL && turn->handed < gate->local_handoffs &&
		ku_now(gate->client) - turn->granted_ns < LOCAL_NS;
}

/* The hold is given back. */
static void turn_released(struct kustos_hold *hold, void *owner)
{
	struct ku_turn *turn = owner;
	struct ku_gate *gate = turn->gate;

	if (ku_hold_state(hold) != KUSTOS_HOLD_LOST && may_hand_over(turn)) {
		turn->handed++;
		hand_over(turn, gate->first);
		return;
	}
	gate->refs++;
	turn_end(turn);
	serve(gate);
	ku_gate_put(gate);
}

void ku_gate_part(struct kustos_hold *hold, struct ku_parting *parting)
{
	struct ku_turn *turn = ku_hold_owner(hold, turn_released);

	turn->parting = parting;
}

/* Return the guest that waits for the turn, or NULL if none does any more. */
static struct ku_guest *guest_of(const struct ku_turn *turn)
{
	return turn->guest != NULL ? turn->guest : turn->gate->first;
}

static void turn_granted(struct ku_place *place)
{
	struct ku_turn *turn = ku_place_owner(place);

	turn->granted_ns = ku_now(turn->gate->client);
	hand_over(turn, guest_of(turn)); /* no turn is without a waiter */
}

static void turn_failed(struct ku_place *place, enum kustos_err err)
{
	struct ku_turn *turn = ku_place_owner(place);
	struct ku_gate *gate = turn->gate;
	struct ku_guest *guest = guest_of(turn);
	bool inherited = turn->inherited;

	gate->refs++;
	turn_end(turn);
	/* The guest for which it began may have gone meanwhile.  Then the
	   failure is not for the next one: it may be that of a single try, or
	   of an answer that is older than the next guest's request. */
	if (guest != NULL && !inherited)
		dequeue(guest, err);
	serve(gate);
	ku_gate_put(gate);
}

static void turn_lost(struct ku_place *place)
{
	struct ku_turn *turn = ku_place_owner(place);
	struct ku_gate *gate = turn->gate;

	if (gate->turn == turn)
		gate->turn = NULL; /* it ends when its hold is released */
	ku_hold_lose(turn->hold);
	serve(gate);
}

static void turn_revoked(struct ku_place *place)
{
	struct ku_turn *turn = ku_place_owner(place);

	/* The one who asks waits for the node to go.  If threads went on
	   handing it over among themselves, the request would have no effect
	   until they are done. */
	turn->handed = turn->gate->local_handoffs;
	ku_gate_tell_revoked(turn->gate, turn->hold);
}

static void turn_queued(struct ku_place *place)
{
	struct ku_turn *turn = ku_place_owner(place);

	ku_gate_tell_queued(turn->gate, ku_place_path(place));
}

const struct ku_place_events ku_gate_events = {
	.queued = turn_queued,
	.granted = turn_granted,
	.failed = turn_failed,
	.lost = turn_lost,
	.revoked = turn_revoked,
};

enum kustos_err ku_gate_enter(struct ku_guest *guest)
{
	struct ku_gate *gate = guest->gate;
	enum kustos_err err = KUSTOS_OK;

	if (gate->destroyed)
		return KUSTOS_ECLOSED;
	if (gate->turn == NULL) /* always so if each guest has its own */
		err = turn_begin(guest);
	else if (guest->want.wait.once)
		err = KUSTOS_EBUSY;
	if (err != KUSTOS_OK)
		return err;
	KU_ROW_APPEND(gate->first, gate->last, guest);
	gate->refs++;
	return KUSTOS_OK;
}

void ku_gate_give_up(struct ku_guest *guest, enum kustos_err why)
{
	struct ku_gate *gate = guest->gate;
	struct ku_turn *turn = guest->turn;

	gate->refs++;
	if (gate->turn != NULL && guest == gate->first)
		gate->turn->inherited = true;
	dequeue(guest, why);
	if (turn == NULL && gate->first == NULL && gate->turn != NULL &&
		gate->turn->hold == NULL)
		turn = gate->turn; /* nobody wants it any more */
	if (turn != NULL)
		turn_end(turn);
	ku_gate_put(gate);
}
