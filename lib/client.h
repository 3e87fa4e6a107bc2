/*
 * client.h - the whole of a client, for the files of the core.
 */
#ifndef KU_CLIENT_H
#define KU_CLIENT_H

#include <kustos/client.h>

#include "dispatch.h"
#include "drive.h"
#include "env.h"
#include "footprint.h"
#include "fork.h"
#include "hosts.h"
#include "line.h"
#include "list.h"
#include "name.h"
#include "observe.h"
#include "op.h"
#include "random.h"
#include "risk.h"
#include "session.h"
#include "stray.h"
#include "stats.h"
#include "timer.h"
#include "wait.h"
#include "waker.h"
#include "watch.h"
#include "wire.h"
#include "witness.h"

#include <pthread.h>
#include <string.h>

struct ku_manager;

/* The struct whose "field" is at "at". */
#define KU_OWNER(type, field, at) ((type *)((char *)(at)-offsetof(type, field)))

/* The options, checked and copied.  Constant. */
struct ku_config {
	struct ku_hosts hosts; /* with the chroot */
	char *prefix;	       /* chroot and name space: "" or "/a/b" */
	size_t chroot_len;     /* how much of it is the chroot */
	int timeout_ms;
	struct kustos_retry retry;
	struct kustos_acl *acl;
	int acl_count;
	char *digest;
	char *node_data;
	size_t node_data_len;
	kustos_log_fn *log;
	void *log_arg;
	enum kustos_log_level log_level;
	kustos_request_fn *on_request;
	void *on_request_arg;
	struct ku_zk_ticket resume; /* for the first handle */
	enum kustos_dispatch dispatch;
};

struct ku_counters {
	uint64_t answered, failed, retried;
	uint64_t sessions, disconnects, losses, moves;
	struct ku_latency latency;
};

/* How far a close has come. */
enum ku_closing {
	KU_OPEN,
	KU_DRAINING, /* nothing new; what is under way may end */
	KU_CLOSING,  /* the reaper has the handle */
	KU_CLOSED    /* no request, no handle, no callback is left */
};

struct kustos_client {
	/* Constant after ku_client_open(). */
	struct ku_env env;
	struct ku_config config;
	struct ku_fork_guard fork;
	struct ku_manager *manager; /* NULL without threads */

	/* Guards all that follows.  Taken after a cancel object's mutex, and
	   before those inside the ZooKeeper library.  Never held while the
	   program's code runs (but for its log, its request hook and its retry
	   function), while anything waits for the network, or in close(). */
	pthread_mutex_t mutex;
	struct ku_random random;
	struct ku_timers timers;
	struct ku_session session;
	struct ku_wire wire;
	struct ku_watches watches;
	struct ku_footprint footprint;
	struct ku_strays strays;
	struct ku_ops ops;
	struct ku_lines lines;
	struct ku_risks risks;
	struct ku_witnesses witnesses;
	struct ku_wait *waits, *connected_waits; /* see ku_waits_away() */
	struct ku_wakers wakers;
	struct ku_dispatch dispatch;
	struct ku_counters counters;
	struct kustos_listener *listeners;
	struct kustos_observer *observers;
	pthread_cond_t state_changed; /* and the end of a close */

	char *addresses; /* numeric, for the next handle; NULL = unknown */
	struct ku_handle *reap; /* handles to be closed */

	enum ku_closing closing;
	int callers;   /* threads that wait in a call */
	int unsettled; /* queues that have ended but may still put items back */
	kustos_deadline close_budget;
	struct ku_timer close_timer;
	int64_t linger_ms; /* how long the session may stay; 0: the server was
			      told of the end */
	bool self_free;	   /* nobody waits for the end of the close */
	bool *gone;	   /* without threads: set when this is freed */
};

/* Where a comment says "Locked." the caller has called ku_lock(). */
static inline void ku_lock(struct kustos_client *client)
{
	pthread_mutex_lock(&client->mutex);
}

/* Have the handle send what it was given.  Locked. */
static inline void ku_push(struct kustos_client *client)
{
	if (client->wire.kept && client->session.handle != NULL)
		client->env.api->push(client->session.handle->zk);
	client->wire.kept = false;
}

static inline void ku_unlock(struct kustos_client *client)
{
	ku_push(client);
	pthread_mutex_unlock(&client->mutex);
}

static inline int64_t ku_now(const struct kustos_client *client)
{
	return ku_boot(&client->env.clock);
}

/* Return "path", which begins with the prefix, as the program knows it: the
   rest of it, or "/". */
static inline const char *ku_program_path(const struct kustos_client *client,
	const char *path)
{
	return ku_path_behind(path, strlen(client->config.prefix));
}

/* Return whether the session is certainly alive now.  Needs no lock: a caller
   that then reads what a loss marks sees every loss that came before this. */
static inline bool ku_session_alive(const struct kustos_client *client)
{
	int64_t until = atomic_load_explicit(&client->session.sure_ns,
		memory_order_acquire);

	return ku_now(client) < until;
}

/* Check and copy options.  "why" gets the reason for KUSTOS_EINVAL. */
enum kustos_err ku_config_init(struct ku_config *config,
	const struct kustos_client_options *options, char why[128]);
void ku_config_free(struct ku_config *config);

/* Write one line to the program's log. */
void ku_log(const struct kustos_client *client, enum kustos_log_level level,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Set "timer" to go off at "at_ns", and have the timers looked at by then. */
void ku_set_timer(struct kustos_client *client, struct ku_timer *timer,
	int64_t at_ns);

/* Set "timer" to go off in "ms" milliseconds. */
static inline void ku_set_timer_ms(struct kustos_client *client,
	struct ku_timer *timer, int64_t ms)
{
	ku_set_timer(client, timer, ku_now(client) + ms * KU_NS_PER_MS);
}

/* Wake the manager; without threads, have the next step run now. */
void ku_wake(struct kustos_client *client);

/* Run the timers that are due.  Locked. */
void ku_run_timers(struct kustos_client *client);

/* A thread begins to wait in a call; and it is done with the client.  A close
   waits for such threads.  Locked. */
void ku_enter(struct kustos_client *client);
void ku_leave(struct kustos_client *client);

/* The same, and lock the client before, and unlock it after. */
void ku_begin(struct kustos_client *client);
void ku_end(struct kustos_client *client);

/* A condition variable on the monotonic clock. */
bool ku_cond_init(pthread_cond_t *cond);

/* Wait for "cond" until "deadline".  Locked.  Returns false when it passed. */
bool ku_cond_wait(struct kustos_client *client, pthread_cond_t *cond,
	kustos_deadline deadline);

/* The state has changed: tell the listeners.  Locked. */
void ku_listeners_notify(struct kustos_client *client);
void ku_listeners_free(struct kustos_client *client);

void ku_close_init(struct kustos_client *client);

/* See how far the close has come, and take it further.  The client is not
   locked.  Returns false when it has come to its end. */
bool ku_close_step(struct kustos_client *client);

/* Free it all. */
void ku_client_free(struct kustos_client *client);

#endif
