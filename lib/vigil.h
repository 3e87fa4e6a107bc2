/*
 * vigil.h - any number of threads and callbacks that wait until what stands in a
 * node, or below it, is as they want it.
 *
 * They share one watch.  Nobody goes by what was read before it began to wait,
 * or by an event: a wait ends well after a read that was sent after its start,
 * and says so.
 *
 * Not called with the client locked.
 */
#ifndef KU_VIGIL_H
#define KU_VIGIL_H

#include "service.h"
#include "zk.h"

struct kustos_cancel;
struct kustos_client;
struct ku_vigil;

/* Is it as they want it?  Pure; called with the client locked.  "reply" is what
   was read: KU_ZK_OK or KU_ZK_NONODE.  Returns KUSTOS_OK; KUSTOS_EBUSY to wait
   on; or with what else to end every wait. */
typedef enum kustos_err ku_vigil_judge_fn(const void *arg,
	const struct ku_zk_reply *reply);

typedef void ku_vigil_fn(void *arg, enum kustos_err err);

struct ku_vigil_wish {
	enum ku_zk_kind kind; /* KU_ZK_GET, or KU_ZK_CHILDREN */
	bool brief;	      /* a node that is missing is as they want it */
	ku_vigil_judge_fn *judge;
	const void *arg;
};

/* Make one for the node "path"; and end it, and all that wait with
   KUSTOS_ECLOSED.  NULL is allowed. */
KU_SERVICE enum kustos_err ku_vigil_create(struct kustos_client *client,
	const char *path, const struct ku_vigil_wish *wish,
	struct ku_vigil **out);
KU_SERVICE void ku_vigil_destroy(struct ku_vigil *vigil);

/* Wait.  KUSTOS_NOW: look once; KUSTOS_EBUSY if it is not so. */
KU_SERVICE enum kustos_err ku_vigil_wait(struct ku_vigil *vigil,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* The same; "done" is told of the end. */
KU_SERVICE enum kustos_err ku_vigil_wait_async(struct ku_vigil *vigil,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_vigil_fn *done, void *arg);

#endif
