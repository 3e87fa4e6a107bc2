/*
 * mirror.h - the content or the children of a node, kept up to date while
 * somebody cares.
 *
 * The node is read with a watch; if it does not exist, its creation is watched
 * for.  It is read again when the watch fires, and after a minute or two, in
 * case the watch was lost without notice.  While nobody cares it is not read
 * again.
 *
 * Everything here is called, and calls back, with the client locked.
 */
#ifndef KU_MIRROR_H
#define KU_MIRROR_H

#include "timer.h"
#include "watch.h"
#include "wire.h"
#include "witness.h"

struct ku_mirror;

struct ku_mirror_calls {
	/* This was read: KU_ZK_OK, with data; KU_ZK_NONODE; or why the node may
	   not be read.  NULL: the node may have changed since it was read. */
	void (*shows)(struct ku_mirror *mirror,
		const struct ku_zk_reply *reply);

	/* It is out of use, after ku_mirror_end(). */
	void (*over)(struct ku_mirror *mirror);

	/* The read failed, or waits for a connection; it will be tried again.
	   May be NULL. */
	void (*failed)(struct ku_mirror *mirror);
};

struct ku_mirror { /* a field of whatever cares */
	/* Constant. */
	struct kustos_client *client;
	const struct ku_mirror_calls *calls;
	char *path; /* full, the owner's */

	/* What the owner may change before it is first wanted. */
	enum ku_zk_kind kind; /* KU_ZK_GET, or KU_ZK_CHILDREN */
	bool brief;  /* a missing node is not watched for: nobody cares any
		       more, unless "shows" wants it again */
	bool frugal; /* not even watched while nobody cares */
	bool lax;    /* a missed change does no harm */
	void *owner; /* for the calls to use */

	bool wanted;
	bool current; /* up to date, and an event tells if it changes; cleared
			 by an owner that doubts it, it is read again when
			 somebody wants it next, or in a while */
	bool blind;   /* it cannot be watched, and is read again in a while */
	bool ended;
	uint64_t asked;		       /* how many reads were sent, or queued */
	enum ku_zk_watch_kind watched; /* what "watch" is for */
	bool fresh; /* it is the read under way that sets the watch */
	struct ku_request request;
	struct ku_witness witness; /* while that is under way */
	struct ku_watch watch;
	struct ku_timer again;
};

void ku_mirror_init(struct ku_mirror *mirror, struct kustos_client *client,
	const struct ku_mirror_calls *calls, char *path);

/* Somebody cares: read it now unless it is current, and whenever it changes. */
void ku_mirror_want(struct ku_mirror *mirror);

/* The same for somebody who has just been shown it: a node that cannot be
   watched is not read again at once. */
void ku_mirror_keep(struct ku_mirror *mirror);

/* As ku_mirror_want(), but do not rely on what was read before. */
void ku_mirror_look(struct ku_mirror *mirror);

/* Nobody cares any more: no read waits for a connection from now on. */
void ku_mirror_rest(struct ku_mirror *mirror);

/* Take it out of use; "over" may be called from in here. */
void ku_mirror_end(struct ku_mirror *mirror);

/* The same, but we are about to delete the node, which clears the watch at the
   server. */
void ku_mirror_forget(struct ku_mirror *mirror);

#endif
