/*
 * muster_impl.h - the internals of a double barrier's member, for the files
 * that are called muster.
 *
 *	OUT --enter--> ENTERING --all are in--> IN --leave--> LEAVING --> OUT
 *	 ^                |                                      |
 *	 +-- gave up -----+------------------ gave up -----------+
 *
 * A member that gives up is out, and its node goes: nobody waits for it.
 *
 * A look is a listing of the members and a read, or exists, of "ready", in one
 * flight.  A member that goes in sends the look behind the creation of its
 * node.  Each event, and each reconnect with another session, makes it look
 * again.  No event says anything by itself, with one exception: that "ready"
 * was made after we had seen that it was not there.  kazoo's members delete
 * "ready" as soon as they go out, so that a look comes too late.  Then the
 * event counts if at least as many nodes were made since as the round lacked.
 *
 * If that event was lost with the connection, the round may have met, and its
 * members wait for us when they leave.  Then we come again after a while, as if
 * we had died.
 *
 * Rounds.  The member that finds that all are in writes into "ready" the zxid
 * at which they were: all members of the round had come by then.  A member that
 * came later does not go in because of that, even if it finds "ready" or sees
 * it made: the write may be late, and members may have gone since.  (Our write
 * is late only if it cannot be one transaction with a check that all are there.
 * That is so if not all may be read; or if that transaction is too large, or
 * seems to be, as the connection was lost with it again and again.)
 *
 * A member that goes out waits for no member that came later: that one waits
 * for the next round, perhaps for us.  Nor does it delete a "ready" that was
 * made late, while such a later member was there: that member may have seen it
 * made, and would take it for its own round's if it can no longer be read.
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
	bool heard; /* its start was called: it was not given up before */
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
	struct ku_muster_call *call; /* the call to enter or leave */
	struct ku_witness away;	     /* of a call that does not wait */
	int64_t round;		     /* its members came up to this zxid */
	int64_t round_ready;	     /* its "ready" was written up to this */

	struct {		  /* the own node */
		struct ku_op *op; /* its creation, or deletion; NULL: none */
		bool there;	  /* made, and not to be undone */
		char name[KU_MUSTER_NAME_SIZE];
		int64_t czxid, session_id;
		char *stuck; /* full path of the last one, which may not be
				deleted */
		int64_t stuck_czxid;
	} own;
	struct { /* the watch on it when it waits, or is in */
		struct ku_request request;
		char *path; /* of that request; NULL: none is under way */
		bool fresh; /* that request sets the watch */
		struct ku_watch watch;
	} guard;

	/* What is done to "ready": one thing at a time. */
	struct ku_op *op;
	bool telling; /* all are in, and this member tells the others */
	int lost;     /* how often a connection was lost with that, if large */
	bool tidied;

	/* A look, and what it saw. */
	struct ku_request listing, sight;
	bool again; /* something happened meanwhile */
	bool stale; /* it belongs to a call that has ended */
	bool late;  /* the own node was there when it was sent */
	int list_rc;
	struct kustos_names *names; /* NULL: nothing was seen */
	int64_t pzxid;
	struct ku_muster_traffic traffic;
	struct { /* "ready" */
		bool there;
		struct kustos_stat stat;
		int64_t round; /* for members that came up to this zxid */
		int64_t read_mzxid, read_round; /* the one last read */
	} ready;
	bool reads; /* a look reads "ready", and watches nothing */
	bool blind; /* "ready" may not be read: only exists is asked */

	struct {	     /* what was seen before something happens */
		bool absent; /* "ready" was not there */
		bool early;  /* nor was our node */
		struct ku_muster_traffic traffic;
		int64_t connection; /* when it came, or last began to wait */
	} noted;
	bool heard;	 /* "ready" was made since, as an event told */
	bool came;	 /* and it was for us, though it cannot be read */
	int64_t doubted; /* since when it may have missed its round; 0: not */
	bool missed;	 /* it has: its node goes, and the next one waits until
			    the timer is due */

	/* The wait of a member that leaves. */
	size_t skip;   /* how many members are of another round */
	bool misleads; /* one of them saw "ready" being made, for our round */
	char *awaited; /* full path of the node whose end is awaited */

	struct ku_watch watch; /* on "ready", or on that node */
	bool fresh;	       /* the request under way sets it */
	struct ku_timer timer;
};

/* Called with the client locked, as all that follows. */
void ku_muster_get(struct ku_muster *m);
void ku_muster_put(struct ku_muster *m);

/* End the call that enters or leaves. */
void ku_muster_finish(struct ku_muster *m, enum kustos_err err);

/* muster_step.c: take the next step, if enough is known. */
void ku_muster_step(struct ku_muster *m);

/* muster_look.c */

void ku_muster_init_look(struct ku_muster *m);

/* Is a request under way whose answer decides more? */
bool ku_muster_busy(const struct ku_muster *m);

/* Look, and then take the next step. */
void ku_muster_look(struct ku_muster *m);

/* Look again at what is watched after this time, or up to twice as long: a
   watch may be lost silently. */
#define KU_MUSTER_SAFETY_MS 65000
void ku_muster_set_safety(struct ku_muster *m);

/* Wait until the member "name" goes, and look again then; or take the next step
   if it is not of this round.  Returns false if memory is short; then the look
   comes later. */
bool ku_muster_await(struct ku_muster *m, const char *name);

/* The call has ended: stop looking. */
void ku_muster_rest(struct ku_muster *m);

/* muster_node.c */

/* Make the own node; and have it deleted.  The next step follows. */
enum kustos_err ku_muster_join(struct ku_muster *m);
void ku_muster_undo(struct ku_muster *m);

/* The last own node is still there, as its deletion was refused: try again. */
enum kustos_err ku_muster_clear(struct ku_muster *m);

/* The own node is gone already. */
void ku_muster_forget(struct ku_muster *m);

/* muster_guard.c: watch the own node, so that a member that waits or is in
   hears if somebody else deletes it; and stop watching it, before we delete it
   ourselves. */
void ku_muster_guard(struct ku_muster *m);

/* The member is in: look now and then whether its node is there.  The member
   that came last was never guarded, and a watch may be lost silently. */
void ku_muster_guard_again(struct ku_muster *m);
void ku_muster_unguard(struct ku_muster *m);
void ku_muster_init_guard(struct ku_muster *m);

/* Look again in a moment; or, without a connection, when there is one. */
void ku_muster_look_later(struct ku_muster *m);

/* Come again when members that leave have had time to see that our node has
   gone. */
void ku_muster_rejoin_later(struct ku_muster *m);

/* Tell the others that all are in: "ready" is made, or set, only if all members
   that were counted are there when that is done.  The next step follows. */
enum kustos_err ku_muster_tell(struct ku_muster *m);

/* Create "ready", set it, or delete the one that was seen.  The next step
   follows. */
enum kustos_err ku_muster_write(struct ku_muster *m, enum ku_zk_kind kind);

#endif
