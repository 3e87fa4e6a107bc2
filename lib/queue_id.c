/* queue_id.c - items of a queue are deleted by their id. */

#include "queue_impl.h"

#include <kustos/node.h>

#include <stdlib.h>
#include <string.h>

/* The item has children, so nobody can delete it.  Leave it and tell the
   program, as a take does; if memory is short, the next take tells.  But if
   takes know of a newer node of the queue, the item is gone, and another may
   have its name. */
static void pass_over(struct ku_queue *q, const char *name, int64_t node_czxid,
	const struct kustos_stat *stat)
{
	ku_lock(q->client);
	if (q->take.others.czxid <= node_czxid)
		(void)ku_take_pass_over(q, name, stat);
	ku_unlock(q->client);
}

/* The deletion of one item.  It is in the stream of what we put, so that its
   outcome is known even if the answer is lost (S15): otherwise a consumer that
   takes the item in that moment would look like us.  It lives on if its caller
   gives up while it is on its way. */
struct removal {
	struct ku_wait wait; /* first: cast back from it */
	struct ku_queue *queue;
	struct ku_deed deed;
	struct ku_zk_request ops[2]; /* the receipt's, and the deletion */
	int refs;		     /* of the caller, of the stream */
};

static void removal_drop(struct removal *r)
{
	if (--r->refs > 0)
		return;
	free((char *)r->ops[1].path);
	free(r);
}

static void removal_over(struct ku_deed *deed, enum kustos_err err,
	const struct ku_zk_reply *reply)
{
	struct removal *r = deed->owner;

	(void)reply;
	ku_wait_end(&r->wait, err);
	removal_drop(r);
}

/* It is gone, claimed or taken meanwhile, or has children. */
static bool removal_refused(struct ku_deed *deed, int at, int rc)
{
	(void)deed;
	(void)at;
	(void)rc;
	return false;
}

/* Does the caller still want it? */
static bool removal_fit(struct ku_deed *deed)
{
	const struct removal *r = deed->owner;

	return !r->wait.over;
}

static enum kustos_err removal_start(struct ku_wait *wait)
{
	struct removal *r = (struct removal *)wait;

	if (r->queue->over)
		return KUSTOS_ECLOSED;
	r->refs++;
	ku_receipt_do(&r->queue->put.receipt, &r->deed);
	return KUSTOS_OK;
}

/* What is on its way goes on. */
static void removal_give_up(struct ku_wait *wait, enum kustos_err why)
{
	const struct removal *r = (struct removal *)wait;
	bool sent = r->deed.state != KU_DEED_IDLE;

	ku_wait_end(wait,
		sent && why == KUSTOS_EDISCONNECTED ? KUSTOS_EUNKNOWN : why);
}

static struct removal *removal_new(struct ku_queue *q, const char *name,
	int version)
{
	static const struct ku_deed_calls calls = {
		.over = removal_over,
		.refused = removal_refused,
		.fit = removal_fit,
	};
	static const struct ku_wait_calls wait_calls = {
		.start = removal_start,
		.give_up = removal_give_up,
		.connected = true,
	};
	struct removal *r = calloc(1, sizeof(*r));
	char *path = ku_path_child(q->path, name);

	if (r == NULL || path == NULL) {
		free(path);
		free(r);
		return NULL;
	}
	r->ops[1] = (struct ku_zk_request){ .kind = KU_ZK_DELETE,
		.path = path,
		.version = version };
	r->deed = (struct ku_deed){ .calls = &calls,
		.ops = r->ops,
		.op_count = 2,
		.owner = r };
	r->wait.client = q->client;
	r->wait.calls = &wait_calls;
	r->queue = q;
	r->refs = 1;
	return r;
}

/* Delete it if it has this version: a consumer that claims it meanwhile keeps
   it. */
static enum kustos_err delete_version(struct ku_queue *q, const char *name,
	int version, kustos_deadline deadline, struct kustos_cancel *cancel)
{
	struct removal *r = removal_new(q, name, version);

	if (r == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = ku_wait_block(&r->wait, deadline, cancel);
	ku_lock(q->client);
	removal_drop(r);
	ku_unlock(q->client);
	return err;
}

static enum kustos_err delete_it(struct ku_queue *q, const char *name,
	int64_t node_czxid, kustos_deadline deadline,
	struct kustos_cancel *cancel, size_t *removed)
{
	const char *queue = ku_program_path(q->client, q->path);
	char *path = ku_path_child(queue, name);
	struct kustos_stat stat;

	if (path == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = kustos_exists(q->client, path, deadline, cancel,
		&stat);
	free(path);
	if (err == KUSTOS_OK)
		err = delete_version(q, name, stat.version, deadline, cancel);
	*removed += err == KUSTOS_OK;
	if (err == KUSTOS_ENOTEMPTY)
		pass_over(q, name, node_czxid, &stat);
	return err == KUSTOS_ENONODE || err == KUSTOS_EBADVERSION ||
			err == KUSTOS_ENOTEMPTY
		? KUSTOS_OK
		: err;
}

/* Has the program destroyed the queue meanwhile? */
static bool is_over(struct ku_queue *q)
{
	ku_lock(q->client);
	bool over = q->over;
	ku_unlock(q->client);
	return over;
}

static enum kustos_err remove_all(struct ku_queue *q, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel, size_t *removed)
{
	struct kustos_names *names = NULL;
	struct kustos_stat node;
	enum kustos_err err = kustos_children(q->client,
		ku_program_path(q->client, q->path), deadline, cancel, &names,
		&node);

	*removed = 0;
	if (err == KUSTOS_ENONODE)
		return KUSTOS_OK;
	for (size_t i = 0; err == KUSTOS_OK && i < names->count; i++) {
		struct ku_item item;

		if (ku_item_parse(q->kind, names->names[i], &item) &&
			ku_item_has_id(&item, id))
			err = is_over(q)
				? KUSTOS_ECLOSED
				: delete_it(q, names->names[i], node.czxid,
					  deadline, cancel, removed);
	}
	kustos_names_free(names);
	return err;
}

enum kustos_err ku_queue_remove_id(struct ku_queue *q, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel, size_t *removed)
{
	struct kustos_client *client = q->client;

	/* Destroying the queue does not end these requests, as they wait like
	   the program's own: so keep the queue. */
	ku_begin(client);
	ku_queue_get(q);
	ku_unlock(client);
	enum kustos_err err = remove_all(q, id, deadline, cancel, removed);
	ku_lock(client);
	ku_queue_drop(q);
	ku_end(client);
	return err;
}
