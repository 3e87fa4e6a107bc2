/*
 * kustos/node.h - read and write nodes.
 * Link with -lkustos (pkg-config kustos).
 *
 * Each operation has two forms: one that waits until its deadline, and one that
 * ends in a callback.  Both retry as the client's retry policy says.  If an
 * answer was lost, both find out what became of the request wherever the server
 * can tell; where it cannot, they return KUSTOS_EUNKNOWN and do not guess.
 *
 * Every operation can return, besides what its description names: KUSTOS_OK,
 * KUSTOS_EINVAL (a malformed path or argument), KUSTOS_ENOMEM, KUSTOS_ETOOBIG,
 * KUSTOS_ETIMEDOUT, KUSTOS_ECANCELED, KUSTOS_EDISCONNECTED (the policy gave
 * up), KUSTOS_ECLOSED, KUSTOS_EFORKED, KUSTOS_ENOAUTH, KUSTOS_EAUTH,
 * KUSTOS_EQUOTA and KUSTOS_ESERVER.  After KUSTOS_ETIMEDOUT, KUSTOS_ECANCELED,
 * KUSTOS_EDISCONNECTED, KUSTOS_EAUTH and KUSTOS_ECLOSED a write may still take
 * effect.
 *
 * KUSTOS_NOW as the deadline, of either form, means one try, which does not
 * wait for a connection, but does wait for its answer.  Where data is written,
 * NULL means the client's default data; for an empty node, pass "" and 0.
 *
 * An asynchronous call returns an error only if it cannot be started, and then
 * never calls back; otherwise it calls back exactly once.
 *
 * Paths are absolute within the client's chroot and name space, both as
 * arguments and as results.  Outputs may be NULL if they are not wanted.
 *
 * Threads: every call is safe from any thread.  The waiting calls may also be
 * made from a callback, which holds up the callbacks behind it.
 */
#ifndef KUSTOS_NODE_H
#define KUSTOS_NODE_H

#include <kustos/base.h>

KUSTOS_BEGIN

struct kustos_client; /* <kustos/client.h> */
struct kustos_cancel; /* <kustos/cancel.h> */

/* How a node is made; may be or-ed together. */
#define KUSTOS_CREATE_EPHEMERAL 1 /* goes with the session */
#define KUSTOS_CREATE_SEQUENTIAL \
	2 /* the server appends ten digits to the name */
#define KUSTOS_CREATE_CONTAINER 4 /* goes once its last child has gone */
#define KUSTOS_CREATE_PROTECTED \
	8 /* found again if an answer is lost: see below */
#define KUSTOS_CREATE_PARENTS 16 /* make missing parents, as containers */

/* A server that knows no containers makes a persistent node instead.

   The name of a protected node begins with "_c_<uuid>-", by which the node is
   found if the answer to its creation is lost.  Because nobody but its maker
   could know that name, a creation that ends with KUSTOS_ETIMEDOUT,
   KUSTOS_ECANCELED, KUSTOS_EUNKNOWN or KUSTOS_ECLOSED is undone, as soon as
   there is a connection; a close tries that until its budget is spent.  The
   creation is not undone if the node may not be deleted, or if it has to be
   looked for and its parent may not be listed; the client's log says so. */

/* A node's children, in no order. */
struct kustos_names {
	size_t count;
	char **names;
};

/* Free "names".  NULL is allowed. */
KUSTOS_API void kustos_names_free(struct kustos_names *names);

/* Free what an operation handed out: a path or a node's data.  NULL is
   allowed. */
KUSTOS_API void kustos_free(void *memory);

enum kustos_op_kind {
	KUSTOS_OP_CREATE = 1,
	KUSTOS_OP_SET = 2,
	KUSTOS_OP_DELETE = 3,
	KUSTOS_OP_CHECK = 4 /* that the node has this version */
};

/* One operation of a transaction. */
struct kustos_op {
	enum kustos_op_kind kind;
	const char *path;
	const void *data; /* CREATE, SET; NULL: the client's default */
	size_t len;
	int version;	      /* SET, DELETE, CHECK; -1: any */
	int flags;	      /* CREATE: EPHEMERAL, SEQUENTIAL */
	const void *reserved; /* NULL */
};

struct kustos_op_result {
	enum kustos_err err;
	char *path;		 /* CREATE, if it was applied */
	struct kustos_stat stat; /* SET */
};

/* What a request brought.  Valid during the callback. */
struct kustos_result {
	const char *path;		/* create */
	const struct kustos_stat *stat; /* all but delete, sync, multi */
	const void *data;		/* get; NULL: the data is null */
	size_t len;
	const struct kustos_names *names;	/* children */
	const struct kustos_op_result *results; /* multi */
	size_t result_count;
};

/* Called once when a request has ended.  "result" is never NULL; its fields
   are set only after KUSTOS_OK, except the results of a multi. */
typedef void kustos_done_fn(void *arg, enum kustos_err err,
	const struct kustos_result *result);

/* Make a node.  "data" NULL stores the client's default data.  "*created"
   receives the path of the node, to be freed with kustos_free().  Returns
   KUSTOS_EEXISTS, KUSTOS_ENONODE if the parent is missing, KUSTOS_ENOCHILDREN
   if the parent is ephemeral, KUSTOS_EBADACL, KUSTOS_ELIMIT if the session's
   ephemeral nodes together would be more than a server can clean up, or
   KUSTOS_EUNKNOWN. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_create(
	struct kustos_client *client, const char *path, const void *data,
	size_t len, int flags, kustos_deadline deadline,
	struct kustos_cancel *cancel, char **created, struct kustos_stat *stat);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_create_async(
	struct kustos_client *client, const char *path, const void *data,
	size_t len, int flags, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg);

/* Read a node.  "*data" is followed by a zero byte that "*len" does not count,
   or NULL if the node's data is null; free it with kustos_free().  Returns
   KUSTOS_ENONODE. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_get(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, char **data, size_t *len,
	struct kustos_stat *stat);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_get_async(
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg);

/* Change a node's data if it has "version" (-1: whatever it has).  With version
   -1 the change is sent again after a lost answer, so it may be applied twice.
   Returns KUSTOS_ENONODE, KUSTOS_EBADVERSION or KUSTOS_EUNKNOWN. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_set(struct kustos_client *client,
	const char *path, const void *data, size_t len, int version,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_stat *stat);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_set_async(
	struct kustos_client *client, const char *path, const void *data,
	size_t len, int version, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg);

/* Look whether a node is there.  Returns KUSTOS_ENONODE if it is not. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_exists(
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_stat *stat);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_exists_async(
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg);

/* Delete a node if it has "version" (-1: whatever it has).  If the node is
   found gone after an answer was lost, it counts as deleted.  Returns
   KUSTOS_ENONODE, KUSTOS_EBADVERSION, KUSTOS_ENOTEMPTY or KUSTOS_EUNKNOWN. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_delete(
	struct kustos_client *client, const char *path, int version,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_delete_async(
	struct kustos_client *client, const char *path, int version,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg);

/* Delete the node at "path", whatever happens to the connection.  This is tried
   until the server has confirmed it, or until the session ends or is given up,
   which ends an ephemeral node as well; a persistent node may stay then, and
   nothing reports that.  "czxid" is that of the node's stat: if an answer was
   lost, and the node that is found has another czxid, it is a newer one and is
   left alone.  If the czxid is not known, pass 0; then whatever node is found
   is deleted.  A refusal (the node has children, or may not be deleted) ends
   the tries, and is logged as an error, once for several nodes with the same
   parent.  Returns at once: KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM,
   KUSTOS_ETOOBIG, KUSTOS_EAUTH, KUSTOS_ECLOSED, KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_delete_guaranteed(
	struct kustos_client *client, const char *path, int64_t czxid);

/* List a node's children.  Free "*names" with kustos_names_free().  Returns
   KUSTOS_ENONODE. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_children(
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_names **names, struct kustos_stat *stat);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_children_async(
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg);

/* Have the server catch up: a read that follows sees all that was written
   anywhere before this call. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_sync(
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_sync_async(
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg);

/* Apply all of "ops" or none.  "results", if it is not NULL, has room for
   "count" results.  After KUSTOS_OK those of creations have the path of the
   node, to be freed with kustos_free(); the callback of the asynchronous form
   is lent them.  All other paths are NULL.  Returns the error of the first
   operation that failed, while the others have KUSTOS_EROLLEDBACK; or
   KUSTOS_EUNKNOWN if the answer was lost, and then it is not sent again; or
   KUSTOS_ELIMIT as kustos_create().  A transaction cannot make a container
   (KUSTOS_EUNSUPPORTED).  "results" is filled after an error, too, unless
   "count" is more than INT_MAX / 2 (KUSTOS_EINVAL). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_multi(
	struct kustos_client *client, const struct kustos_op *ops, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_op_result *results);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_multi_async(
	struct kustos_client *client, const struct kustos_op *ops, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg);

KUSTOS_END
#endif
