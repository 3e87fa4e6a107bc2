/*
 * bench.h - a test bench for the model: make a call of lib/zk.h through a
 * handle, run virtual time until the reply comes, and look at reply and events.
 */
#ifndef SIM_BENCH_H
#define SIM_BENCH_H

#include "model.h"

#define BENCH_EVENTS_MAX 256

struct bench_event {
	int client;
	enum ku_zk_event event;
	enum ku_zk_state state;
	char path[64];
	int64_t at_ns;
};

/* A copy of the reply to the last call. */
struct bench_reply {
	bool done;
	int64_t at_ns;
	int rc;
	bool has_stat;
	struct kustos_stat stat;
	char path[80];
	char data[64];
	int len;
	int name_count;
	char names[16][64];
	int result_count;
	struct ku_zk_result results[8];
};

struct bench {
	struct sched sched;
	struct model *model;
	struct ku_zk *zk[8];
	int zk_count;
	struct bench_event events[BENCH_EVENTS_MAX];
	int event_count;
	int broken;
};

void bench_init(struct bench *bench, const struct model_config *config);
void bench_free(struct bench *bench);

/* Open one more handle, on machine number zk_count, and wait until it is
   connected.  It knows only "server", or all servers if that is -1. */
struct ku_zk *bench_open(struct bench *bench, int server, int timeout_ms);

/* Run the model for "ms" of virtual time. */
void bench_run_ms(struct bench *bench, int64_t ms);

/* Send, and run until the reply has come. */
struct bench_reply bench_call(struct bench *bench, struct ku_zk *zk,
	const struct ku_zk_request *request);

/* Send; the reply will be in "*reply". */
int bench_send(struct bench *bench, struct ku_zk *zk,
	const struct ku_zk_request *request, struct bench_reply *reply);
void bench_wait(struct bench *bench, const struct bench_reply *reply);

/* Short forms; each returns the reply. */
struct bench_reply bench_create(struct bench *bench, struct ku_zk *zk,
	const char *path, const char *data, enum ku_zk_mode mode);
struct bench_reply bench_delete(struct bench *bench, struct ku_zk *zk,
	const char *path, int version);
struct bench_reply bench_set(struct bench *bench, struct ku_zk *zk,
	const char *path, const char *data, int version);
struct bench_reply bench_read(struct bench *bench, struct ku_zk *zk,
	enum ku_zk_kind kind, const char *path, bool watch);

/* Count a client's node events of one kind on one path. */
int bench_events(const struct bench *bench, int client, enum ku_zk_event event,
	const char *path);

/* Count its session events of one state. */
int bench_states(const struct bench *bench, int client, enum ku_zk_state state);

extern const struct kustos_acl bench_acl; /* world:anyone */

#endif
