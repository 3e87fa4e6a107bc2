/*
 * observe.c - tell the program who is the first in a line.
 *
 *   LISTING --somebody--> READING --its node, with a watch--> RESTING
 *      | ^                   |                                   |
 *      | +-- it is gone -----+---- it is gone -------------------+
 *      |
 *      +--nobody--> LISTING with a watch --> RESTING
 *      +--no line--> AWAITING it, with a watch --> RESTING
 *
 * Numbers only grow, so nobody can come in before the first.  (A reader that
 * stands beside its writer comes first when the writer goes.)  So while the
 * node of the first is there, nothing else need be watched or looked at.  A
 * change of leaders costs a listing and a read, and a change of data a read,
 * however many others come and go.  Only while the line is empty is the line
 * itself watched.  Then the first that comes wakes up all observers, who are to
 * be told of it anyway.
 *
 * The program is told the current state, not every change: the last state seen,
 * if that is news.
 */

#include "observe.h"
#include "client.h"
#include "inside.h"
#include "participant.h"

#include <stdlib.h>
#include <string.h>

/* When to retry what was refused; when to retry what should not have failed;
   and when to look again at what is watched, in case an event was missed. */
#define REFUSED_MS 1000
#define PUT_OFF_MS 100
#define SAFETY_MS 30000

/* A state that was seen, or reported. */
struct view {
	enum kustos_err err;
	bool somebody;
	struct kustos_participant who;
};

struct kustos_observer {
	/* Constant. */
	struct kustos_client *client;
	char *line; /* full path */
	kustos_observe_fn *fn;
	void *arg;

	/* Guarded by the client's lock. */
	char *node; /* full path of the first; NULL: none is known */
	struct ku_contender contender;
	struct ku_request request;
	struct ku_watch watch;
	bool again; /* something happened while the request was under way */
	struct ku_timer timer;
	struct view *seen; /* NULL: no news */
	struct view *told;
	struct ku_call call;
	struct ku_inside *inside; /* the thread that reports */
	bool destroyed;
	bool awaited; /* the thread that destroys it waits, then frees it */
	struct kustos_observer *prev, *next;
};

static void look(struct kustos_observer *o);

static void view_free(struct view *view)
{
	if (view == NULL)
		return;
	free((char *)view->who.path);
	free((void *)view->who.data);
	free(view);
}

/* Was this reported last?  Without a participant the mzxid is 0. */
static bool is_known(const struct kustos_observer *o, const struct view *view)
{
	const struct view *told = o->told;

	/* The mzxid is not enough: one transaction may have made several
	   nodes. */
	return told != NULL && view->err == told->err &&
		view->who.stat.mzxid == told->who.stat.mzxid &&
		(!view->somebody ||
			strcmp(view->who.path, told->who.path) == 0);
}

/* Free it, if nothing refers to it any more. */
static void end(struct kustos_observer *o)
{
	if (o->inside != NULL || o->awaited || ku_request_busy(&o->request))
		return;
	view_free(o->seen);
	view_free(o->told);
	free(o->node);
	free(o->line);
	free(o);
}

static void set_timer(struct kustos_observer *o, int64_t ms)
{
	ku_set_timer_ms(o->client, &o->timer, ms);
}

/* This is the current state: report it, if it is news. */
static void see(struct kustos_observer *o, struct view *view)
{
	bool known = is_known(o, view);

	view_free(o->seen);
	o->seen = known ? NULL : view;
	if (known)
		view_free(view);
	else
		ku_dispatch_push(o->client, &o->call, KU_ORDINARY);
}

static void see_nobody(struct kustos_observer *o, enum kustos_err err)
{
	struct view *view = calloc(1, sizeof(*view));

	if (view == NULL) {
		set_timer(o, PUT_OFF_MS);
		return;
	}
	view->err = err;
	see(o, view);
}

/* The first was read. */
static void see_first(struct kustos_observer *o,
	const struct ku_zk_reply *reply)
{
	struct view *view = calloc(1, sizeof(*view));
	size_t len = reply->len > 0 ? (size_t)reply->len : 0;
	char *data = reply->len >= 0 ? malloc(len + 1) : NULL;
	char *path = strdup(ku_program_path(o->client, o->node));

	if (view == NULL || path == NULL || (data == NULL && reply->len >= 0)) {
		free(view);
		free(data);
		free(path);
		set_timer(o, PUT_OFF_MS);
		return;
	}
	if (data != NULL) {
		memcpy(data, len > 0 ? reply->data : "", len);
		data[len] = '\0';
	}
	view->somebody = true;
	view->who = (struct kustos_participant){
		.path = path,
		.number = o->contender.number,
		.style = o->contender.style,
		.kind = o->contender.kind,
		.holds = 1,
		.data = data,
		.len = len,
		.stat = *reply->stat,
	};
	see(o, view);
}

/* Tell the program, which may destroy it meanwhile. */
static void tell(struct kustos_client *client, struct ku_call *call)
{
	struct kustos_observer *o = KU_OWNER(struct kustos_observer, call,
		call);
	struct ku_inside self;

	if (o->inside != NULL)
		return; /* the thread that reports looks for more */
	while (o->seen != NULL && !o->destroyed) {
		struct view *view = o->seen;

		o->seen = NULL;
		view_free(o->told);
		o->told = view;
		view->who.age_ms = ku_participant_age_ms(&view->who.stat);
		ku_inside_enter(client, &o->inside, &self);
		o->fn(o->arg, view->err, view->somebody ? &view->who : NULL);
		ku_inside_leave(client, &o->inside, &self);
	}
	if (o->destroyed)
		end(o);
}

/* The request has failed. */
static void failed(struct kustos_observer *o, int rc)
{
	if (ku_outcome(rc) == KU_OUTCOME_REFUSED) {
		see_nobody(o, ku_rc_err(rc));
		set_timer(o, REFUSED_MS);
	} else if (ku_session_ready(o->client)) {
		set_timer(o, PUT_OFF_MS);
	} /* else once connected */
}

/* What was read stays current until its watch fires. */
static void rest(struct kustos_observer *o)
{
	if (o->watch.entry != NULL)
		set_timer(o, ku_watch_doubt_ms(o->client, SAFETY_MS));
	else
		set_timer(o, REFUSED_MS); /* the watch could not be set */
}

static void send(struct kustos_observer *o, enum ku_zk_kind kind,
	const char *path, bool watch, ku_request_fn *done)
{
	ku_watch_remove(o->client, &o->watch);
	if (watch)
		watch = ku_watch_add(o->client, &o->watch, ku_zk_watch_of(kind),
				path) == KUSTOS_OK;
	o->request.owner = o;
	o->request.done = done;
	ku_wire_read(o->client, &o->request, kind, path, watch);
}

/* Return whether the answer that has come still matters.  An event that came
   while the request was under way may have been that of its own watch. */
static bool is_heeded(struct kustos_observer *o,
	const struct ku_zk_reply *reply)
{
	bool watches = reply->rc == KU_ZK_OK ||
		(reply->rc == KU_ZK_NONODE &&
			o->request.what.kind == KU_ZK_EXISTS);

	if (!watches)
		ku_watch_failed(o->client, &o->watch);
	else if (o->destroyed)
		ku_watch_take_back(o->client, &o->watch, &o->request.what);
	if (o->destroyed) {
		end(o);
		return false;
	}
	if (!o->again)
		return true;
	o->again = false;
	look(o);
	return false;
}

static void was_read(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct kustos_observer *o = request->owner;

	if (!is_heeded(o, reply))
		return;
	if (reply->rc == KU_ZK_OK) {
		rest(o); /* see_first() looks sooner if memory is short */
		see_first(o, reply);
	} else if (reply->rc == KU_ZK_NONODE) {
		free(o->node);
		o->node = NULL;
		look(o);
	} else {
		failed(o, reply->rc);
	}
}

static void list(struct kustos_observer *o, bool watch);

static void line_was_sought(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct kustos_observer *o = request->owner;

	if (!is_heeded(o, reply))
		return;
	if (reply->rc == KU_ZK_NONODE) {
		rest(o);
		see_nobody(o, KUSTOS_OK);
	} else if (reply->rc == KU_ZK_OK) {
		list(o, true); /* it was just made */
	} else {
		failed(o, reply->rc);
	}
}

/* The first is at "path"; NULL: memory is short. */
static void read_first(struct kustos_observer *o, char *path)
{
	o->node = path;
	if (path != NULL)
		send(o, KU_ZK_GET, path, true, was_read);
	else
		set_timer(o, PUT_OFF_MS);
}

static void was_listed(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct kustos_observer *o = request->owner;
	const char *name;

	if (!is_heeded(o, reply))
		return;
	if (reply->rc == KU_ZK_NONODE) {
		send(o, KU_ZK_EXISTS, o->line, true, line_was_sought);
	} else if (reply->rc != KU_ZK_OK) {
		failed(o, reply->rc);
	} else if (reply->stat->ephemeral_owner != 0) {
		/* It has no line, but is a simple lock itself. */
		o->contender = (struct ku_contender){
			.style = KUSTOS_STYLE_NODE
		};
		read_first(o, strdup(o->line));
	} else if ((name = ku_participant_first(reply->names, reply->name_count,
			    &o->contender)) != NULL) {
		read_first(o, ku_path_child(o->line, name));
	} else if (!request->what.watch) {
		list(o, true);
	} else {
		rest(o);
		see_nobody(o, KUSTOS_OK);
	}
}

static void list(struct kustos_observer *o, bool watch)
{
	send(o, KU_ZK_CHILDREN, o->line, watch, was_listed);
}

/* See who is the first now. */
static void look(struct kustos_observer *o)
{
	if (o->client->session.auth_failed)
		see_nobody(o, KUSTOS_EAUTH);
	else if (!ku_session_ready(o->client))
		return; /* once connected */
	else if (ku_request_busy(&o->request))
		o->again = true;
	else if (o->node != NULL)
		send(o, KU_ZK_GET, o->node, true, was_read);
	else
		list(o, false);
}

static void watched(struct ku_watch *watch, enum ku_watch_event event)
{
	struct kustos_observer *o = KU_OWNER(struct kustos_observer, watch,
		watch);

	if (o->destroyed)
		return; /* destroying waits for the callback only */
	if (event == KU_WATCH_DELETED && !ku_request_busy(&o->request)) {
		free(o->node);
		o->node = NULL;
	}
	look(o);
}

static void timer_due(struct ku_timer *timer)
{
	look(KU_OWNER(struct kustos_observer, timer, timer));
}

void ku_observers_connected(struct kustos_client *client)
{
	for (struct kustos_observer *o = client->observers; o != NULL;
		o = o->next)
		if (o->seen == NULL && o->told == NULL)
			look(o);
		else
			set_timer(o, ku_session_spread_ms(client));
}

void ku_observers_refused(struct kustos_client *client)
{
	for (struct kustos_observer *o = client->observers; o != NULL;
		o = o->next)
		look(o);
}

void ku_observers_free(struct kustos_client *client)
{
	while (client->observers != NULL) {
		struct kustos_observer *o = client->observers;

		client->observers = o->next;
		ku_timer_unset(&client->timers, &o->timer);
		end(o);
	}
}

enum kustos_err kustos_observe(struct kustos_client *client, const char *path,
	kustos_observe_fn *fn, void *arg, struct kustos_observer **out)
{
	if (client == NULL || fn == NULL || out == NULL ||
		!ku_path_valid(path, false))
		return KUSTOS_EINVAL;
	if (ku_forked(&client->fork))
		return KUSTOS_EFORKED;
	struct kustos_observer *o = calloc(1, sizeof(*o));
	if (o == NULL)
		return KUSTOS_ENOMEM;
	o->client = client;
	o->line = ku_path_join(client->config.prefix, path);
	o->fn = fn;
	o->arg = arg;
	o->watch.fn = watched;
	o->timer.fn = timer_due;
	o->call.fn = tell;
	if (o->line == NULL) {
		free(o);
		return KUSTOS_ENOMEM;
	}
	ku_lock(client);
	*out = o; /* before it is told anything */
	KU_LIST_PUSH(client->observers, o);
	look(o);
	ku_unlock(client);
	return KUSTOS_OK;
}

void kustos_observer_destroy(struct kustos_observer *o)
{
	if (o == NULL || ku_forked(&o->client->fork))
		return;
	struct kustos_client *client = o->client;
	ku_begin(client);
	o->destroyed = true;
	KU_LIST_REMOVE(client->observers, o);
	ku_dispatch_pull(client, &o->call);
	ku_timer_unset(&client->timers, &o->timer);
	o->awaited = true;
	ku_inside_await(client, &o->inside);
	o->awaited = false;
	if (ku_wire_withdraw(client, &o->request))
		ku_watch_failed(client, &o->watch);
	else if (!ku_request_busy(&o->request))
		ku_watch_remove(client, &o->watch);
	end(o);
	ku_end(client);
}
