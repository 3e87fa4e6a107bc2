/*
 * lone_late.h - the client and the line of lone_line.h, on a ZooKeeper library
 * that tells something late, or never: an answer, an event, or what a former
 * handle has queued.
 */
#ifndef SIM_LONE_LATE_H
#define SIM_LONE_LATE_H

#include "lone_line.h"

/* The time from an expiry until a new handle may be opened. */
#define REOPEN_MS 6000
/* The time until that handle is connected. */
#define CONNECT_MS 500

extern struct ku_zk_api late_api; /* ku_zk_sim, except for "first" */

/* The first handle, and what it withholds. */
extern struct late {
	int opened; /* number of handles opened so far */
	struct ku_zk *zk;
	ku_zk_event_fn *event; /* told events as it closes; NULL: none are */
	void *arg;
	ku_zk_turn_fn *enter, *leave;

	bool withholds;
	enum ku_zk_kind kind; /* of the request whose answer is withheld */
	ku_zk_done_fn *done;  /* of that request; NULL: there was none yet */
	void *done_arg;
	struct bench_reply reply;

	int granted_ms; /* session timeout to report; 0: the real one */

	bool delays; /* a read with a watch is held on its way to the server */
	struct ku_zk_request read; /* that read; no path: there was none yet */
} first;

/* lone_line_open() with late_api, with nothing withheld yet. */
void late_setup(void);

/* Expire the client's session, and have the client open its next handle before
   it has closed the first. */
void late_expire(void);

#endif
