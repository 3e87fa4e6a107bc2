/*
 * risk.h - who is to be told when little is left of the lease, and once more when
 * that happens again.
 *
 * Everything here is called with the client locked.
 */
#ifndef KU_RISK_H
#define KU_RISK_H

#include "timer.h"

#include <stdbool.h>

struct kustos_client;
struct ku_risk;

typedef void ku_risk_fn(struct ku_risk *risk);

struct ku_risk { /* a field of whatever is at risk; zero before its use */
	struct ku_timer timer; /* for which whoever watches has reserved room */
	struct kustos_client *client;
	ku_risk_fn *fn;
	int64_t before_ns;
	bool told; /* since more was left */
	struct ku_risk *prev, *next;
};

/* All that are watched. */
struct ku_risks {
	struct ku_risk *first;
	size_t told;
};

/* Have "fn" called when "before_ns" or less are left, perhaps from in here.  Not
   while it is watched. */
void ku_risk_watch(struct kustos_client *client, struct ku_risk *risk,
	int64_t before_ns, ku_risk_fn *fn);

/* Not any more; harmless if it is not watched. */
void ku_risk_stop(struct ku_risk *risk);

/* The lease ends later now, if at another time; or may end sooner as well. */
void ku_risks_prolonged(struct kustos_client *client);
void ku_risks_look(struct kustos_client *client);

#endif
