/*
 * vigil.h - any number of threads and callbacks that wait until the content, or
 * the children, of a node are as they want them.
 *
 * They share one watch.  A wait relies neither on an event nor on what was read
 * before it began: it succeeds only by a read that was sent after its start.
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

/* Is the node as they want it?  Pure; called with the client locked.  "reply"
   is what was read: KU_ZK_OK or KU_ZK_NONODE.  Returns KUSTOS_OK; KUSTOS_EBUSY
   to wait on; or another error, with which every wait ends. */
typedef enum kustos_err ku_vigil_judge_fn(const void *arg,
	const struct ku_zk_reply *reply);

typedef void ku_vigil_fn(void *arg, enum kustos_err err);

struct ku_vigil_wish {
	enum ku_zk_kind kind; /* KU_ZK_GET, or KU_ZK_CHILDREN */
	bool brief;	      /* a node that is missing is as they want it */
	ku_vigil_judge_fn *judge;
	const void *arg;
};

/* Make a vigil for the node "path"; and free it, which ends all waits with
   KUSTOS_ECLOSED.  NULL is allowed. */
KU_SERVICE enum kustos_err ku_vigil_create(struct kustos_client *client,
	const char *path, const struct ku_vigil_wish *wish,
	struct ku_vigil **out);
KU_SERVICE void ku_vigil_destroy(struct ku_vigil *vigil);

/* Wait.  KUSTOS_NOW: look once; KUSTOS_EBUSY if it is not as they want it. */
KU_SERVICE enum kustos_err ku_vigil_wait(struct ku_vigil *vigil,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* The same; "done" is called at the end. */
KU_SERVICE enum kustos_err ku_vigil_wait_async(struct ku_vigil *vigil,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_vigil_fn *done, void *arg);

#endif
