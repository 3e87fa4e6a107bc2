/*
 * fid_world.h - a real server and the model side by side: the same requests go
 * to both, and everything their users were told is compared.
 *
 * A world has some sessions, each with a log of completions and events in the
 * order in which they were told.  Session ids and transaction numbers differ
 * between the worlds.  So an id is logged as the number of its session.
 * Transaction numbers are kept separately, and must have the same order in
 * both.
 */
#ifndef SIM_FID_WORLD_H
#define SIM_FID_WORLD_H

#include "sched.h"
#include "zk.h"

#include <pthread.h>

#define FID_SESSIONS 4

struct fid_entry {
	char text[400];
	int64_t zxid[3];
	bool event;
};

struct fid_log {
	struct fid_entry *entries;
	int count, room;
	int compared;
};

struct fid_session {
	struct fid_world *world;
	struct ku_zk *zk;
	int number;
	struct fid_log log;
	int submitted, done;
	int connected; /* how often it was connected */
	bool away;
	int64_t id;
};

struct fid_world {
	const char *name;
	const struct ku_zk_api *api;
	pthread_mutex_t mutex; /* guards the sessions' fields */
	pthread_cond_t changed;
	struct fid_session sessions[FID_SESSIONS];
	int64_t ids[512]; /* of all sessions so far, and their numbers */
	int id_numbers[512];
	int id_count;

	/* The model's, or NULL. */
	struct sched *sched;
	struct model *model;
	char address[64];
};

void fid_real(struct fid_world *world, const char *address);
void fid_model(struct fid_world *world, struct sched *sched);
void fid_free(struct fid_world *world);

/* Open a session, and wait until it is connected; close it, and wait until
   its server has ended it. */
void fid_open(struct fid_world *world, int session, const char *address);
void fid_close(struct fid_world *world, int session);

/* Submit a request.  Returns what submit() returned. */
int fid_submit(struct fid_world *world, int session,
	const struct ku_zk_request *request);

/* Wait until each session has been told the end of all that was submitted, and
   the events before that. */
void fid_settle(struct fid_world *world);

/* Wait until the session has connected "times" times, or until it is away. */
void fid_wait_connected(struct fid_world *world, int session, int times);
void fid_wait_away(struct fid_world *world, int session);

/* Wait until a path is gone. */
void fid_wait_gone(struct fid_world *world, int session, const char *path);

/* Compare what was told since the last comparison; true if alike.  With
   "sorted", events may come in any order. */
bool fid_compare(struct fid_world *a, struct fid_world *b, bool sorted,
	char *why, size_t size);

#endif
