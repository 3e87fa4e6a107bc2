/*
 * stranger.h - a bare handle of the ZooKeeper library, for an actor that uses
 * no Kustos client but does what other libraries do.
 */
#ifndef SIM_STRANGER_H
#define SIM_STRANGER_H

#include "sim.h"

#include "zk.h"

struct stranger {
	struct ku_zk *zk; /* NULL: none */
	bool connected, ended;
	int pending; /* number of requests; their callbacks count down */
};

extern const struct kustos_acl stranger_acl; /* anyone may do anything */

/* Open a handle; close it if there is one. */
void stranger_open(struct stranger *s, struct sim *sim, int index);
void stranger_close(struct stranger *s);

/* Submit a request.  Returns false if the handle does not take it. */
bool stranger_submit(struct stranger *s, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg);

#endif
