/*
 * muster_impl.h - the insides of a double barrier's member, for the files that
 * are called muster.
 *
 *	OUT --enter--> ENTERING --all are in--> IN --leave--> LEAVING --> OUT
 *	 ^                |                                      |
 *	 +-- gave up -----+------------------ gave up -----------+
 *
 * Whoever gives up is out, and its node goes: nobody waits for it.
 *
 * A look is a listing of the members and a look at "ready", in one flight; who
 * goes in sends it behind the creation of its node.  Each event, and each
 * reconnect with another session, has it looked again; none of them says
 * anything by itself, but for one: that "ready" was made after we had seen that
 * it was not there.  Members of kazoo's delete it as soon as they go out, so
 * that a look comes too late.  Then it counts if so many nodes were made since as
 * the round lacked.
 *
 * If that event was lost with the connection, the round may have met, and who leaves waits
 * for us.  Then we come again in a while, as if we had died.
 *
 * Rounds.  Whoever finds that all are in writes into "ready" of which transaction
 * that is true: the round's members had come by then.  Who came later does not go
 * in by that, though it finds "ready" or sees it made: the write may be late, and
 * members may have gone since.  (Ours is late only if it cannot be written in one
 * transaction with a check that they are all there: if not all may be read, or that is
 * too large, or seems to be, as the connection was lost with it again and again.)  And who goes out waits for nobody who came later:
 * it waits for the next round, perhaps for us.  Nor does it delete a "ready" that was
 * made late, while one of those was there: that one may have heard of it, and would
 * take it for its own if it cannot be read any more.
 */
#ifndef KU_MUSTER_IMPL_H
#define KU_MUSTER_IMPL_H

#include "client.h"
#include "muster.h"
#include "muster_rule.h"

#define KU_MUSTER_NAME_SIZE 37 /* a UUID with its dashes, and a zero */

enum ku_muster_state {
	KU_MUSTER_OUT,
	KU_MUSTER_ENTERING,
	KU_MUSTER_IN,
	KU_MUSTER_LEAVING
};

/* A thread, or a callback, that waits. */
struct ku_muster_call {
	struct ku_wait wait; /* first: cast back from it */
	struct ku_muster *muster;
	bool once;  /* the deadline is KUSTOS_NOW */
	bool heard; /* it was asked for, and not given up before */
	ku_muster_fn *done;
	void *arg;
};

struct ku_muster {
	/* Constant. */
	struct kustos_client *client;
	char *path, *ready_path; /* full */
	int count;
	struct ku_payload payload;

	/* Guarded by the client's lock. */
	int refs; /* of the program, of operations, of requests */
	enum ku_muster_state state;
	struct ku_muster_call *call; /* of who enters or leaves */
	struct ku_witness away;	     /* of one that does not wait */
	int64_t round;		     /* its members came up to this */
	int64_t round_ready;	     /* its "ready" was written up to this */

	/* The own node. */
	struct ku_op *node; /* its creation, or its deletion; NULL: none */
	bool wanted;	    /* not to be undone */
	bool there;	    /* made, and wanted */
	char name[KU_MUSTER_NAME_SIZE];
	int64_t czxid, session_id;
	char *stuck; /* full path of the last one, which may not be deleted */
	int64_t stuck_czxid;
	struct ku_request guard; /* what watches it, while it waits, or is in */
	char *guarded;		 /* of that */
	bool guard_fresh;	 /* that is what puts the watch on */
	struct ku_watch own_watch;

	/* What is done to "ready": one thing at a time. */
	struct ku_op *op;
	bool telling; /* all are in, and it tells the others so */
	int lost; /* so often the connection was lost with that, which is large */
	bool tidied;

	/* A look, and what it saw. */
	struct ku_request listing, sight;
	bool again; /* something happened meanwhile */
	bool stale; /* it is that of a call which has ended */
	bool late;  /* it was sent when the node was there */
	int list_rc;
	struct kustos_names *names; /* NULL: nothing was seen */
	int64_t pzxid;
	struct ku_muster_traffic traffic, traffic_then; /* when "absent" */
	int64_t connection_then;			/* which it then was */
	bool ready;
	struct kustos_stat ready_stat;
	int64_t ready_round; /* for those who came up to this */
	bool reads;	     /* a look reads it, and watches nothing */
	bool blind;	     /* it may not be read: it is only looked for */
	int64_t read_mzxid, read_round; /* what was read last, and said this */
	bool absent;	 /* "ready" was not there when our node was */
	bool early;	 /* nor was that yet: "traffic_then" is older */
	bool heard;	 /* but was made since, as an event told */
	bool came;	 /* and that was for us, though it cannot be read */
	int64_t doubted; /* since when it may have missed its round; 0: not */
	bool missed;	 /* its node goes for that, and the next waits until the
			    timer is due */
	size_t skip;	 /* members of another round */
	bool misleads;	 /* one of them saw "ready" being made, for our round */
	char *awaited;	 /* full path of whose end is waited for */
	struct ku_watch watch;
	bool fresh; /* the request under way is what puts it on */
	struct ku_timer timer;
};

/* Locked, as all that follows. */
void ku_muster_get(struct ku_muster *m);
void ku_muster_put(struct ku_muster *m);

/* What was asked for has come to this end. */
void ku_muster_finish(struct ku_muster *m, enum kustos_err err);

/* muster_step.c: take the next step, if enough is known. */
void ku_muster_step(struct ku_muster *m);

/* muster_look.c */

void ku_muster_init_look(struct ku_muster *m);

/* Is something under way that is going to say more? */
bool ku_muster_busy(const struct ku_muster *m);

/* Look, and then take the next step. */
void ku_muster_look(struct ku_muster *m);

/* Look again at what is watched, after this and up to as long again: a watch may be
   gone without a word. */
#define KU_MUSTER_SAFETY_MS 65000
void ku_muster_set_safety(struct ku_muster *m);

/* See the end of the member "name" come, and look again then; or take the next
   step if it is not of this round.  Returns false if memory is short; then it is
   looked again later. */
bool ku_muster_await(struct ku_muster *m, const char *name);

/* Nobody wants to know any more. */
void ku_muster_rest(struct ku_muster *m);

/* muster_node.c */

/* Make the own node; and see that it goes.  The next step follows. */
enum kustos_err ku_muster_join(struct ku_muster *m);
void ku_muster_undo(struct ku_muster *m);

/* The last one stays, though it was to go: try again. */
enum kustos_err ku_muster_clear(struct ku_muster *m);

/* It is gone already. */
void ku_muster_forget(struct ku_muster *m);

/* muster_guard.c: who waits is to hear if somebody deletes its node.  And who
   deletes it itself is not. */
void ku_muster_guard(struct ku_muster *m);

/* It is in, as is looked now and then: who came last was never guarded, and a watch may
   be gone without a word. */
void ku_muster_guard_again(struct ku_muster *m);
void ku_muster_unguard(struct ku_muster *m);
void ku_muster_init_guard(struct ku_muster *m);

/* Look again in a moment; or, without a connection, when there is one. */
void ku_muster_look_later(struct ku_muster *m);

/* Come again when those who leave have seen that we have gone. */
void ku_muster_rejoin_later(struct ku_muster *m);

/* Tell the others that all are in: "ready" is made, or set, only if all who were counted
   are there when that is done.  The next step follows. */
enum kustos_err ku_muster_tell(struct ku_muster *m);

/* Create "ready", set it, or delete what was seen.  The next step follows. */
enum kustos_err ku_muster_write(struct ku_muster *m, enum ku_zk_kind kind);

#endif
