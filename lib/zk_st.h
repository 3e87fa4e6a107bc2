/*
 * zk_st.h - a handle of libzookeeper_st, and what drives it: zk_st.c has the
 * table of zk.h, zk_drive.c the threads.
 */
#ifndef KU_ZK_ST_H
#define KU_ZK_ST_H

#include "zk_flow.h"
#include "zk_lib.h"
#include "zk_st_calls.h"

#include <pthread.h>

/* Who drives: the handle's own thread; another one; nobody, for a moment. */
enum ku_zk_driver { KU_ZK_OWN, KU_ZK_CALLER, KU_ZK_NOBODY };

struct ku_zk {
	struct ku_zk_lib lib; /* first: the context of its events */
	pthread_t thread;
	struct ku_zk_drive own; /* its */
	int wake;   /* an eventfd that ends the wait of whoever drives */
	int relief; /* a timer that ends that of the own thread for its turn */
	/* For those that have entered. */
	struct ku_zk_flow flow;
	int fd;	   /* of the connection, if there is one */
	bool left; /* the connection was given up since somebody waits for it */
	char *next; /* servers to be tried when the connection has ended */
	bool ending;
	enum ku_zk_driver driver;
	uint64_t shift;	     /* counts the changes of the driver */
	int64_t patience_ns; /* until then one that is not heard of drives */
	bool offered;	     /* a thread that is woken now may drive */
	int inside;	     /* threads that are in drive() */
	bool closed;	     /* the last of them frees it */
};

/* Have the library send and receive by way of the flow of "zk".  Returns what is
   to be given back afterwards: requests are also made in answers. */
static inline struct ku_zk_flow *ku_zk_begin_flow(struct ku_zk *zk)
{
	struct ku_zk_flow *outer = ku_zk_flow;

	ku_zk_flow = &zk->flow;
	return outer;
}

static inline void ku_zk_end_flow(struct ku_zk_flow *outer)
{
	ku_zk_flow = outer;
}

/* Have whoever drives look at everything. */
void ku_zk_wake(struct ku_zk *zk);

/* Have it use these servers from now on, as ku_zk_lib_steer() does. */
void ku_zk_steer(struct ku_zk *zk, const char *addresses);

/* Make the descriptors, and start the handle's own thread.  Each returns false if
   that is not possible; then "errno" tells why. */
bool ku_zk_drive_init(struct ku_zk *zk);
bool ku_zk_drive_start(struct ku_zk *zk);

/* Nobody drives any more.  Not entered. */
void ku_zk_drive_end(struct ku_zk *zk);

/* Free the handle: now, or when the last thread has left it.  The second is not
   entered. */
void ku_zk_discard(struct ku_zk *zk);
void ku_zk_drive_free(struct ku_zk *zk);

extern const struct ku_zk_driving ku_zk_driving;

#endif
