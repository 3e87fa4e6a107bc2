/* muster_node.c - the node of a member of a double barrier; and what the member
   does to "ready". */

#include "muster_impl.h"

#include <stdlib.h>
#include <string.h>

/* Any server takes a request of up to this size. */
#define SMALL_REQUEST 4096
/* A larger request is taken to be too large if the connection was lost with it
   so often. */
#define LOST_MOST 3

/* The deletion of the own node has ended.  If it was refused, keep the node's
   path. */
static void know_stuck(struct ku_muster *m, struct ku_op *op)
{
	ku_op_tell_stuck(op);
	free(m->own.stuck);
	m->own.stuck = NULL;
	if (!ku_delete_refused(op->err))
		return;
	m->own.stuck = op->path;
	m->own.stuck_czxid = op->czxid;
	op->path = NULL;
}

/* Another try to delete our last node has ended.  If that node is still there,
   the call ends: with a new node beside it we would be counted twice. */
static void cleared(struct ku_op *op)
{
	struct ku_muster *m = op->owner;
	enum kustos_err err = op->err;

	know_stuck(m, op);
	m->own.op = NULL;
	ku_op_drop(op);
	if (m->state == KU_MUSTER_ENTERING && m->own.stuck != NULL)
		ku_muster_finish(m, err);
	else
		ku_muster_step(m);
	ku_muster_put(m);
}

static void node_ended(struct ku_op *op)
{
	struct ku_muster *m = op->owner;
	bool creation = op->kind == KU_ZK_CREATE;
	bool unwanted = op->unwanted;
	enum kustos_err err = op->err;

	if (creation && err == KUSTOS_OK && unwanted) {
		ku_op_undo(op);
		return;
	}
	if (creation && err == KUSTOS_OK) {
		ku_op_slim(op);
		m->own.there = true;
		m->own.czxid = op->out_stat.czxid;
		m->own.session_id = op->out_stat.ephemeral_owner;
		ku_muster_step(m);
		return;
	}
	if (!creation)
		know_stuck(m, op);
	m->own.op = NULL;
	ku_op_drop(op);
	if (creation && !unwanted)
		ku_muster_finish(m, err);
	else
		ku_muster_step(m);
	ku_muster_put(m);
}

/* Make an operation on "path", with the data that is written there. */
static enum kustos_err make_op(struct ku_muster *m, enum ku_zk_kind kind,
	const char *path, int flags, struct ku_op **op)
{
	const char *relative = ku_program_path(m->client, path);
	enum kustos_err err = ku_op_new(m->client, kind, relative, flags, op);

	if (err == KUSTOS_OK && path == m->ready_path) {
		char text[KU_MUSTER_TEXT_SIZE];

		ku_muster_print(text, m->round);
		err = ku_op_data(*op, text, strlen(text));
	} else if (err == KUSTOS_OK) {
		err = ku_op_data(*op, m->payload.data, m->payload.len);
	}
	if (err == KUSTOS_OK && kind == KU_ZK_CREATE)
		err = ku_create_init(*op);
	if (err != KUSTOS_OK)
		ku_op_let_go(op);
	return err;
}

/* Start the operation, which is in "*slot" as long as it goes on; or drop
   it. */
static enum kustos_err start_op(struct ku_muster *m, struct ku_op *op,
	ku_op_ended_fn *ended, struct ku_op **slot)
{
	*slot = op;
	ku_muster_get(m);
	enum kustos_err err = ku_op_start(slot, ended, m);
	if (err != KUSTOS_OK)
		ku_muster_put(m);
	return err;
}

static enum kustos_err make_node(struct ku_muster *m, struct ku_op **op)
{
	char protection[KU_PROTECTION_SIZE];

	/* The UUID stands between "_c_" and the last dash. */
	ku_protection(&m->client->random, protection);
	memcpy(m->own.name, protection + 3, sizeof(m->own.name) - 1);
	char *path = ku_path_child(m->path, m->own.name);
	if (path == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = make_op(m, KU_ZK_CREATE, path,
		KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_PARENTS, op);
	free(path);
	return err;
}

enum kustos_err ku_muster_join(struct ku_muster *m)
{
	struct ku_op *op = NULL;
	enum kustos_err err = make_node(m, &op);

	m->noted.absent = m->heard = m->came = m->reads = false;
	m->noted.traffic = (struct ku_muster_traffic){ 0 };
	m->noted.connection = m->client->session.connection;
	m->doubted = 0;
	if (err == KUSTOS_OK)
		err = start_op(m, op, node_ended, &m->own.op);
	return err;
}

enum kustos_err ku_muster_clear(struct ku_muster *m)
{
	struct ku_op *op = NULL;
	enum kustos_err err = make_op(m, KU_ZK_DELETE, m->own.stuck, 0, &op);

	if (err == KUSTOS_OK) {
		op->czxid = m->own.stuck_czxid;
		/* If the folder's access list refuses a deletion, it does so
		   even if the node has gone: look first. */
		op->guaranteed = op->doubtful = true;
		err = start_op(m, op, cleared, &m->own.op);
	}
	return err;
}

void ku_muster_undo(struct ku_muster *m)
{
	ku_muster_unguard(m);
	if (m->own.there) {
		m->own.there = false;
		ku_op_undo(m->own.op);
	} else if (m->own.op != NULL && m->own.op->kind == KU_ZK_CREATE) {
		ku_op_unwant(m->own.op);
	}
}

void ku_muster_forget(struct ku_muster *m)
{
	m->own.there = false;
	ku_muster_unguard(m);
	m->own.op->ended = NULL;
	ku_op_drop(m->own.op);
	m->own.op = NULL;
	ku_muster_put(m);
}

/* The member's call was given up while the member told the others, and so the
   member went in.  Then telling them failed, as one of them had gone or it was
   refused, or its outcome is unknown.  So the member is out, as if it had
   died. */
static void lose(struct ku_muster *m)
{
	if (m->state == KU_MUSTER_IN)
		ku_muster_undo(m);
	else if (m->state == KU_MUSTER_LEAVING)
		ku_muster_finish(m, KUSTOS_ELOST);
	else
		ku_muster_step(m); /* it has left since */
}

/* Telling the others has ended: with KUSTOS_OK they were told. */
static void told(struct ku_muster *m, enum kustos_err err)
{
	m->telling = false;
	if (err == KUSTOS_EEXISTS)
		m->came = m->reads = true; /* somebody was quicker */
	if (err == KUSTOS_OK)
		ku_muster_finish(m, KUSTOS_OK);
	else if (err == KUSTOS_EEXISTS || err == KUSTOS_ENONODE ||
		err == KUSTOS_EBADVERSION || err == KUSTOS_EUNKNOWN)
		ku_muster_look(m);
	else
		ku_muster_finish(m, err);
}

static enum kustos_err tell_anyway(struct ku_muster *m)
{
	return ku_muster_write(m, m->ready.there ? KU_ZK_SET : KU_ZK_CREATE);
}

/* A server closes the connection when a request is too large for it: count how
   often in a row that may have happened. */
static void count_lost(struct ku_muster *m, const struct ku_op *op)
{
	const struct ku_zk_request whole = { .kind = op->kind,
		.ops = op->ops,
		.op_count = op->op_count };

	if (op->err != KUSTOS_EUNKNOWN)
		m->lost = 0;
	else if (ku_request_size(&whole) > SMALL_REQUEST)
		m->lost++;
}

static void ready_ended(struct ku_op *op)
{
	struct ku_muster *m = op->owner;
	bool checked = op->kind == KU_ZK_MULTI;
	bool tells = op->kind != KU_ZK_DELETE;
	bool written = tells && op->err == KUSTOS_OK;
	enum kustos_err err = op->err;

	/* A member whose call was given up is in by now, or about to leave. */
	if (written &&
		(m->telling || m->state == KU_MUSTER_IN ||
			m->state == KU_MUSTER_LEAVING))
		m->round_ready = checked
			? op->out_results[op->op_count - 1].stat.mzxid
			: op->out_stat.mzxid;
	if (!tells)
		ku_op_tell_stuck(op);
	if (checked)
		count_lost(m, op);
	m->op = NULL;
	ku_op_drop(op);
	/* We may not read all members that were counted: write without a
	   check. */
	if (m->telling && checked && err == KUSTOS_ENOAUTH) {
		err = tell_anyway(m);
		if (err == KUSTOS_OK) {
			ku_muster_put(m);
			return;
		}
	}
	if (m->telling)
		told(m, err);
	else if (tells && !written && err != KUSTOS_EEXISTS &&
		err != KUSTOS_EBADVERSION)
		lose(m); /* nobody else has told them either */
	else if ((m->state == KU_MUSTER_ENTERING && m->own.there) ||
		(m->state == KU_MUSTER_LEAVING && written))
		ku_muster_look(m);
	else
		ku_muster_step(m);
	ku_muster_put(m);
}

enum kustos_err ku_muster_write(struct ku_muster *m, enum ku_zk_kind kind)
{
	struct ku_op *op = NULL;
	enum kustos_err err = make_op(m, kind, m->ready_path, 0, &op);

	if (err == KUSTOS_OK) {
		op->any = kind == KU_ZK_CREATE;
		/* A later round may have written it meanwhile. */
		if (kind != KU_ZK_CREATE)
			op->version = m->ready.stat.version;
		if (kind == KU_ZK_DELETE) {
			op->czxid = m->ready.stat.czxid;
			op->guaranteed = m->state == KU_MUSTER_LEAVING;
			/* A member that goes in may delete it late, when it is
			   already the "ready" of the member's own round. */
			op->wary = op->doubtful = !op->guaranteed;
		}
		err = start_op(m, op, ready_ended, &m->op);
	}
	return err;
}

static bool add_checks(const struct ku_muster *m, struct kustos_op *ops)
{
	for (size_t i = 0; i < m->names->count; i++) {
		char *path = ku_path_child(m->path, m->names->names[i]);

		if (path == NULL)
			return false;
		ops[i] = (struct kustos_op){ .kind = KUSTOS_OP_CHECK,
			.path = path + strlen(m->client->config.prefix),
			.version = -1 };
	}
	return true;
}

static void free_checks(const struct ku_muster *m, struct kustos_op *ops)
{
	for (size_t i = 0; i < m->names->count; i++)
		if (ops[i].path != NULL)
			free((char *)ops[i].path -
				strlen(m->client->config.prefix));
	free(ops);
}

/* Make a transaction that writes "ready" only if all counted members are
   there. */
static enum kustos_err make_tell(struct ku_muster *m, struct ku_task **task)
{
	const char *ready = ku_program_path(m->client, m->ready_path);
	size_t count = m->names->count;
	struct kustos_op *ops = calloc(count + 2, sizeof(*ops));
	char text[KU_MUSTER_TEXT_SIZE];
	enum kustos_err err = KUSTOS_ENOMEM;

	if (ops == NULL)
		return KUSTOS_ENOMEM;
	ku_muster_print(text, m->round);
	if (!m->ready.there)
		ops[count++] = (struct kustos_op){ .kind = KUSTOS_OP_CREATE,
			.path = ready,
			.data = text,
			.len = KU_MUSTER_TEXT_LEN };
	/* A creation's result has no zxid, so a set follows. */
	ops[count++] = (struct kustos_op){ .kind = KUSTOS_OP_SET,
		.path = ready,
		.version = m->ready.there ? m->ready.stat.version : 0,
		.data = text,
		.len = KU_MUSTER_TEXT_LEN };
	if (add_checks(m, ops))
		err = ku_task_new_multi(m->client, ops, count, task);
	free_checks(m, ops);
	return err;
}

enum kustos_err ku_muster_tell(struct ku_muster *m)
{
	struct ku_task *task = NULL;

	if (m->lost >= LOST_MOST)
		return tell_anyway(m);
	enum kustos_err err = make_tell(m, &task);
	if (err == KUSTOS_OK)
		err = start_op(m, &task->op, ready_ended, &m->op);
	return err == KUSTOS_ETOOBIG ? tell_anyway(m) : err;
}
