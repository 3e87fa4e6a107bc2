/* bench.c - calls to the model, each waited for in virtual time. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct kustos_acl bench_acl = { KUSTOS_PERM_ALL, "world", "anyone" };

struct place { /* which client of which bench: "arg" of the events */
	struct bench *bench;
	int client;
};

static struct place places[8]; /* a test program has one bench at a time */

static void note_broken(void *arg, const char *rule, const char *detail)
{
	struct bench *bench = arg;

	bench->broken++;
	fprintf(stderr, "broken: %s: %s\n", rule, detail);
}

void bench_init(struct bench *bench, const struct model_config *config)
{
	struct model_hooks hooks = { .arg = bench, .broken = note_broken };
	struct model_config copy = *config;

	memset(bench, 0, sizeof(*bench));
	copy.clients = 8;
	sched_init(&bench->sched, 8);
	bench->model = model_create(&bench->sched, &copy);
	model_set_hooks(bench->model, &hooks);
}

void bench_free(struct bench *bench)
{
	model_free(bench->model);
	sched_free(&bench->sched);
}

static void keep_event(void *arg, enum ku_zk_event event,
	enum ku_zk_state state, const char *path)
{
	struct place *place = arg;
	struct bench *bench = place->bench;
	struct bench_event *e = &bench->events[bench->event_count];

	if (bench->event_count == BENCH_EVENTS_MAX)
		return;
	bench->event_count++;
	e->client = place->client;
	e->event = event;
	e->state = state;
	e->at_ns = bench->sched.now_ns;
	snprintf(e->path, sizeof(e->path), "%s", path);
}

struct ku_zk *bench_open(struct bench *bench, int server, int timeout_ms)
{
	int client = bench->zk_count++;
	struct ku_zk_open open = {
		.addresses = server < 0 ? model_addresses(bench->model)
					: model_address(bench->model, server),
		.timeout_ms = timeout_ms,
		.event = keep_event,
		.arg = &places[client],
	};

	places[client].bench = bench;
	places[client].client = client;
	if (ku_zk_sim.open(model_client(bench->model, client), &open,
		    &bench->zk[client]) != KUSTOS_OK)
		return NULL;
	while (bench_states(bench, client, KU_ZK_STATE_CONNECTED) == 0 &&
		sched_run(&bench->sched))
		;
	return bench->zk[client];
}

void bench_run_ms(struct bench *bench, int64_t ms)
{
	int64_t until = bench->sched.now_ns + ms * KU_NS_PER_MS;

	while (bench->sched.count > 0 && bench->sched.heap[0].at_ns <= until)
		(void)sched_run(&bench->sched);
	bench->sched.now_ns = until;
}

static struct bench *replying; /* the bench whose clock runs */

static void keep_reply(void *arg, const struct ku_zk_reply *r)
{
	struct bench_reply *reply = arg;
	int i;

	reply->done = true;
	reply->at_ns = replying->sched.now_ns;
	reply->rc = r->rc;
	reply->has_stat = r->stat != NULL;
	if (r->stat != NULL)
		reply->stat = *r->stat;
	if (r->path != NULL)
		snprintf(reply->path, sizeof(reply->path), "%s", r->path);
	reply->len = r->len;
	if (r->data != NULL)
		snprintf(reply->data, sizeof(reply->data), "%s", r->data);
	reply->name_count = r->name_count;
	for (i = 0; i < r->name_count && i < 16; i++)
		snprintf(reply->names[i], sizeof(reply->names[i]), "%s",
			r->names[i]);
	reply->result_count = r->result_count;
	for (i = 0; i < r->result_count && i < 8; i++)
		reply->results[i] = r->results[i];
}

int bench_send(struct bench *bench, struct ku_zk *zk,
	const struct ku_zk_request *request, struct bench_reply *reply)
{
	memset(reply, 0, sizeof(*reply));
	replying = bench;
	return ku_zk_sim.submit(zk, request, keep_reply, reply);
}

void bench_wait(struct bench *bench, const struct bench_reply *reply)
{
	int64_t until = bench->sched.now_ns + 3600 * KU_NS_PER_S;

	while (!reply->done && bench->sched.now_ns < until &&
		sched_run(&bench->sched))
		;
}

struct bench_reply bench_call(struct bench *bench, struct ku_zk *zk,
	const struct ku_zk_request *request)
{
	struct bench_reply reply;
	int rc = bench_send(bench, zk, request, &reply);

	if (rc != KU_ZK_OK)
		reply.rc = rc;
	else
		bench_wait(bench, &reply);
	return reply;
}

struct bench_reply bench_create(struct bench *bench, struct ku_zk *zk,
	const char *path, const char *data, enum ku_zk_mode mode)
{
	struct ku_zk_request request = {
		.kind = KU_ZK_CREATE,
		.path = path,
		.data = data,
		.len = data ? (int)strlen(data) : -1,
		.mode = mode,
		.acl = &bench_acl,
		.acl_count = 1,
	};

	return bench_call(bench, zk, &request);
}

struct bench_reply bench_delete(struct bench *bench, struct ku_zk *zk,
	const char *path, int version)
{
	struct ku_zk_request request = {
		.kind = KU_ZK_DELETE,
		.path = path,
		.version = version,
	};

	return bench_call(bench, zk, &request);
}

struct bench_reply bench_set(struct bench *bench, struct ku_zk *zk,
	const char *path, const char *data, int version)
{
	struct ku_zk_request request = {
		.kind = KU_ZK_SET,
		.path = path,
		.data = data,
		.len = data ? (int)strlen(data) : -1,
		.version = version,
	};

	return bench_call(bench, zk, &request);
}

struct bench_reply bench_read(struct bench *bench, struct ku_zk *zk,
	enum ku_zk_kind kind, const char *path, bool watch)
{
	struct ku_zk_request request = {
		.kind = kind,
		.path = path,
		.watch = watch,
	};

	return bench_call(bench, zk, &request);
}

int bench_events(const struct bench *bench, int client, enum ku_zk_event event,
	const char *path)
{
	const struct bench_event *e = bench->events;
	int n = 0;
	int i;

	for (i = 0; i < bench->event_count; i++, e++)
		n += e->client == client && e->event == event &&
			strcmp(e->path, path) == 0;
	return n;
}

int bench_states(const struct bench *bench, int client, enum ku_zk_state state)
{
	const struct bench_event *e = bench->events;
	int n = 0;
	int i;

	for (i = 0; i < bench->event_count; i++, e++)
		n += e->client == client && e->event == KU_ZK_EVENT_SESSION &&
			e->state == state;
	return n;
}
