/* receipt.c - transactions that are done once each. */

#include "receipt_impl.h"
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pause when the server asks for one. */
#define PAUSE_MS 100

/* From this version on a receipt is exchanged for a new one: a version has 31
   bits. */
#define WORN 1000000000

static void step(struct ku_receipt *r);

void ku_receipt_enter(struct ku_receipt *r)
{
	r->busy = true;
}

void ku_receipt_leave(struct ku_receipt *r)
{
	r->busy = false;
	step(r);
}

void ku_deed_finish(struct ku_deed *deed, enum kustos_err err,
	const struct ku_zk_reply *reply)
{
	struct ku_receipt *r = deed->receipt;

	KU_ROW_REMOVE(r->first, r->last, deed);
	deed->state = KU_DEED_IDLE;
	deed->calls->over(deed, err, reply);
}

/* This deed was not done, so those sent behind it cannot be done either. */
static void not_done(struct ku_receipt *r, struct ku_deed *deed)
{
	deed->state = KU_DEED_IDLE;
	r->broken = true;
	if (deed->version < r->next_version)
		r->next_version = deed->version;
}

/* End the deeds in this state. */
static void finish_all(struct ku_receipt *r, enum ku_deed_state state,
	enum kustos_err err)
{
	struct ku_deed *next;

	for (struct ku_deed *deed = r->first; deed != NULL; deed = next) {
		next = deed->next;
		if (deed->state == state)
			ku_deed_finish(deed, err, NULL);
	}
}

static void ended(struct ku_receipt *r)
{
	ku_timer_unset(&r->client->timers, &r->pause);
	r->ended(r);
}

/* The node */

/* Give the node up: delete it if it is "there"; otherwise it has gone, or never
   was. */
static void forget_node(struct ku_receipt *r, bool there)
{
	struct ku_op *op = r->node;

	r->state = KU_RECEIPT_NONE;
	r->node = NULL;
	r->path = NULL;
	r->next_version = r->fence_to = r->used_up = 0;
	if (op == NULL)
		return;
	op->ended = NULL; /* nobody waits for its end */
	if (there)
		ku_op_undo(op);
	else
		ku_op_drop(op);
}

/* Take back the deeds that wait for a connection. */
static void withdraw(struct ku_receipt *r)
{
	for (struct ku_deed *deed = r->first; deed != NULL; deed = deed->next)
		if (deed->state == KU_DEED_SENT &&
			ku_wire_withdraw(r->client, &deed->request)) {
			not_done(r, deed);
			r->in_flight--;
		}
}

void ku_receipt_lose(struct ku_receipt *r, bool there)
{
	withdraw(r);
	forget_node(r, there);
	r->unsure = false;
	finish_all(r, KU_DEED_LOST, KUSTOS_EUNKNOWN);
}

static void made(struct ku_op *op)
{
	struct ku_receipt *r = op->owner;
	enum kustos_err err = op->err;
	bool inside = r->busy; /* ku_receipt_end(): it was not sent */

	ku_receipt_enter(r);
	if (err == KUSTOS_OK) {
		ku_op_slim(op);
		r->path = op->out_path;
		r->next_version = op->out_stat.version;
		r->state = KU_RECEIPT_READY;
		if (!r->over)
			ku_receipt_sweep(r->client, r->folder,
				op->out_stat.mtime_ms);
	} else {
		forget_node(r, false);
		finish_all(r, KU_DEED_IDLE, err);
	}
	if (!inside)
		ku_receipt_leave(r);
}

static enum kustos_err start_node(struct ku_receipt *r)
{
	char *path = ku_path_child(r->folder, "receipt");

	if (path == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = ku_create_new(r->client, path,
		KUSTOS_CREATE_PROTECTED | KUSTOS_CREATE_PARENTS, "", 0,
		&r->node);
	free(path);
	if (err != KUSTOS_OK)
		return err;
	r->node->last = r->final;
	r->state = KU_RECEIPT_MAKING;
	return ku_op_start(&r->node, made, r);
}

static void make(struct ku_receipt *r)
{
	enum kustos_err err = start_node(r);

	if (err == KUSTOS_OK)
		return;
	r->state = KU_RECEIPT_NONE;
	ku_receipt_enter(r);
	finish_all(r, KU_DEED_IDLE, err); /* all deeds are idle */
	ku_receipt_leave(r);
}

/* Answers */

void ku_receipt_pause(struct ku_receipt *r)
{
	r->throttled = true;
	ku_set_timer_ms(r->client, &r->pause, PAUSE_MS);
}

static void refused(struct ku_receipt *r, struct ku_deed *deed,
	const struct ku_zk_reply *reply)
{
	int rc;
	int at = ku_culprit(reply, &rc);

	not_done(r, deed);
	if (at == 0 && rc == KU_ZK_BADVERSION) {
		/* A deed before it was not done.  If there is none, somebody
		   has touched the receipt. */
		r->unsure = r->unsure || r->first == deed;
	} else if (at == 0 && rc == KU_ZK_NONODE) {
		ku_receipt_lose(r, false);
	} else if (at <= 0 || !deed->calls->refused(deed, at, rc)) {
		ku_deed_finish(deed, ku_rc_err(rc), NULL);
	}
}

static void lost(struct ku_receipt *r, struct ku_deed *deed)
{
	if (r->state == KU_RECEIPT_NONE) {
		not_done(r, deed); /* the receipt had gone before */
		return;
	}
	deed->state = KU_DEED_LOST;
	r->unsure = true;
	if (deed->calls->lost != NULL)
		deed->calls->lost(deed);
}

static void answered(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_deed *deed = request->owner;
	struct ku_receipt *r = deed->receipt;

	ku_receipt_enter(r);
	r->in_flight--;
	switch (ku_outcome(reply->rc)) {
	case KU_OUTCOME_DONE:
		ku_deed_finish(deed, KUSTOS_OK, reply);
		break;
	case KU_OUTCOME_REFUSED:
		refused(r, deed, reply);
		break;
	case KU_OUTCOME_AGAIN:
		not_done(r, deed);
		ku_receipt_pause(r);
		break;
	case KU_OUTCOME_UNKNOWN:
	case KU_OUTCOME_EXPIRED:
		lost(r, deed);
		break;
	}
	ku_receipt_leave(r);
}

static void send(struct ku_receipt *r, struct ku_deed *deed)
{
	deed->version = r->next_version++;
	deed->state = KU_DEED_SENT;
	deed->ops[0] = (struct ku_zk_request){
		.kind = KU_ZK_SET,
		.path = r->path,
		.data = deed->stamp,
		.len = ku_receipt_stamp(r, r->next_version, deed->stamp),
		.version = deed->version,
	};
	deed->request.owner = deed;
	deed->request.done = answered;
	r->in_flight++;
	ku_wire_multi(r->client, &deed->request, deed->ops, deed->op_count);
}

static void pump(struct ku_receipt *r)
{
	struct ku_deed *next;

	r->busy = true;
	for (struct ku_deed *deed = r->first; deed != NULL; deed = next) {
		next = deed->next;
		if (deed->state != KU_DEED_IDLE)
			continue;
		if (r->in_flight == KU_FENCE_MAX)
			break; /* the next answer goes on here */
		if (deed->calls->fit == NULL || deed->calls->fit(deed))
			send(r, deed);
		else
			ku_deed_finish(deed, KUSTOS_ECHANGED, NULL);
	}
	r->busy = false;
	if (r->over)
		step(r);
}

/* The end: nothing is on its way. */
static void wind_up(struct ku_receipt *r)
{
	finish_all(r, KU_DEED_IDLE, KUSTOS_ECLOSED);
	finish_all(r, KU_DEED_LOST, KUSTOS_EUNKNOWN);
	forget_node(r, true);
	ended(r);
}

/* Take the next step, unless an answer on its way decides what that is.  Only
   in here may the owner end, and nothing is touched after that. */
static void step(struct ku_receipt *r)
{
	bool waits = r->state == KU_RECEIPT_MAKING ||
		r->state == KU_RECEIPT_ASKING;
	bool settles = r->broken || r->unsure ||
		r->next_version >= WORN; /* all answers have to come first */

	if (r->busy || waits || (r->in_flight > 0 && (settles || r->over)))
		return;
	if (r->over) {
		wind_up(r);
	} else if (r->throttled || r->held || r->first == NULL) {
		return;
	} else if (r->state == KU_RECEIPT_NONE) {
		make(r);
	} else if (r->unsure) {
		ku_receipt_ask(r);
	} else if (r->next_version >= WORN) {
		forget_node(r, true);
		make(r);
	} else {
		r->broken = false;
		pump(r);
	}
}

static void pause_over(struct ku_timer *timer)
{
	struct ku_receipt *r = KU_OWNER(struct ku_receipt, pause, timer);

	r->throttled = false;
	step(r);
}

void ku_receipt_init(struct ku_receipt *r, struct kustos_client *client,
	const char *folder, void (*ended_fn)(struct ku_receipt *receipt))
{
	r->client = client;
	r->folder = folder;
	r->ended = ended_fn;
	r->pause.fn = pause_over;
}

void ku_receipt_do(struct ku_receipt *r, struct ku_deed *deed)
{
	deed->receipt = r;
	deed->state = KU_DEED_IDLE;
	KU_ROW_APPEND(r->first, r->last, deed);
	step(r);
}

void ku_receipt_hold(struct ku_receipt *r)
{
	r->held = true;
}

void ku_receipt_let_go(struct ku_receipt *r)
{
	r->held = false;
	step(r);
}

void ku_receipt_withdraw(struct ku_receipt *r)
{
	if (r->over)
		return; /* ku_receipt_end() has done it */
	r->final = true;
	if (r->state == KU_RECEIPT_MAKING)
		r->node->last = true;
	ku_receipt_enter(r);
	withdraw(r);
	ku_receipt_leave(r);
}

void ku_receipt_end(struct ku_receipt *r)
{
	bool inside = r->busy; /* then the function at work steps at its end */

	r->over = true;
	ku_receipt_enter(r);
	withdraw(r);
	if (ku_wire_withdraw(r->client, &r->question))
		r->state = KU_RECEIPT_READY;
	if (r->state == KU_RECEIPT_MAKING)
		ku_op_unwant(r->node); /* deleted if it was made (L5) */
	if (!inside)
		ku_receipt_leave(r);
}
