/* fid_world.c - send requests to a real server or to the model, and log what
   their users are told. */
#include "fid_world.h"
#include "model.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_S 20
#define TIMEOUT_MS 30000

struct pending { /* the argument of one completion */
	struct fid_session *session;
	bool quiet; /* do not log it */
	int *rc;
};

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Session id 0 means that there is no owner. */
static int number_of(const struct fid_world *world, int64_t id)
{
	int i;

	for (i = world->id_count - 1; i >= 0 && id != 0; i--) {
		if (world->ids[i] == id)
			return world->id_numbers[i];
	}
	return id == 0 ? 0 : -1;
}

static struct fid_entry *add_entry(struct fid_session *session)
{
	struct fid_log *log = &session->log;
	struct fid_entry *entry;

	if (log->count == log->room) {
		log->room = log->room * 2 + 64;
		log->entries = sim_realloc(log->entries,
			(size_t)log->room * sizeof(*entry));
	}
	entry = &log->entries[log->count++];
	memset(entry, 0, sizeof(*entry));
	return entry;
}

static void write_stat(const struct fid_world *world, struct fid_entry *entry,
	const struct kustos_stat *stat)
{
	size_t len = strlen(entry->text);

	snprintf(entry->text + len, sizeof(entry->text) - len,
		" stat(v%d c%d a%d owner %d len %d children %d)", stat->version,
		stat->cversion, stat->aversion,
		number_of(world, stat->ephemeral_owner), stat->data_length,
		stat->num_children);
	entry->zxid[0] = stat->czxid;
	entry->zxid[1] = stat->mzxid;
	entry->zxid[2] = stat->pzxid;
}

static void write_names(struct fid_entry *entry,
	const struct ku_zk_reply *reply)
{
	const char **names = sim_calloc((size_t)reply->name_count + 1,
		sizeof(*names));
	size_t len;
	int i;

	for (i = 0; i < reply->name_count; i++)
		names[i] = reply->names[i];
	qsort(names, (size_t)reply->name_count, sizeof(*names), compare_text);
	for (i = 0; i < reply->name_count; i++) {
		len = strlen(entry->text);
		snprintf(entry->text + len, sizeof(entry->text) - len, " %s",
			names[i]);
	}
	free(names);
}

static void write_results(const struct fid_world *world,
	struct fid_entry *entry, const struct ku_zk_reply *reply)
{
	const struct ku_zk_result *result = reply->results;
	size_t len;
	int i;

	for (i = 0; i < reply->result_count; i++, result++) {
		len = strlen(entry->text);
		snprintf(entry->text + len, sizeof(entry->text) - len,
			" [%d %s]", result->rc,
			result->path ? result->path : "-");
		if (result->stat.mzxid != 0)
			write_stat(world, entry, &result->stat);
	}
}

static void log_reply(struct fid_session *session,
	const struct ku_zk_reply *reply)
{
	struct fid_entry *entry = add_entry(session);

	snprintf(entry->text, sizeof(entry->text),
		"rc %d path %s len %d "
		"data %.*s",
		reply->rc, reply->path ? reply->path : "-", reply->len,
		reply->len > 0 ? reply->len : 0,
		reply->data ? reply->data : "");
	write_names(entry, reply);
	write_results(session->world, entry, reply);
	if (reply->stat != NULL)
		write_stat(session->world, entry, reply->stat);
}

static void enter(void *arg)
{
	struct fid_session *session = arg;

	pthread_mutex_lock(&session->world->mutex);
}

static void leave(void *arg)
{
	struct fid_session *session = arg;

	pthread_mutex_unlock(&session->world->mutex);
}

static void on_done(void *arg, const struct ku_zk_reply *reply)
{
	struct pending *pending = arg;
	struct fid_session *session = pending->session;
	struct fid_world *world = session->world;

	if (!pending->quiet)
		log_reply(session, reply);
	if (pending->rc != NULL)
		*pending->rc = reply->rc;
	session->done++;
	pthread_cond_broadcast(&world->changed);
	free(pending);
}

static void on_event(void *arg, enum ku_zk_event event, enum ku_zk_state state,
	const char *path)
{
	struct fid_session *session = arg;
	struct fid_world *world = session->world;
	struct fid_entry *entry = add_entry(session);

	entry->event = true;
	if (event == KU_ZK_EVENT_SESSION)
		snprintf(entry->text, sizeof(entry->text), "state %d",
			(int)state);
	else
		snprintf(entry->text, sizeof(entry->text), "event %d %s",
			(int)event, path);
	if (event == KU_ZK_EVENT_SESSION) {
		session->away = state != KU_ZK_STATE_CONNECTED;
		session->connected += state == KU_ZK_STATE_CONNECTED;
	}
	pthread_cond_broadcast(&world->changed);
}

/* Waiting for a thread of the library, or by running the model */

typedef bool ready_fn(const struct fid_session *session, int64_t value);

static void wait_for(struct fid_session *session, ready_fn *ready,
	int64_t value)
{
	struct fid_world *world = session->world;
	struct timespec end;
	int rc = 0;

	if (world->sched != NULL) {
		while (!ready(session, value))
			ck_assert(sched_run(world->sched));
		return;
	}
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&world->mutex);
	while (!ready(session, value) && rc == 0)
		rc = pthread_cond_timedwait(&world->changed, &world->mutex,
			&end);
	pthread_mutex_unlock(&world->mutex);
	ck_assert_msg(rc == 0, "%s: no answer", world->name);
}

static bool all_done(const struct fid_session *session, int64_t value)
{
	(void)value;
	return session->done == session->submitted;
}

static bool is_connected(const struct fid_session *session, int64_t times)
{
	return session->connected >= times;
}

static bool is_away(const struct fid_session *session, int64_t value)
{
	(void)value;
	return session->away;
}

static bool has_ended(const struct fid_session *session, int64_t id)
{
	return !model_session_alive(session->world->model, id);
}

void fid_wait_connected(struct fid_world *world, int session, int times)
{
	wait_for(&world->sessions[session], is_connected, times);
}

void fid_wait_away(struct fid_world *world, int session)
{
	wait_for(&world->sessions[session], is_away, 0);
}

/* Worlds */

static void init(struct fid_world *world, const char *name,
	const struct ku_zk_api *api)
{
	int i;

	memset(world, 0, sizeof(*world));
	world->name = name;
	world->api = api;
	pthread_mutex_init(&world->mutex, NULL);
	pthread_cond_init(&world->changed, NULL);
	for (i = 0; i < FID_SESSIONS; i++) {
		world->sessions[i].world = world;
		world->sessions[i].number = i + 1;
	}
}

void fid_real(struct fid_world *world, const char *address)
{
	init(world, "server", &ku_zk_library);
	snprintf(world->address, sizeof(world->address), "%s", address);
}

void fid_model(struct fid_world *world, struct sched *sched)
{
	struct model_config config;

	init(world, "model", &ku_zk_sim);
	model_config_init(&config);
	config.clients = FID_SESSIONS;
	config.tick_ms = 200;
	config.max_timeout_ms = 60000;
	config.container_ms = 100;
	sched_init(sched, FID_SESSIONS);
	world->sched = sched;
	world->model = model_create(sched, &config);
	snprintf(world->address, sizeof(world->address), "%s",
		model_addresses(world->model));
}

void fid_free(struct fid_world *world)
{
	int i;

	for (i = 0; i < FID_SESSIONS; i++) {
		if (world->sessions[i].zk != NULL)
			world->api->close(world->sessions[i].zk);
		free(world->sessions[i].log.entries);
	}
	if (world->sched != NULL) {
		model_free(world->model);
		sched_free(world->sched);
	}
	pthread_cond_destroy(&world->changed);
	pthread_mutex_destroy(&world->mutex);
}

void fid_open(struct fid_world *world, int number, const char *address)
{
	struct fid_session *session = &world->sessions[number];
	struct ku_zk_session now;
	struct ku_zk_open open = {
		.addresses = address ? address : world->address,
		.timeout_ms = TIMEOUT_MS,
		.enter = enter,
		.leave = leave,
		.event = on_event,
		.arg = session,
	};

	session->connected = 0;
	session->away = false;
	session->submitted = session->done = 0;
	enter(session);
	ck_assert_int_eq(world->api->open(world->model
					 ? model_client(world->model, number)
					 : NULL,
				 &open, &session->zk),
		KUSTOS_OK);
	leave(session);
	fid_wait_connected(world, number, 1);
	enter(session);
	world->api->session(session->zk, &now);
	leave(session);
	session->id = now.id;
	ck_assert_int_lt(world->id_count, 512);
	world->ids[world->id_count] = now.id;
	world->id_numbers[world->id_count++] = session->number;
}

void fid_close(struct fid_world *world, int number)
{
	struct fid_session *session = &world->sessions[number];

	world->api->close(session->zk);
	session->zk = NULL;
	if (world->model != NULL)
		wait_for(session, has_ended, session->id);
}

static int submit(struct fid_session *session,
	const struct ku_zk_request *request, bool quiet, int *result)
{
	struct pending *pending = sim_calloc(1, sizeof(*pending));
	struct fid_world *world = session->world;
	int rc;

	pending->session = session;
	pending->quiet = quiet;
	pending->rc = result;
	enter(session);
	rc = world->api->submit(session->zk, request, on_done, pending);
	world->api->push(session->zk);
	session->submitted += rc == KU_ZK_OK;
	leave(session);
	if (rc != KU_ZK_OK)
		free(pending);
	return rc;
}

int fid_submit(struct fid_world *world, int session,
	const struct ku_zk_request *request)
{
	return submit(&world->sessions[session], request, false, NULL);
}

void fid_settle(struct fid_world *world)
{
	struct ku_zk_request sync = { .kind = KU_ZK_SYNC, .path = "/" };
	int i;

	for (i = 0; i < FID_SESSIONS; i++) {
		if (world->sessions[i].zk != NULL)
			wait_for(&world->sessions[i], all_done, 0);
	}
	for (i = 0; i < FID_SESSIONS; i++) {
		if (world->sessions[i].zk != NULL && !world->sessions[i].away)
			(void)submit(&world->sessions[i], &sync, true, NULL);
	}
	for (i = 0; i < FID_SESSIONS; i++) {
		if (world->sessions[i].zk != NULL)
			wait_for(&world->sessions[i], all_done, 0);
	}
}

void fid_wait_gone(struct fid_world *world, int session, const char *path)
{
	struct ku_zk_request look = { .kind = KU_ZK_EXISTS, .path = path };
	int tries = 0;
	int rc = 0;

	while (rc != KU_ZK_NONODE) {
		ck_assert_msg(tries++ < 100000, "%s: %s stays", world->name,
			path);
		(void)submit(&world->sessions[session], &look, true, &rc);
		wait_for(&world->sessions[session], all_done, 0);
	}
}
