/*
 * deliver.c - completions and events on their way to the user, one queue for
 * each handle.
 */
#include "handle.h"

#include <string.h>

#define DELIVER_MAX_NS 20000

struct call *call_take(struct ku_zk *zk, struct call *call)
{
	struct call **at = &zk->calls;

	while (*at != NULL && *at != call)
		at = &(*at)->next;
	if (*at == NULL)
		return NULL;
	*at = call->next;
	if (zk->calls_end == &call->next)
		zk->calls_end = at;
	if (call->unsent == NULL)
		zk->sent--;
	return call;
}

void call_free(struct model *m, struct call *call)
{
	call->next = m->spare_calls;
	m->spare_calls = call;
}

static const char *word(enum ku_zk_kind kind)
{
	static const char *const words[] = { "create", "delete", "get", "set",
		"exists", "children", "sync", "check", "multi", "unwatch" };

	return words[kind];
}

static void set_names(struct model *m, struct msg *msg,
	struct ku_zk_reply *reply)
{
	int i;

	if (msg->name_count > m->name_room) {
		m->name_room = msg->name_count * 2;
		m->names = sim_realloc(m->names,
			(size_t)m->name_room * sizeof(*m->names));
	}
	for (i = 0; i < msg->name_count; i++)
		m->names[i] = msg->names[i]->bytes + msg->name_at;
	reply->names = m->names;
	reply->name_count = msg->name_count;
}

static void set_results(struct model *m, struct msg *msg, int count,
	struct ku_zk_reply *reply)
{
	struct ku_zk_result *result;
	int i;

	if (count > m->result_room) {
		m->result_room = count * 2;
		m->results = sim_realloc(m->results,
			(size_t)m->result_room * sizeof(*m->results));
	}
	for (i = 0; i < count; i++) {
		result = &m->results[i];
		memset(result, 0, sizeof(*result));
		if (i >= msg->op_count) {
			result->rc = reply->rc;
			continue;
		}
		result->rc = msg->ops[i].rc;
		if (msg->ops[i].made != NULL)
			result->path = msg->ops[i].made->bytes;
		else if (msg->ops[i].has_stat)
			result->stat = msg->ops[i].stat;
	}
	reply->results = m->results;
	reply->result_count = count;
}

/* Those that open handles without threads need not be told. */
static void enter(struct ku_zk *zk)
{
	if (zk->enter == NULL)
		return;
	if (zk->unpushed)
		model_broken(zk->m, "push", "requests are kept for ever");
	zk->enter(zk->arg);
}

static void leave(struct ku_zk *zk)
{
	if (zk->leave != NULL)
		zk->leave(zk->arg);
}

static void run_done(struct ku_zk *zk, struct msg *msg)
{
	struct model *m = zk->m;
	struct call *call = msg->call;
	struct ku_zk_reply reply = { .rc = msg->op.rc, .len = -1 };

	if (msg->op.has_stat)
		reply.stat = &msg->op.stat;
	if (msg->op.made != NULL)
		reply.path = msg->op.made->bytes;
	if (msg->data != NULL) {
		reply.data = msg->data->bytes;
		reply.len = msg->data->len;
	}
	if (call->kind == KU_ZK_CHILDREN && reply.rc == KU_ZK_OK)
		set_names(m, msg, &reply);
	if (call->kind == KU_ZK_MULTI)
		set_results(m, msg, call->op_count, &reply);
	m->figures.completed++;
	if (call->number != zk->done_number + 1)
		model_broken(m, "fifo", "a completion overtook another");
	zk->done_number = call->number;
	model_note(m, NOTE_DONE, zk->machine->index, word(call->kind),
		reply.path	       ? reply.path
			: msg->op.path ? msg->op.path->bytes
				       : NULL,
		reply.rc);
	enter(zk);
	call->done(call->arg, &reply);
	leave(zk);
	call_free(m, call);
}

static void run_event(struct ku_zk *zk, struct msg *msg)
{
	const char *path = msg->op.path ? msg->op.path->bytes : "";

	if (msg->event != KU_ZK_EVENT_SESSION)
		zk->m->figures.events++;
	model_note(zk->m, NOTE_EVENT, zk->machine->index, "event", path,
		msg->event == KU_ZK_EVENT_SESSION ? 100 + (int)msg->state
						  : (int)msg->event);
	enter(zk);
	zk->event(zk->arg, msg->event, msg->state, path);
	leave(zk);
}

static bool run_next(struct ku_zk *zk)
{
	struct model *m = zk->m;
	struct msg *msg = zk->deliveries;

	if (msg == NULL)
		return false;
	zk->deliveries = msg->next;
	if (zk->deliveries == NULL)
		zk->deliveries_end = &zk->deliveries;
	if (msg->kind != MSG_REQUEST) {
		run_event(zk, msg);
	} else if ((m->bugs & MODEL_BUG_LOSE_DONE) &&
		sim_random_ppm(&m->misc, 5000)) {
		zk->done_number = msg->call->number;
		call_free(m, msg->call);
	} else {
		run_done(zk, msg);
	}
	msg_free(m, msg);
	return true;
}

static void due(void *arg, uint64_t tag)
{
	(void)tag;
	(void)run_next(arg);
}

void deliver(struct ku_zk *zk, struct msg *msg)
{
	struct sched *sched = zk->m->sched;
	int64_t at = sched->now_ns +
		(int64_t)sim_random_below(&zk->m->net, DELIVER_MAX_NS);

	if (sim_random_ppm(&zk->m->odd, zk->m->config.slow_ppm)) {
		at += sim_random_between(&zk->m->odd, 0,
			      zk->timeout_ms * KU_NS_PER_MS) >>
			sim_random_below(&zk->m->odd, 10);
		model_note(zk->m, NOTE_FAULT, zk->machine->index, "slow", NULL,
			0);
	}
	if (at < zk->deliver_at)
		at = zk->deliver_at;
	zk->deliver_at = at;
	msg->next = NULL;
	*zk->deliveries_end = msg;
	zk->deliveries_end = &msg->next;
	sched_add(sched, zk->machine->index, at, due, zk, 0);
}

void deliver_state(struct ku_zk *zk, enum ku_zk_state state)
{
	struct msg *msg = msg_new(zk->m, MSG_EVENT);

	msg->event = KU_ZK_EVENT_SESSION;
	msg->state = state;
	deliver(zk, msg);
}

void deliver_failures(struct ku_zk *zk, int rc)
{
	struct model *m = zk->m;
	struct call *call;
	struct msg *msg;

	while ((call = zk->calls) != NULL) {
		zk->calls = call->next;
		if (call->unsent != NULL)
			msg_free(m, call->unsent);
		call->unsent = NULL;
		msg = msg_new(m, MSG_REQUEST);
		msg->call = call;
		msg->op.rc = rc;
		deliver(zk, msg);
	}
	zk->calls_end = &zk->calls;
	zk->sent = 0;
}

/* close() overtakes the completion thread, which gets through some of its queue
   and forgets the rest (L1). */
void deliver_on_close(struct ku_zk *zk)
{
	struct model *m = zk->m;
	struct msg *msg;
	uint64_t some = 0;

	deliver_failures(zk, KU_ZK_CLOSING);
	for (msg = zk->deliveries; msg != NULL; msg = msg->next)
		some++;
	switch (sim_random_below(&m->misc, 3)) {
	case 0:
		some = 0;
		break;
	case 1:
		some = sim_random_below(&m->misc, some + 1);
		break;
	default:
		break;
	}
	while (some-- > 0)
		(void)run_next(zk);
	while ((msg = zk->deliveries) != NULL) {
		zk->deliveries = msg->next;
		if (msg->kind == MSG_REQUEST) {
			m->figures.overtaken++;
			call_free(m, msg->call);
		}
		msg_free(m, msg);
	}
	zk->deliveries_end = &zk->deliveries;
}
