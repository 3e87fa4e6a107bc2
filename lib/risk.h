/*
 * risk.h - callbacks for when little is left of the lease.  A callback is
 * called once, and again only if more was left in between.
 *
 * Everything here is called with the client locked.
 */
#ifndef KU_RISK_H
#define KU_RISK_H

#include "timer.h"

#include <stddef.h>

struct kustos_client;
struct ku_risk;

typedef void ku_risk_fn(struct ku_risk *risk);

struct ku_risk { /* a field of whatever is at risk; zero before its use */
	/* Not set while it is watched: "fn" was called, and no more has been
	   left since. */
	struct ku_timer timer;
	struct kustos_client *client;
	ku_risk_fn *fn;
	int64_t before_ns;
	struct ku_risk *prev, *next;
};

/* All that are watched. */
struct ku_risks {
	struct ku_risk *first;
	size_t told; /* how many of them */
};

/* Have "fn" called when "before_ns" or less is left, perhaps before this
   returns.  "risk" must not be watched already. */
void ku_risk_watch(struct kustos_client *client, struct ku_risk *risk,
	int64_t before_ns, ku_risk_fn *fn);

/* Stop watching; harmless if it is not watched. */
void ku_risk_stop(struct ku_risk *risk);

/* The end of the lease may have moved.  The first of these: only to a later
   time.  The second: in either direction. */
void ku_risks_prolonged(struct kustos_client *client);
void ku_risks_look(struct kustos_client *client);

#endif
