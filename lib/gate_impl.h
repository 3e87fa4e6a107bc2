/*
 * gate_impl.h - the internals of a gate, for the files that are called gate.
 */
#ifndef KU_GATE_IMPL_H
#define KU_GATE_IMPL_H

#include "client.h"
#include "gate.h"
#include "inside.h"
#include "recipe.h"

#include <stdatomic.h>

struct ku_turn {
	struct ku_gate *gate;
	struct ku_place *place;
	struct ku_guest *guest;	    /* whose it is; NULL: the first guest's */
	struct kustos_hold *hold;   /* NULL until it is granted */
	struct ku_parting *parting; /* who waits for its end, or NULL */
	bool inherited; /* the guest that was first when it began gave up */
	int handed;	/* how often it was handed over */
	int64_t granted_ns;
};

/* A thread, or a callback, that waits. */
struct ku_guest {
	struct ku_hold_wait want; /* first: cast back from it */
	struct ku_gate *gate;
	struct kustos_hold *writer; /* beside which it wants a place, or NULL */
	struct ku_turn *turn;	    /* its own, if each guest has one */
	struct ku_guest *prev, *next;
};

/* What a thread has locked.  A thread can look for its own record without the
   client's lock, as records stay until the gate is destroyed, and are used for
   one thread after the other. */
struct ku_lock {
	atomic_int depth;	  /* 0: nobody's */
	_Atomic pthread_t thread; /* whose, if a depth above 0 was read first */
	struct kustos_hold *hold; /* for that thread only */
	struct ku_lock *next;	  /* constant */
};

struct ku_gate {
	/* Constant. */
	struct kustos_client *client;
	struct ku_line *line;
	struct ku_place_kind kind;
	struct ku_payload payload;
	kustos_hold_fn *on_revoke;
	void *on_revoke_arg;
	kustos_queued_fn *on_queued;
	void *on_queued_arg;
	int local_handoffs;
	bool unlock_waits;

	/* Guarded by the client's lock. */
	int refs; /* of the program, guests, turns, and callbacks to come */
	bool destroyed;
	struct ku_inside *inside;	 /* threads in its callbacks */
	struct ku_guest *first, *last;	 /* the waiters, the longest first */
	struct ku_turn *turn;		 /* shared, unless each guest has one */
	_Atomic(struct ku_lock *) locks; /* read by anybody */
};

/* May the program use it? */
static inline enum kustos_err ku_gate_check(const struct ku_gate *gate)
{
	return gate != NULL ? ku_recipe_check(gate->client) : KUSTOS_EINVAL;
}

/* ku_gate_acquire() for a hold that is kept from its grant on. */
enum kustos_err ku_gate_acquire_kept(struct ku_gate *gate,
	struct kustos_hold *writer, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);

/* Begin to wait, and give the wait up.  Locked. */
enum kustos_err ku_gate_enter(struct ku_guest *guest);
void ku_gate_give_up(struct ku_guest *guest, enum kustos_err why);

/* Have "parting" learn what becomes of the node that is given up when "hold" is
   released.  It learns of none if the node is handed over, or the hold is lost.
   Locked. */
void ku_gate_part(struct kustos_hold *hold, struct ku_parting *parting);

/* Give a reference back; the last one frees it.  Locked. */
void ku_gate_put(struct ku_gate *gate);

extern const struct ku_place_events ku_gate_events;

/* gate_tell.c: have the program's callbacks called. */
void ku_gate_tell_revoked(struct ku_gate *gate, struct kustos_hold *hold);
void ku_gate_tell_queued(struct ku_gate *gate, const char *path);

#endif
