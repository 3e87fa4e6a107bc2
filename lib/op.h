/*
 * op.h - requests that may need more than one try.
 *
 * An operation sends its request, and when the answer says that it was not
 * applied, or does not come, waits as its policy says and sends it again.  A
 * write whose answer was lost is ambiguous; what that leaves to find out, and
 * how, depends on its kind and stands in op_resolve.c.  The parents of a new
 * node and its search by GUID stand in op_create.c.
 *
 *   QUEUED --sent--> answered --> DONE
 *     ^                 |
 *     |   policy: again | lost, throttled
 *     +---- PAUSED <----+
 *
 * Every operation ends exactly once: ku_op_finish().  Who wants to know is its
 * owner inside the core, or nobody.  What the program asks for is a task: an
 * operation with a wait (wait.h) that owns it.
 */
#ifndef KU_OP_H
#define KU_OP_H

#include <kustos/node.h>

#include "name.h"
#include "retry.h"
#include "timer.h"
#include "wait.h"
#include "wire.h"

#include <pthread.h>

struct ku_op;
struct ku_create;
typedef void ku_op_answer_fn(struct ku_op *op, const struct ku_zk_reply *reply);
typedef void ku_op_ended_fn(struct ku_op *op);

struct ku_op {
	struct ku_request request; /* first: cast back from it */
	struct kustos_client *client;

	/* Constant once started.  A place has one of these for as long as it
	   waits, so what is small stands together. */
	enum ku_zk_kind kind;
	int flags;	 /* KUSTOS_EPHEMERAL ... */
	int version;	 /* of a set or delete */
	int len;	 /* of the data */
	int op_count;	 /* of a multi */
	bool guaranteed; /* a delete that nobody waits for */
	bool lasting;	 /* of a node that outlives the session */
	bool bare;	 /* a protected name has the UUID without "_c_" */
	bool plain;	 /* missing parents become persistent nodes */
	bool patient;	 /* go on trying; only the owner gives up */
	bool any;	 /* a node that is there will do, whoever made it */
	bool last;	 /* goes on while the client drains, to be closed */
	bool large;	 /* however large: it was in a server before */
	bool wary;	 /* a delete that looks at the czxid before it is sent
			    again, or late: as one that is guaranteed */
	char *path;	 /* the caller's, with the prefix; NULL: a multi, or
			    slim */
	char *data;	 /* copy of what to write */
	struct ku_zk_request *ops; /* of a multi, with their own copies */
	int64_t czxid;		   /* of the node that it is to delete */
	int64_t epoch;		   /* in which alone it may be sent; 0: any */

	/* Progress. */
	bool once; /* one try, if connected */
	bool started;
	bool unwanted;	/* if the node is not there, do not make it */
	bool doubtful;	/* look before what is guaranteed is deleted */
	bool ambiguous; /* an earlier try may have been applied */
	bool moved;	/* several may have been, in several sessions */
	bool orphan;	/* to be freed when no request refers to it */
	bool done;
	int in_flight; /* requests that refer to this memory */
	uint64_t serial;
	struct ku_retry retry;
	struct ku_timer pause;	   /* until the next try; while not connected,
				     until the policy is asked again */
	int64_t session_id;	   /* to which an ambiguous try was sent */
	ku_op_answer_fn *answer;   /* what takes the answer on its way */
	struct ku_create *create;  /* op_create.c's */
	size_t asked;		   /* bytes of ephemeral nodes (footprint.h) */
	struct ku_op *prev, *next; /* all that have not ended, by age */

	/* The end. */
	enum kustos_err err;
	int out_len;
	char *out_path; /* made beforehand for a create; until its end, what
			   its requests name */
	char *out_data;
	struct kustos_stat out_stat;
	struct kustos_names *out_names;
	struct kustos_op_result *out_results; /* made beforehand */
	ku_op_ended_fn *ended;		      /* NULL: nobody wants to know */
	void *owner;
};

/* What the program asks for, as a thread that waits or with a callback. */
struct ku_task {
	struct ku_op op; /* first: cast back from it, and freed with it */
	struct ku_wait wait;
	enum kustos_err fine; /* as good as KUSTOS_OK, which is the default */
	int checks;	      /* so many parts at first are a guard's */
	bool left; /* who asked is done with it; it may go on, to undo it */
	kustos_done_fn *callback;
	void *arg;
	ku_end_fn *end; /* if the callback is one of ours, the program's */
	void *end_arg;
};

/* Goes through operations that may end, and be freed, meanwhile. */
struct ku_op_cursor {
	struct ku_op *next;
	struct ku_op_cursor *outer;
};

struct ku_ops {
	struct ku_op *oldest, *newest;
	struct ku_op_cursor *cursors; /* that go through them now */
	size_t count;
	uint64_t started;
	int flushing; /* threads that wait for older ones to end */
	pthread_cond_t ended;
	bool no_containers; /* the server does not know them */
	uint64_t stuck; /* the folder of what was last told to stay; 0: none */
};

/* Make an operation on "path", which is checked and given the prefix.  "flags"
   are those of a creation.  What is stored in "*out", on failure too, is the
   caller's to free. */
enum kustos_err ku_op_new(struct kustos_client *client, enum ku_zk_kind kind,
	const char *path, int flags, struct ku_op **out);

/* The same for a task; and make a transaction. */
enum kustos_err ku_task_new(struct kustos_client *client, enum ku_zk_kind kind,
	const char *path, int flags, struct ku_task **out);
enum kustos_err ku_task_new_multi(struct kustos_client *client,
	const struct kustos_op *ops, size_t count, struct ku_task **out);

/* A transaction is for a hold only. */
struct ku_guard {
	int64_t epoch; /* not to be sent once this is over; 0: at any time */
	size_t checks; /* so many operations at first are to prove it */
};

/* kustos_multi(), and KUSTOS_ELOST if the hold is, that is, if the epoch is over or a
   node is missing that a check names.  The results leave the checks out.  The client
   is not locked. */
enum kustos_err ku_multi_guarded(struct kustos_client *client,
	const struct ku_guard *guard, const struct kustos_op *ops, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_op_result *results);
enum kustos_err ku_multi_guarded_async(struct kustos_client *client,
	const struct ku_guard *guard, const struct kustos_op *ops, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg);

/* Give it a copy of the data to write; NULL is the client's default. */
enum kustos_err ku_op_data(struct ku_op *op, const void *data, size_t len);

/* Start "task" and wait.  The client is not locked, and is not freed before the
   caller frees "task". */
enum kustos_err ku_task_wait(struct ku_task *task, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Start "task" for a callback, after which it is freed.  The client is not
   locked.  On failure it is freed at once. */
enum kustos_err ku_task_async(struct ku_task *task, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg);

/* Free it, once nothing refers to it.  The client is not locked.  NULL is
   allowed. */
void ku_task_free(struct ku_task *task);

/* Start "op" for nobody; freed when it has ended, or on failure at once.  The
   client is locked. */
enum kustos_err ku_op_detached(struct ku_op *op);

/* Start "op" for op->ended, which is called with the client locked, perhaps
   from in here, and whose owner drops it.  It goes on trying until it is ended.
   The client is locked. */
enum kustos_err ku_op_owned(struct ku_op *op);

/* Nobody wants what this creation makes any more.  It ends as soon as it is
   certain that there is no node: with KUSTOS_OK if there is one. */
void ku_op_unwant(struct ku_op *op);

/* A creation has ended well: free all but what its undoing needs. */
void ku_op_slim(struct ku_op *op);

/* Have the creation "op", which was not started, be one that has ended well: the
   node at "path", a full path, is there.  Returns KUSTOS_OK or KUSTOS_ENOMEM.
   The client is locked. */
enum kustos_err ku_op_adopt(struct ku_op *op, const char *path,
	const struct kustos_stat *stat);

/* Did a deletion that has ended so leave the node, for as long as its session?
   Whoever else may delete it can. */
bool ku_delete_refused(enum kustos_err err);

/* The deletion "op" has ended: log it if its node stays.  Of several in one folder
   that is said of the first, until one has succeeded there, or another folder was
   told of.  Done by itself if nobody hears of its end. */
void ku_op_tell_stuck(const struct ku_op *op);

/* The same of a creation, whoever gives it up, if what it may have made cannot be looked
   for, or not be deleted. */
void ku_op_tell_unseen(const struct ku_op *op, enum kustos_err why);

/* Turn a creation that has ended well into the guaranteed deletion of what it
   made, and start that; memory is not needed.  The client is locked. */
void ku_op_undo(struct ku_op *op);

/* Free it, once nothing refers to it.  The client is not locked.  NULL is
   allowed. */
void ku_op_free(struct ku_op *op);

/* Copy names; NULL if memory is short. */
struct kustos_names *ku_names_copy(const char *const *names, int count);

/* End the operations that a close, or refused credentials, end; those that
   are on their way, and guaranteed ones, only if "all". */
void ku_ops_fail(struct kustos_client *client, enum kustos_err err, bool all);

/* The session is over: end the guaranteed deletes that were bound to it. */
void ku_ops_session_over(struct kustos_client *client, int64_t session_id);

/* Connected: try at once what waits for that.  Suspended, or lost without that:
   ask the policies how long to wait for it. */
void ku_ops_connected(struct kustos_client *client);
void ku_ops_suspended(struct kustos_client *client);

/*
 * Between the files that are called op.  The client is locked.
 */

/* Free it now, or when the last request that refers to it has ended. */
void ku_op_drop(struct ku_op *op);

/* Let "*op" go, which has ended or has not; its owner is not told.  NULL is
   allowed. */
void ku_op_let_go(struct ku_op **op);

/* Say what its timer does. */
void ku_op_init_timer(struct ku_op *op);

/* Send what op->request.what says; "answer" takes what comes. */
void ku_op_send(struct ku_op *op, ku_op_answer_fn *answer);

/* Send one more request that refers to the operation's memory. */
void ku_op_send_also(struct ku_op *op, struct ku_request *request);

/* Such a request has ended.  May free the operation. */
void ku_op_request_over(struct ku_op *op);

/* Is the epoch over in which alone it may be sent? */
bool ku_op_outlived(const struct ku_op *op);

/* Make the next try, now. */
void ku_op_try(struct ku_op *op);

/* Make the next try when the policy says; or, if it gives up, end. */
void ku_op_again(struct ku_op *op, enum kustos_err err);

/* Not connected: ask the policy whether to go on waiting; or end. */
void ku_op_keep_waiting(struct ku_op *op);

/* End it. */
void ku_op_finish(struct ku_op *op, enum kustos_err err);

/* The answer to the request as such. */
void ku_op_answered(struct ku_op *op, const struct ku_zk_reply *reply);

/* The answer was lost: find out what became of the request. */
void ku_op_resolve(struct ku_op *op);

/* The server refuses a try after one that may have been applied.  Returns
   whether that needed a closer look, which then has begun or has ended. */
bool ku_op_resolve_refusal(struct ku_op *op, const struct ku_zk_reply *reply);

/* Find out whether an unprotected ephemeral node is what we made. */
void ku_op_look_created(struct ku_op *op);

/* Look at a node before a delete of it alone is sent again. */
void ku_op_look(struct ku_op *op);

/* Make a creation's own state.  The client is not locked. */
enum kustos_err ku_create_init(struct ku_op *op);

/* Make a creation, as ku_op_new() does, with its data and its own state. */
enum kustos_err ku_create_new(struct kustos_client *client, const char *path,
	int flags, const void *data, size_t len, struct ku_op **out);

void ku_create_free(struct ku_op *op);
void ku_create_withdraw(struct ku_op *op);

/* Is this the name of the node that "op" has sent, or is about to send? */
bool ku_create_makes(const struct ku_op *op, const char *name);

/* Send a creation; or, if it may have been applied, first look for its node. */
void ku_create_try(struct ku_op *op);

/* The parent is missing: make it, if that is asked for.  Returns whether it
   is, and then the creation goes on by itself. */
bool ku_create_parents(struct ku_op *op);

#endif
