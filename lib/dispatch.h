/*
 * dispatch.h - where the program's callbacks run.
 *
 * Never on a thread of the ZooKeeper library, and never on the one that keeps
 * the time: a callback may take as long as it likes.  They run on threads that
 * are started when there is something to run and end after a second without
 * work, or where the program calls kustos_client_dispatch().
 *
 * There are three lanes.  Ordinary callbacks run one after the other.  News of
 * a loss is urgent: it joins the ordinary lane only if nothing is running
 * there, and else runs beside it on a thread of its own, so that no sleeping
 * callback can hold it up.  A lengthy call, such as the work of a leader for as
 * long as it leads, has a thread to itself, whatever the mode.
 */
#ifndef KU_DISPATCH_H
#define KU_DISPATCH_H

#include <kustos/client.h>

#include "timer.h"

#include <pthread.h>
#include <stdbool.h>

struct ku_call;
struct ku_lane_thread;

/* Run the callback.  Entered and left with the client locked, which is unlocked
   only while the program's code runs.  So code that takes calls back sees each
   of them either queued, or marked by its owner as running. */
typedef void ku_call_fn(struct kustos_client *client, struct ku_call *call);

struct ku_call { /* a field of whatever is called back */
	ku_call_fn *fn;
	struct ku_call *next;
	bool queued;
};

struct ku_lane {
	struct ku_call *first, *last;
	int queued;
	int running; /* threads that are in a callback */
	int idle;    /* threads that wait for one */
	int count;   /* threads that have not ended */
	int max;     /* threads at the most */
	struct ku_lane_thread *threads;
	pthread_cond_t work;
};

enum ku_lane_kind { KU_ORDINARY, KU_URGENT, KU_LENGTHY, KU_LANES };

struct ku_dispatch {
	enum kustos_dispatch mode;
	struct ku_lane lanes[KU_LANES];
	int fd;		       /* KUSTOS_DISPATCH_FD: an eventfd; else -1 */
	bool stopping;	       /* threads end when their lane is empty */
	struct ku_timer again; /* try again to start a thread */
	pthread_t runner;      /* the thread in ku_dispatch_run() */
	bool run;	       /* there is one */
};

enum kustos_err ku_dispatch_init(struct ku_dispatch *d,
	enum kustos_dispatch mode);

/* Have "call" run soon.  The client is locked. */
void ku_dispatch_push(struct kustos_client *client, struct ku_call *call,
	enum ku_lane_kind kind);

/* Wake the thread that has to call ku_dispatch_run().  The client is locked. */
void ku_dispatch_beckon(struct kustos_client *client);

/* Take "call" out of its lane.  Returns false if it is not queued.  The client
   is locked. */
bool ku_dispatch_pull(struct kustos_client *client, struct ku_call *call);

/* Run all queued calls on this thread, but not the lengthy ones.  The client is
   not locked.  Returns how many have run. */
int ku_dispatch_run(struct kustos_client *client);

/* Join threads that have ended; once they are to stop, all.  The client is not
   locked. */
void ku_dispatch_tend(struct kustos_client *client);

/* Let the threads finish what is queued, and join them.  The client is not
   locked. */
void ku_dispatch_stop(struct kustos_client *client);

/* Return whether this thread is inside a callback of this client, which is
   locked. */
bool ku_dispatch_inside(const struct kustos_client *client);

void ku_dispatch_free(struct ku_dispatch *d);

#endif
