/*
 * lone_late.h - the client and the line of lone_line.h, whose library tells something
 * late, or never: an answer, an event, or what a former handle has queued.
 */
#ifndef SIM_LONE_LATE_H
#define SIM_LONE_LATE_H

#include "lone_line.h"

/* After an expiry, until a new handle may be opened. */
#define REOPEN_MS 6000
/* And until that is connected. */
#define CONNECT_MS 500

extern struct ku_zk_api late_api; /* ku_zk_sim, and what is withheld before it */

/* The first handle, and what is still to come from it. */
extern struct late {
	int opened; /* so many, by now */
	struct ku_zk *zk;
	ku_zk_event_fn *event; /* NULL: no event */
	void *arg;

	bool withholds;
	enum ku_zk_kind kind; /* of the request whose answer is withheld */
	ku_zk_done_fn *done;  /* NULL: there is none yet */
	void *done_arg;
	struct bench_reply reply;

	int granted_ms; /* of a session, by the next server; 0: as it is */

	bool delays; /* a read that watches, on its way to the server */
	struct ku_zk_request read; /* no path: there is none yet */
} first;

/* lone_line_open() of that, with nothing withheld. */
void late_setup(void);

/* End its session, and have it open the next handle before it has closed the
   first. */
void late_expire(void);

#endif
