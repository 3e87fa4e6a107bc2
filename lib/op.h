/*
 * op.h - requests that may need more than one try.
 *
 * An operation sends its request.  If the answer says that the request was not
 * applied but may be tried again, or if the answer is lost, the operation
 * pauses as its policy says and sends the request again.  A write whose answer
 * was lost is ambiguous: op_resolve.c finds out what became of it, as far as
 * its kind allows.  op_create.c makes the missing parents of a new node and
 * searches for the node by its GUID.
 *
 *   QUEUED --sent--> answered --> DONE
 *     ^                 |
 *     |   policy: again | lost, throttled
 *     +---- PAUSED <----+
 *
 * Every operation ends exactly once, in ku_op_finish(), which notifies its
 * owner inside the core, if it has one.  An operation that the program asks
 * for is a task: an operation with a wait (wait.h) that owns it.
 *
 * How an owner gets rid of an operation:
 *
 *   ku_op_drop()	it has ended, or was never started
 *   ku_op_let_go()	in any state; what it may have done stays done
 *   ku_op_unwant()	a creation under way: it ends when there is certainly
 *			no node, or succeeds, and is undone then
 *   ku_op_undo()	a creation that has succeeded: delete its node
 */
#ifndef KU_OP_H
#define KU_OP_H

#include <kustos/node.h>

#include "name.h"
#include "retry.h"
#include "timer.h"
#include "wait.h"
#include "wire.h"

#include <limits.h>
#include <pthread.h>

struct ku_op;
struct ku_create;
typedef void ku_op_answer_fn(struct ku_op *op, const struct ku_zk_reply *reply);
typedef void ku_op_ended_fn(struct ku_op *op);

struct ku_op {
	struct ku_request request; /* first: cast back from it */
	struct kustos_client *client;

	/* Constant once started.  A place keeps an operation for as long as it
	   waits, so small fields stand together to save memory. */
	enum ku_zk_kind kind;
	int flags;	 /* KUSTOS_CREATE_EPHEMERAL ... */
	int version;	 /* of a set or delete */
	int len;	 /* of the data */
	int op_count;	 /* of a multi */
	bool guaranteed; /* retried without limit, also while a closing client
			    drains: a delete, or an unwanted creation */
	bool lasting;	 /* of a node that outlives the session */
	bool bare;	 /* a protected name has the UUID without "_c_" */
	bool plain;	 /* missing parents become persistent nodes */
	bool patient;	 /* go on trying; only the owner gives up */
	bool any;	 /* an existing node will do, whoever made it */
	bool last;	 /* starts and goes on while a closing client drains */
	bool large;	 /* of any size: its data was in a server before */
	bool belated;	 /* a delete of a node that was made late (stray.h) */
	bool wary;	 /* a delete that checks the czxid before it is sent
			    again, or late, as a guaranteed one does */
	char *path;	 /* the caller's, with the prefix; NULL: a multi, or
			    slim (ku_op_slim()) */
	char *data;	 /* copy of what to write */
	struct ku_zk_request *ops; /* of a multi, with their own copies */
	int64_t czxid;		   /* of the node that it is to delete */
	int64_t epoch;		   /* the only one to send it in; 0: any */

	/* Progress. */
	bool once; /* one try, if connected */
	bool started;
	bool unwanted;	/* if the node is not there, do not make it */
	bool doubtful;	/* a guaranteed or wary delete is to look first */
	bool ambiguous; /* an earlier try may have been applied */
	bool moved;	/* there were such tries in several sessions */
	bool orphan;	/* to be freed when no request refers to it */
	bool done;
	int in_flight; /* requests that refer to this memory */
	uint64_t serial;
	struct ku_retry retry;
	struct ku_timer pause;	   /* until the next try; while not connected,
				     until the policy is asked again */
	int64_t session_id;	   /* to which an ambiguous try was sent */
	ku_op_answer_fn *answer;   /* called with the next answer */
	struct ku_create *create;  /* op_create.c's */
	size_t asked;		   /* counted in asked_bytes (footprint.h) */
	struct ku_op *prev, *next; /* all that have not ended, by age */

	/* The end. */
	enum kustos_err err;
	int out_len;
	char *out_path; /* allocated beforehand for a create; until its end the
			   path of its requests */
	char *out_data;
	struct kustos_stat out_stat;
	struct kustos_names *out_names;
	struct kustos_op_result *out_results; /* allocated beforehand */
	ku_op_ended_fn *ended;		      /* NULL: it has no owner */
	void *owner;
};

/* An operation that the program asks for, blocking or with a callback. */
struct ku_task {
	struct ku_op op; /* first: cast back from it, and freed with it */
	struct ku_wait wait;
	enum kustos_err fine; /* counts as success; default KUSTOS_OK */
	int checks;	      /* how many of the first parts are a guard's */
	bool left; /* the caller is done with it; it may go on, to undo it */
	kustos_done_fn *callback;
	void *arg;
	kustos_end_fn *end; /* the program's, if "callback" is one of ours */
	void *end_arg;
};

/* An iteration over operations, which may end and be freed during it. */
struct ku_op_cursor {
	struct ku_op *next;
	struct ku_op_cursor *outer;
};

struct ku_ops {
	struct ku_op *oldest, *newest;
	struct ku_op_cursor *cursors; /* iterations under way */
	size_t count;
	uint64_t started;
	int flushing; /* threads that wait for older ones to end */
	pthread_cond_t ended;
	bool no_containers; /* the server does not know them */
	uint64_t stuck; /* folder of the node last logged to stay; 0: none */
};

/* Make an operation on "path", which is checked and given the prefix.  "flags"
   are those of a creation.  On failure "*out" is NULL. */
enum kustos_err ku_op_new(struct kustos_client *client, enum ku_zk_kind kind,
	const char *path, int flags, struct ku_op **out);

/* The most operations of a transaction.  Far beyond what a server takes: who
   asks for more has counted wrongly, and so may have no room for results. */
#define KU_OPS_MAX (INT_MAX / 2)

/* The same, but make a task; and make a task for a transaction. */
enum kustos_err ku_task_new(struct kustos_client *client, enum ku_zk_kind kind,
	const char *path, int flags, struct ku_task **out);
enum kustos_err ku_task_new_multi(struct kustos_client *client,
	const struct kustos_op *ops, size_t count, struct ku_task **out);

/* Binds a transaction to a hold. */
struct ku_guard {
	int64_t epoch; /* not to be sent once this is over; 0: at any time */
	size_t checks; /* how many of the first operations prove the hold */
};

/* As kustos_multi(), but returns KUSTOS_ELOST if the hold is lost: the epoch is
   over, or a node that a check names is missing, or has another version.  The
   results leave out the checks.  The client is not locked. */
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

/* Start "*op" for "owner".  The operation goes on trying until it ends or is
   let go.  When it ends "ended" is called, with the client locked and perhaps
   from in here; then the owner drops "*op".  If it cannot be started it is
   dropped, and "*op" is set to NULL.  The client is locked. */
enum kustos_err ku_op_start(struct ku_op **op, ku_op_ended_fn *ended,
	void *owner);

/* Start "op" without an owner.  It is dropped when it has ended, or at once if
   it cannot be started.  The client is locked. */
enum kustos_err ku_op_start_unowned(struct ku_op *op);

/* The node of this creation is no longer wanted.  The operation ends as soon as
   it is certain that there is no node, or with KUSTOS_OK if there is one. */
void ku_op_unwant(struct ku_op *op);

/* The creation "op" has succeeded: free all but what its undoing needs. */
void ku_op_slim(struct ku_op *op);

/* Turn the creation "op", which was not started, into one that has succeeded:
   the node at "path", a full path, is there.  Returns KUSTOS_OK or
   KUSTOS_ENOMEM.  The client is locked. */
enum kustos_err ku_op_adopt(struct ku_op *op, const char *path,
	const struct kustos_stat *stat);

/* Does a deletion that ends with "err" leave the node, for as long as the
   node's session lives?  Others who have the right to delete it still can. */
bool ku_delete_refused(enum kustos_err err);

/* The deletion "op" has ended: log it if its node stays.  Of several nodes in
   one folder only the first is logged, until a deletion there succeeds or a
   node of another folder is logged.  ku_op_finish() calls this for a guaranteed
   deletion that has no owner. */
void ku_op_tell_stuck(const struct ku_op *op);

/* The same for a creation, whoever gives it up: log it if the node that it may
   have made cannot be looked for, or cannot be deleted. */
void ku_op_tell_unseen(const struct ku_op *op, enum kustos_err why);

/* Turn a creation that has succeeded into the guaranteed deletion of its node,
   and start that.  This needs no memory.  The client is locked. */
void ku_op_undo(struct ku_op *op);

/* Is the node at "path", a full path, being deleted because it was made
   late? */
bool ku_ops_belated(const struct kustos_client *client, const char *path);

/* Copy names; NULL if memory is short. */
struct kustos_names *ku_names_copy(const char *const *names, int count);

/* End all operations.  And when a close begins: those that it does not let go
   on, which were not sent, and are not marked "guaranteed" or "last". */
void ku_ops_fail(struct kustos_client *client, enum kustos_err err);
void ku_ops_close(struct kustos_client *client);

/* The session is over: end the guaranteed operations on nodes that die with
   it. */
void ku_ops_session_over(struct kustos_client *client, int64_t session_id);

/* The client is connected: try at once what waits for that.  It is suspended,
   or lost without having been suspended: ask the policies how long to wait for
   a connection. */
void ku_ops_connected(struct kustos_client *client);
void ku_ops_suspended(struct kustos_client *client);

/* Free it now, or when the last request that refers to it has ended.  The
   client is locked. */
void ku_op_drop(struct ku_op *op);

/* Give up "*op", ended or not, and set it to NULL; its owner is not notified.
   NULL is allowed.  The client is locked. */
void ku_op_let_go(struct ku_op **op);

/* Return the request that makes a node, with the client's access list. */
struct ku_zk_request ku_create_request(const struct kustos_client *client,
	const char *path, const char *data, int len, enum ku_zk_mode mode);

/* Make a creation's own state.  The client is not locked. */
enum kustos_err ku_create_init(struct ku_op *op);

/* Make a creation, as ku_op_new() does, with its data and its own state. */
enum kustos_err ku_create_new(struct kustos_client *client, const char *path,
	int flags, const void *data, size_t len, struct ku_op **out);

/* Is this the name of a node that was made under "guid": the GUID, the leaf,
   and a sequence number if there is to be one?  Others can see the GUID, and
   make nodes that begin with it. */
bool ku_create_made(const char *name, const char *guid, const char *leaf,
	bool sequential);

/* Is this the name of the node that "op" has sent, or is about to send?
   The client is locked. */
bool ku_create_makes(const struct ku_op *op, const char *name);

/*
 * Only for the files op*.c.  The client is locked.
 */

/* Return how a node with these flags is created. */
enum ku_zk_mode ku_op_mode(int flags);

/* Set the function of its timer. */
void ku_op_init_timer(struct ku_op *op);

/* Send op->request.what; "answer" is called with the answer. */
void ku_op_send(struct ku_op *op, ku_op_answer_fn *answer);

/* Send a request that needs nothing but a path. */
void ku_op_ask(struct ku_op *op, enum ku_zk_kind kind, const char *path,
	ku_op_answer_fn *answer);

/* Try again if "reply" is not an answer.  Returns whether that is so. */
bool ku_op_unanswered(struct ku_op *op, const struct ku_zk_reply *reply);

/* Send one more request that refers to the operation's memory. */
void ku_op_send_also(struct ku_op *op, struct ku_request *request);

/* Such a request has ended.  May free the operation. */
void ku_op_request_over(struct ku_op *op);

/* Is the only epoch in which it may be sent over? */
bool ku_op_outlived(const struct ku_op *op);

/* Make the next try, now. */
void ku_op_try(struct ku_op *op);

/* Make the next try when the policy says; if the policy gives up, end. */
void ku_op_again(struct ku_op *op, enum kustos_err err);

/* Not connected: ask the policy whether to go on waiting; if not, end. */
void ku_op_keep_waiting(struct ku_op *op);

/* End it. */
void ku_op_finish(struct ku_op *op, enum kustos_err err);

/* The answer to the request as such. */
void ku_op_answered(struct ku_op *op, const struct ku_zk_reply *reply);

/* The answer was lost: find out what became of the request. */
void ku_op_resolve(struct ku_op *op);

/* The server refuses a try after one that may have been applied.  Returns
   whether that needs a closer look, which then has begun, or has already ended
   the operation. */
bool ku_op_resolve_refusal(struct ku_op *op, const struct ku_zk_reply *reply);

/* Find out whether an unprotected ephemeral node is what we made. */
void ku_op_look_created(struct ku_op *op);

/* Check the czxid of a node before the delete of just that node is sent again,
   or late. */
void ku_op_look(struct ku_op *op);

/* Free a creation's own state; and take its requests for parents out of the
   queue. */
void ku_create_free(struct ku_op *op);
void ku_create_withdraw(struct ku_op *op);

/* Send a creation; or, if it may have been applied, first look for its node. */
void ku_create_try(struct ku_op *op);

/* The parent is missing: make it, if that is asked for.  Returns false if it is
   not; else the creation goes on by itself, or has ended. */
bool ku_create_parents(struct ku_op *op);

#endif
